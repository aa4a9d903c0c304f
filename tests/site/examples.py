"""The flagship's names, and events of it, for tests of what the terminal shows."""

from __future__ import annotations

from magnate.game.v1 import edition_pb2
from magnate.table.v1 import table_pb2

from services.rules.codec.descriptions import edition_message
from services.rules.editions.loader import load_catalogue
from services.site.terminal.names import Names
from services.site.terminal.texts import load_texts


def industry() -> edition_pb2.Edition:
    """The flagship as a client gets it described."""
    return edition_message(load_catalogue().get("industry"))


def names_in(language: str) -> Names:
    """Names of a table of Ada and two bots that are called alike."""
    seats = [table_pb2.Seat(name=name) for name in ("Ada", "Bot", "Bot")]
    return Names(load_texts(language), industry(), seats)
