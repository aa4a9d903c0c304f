"""What deeds are worth to a seat, in units: their price, and a bonus that grows with the share of the group."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from services.rules.domain.edition import Edition
from services.rules.domain.options import Option
from services.rules.domain.parties import BANK
from services.rules.domain.state import State

#: dice sum that a utility is expected to be paid for
USUAL_SUM = 7
#: level whose rents stand for a developed group: the step at which rents begin to hurt
DEVELOPED = 3


@dataclass(frozen=True, slots=True, eq=False)
class GroupWorth:
    """A group: its cells, the bonus by the number of them that one seat has, and the rents when developed.

    One object for each group, compared by identity.
    """

    cells: tuple[int, ...]
    bonus: tuple[int, ...]
    developed_rent: int


@lru_cache(maxsize=64)
def group_worths(edition: Edition) -> tuple[GroupWorth | None, ...]:
    """By cell; None for cells that nobody can own. Cells of one group share one object."""
    board = edition.board
    of_group = {key: _group_worth(edition, cells) for key, cells in board.group_cells.items()}
    return tuple(of_group[key] if key else None for key in board.group)


def _group_worth(edition: Edition, cells: tuple[int, ...]) -> GroupWorth:
    board = edition.board
    prices = sum(board.price[cell] for cell in cells)
    size = len(cells)
    first = cells[0]
    if board.is_street[first]:
        developed = sum(board.rents[cell][DEVELOPED] for cell in cells)
        partial = tuple(prices * max(0, owned - 1) // 10 for owned in range(size))
        return GroupWorth(cells, (*partial, prices // 2 + developed // 4), developed)
    rents = board.rents[first]
    usual = 1 if board.kind[first] == "transport" else USUAL_SUM
    paid = tuple(rents[owned - 1] * usual * owned if owned else 0 for owned in range(size + 1))
    return GroupWorth(cells, tuple(sum_ * 3 // 2 for sum_ in paid), paid[-1])


def owned_of(state: State, cells: Iterable[int], seat: int) -> int:
    """How many of the cells belong to the seat."""
    owners = state.owners
    return sum([owners[cell] == seat for cell in cells])


def gain_of(edition: Edition, state: State, seat: int, cell: int) -> int:
    """What one more deed adds to the seat's worth."""
    group = group_worths(edition)[cell]
    if group is None:
        return 0
    owned = owned_of(state, group.cells, seat)
    return edition.board.price[cell] + group.bonus[owned + 1] - group.bonus[owned]


def loss_of(edition: Edition, state: State, seat: int, cell: int) -> int:
    """What the seat's worth loses with a deed that it has."""
    group = group_worths(edition)[cell]
    if group is None:
        return 0
    owned = owned_of(state, group.cells, seat)
    return edition.board.price[cell] + group.bonus[owned] - group.bonus[owned - 1]


def burden(edition: Edition, state: State, cell: int) -> int:
    """What has to be paid to free a mortgaged deed, in units; 0 if it is free."""
    if not state.mortgaged_rounds[cell]:
        return 0
    return -(-edition.board.price[cell] * (edition.redeem_cost or 0) // 100)


def swap_gain(edition: Edition, state: State, seat: int, got: tuple[int, ...], given: tuple[int, ...]) -> int:
    """Change of the seat's worth when it gets some deeds and gives others; cash aside."""
    change = 0
    shares: dict[GroupWorth, tuple[int, int]] = {}
    for cells, step in ((got, 1), (given, -1)):
        for cell in cells:
            group = group_worths(edition)[cell]
            if group is None:
                continue
            change += step * (edition.board.price[cell] - burden(edition, state, cell))
            owned = shares.get(group) or (owned_of(state, group.cells, seat),) * 2
            shares[group] = (owned[0], owned[1] + step)
    return change + sum(group.bonus[after] - group.bonus[before] for group, (before, after) in shares.items())


def completes(edition: Edition, state: State, seat: int, cell: int) -> bool:
    """Whether the deed is the last one that the seat lacks in its group."""
    group = group_worths(edition)[cell]
    return (
        group is not None and state.owners[cell] != seat and owned_of(state, group.cells, seat) == len(group.cells) - 1
    )


def rivals_of(state: State, seat: int) -> list[int]:
    """Seats in play that are not of the seat's team."""
    seats = state.config.seats
    team = seats[seat].team
    return [other for other, here in enumerate(state.in_play) if here and seats[other].team != team]


def blocking_worth(edition: Edition, state: State, seat: int, cell: int) -> int:
    """What it is worth to keep a deed from a rival whose group it would complete."""
    group = group_worths(edition)[cell]
    if group is None:
        return 0
    size = len(group.cells)
    if any(owned_of(state, group.cells, rival) == size - 1 for rival in rivals_of(state, seat)):
        return (group.bonus[size] - group.bonus[size - 1]) * 3 // 10
    return 0


def street_rent(edition: Edition, cell: int, level: int) -> int:
    """Rent of a street at a level; the level above the houses is a hotel, with the last rent of the board."""
    rents = edition.board.rents[cell]
    return rents[-1] if level > edition.houses_under_hotel else rents[level]


def rent_at(edition: Edition, state: State, cell: int) -> int:
    """Rent of an owned deed as it stands; a utility's for a usual roll."""
    owner = state.owners[cell]
    if owner == BANK or state.mortgaged_rounds[cell]:
        return 0
    board = edition.board
    rents = board.rents[cell]
    cells = board.group_of_cell[cell]
    if board.is_street[cell]:
        level = state.levels[cell]
        if level:
            return street_rent(edition, cell, level)
        return rents[0] * 2 if owned_of(state, cells, owner) == len(cells) else rents[0]
    rent = rents[owned_of(state, cells, owner) - 1]
    return rent if board.kind[cell] == "transport" else rent * USUAL_SUM


def whole_groups(edition: Edition, state: State, seat: int) -> list[GroupWorth]:
    """Groups of streets that belong wholly to the seat, the dearest first."""
    worths, board = group_worths(edition), edition.board
    found = []
    for cells in board.group_cells.values():
        if board.is_street[cells[0]] and owned_of(state, cells, seat) == len(cells):
            group = worths[cells[0]]
            if group is not None:
                found.append(group)
    return sorted(found, key=lambda group: -group.developed_rent)


def options_of(options: tuple[Option, ...], seat: int, kind: str) -> list[Option]:
    """The seat's options of one kind."""
    return [option for option in options if option.kind == kind and option.seat == seat]
