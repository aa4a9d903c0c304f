"""What the seats may do now: everything that `decide` accepts, with its bounds."""

from collections.abc import Callable
from functools import lru_cache

from services.rules.domain import commands as c
from services.rules.domain.edition import Edition
from services.rules.domain.folds.deeds import auction_frame
from services.rules.domain.folds.seats import debt_of, open_trade
from services.rules.domain.moves.auction import bid_range, lot_choices
from services.rules.domain.moves.building import build_choices
from services.rules.domain.moves.casino import demolition_choices
from services.rules.domain.moves.claims import claim_choices
from services.rules.domain.moves.estate_choice import estate_choices
from services.rules.domain.moves.gaps import has_gaps, is_gap_moment, may_ask_gap, may_claim_rent
from services.rules.domain.moves.holdings import Holdings, holdings_of
from services.rules.domain.moves.mortgages import redeem_choices
from services.rules.domain.moves.pauses import may_ask_pause
from services.rules.domain.moves.payments import bank_sale_choices, may_declare
from services.rules.domain.moves.trade import may_accept
from services.rules.domain.moves.trade_checks import trade_used
from services.rules.domain.moves.trade_listing import settlement_choice, trade_choices
from services.rules.domain.options import DeedChoice, Option, OptionKind
from services.rules.domain.state import ClaimsFrame, DecisionKind, GapFrame, PauseFrame, State
from services.rules.domain.windows import Moves, anybody_raises, before_first_roll_only, moves_of, standing_moves

List = Callable[[Edition, State, int, list[Option], Holdings], None]


@lru_cache(maxsize=512)
def _plain(seat: int, kind: OptionKind) -> Option:
    return Option(seat, kind)


def legal_actions(edition: Edition, state: State, play_time_ms: int | None = None) -> tuple[Option, ...]:
    """All that may be sent now: answers to the open decision, and standing rights; empty when the game is over.

    Without the play time, what depends on it (asking for a pause again) is left out.
    """
    decision = state.decision
    if decision is None:
        return ()
    options: list[Option] = []
    held = holdings_of(edition, state)
    for seat in decision.seats:
        if not state.leaving[seat]:
            LISTS[decision.kind](edition, state, seat, options, held)
    if standing_moves(edition):
        _standing(edition, state, play_time_ms, options, held)
    return tuple(options)


def _by_window(
    edition: Edition, state: State, seat: int, options: list[Option], kind: DecisionKind, held: Holdings
) -> None:
    """What the windows of the edition add to a decision of the actor."""
    moves = moves_of(edition)[kind]
    if c.Build in moves:
        buildings = build_choices(edition, state, seat, held.groups[seat])
        if buildings:
            options.append(Option(seat, "build", buildings=buildings))
    if c.Redeem in moves:
        deeds = redeem_choices(edition, state, seat, held.mortgaged[seat])
        if deeds:
            options.append(Option(seat, "redeem", deeds=deeds))
    if c.SellBuildings in moves:
        options.extend(held.raising(seat))
    if c.OpenAuction in moves or c.OfferTrade in moves:
        _deals(edition, state, seat, options, kind, held, moves)


def _deals(
    edition: Edition,
    state: State,
    seat: int,
    options: list[Option],
    kind: DecisionKind,
    held: Holdings,
    moves: Moves,
) -> None:
    used = kind != "payment" and edition.own_auction != "mortgaged" and trade_used(edition, state, seat)
    if used:
        return
    if c.OpenAuction in moves and edition.own_auction is not None:
        lots = lot_choices(edition, state, seat, held)
        if lots:
            options.append(Option(seat, "open_auction", lots=lots))
    if c.OfferTrade in moves and not before_first_roll_only(edition, state, seat):
        sale_only = kind == "payment" and "payment" not in edition.trade_in.full
        for choice in trade_choices(edition, state, seat, held, sale_only=sale_only):
            options.append(Option(seat, "offer_trade", trade=choice))


def _roll(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    options.append(_plain(seat, "roll"))
    if state.jail_tries[seat] >= 0:
        if state.cash[seat] >= edition.jail_fine:
            options.append(Option(seat, "pay_fine", amount=edition.jail_fine))
        cards = state.release_cards[seat]
        if cards and edition.release_card == "stays":
            options.append(_plain(seat, "use_release_card"))
        else:
            options.extend([Option(seat, "use_release_card", deck=deck) for deck in sorted(set(cards))])
    _by_window(edition, state, seat, options, "roll", held)


def _bus_choice(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    options.append(_plain(seat, "choose_move"))
    _by_window(edition, state, seat, options, "bus_choice", held)


def _teleport_choice(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    options.append(_plain(seat, "choose_cell"))
    _by_window(edition, state, seat, options, "teleport_choice", held)


def _purchase(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    price = edition.board.price[state.position[seat]]
    if state.cash[seat] >= price:
        options.append(Option(seat, "buy", amount=price))
    options.append(_plain(seat, "decline"))
    _by_window(edition, state, seat, options, "purchase", held)


def _casino_bet(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    if edition.casino is not None and state.cash[seat] >= edition.casino.stake:
        options.append(Option(seat, "place_bet", amount=edition.casino.stake))
    options.append(_plain(seat, "decline"))


def _demolition_choice(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    options.append(Option(seat, "choose_building", buildings=demolition_choices(state, seat)))


def _bids(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    amounts = bid_range(edition, state, auction_frame(state), seat)
    if amounts is not None:
        options.append(Option(seat, "bid", range=amounts))


def _auction_bid(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    _bids(edition, state, seat, options, held)
    options.append(_plain(seat, "pass"))


def _trade_answer(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    frame = open_trade(state)
    if frame is not None and may_accept(edition, state, frame):
        options.append(_plain(seat, "accept_trade"))
    options.append(_plain(seat, "refuse_trade"))


def _manage(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    options.append(_plain(seat, "end_turn"))
    _by_window(edition, state, seat, options, "manage", held)


def _payment(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    debt = debt_of(state, seat)
    if debt is None:
        return
    if edition.payment_confirm is not None and state.cash[seat] >= debt.total:
        options.append(Option(seat, "pay", amount=debt.total))
    _by_window(edition, state, seat, options, "payment", held)
    deeds = bank_sale_choices(edition, state, seat)
    if deeds:
        options.append(Option(seat, "sell_to_bank", deeds=deeds))
    if edition.settlement:
        choice = settlement_choice(edition, state, seat, debt, held)
        if choice is not None:
            options.append(Option(seat, "offer_settlement", trade=choice))
    if may_declare(edition, state, debt):
        options.append(_plain(seat, "declare_bankruptcy"))


def _estate_choice(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    options.append(Option(seat, "choose_estate", deeds=estate_choices(edition, state)))
    _by_window(edition, state, seat, options, "estate_choice", held)


def _gap(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    frame = state.agenda[-1]
    if isinstance(frame, GapFrame) and seat in frame.asked:
        options.append(_plain(seat, "close_gap"))
    _by_window(edition, state, seat, options, "gap", held)


def _building_claim(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    frame = state.agenda[-1]
    if isinstance(frame, ClaimsFrame) and seat in frame.waiting:
        options.append(Option(seat, "claim_buildings", buildings=claim_choices(edition, state, seat)))


def _paused(edition: Edition, state: State, seat: int, options: list[Option], held: Holdings) -> None:
    frame = state.agenda[-1]
    if isinstance(frame, PauseFrame) and frame.stage == "paused" and seat not in frame.back:
        options.append(_plain(seat, "confirm_return"))


LISTS: dict[DecisionKind, List] = {
    "roll": _roll,
    "bus_choice": _bus_choice,
    "teleport_choice": _teleport_choice,
    "purchase": _purchase,
    "casino_bet": _casino_bet,
    "demolition_choice": _demolition_choice,
    "manage": _manage,
    "auction_bid": _auction_bid,
    "open_lot": _bids,
    "payment": _payment,
    "trade_answer": _trade_answer,
    "estate_choice": _estate_choice,
    "gap": _gap,
    "building_claim": _building_claim,
    "paused": _paused,
}


def _standing(edition: Edition, state: State, play_time_ms: int | None, options: list[Option], held: Holdings) -> None:
    """Rights of every seat in play, asked or not."""
    decision = state.decision
    paused = decision is not None and decision.kind == "paused"
    seats = tuple([seat for seat, in_play in enumerate(state.in_play) if in_play and not state.leaving[seat]])
    options.extend(held.standing(seats, raise_cash=anybody_raises(edition, state)))
    if has_gaps(edition) and is_gap_moment(state):
        options.extend([_plain(seat, "ask_gap") for seat in seats if may_ask_gap(edition, state, seat, held)])
    if state.rent_claims and not paused and may_claim_rent(edition, state):
        for seat in seats:
            _rent_claims(state, seat, options)
    if not paused and edition.pause is not None:
        if _may_all_ask_pause(state, seats):
            options.extend([_plain(seat, "ask_pause") for seat in seats])
            return
        for seat in seats:
            _pause_votes(edition, state, play_time_ms, seat, options)


def _may_all_ask_pause(state: State, seats: tuple[int, ...]) -> bool:
    """Whether no vote is on and no seat's vote has failed yet (BRA-TIME-12)."""
    counters = state.counters
    return state.vote is None and all([("game", "pause_failed", (seat,)) not in counters for seat in seats])


def _rent_claims(state: State, seat: int, options: list[Option]) -> None:
    deeds = tuple([DeedChoice(claim.cell, claim.amount) for claim in state.rent_claims if claim.owner == seat])
    if deeds:
        options.append(Option(seat, "claim_rent", deeds=deeds))


def _pause_votes(edition: Edition, state: State, play_time_ms: int | None, seat: int, options: list[Option]) -> None:
    if state.vote is not None:
        if seat not in state.vote.yes:
            options.append(_plain(seat, "vote_pause"))
    elif may_ask_pause(edition, state, seat, -1 if play_time_ms is None else play_time_ms):
        options.append(_plain(seat, "ask_pause"))
