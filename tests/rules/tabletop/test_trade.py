"""Deals between players (TAB-TRADE)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket, OfferTrade
from services.rules.domain.events import DeedMoved, ReleaseCardMoved, TradeClosed, TradeOffered
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game

WITH_CARDS = FIVE[:4]


def kept_out(game: Game, *decks: str) -> Game:
    """Takes the release cards of these decks out of them, since somebody holds them."""
    for deck in decks:
        cards = game.edition.decks[deck]
        game.state.decks[deck] = tuple(n for n in game.state.decks[deck] if cards[n].effect != "release_card")
    return game


@pytest.mark.parametrize("cell", [39, 5, 12])
@pytest.mark.parametrize("edition", FIVE[:4])
def test_deeds_are_sold_at_an_agreed_price(edition: str, cell: int) -> None:
    """TAB-TRADE-01: streets, stations and utilities, to any player."""
    game = a_table(edition).owning(0, cell).turn_of(0)
    game.do(0, OfferTrade(2, Basket(cells=(cell,)), Basket(777)))
    assert game.decision == ("trade_answer", 2)
    game.do(2, c.AcceptTrade())
    assert game.money() == [(2, 0, 777, "trade")]
    assert game.events_of(DeedMoved) == [DeedMoved(cell, 0, 2, "trade")]


@pytest.mark.parametrize("edition", WITH_CARDS)
def test_any_combination_on_both_sides(edition: str) -> None:
    """TAB-TRADE-02: deeds, money and release cards."""
    game = kept_out(a_table(edition), "chest", "chance").owning(0, 5, 6).owning(1, 39)
    game.holding_release_cards(0, "chest").holding_release_cards(1, "chance").turn_of(0)
    game.do(0, OfferTrade(1, Basket(100, (5, 6), ("chest",)), Basket(30, (39,), ("chance",)))).do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 100, "trade"), (1, 0, 30, "trade")]
    assert [(moved.cell, moved.to_party) for moved in game.events_of(DeedMoved)] == [(5, 1), (6, 1), (39, 0)]
    assert game.events_of(ReleaseCardMoved) == [ReleaseCardMoved("chest", 0, 1), ReleaseCardMoved("chance", 1, 0)]
    assert game.state.release_cards[:2] == [("chance",), ("chest",)]


@pytest.mark.parametrize("edition", FIVE)
def test_each_side_puts_in_something(edition: str) -> None:
    """TAB-TRADE-02."""
    game = a_table(edition).owning(0, 39).turn_of(0)
    game.refused(0, OfferTrade(1, Basket(cells=(39,)), Basket()), "empty_side", "TAB-TRADE-02")
    game.refused(0, OfferTrade(1, Basket(), Basket(5)), "empty_side", "TAB-TRADE-02")
    game.refused(0, OfferTrade(1, Basket(), Basket()), "empty_side", "TAB-TRADE-02")


def test_in_rent_tax_deeds_and_money_only() -> None:
    """TAB-TRADE-02, TAB-CARD-07."""
    game = rent_tax().owning(0, 39).turn_of(0)
    offer = OfferTrade(1, Basket(cells=(39,)), Basket(3000, (), ("chance",)))
    game.refused(0, offer, "card_not_tradable", "TAB-CARD-07")


def test_only_what_one_has() -> None:
    """TAB-TRADE-02, -08: cards and deeds of the right owner, cash that is there, each deed once."""
    game = tabletop().owning(0, 39).owning(2, 37).cash_of_all(100, 200, 0).turn_of(0)
    game.refused(0, OfferTrade(1, Basket(0, (), ("chest",)), Basket(5)), "not_owner", "TAB-TRADE-02")
    game.refused(0, OfferTrade(1, Basket(cells=(37,)), Basket(5)), "not_owner", "TAB-TRADE-12")
    game.refused(0, OfferTrade(1, Basket(5), Basket(cells=(37,))), "not_owner", "TAB-TRADE-12")
    game.refused(0, OfferTrade(1, Basket(cells=(39, 39)), Basket(5)), "bad_choice", "TAB-TRADE-02")
    game.refused(
        0, OfferTrade(1, Basket(cells=(39,)), Basket(201)), "over_partner_cash", "TAB-TRADE-08", {"greatest": 200}
    )
    game.refused(0, OfferTrade(1, Basket(101), Basket(5)), "not_enough_cash", "TAB-TRADE-08", {"greatest": 100})
    game.refused(0, OfferTrade(1, Basket(-1, (39,)), Basket(5)), "bad_amount", "TAB-TRADE-08")
    game.refused(0, OfferTrade(0, Basket(cells=(39,)), Basket(5)), "bad_choice", "TAB-TRADE-02")
    game.refused(0, OfferTrade(1, Basket(cells=(0,)), Basket(5)), "unknown_cell", "TAB-PHASE-04")
    game.do(0, OfferTrade(1, Basket(100, (39,)), Basket(200)))


@pytest.mark.parametrize("edition", FIVE)
def test_no_street_of_a_built_group(edition: str) -> None:
    """TAB-TRADE-03, -04: all buildings of the group are sold first, on either side of the deal."""
    group, built, bare = ("tea", 4, 6) if edition == "rent-tax" else ("brown", 1, 3)
    game = a_table(edition).owning_group(0, group, 1, 0).turn_of(0)
    for cell in (built, bare):
        game.refused(0, OfferTrade(1, Basket(cells=(cell,)), Basket(700)), "built", "TAB-TRADE-03")
    game.do(0, c.SellBuildings((built,), 0))
    price = game.edition.board.price[built]
    game.do(0, OfferTrade(1, Basket(cells=(built,)), Basket(price))).do(1, c.AcceptTrade())
    assert game.owner(built) == 1
    game = a_table(edition).owning_group(1, group, 1, 0).turn_of(0)
    game.refused(0, OfferTrade(1, Basket(700), Basket(cells=(bare,))), "built", "TAB-TRADE-03")


def test_buildings_have_no_place_in_a_deal() -> None:
    """TAB-TRADE-04: a basket holds cash, cells and release cards; a deed that moves is bare."""
    assert Basket.__match_args__ == ("cash", "cells", "release_cards")
    game = tabletop().owning_group(0, "navy").turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(37, 39)), Basket(900))).do(1, c.AcceptTrade())
    assert (game.level(37), game.level(39), game.owner(39)) == (0, 0, 1)


@pytest.mark.parametrize("edition", FIVE)
def test_the_other_may_refuse(edition: str) -> None:
    """TAB-TRADE-05: then nothing moves, and the decision that was interrupted is open again."""
    game = a_table(edition).owning(0, 39).turn_of(0)
    price = game.edition.board.price[39]
    cash = game.edition.start_cash
    game.do(0, OfferTrade(1, Basket(cells=(39,)), Basket(price))).do(1, c.RefuseTrade())
    assert [closed.outcome for closed in game.events_of(TradeClosed)] == ["refused"]
    assert (game.money(), game.owner(39), game.cash(1), game.decision) == ([], 0, cash, ("roll", 0))


def test_a_deal_is_at_once_and_without_promises() -> None:
    """TAB-TRADE-08: what changes hands changes hands in the same command, and nothing is left of the deal."""
    game = tabletop().owning(0, 39).turn_of(0).do(0, OfferTrade(1, Basket(cells=(39,)), Basket(5)))
    before = (game.state.rent_claims, dict(game.state.counters))
    game.do(1, c.AcceptTrade())
    assert (game.owner(39), game.cash(0)) == (1, 1505)
    assert (game.state.rent_claims, dict(game.state.counters)) == before
    game.at(0, 36).roll(0, 1, 2)
    assert game.money() == [(0, 1, 50, "rent")]


def test_online_deals_are_made_before_the_first_roll() -> None:
    """TAB-TRADE-09: by the player in turn; not before an extra roll, not in a purchase, not in a debt."""
    offer = OfferTrade(1, Basket(50), Basket(50))
    online().turn_of(0).do(0, offer)
    game = online().at(0, 18).turn_of(0).roll(0, 1, 1)
    assert game.decision == ("roll", 0)
    game.refused(0, offer, "wrong_decision", "TAB-TRADE-09")
    assert "offer_trade" not in game.option_kinds()
    game = online().at(0, 36).turn_of(0).roll(0, 1, 2)
    game.refused(0, offer, "wrong_decision", "TAB-BUY-01")
    game = online().with_cash(0, 60).owning(0, 39).owing(0, 100, 1)
    game.refused(0, offer, "wrong_decision", "TAB-DEBT-03")
    online().turn_of(0).refused(1, OfferTrade(0, Basket(5), Basket(5)), "not_asked", "TAB-PHASE-04")


def test_online_a_prisoner_deals_before_his_try() -> None:
    """TAB-TRADE-09: that is the first roll of his turn."""
    game = online().in_jail(0).turn_of(0).do(0, OfferTrade(1, Basket(50), Basket(50)))
    assert game.decision == ("trade_answer", 1)


@pytest.mark.parametrize("edition", [*TABLETOPS, "rent-tax"])
def test_when_deals_are_proposed(edition: str) -> None:
    """TAB-TRADE-10, -11: by who must act, in the own `PRE_ROLL`, `BUY`, debt, and, in TT, `END`."""
    offer = OfferTrade(1, Basket(50), Basket(50))
    a_table(edition).turn_of(0).do(0, offer)
    a_table(edition).at(0, 18).turn_of(0).roll(0, 1, 1).do(0, offer)
    a_table(edition).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, offer)
    a_table(edition).with_cash(0, 60).owing(0, 100, 2).do(0, offer)
    if edition != "rent-tax":
        a_table(edition).managing(0).do(0, offer)
    game = a_table(edition).at(0, 36).turn_of(0)
    game.refused(1, OfferTrade(0, Basket(5), Basket(5)), "not_asked", "TAB-PHASE-04")
    game.roll(0, 1, 2).do(0, c.Decline())
    game.refused(1, OfferTrade(0, Basket(5), Basket(5)), "wrong_decision", "TAB-AUC-04")


def test_with_any_solvent_player_a_prisoner_included() -> None:
    """TAB-TRADE-10: not with a bankrupt."""
    game = tabletop(4).in_jail(1).out(2).turn_of(0)
    game.refused(0, OfferTrade(2, Basket(5), Basket(5)), "seat_out", "TAB-BANK-01")
    assert [option.trade.to for option in game.options("offer_trade") if option.trade is not None] == [1, 3]
    game.do(0, OfferTrade(1, Basket(5), Basket(5))).do(1, c.AcceptTrade())


def test_a_debtor_outside_his_turn_may_deal() -> None:
    """TAB-TRADE-10: who must act proposes, whoever's turn it is."""
    game = tabletop().with_cash(1, 5).owning(1, 39).owing(1, 20, 0, turn=0)
    game.do(1, OfferTrade(2, Basket(cells=(39,)), Basket(300))).do(2, c.AcceptTrade())
    assert game.money() == [(2, 1, 300, "trade"), (1, 0, 20, "card")]


@pytest.mark.parametrize("edition", FIVE)
def test_an_offer_is_open_for_30_seconds(edition: str) -> None:
    """TAB-TRADE-12, TAB-TIME-01: the interrupted clock stands; silence is a refusal."""
    game = a_table(edition).turn_of(0).wait(40_000).do(0, OfferTrade(1, Basket(50), Basket(50)))
    (offered,) = game.events_of(TradeOffered)
    assert (offered.from_seat, offered.to_seat, offered.give, offered.get) == (0, 1, Basket(50), Basket(50))
    assert (game.decision, game.deadline) == (("trade_answer", 1), ("answer", 30_000))
    game.refused(0, OfferTrade(2, Basket(1), Basket(1)), "not_asked", "TAB-PHASE-04")
    game.refused(0, c.RefuseTrade(), "not_asked", "TAB-PHASE-04")
    game.wait(29_000).expire("answer")
    assert [closed.outcome for closed in game.events_of(TradeClosed)] == ["expired"]
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 50_000))


@pytest.mark.parametrize("edition", FIVE)
def test_three_offers_per_turn(edition: str) -> None:
    """TAB-TRADE-12: whatever becomes of them; one that breaks a rule does not count; the next turn has three again."""
    game = a_table(edition, 2).turn_of(0)
    game.do(0, OfferTrade(1, Basket(50), Basket(50))).do(1, c.RefuseTrade())
    game.do(0, OfferTrade(1, Basket(50), Basket(50))).do(1, c.AcceptTrade())
    game.refused(0, OfferTrade(1, Basket(50), Basket()), "empty_side", "TAB-TRADE-02")
    game.do(0, OfferTrade(1, Basket(50), Basket(50))).expire("answer")
    game.refused(0, OfferTrade(1, Basket(50), Basket(50)), "trade_limit_used", "TAB-TRADE-12")
    assert "offer_trade" not in game.option_kinds()
    game.at(0, 17).roll(0, 1, 2)
    if game.decision == ("manage", 0):
        game.refused(0, OfferTrade(1, Basket(50), Basket(50)), "trade_limit_used", "TAB-TRADE-12")
        game.end_turn(0)
    game.at(1, 17).roll(1, 1, 2)
    if game.decision == ("manage", 1):
        game.end_turn(1)
    game.do(0, OfferTrade(1, Basket(50), Basket(50)))


def test_offers_in_a_debt() -> None:
    """TAB-TRADE-12: in the own turn those of the turn; outside it three in that debt, settlements included."""
    offer = OfferTrade(2, Basket(5), Basket(6))
    own = tabletop().turn_of(0)
    own.do(0, offer).do(2, c.RefuseTrade()).do(0, offer).do(2, c.RefuseTrade())
    own.owning(1, 39).with_cash(0, 20).at(0, 36).roll(0, 1, 2).do(0, offer).do(2, c.RefuseTrade())
    own.refused(0, offer, "trade_limit_used", "TAB-TRADE-12")
    own.refused(0, c.OfferSettlement(Basket(10)), "trade_limit_used", "TAB-TRADE-12")
    game = tabletop().with_cash(1, 9).owing(1, 50, 0, turn=0)
    game.do(1, offer).do(2, c.RefuseTrade()).do(1, c.OfferSettlement(Basket(9))).do(0, c.RefuseTrade())
    game.do(1, offer).do(2, c.RefuseTrade())
    game.refused(1, offer, "trade_limit_used", "TAB-TRADE-12")
    game.refused(1, c.OfferSettlement(Basket(9)), "trade_limit_used", "TAB-TRADE-12")


def test_an_offer_no_longer_possible_is_void() -> None:
    """TAB-TRADE-12: everything is checked again on acceptance, since anybody may have mortgaged or sold meanwhile."""
    game = tabletop().owning_group(0, "navy").with_cash(1, 100).turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(37,)), Basket(100)))
    game.do(0, c.Mortgage(37)).do(1, c.AcceptTrade())
    assert [closed.outcome for closed in game.events_of(TradeClosed)] == ["void"]
    assert (game.owner(37), game.cash(1), game.decision) == (0, 100, ("roll", 0))


@pytest.mark.parametrize("leaver", [0, 1, 2])
def test_an_open_offer_is_void_when_somebody_goes_bankrupt(leaver: int) -> None:
    """TAB-TRADE-12: one of the two, or a third."""
    game = tabletop(4).owning(0, 39).turn_of(0).do(0, OfferTrade(1, Basket(cells=(39,)), Basket(5)))
    game.do(leaver, c.Surrender())
    assert [closed.outcome for closed in game.events_of(TradeClosed)] == ["void"]


@pytest.mark.parametrize("edition", FIVE[:4])
def test_no_deal_is_judged(edition: str) -> None:
    """TAB-TRADE-13, TAB-TRADE-14: whether it raises one's chance is the players' business; only rent-tax limits the
    difference of the sides."""
    game = a_table(edition).owning(0, 37, 39).turn_of(0)
    game.do(0, OfferTrade(1, Basket(1000, (37, 39)), Basket(1))).do(1, c.AcceptTrade())
    assert (game.owner(37), game.owner(39), game.cash(1)) == (1, 1, 2499)


@pytest.mark.parametrize(
    ("give", "get", "legal"), [(1000, 2000, True), (999, 2000, False), (2000, 1000, True), (2000, 999, False)]
)
def test_the_difference_of_the_sides(give: int, get: int, legal: bool) -> None:
    """TAB-TRADE-14: 2 × smaller ≥ larger, in either direction."""
    game = rent_tax().turn_of(0)
    if legal:
        game.do(0, OfferTrade(1, Basket(give), Basket(get)))
    else:
        game.refused(0, OfferTrade(1, Basket(give), Basket(get)), "unbalanced", "TAB-TRADE-14", {"least": 50})


def test_the_value_of_deeds_in_a_balance() -> None:
    """TAB-TRADE-14: their price, half of it if mortgaged; gifts are impossible."""
    game = rent_tax().owning(0, 39).turn_of(0)
    game.refused(0, OfferTrade(1, Basket(cells=(39,)), Basket(1999)), "unbalanced", "TAB-TRADE-14")
    game.do(0, OfferTrade(1, Basket(cells=(39,)), Basket(2000))).do(1, c.RefuseTrade())
    game.mortgaged(39)
    game.refused(0, OfferTrade(1, Basket(cells=(39,)), Basket(999)), "unbalanced", "TAB-TRADE-14")
    game.refused(0, OfferTrade(1, Basket(cells=(39,)), Basket(4001)), "unbalanced", "TAB-TRADE-14")
    game.do(0, OfferTrade(1, Basket(cells=(39,)), Basket(1000))).do(1, c.RefuseTrade())
    game.do(0, OfferTrade(1, Basket(cells=(39,)), Basket(4000)))


def test_a_deed_moved_to_nobody_else() -> None:
    """TAB-TRADE-01: the bank takes no part in a deal of bare, free deeds."""
    game = tabletop().owning(0, 39).turn_of(0)
    game.do(0, OfferTrade(1, Basket(cells=(39,)), Basket(5))).do(1, c.AcceptTrade())
    assert BANK not in {party for payer, payee, _, _ in game.money() for party in (payer, payee)}
