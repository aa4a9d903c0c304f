"""Questions that several moves ask of a state."""

from services.rules.domain.edition import Edition
from services.rules.domain.play import refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import State


def bad_cell(edition: Edition, cell: int) -> Refusal | None:
    """Refuses what is no deed."""
    if not edition.board.has_deed(cell):
        return refuse(edition, "unknown_cell", "moment", "no such deed", {"cell": cell})
    return None


def group_built(edition: Edition, state: State, cell: int) -> bool:
    """Whether anybody has a building in the cell's group (IND-TRADE-02, IND-OWNAUC-02)."""
    if not edition.board.is_street[cell]:
        return False
    levels = state.levels
    return any([levels[other] for other in edition.board.group_of_cell[cell]])


def whole_group(edition: Edition, state: State, cell: int, seat: int) -> bool:
    """Whether the seat owns every deed of the cell's group (IND-BUILD-01)."""
    owners = state.owners
    return all([owners[other] == seat for other in edition.board.group_of_cell[cell]])
