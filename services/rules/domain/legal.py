"""What the seats may do now: everything that `decide` accepts, with its bounds, and nothing else."""

from collections.abc import Callable
from functools import lru_cache

from services.rules.domain.edition import Edition
from services.rules.domain.folds.deeds import auction_frame
from services.rules.domain.moves.auction import bid_range, lot_choices
from services.rules.domain.moves.building import build_choices, sale_choices
from services.rules.domain.moves.checks import bare_deeds
from services.rules.domain.moves.debt import bank_sale_choices
from services.rules.domain.moves.trade import trade_choices, trade_used
from services.rules.domain.options import Option, OptionKind
from services.rules.domain.state import DecisionKind, State


@lru_cache(maxsize=512)
def _plain(seat: int, kind: OptionKind) -> Option:
    return Option(seat, kind)


def legal_actions(edition: Edition, state: State) -> tuple[Option, ...]:
    """All that may be answered to the open decision; empty when the game is over."""
    decision = state.decision
    if decision is None:
        return ()
    options: list[Option] = []
    for seat in decision.seats:
        LISTS[decision.kind](edition, state, seat, options)
    return tuple(options)


def _sales(edition: Edition, state: State, seat: int, options: list[Option]) -> None:
    buildings = sale_choices(edition, state, seat)
    if buildings:
        options.append(Option(seat, "sell_buildings", buildings=buildings))


def _roll(edition: Edition, state: State, seat: int, options: list[Option]) -> None:
    options.append(_plain(seat, "roll"))
    if state.jail_tries[seat] >= 0:
        if state.cash[seat] >= edition.jail_fine:
            options.append(Option(seat, "pay_fine", amount=edition.jail_fine))
        held = state.release_cards[seat]
        if held and edition.release_card == "stays":
            options.append(_plain(seat, "use_release_card"))
        else:
            options.extend([Option(seat, "use_release_card", deck=deck) for deck in sorted(set(held))])
    _sales(edition, state, seat, options)


def _purchase(edition: Edition, state: State, seat: int, options: list[Option]) -> None:
    price = edition.board.price[state.position[seat]]
    if state.cash[seat] >= price:
        options.append(Option(seat, "buy", amount=price))
    options.append(_plain(seat, "decline"))
    _sales(edition, state, seat, options)


def _auction_bid(edition: Edition, state: State, seat: int, options: list[Option]) -> None:
    frame = auction_frame(state)
    options.append(Option(seat, "bid", range=bid_range(edition, state, frame, seat)))
    options.append(_plain(seat, "pass"))


def _trade_answer(edition: Edition, state: State, seat: int, options: list[Option]) -> None:
    options.append(_plain(seat, "accept_trade"))
    options.append(_plain(seat, "refuse_trade"))


def _lots(edition: Edition, state: State, seat: int, options: list[Option], bare: list[int]) -> None:
    if edition.own_auction is not None and bare:
        choices = lot_choices(edition, state, seat, bare)
        if choices:
            options.append(Option(seat, "open_auction", lots=choices))


def _manage(edition: Edition, state: State, seat: int, options: list[Option]) -> None:
    options.append(_plain(seat, "end_turn"))
    buildings = build_choices(edition, state, seat)
    if buildings:
        options.append(Option(seat, "build", buildings=buildings))
    _sales(edition, state, seat, options)
    if not trade_used(edition, state, seat):
        bare = bare_deeds(edition, state)
        for choice in trade_choices(edition, state, seat, bare, sale_only=False):
            options.append(Option(seat, "offer_trade", trade=choice))
        _lots(edition, state, seat, options, bare[seat])


def _payment(edition: Edition, state: State, seat: int, options: list[Option]) -> None:
    _sales(edition, state, seat, options)
    bare = bare_deeds(edition, state)
    _lots(edition, state, seat, options, bare[seat])
    for choice in trade_choices(edition, state, seat, bare, sale_only=True):
        options.append(Option(seat, "offer_trade", trade=choice))
    deeds = bank_sale_choices(edition, state, seat)
    if deeds:
        options.append(Option(seat, "sell_to_bank", deeds=deeds))
    options.append(_plain(seat, "declare_bankruptcy"))


LISTS: dict[DecisionKind, Callable[[Edition, State, int, list[Option]], None]] = {
    "roll": _roll,
    "purchase": _purchase,
    "manage": _manage,
    "auction_bid": _auction_bid,
    "trade_answer": _trade_answer,
    "payment": _payment,
}
