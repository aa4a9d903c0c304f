"""Raising cash for a seat whose time is up or that leaves (MET-AUTO-06, BRA-AUTO-07, TAB-TIME-07)."""

from services.rules.domain.edition import Edition
from services.rules.domain.moves.building import group_sale_refusal, has_hotel, take_down
from services.rules.domain.moves.money import raisable
from services.rules.domain.moves.mortgages import mortgage_choices, take_mortgage
from services.rules.domain.play import Play
from services.rules.domain.state import State

#: more steps than a board has levels and deeds
STEPS_LIMIT = 400


def raise_cash(play: Play, seat: int, total: int) -> bool:
    """One step at a time until the cash suffices; false, with nothing sold, if everything would not suffice."""
    state = play.state
    if raisable(play.edition, state, seat) < total:
        return False
    for _ in range(STEPS_LIMIT):
        if state.cash[seat] >= total:
            return True
        if not _step(play, seat):
            return False
    return False


def _step(play: Play, seat: int) -> bool:
    """Mortgages the cheapest deed that may be; else sells from the group of the lowest build cost."""
    edition, state = play.edition, play.state
    deeds = mortgage_choices(edition, state, seat)
    if deeds:
        cheapest = min(deeds, key=lambda deed: (edition.board.price[deed.cell], deed.cell))
        take_mortgage(play, seat, cheapest.cell)
        return True
    built = [cell for cell in edition.board.streets if state.levels[cell] and state.owners[cell] == seat]
    if not built:
        return False
    lowest = min(built, key=lambda cell: (edition.board.build_cost[cell], cell))
    group = [cell for cell in edition.board.group_of_cell[lowest] if state.levels[cell]]
    cell = min(group, key=lambda cell: (-state.levels[cell], cell))
    cells, to_level = _sale(edition, state, seat, cell)
    take_down(play, seat, cells, to_level)
    return True


def _sale(edition: Edition, state: State, seat: int, cell: int) -> tuple[tuple[int, ...], int]:
    """One level, or, of a hotel that cannot go down alone or by one level, as little as unit and supply allow."""
    level, houses = state.levels[cell], edition.houses_under_hotel
    if level <= houses:
        return (cell,), level - 1
    if edition.sale_unit == "hotel_group" and has_hotel(edition, state, cell):
        group = edition.board.group_of_cell[cell]
        for to_level in reversed(range(level)):
            if group_sale_refusal(edition, state, seat, cell, to_level) is None:
                return group, to_level
    to_level = houses if state.supply_houses < 0 else min(houses, state.supply_houses)
    return (cell,), to_level
