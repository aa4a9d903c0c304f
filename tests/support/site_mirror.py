"""A client that folds the events of a table by itself, with the rules as a library."""

from __future__ import annotations

from magnate.game.v1 import update_pb2, view_pb2

from services.rules.codec.messages import read_event
from services.rules.codec.states import read_view, view_message
from services.rules.domain.digest import state_hash
from services.rules.domain.edition import Edition
from services.rules.domain.evolve import fold
from services.rules.domain.state import Seating, State
from services.rules.editions.loader import load_catalogue


class Mirror:
    """The view of a table, from the first event or from a snapshot on."""

    def __init__(self, seating: Seating) -> None:
        self.edition: Edition = load_catalogue().get("industry").at(seating)
        self._state = State()

    def view(self) -> view_pb2.GameView:
        """The view now, as a message."""
        return view_message(self._state)

    def begin(self, snapshot: update_pb2.Snapshot) -> None:
        """Starts from a snapshot."""
        self._state = read_view(snapshot.view)
        self._hide_decks()

    def take(self, update: update_pb2.Update) -> bytes:
        """Folds an update that follows on; the state hash after it."""
        assert update.first_seq == self._state.seq + 1
        for event in update.events:
            if event.WhichOneof("body") is None:
                # A secret event: it keeps its number, and what it says changes nothing that everybody may see.
                self._state = self._state.copy()
                self._state.seq += 1
            else:
                self._state = fold(self.edition, self._state, (read_event(event),))
                self._hide_decks()
        assert self._state.seq == update.last_seq
        return state_hash(self._state)

    def _hide_decks(self) -> None:
        self._state.decks = dict.fromkeys(self.edition.decks, ())
