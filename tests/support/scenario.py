"""A scenario of a game in a few lines: given a position, when a seat does something, then this holds.

    game = a_game(seats=3).owning(0, "bread_stall").with_cash(1, 5).turn_of(1)
    game.roll(1, 3, 4)
    assert game.decision == ("manage", 1)
    assert game.money() == [...]

After every accepted command the builder itself checks the invariants of the state and of each event, that folding the
events over the state before gives exactly the state after, that the state before was not touched, and that something
is legal unless the game is over. After a refusal it checks that nothing changed.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from services.rules.domain import commands as c
from services.rules.domain.decide import advance
from services.rules.domain.events import DecisionOpened, Event, MoneyMoved
from services.rules.domain.evolve import evolve
from services.rules.domain.invariants import broken, broken_step, spoils
from services.rules.domain.legal import legal_actions
from services.rules.domain.options import Option, OptionKind
from services.rules.domain.refusals import Reason, Refusal
from services.rules.domain.state import DeadlineKind, Seating, SeatKind
from tests.support.positions import CATALOGUE, Cell, Position, seat_kinds

E = TypeVar("E", bound=Event)

#: (payer, payee, amount, reason)
Payment = tuple[int, int, int, str]


def a_game(
    seats: int = 2,
    seating: Seating | None = None,
    *,
    first: int = 0,
    kinds: tuple[SeatKind, ...] = (),
    edition: str = "industry",
    grace_ms: int = 0,
    overrides: Mapping[str, object] | None = None,
) -> "Game":
    """A game that has just begun at play time 0 and waits for the first roll of seat `first`.

    Every deck has the order of its file; everybody has the cash of the start and stands on it. Without a `seating` it
    is the edition's first one, with people alone. `overrides`: parameter -> value as in JSON (None: never).
    """
    where = seating or CATALOGUE.get(edition).seating[0]
    changes = tuple((name, json.dumps(value)) for name, value in (overrides or {}).items())
    return Game(edition, where, kinds or seat_kinds(where, seats), first, grace_ms, changes)


class Game(Position):
    """A position with what may happen in it («when») and what can be read of it («then»)."""

    # When.

    def wait(self, ms: int) -> "Game":
        """Play time goes on."""
        self.now_ms += ms
        return self

    def do(self, seat: int, action: c.Action, *, after_ms: int = 0) -> "Game":
        """A seat's command, which must be accepted."""
        return self._accept(self.command(seat, action), after_ms)

    def roll(self, seat: int, die1: int, die2: int, *draws: int, third: int = 0, after_ms: int = 0) -> "Game":
        """A seat rolls these dice (`third`: the face of the third die, 1 to 6; 0: it is not thrown).

        `draws` are further values of the generator, such as the index of a random trip.
        """
        config, drawn = self.state.config, self.state.draws
        dice = (die1 - 1, die2 - 1, third - 1) if third else (die1 - 1, die2 - 1)
        script = (*config.script[:drawn], *dice, *draws, *config.script[drawn:])
        self.state.config = replace(config, script=script)
        return self.do(seat, c.Roll(), after_ms=after_ms)

    def end_turn(self, seat: int) -> "Game":
        """A seat ends its turn."""
        return self.do(seat, c.EndTurn())

    def expire(self, kind: DeadlineKind | None = None) -> "Game":
        """The deadline of the open decision (or the one of a kind) runs out at its moment."""
        deadline = next(item for item in self.state.deadlines if kind in (None, item.kind))
        self.now_ms = max(self.now_ms, deadline.due_at_ms + self.state.config.grace_ms)
        return self._accept(c.Command(-1, 0, c.Expire(deadline.id)), 0)

    def withdraw(self, seat: int) -> "Game":
        """The table takes a seat out."""
        return self._accept(c.Command(-1, 0, c.Withdraw(seat)), 0)

    def refused(
        self,
        seat: int,
        action: c.Action,
        reason: Reason,
        statement: str,
        fields: Mapping[str, int] | None = None,
        *,
        decision_id: int | None = None,
    ) -> Refusal:
        """A command that must be refused for this reason and statement, and change nothing."""
        before = self.state.copy()
        command = self.command(seat, action) if decision_id is None else c.Command(seat, decision_id, action)
        refusal = advance(self.edition, self.state, command, self.now_ms)
        assert isinstance(refusal, Refusal), f"accepted: {command}"
        assert (refusal.reason, refusal.statement) == (reason, statement), refusal
        assert fields is None or dict(refusal.fields) == dict(fields)
        assert self.state == before, self.state.differences(before)
        return refusal

    def command(self, seat: int, action: c.Action) -> c.Command:
        """The command of a seat (-1: a service) to the open decision."""
        if seat < 0:
            return c.Command(seat, 0, action)
        return c.Command(seat, self.state.decision.id if self.state.decision is not None else 0, action)

    def _accept(self, command: c.Command, after_ms: int) -> "Game":
        self.now_ms += after_ms
        before = self.state
        kept = before.copy()
        given = broken(self.edition, before, self.spoiled)
        assert given == [], f"the position given: {given}"
        result = advance(self.edition, before, command, self.now_ms)
        assert not isinstance(result, Refusal), f"{command}: {result}"
        assert before == kept, before.differences(kept)
        state = before
        for event in result.events:
            after = evolve(self.edition, state, event)
            assert broken_step(self.edition, state, event, after) == []
            spoiled = spoils(self.edition, state, event)
            self.spoiled |= {spoiled} if spoiled else set()
            state = after
        assert state == result.state, state.differences(result.state)
        assert before == kept, before.differences(kept)
        assert broken(self.edition, state, self.spoiled) == []
        assert bool(state.ended) != bool(legal_actions(self.edition, state))
        self.state, self.events = result.state, result.events
        return self

    # Then.

    @property
    def decision(self) -> tuple[str, int] | None:
        """Kind and seat of the open decision."""
        decision = self.state.decision
        return (decision.kind, decision.seats[0]) if decision is not None else None

    @property
    def asked_seats(self) -> tuple[int, ...]:
        """All seats of the open decision."""
        return self.state.decision.seats if self.state.decision is not None else ()

    @property
    def deadline(self) -> tuple[str, int] | None:
        """Kind and play time left (ms) of the open decision's deadline."""
        decision = self.state.decision
        for deadline in self.state.deadlines:
            if decision is not None and deadline.id == decision.deadline_id:
                return deadline.kind, deadline.due_at_ms - self.now_ms
        return None

    def cash(self, seat: int) -> int:
        """A seat's cash."""
        return self.state.cash[seat]

    def position(self, seat: int) -> int:
        """The cell of a seat's token."""
        return self.state.position[seat]

    def owner(self, cell: Cell) -> int:
        """A cell's owner: a seat, or BANK."""
        return self.state.owners[self.cell(cell)]

    def level(self, cell: Cell) -> int:
        """A street's level."""
        return self.state.levels[self.cell(cell)]

    @property
    def supply(self) -> tuple[int, int]:
        """Branches and holdings in the bank."""
        return self.state.supply_houses, self.state.supply_hotels

    def jail_tries(self, seat: int) -> int:
        """Failed tries in jail; NONE when free."""
        return self.state.jail_tries[seat]

    def cards(self, deck: str) -> list[str]:
        """Keys of a deck's cards, top first."""
        return [self.edition.decks[deck][index].key for index in self.state.decks[deck]]

    def events_of(self, kind: type[E]) -> list[E]:
        """Events of one class of the last command, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    def event_names(self) -> list[str]:
        """Class names of the events of the last command, in order."""
        return [event.__class__.__name__ for event in self.events]

    def asked(self) -> list[tuple[str, int]]:
        """Decisions opened by the last command, in order."""
        return [(event.kind, event.seats[0]) for event in self.events_of(DecisionOpened)]

    def money(self) -> list[Payment]:
        """(payer, payee, amount, reason) of the last command, in order."""
        return [(event.payer, event.payee, event.amount, event.reason) for event in self.events_of(MoneyMoved)]

    def options(self, kind: OptionKind) -> list[Option]:
        """What is legal now, of one kind."""
        return [option for option in legal_actions(self.edition, self.state) if option.kind == kind]

    def option(self, kind: OptionKind) -> Option:
        """The one legal option of a kind."""
        (found,) = self.options(kind)
        return found

    def own_options(self, seat: int) -> list[Option]:
        """What is legal now for one seat."""
        return [option for option in legal_actions(self.edition, self.state) if option.seat == seat]

    def option_kinds(self) -> set[str]:
        """Kinds of everything that is legal now."""
        return {option.kind for option in legal_actions(self.edition, self.state)}
