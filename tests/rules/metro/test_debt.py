"""Obligatory payments and their pause (MET-DEBT)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import MoneyMoved, PaymentClosed, PaymentDue
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.rules.metro.games import METRO, both, drawing, metro
from tests.support.scenario import Game


def owing_rent(edition: str = METRO, seats: int = 2) -> Game:
    """Seat 0 has landed on the bare 39 of seat 1, alone there: 500 of rent."""
    return metro(seats, edition).owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2)


@both
def test_the_game_pauses_and_shows_pay(edition: str) -> None:
    """MET-DEBT-01, MET-DEBT-02: nothing is debited silently, however much cash there is."""
    game = owing_rent(edition)
    assert (game.money(), game.decision, game.option("pay").amount) == ([], ("payment", 0), 500)
    game.do(0, c.Pay())
    assert game.money() == [(0, 1, 500, "rent")]
    assert game.events_of(PaymentClosed) == [PaymentClosed(1, "paid")]
    assert game.decision == ("roll", 1)


@both
def test_rent_tax_chance_and_bail_all_pause(edition: str) -> None:
    """MET-DEBT-01: the four kinds of obligation."""
    games = {
        "rent": owing_rent(edition),
        "tax": metro(2, edition).at(0, 1).turn_of(0).roll(0, 1, 2),
        "card": drawing("flooded_cellar", 2, edition).roll(0, 3, 4),
        "fine": metro(2, edition).in_jail(0, 2).turn_of(0).roll(0, 1, 2),
    }
    for reason, game in games.items():
        assert [due.reason for due in game.events_of(PaymentDue)] == [reason]
        assert game.decision == ("payment", 0)


def test_paying_needs_the_whole_sum() -> None:
    """MET-DEBT-05, MET-DEBT-03: one unit short, something is sold or mortgaged right there first."""
    game = owing_rent().with_cash(0, 499).owning(0, 1)
    game.refused(0, c.Pay(), "not_enough_cash", "MET-DEBT-05", {"least": 500})
    assert not game.options("pay")
    game.do(0, c.Mortgage(1))
    assert (game.cash(0), game.decision) == (799, ("payment", 0))
    game.do(0, c.Pay())
    assert (game.cash(0), game.cash(1)) == (299, 15500)
    game = owing_rent().with_cash(0, 500).do(0, c.Pay())
    assert game.cash(0) == 0


def test_buildings_can_be_sold_in_the_pause() -> None:
    """MET-DEBT-03: from the group with the buildings."""
    game = owing_rent().with_cash(0, 0).owning_group(0, "brown", 1, 1)
    game.do(0, c.SellBuildings((1,), 0)).do(0, c.SellBuildings((3,), 0)).do(0, c.Pay())
    assert game.cash(0) == 0


def test_raising_is_legal_whether_or_not_it_is_needed() -> None:
    """MET-DEBT-05: with enough cash too."""
    game = owing_rent().owning(0, 5).do(0, c.Mortgage(5))
    assert (game.cash(0), game.decision) == (16000, ("payment", 0))


@both
def test_time_up_raises_the_money_and_pays(edition: str) -> None:
    """MET-DEBT-04, MET-AUTO-05: with the cash at hand, or after mortgaging."""
    game = owing_rent(edition).expire("payment")
    assert game.money() == [(0, 1, 500, "rent")]
    game = owing_rent(edition).with_cash(0, 100).owning(0, 5).expire("payment")
    assert game.money() == [(BANK, 0, 1000, "mortgage"), (0, 1, 500, "rent")]
    assert game.decision == ("roll", 1)


@both
def test_time_up_without_the_means_is_bankruptcy(edition: str) -> None:
    """MET-DEBT-04, MET-AUTO-05: the debtor is out."""
    game = owing_rent(edition, 3).with_cash(0, 199).owning(0, 1).expire("payment")
    assert not game.state.in_play[0]
    assert (game.decision, game.cash(1)) == (("roll", 1), 15000 + 499)


def test_what_is_no_obligation_is_debited_at_once() -> None:
    """MET-DEBT-06: purchases, auction wins, building, redeeming, voluntary bail; and a sum of 0 opens no pause."""
    game = metro(2).owning(0, 5).mortgaged(5).owning_group(0, "blue").in_jail(0).turn_of(0)
    for action in (c.Build((37,)), c.Redeem(5), c.PayFine()):
        game.do(0, action)
        assert [event.payee for event in game.events_of(MoneyMoved)] == [BANK]
        assert not game.events_of(PaymentDue)
    game = metro(2).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).do(1, c.Bid(600)).do(0, c.Pass())
    assert (game.money(), game.events_of(PaymentDue)) == ([(1, BANK, 600, "auction")], [])
    game = metro(2).owning(1, 39).mortgaged(39).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert game.events_of(PaymentDue) == []


@both
def test_opponents_pay_one_after_another(edition: str) -> None:
    """MET-DEBT-07: each with a pause of its own, in seat order from the drawer's neighbour."""
    game = metro(4, edition).top_cards("chance", "yard_concert").turn_of(2).roll(2, 3, 4)
    order = []
    for _ in range(3):
        assert game.decision is not None
        assert game.deadline == ("payment", 75_000)
        order.append(game.decision[1])
        game.do(order[-1], c.Pay(), after_ms=5_000)
    assert order == [3, 0, 1]
    assert (game.cash(2), game.decision) == (15600, ("roll", 3))


def test_a_creditor_who_leaves_is_replaced_by_the_bank() -> None:
    """MET-DEBT-08, MET-DEBT-09: the sum stays the same and is free of rent tax."""
    game = metro(3).in_round(200).owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2).do(1, c.Surrender())
    assert (game.decision, game.option("pay").amount) == (("payment", 0), 500)
    game.do(0, c.Pay())
    assert game.money() == [(0, BANK, 500, "rent")]


def test_a_share_of_one_who_leaves_goes_to_the_bank() -> None:
    """MET-DEBT-08, MET-DEBT-09: the others still get theirs."""
    game = drawing("round_of_tea", 4).roll(0, 3, 4).do(2, c.Surrender()).do(0, c.Pay())
    assert game.money() == [(0, 1, 250, "card"), (0, BANK, 250, "card"), (0, 3, 250, "card")]


def test_opponents_still_pay_a_drawer_who_has_left() -> None:
    """MET-DEBT-09, MET-BANK-10: the bank collects, from those too whose turn to pay has not come yet."""
    game = drawing("yard_concert", 4).roll(0, 3, 4).do(1, c.Pay()).do(0, c.Surrender())
    assert game.decision == ("payment", 2)
    game.do(2, c.Pay())
    assert game.money() == [(2, BANK, 200, "card")]
    assert game.events_of(PaymentDue) == [PaymentDue(3, 3, (Claim(BANK, 200),), "card", -1, "chance/yard_concert")]
    game.do(3, c.Pay())
    assert (game.money(), game.decision) == ([(3, BANK, 200, "card")], ("roll", 1))


def test_a_payer_who_has_left_pays_no_more() -> None:
    """MET-DEBT-07: the next one is asked."""
    game = drawing("yard_concert", 4).roll(0, 3, 4).do(2, c.Surrender()).do(1, c.Pay())
    assert game.decision == ("payment", 3)


@pytest.mark.parametrize("action", [c.Roll(), c.Buy(), c.Decline(), c.EndTurn(), c.Pass()])
def test_nothing_else_answers_a_payment(action: c.Action) -> None:
    """MET-DEBT-06: pay, sell, mortgage, offer, and bankruptcy where it is offered."""
    owing_rent().refused(0, action, "wrong_decision", "MET-DEBT-06")
