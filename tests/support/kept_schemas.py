"""Stores as earlier programs left them, loaded into an empty database."""

from __future__ import annotations

import base64
import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import sqlalchemy as sa

FOLDER = Path(__file__).parents[1] / "table" / "schemas"
#: in the order of their making; the last is the release before this program
KEPT = ("core", "services", "editions")


@dataclass(frozen=True, slots=True)
class Statement:
    """One that an earlier program gave to its Postgres; `rows` it touched then, None where that was not noted."""

    sql: str
    values: list[Any]
    rows: int | None


async def load(name: str, url: str) -> dict[str, Any]:
    """Fills the empty database at this URL; what there is in it."""
    kind = "sqlite" if url.startswith("sqlite:") else "postgres"
    script = (FOLDER / name / f"{kind}.sql").read_text()
    if kind == "sqlite":
        with sqlite3.connect(str(sa.make_url(url).database)) as connection:
            connection.executescript(script)
        connection.close()
    else:
        postgres = await asyncpg.connect(url)
        await postgres.execute(script)
        await postgres.close()
    facts: dict[str, Any] = json.loads((FOLDER / name / "facts.json").read_text())[kind]
    return facts


def statements(name: str) -> list[Statement]:
    """All that a replica of this program said to the store while it served."""
    kept = json.loads((FOLDER / name / "statements.json").read_text())
    return [Statement(one["sql"], [_value(value) for value in one["values"]], one["rows"]) for one in kept]


async def say(connection: asyncpg.Connection, statement: Statement) -> int:
    """Gives a statement to a Postgres; the number of rows that it returned or touched."""
    prepared = await connection.prepare(statement.sql)
    await prepared.fetch(*statement.values)
    return int(prepared.get_statusmsg().rsplit(maxsplit=1)[-1])


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return base64.b64decode(value["base64"])
    return [_value(item) for item in value] if isinstance(value, list) else value
