"""A command being decided: a private copy of the state, folded on as events come out."""

from collections.abc import Mapping
from typing import Any

from services.rules.domain.edition import Edition
from services.rules.domain.events import Event
from services.rules.domain.evolve import FOLDS
from services.rules.domain.refusals import Reason, Refusal
from services.rules.domain.rulebook import Rule
from services.rules.domain.state import State
from services.rules.domain.values import value

NO_FIELDS: Mapping[str, int] = {}


class Play:
    """What the moves work on: the flat edition, the state so far, the play time (ms), and the events so far."""

    __slots__ = ("edition", "events", "play_time_ms", "state")

    def __init__(self, edition: Edition, state: State, play_time_ms: int) -> None:
        self.edition = edition
        self.state = state
        self.play_time_ms = play_time_ms
        self.events: list[Event] = []

    def emit(self, event: Event) -> None:
        """Records an event and folds it."""
        self.events.append(event)
        fold: Any = FOLDS[event.__class__]
        state = self.state
        fold(self.edition, state, event)
        state.seq += 1


@value
class Advance:
    """An accepted command: its events, and the state after them."""

    events: tuple[Event, ...]
    state: State

    def __hash__(self) -> int:
        return hash(self.events)


def refuse(
    edition: Edition, reason: Reason, rule: Rule, message: str, fields: Mapping[str, int] = NO_FIELDS
) -> Refusal:
    """A refusal that names the statement which the edition gives for the rule."""
    return Refusal(reason, rule, edition.statements[rule], message, fields)
