"""Offers between players (MET-TRADE)."""

import pytest

from services.bots.domain.roster import LEVELS, STANDARD
from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import DeedMoved, TradeClosed, TradeOffered
from services.rules.domain.legal import legal_actions
from services.rules.domain.view import view
from tests.rules.metro.games import METRO, SPEED, both, drawing, metro, offer
from tests.support.scenario import Game


def traders(edition: str = METRO, seats: int = 3) -> Game:
    """Seat 0, about to roll, has 5 (2000) and 1 (600); seat 1 has 15 (2000), 39 (4000) and 3 (600)."""
    return metro(seats, edition).owning(0, 5, 1).owning(1, 15, 39, 3).turn_of(0)


@both
def test_money_and_fields_change_hands(edition: str) -> None:
    """MET-TRADE-01, MET-TRADE-04: any mix on both sides."""
    game = traders(edition).do(0, offer(1, 1000, (5, 1), cash=500, cells=(39,)))
    assert game.decision == ("trade_answer", 1)
    game.do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 1000, "trade"), (1, 0, 500, "trade")]
    assert {move.cell: move.to_party for move in game.events_of(DeedMoved)} == {5: 1, 1: 1, 39: 0}
    assert (game.cash(0), game.cash(1), game.decision) == (14500, 15500, ("roll", 0))


@pytest.mark.parametrize(
    "action",
    [
        offer(1, 2000, cells=(15,)),
        offer(1, 0, (5,), cash=2000),
        offer(1, 0, (5,), cells=(15,)),
        offer(1, 700, cash=900),
        offer(1, 0, (5, 1), cells=(15, 3)),
    ],
)
def test_every_mix_is_legal(action: c.OfferTrade) -> None:
    """MET-TRADE-04: money, fields, or both, against money, fields, or both."""
    game = traders().do(0, action).do(1, c.AcceptTrade())
    assert game.events_of(TradeClosed) == [TradeClosed(1, "accepted")]


def test_an_offer_is_made_before_the_throw_or_in_the_own_payment() -> None:
    """MET-TRADE-02, MET-TRADE-03: any `roll` of one's turn; not at a purchase, in an auction, or in others' turns."""
    deal = offer(1, 0, (5,), cells=(15,))
    game = traders().at(0, 2).roll(0, 1, 5)
    assert game.decision == ("purchase", 0)
    assert not game.options("offer_trade")
    game.refused(0, deal, "wrong_decision", "MET-BUY-01")
    game.do(0, c.Decline()).refused(1, offer(0, 0, (15,), cells=(5,)), "wrong_decision", "MET-AUC-04")
    game = traders().turn_of(1)
    game.refused(0, deal, "not_asked", "MET-TURN-04")
    game = traders().at(0, 14).roll(0, 3, 3)
    assert game.decision == ("roll", 0)
    game.do(0, deal)
    game = traders().in_jail(0).turn_of(0).do(0, deal)
    assert game.decision == ("trade_answer", 1)


def test_an_offer_in_the_own_payment() -> None:
    """MET-TRADE-02, MET-TRADE-03: also when it falls in somebody else's turn."""
    game = traders().at(0, 1).roll(0, 1, 2)
    assert game.decision == ("payment", 0)
    game.do(0, offer(2, 0, (5,), cash=1500)).do(2, c.AcceptTrade())
    assert (game.decision, game.cash(0)) == (("payment", 0), 16500)
    game = drawing("yard_concert", 3).owning(1, 15).roll(0, 3, 4)
    game.do(1, offer(2, 0, (15,), cash=1500)).do(2, c.AcceptTrade())
    assert (game.decision, game.owner(15)) == (("payment", 1), 2)


def test_speed_choices_are_no_moment_for_offers() -> None:
    """MET-TRADE-02: the throw has been made."""
    game = traders(SPEED).in_round(7).turn_of(0).roll(0, 1, 2, third=4)
    game.refused(0, offer(1, 0, (5,), cells=(15,)), "wrong_decision", "MET-DICE-19")


@both
def test_mortgaged_fields_are_not_traded(edition: str) -> None:
    """MET-TRADE-04: on neither side."""
    game = traders(edition).mortgaged(5, 39)
    game.refused(0, offer(1, 0, (5,), cells=(15,)), "deed_mortgaged", "MET-TRADE-04", {"cell": 5})
    game.refused(0, offer(1, 3000, cells=(39,)), "deed_mortgaged", "MET-TRADE-04", {"cell": 39})


@both
def test_built_groups_are_not_traded(edition: str) -> None:
    """MET-TRADE-04, MET-TRADE-07: neither the built street nor a bare one of its group."""
    game = metro(2, edition).owning_group(1, "blue", 0, 1).owning(0, 5, 15).owning_group(0, "brown", 1, 0).turn_of(0)
    game.refused(0, offer(1, 0, (5, 15), cells=(39,)), "built", "MET-TRADE-07", {"cell": 39})
    game.refused(0, offer(1, 0, (5, 15), cells=(37,)), "built", "MET-TRADE-07", {"cell": 37})
    game.refused(0, offer(1, 0, (3,), cash=600), "built", "MET-TRADE-07", {"cell": 3})


@both
@pytest.mark.parametrize(
    ("give", "get", "fine"),
    [(2000, 4000, True), (1999, 4000, False), (8000, 4000, True), (8001, 4000, False), (1, 2, True), (1, 3, False)],
)
def test_the_smaller_side_is_worth_half_the_larger(edition: str, give: int, get: int, fine: bool) -> None:
    """MET-TRADE-05, MET-TRADE-06: exactly 50% passes."""
    game = traders(edition)
    if fine:
        game.do(0, offer(1, give, cash=get))
    else:
        game.refused(0, offer(1, give, cash=get), "unbalanced", "MET-TRADE-05", {"least": 50})


def test_fields_count_with_their_full_price() -> None:
    """MET-TRADE-06: 39 is worth 4000."""
    game = traders()
    game.refused(0, offer(1, 1999, cells=(39,)), "unbalanced", "MET-TRADE-05")
    game.refused(0, offer(1, 8001, cells=(39,)), "unbalanced", "MET-TRADE-05")
    game.do(0, offer(1, 2000, cells=(39,))).do(1, c.RefuseTrade()).do(0, offer(1, 8000, cells=(39,)))


@pytest.mark.parametrize(
    "action", [offer(1, 100), offer(1, cash=100), offer(1, 0, (5,)), offer(1, cells=(3,)), offer(1)]
)
def test_gifts_are_not_possible(action: c.OfferTrade) -> None:
    """MET-TRADE-05, MET-TRADE-06: both sides above 0."""
    traders().refused(0, action, "empty_side", "MET-TRADE-06")


@both
def test_an_offer_expires_after_30_seconds(edition: str) -> None:
    """MET-TRADE-08, MET-AUTO-07: and that is a refusal."""
    game = traders(edition).do(0, offer(1, 2000, cells=(15,)))
    assert game.deadline == ("answer", 30_000)
    game.wait(30_000).refused(1, c.AcceptTrade(), "stale_deadline", "MET-TIME-12")
    game.expire("answer")
    assert game.now_ms == 30_000
    assert game.events_of(TradeClosed) == [TradeClosed(1, "expired")]
    assert (game.money(), game.decision) == ([], ("roll", 0))
    game = traders(edition).do(0, offer(1, 2000, cells=(15,))).do(1, c.AcceptTrade(), after_ms=29_999)
    assert game.owner(15) == 0


@both
def test_three_offers_in_a_turn(edition: str) -> None:
    """MET-TRADE-09: whatever becomes of them, one after another, and over the extra throws of the turn."""
    game = traders(edition).at(0, 14)
    game.do(0, offer(1, 2000, cells=(15,))).do(1, c.RefuseTrade())
    game.do(0, offer(1, 2000, cells=(15,))).do(1, c.AcceptTrade())
    game.roll(0, 3, 3)
    game.do(0, offer(1, 600, cells=(3,))).expire("answer")
    assert not game.options("offer_trade")
    game.refused(0, offer(1, 600, cells=(3,)), "trade_limit_used", "MET-TRADE-09")
    game.at(0, 12).roll(0, 3, 5)
    assert game.decision == ("roll", 1)
    game.expire()
    game.turn_of(0).do(0, offer(1, 600, cells=(3,)))


def test_the_own_payment_shares_the_three_of_the_turn() -> None:
    """MET-TRADE-09: three a turn, in whatever phase."""
    game = traders().at(0, 1)
    for _ in range(2):
        game.do(0, offer(1, 2000, cells=(15,))).do(1, c.RefuseTrade())
    game.roll(0, 1, 2).do(0, offer(1, 2000, cells=(15,))).do(1, c.RefuseTrade())
    game.refused(0, offer(1, 2000, cells=(15,)), "trade_limit_used", "MET-TRADE-09")


def test_three_offers_in_a_payment_outside_the_own_turn() -> None:
    """MET-TRADE-09: a count of its own for each payment pause."""
    game = drawing("yard_concert", 2).owning(1, 15).roll(0, 3, 4)
    for _ in range(3):
        game.do(1, offer(0, 0, (15,), cash=2000)).do(0, c.RefuseTrade())
    assert not game.options("offer_trade")
    game.refused(1, offer(0, 0, (15,), cash=2000), "trade_limit_used", "MET-TRADE-09")
    game.do(1, c.Pay())
    assert game.decision == ("roll", 1)
    game.do(1, offer(0, 0, (15,), cash=2000))


def test_one_offer_at_a_time_that_cannot_be_withdrawn() -> None:
    """MET-TRADE-09: the maker waits for the answer."""
    game = traders().do(0, offer(1, 2000, cells=(15,)))
    game.refused(0, offer(2, 100, cash=100), "not_asked", "MET-TURN-04")
    game.refused(0, c.RefuseTrade(), "not_asked", "MET-TURN-04")
    game.refused(1, offer(0, 100, cash=100), "wrong_decision", "MET-TRADE-09")
    assert game.option_kinds() == {"accept_trade", "refuse_trade", "surrender"}


def test_an_illegal_offer_does_not_count() -> None:
    """MET-TRADE-10: it is refused at once; cash and fields must be there."""
    game = traders().with_cash(0, 2000).with_cash(1, 1000).with_cash(2, 5000)
    game.refused(0, offer(1, 2001, cells=(15,)), "not_enough_cash", "MET-TRADE-10", {"greatest": 2000})
    game.refused(0, offer(1, 0, (5,), cash=1001), "over_partner_cash", "MET-TRADE-10", {"greatest": 1000})
    game.refused(0, offer(1, 0, (25,), cash=1000), "not_owner", "MET-TRADE-10", {"cell": 25})
    game.refused(0, offer(2, 2000, cells=(15,)), "not_owner", "MET-TRADE-10", {"cell": 15})
    game.refused(0, offer(1, -1, cash=1), "bad_amount", "MET-TRADE-10")
    game.refused(0, offer(0, 100, cash=100), "bad_choice", "MET-TRADE-06")
    game.refused(0, offer(3, 100, cash=100), "bad_choice", "MET-TRADE-06")
    for _ in range(3):
        game.do(0, offer(1, 2000, cells=(15,))).do(1, c.RefuseTrade())
    game.refused(0, offer(1, 2000, cells=(15,)), "trade_limit_used", "MET-TRADE-09")


def test_a_field_stands_in_an_offer_once() -> None:
    """MET-TRADE-10: a field named twice is promised twice."""
    game = traders()
    refused = c.OfferTrade(1, Basket(0, (5, 5)), Basket(3000))
    game.refused(0, refused, "bad_choice", "MET-TRADE-06")


def test_no_offers_to_those_who_are_out() -> None:
    """MET-TRADE-01: two players, both active."""
    game = metro(3).owning(0, 5).out(2).turn_of(0)
    game.refused(0, offer(2, 100, cash=100), "seat_out", "MET-BANK-04", {"seat": 2})


def test_all_transfers_happen_together_or_none() -> None:
    """MET-TRADE-10: checked again when accepted."""
    game = traders().do(0, offer(1, 2000, cells=(15,)))
    game.with_cash(0, 1999).do(1, c.AcceptTrade())
    assert game.events_of(TradeClosed) == [TradeClosed(1, "void")]
    assert (game.money(), game.owner(15), game.decision) == ([], 1, ("roll", 0))
    game = traders().do(0, offer(1, 2000, cells=(15, 3))).mortgaged(3).do(1, c.AcceptTrade())
    assert (game.money(), game.owner(15), game.owner(3)) == ([], 1, 1)


def test_a_refused_offer_moves_nothing() -> None:
    """MET-TRADE-08: back to the phase that it interrupted."""
    game = traders().do(0, offer(1, 2000, cells=(15,)))
    assert game.events_of(TradeOffered) == [TradeOffered(1, 0, 1, Basket(2000), Basket(0, (15,)))]
    game.do(1, c.RefuseTrade())
    assert game.events_of(TradeClosed) == [TradeClosed(1, "refused")]
    assert (game.money(), game.decision, game.owner(15)) == ([], ("roll", 0), 1)


@both
@pytest.mark.parametrize(("give", "accepted"), [(4000, True), (4001, True), (3999, False), (2000, False)])
def test_bots_accept_deals_in_which_they_lose_nothing(edition: str, give: int, accepted: bool) -> None:
    """MET-TRADE-11, MET-BOT-03: what the bot receives is worth at least what it gives."""
    game = metro(2, edition, kinds=("person", "bot")).owning(1, 39).turn_of(0).do(0, offer(1, give, cells=(39,)))
    options = legal_actions(game.edition, game.state)
    answer = LEVELS[STANDARD].bot.choose(game.edition, view(game.state), options, 1, 7)
    assert isinstance(answer, c.AcceptTrade) == accepted
    assert answer is not None
    game.do(1, answer)
    assert game.owner(39) == (0 if accepted else 1)
