"""Building and selling buildings (IND-BUILD-01 to -19)."""

from services.rules.domain.commands import Build, Command, SellBuildings
from services.rules.domain.edition import Edition
from services.rules.domain.events import BuildingBuilt, BuildingsSold, MoneyMoved
from services.rules.domain.moves.asking import close
from services.rules.domain.moves.checks import whole_group
from services.rules.domain.options import BuildingChoice
from services.rules.domain.parties import BANK
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import State


def build_refusal(edition: Edition, state: State, seat: int, cell: int) -> Refusal | None:
    """Why the seat may not build one level on the cell now."""
    board = edition.board
    if not 0 <= cell < len(board.kind) or not board.is_street[cell]:
        return refuse(edition, "unknown_cell", "build_token", "no such street", {"cell": cell})
    if state.owners[cell] != seat:
        return refuse(edition, "not_owner", "build_group", "only an own street can be built on", {"cell": cell})
    if not whole_group(edition, state, cell, seat):
        return refuse(edition, "group_incomplete", "build_group", "the group is not whole", {"cell": cell})
    if edition.build_where == "token" and state.position[seat] != cell:
        return refuse(edition, "not_under_token", "build_token", "only under the own token", {"cell": cell})
    if ("visit", "build", (seat,)) in state.counters:
        return refuse(edition, "build_limit_used", "build_limit", "one level for each visit", {"cell": cell})
    return _level_refusal(edition, state, seat, cell)


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
    stock = state.supply_hotels if level == edition.houses_under_hotel else state.supply_houses
    if stock == 0:
        return refuse(edition, "no_supply", "build_supply", "the bank has no such piece left", {"cell": cell})
    return None


def build_choices(edition: Edition, state: State, seat: int) -> tuple[BuildingChoice, ...]:
    """Streets that may be built on now."""
    board = edition.board
    cells = (state.position[seat],) if edition.build_where == "token" else board.streets
    return tuple(
        [
            BuildingChoice(cell, state.levels[cell] + 1, board.build_cost[cell])
            for cell in cells
            if state.owners[cell] == seat
            and board.is_street[cell]
            and build_refusal(edition, state, seat, cell) is None
        ]
    )


def build(play: Play, command: Command) -> Refusal | None:
    """Builds one level (IND-BUILD-10)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    cells = action.cells if isinstance(action, Build) else ()
    if len(cells) != 1:
        return refuse(edition, "bad_choice", "build_limit", "exactly one street is built on")
    cell = cells[0]
    refusal = build_refusal(edition, state, seat, cell)
    if refusal is not None:
        return refusal
    close(play)
    play.emit(MoneyMoved(seat, BANK, edition.board.build_cost[cell], "build", cell))
    play.emit(BuildingBuilt(cell, state.levels[cell] + 1))
    return None


def sale_refusal(edition: Edition, state: State, seat: int, cell: int) -> Refusal | None:
    """Why the seat may not sell one level of the cell now (IND-PHASE-09)."""
    board, levels = edition.board, state.levels
    if not 0 <= cell < len(board.kind) or not board.is_street[cell]:
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
    if level > houses and 0 <= state.supply_houses < houses:
        fields = {"cell": cell, "least": houses}
        return refuse(edition, "no_supply", "sale_supply", f"a hotel needs {houses} houses in the bank", fields)
    return None


def sale_choices(edition: Edition, state: State, seat: int) -> tuple[BuildingChoice, ...]:
    """Streets that may be sold down one level now."""
    levels, owners = state.levels, state.owners
    if not any(levels):
        return ()
    board = edition.board
    return tuple(
        [
            BuildingChoice(cell, levels[cell] - 1, board.build_cost[cell] * edition.building_refund // 100)
            for cell in board.streets
            if levels[cell] and owners[cell] == seat and sale_refusal(edition, state, seat, cell) is None
        ]
    )


def sell_buildings(play: Play, command: Command) -> Refusal | None:
    """Sells one level for half its cost (IND-BUILD-14 to -18)."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    if not isinstance(action, SellBuildings) or len(action.cells) != 1:
        return refuse(edition, "bad_choice", "sale_level", "exactly one street is sold down")
    cell = action.cells[0]
    refusal = sale_refusal(edition, state, seat, cell)
    if refusal is not None:
        return refusal
    level = state.levels[cell]
    if action.to_level != level - 1:
        return refuse(edition, "bad_choice", "sale_level", "one level at a time", {"to_level": level - 1})
    close(play)
    refund = edition.board.build_cost[cell] * edition.building_refund // 100
    play.emit(MoneyMoved(BANK, seat, refund, "building_sale", cell))
    play.emit(BuildingsSold(cell, level, level - 1))
    return None
