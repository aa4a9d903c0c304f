"""Games of the two editions of the metro ledger, and words that their tests share."""

from typing import Literal

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.state import SeatKind
from tests.support.scenario import Game, a_game

METRO, SPEED = "metro", "metro-speed"

Mode = Literal["metro", "metro-speed"]

#: a test of both editions
both = pytest.mark.parametrize("edition", [METRO, SPEED])

#: faces of the third die: 1, 2, 3, then these
BUS, X, OTHER_X = 4, 5, 6

#: the file's card keys, by their number in the deck
CARDS = (
    "ripe_deposit",
    "masked_parade",
    "flooded_cellar",
    "last_coach",
    "yard_concert",
    "wrong_turnstile",
    "found_umbrella",
    "forgotten_gloves",
    "leaking_roofs",
    "broken_window",
    "morning_bell",
    "round_of_tea",
    "town_lottery",
    "meter_reading",
    "fallen_crane",
    "star_gazing",
)


def metro(
    seats: int = 2,
    edition: str = METRO,
    *,
    first: int = 0,
    kinds: tuple[SeatKind, ...] = (),
    grace_ms: int = 0,
) -> Game:
    """A game of one of the two editions, with people alone if `kinds` does not say otherwise."""
    return a_game(seats, edition=edition, first=first, kinds=kinds, grace_ms=grace_ms)


def drawing(card: str, seats: int = 2, edition: str = METRO, seat: int = 0) -> Game:
    """A seat on Start, about to roll 3 and 4 onto the Chance cell 7 and draw this card there."""
    return metro(seats, edition).top_cards("chance", card).turn_of(seat)


def offer(
    to: int, give_cash: int = 0, give: tuple[int, ...] = (), *, cash: int = 0, cells: tuple[int, ...] = ()
) -> c.OfferTrade:
    """An offer of money and cells for money (`cash`) and cells of a partner."""
    return c.OfferTrade(to, Basket(give_cash, give), Basket(cash, cells))
