"""Revisions keep to expand, migrate, contract: old replicas serve on the new tables, and nobody waits for a change."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import Script, ScriptDirectory

from services.site.migrating import PARTS
from tests.support.kept_schemas import FOLDER, KEPT

#: Tables that get a row for a whole game at most: an index on them is made before anybody notices.
SMALL = ("game_results", "probes", "clock_play_time", "clock_outages")

_CONTRACT = re.compile(r"\bDROP\b|\bRENAME\b|\bTYPE\b|\bSET NOT NULL\b|\bADD (CONSTRAINT|CHECK|FOREIGN|UNIQUE)\b")
_NEW_TABLE = re.compile(r"CREATE TABLE (\w+)")
_NEW_INDEX = re.compile(r"CREATE (?:UNIQUE )?INDEX .*?\bON (\w+)")
_REWRITE = re.compile(r"^(?:UPDATE|DELETE FROM) (\w+)")


def faults(statements: Sequence[str], *, unused_since: str | None, released: Sequence[str]) -> list[str]:
    """What is wrong with a revision of these statements. `unused_since` is the revision from which on no program uses
    what it takes away, None for one that takes nothing away; `released` are those of the release before this one."""
    found = []
    contracts = [statement for statement in statements if _CONTRACT.search(_unquoted(statement))]
    if contracts and len(contracts) < len(statements):
        found.append("takes away and adds at once: " + contracts[0])
    if contracts and unused_since not in released:
        found.append("takes away what the release before may use: " + contracts[0])
    own = {match[1] for statement in statements if (match := _NEW_TABLE.search(statement))}
    for statement in statements:
        if re.search(r"ADD COLUMN .*NOT NULL", statement) and "DEFAULT" not in statement:
            found.append("old programs cannot insert: " + statement)
        for pattern, what in ((_NEW_INDEX, "an index blocks"), (_REWRITE, "a rewrite locks")):
            match = pattern.search(statement)
            if match and match[1] not in (*own, *SMALL):
                found.append(f"{what} all who write to {match[1]}: {statement}")
    return found


def _unquoted(statement: str) -> str:
    return re.sub(r"'[^']*'", "''", statement)


def _statements(module: ModuleType) -> list[str]:
    """What the revision's upgrade says to a Postgres."""
    said = io.StringIO()
    context = MigrationContext.configure(dialect_name="postgresql", opts={"as_sql": True, "output_buffer": said})
    with Operations.context(context):
        module.upgrade()
    return [re.sub(r"\s+", " ", statement).strip() for statement in said.getvalue().split(";") if statement.strip()]


def _revisions(versions: Path) -> list[Script]:
    """Oldest first."""
    directory = ScriptDirectory(str(versions.parent), version_locations=[str(versions)])
    assert len(directory.get_heads()) == 1
    return list(reversed(list(directory.walk_revisions())))


def _released(name: str, revisions: Sequence[Script]) -> list[str]:
    """The revisions that the newest kept dump has of this service."""
    dump = (FOLDER / KEPT[-1] / "postgres.sql").read_text()
    names = [revision.revision for revision in revisions]
    newest = [number for number, revision in enumerate(names) if f"VALUES ('{revision}')" in dump]
    assert newest, f"the newest dump knows no revision of {name}"
    return names[: max(newest) + 1]


@pytest.mark.parametrize(("name", "versions"), [(name, versions) for name, versions, _ in PARTS])
def test_no_revision_breaks_the_program_before_it_or_holds_it_up(name: str, versions: Path) -> None:
    revisions = _revisions(versions)
    released = _released(name, revisions)
    assert revisions[0].revision in released
    for revision in revisions:
        unused_since = getattr(revision.module, "unused_since", None)
        found = faults(_statements(revision.module), unused_since=unused_since, released=released)
        assert found == [], revision.revision


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("ALTER TABLE games DROP COLUMN has_bots", "takes away"),
        ("ALTER TABLE games RENAME has_bots TO is_solo", "takes away"),
        ("ALTER TABLE games ALTER COLUMN has_bots SET NOT NULL", "takes away"),
        ("ALTER TABLE games ALTER COLUMN shard TYPE BIGINT", "takes away"),
        ("ALTER TABLE games ADD CONSTRAINT one UNIQUE (shard)", "takes away"),
        ("ALTER TABLE games ADD COLUMN colour TEXT NOT NULL", "old programs cannot insert"),
        ("CREATE INDEX one ON game_log (digest)", "an index blocks"),
        ("CREATE UNIQUE INDEX one ON game_log (digest)", "an index blocks"),
        ("UPDATE games SET has_bots = true", "a rewrite locks"),
        ("DELETE FROM game_log WHERE shard = 1", "a rewrite locks"),
    ],
)
def test_what_would_break_or_hold_up_is_found(statement: str, expected: str) -> None:
    found = faults([statement], unused_since=None, released=["table_0001"])
    assert len(found) == 1
    assert found[0].startswith(expected)


def test_what_harms_nobody_is_allowed() -> None:
    adding = [
        "CREATE TABLE colours (shard SMALLINT NOT NULL, type TEXT)",
        "CREATE INDEX colours_by_type ON colours (type)",
        "ALTER TABLE games ADD COLUMN colour TEXT",
        "ALTER TABLE games ADD COLUMN shade TEXT DEFAULT 'DROP' NOT NULL",
        "UPDATE clock_play_time SET epoch = 1",
    ]
    assert faults(adding, unused_since=None, released=["table_0001"]) == []


def test_what_is_taken_away_must_have_been_unused_for_a_release() -> None:
    taking = ["ALTER TABLE games DROP COLUMN has_bots"]
    assert faults(taking, unused_since="table_0001", released=["table_0001"]) == []
    assert faults(taking, unused_since="table_0002", released=["table_0001"]) != []
    assert faults([*taking, "ALTER TABLE games ADD COLUMN x TEXT"], unused_since="table_0001", released=["table_0001"])
