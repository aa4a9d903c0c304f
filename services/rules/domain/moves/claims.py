"""Scarce buildings: claims, and the auction of single pieces (TAB-BUILD-12)."""

from collections.abc import Sequence

from services.rules.domain.commands import ClaimBuildings, Command
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    AuctionOpened,
    BuildingBuilt,
    BuildingsClaimed,
    ClaimsClosed,
    ClaimsOpened,
    MoneyMoved,
)
from services.rules.domain.moves.asking import ask_all, close, interrupt, set_deadline
from services.rules.domain.moves.checks import whole_group
from services.rules.domain.moves.holdings import holdings_of
from services.rules.domain.options import BuildingChoice
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import BuildingClaim, ClaimsFrame, State


def order_is_contested(play: Play, seat: int, cells: tuple[int, ...]) -> bool:
    """Opens the claims when seats want more pieces than there are; false if the order can be done at once."""
    edition, state = play.edition, play.state
    hotels = state.levels[cells[0]] == edition.houses_under_hotel
    stock = state.supply_hotels if hotels else state.supply_houses
    groups = holdings_of(edition, state).groups
    others = [other for other, in_play in enumerate(state.in_play) if in_play and other != seat and groups[other]]
    # Counting what each could buy costs far more than seeing that it cannot be too much.
    if (
        len(cells) + sum([_most_wanted(edition, state, other, groups[other], hotels=hotels) for other in others])
        <= stock
    ):
        return False
    rivals = {other: _wanted(edition, state, other, groups[other], hotels=hotels) for other in others}
    demand = sum(rivals.values())
    if demand == 0 or len(cells) + demand <= stock:
        return False
    interrupt(play)
    seats = tuple([other for other, count in rivals.items() if count])
    play.emit(ClaimsOpened(hotels, stock, seats, seat, cells))
    return True


def _most_wanted(edition: Edition, state: State, seat: int, groups: Sequence[tuple[int, ...]], *, hotels: bool) -> int:
    """A bound that `_wanted` never exceeds: the room on the streets, and what the cash would buy of the cheapest."""
    levels, costs, houses = state.levels, edition.board.build_cost, edition.houses_under_hotel
    cells = [cell for group in groups for cell in group if levels[cell] <= houses]
    if not cells:
        return 0
    room = len(cells) if hotels else sum([houses - levels[cell] for cell in cells])
    return min(room, state.cash[seat] // min([costs[cell] for cell in cells]))


def _wanted(edition: Edition, state: State, seat: int, groups: Sequence[tuple[int, ...]], *, hotels: bool) -> int:
    """How many pieces of the kind the seat could buy now for its whole groups, cheapest first, as far as its cash
    goes."""
    levels, costs = state.levels[:], edition.board.build_cost
    cash = state.cash[seat]
    count = 0
    while True:
        streets = [cell for group in groups for cell in group if _is_next(edition, levels, group, cell, hotels)]
        if not streets:
            return count
        cell = min([(costs[cell], cell) for cell in streets])[1]
        cash -= costs[cell]
        if cash < 0:
            return count
        levels[cell] += 1
        count += 1


def _is_next(edition: Edition, levels: list[int], group: tuple[int, ...], cell: int, hotels: bool) -> bool:
    """Whether the next piece on a street of a whole group is of the kind and even."""
    level, houses = levels[cell], edition.houses_under_hotel
    if level > houses or (level == houses) != hotels:
        return False
    return not edition.build_even or level <= min([levels[other] for other in group])


def _next_step(edition: Edition, state: State, levels: list[int], seat: int, cell: int, hotels: bool) -> bool:
    """Whether the next piece on the street would be of the kind, and legal but for cash and stock."""
    group = edition.board.group_of_cell[cell]
    if not whole_group(edition, state, cell, seat) or any([state.mortgaged_rounds[other] for other in group]):
        return False
    return _is_next(edition, levels, group, cell, hotels)


def claim_refusal(
    edition: Edition, state: State, seat: int, cells: tuple[int, ...], frame: ClaimsFrame
) -> Refusal | None:
    """Each step must be legal after the ones before it, at most the stock, total cost within cash."""
    stock = state.supply_hotels if frame.hotels else state.supply_houses
    if len(cells) > stock:
        return refuse(edition, "no_supply", "build_claim", "more than the bank has", {"greatest": stock})
    levels = state.levels[:]
    cost = 0
    for cell in cells:
        if not edition.board.has_street(cell):
            return refuse(edition, "unknown_cell", "build_claim", "no such street", {"cell": cell})
        if not _next_step(edition, state, levels, seat, cell, frame.hotels):
            return refuse(edition, "bad_choice", "build_claim", "no such piece can stand there", {"cell": cell})
        levels[cell] += 1
        cost += edition.board.build_cost[cell]
    if cost > state.cash[seat]:
        return refuse(edition, "not_enough_cash", "build_claim", "building needs cash", {"least": cost})
    return None


def claim_choices(edition: Edition, state: State, seat: int) -> tuple[BuildingChoice, ...]:
    """Streets on which a claim may begin."""
    frame = state.agenda[-1]
    if not isinstance(frame, ClaimsFrame) or seat not in frame.waiting:
        return ()
    return tuple(
        [
            BuildingChoice(cell, state.levels[cell] + 1, edition.board.build_cost[cell])
            for cell in edition.board.streets
            if state.owners[cell] == seat and claim_refusal(edition, state, seat, (cell,), frame) is None
        ]
    )


def claim(play: Play, command: Command) -> Refusal | None:
    """A seat's only claim; an empty one claims nothing."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    cells = action.cells if isinstance(action, ClaimBuildings) else ()
    frame = state.agenda[-1]
    if not isinstance(frame, ClaimsFrame):
        return refuse(edition, "wrong_decision", "build_claim", "nothing is being claimed")
    if seat not in frame.waiting:
        return refuse(edition, "already_asked", "build_claim", "the seat has claimed")
    refusal = claim_refusal(edition, state, seat, cells, frame)
    if refusal is not None:
        return refusal
    play.emit(BuildingsClaimed(seat, cells))
    if not state.agenda or not _is_open(state):
        close(play)
    return None


def _is_open(state: State) -> bool:
    frame = state.agenda[-1]
    return isinstance(frame, ClaimsFrame) and frame.open


def claim_nothing(play: Play, seat: int) -> None:
    """The claim of a seat that is leaving; the clock of the others runs on (TAB-BANK-09)."""
    frame = play.state.agenda[-1]
    if isinstance(frame, ClaimsFrame) and seat in frame.waiting:
        play.emit(BuildingsClaimed(seat, ()))
        if not _is_open(play.state):
            close(play)


def claims_time_out(play: Play) -> None:
    """Who has not answered claims nothing."""
    close(play, "default")
    frame = play.state.agenda[-1]
    if isinstance(frame, ClaimsFrame):
        for seat in frame.waiting:
            play.emit(BuildingsClaimed(seat, ()))


def run_claims(play: Play, frame: ClaimsFrame) -> None:
    """Asks for claims; then places what there is enough of, or auctions a piece."""
    state = play.state
    if frame.open and frame.waiting:
        for seat in frame.waiting:
            if state.leaving[seat]:
                play.emit(BuildingsClaimed(seat, ()))
                return
        ask_all(play, "building_claim", frame.waiting, set_deadline(play, "answer"))
        return
    live = _live_claims(play.edition, state, frame)
    stock = state.supply_hotels if frame.hotels else state.supply_houses
    left = sum([len(claim.cells) for claim in live])
    if left <= stock or len(live) <= 1 or stock == 0:
        _place_rest(play, live, stock)
    else:
        _auction_piece(play, frame, live)


def _live_claims(edition: Edition, state: State, frame: ClaimsFrame) -> list[BuildingClaim]:
    """Claims with something left whose owner stays and can pay for the next street; the others lapse."""
    return [
        claim
        for claim in frame.claims
        if claim.cells
        and not state.leaving[claim.seat]
        and state.cash[claim.seat] >= edition.board.build_cost[claim.cells[0]]
    ]


def _place_rest(play: Play, live: list[BuildingClaim], stock: int) -> None:
    """At the cost on the deed, claimant by claimant in seat order from the orderer, as far as cash and stock go. A
    claim lapses with the first street that cannot be paid."""
    placed = 0
    for claim in live:
        for cell in claim.cells:
            cost = play.edition.board.build_cost[cell]
            if placed >= stock or play.state.cash[claim.seat] < cost:
                break
            play.emit(MoneyMoved(claim.seat, BANK, cost, "build", cell))
            play.emit(BuildingBuilt(cell, play.state.levels[cell] + 1))
            placed += 1
    play.emit(ClaimsClosed(placed, sum([len(claim.cells) for claim in live]) - placed))


def next_cost(edition: Edition, state: State, seat: int) -> int:
    """The cost of a claimant's next claimed street, which its bids cannot be below, in units."""
    return edition.board.build_cost[next_street(state, seat)]


def next_street(state: State, seat: int) -> int:
    """The street on which a claimant's next piece goes."""
    for frame in reversed(state.agenda):
        if isinstance(frame, ClaimsFrame):
            for claim in frame.claims:
                if claim.seat == seat and claim.cells:
                    return claim.cells[0]
    raise ValueError("this seat has no claim left")


def _auction_piece(play: Play, frame: ClaimsFrame, live: list[BuildingClaim]) -> None:
    bidders = tuple([claim.seat for claim in live])
    opening = min([play.edition.board.build_cost[claim.cells[0]] for claim in live])
    play.emit(AuctionOpened(play.state.next_auction, "shortage", NONE, BANK, bidders, opening))


def shortage_unsold(play: Play) -> None:
    """Without a bid the pieces stay in the bank, the claims lapse, and the orderer orders no more of that kind."""
    frame = play.state.agenda[-1]
    if isinstance(frame, ClaimsFrame):
        play.emit(ClaimsClosed(0, sum([len(claim.cells) for claim in frame.claims]), True))
