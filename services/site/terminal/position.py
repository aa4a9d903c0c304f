"""The game as a client follows it: a snapshot, then the events of each update, checked by the state hash."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from magnate.game.v1 import event_pb2, update_pb2

from services.rules.codec.messages import CodecError, read_decision, read_event
from services.rules.codec.states import read_view
from services.rules.domain.digest import STATE_HASH_VERSION, state_hash
from services.rules.domain.edition import Edition
from services.rules.domain.events import DeckShuffled, Event, SeedDrawn
from services.rules.domain.evolve import UnknownEventError, fold
from services.rules.domain.options import Option
from services.rules.domain.state import State
from services.rules.editions.loader import load_catalogue
from services.rules.editions.ports import Editions, OverrideError, UnknownEditionError
from services.rules.editions.shelf import EditionShelf


class OutOfStepError(Exception):
    """What is shown here is not what the server has, or cannot be followed; a snapshot helps."""


@lru_cache(maxsize=1)
def shipped_editions() -> Editions:
    """The editions that come with the program."""
    return EditionShelf(load_catalogue())


@dataclass(frozen=True, slots=True)
class Position:
    """The public state after a command, and what may be answered."""

    edition: Edition
    view: State
    options: tuple[Option, ...]

    @property
    def seq(self) -> int:
        """Number of the last event folded."""
        return self.view.seq

    def after(self, update: update_pb2.Update) -> Position:
        """The position after an update. Raises OutOfStepError."""
        if update.first_seq != self.seq + 1:
            raise OutOfStepError(f"event {update.first_seq} after event {self.seq}")
        try:
            events = [_event(self.edition, event) for event in update.events]
            view = fold(self.edition, self.view, events)
            options = read_decision(update.decision)[1] if update.HasField("decision") else ()
        except (CodecError, UnknownEventError) as error:
            raise OutOfStepError(str(error)) from None
        check_hash(view, update.state_hash, update.state_hash_version)
        return Position(self.edition, view, options)


def position_of(snapshot: update_pb2.Snapshot, editions: Editions | None = None) -> Position:
    """The position of a snapshot. Raises OutOfStepError for one that this version cannot read."""
    try:
        view = read_view(snapshot.view)
        config = view.config
        shelf = editions or shipped_editions()
        edition = shelf.flat(config.edition, config.version, config.seating, config.overrides)
        options = read_decision(snapshot.decision)[1] if snapshot.HasField("decision") else ()
    except (CodecError, UnknownEditionError, OverrideError) as error:
        raise OutOfStepError(f"this program cannot read the game: {error}") from None
    # The order of the decks is secret, but the folds want to know that there are decks.
    view.decks = dict.fromkeys(edition.decks, ())
    view.discards = dict.fromkeys(edition.decks, ())
    check_hash(view, snapshot.state_hash, snapshot.state_hash_version)
    return Position(edition, view, options)


def check_hash(view: State, expected: bytes, version: int) -> None:
    """Raises OutOfStepError when the view is not the server's; a digest of another version says nothing."""
    if version == STATE_HASH_VERSION and state_hash(view) != expected:
        raise OutOfStepError(f"the state hash after event {view.seq} is not the server's")


def _event(edition: Edition, message: event_pb2.Event) -> Event:
    """A withheld event changes nothing that can be seen: the seed comes second, all others are shuffles."""
    if message.WhichOneof("body") is not None:
        return read_event(message)
    return SeedDrawn("", b"", ()) if message.seq == 2 else DeckShuffled(next(iter(edition.decks)), (), 0)
