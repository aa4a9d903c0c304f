"""Building and selling buildings (IND-BUILD-01, MET-BUILD-01, BRA-BUILD-01, TAB-BUILD-01, and what follows in each)."""

from collections.abc import Sequence
from functools import lru_cache

from services.rules.domain.commands import Build, Command, SellBuildings
from services.rules.domain.edition import Edition
from services.rules.domain.events import BuildingBuilt, BuildingsSold, MoneyMoved
from services.rules.domain.folds.deeds import build_scope
from services.rules.domain.moves.asking import stay_or_close
from services.rules.domain.moves.checks import whole_group
from services.rules.domain.moves.claims import order_is_contested
from services.rules.domain.moves.money import refund
from services.rules.domain.options import BuildingChoice
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import State


def build_refusal(edition: Edition, state: State, seat: int, cell: int) -> Refusal | None:
    """Why the seat may not build one level on the cell now."""
    board = edition.board
    if not board.has_street(cell):
        return refuse(edition, "unknown_cell", "build_token", "no such street", {"cell": cell})
    if state.owners[cell] != seat:
        return refuse(edition, "not_owner", "build_group", "only an own street can be built on", {"cell": cell})
    if not whole_group(edition, state, cell, seat):
        return refuse(edition, "group_incomplete", "build_group", "the group is not whole", {"cell": cell})
    if any([state.mortgaged_rounds[other] for other in board.group_of_cell[cell]]):
        return refuse(edition, "group_mortgaged", "build_mortgaged", "a street is mortgaged", {"cell": cell})
    if edition.build_where == "token" and state.position[seat] != cell:
        return refuse(edition, "not_under_token", "build_token", "only under the own token", {"cell": cell})
    if _limit_used(edition, state, seat, cell):
        return refuse(edition, "build_limit_used", "build_limit", "the allowance of builds is used", {"cell": cell})
    return _level_refusal(edition, state, seat, cell)


def _limit_used(edition: Edition, state: State, seat: int, cell: int) -> bool:
    """One step for each visit, or for each street or group and turn (IND-BUILD-03, MET-BUILD-04, BRA-BUILD-05)."""
    limit = edition.build_limit
    if limit is None:
        return False
    if limit == "visit":
        return ("visit", "build", (seat,)) in state.counters
    return ("turn", "build", (build_scope(edition, cell),)) in state.counters


def _level_refusal(edition: Edition, state: State, seat: int, cell: int) -> Refusal | None:
    levels = state.levels
    level = levels[cell]
    if level > edition.houses_under_hotel:
        return refuse(edition, "top_level", "build_top", "nothing higher can be built", {"cell": cell})
    if edition.build_even and level > min([levels[other] for other in edition.board.group_of_cell[cell]]):
        return refuse(edition, "uneven", "build_even", "the least developed street comes first", {"cell": cell})
    cost = edition.board.build_cost[cell]
    if state.cash[seat] < cost:
        return refuse(edition, "not_enough_cash", "build_cash", "building needs cash", {"least": cost})
    hotels = level == edition.houses_under_hotel
    stock = state.supply_hotels if hotels else state.supply_houses
    if stock == 0:
        return refuse(edition, "no_supply", "build_supply", "the bank has no such piece left", {"cell": cell})
    if state.counters and ("turn", "kind_locked", (seat, int(hotels))) in state.counters:
        return refuse(edition, "kind_locked", "build_locked", "nobody bid for these pieces", {"cell": cell})
    return None


def build_choices(
    edition: Edition, state: State, seat: int, groups: Sequence[tuple[int, ...]], *, first: bool = False
) -> tuple[BuildingChoice, ...]:
    """Streets that may be built on now, as build_refusal says of each (IND-BUILD-03, -08, -10, MET-BUILD-01,
    TAB-BUILD-05).

    `groups`: the seat's whole ones that bear no mortgage. With `first` the one that was found first will do.
    """
    if not groups:
        return ()
    steps: list[BuildingChoice] = []
    levels, cash, costs, even = state.levels, state.cash[seat], edition.board.build_cost, edition.build_even
    houses, limited = edition.houses_under_hotel, edition.build_limit is not None
    token = state.position[seat] if edition.build_where == "token" else NONE
    for group in groups:
        low = min([levels[cell] for cell in group]) if even else 0
        for cell in group:
            level = levels[cell]
            if costs[cell] > cash or level > houses or (even and level > low) or token not in (NONE, cell):
                continue
            if _kind_missing(edition, state, seat, hotel=level == houses):
                continue
            if limited and _limit_used(edition, state, seat, cell):
                continue
            steps.append(_choice(cell, level + 1, costs[cell]))
            if first:
                return tuple(steps)
    return tuple(sorted(steps, key=_cell_of))


def _kind_missing(edition: Edition, state: State, seat: int, *, hotel: bool) -> bool:
    """Whether there is no such piece in the bank, or none for this seat (TAB-BUILD-12)."""
    if not (state.supply_hotels if hotel else state.supply_houses):
        return True
    return edition.supply_short == "claim_auction" and ("turn", "kind_locked", (seat, int(hotel))) in state.counters


def _cell_of(choice: BuildingChoice) -> int:
    return choice.cell


@lru_cache(maxsize=1024)
def _choice(cell: int, to_level: int, amount: int) -> BuildingChoice:
    return BuildingChoice(cell, to_level, amount)


def build(play: Play, command: Command) -> Refusal | None:
    """Builds one level (IND-BUILD-10), or an order of several pieces of one kind (TAB-BUILD-06)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    cells = action.cells if isinstance(action, Build) else ()
    if edition.supply_short == "claim_auction":
        refusal = order_refusal(edition, state, seat, cells)
    elif len(cells) != 1:
        refusal = refuse(edition, "bad_choice", "build_limit", "exactly one street is built on")
    else:
        refusal = build_refusal(edition, state, seat, cells[0])
    if refusal is not None:
        return refusal
    if edition.supply_short == "claim_auction" and order_is_contested(play, seat, cells):
        return None
    stay_or_close(play)
    for cell in cells:
        place_piece(play, seat, cell)
    return None


def order_refusal(edition: Edition, state: State, seat: int, cells: tuple[int, ...]) -> Refusal | None:
    """Each step must be legal after the ones before it, all of one kind and within stock and cash (TAB-BUILD-12)."""
    if not cells:
        return refuse(edition, "bad_choice", "build_limit", "at least one street is built on")
    if len(cells) == 1:
        return build_refusal(edition, state, seat, cells[0])
    trial = state.copy()
    kinds = set()
    for cell in cells:
        refusal = build_refusal(edition, trial, seat, cell)
        if refusal is not None:
            return refusal
        hotels = trial.levels[cell] == edition.houses_under_hotel
        kinds.add(hotels)
        trial.levels[cell] += 1
        trial.cash[seat] -= edition.board.build_cost[cell]
        trial.supply_hotels -= int(hotels)
        trial.supply_houses -= int(not hotels)
    if len(kinds) > 1:
        return refuse(edition, "bad_choice", "build_limit", "all houses or all hotels")
    return None


def place_piece(play: Play, seat: int, cell: int) -> None:
    """Pays the cost and builds."""
    play.emit(MoneyMoved(seat, BANK, play.edition.board.build_cost[cell], "build", cell))
    play.emit(BuildingBuilt(cell, play.state.levels[cell] + 1))


def sale_refusal(edition: Edition, state: State, seat: int, cell: int) -> Refusal | None:
    """Why the seat may not sell one level of the cell now (IND-PHASE-09, TAB-BUILD-14, -15)."""
    board, levels = edition.board, state.levels
    if not board.has_street(cell):
        return refuse(edition, "unknown_cell", "sale_owner", "no such street", {"cell": cell})
    if state.owners[cell] != seat:
        return refuse(edition, "not_owner", "sale_owner", "only an own building can be sold", {"cell": cell})
    level = levels[cell]
    if level == 0:
        return refuse(edition, "nothing_built", "sale_built", "there is no building", {"cell": cell})
    own = [levels[other] for other in board.group_of_cell[cell] if state.owners[other] == seat]
    if edition.build_even and level < max(own):
        return refuse(edition, "uneven", "sale_even", "the most developed street comes first", {"cell": cell})
    houses = edition.houses_under_hotel
    if level > houses and edition.sale_unit == "hotel_group":
        return refuse(edition, "hotels_go_together", "sale_group", "the hotels of a group go together", {"cell": cell})
    if level > houses and 0 <= state.supply_houses < houses:
        fields = {"cell": cell, "least": houses}
        return refuse(edition, "no_supply", "sale_supply", f"a hotel needs {houses} houses in the bank", fields)
    return None


def has_hotel(edition: Edition, state: State, cell: int) -> bool:
    """Whether a street of the group carries a hotel (TAB-BUILD-15)."""
    return any([state.levels[other] > edition.houses_under_hotel for other in edition.board.group_of_cell[cell]])


def _cell_sale_refusal(edition: Edition, state: State, seat: int, cell: int, to_level: int) -> Refusal | None:
    """One house, or a hotel to any lower level; the houses left under it are in the supply (TAB-BUILD-25, -26)."""
    refusal = _owner_refusal(edition, state, seat, cell)
    if refusal is not None:
        return refusal
    level = state.levels[cell]
    if level == 0:
        return refuse(edition, "nothing_built", "sale_built", "there is no building", {"cell": cell})
    if not 0 <= to_level < level:
        return refuse(edition, "bad_choice", "sale_level", "a lower level", {"greatest": level - 1})
    if level <= edition.houses_under_hotel and to_level != level - 1:
        return refuse(edition, "bad_choice", "sale_built", "houses are sold one at a time", {"to_level": level - 1})
    if level > edition.houses_under_hotel and 0 <= state.supply_houses < to_level:
        return refuse(edition, "no_supply", "sale_supply", "the bank lacks the houses", {"least": to_level})
    return None


def _owner_refusal(edition: Edition, state: State, seat: int, cell: int) -> Refusal | None:
    if not edition.board.has_street(cell):
        return refuse(edition, "unknown_cell", "sale_owner", "no such street", {"cell": cell})
    if state.owners[cell] != seat:
        return refuse(edition, "not_owner", "sale_owner", "only an own building can be sold", {"cell": cell})
    return None


def group_sale_refusal(edition: Edition, state: State, seat: int, cell: int, to_level: int) -> Refusal | None:
    """A group with a hotel goes down together; houses left under former hotels are in the bank at that moment, those
    that the same sale frees included (TAB-BUILD-15)."""
    group = edition.board.group_of_cell[cell]
    houses = edition.houses_under_hotel
    if not 0 <= to_level <= houses:
        return refuse(edition, "bad_choice", "sale_level", "a level below the hotel", {"greatest": houses})
    if not all([state.owners[other] == seat for other in group]):
        return refuse(edition, "not_owner", "sale_owner", "only an own building can be sold", {"cell": cell})
    freed = sum([state.levels[other] - to_level for other in group if state.levels[other] <= houses])
    needed = to_level * sum([1 for other in group if state.levels[other] > houses])
    if state.supply_houses >= 0 and needed > state.supply_houses + freed:
        return refuse(edition, "no_supply", "sale_supply", "the bank lacks the houses", {"least": needed})
    return None


def sell_buildings(play: Play, command: Command) -> Refusal | None:
    """Sells buildings for a share of their cost (IND-BUILD-14 to -18), as the edition's unit of sale allows."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    if not isinstance(action, SellBuildings) or not action.cells:
        return refuse(edition, "bad_choice", "sale_level", "a street is sold down")
    cell, to_level = action.cells[0], action.to_level
    if not edition.board.has_street(cell):
        return refuse(edition, "unknown_cell", "sale_owner", "no such street", {"cell": cell})
    unit = edition.sale_unit
    if unit == "hotel_group" and has_hotel(edition, state, cell):
        refusal = group_sale_refusal(edition, state, seat, cell, to_level) or _whole_group_named(edition, action)
        cells = edition.board.group_of_cell[cell]
    else:
        refusal = _single_refusal(edition, state, seat, action)
        cells = (cell,)
    if refusal is not None:
        return refusal
    stay_or_close(play)
    take_down(play, seat, cells, to_level)
    return None


def _whole_group_named(edition: Edition, action: SellBuildings) -> Refusal | None:
    group = edition.board.group_of_cell[action.cells[0]]
    if len(action.cells) != 1 and sorted(action.cells) != list(group):
        return refuse(edition, "bad_choice", "sale_group", "the whole group, or its first street")
    return None


def _single_refusal(edition: Edition, state: State, seat: int, action: SellBuildings) -> Refusal | None:
    if len(action.cells) != 1:
        return refuse(edition, "bad_choice", "sale_level", "exactly one street is sold down")
    cell = action.cells[0]
    if edition.sale_unit == "cell":
        return _cell_sale_refusal(edition, state, seat, cell, action.to_level)
    refusal = sale_refusal(edition, state, seat, cell)
    if refusal is not None:
        return refusal
    level = state.levels[cell]
    if action.to_level != level - 1:
        return refuse(edition, "bad_choice", "sale_level", "one level at a time", {"to_level": level - 1})
    return None


def take_down(play: Play, seat: int, cells: tuple[int, ...], to_level: int) -> None:
    """Pays for the levels and takes them off, houses first, so that those freed can stay under a former hotel."""
    edition, state = play.edition, play.state
    for cell in sorted(cells, key=lambda cell: state.levels[cell]):
        level = state.levels[cell]
        if level > to_level:
            play.emit(MoneyMoved(BANK, seat, refund(edition, cell) * (level - to_level), "building_sale", cell))
            play.emit(BuildingsSold(cell, level, to_level))
