"""What the next roll may cost, and how much cash a sensible seat keeps for it."""

from services.bots.domain.holdings import rent_at
from services.rules.domain.board import CELL_COUNT
from services.rules.domain.edition import Edition
from services.rules.domain.parties import BANK
from services.rules.domain.state import State

#: ways in 36 to roll a sum from 2 to 12
WAYS = ((2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 6), (8, 5), (9, 4), (10, 3), (11, 2), (12, 1))
#: kept even where nothing threatens: the usual small card
SMALL_CHANGE = 50


def cost_at(edition: Edition, state: State, seat: int, cell: int) -> int:
    """What the seat would pay on landing there: rent to a rival, or tax."""
    owner = state.owners[cell]
    if owner == BANK:
        return edition.board.amount[cell] if edition.board.kind[cell] == "tax" else 0
    seats = state.config.seats
    if owner == seat or seats[owner].team == seats[seat].team:
        return 0
    return rent_at(edition, state, cell)


def costs_ahead(edition: Edition, state: State, seat: int) -> tuple[int, int]:
    """(expected, worst) cost of the next roll of two dice, in units."""
    position = state.position[seat]
    total = worst = 0
    for distance, ways in WAYS:
        cost = cost_at(edition, state, seat, (position + distance) % CELL_COUNT)
        if cost:
            total += cost * ways
            worst = max(worst, cost)
    return total // 36, worst


def reserve(edition: Edition, state: State, seat: int) -> int:
    """Cash to keep: the expected cost and a part of the worst; the rest can be raised when it happens."""
    expected, worst = costs_ahead(edition, state, seat)
    return SMALL_CHANGE + expected + worst // 4
