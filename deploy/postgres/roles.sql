-- Two roles for one database: `magnate_owner` makes and changes the tables (the migration), `magnate` reads and writes
-- their rows (the services). Run it as a superuser in the database of Magnate, before the first migration and once after
-- it; it may be run again at any time. Give both roles a password: ALTER ROLE ... PASSWORD, or \password in psql.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'magnate_owner') THEN
        CREATE ROLE magnate_owner LOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'magnate') THEN
        CREATE ROLE magnate LOGIN;
    END IF;
END
$$;

REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO magnate_owner;
GRANT USAGE ON SCHEMA public TO magnate;

-- What the migration makes from now on, and what it has made.
ALTER DEFAULT PRIVILEGES FOR ROLE magnate_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO magnate;
ALTER DEFAULT PRIVILEGES FOR ROLE magnate_owner IN SCHEMA public
    GRANT USAGE, SELECT ON SEQUENCES TO magnate;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO magnate;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO magnate;

-- What was done is not undone, and what the tables are is the migration's matter.
DO $$
DECLARE
    kept text;
BEGIN
    FOREACH kept IN ARRAY ARRAY['audit_log', 'table_version', 'clock_alembic_version'] LOOP
        IF to_regclass('public.' || kept) IS NOT NULL THEN
            EXECUTE format('REVOKE UPDATE, DELETE ON %I FROM magnate', kept);
        END IF;
    END LOOP;
    IF to_regclass('public.table_version') IS NOT NULL THEN
        REVOKE INSERT ON table_version FROM magnate;
    END IF;
    IF to_regclass('public.clock_alembic_version') IS NOT NULL THEN
        REVOKE INSERT ON clock_alembic_version FROM magnate;
    END IF;
END
$$;
