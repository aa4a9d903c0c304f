"""Debts (TAB-DEBT)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import Bankrupt, PaymentClosed, PaymentDue
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim, PaymentFrame
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game

OWED_AT_ONCE = FIVE[:4]


@pytest.mark.parametrize("edition", OWED_AT_ONCE)
def test_covered_payments_are_made_without_a_question(edition: str) -> None:
    """TAB-DEBT-01: rent, tax, card and fine; with exactly the sum as well."""
    rent = a_table(edition).owning(1, 39).with_cash(0, 50).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert (rent.money(), rent.cash(0)) == ([(0, 1, 50, "rent")], 0)
    tax = a_table(edition).with_cash(0, 200).at(0, 1).turn_of(0).roll(0, 1, 2)
    assert tax.money() == [(0, BANK, 200, "tax")]
    card = a_table(edition).with_cash(0, 15).top_cards("chance", "parking_ticket").at(0, 4).turn_of(0).roll(0, 1, 2)
    assert card.money() == [(0, BANK, 15, "card")]
    fine = a_table(edition).owning(0, 14).with_cash(0, 50).in_jail(0, 2).turn_of(0).roll(0, 1, 3)
    assert fine.money() == [(0, BANK, 50, "fine")]


def test_in_rent_tax_payments_wait_for_pay() -> None:
    """TAB-DEBT-01, TAB-TIME-01: rent, tax, card and fine, each for 90 seconds."""
    rent = rent_tax().owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2)
    tax = rent_tax().at(0, 2).turn_of(0).roll(0, 1, 2)
    card = rent_tax().top_cards("chance", "late_report").at(0, 10).turn_of(0).roll(0, 1, 2)
    fine = rent_tax().owning(0, 14).in_jail(0, 2).turn_of(0).roll(0, 1, 3)
    for game, payment in (
        (rent, (0, 1, 500, "rent")),
        (tax, (0, BANK, 2000, "tax")),
        (card, (0, BANK, 200, "card")),
        (fine, (0, BANK, 500, "fine")),
    ):
        assert (game.decision, game.deadline, game.money()) == (("payment", 0), ("payment", 90_000), [])
        assert game.option("pay").amount == payment[2]
        game.refused(1, c.Pay(), "not_asked", "TAB-PHASE-04")
        assert game.do(0, c.Pay()).money() == [payment]


def test_a_fee_of_inherited_mortgages_is_a_debt() -> None:
    """TAB-DEBT-01, TAB-BANK-04: taken at once where cash suffices, in rent-tax too; else the heir owes it."""
    for game, fee in ((tabletop(), 20), (rent_tax(), 200)):
        game.owning(0, 39).mortgaged(39).cash_of_all(0, fee, 0).owing(0, 10_000, 1).do(0, c.DeclareBankruptcy())
        assert game.money() == [(1, BANK, fee, "transfer_fee")]
        assert game.decision == ("estate_choice", 1)
    for game, fee in ((tabletop(), 20), (rent_tax(), 200)):
        game.owning(0, 39).owning(1, 37).mortgaged(39).cash_of_all(0, fee - 1, 0).owing(0, 10_000, 1)
        game.do(0, c.DeclareBankruptcy())
        (due,) = game.events_of(PaymentDue)
        assert (due.payer, due.claims, due.reason) == (1, (Claim(BANK, fee),), "transfer_fee")
        assert game.decision == ("payment", 1)


#: (edition, what seat 0 can bring with 10 of cash, two houses on each navy street and a mortgaged and a free station)
REACH = [(one, 10 + 4 * 100 + 175 + 200 + 100) for one in TABLETOPS] + [("online-classic", 10 + 4 * 200 + 475)]


@pytest.mark.parametrize(("edition", "reach"), REACH)
def test_what_assets_can_bring(edition: str, reach: int) -> None:
    """TAB-DEBT-02: cash, sales of buildings, and mortgages of what is not mortgaged; equal to the debt is enough."""
    game = a_table(edition).owning_group(0, "navy", 2, 2).owning(0, 5, 15).mortgaged(5).with_cash(0, 10)
    game.owing(0, reach, 1)
    if edition == "online-classic":
        assert game.decision == ("payment", 0)
    else:
        game.refused(0, c.DeclareBankruptcy(), "within_reach", "TAB-DEBT-04")
    game.do(0, c.SellBuildings((37,), 1)).do(0, c.SellBuildings((39,), 1))
    game.do(0, c.SellBuildings((37,), 0)).do(0, c.SellBuildings((39,), 0))
    game.do(0, c.Mortgage(37)).do(0, c.Mortgage(39)).do(0, c.Mortgage(15))
    assert game.money()[-1] == (0, 1, reach, "card")
    assert (game.cash(0), game.decision) == (0, ("manage", 0) if edition in TABLETOPS else ("roll", 1))


def in_debt(edition: str = "tabletop", owed: int = 100, cash: int = 60) -> Game:
    """Seat 0 owes seat 1, with a station to mortgage."""
    return a_table(edition).owning(0, 5, 15).with_cash(0, cash).owing(0, owed, 1, reason="rent", cell=39)


def test_a_debt_is_paid_whole_and_by_itself() -> None:
    """TAB-DEBT-03: as soon as the cash suffices; until then not a unit of it."""
    game = in_debt(owed=261)
    game.do(0, c.Mortgage(5))
    assert (game.money(), game.decision) == ([(BANK, 0, 100, "mortgage")], ("payment", 0))
    game.do(0, c.Mortgage(15))
    assert (game.cash(0), game.decision) == (260, ("payment", 0))
    game = in_debt(owed=260).do(0, c.Mortgage(5)).do(0, c.Mortgage(15))
    assert game.money() == [(BANK, 0, 100, "mortgage"), (0, 1, 260, "rent")]
    assert (game.cash(0), game.events_of(PaymentClosed)[0].outcome) == (0, "paid")


def test_in_rent_tax_a_debt_is_paid_by_pay() -> None:
    """TAB-DEBT-03: also when it was short at first; `pay` needs the whole."""
    game = rent_tax().owning(0, 1).owning(1, 39).with_cash(0, 200).at(0, 36).turn_of(0).roll(0, 1, 2)
    game.refused(0, c.Pay(), "not_enough_cash", "TAB-DEBT-03", {"least": 500})
    game.do(0, c.Mortgage(1))
    assert (game.decision, game.money()) == (("payment", 0), [(BANK, 0, 300, "mortgage")])
    assert game.do(0, c.Pay()).money() == [(0, 1, 500, "rent")]


@pytest.mark.parametrize("edition", [*TABLETOPS, "rent-tax"])
def test_a_debt_above_reach_does_not_end_the_game_at_once(edition: str) -> None:
    """TAB-DEBT-04: deals may save the debtor; giving up is legal from one unit above reach on."""
    game = a_table(edition).owning(0, 6).with_cash(0, 60)
    reach = 60 + game.edition.board.half_price[6]
    game.owing(0, reach + 1, 1)
    assert game.decision == ("payment", 0)
    assert {"declare_bankruptcy", "offer_trade"} <= game.option_kinds()
    least = a_table(edition).owning(0, 6).with_cash(0, 60).owing(0, reach, 1)
    least.refused(0, c.DeclareBankruptcy(), "within_reach", "TAB-DEBT-04")
    game.do(0, c.DeclareBankruptcy())
    assert game.events_of(Bankrupt) == [Bankrupt(0, 1, "declared")]


def test_a_deal_saves_a_debtor() -> None:
    """TAB-DEBT-04, TAB-TRADE-10: the price asked pays the debt."""
    game = in_debt(owed=900).do(0, c.OfferTrade(2, c.Basket(cells=(5,)), c.Basket(840))).do(2, c.AcceptTrade())
    assert game.money() == [(2, 0, 840, "trade"), (0, 1, 900, "rent")]


def test_online_a_debt_above_reach_is_bankruptcy_at_once() -> None:
    """TAB-DEBT-04: by one unit; a debt of exactly reach is not."""
    game = online().owning(0, 5).owning(1, 39).with_cash(0, 0).owning_group(1, "navy").at(0, 36).turn_of(0)
    assert game.roll(0, 1, 2).decision == ("payment", 0)
    game = online().owning(0, 1).owning_group(1, "navy").with_cash(0, 69).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert game.events_of(Bankrupt) == [Bankrupt(0, 1, "insolvent")]
    assert game.decision == ("roll", 1)
    game = online().owning(0, 1).owning_group(1, "navy").with_cash(0, 70).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert game.decision == ("payment", 0)
    game.refused(0, c.DeclareBankruptcy(), "within_reach", "TAB-DEBT-04")


def shared(game: Game, total_cash: int, owed: int = 150) -> Game:
    """Seat 0 of four owes 50 to each other, or more."""
    return game.with_cash(0, total_cash).owing(0, owed, 1, 2, 3)


def test_several_creditors_are_paid_all_or_none() -> None:
    """TAB-DEBT-06: as soon as the sum of all is there."""
    game = shared(tabletop(4).owning(0, 1), 149)
    assert game.money() == []
    game.do(0, c.Mortgage(1))
    assert game.money()[1:] == [(0, 1, 50, "card"), (0, 2, 50, "card"), (0, 3, 50, "card")]


def test_bankrupt_over_several_creditors() -> None:
    """TAB-DEBT-06: the buildings are sold, the money is shared by the claims, units left over go round from the
    debtor's neighbour, and the deeds are auctioned free of mortgage."""
    game = tabletop(4).owning_group(0, "brown", 1, 1).owning(0, 5).mortgaged(5).holding_release_cards(0, "chest")
    game.state.decks["chest"] = tuple(n for n in game.state.decks["chest"] if n != 4)
    shared(game, 30, 600).do(0, c.DeclareBankruptcy())
    # 30 and two houses sold for 25 each: 80 in three parts
    assert game.money() == [
        (BANK, 0, 25, "building_sale"),
        (BANK, 0, 25, "building_sale"),
        (0, 1, 27, "estate"),
        (0, 2, 27, "estate"),
        (0, 3, 26, "estate"),
    ]
    assert game.cards("chest")[-1] == "release_pass_b"
    assert (game.decision, game.state.mortgaged_rounds[5]) == (("auction_bid", 1), 0)


def test_a_claim_that_passed_to_the_bank_comes_last() -> None:
    """TAB-DEBT-06, -07: the left-over unit does not go there."""
    game = shared(tabletop(5).owning(0, 1), 50, 150)
    game.do(1, c.Surrender()).do(0, c.Surrender())
    assert [money for money in game.money() if money[3] == "estate"][:3] == [
        (0, 2, 17, "estate"),
        (0, 3, 17, "estate"),
        (0, BANK, 16, "estate"),
    ]


def test_online_the_bank_pays_each_claim_in_full() -> None:
    """TAB-DEBT-06, TAB-BANK-07."""
    game = online(4).top_cards("chance", "street_committee").with_cash(0, 149).at(0, 4).turn_of(0).roll(0, 1, 2)
    assert game.money() == [
        (BANK, 1, 50, "estate"),
        (BANK, 2, 50, "estate"),
        (BANK, 3, 50, "estate"),
        (0, BANK, 149, "estate"),
    ]


@pytest.mark.parametrize("edition", FIVE)
def test_a_creditor_who_drops_out_is_replaced_by_the_bank(edition: str) -> None:
    """TAB-DEBT-07: the sum stays, and the clock of the debtor goes on."""
    game = a_table(edition, 4).owning(0, 39).with_cash(0, 60).owing(0, 100, 1).wait(30_000).do(1, c.Surrender())
    (frame,) = [frame for frame in game.state.agenda if isinstance(frame, PaymentFrame)]
    assert frame.claims == (Claim(BANK, 100),)
    assert (game.decision, game.deadline) == (("payment", 0), ("payment", 60_000))
    game.do(0, c.Mortgage(39))
    if edition == "rent-tax":
        game.do(0, c.Pay())
    assert game.money()[-1] == (0, BANK, 100, "card")


def test_the_estate_of_a_creditor_is_auctioned_before_the_debt_goes_on() -> None:
    """TAB-DEBT-07, TAB-BANK-09, TAB-PHASE-02: the debtor bids as well; his clock stands."""
    game = tabletop(4).owning(0, 39).owning(1, 37).with_cash(0, 60).owing(0, 100, 1).wait(30_000).do(1, c.Surrender())
    assert game.decision == ("auction_bid", 2)
    game.do(2, c.Pass()).do(3, c.Pass()).do(0, c.Bid(7), after_ms=20_000)
    assert (game.decision, game.deadline) == (("payment", 0), ("payment", 60_000))
    assert game.owner(37) == 0
