"""What the seats hold, sorted once for all lists of a state.

Most commands move no deed and no building, so the sorting is kept: with eight seats that may all sell at any time it
would cost more than the command itself. It says the same as the refusals of buildings, mortgages and deals; the
property tests hold them against each other.
"""

from functools import lru_cache

from services.rules.domain.edition import Edition
from services.rules.domain.moves.money import refund
from services.rules.domain.moves.mortgages import redemption
from services.rules.domain.options import BuildingChoice, DeedChoice, Option
from services.rules.domain.state import State

Cells = tuple[int, ...]

#: as many tables go on side by side without sorting anew; some 3 kB each
KEPT = 4096


class Holdings:
    """By seat, in cell order; from owners, levels, mortgages and the houses in the bank alone (IND-TRADE-02,
    IND-BUILD-01, MET-TRADE-04, TAB-TRADE-07)."""

    __slots__ = (
        "_edition",
        "_levels",
        "_mortgages",
        "_own",
        "_raising",
        "_redemption",
        "_standing",
        "_supply",
        "bare",
        "free",
        "groups",
        "mortgaged",
    )

    def __init__(
        self, edition: Edition, seats: int, owners: Cells, levels: bytes, mortgages: Cells, supply: int
    ) -> None:
        board = edition.board
        self._edition, self._levels, self._mortgages, self._supply = edition, levels, mortgages, supply
        own: list[list[int]] = [[] for _ in range(seats)]
        for cell in board.deeds:
            if owners[cell] >= 0:
                own[owners[cell]].append(cell)
        self._own = own
        self._raising: list[tuple[Option, ...] | None] = [None] * seats
        self._redemption: list[int | None] = [None] * seats
        self._standing: dict[tuple[Cells, bool], tuple[Option, ...]] = {}
        self.groups: list[list[Cells]] = [[] for _ in range(seats)]
        bare: list[list[int]] = own
        if any(levels):
            built = {other for cell, level in enumerate(levels) if level for other in board.group_of_cell[cell]}
            bare = [[cell for cell in cells if cell not in built] for cells in own]
        #: deeds of groups without buildings, which may change hands
        self.bare = [tuple(cells) for cells in bare]
        #: those of them that are not mortgaged
        self.free = self.bare
        self.mortgaged: list[Cells] = [()] * seats
        if any(mortgages):
            self.free = [tuple([cell for cell in cells if not mortgages[cell]]) for cells in bare]
            self.mortgaged = [tuple([cell for cell in cells if mortgages[cell]]) for cells in own]
        #: whole groups of streets without a mortgage, which may be built on
        for group in board.street_groups:
            owner = owners[group[0]]
            if owner < 0:
                continue
            for cell in group:
                if owners[cell] != owner or mortgages[cell]:
                    break
            else:
                self.groups[owner].append(group)

    def raising(self, seat: int) -> tuple[Option, ...]:
        """What the seat may sell and mortgage: options, left out where there is nothing (IND-BUILD-14, MET-MORT-02,
        TAB-MORT-02). Kept once it was asked for."""
        known = self._raising[seat]
        if known is None:
            known = self._raising[seat] = self._raise(seat)
        return known

    def standing(self, seats: Cells, *, raise_cash: bool) -> tuple[Option, ...]:
        """What these seats may do whoever is asked: raise cash where the moment allows it, and give up (TAB-PHASE-01,
        TAB-BANK-09)."""
        known = self._standing.get((seats, raise_cash))
        if known is None:
            options: list[Option] = []
            for seat in seats:
                if raise_cash:
                    options.extend(self.raising(seat))
                if self._edition.give_up == "always":
                    options.append(Option(seat, "surrender"))
            known = self._standing[seats, raise_cash] = tuple(options)
        return known

    def least_redemption(self, seat: int) -> int:
        """The cost of the seat's cheapest mortgaged deed, in units; it has one."""
        known = self._redemption[seat]
        if known is None:
            known = self._redemption[seat] = min([redemption(self._edition, cell) for cell in self.mortgaged[seat]])
        return known

    def _raise(self, seat: int) -> tuple[Option, ...]:
        edition, levels, own = self._edition, self._levels, self._own[seat]
        options = []
        sales = _sales(edition, own, levels, self._supply)
        if sales:
            options.append(Option(seat, "sell_buildings", buildings=sales))
        if edition.mortgage is not None:
            deeds = self.free[seat] if edition.mortgage == "group" else own
            half_price = edition.board.half_price
            choices = [
                _deed(cell, half_price[cell]) for cell in deeds if not levels[cell] and not self._mortgages[cell]
            ]
            if choices:
                options.append(Option(seat, "mortgage", deeds=tuple(choices)))
        return tuple(options)


def holdings_of(edition: Edition, state: State) -> Holdings:
    """The holdings in a state."""
    return _sorted(
        edition,
        len(state.in_play),
        tuple(state.owners),
        bytes(state.levels),
        tuple(state.mortgaged_rounds),
        state.supply_houses,
    )


_sorted = lru_cache(maxsize=KEPT)(Holdings)


@lru_cache(maxsize=1024)
def _deed(cell: int, amount: int) -> DeedChoice:
    return DeedChoice(cell, amount)


@lru_cache(maxsize=4096)
def step_down(cell: int, to_level: int, amount: int) -> BuildingChoice:
    """A choice, shared among the many lists that have it."""
    return BuildingChoice(cell, to_level, amount)


def _sales(edition: Edition, own: list[int], levels: bytes, supply: int) -> tuple[BuildingChoice, ...]:
    """Streets that may be sold down, with the level left and the refund (IND-BUILD-14 to -16, TAB-BUILD-13, -25, -26);
    under `hotel_group` the choices of a group with a hotel stand for the whole group, by its first cell
    (TAB-BUILD-15)."""
    built = [cell for cell in own if levels[cell]]
    if not built:
        return ()
    board, houses, unit = edition.board, edition.houses_under_hotel, edition.sale_unit
    highest: dict[Cells, int] = {}
    for cell in built:
        group = board.group_of_cell[cell]
        if levels[cell] > highest.get(group, 0):
            highest[group] = levels[cell]
    choices: list[BuildingChoice] = []
    together = unit == "hotel_group" and max(levels) > houses
    for cell in built:
        level, group = levels[cell], board.group_of_cell[cell]
        back = board.build_cost[cell] * edition.building_refund // 100
        if together and (highest[group] > houses or max([levels[other] for other in group]) > houses):
            if cell == group[0] and set(group) <= set(own):
                choices.extend(_group_sales(edition, group, levels, supply))
        elif unit == "cell":
            most = level - 1 if level <= houses or supply < 0 else min(level - 1, supply)
            for to_level in range(0 if level > houses else level - 1, most + 1):
                choices.append(step_down(cell, to_level, back * (level - to_level)))
        elif level > houses and 0 <= supply < houses:
            continue
        elif not edition.build_even or level == highest[group]:
            choices.append(step_down(cell, level - 1, back))
    return tuple(choices)


def _group_sales(edition: Edition, group: Cells, levels: bytes, supply: int) -> list[BuildingChoice]:
    """A group with a hotel goes down together; the houses left under former hotels are in the bank, those that the
    sale frees included (TAB-BUILD-15)."""
    first = min(group)
    houses, back = edition.houses_under_hotel, refund(edition, first)
    standing = [levels[cell] for cell in group if levels[cell] <= houses]
    hotels, in_houses, in_all = len(group) - len(standing), sum(standing), sum([levels[cell] for cell in group])
    choices = []
    for to_level in range(houses + 1):
        freed = in_houses - len(standing) * to_level
        if supply < 0 or to_level * hotels <= supply + freed:
            choices.append(step_down(first, to_level, back * (in_all - len(group) * to_level)))
    return choices
