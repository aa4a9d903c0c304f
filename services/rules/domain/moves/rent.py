"""What a visit costs (IND-RENT-01 to -10)."""

from services.rules.domain.edition import Edition
from services.rules.domain.state import State


def rent_due(edition: Edition, state: State, cell: int, multiple: int = 0) -> int:
    """Rent for the seat that has just arrived on another seat's deed, in units; 0 if none is due.

    `multiple`: of the usual rent of a transport, or of the dice at a utility, set by a card; 0 if none.
    """
    board = edition.board
    owner = state.owners[cell]
    if state.mortgaged_rounds[cell]:
        return 0
    if not edition.jailed_owner_rent and state.jail_tries[owner] >= 0:
        return 0
    rents = board.rents[cell]
    group = board.group_of_cell[cell]
    if board.is_street[cell]:
        level = state.levels[cell]
        if level:
            return rents[-1] if level > edition.houses_under_hotel else rents[level]
        return rents[0] * 2 if _doubled(edition, state, group, owner) else rents[0]
    owned = sum([1 for other in group if state.owners[other] == owner])
    if board.kind[cell] == "utility":
        return (multiple or rents[owned - 1]) * sum(state.last_roll)
    return rents[owned - 1] * (multiple or 1)


def _doubled(edition: Edition, state: State, group: tuple[int, ...], owner: int) -> bool:
    """A whole group in one hand, none mortgaged, and unbuilt where that counts (IND-RENT-03, -10)."""
    owners, mortgaged = state.owners, state.mortgaged_rounds
    for cell in group:
        if owners[cell] != owner or mortgaged[cell]:
            return False
        if edition.double_rent_bare == "group" and state.levels[cell]:
            return False
    return True
