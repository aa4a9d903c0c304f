"""Offers between people: when, of what, for how much, and how they end."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import SECRET_EVENTS, DeedMoved, TradeClosed, TradeOffered
from services.rules.domain.options import AmountRange, DeedChoice
from services.rules.domain.parties import NONE
from tests.support.scenario import Game, a_game


def wants(to: int, cell: int, cash: int = 0, give: int = NONE) -> c.OfferTrade:
    """An exchange: a cell of the partner for money, an own cell, or both."""
    return c.OfferTrade(to, Basket(cash, () if give == NONE else (give,)), Basket(cells=(cell,)))


def sells(to: int, cell: int, price: int) -> c.OfferTrade:
    """A sale of an own cell."""
    return c.OfferTrade(to, Basket(cells=(cell,)), Basket(price))


def traders(seats: int = 3) -> Game:
    """Seat 0 manages and has bread_stall (1, bank price 30); seat 1 has flour_mill (3) and freight_station (5)."""
    return a_game(seats).owning(0, 1).owning(1, 3, 5).managing(0)


def test_a_trade_is_proposed_after_the_roll_in_the_own_turn() -> None:
    """IND-TRADE-01, IND-TRADE-08: not before the roll, and not by somebody else."""
    game = a_game(3).owning(1, 3).turn_of(0)
    assert not game.options("offer_trade")
    game.refused(0, wants(1, 3, 10), "wrong_decision", "IND-PHASE-01")
    game.refused(1, wants(0, 3, 10), "not_asked", "IND-PHASE-10")
    game = traders()
    game.refused(2, wants(1, 3, 10), "not_asked", "IND-PHASE-10")
    game.do(0, wants(1, 3, 10))
    assert game.decision == ("trade_answer", 1)


def test_people_trade_once_in_a_turn_even_when_refused() -> None:
    """IND-TRADE-01, IND-TRADE-15: the trade of the turn is used at the moment of proposing."""
    game = traders().do(0, wants(1, 3, 10))
    assert game.state.counters[("turn", "trade", (0,))] == 1
    game.do(1, c.RefuseTrade())
    assert game.decision == ("manage", 0)
    assert not game.options("offer_trade")
    game.refused(0, wants(1, 5, 10), "trade_limit_used", "IND-TRADE-01")
    game.refused(0, sells(2, 1, 30), "trade_limit_used", "IND-TRADE-01")
    game.end_turn(0).roll(1, 4, 6).end_turn(1).roll(2, 4, 6).end_turn(2).roll(0, 4, 6)
    assert len(game.options("offer_trade")) == 2
    game.do(0, wants(1, 3, 10))
    assert [offered.trade_id for offered in game.events_of(TradeOffered)] == [2]


def test_an_accepted_trade_is_used_too() -> None:
    """IND-TRADE-01, IND-TRADE-15: one trade in a turn."""
    game = traders().do(0, wants(1, 3, 10)).do(1, c.AcceptTrade())
    assert not game.options("offer_trade")
    game.refused(0, wants(1, 5, 10), "trade_limit_used", "IND-TRADE-01")


def test_the_turn_after_a_double_has_a_trade_of_its_own() -> None:
    """IND-TRADE-01, IND-TURN-06: allowances are fresh in the extra turn."""
    game = traders().extra_roll_owed().do(0, wants(1, 3, 10)).do(1, c.RefuseTrade()).end_turn(0)
    assert game.decision == ("roll", 0)
    game.roll(0, 4, 6).do(0, wants(1, 3, 10))
    assert game.decision == ("trade_answer", 1)


def test_logistics_utilities_and_bare_enterprises_are_tradable() -> None:
    """IND-TRADE-02: nothing of an industry in which anybody has a branch or holding."""
    game = a_game(2).owning(0, 5, 12, 1).owning(1, 18, 28, 6).owning_group(1, "bakery").owning(0, 1)
    game.owning_group(1, "textile", 1, 0, 0).managing(0)
    trade = game.option("offer_trade").trade
    assert trade is not None
    assert trade.get_cells == (3, 4, 6, 18, 28)
    assert trade.give_cells == (1, 5, 12)
    for cell in (11, 13, 14):
        game.refused(0, wants(1, cell, 500), "built", "IND-TRADE-02", {"cell": cell})
    game.do(0, wants(1, 28, 1, give=5)).do(1, c.AcceptTrade())
    assert (game.owner(28), game.owner(5)) == (0, 1)


def test_an_own_enterprise_of_a_built_industry_cannot_be_given() -> None:
    """IND-TRADE-02: the whole group counts, not the cell alone."""
    game = a_game(2).owning(1, 5).owning_group(0, "bakery", 1, 0, 0).managing(0)
    game.refused(0, wants(1, 5, 0, give=4), "built", "IND-TRADE-02", {"cell": 4})
    game.refused(0, sells(1, 4, 40), "built", "IND-TRADE-02", {"cell": 4})


@pytest.mark.parametrize(
    ("offer", "cell"),
    [
        (wants(1, 1, 10), 1),
        (wants(1, 18, 10), 18),
        (wants(1, 3, 0, give=5), 5),
        (sells(1, 3, 30), 3),
        (wants(2, 3, 1), 3),
    ],
)
def test_deeds_of_others_or_of_the_bank_are_not_traded(offer: c.OfferTrade, cell: int) -> None:
    """IND-TRADE-02: what is wanted is the partner's, what is given one's own."""
    traders().refused(0, offer, "not_owner", "IND-TRADE-02", {"cell": cell})


@pytest.mark.parametrize("cell", [-1, 0, 2, 10, 40])
def test_what_is_no_business_is_not_traded(cell: int) -> None:
    """IND-TRADE-02: only cells that can be owned."""
    traders().refused(0, wants(1, cell, 10), "unknown_cell", "IND-PHASE-10", {"cell": cell})


def test_release_cards_are_not_traded() -> None:
    """IND-TRADE-03."""
    game = traders().holding_release_cards(0, "market").holding_release_cards(1, "support")
    given = c.OfferTrade(1, Basket(10, (), ("market",)), Basket(cells=(3,)))
    wanted = c.OfferTrade(1, Basket(10), Basket(0, (3,), ("support",)))
    game.refused(0, given, "card_not_tradable", "IND-TRADE-03")
    game.refused(0, wanted, "card_not_tradable", "IND-TRADE-03")


def test_an_exchange_for_money() -> None:
    """IND-TRADE-04, IND-TRADE-05: no own business need be chosen."""
    game = traders().do(0, wants(1, 3, 120)).do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 120, "trade")]
    assert (game.owner(3), game.owner(1), game.cash(0), game.cash(1)) == (0, 0, 1380, 1620)


def test_an_exchange_for_an_own_business() -> None:
    """IND-TRADE-04: a business against a business, without money."""
    game = traders().do(0, wants(1, 5, 0, give=1)).do(1, c.AcceptTrade())
    assert game.money() == []
    assert (game.owner(5), game.owner(1)) == (0, 1)


def test_an_exchange_for_both() -> None:
    """IND-TRADE-04: money and a business of one's own."""
    game = traders().do(0, wants(1, 5, 70, give=1)).do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 70, "trade")]
    assert (game.owner(5), game.owner(1), game.owner(3)) == (0, 1, 1)


def test_money_of_an_exchange_goes_up_to_the_own_cash() -> None:
    """IND-TRADE-05, IND-TRADE-07: from 0, from 1 without an own business, to all that the proposer has."""
    game = traders().with_cash(0, 200)
    trade = game.options("offer_trade")[0].trade
    assert trade is not None
    assert trade.to == 1
    assert trade.exchange_range(3) == AmountRange(1, 200)
    assert trade.exchange_range(3, 1) == AmountRange(0, 200)
    game.refused(0, wants(1, 3, 201), "not_enough_cash", "IND-TRADE-07", {"greatest": 200})
    game.refused(0, wants(1, 3, 201, give=1), "not_enough_cash", "IND-TRADE-07", {"greatest": 200})
    game.refused(0, wants(1, 3, 0), "empty_side", "IND-TRADE-04")
    game.refused(0, wants(1, 3, -1), "bad_amount", "IND-TRADE-07")
    game.do(0, wants(1, 3, 200)).do(1, c.AcceptTrade())
    assert (game.cash(0), game.cash(1)) == (0, 1700)


def test_one_unit_is_enough_for_an_offer() -> None:
    """IND-TRADE-07: a cheap offer needs no floor."""
    game = traders().do(0, wants(1, 3, 1)).do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 1, "trade")]


def test_a_player_without_money_can_only_give_a_business() -> None:
    """IND-TRADE-07: money up to the proposer's cash, here nothing."""
    game = traders().with_cash(0, 0)
    trade = game.options("offer_trade")[0].trade
    assert trade is not None
    assert trade.exchange_range(3) is None
    assert trade.exchange_range(3, 1) == AmountRange(0, 0)
    game = a_game(2).owning(1, 3).with_cash(0, 0).managing(0)
    assert not game.options("offer_trade")


@pytest.mark.parametrize(
    "offer",
    [
        c.OfferTrade(1, Basket(10), Basket(cells=(3, 5))),
        c.OfferTrade(1, Basket(10, (1, 6)), Basket(cells=(3,))),
        c.OfferTrade(1, Basket(10, (1,)), Basket(5, (3,))),
        c.OfferTrade(1, Basket(0, (1,)), Basket(5, (3,))),
        c.OfferTrade(1, Basket(0, (1, 6)), Basket(500)),
        c.OfferTrade(1, Basket(5, (1,)), Basket(500)),
        c.OfferTrade(1, Basket(5), Basket(5)),
        c.OfferTrade(1, Basket(), Basket()),
        c.OfferTrade(1, Basket(5), Basket()),
        c.OfferTrade(1, Basket(10), Basket(cells=(3,)), redeem=(3,)),
    ],
)
def test_other_shapes_are_no_offers(offer: c.OfferTrade) -> None:
    """IND-TRADE-04, IND-TRADE-07: one business of the partner, at most one of one's own, money only one way."""
    traders().owning(0, 6).refused(0, offer, "wrong_shape", "IND-TRADE-04")


def test_money_is_never_negative() -> None:
    """IND-TRADE-07, IND-SETUP-14: whole and from 0."""
    game = traders()
    game.refused(0, c.OfferTrade(1, Basket(-1), Basket(cells=(3,))), "bad_amount", "IND-TRADE-07")
    game.refused(0, c.OfferTrade(1, Basket(cells=(1,)), Basket(-30)), "bad_amount", "IND-TRADE-07")


@pytest.mark.parametrize("partner", [0, 3, -1])
def test_the_partner_is_another_player(partner: int) -> None:
    """IND-TRADE-04: a rival."""
    traders().refused(0, wants(partner, 3, 10), "bad_choice", "IND-TRADE-04", {"seat": partner})


def test_a_player_who_is_out_is_no_partner() -> None:
    """IND-TRADE-04, IND-INV-12: rivals are those in play."""
    game = a_game(3).owning(0, 1).out(2).managing(0)
    assert [option.trade.to for option in game.options("offer_trade") if option.trade is not None] == [1]
    game.refused(0, sells(2, 1, 30), "seat_out", "IND-INV-12", {"seat": 2})


def test_a_sale_is_between_the_bank_price_and_the_cash_of_the_rival() -> None:
    """IND-TRADE-06: the ends are allowed, a unit beyond is not."""
    game = traders().with_cash(1, 31).with_cash(2, 30)
    for seat, most in ((1, 31), (2, 30)):
        trade = game.options("offer_trade")[seat - 1].trade
        assert trade is not None
        assert trade.sales == (DeedChoice(1, 30),)
        assert trade.sale_range(1) == AmountRange(30, most)
    game.refused(0, sells(1, 1, 29), "below_bank_value", "IND-TRADE-06", {"least": 30})
    game.refused(0, sells(1, 1, 0), "below_bank_value", "IND-TRADE-06", {"least": 30})
    game.refused(0, sells(1, 1, 32), "over_partner_cash", "IND-TRADE-06", {"greatest": 31})
    game.do(0, sells(1, 1, 31)).do(1, c.AcceptTrade())
    assert game.money() == [(1, 0, 31, "trade")]
    assert (game.owner(1), game.cash(0), game.cash(1)) == (1, 1531, 0)
    traders().with_cash(2, 30).do(0, sells(2, 1, 30)).do(2, c.AcceptTrade())


def test_nothing_can_be_sold_to_a_rival_below_the_bank_price() -> None:
    """IND-TRADE-06: who has less than the bank would give is no buyer."""
    game = a_game(2).owning(0, 1).with_cash(1, 29).managing(0)
    assert not game.options("offer_trade")
    game.refused(0, sells(1, 1, 29), "below_bank_value", "IND-TRADE-06", {"least": 30})
    game.refused(0, sells(1, 1, 30), "over_partner_cash", "IND-TRADE-06", {"greatest": 29})


def test_trades_wait_for_the_purchase_and_the_auction() -> None:
    """IND-TRADE-08, IND-BUY-04: proposed in MANAGE only."""
    game = a_game(2).owning(1, 3).at(0, 0).turn_of(0).roll(0, 2, 4)
    assert game.decision == ("purchase", 0)
    game.refused(0, wants(1, 3, 10), "wrong_decision", "IND-PHASE-03")
    game.do(0, c.Decline())
    game.refused(0, wants(1, 3, 10), "wrong_decision", "IND-PHASE-04")


def test_an_open_offer_waits_for_its_partner_alone() -> None:
    """IND-TRADE-09: neither withdrawn nor changed, and nothing else is legal meanwhile."""
    game = traders().do(0, wants(1, 3, 10))
    assert game.option_kinds() == {"accept_trade", "refuse_trade"}
    for action in (c.EndTurn(), wants(1, 3, 20), c.RefuseTrade()):
        game.refused(0, action, "not_asked", "IND-PHASE-10", {"seat": 1})
    game.refused(2, c.AcceptTrade(), "not_asked", "IND-PHASE-10")
    for answer in (c.EndTurn(), c.Roll(), wants(0, 1, 20)):
        game.refused(1, answer, "wrong_decision", "IND-PHASE-06")


def test_a_deal_is_carried_out_in_one_step() -> None:
    """IND-TRADE-09: cells and money change hands together, then the turn goes on."""
    game = traders().do(0, wants(1, 3, 10, give=1)).do(1, c.AcceptTrade())
    assert game.event_names() == [
        "DecisionClosed",
        "TradeClosed",
        "MoneyMoved",
        "DeedMoved",
        "DeedMoved",
        "DeadlineSet",
        "DecisionOpened",
    ]
    assert game.events_of(DeedMoved) == [DeedMoved(1, 0, 1, "trade"), DeedMoved(3, 1, 0, "trade")]
    assert game.decision == ("manage", 0)


def test_a_refusal_moves_nothing() -> None:
    """IND-TRADE-15, IND-PHASE-06: cash and deeds stay."""
    game = traders().do(0, wants(1, 3, 10, give=1)).do(1, c.RefuseTrade())
    assert game.money() == []
    assert (game.owner(1), game.owner(3), game.cash(0), game.cash(1)) == (0, 1, 1500, 1500)
    assert game.events_of(TradeClosed)[0].outcome == "refused"


def test_silence_is_a_refusal_after_sixty_seconds() -> None:
    """IND-TRADE-16: it costs nothing, nobody is out, and the trade stays used."""
    game = traders().do(0, wants(1, 3, 10))
    assert game.deadline == ("answer", 60_000)
    game.expire("answer")
    assert game.now_ms == 60_000
    assert game.events_of(TradeClosed)[0].outcome == "expired"
    assert game.money() == []
    assert game.state.in_play == [True, True, True]
    assert game.decision == ("manage", 0)
    assert game.deadline == ("turn", 300_000)
    game.refused(0, wants(1, 5, 10), "trade_limit_used", "IND-TRADE-01")


def test_people_may_repeat_a_refused_offer_in_a_later_turn() -> None:
    """IND-TRADE-11, IND-TRADE-18: only bots must be offered more."""
    game = traders(2).do(0, wants(1, 3, 10)).do(1, c.RefuseTrade()).end_turn(0).roll(1, 4, 6).end_turn(1)
    game.roll(0, 4, 6).do(0, wants(1, 3, 10))
    assert game.decision == ("trade_answer", 1)


def test_offers_and_answers_are_in_the_journal_of_all() -> None:
    """IND-TRADE-22: events with their whole content, none of them withheld."""
    game = traders().do(0, wants(1, 3, 10, give=1))
    (offered,) = game.events_of(TradeOffered)
    assert offered == TradeOffered(1, 0, 1, Basket(10, (1,)), Basket(cells=(3,)))
    game.do(1, c.AcceptTrade())
    assert game.events_of(TradeClosed) == [TradeClosed(1, "accepted")]
    assert not {TradeOffered, TradeClosed} & set(SECRET_EVENTS)
