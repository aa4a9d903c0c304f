"""What the bots need of the world. Failures of others are ServiceError."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from services.rules.domain.commands import Action
from services.rules.domain.edition import Edition
from services.rules.domain.options import Option
from services.rules.domain.state import State


@dataclass(frozen=True, slots=True)
class Turn:
    """A bot's seat that is asked, since event `seq`."""

    table_id: str
    seat: int
    level: str
    decision_id: int
    seq: int


@dataclass(frozen=True, slots=True)
class Change:
    """A committed update of a table, not read yet."""

    table_id: str
    first_seq: int
    last_seq: int
    update: bytes


@dataclass(frozen=True, slots=True)
class Position:
    """Where a game stands after event `seq`, as everybody may see it: flat edition, view, and what may be done."""

    edition: Edition
    view: State
    options: tuple[Option, ...]

    @property
    def seq(self) -> int:
        """Number of the last event."""
        return self.view.seq


@dataclass(frozen=True, slots=True)
class Work:
    """This replica's share of the news, in order; whatever is not `done` goes to another replica after a while.
    `is_incomplete`: something before it has been lost."""

    items: tuple[Turn | Change, ...]
    done: Callable[[], Awaitable[None]]
    is_incomplete: bool = False


@dataclass(frozen=True, slots=True)
class TurnPage:
    """A part of all open turns; an empty token: it was the last."""

    turns: tuple[Turn, ...]
    next_page_token: str


class Tables(Protocol):
    """The table service."""

    async def position(self, table_id: str) -> Position | None:
        """Where the table stands now; None if no game is running there."""
        ...

    async def submit(self, turn: Turn, action: Action, command_id: str) -> None:
        """Does one command."""
        ...

    async def list_turns(self, page_token: str) -> TurnPage: ...


class News(Protocol):
    """What tables have committed, shared among the replicas, at least once."""

    def follow(self) -> AsyncIterator[Work]: ...


class Reader(Protocol):
    """Reads what travels between services."""

    def follow_up(self, position: Position, change: Change) -> Position | None:
        """The position after a change that comes next; None if the change does not tell enough."""
        ...
