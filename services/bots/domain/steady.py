"""A steady player: buys, trades for whole groups, builds on them and keeps a reserve."""

from collections.abc import Callable

from services.bots.domain import bidding, building, dealing, raising
from services.bots.domain.dangers import cost_at, costs_ahead, reserve
from services.bots.domain.holdings import gain_of, options_of
from services.rules.domain.board import CELL_COUNT
from services.rules.domain.commands import (
    Action,
    ChooseBuilding,
    ChooseCell,
    ChooseEstate,
    ChooseMove,
    ClaimBuildings,
    ClaimRent,
    CloseGap,
    ConfirmReturn,
    Decline,
    EndTurn,
    PayFine,
    PlaceBet,
    Roll,
    UseReleaseCard,
    VotePause,
)
from services.rules.domain.edition import Edition
from services.rules.domain.options import Option
from services.rules.domain.parties import BANK
from services.rules.domain.state import ClaimsFrame, DecisionKind, RollFrame, State

#: while the bank has so many deeds, a seat in jail misses purchases
MANY_FREE_DEEDS = 5
#: the faces that a seat bets on, now these, now those
_FACES = ((1, 2, 3), (4, 5, 6), (1, 3, 5), (2, 4, 6))


class SteadyBot:
    """See the module. It plays any edition by its parameters and board."""

    def choose(self, edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
        """See Bot."""
        decision = view.decision
        if decision is None or not any([option.seat == seat for option in options]):
            raise ValueError(f"seat {seat} is not asked")
        claim = _rent_claim(view, options, seat) if view.rent_claims else None
        if claim is not None or seat not in decision.seats:
            return claim
        return _ANSWERS[decision.kind](edition, view, options, seat, seed)


def _first(options: tuple[Option, ...], seat: int, kind: str) -> Option | None:
    for option in options:
        if option.kind == kind and option.seat == seat:
            return option
    return None


def _rent_claim(view: State, options: tuple[Option, ...], seat: int) -> Action | None:
    """Rent that lapses unless it is claimed is claimed at once (TAB-RENT-11)."""
    if _first(options, seat, "claim_rent") is None:
        return None
    for claim in view.rent_claims:
        if claim.owner == seat:
            return ClaimRent(claim.visitor, claim.cell)
    return None


def _roll(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    improvement = _improve(edition, view, options, seat)
    if improvement is not None:
        return improvement
    if view.jail_tries[seat] >= 0 and _wants_out(edition, view, seat):
        card = _first(options, seat, "use_release_card")
        if card is not None:
            return UseReleaseCard(card.deck)
        fine = _first(options, seat, "pay_fine")
        if fine is not None and view.cash[seat] - fine.amount >= reserve(edition, view, seat) // 2:
            return PayFine()
    return Roll()


def _wants_out(edition: Edition, view: State, seat: int) -> bool:
    """Early there are deeds to buy and groups to build on; late a seat in jail collects rent and pays none."""
    free = sum([view.owners[cell] == BANK for cell in edition.board.deeds])
    if free >= MANY_FREE_DEEDS:
        return True
    expected, worst = costs_ahead(edition, view, seat)
    if expected < edition.jail_fine // 2:
        return True
    return view.cash[seat] >= worst and building.has_room(edition, view, seat)


def _manage(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    return _improve(edition, view, options, seat) or EndTurn()


def _improve(edition: Edition, view: State, options: tuple[Option, ...], seat: int) -> Action | None:
    """A trade, a building or a redemption that is worth it now."""
    trades = options_of(options, seat, "offer_trade")
    action = dealing.propose(edition, view, trades, seat) if trades else None
    if action is None:
        build = _first(options, seat, "build")
        action = building.build(edition, view, build.buildings, seat) if build else None
    if action is None and view.decision is not None:
        sales = _first(options, seat, "sell_buildings")
        if sales is not None:
            action = building.concentrate(edition, view, sales.buildings, seat, view.decision.kind)
    return action or building.redeem(edition, view, _first(options, seat, "redeem"), seat)


def _purchase(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    return bidding.answer_purchase(edition, view, _first(options, seat, "buy"), seat)


def _auction(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    return bidding.answer_auction(edition, view, _first(options, seat, "bid"), seat, seed)


def _payment(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    return raising.settle(edition, view, options, seat)


def _trade_answer(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    return dealing.answer_offer(edition, view, seat, _first(options, seat, "accept_trade"))


def _landing_score(edition: Edition, view: State, seat: int, cell: int) -> int:
    """How welcome a cell is: free deeds that can be paid for, no rent."""
    if view.owners[cell] == BANK and edition.board.is_deed[cell] and edition.board.price[cell] <= view.cash[seat]:
        return gain_of(edition, view, seat, cell)
    return -cost_at(edition, view, seat, cell)


def _bus(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    frame = next((frame for frame in reversed(view.agenda) if isinstance(frame, RollFrame)), None)
    if frame is None:
        return ChooseMove("sum")
    first, second = frame.dice[0], frame.dice[1]
    start = view.position[seat]

    def score(steps: int) -> int:
        return _landing_score(edition, view, seat, (start + steps) % CELL_COUNT)

    scores = (score(first + second), score(first), score(second))
    best = max(scores)
    if best == scores[0]:
        return ChooseMove("sum")
    return ChooseMove("first") if best == scores[1] else ChooseMove("second")


def _teleport(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    here = view.position[seat]
    cells = [cell for cell in range(CELL_COUNT) if cell != here]
    return ChooseCell(max(cells, key=lambda cell: (_landing_score(edition, view, seat, cell), -cell)))


def _casino(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    """A bet on half of the faces costs nothing on average, and may win the jackpot."""
    bet = _first(options, seat, "place_bet")
    if bet is None or view.cash[seat] - bet.amount < 2 * reserve(edition, view, seat):
        return Decline()
    return PlaceBet(_FACES[(seed + view.round) % len(_FACES)])


def _demolition(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    option = _first(options, seat, "choose_building")
    if option is None:
        return None

    def harm(cell: int, to_level: int) -> int:
        rent = building.rent_step(edition, cell, to_level, view.levels[cell])
        return -rent if view.owners[cell] == seat else rent

    return ChooseBuilding(max(option.buildings, key=lambda choice: harm(choice.cell, choice.to_level)).cell)


def _estate(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    """Redeems at once, for less than later, what leaves twice the reserve."""
    option = _first(options, seat, "choose_estate")
    left = view.cash[seat] - 2 * reserve(edition, view, seat)
    redeemed = []
    for deed in option.deeds if option is not None else ():
        if deed.amount <= left:
            left -= deed.amount
            redeemed.append(deed.cell)
    return ChooseEstate(tuple(redeemed))


def _gap(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    improvement = _improve(edition, view, options, seat)
    return improvement or (CloseGap() if _first(options, seat, "close_gap") else None)


def _claim(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    """One piece on each street that it would build on, the best first, as far as cash and stock go."""
    option = _first(options, seat, "claim_buildings")
    frame = view.agenda[-1]
    if option is None or not isinstance(frame, ClaimsFrame):
        return None
    stock = view.supply_hotels if frame.hotels else view.supply_houses
    left = view.cash[seat] - reserve(edition, view, seat)
    cells: list[int] = []
    for choice in sorted(option.buildings, key=lambda item: (-building.step_rate(edition, view, item), item.cell)):
        if choice.amount <= left and len(cells) < stock:
            left -= choice.amount
            cells.append(choice.cell)
    return ClaimBuildings(tuple(cells))


def _vote(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    return VotePause(yes=True) if _first(options, seat, "vote_pause") else None


def _paused(edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
    return ConfirmReturn() if _first(options, seat, "confirm_return") else None


_Answer = Callable[[Edition, State, tuple[Option, ...], int, int], Action | None]
_ANSWERS: dict[DecisionKind, _Answer] = {
    "roll": _roll,
    "bus_choice": _bus,
    "teleport_choice": _teleport,
    "purchase": _purchase,
    "casino_bet": _casino,
    "demolition_choice": _demolition,
    "manage": _manage,
    "auction_bid": _auction,
    "open_lot": _auction,
    "payment": _payment,
    "trade_answer": _trade_answer,
    "estate_choice": _estate,
    "gap": _gap,
    "building_claim": _claim,
    "pause_vote": _vote,
    "paused": _paused,
}
