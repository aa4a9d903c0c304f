"""Building, and where the pieces go when the bank runs short of them (IND-BOT-12)."""

from services.bots.domain.dangers import reserve
from services.bots.domain.holdings import GroupWorth, group_worths, street_rent, whole_groups
from services.rules.domain.commands import Action, Build, Redeem, SellBuildings
from services.rules.domain.edition import Edition
from services.rules.domain.options import BuildingChoice, Option
from services.rules.domain.state import State

#: houses in the bank that are kept for the dearest group of a seat (IND-BOT-12)
SHORT = 1


def rent_step(edition: Edition, cell: int, from_level: int, to_level: int) -> int:
    """Rent that a street wins (or loses) between two levels."""
    return street_rent(edition, cell, to_level) - street_rent(edition, cell, from_level)


def step_rate(edition: Edition, state: State, choice: BuildingChoice) -> int:
    """Rent that a step wins, in percent of its cost."""
    return rent_step(edition, choice.cell, state.levels[choice.cell], choice.to_level) * 100 // max(1, choice.amount)


def build(edition: Edition, state: State, choices: tuple[BuildingChoice, ...], seat: int) -> Action | None:
    """The step with the most rent for its cost, if it leaves the reserve and needs no scarce piece of dearer groups."""
    spendable = state.cash[seat] - reserve(edition, state, seat)
    best: BuildingChoice | None = None
    best_rate = 0
    for choice in choices:
        if choice.amount > spendable or _wanted_elsewhere(edition, state, choice, seat):
            continue
        rate = step_rate(edition, state, choice)
        if rate > best_rate:
            best, best_rate = choice, rate
    return None if best is None else Build((best.cell,))


def has_room(edition: Edition, state: State, seat: int) -> bool:
    """Whether the seat has a whole group that can still grow, now or after giving pieces up elsewhere."""
    top = edition.houses_under_hotel + 1
    return any(state.levels[cell] < top for group in whole_groups(edition, state, seat) for cell in group.cells)


def _missing_houses(edition: Edition, state: State, group: GroupWorth) -> int:
    """Houses that the group still needs before every street of it can get its hotel."""
    full = edition.houses_under_hotel
    return sum(max(0, full - state.levels[cell]) for cell in group.cells)


def _wanted_elsewhere(edition: Edition, state: State, choice: BuildingChoice, seat: int) -> bool:
    """Whether the houses left are needed for a dearer group of the seat; a hotel gives houses back and never is."""
    if not 0 <= state.supply_houses <= SHORT or choice.to_level > edition.houses_under_hotel:
        return False
    own = group_worths(edition)[choice.cell]
    for group in whole_groups(edition, state, seat):
        if group is own:
            return False
        if _missing_houses(edition, state, group):
            return True
    return False


def concentrate(
    edition: Edition, state: State, sales: tuple[BuildingChoice, ...], seat: int, kind: str
) -> Action | None:
    """Sells a building of a cheap group when a dearer street could be built on but for the supply."""
    target = _blocked_street(edition, state, seat, kind)
    if target is None:
        return None
    cell, group = target
    step_cost = edition.board.build_cost[cell]
    if state.cash[seat] - step_cost < reserve(edition, state, seat):
        return None
    worths = group_worths(edition)
    hotel_wanted = state.levels[cell] == edition.houses_under_hotel
    cheapest: tuple[int, BuildingChoice] | None = None
    for choice in sales:
        other = worths[choice.cell]
        if other is None or other.developed_rent >= group.developed_rent:
            continue
        if (state.levels[choice.cell] > edition.houses_under_hotel) != hotel_wanted:
            continue
        if cheapest is None or other.developed_rent < cheapest[0]:
            cheapest = (other.developed_rent, choice)
    if cheapest is None:
        return None
    return SellBuildings((cheapest[1].cell,), cheapest[1].to_level)


def _blocked_street(edition: Edition, state: State, seat: int, kind: str) -> tuple[int, GroupWorth] | None:
    """The dearest street where only a missing piece forbids the next level."""
    if state.supply_houses < 0 or kind not in edition.build_in or _limit_used(state, seat):
        return None
    full = edition.houses_under_hotel
    for group in whole_groups(edition, state, seat):
        lowest = min(state.levels[cell] for cell in group.cells)
        left = state.supply_hotels if lowest == full else state.supply_houses
        if lowest > full or left > 0:
            continue
        for cell in group.cells:
            here = edition.build_where == "group" or state.position[seat] == cell
            if here and state.levels[cell] == lowest:
                return cell, group
    return None


def _limit_used(state: State, seat: int) -> bool:
    """Whether the seat has built in this visit of its token."""
    return ("visit", "build", (seat,)) in state.counters


def redeem(edition: Edition, state: State, option: Option | None, seat: int) -> Action | None:
    """Redeems the mortgage of the dearest group while plenty of cash is left."""
    if option is None:
        return None
    spendable = state.cash[seat] - 2 * reserve(edition, state, seat)
    worths = group_worths(edition)
    best: tuple[int, int] | None = None
    for deed in option.deeds:
        group = worths[deed.cell]
        if group is not None and deed.amount <= spendable and (best is None or group.developed_rent > best[0]):
            best = (group.developed_rent, deed.cell)
    return None if best is None else Redeem(best[1])
