"""The rules' core as a library: what the bots take of it beside its domain."""

from __future__ import annotations

from functools import lru_cache

from google.protobuf.message import DecodeError
from magnate.game.v1 import update_pb2

from services.bots.application.ports import Change, Position
from services.rules.adapters.codec import CodecError, read_decision, read_events, write_command
from services.rules.adapters.codec_state import read_view
from services.rules.adapters.edition_files import EDITIONS, Catalogue, load_catalogue
from services.rules.domain.commands import Action, Command
from services.rules.domain.edition import Edition
from services.rules.domain.evolve import UnknownEvent, fold
from services.rules.domain.state import State

__all__ = ["CodecError", "RulesReader", "encode_command"]


@lru_cache(maxsize=1)
def shipped_editions() -> Catalogue:
    """The editions that come with the program."""
    return load_catalogue(EDITIONS)


def encode_command(seat: int, decision_id: int, action: Action, command_id: str) -> bytes:
    """A serialised magnate.game.v1.Command."""
    return write_command(Command(seat, decision_id, action), command_id)


class RulesReader:
    """Reads snapshots and updates into positions."""

    def __init__(self, catalogue: Catalogue | None = None) -> None:
        self._catalogue = catalogue or shipped_editions()

    def position(self, snapshot: update_pb2.Snapshot) -> Position:
        """The position of a snapshot. Raises CodecError for one that this version cannot read."""
        view = read_view(snapshot.view)
        edition = self._edition_of(view)
        # The order of the decks is secret, but the folds want to know that there are decks.
        view.decks = dict.fromkeys(edition.decks, ())
        view.discards = dict.fromkeys(edition.decks, ())
        options = read_decision(snapshot.decision)[1] if snapshot.HasField("decision") else ()
        return Position(edition, view, options)

    def follow_up(self, position: Position, change: Change) -> Position | None:
        """See Reader: None too where events are withheld or of a later version."""
        try:
            update = update_pb2.Update.FromString(change.update)
            view = fold(position.edition, position.view, read_events(update.events))
            options = read_decision(update.decision)[1] if update.HasField("decision") else ()
        except (DecodeError, CodecError, UnknownEvent):
            return None
        return Position(position.edition, view, options)

    def _edition_of(self, view: State) -> Edition:
        config = view.config
        try:
            return self._catalogue.get(config.edition, config.version).at(config.seating)
        except (KeyError, ValueError):
            raise CodecError(f"edition {config.edition} {config.version} is not known here") from None
