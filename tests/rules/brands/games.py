"""Games of the four editions of the brands ledger, and words that their tests share."""

from collections.abc import Mapping

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.parties import BANK
from services.rules.domain.state import SeatKind
from tests.support.scenario import Game, a_game

BRANDS, FAST, BRAWL, TEAMS = "brands", "brands-fast", "brands-brawl", "brands-teams"
MODES = (BRANDS, FAST, BRAWL, TEAMS)
#: seats of the tables that the tests use
SEATS = {BRANDS: 3, FAST: 3, BRAWL: 3, TEAMS: 4}
START_CASH = {BRANDS: 15000, FAST: 17500, BRAWL: 25000, TEAMS: 15000}
TURN_MS = {BRANDS: 75_000, FAST: 45_000, BRAWL: 45_000, TEAMS: 75_000}

#: a test of all four editions
every_mode = pytest.mark.parametrize("edition", MODES)
#: a test of the editions with the third die
third_die_modes = pytest.mark.parametrize("edition", [FAST, BRAWL])

#: faces of the third die: 1, 2, 3, then these
BUS, M1, OTHER_M1 = 4, 5, 6
MINUTE_MS = 60_000

START, JAIL, CASINO, GO_TO_JAIL = 0, 10, 20, 30
INCOME_TAX, LUXURY_TAX = 4, 38
FINANCE = (5, 15, 25, 35)
INDUSTRY = (12, 28)
CHANCE = (2, 7, 17, 22, 33, 36)

#: the deck's index of the release card
RELEASE_CARD = 19


def brands(
    edition: str = BRANDS,
    seats: int = 0,
    *,
    first: int = 0,
    kinds: tuple[SeatKind, ...] = (),
    grace_ms: int = 0,
    overrides: Mapping[str, object] | None = None,
) -> Game:
    """A game of one of the four editions, with people alone if `kinds` does not say otherwise, on a board that nobody
    owns anything of (a dealt one is taken back)."""
    count = seats or len(kinds) or SEATS[edition]
    game = a_game(count, edition=edition, first=first, kinds=kinds, grace_ms=grace_ms, overrides=overrides)
    return game.owning(BANK, *game.edition.board.deeds)


def in_minute(game: Game, minute: int, *, ms: int = 0) -> Game:
    """The game clock shows the first moment of a minute, and `ms` more."""
    game.now_ms = (minute - 1) * MINUTE_MS + ms
    return game


def pass_turn(game: Game, seat: int) -> Game:
    """A seat throws 1 and 2 onto the jail as a visitor, which ends its turn."""
    return game.at(seat, JAIL - 3).roll(seat, 1, 2)


def drawing(card: str, edition: str = BRANDS, seats: int = 0, *, seat: int = 0) -> Game:
    """A seat on Start, about to roll 3 and 4 onto the Chance cell 7 and to draw this card there."""
    return brands(edition, seats).top_cards("chance", card).turn_of(seat)


def holding_the_release_card(game: Game, seat: int) -> Game:
    """A seat holds the release card, which is out of the deck then."""
    game.state.decks["chance"] = tuple(number for number in game.state.decks["chance"] if number != RELEASE_CARD)
    return game.holding_release_cards(seat, "chance")


def offer(
    to: int, cash: int = 0, cells: tuple[int, ...] = (), *, for_cash: int = 0, for_cells: tuple[int, ...] = ()
) -> c.OfferTrade:
    """An offer of money and cells for a partner's."""
    return c.OfferTrade(to, Basket(cash, cells), Basket(for_cash, for_cells))
