-- Two roles for one database: `magnate_owner` makes and changes the tables (the migration), `magnate` reads and writes
-- their rows (the services). Run it as a superuser in the database of Magnate, before the first migration and once after
-- it; it may be run again at any time. Give both roles a password: ALTER ROLE ... PASSWORD, or \password in psql.

-- In one go, so that services that run meanwhile are never without their rights; who waits for a table holds them up.
BEGIN;
SET LOCAL lock_timeout = '2s';

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

-- What `magnate` has made while it was the only role is the owner's from now on: the next revision changes it. Sequences
-- and indexes of tables go with them. Who owns the database owns the schema, too, and could drop what is in it.
DO $$
DECLARE
    services CONSTANT oid := 'magnate'::regrole;
    schema CONSTANT oid := 'public'::regnamespace;
    item text;
BEGIN
    FOR item IN SELECT oid::regclass FROM pg_class
        WHERE relowner = services AND relnamespace = schema AND relkind IN ('r', 'p', 'v', 'm', 'f') LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO magnate_owner', item);
    END LOOP;
    FOR item IN SELECT oid::regclass FROM pg_class
        WHERE relowner = services AND relnamespace = schema AND relkind = 'S' LOOP
        EXECUTE format('ALTER SEQUENCE %s OWNER TO magnate_owner', item);
    END LOOP;
    FOR item IN SELECT oid::regprocedure FROM pg_proc WHERE proowner = services AND pronamespace = schema LOOP
        EXECUTE format('ALTER ROUTINE %s OWNER TO magnate_owner', item);
    END LOOP;
    IF EXISTS (SELECT FROM pg_database WHERE datname = current_database() AND datdba = services) THEN
        EXECUTE format('ALTER DATABASE %I OWNER TO magnate_owner', current_database());
    END IF;
    IF EXISTS (SELECT FROM pg_namespace WHERE oid = schema AND nspowner = services) THEN
        ALTER SCHEMA public OWNER TO magnate_owner;
    END IF;
END
$$;

REVOKE ALL ON SCHEMA public FROM PUBLIC, magnate;
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

COMMIT;
