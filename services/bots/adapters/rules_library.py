"""The rules' core as a library: what the bots take of it beside its domain."""

from __future__ import annotations

from functools import lru_cache

from google.protobuf.message import DecodeError
from magnate.game.v1 import update_pb2

from services.bots.application.ports import Change, Position
from services.rules.codec.messages import CodecError, read_decision, read_events, write_command
from services.rules.codec.states import read_view
from services.rules.domain.commands import Action, Command
from services.rules.domain.edition import Edition
from services.rules.domain.evolve import UnknownEventError, fold
from services.rules.domain.state import State
from services.rules.editions.loader import load_catalogue
from services.rules.editions.ports import Editions, OverrideError, UnknownEditionError
from services.rules.editions.shelf import EditionShelf

__all__ = ["CodecError", "RulesReader", "encode_command"]


@lru_cache(maxsize=1)
def shipped_editions() -> Editions:
    """The editions that come with the program."""
    return EditionShelf(load_catalogue())


def encode_command(seat: int, decision_id: int, action: Action, command_id: str) -> bytes:
    """A serialised magnate.game.v1.Command."""
    return write_command(Command(seat, decision_id, action), command_id)


class RulesReader:
    """Reads snapshots and updates into positions."""

    def __init__(self, editions: Editions | None = None) -> None:
        self._editions = editions or shipped_editions()

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
        except (DecodeError, CodecError, UnknownEventError):
            return None
        return Position(position.edition, view, options)

    def _edition_of(self, view: State) -> Edition:
        config = view.config
        try:
            return self._editions.flat(config.edition, config.version, config.seating, config.overrides)
        except (UnknownEditionError, OverrideError, ValueError):
            raise CodecError(f"edition {config.edition} {config.version} is not known here") from None
