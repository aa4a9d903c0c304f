"""The «given» half of the scenario builder: any position of a game, set up piece by piece (see scenario.py)."""

from dataclasses import replace
from typing import Self

from services.rules.application.new_games import team_of
from services.rules.domain.agenda import run
from services.rules.domain.chance import SCRIPT
from services.rules.domain.edition import Edition
from services.rules.domain.events import Event
from services.rules.domain.folds.deeds import move_pieces
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play
from services.rules.domain.state import (
    Claim,
    CounterScope,
    MoneyReason,
    PaymentFrame,
    RollFrame,
    Seating,
    SeatKind,
    SeatSetup,
    TurnFrame,
)
from services.rules.editions.loader import load_catalogue
from services.rules.editions.ports import Overrides
from services.rules.editions.shelf import with_overrides

CATALOGUE = load_catalogue()
SEED = bytes(range(32))

#: a cell by its key or its number
Cell = str | int


def seat_kinds(seating: Seating, seats: int) -> tuple[SeatKind, ...]:
    """The usual seats of a table: people, bots, or one person (seat 0) against bots."""
    first: SeatKind = "bot" if seating == "bots" else "person"
    others: SeatKind = "person" if seating in ("people", "mixed") else "bot"
    return (first, *(others,) * (seats - 1))


def opening_draws(edition: Edition, first: int, seats: int) -> tuple[int, ...]:
    """Draws of a new game in which `first` starts; every deck, and the deeds dealt, keep the order of their file."""
    decks = [index for cards in edition.decks.values() for index in range(len(cards) - 1, 0, -1)]
    if edition.deck_cycle == "file_order":
        decks = []
    deeds = range(len(edition.board.deeds) - 1, 0, -1) if edition.deal_deeds else ()
    if edition.first_player == "high_roll":
        rolls = [die for seat in range(seats) for die in ((5, 5) if seat == first else (0, 0))]
        return (*decks, *rolls, *deeds)
    return (*(() if edition.first_player == "person" else (first,)), *decks, *deeds)


class Position:
    """A game that has just begun, and methods that put anything else in its place.

    Facts come first, then one of the methods that open a decision: `turn_of`, `managing`, `landing`, `owing`.
    """

    def __init__(
        self,
        edition: str,
        seating: Seating,
        kinds: tuple[SeatKind, ...],
        first: int,
        grace_ms: int,
        overrides: Overrides = (),
    ) -> None:
        self.edition = with_overrides(CATALOGUE.get(edition).at(seating), overrides)
        setup = Setup(
            seating=seating,
            seats=tuple(SeatSetup(kind, team_of(self.edition, seat)) for seat, kind in enumerate(kinds)),
            server_seed=SEED,
            grace_ms=grace_ms,
            overrides=overrides,
            algorithm=SCRIPT,
            script=opening_draws(self.edition, first, len(kinds)),
        )
        self.now_ms = 0
        begun = begin(self.edition, setup, self.now_ms)
        self.state = begun.state
        #: events of the last command
        self.events: tuple[Event, ...] = begun.events
        #: groups that are exceptions of IND-INV-06 and -07
        self.spoiled: frozenset[str] = frozenset()

    def cell(self, cell: Cell) -> int:
        """The number of a cell."""
        return cell if isinstance(cell, int) else self.edition.board.cell_of_key[cell]

    def with_cash(self, seat: int, amount: int) -> Self:
        """A seat's cash."""
        self.state.cash[seat] = amount
        return self

    def cash_of_all(self, *amounts: int) -> Self:
        """Every seat's cash, seat 0 first."""
        assert len(amounts) == len(self.state.cash)
        self.state.cash[:] = amounts
        return self

    def at(self, seat: int, cell: Cell) -> Self:
        """Where a token stands."""
        self.state.position[seat] = self.cell(cell)
        return self

    def owning(self, seat: int, *cells: Cell) -> Self:
        """Deeds of a seat; BANK frees them."""
        for cell in cells:
            self.state.owners[self.cell(cell)] = seat
        return self

    def owning_group(self, seat: int, group: str, *levels: int) -> Self:
        """A whole group of a seat, with the levels of its cells in board order (none given: bare)."""
        cells = self.edition.board.group_cells[group]
        for cell, level in zip(cells, levels or (0,) * len(cells), strict=False):
            self.owning(seat, cell).building(cell, level)
        return self

    def building(self, cell: Cell, level: int) -> Self:
        """A street's level; its pieces come out of the supply."""
        number = self.cell(cell)
        move_pieces(self.edition, self.state, self.state.levels[number], level)
        self.state.levels[number] = level
        return self

    def mortgaged(self, *cells: Cell, since: int = 1) -> Self:
        """Owned deeds that are mortgaged, since a round."""
        for cell in cells:
            self.state.mortgaged_rounds[self.cell(cell)] = since
        return self

    def with_strikes(self, seat: int, count: int) -> Self:
        """Strikes of a seat in a row."""
        self.state.strikes[seat] = count
        return self

    def branches_left(self, count: int, holder: int) -> Self:
        """Leaves so many branches in the supply: `holder` builds the others, evenly, on free groups from the end.

        After `holdings_left`, which needs branches too.
        """
        for cells in self._free_groups():
            for level in range(1, self.edition.houses_under_hotel + 1):
                for cell in cells:
                    if self.state.supply_houses > count:
                        self.owning(holder, *cells).building(cell, level)
        assert self.state.supply_houses == count, "not enough free groups"
        return self

    def holdings_left(self, count: int, holder: int) -> Self:
        """Leaves so many holdings in the supply: `holder` has the others on free groups from the end."""
        top = self.edition.houses_under_hotel + 1
        for cells in self._free_groups():
            missing = min(len(cells), self.state.supply_hotels - count)
            for index, cell in enumerate(cells if missing else ()):
                self.owning(holder, cell).building(cell, top if index < missing else top - 1)
        assert self.state.supply_hotels == count, "not enough free groups"
        return self

    def _free_groups(self) -> list[tuple[int, ...]]:
        board, owners = self.edition.board, self.state.owners
        groups = [cells for cells in board.group_cells.values() if board.is_street[cells[0]]]
        return [cells for cells in reversed(groups) if all(owners[cell] == BANK for cell in cells)]

    def after_bank_sale_in(self, *groups: str) -> Self:
        """Groups out of which the bank took a cell with buildings in the group: they may be uneven and shared."""
        self.spoiled |= set(groups)
        return self

    def in_jail(self, seat: int, tries: int = 0) -> Self:
        """A seat in jail with so many failed tries."""
        self.state.jail_tries[seat] = tries
        return self.at(seat, self.edition.board.jail_cell)

    def holding_release_cards(self, seat: int, *decks: str) -> Self:
        """Release cards held, by deck."""
        self.state.release_cards[seat] = tuple(sorted(decks))
        return self

    def out(self, *seats: int) -> Self:
        """Seats that are out, in the order of going out."""
        for seat in seats:
            self.state.in_play[seat] = False
            self.state.cash[seat] = 0
            self.state.out_order += (seat,)
        return self

    def doubles(self, count: int) -> Self:
        """Doubles that the turn player has rolled in a row."""
        self.state.doubles = count
        return self

    def extra_roll_owed(self) -> Self:
        """The last roll was a double."""
        self.state.extra_owed = True
        self.state.doubles = max(1, self.state.doubles)
        return self

    def in_round(self, number: int) -> Self:
        """The round."""
        self.state.round = number
        return self

    def trip_remembered(self, cell: Cell) -> Self:
        """The last destination of a random trip."""
        self.state.trip_memory = self.cell(cell)
        return self

    def counted(self, scope: CounterScope, what: str, keys: tuple[int, ...], count: int = 1) -> Self:
        """A counter of the state, such as ("turn", "trade", (seat,)) or ("visit", "build", (seat,))."""
        self.state.counters[(scope, what, keys)] = count
        return self

    def top_cards(self, deck: str, *keys: str) -> Self:
        """Puts cards on top of a deck, in this order; the others follow in the order of the file."""
        cards = [card.key for card in self.edition.decks[deck]]
        first = [cards.index(key) for key in keys]
        self.state.decks[deck] = (*first, *(index for index in range(len(cards)) if index not in first))
        return self

    def upcoming_dice(self, *rolls: tuple[int, int]) -> Self:
        """Dice of the next rolls, after those already given."""
        return self.upcoming_draws(*[die - 1 for roll in rolls for die in roll])

    def upcoming_draws(self, *values: int) -> Self:
        """Values that the generator gives next, after those already given."""
        self.state.config = replace(self.state.config, script=self.state.config.script + values)
        return self

    def upcoming_trip(self, to: Cell, standing_on: Cell) -> Self:
        """The next random trip, made from a cell, leads to a cell."""
        away = (self.cell(standing_on), self.state.trip_memory)
        return self.upcoming_draws([cell for cell in range(40) if cell not in away].index(self.cell(to)))

    def turn_of(self, seat: int) -> Self:
        """A new turn of a seat waits for its roll."""
        self.state.turn_seat = seat
        return self._open(TurnFrame(seat, "roll"))

    def managing(self, seat: int) -> Self:
        """A seat has rolled, its cell has been dealt with, and it may manage or end its turn."""
        self.state.turn_seat = seat
        return self._open(TurnFrame(seat, "manage"))

    def landing(self, seat: int, cell: Cell, dice: tuple[int, int] = (1, 2), third: int = 0) -> Self:
        """A seat arrives on a cell by these dice; `events` are those of the landing."""
        self.state.turn_seat = seat
        self.state.last_roll = dice
        return self.at(seat, cell)._open(TurnFrame(seat, "roll"), RollFrame(seat, dice, third, False, "landing"))

    def owing(
        self, seat: int, amount: int, *creditors: int, turn: int = NONE, reason: MoneyReason = "card", cell: Cell = NONE
    ) -> Self:
        """A seat owes this sum to the bank, or an equal part of it to each creditor, in the turn of a seat (its own).

        Its cash must be less than the sum.
        """
        payees = creditors or (BANK,)
        claims = tuple(Claim(payee, amount // len(payees)) for payee in payees)
        turn_seat = seat if turn == NONE else turn
        self.state.turn_seat = turn_seat
        payment = PaymentFrame(self.state.next_payment, seat, claims, reason, self.cell(cell), "", 0)
        self.state.next_payment += 1
        return self._open(TurnFrame(turn_seat, "roll"), RollFrame(turn_seat, (1, 2), 0, False, "settled"), payment)

    def _open(self, *agenda: TurnFrame | RollFrame | PaymentFrame) -> Self:
        self.state.agenda = list(agenda)
        self.state.decision = None
        self.state.deadlines = ()
        play = Play(self.edition, self.state, self.now_ms)
        run(play)
        self.events = tuple(play.events)
        return self
