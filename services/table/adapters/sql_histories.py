"""SQL of the history that the store holds: one row."""

from __future__ import annotations

import secrets

import sqlalchemy as sa

from services.table.adapters.schema import histories


def current(connection: sa.Connection) -> str:
    """Its name, 16 characters."""
    return str(connection.execute(sa.select(histories.c.history_id)).scalar_one())


def is_current(history_id: str) -> sa.ColumnElement[bool]:
    """For the guard of a command; an empty name is no guard."""
    return sa.exists().where(histories.c.history_id == history_id) if history_id else sa.true()


def begin(connection: sa.Connection) -> str:
    """Another history from now on, after the store was restored. Returns its name."""
    history_id = secrets.token_hex(8)
    connection.execute(sa.update(histories).values(history_id=history_id))
    return history_id
