"""Deadlines (TAB-TIME-01 to -04)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket, OfferTrade
from services.rules.domain.decide import advance
from services.rules.domain.refusals import Refusal
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game


def at_purchase(edition: str = "tabletop", seats: int = 3) -> Game:
    """Seat 0 decides about Grand Terrace."""
    return a_table(edition, seats).at(0, 36).turn_of(0).roll(0, 1, 2)


@pytest.mark.parametrize("edition", FIVE)
def test_90_seconds_for_roll_jail_purchase_and_payment(edition: str) -> None:
    """TAB-TIME-01: the same numbers in all editions."""
    assert a_table(edition).turn_of(0).deadline == ("turn", 90_000)
    assert a_table(edition).in_jail(0).turn_of(0).deadline == ("turn", 90_000)
    assert at_purchase(edition).deadline == ("turn", 90_000)
    assert a_table(edition).owning(0, 39).with_cash(0, 5).owing(0, 10, 1).deadline == ("payment", 90_000)


@pytest.mark.parametrize("edition", FIVE)
def test_30_seconds_for_an_answer(edition: str) -> None:
    """TAB-TIME-01."""
    game = a_table(edition).turn_of(0).do(0, OfferTrade(1, Basket(1), Basket(1)))
    assert game.deadline == ("answer", 30_000)


def test_the_other_limits() -> None:
    """TAB-TIME-02: `END` 90; a bid, a settlement, a gap, a claim and an estate choice 30."""
    assert tabletop().managing(0).deadline == ("turn", 90_000)
    assert at_purchase().do(0, c.Decline()).deadline == ("bid", 30_000)
    settled = tabletop().with_cash(0, 5).owing(0, 10, 1).do(0, c.OfferSettlement(Basket(5)))
    assert settled.deadline == ("answer", 30_000)
    gap = tabletop().owning_group(1, "brown").turn_of(0).do(1, c.AskGap())
    assert gap.deadline == ("answer", 30_000)
    claims = tabletop(4).owning_group(0, "brown").owning_group(1, "sky").branches_left(1, 2).turn_of(0)
    assert claims.do(0, c.Build((1,))).deadline == ("answer", 30_000)
    estate = tabletop().owning(0, 39).mortgaged(39).with_cash(0, 0).owing(0, 5000, 1).do(0, c.DeclareBankruptcy())
    assert (estate.decision, estate.deadline) == (("estate_choice", 1), ("answer", 30_000))
    for game in (at_purchase("online-classic"), at_purchase("rent-tax")):
        assert game.do(0, c.Decline()).deadline == ("bid", 30_000)


@pytest.mark.parametrize("edition", FIVE)
def test_managing_ones_property_restarts_no_clock(edition: str) -> None:
    """TAB-TIME-03: mortgaging, redeeming, building and selling leave the deadline as it was set."""
    group, cells = ("perfume", (1, 3)) if edition == "rent-tax" else ("brown", (1, 3))
    game = a_table(edition).owning_group(0, group).owning(0, 6).turn_of(0)
    deadline = game.state.deadlines
    for action in (c.Mortgage(6), c.Redeem(6), c.Build((cells[0],)), c.SellBuildings((cells[0],), 0)):
        game.do(0, action, after_ms=10_000)
        assert game.state.deadlines == deadline
    assert game.deadline == ("turn", 50_000)


@pytest.mark.parametrize("edition", FIVE)
def test_a_new_phase_has_a_new_deadline(edition: str) -> None:
    """TAB-TIME-03: and in an auction a new bidder."""
    game = a_table(edition, 4).at(0, 36).turn_of(0).roll(0, 1, 2, after_ms=60_000)
    assert game.deadline == ("turn", 90_000)
    game.do(0, c.Decline(), after_ms=60_000)
    assert game.deadline == ("bid", 30_000)
    game.do(1, c.Bid(10), after_ms=20_000)
    assert (game.decision, game.deadline) == (("auction_bid", 2), ("bid", 30_000))


def test_an_extra_roll_is_a_new_phase() -> None:
    """TAB-TIME-03."""
    game = tabletop().at(0, 18).turn_of(0).roll(0, 1, 1, after_ms=80_000)
    assert game.deadline == ("turn", 90_000)


@pytest.mark.parametrize("edition", FIVE)
@pytest.mark.parametrize("grace_ms", [0, 500])
def test_a_command_counts_before_the_deadline(edition: str, grace_ms: int) -> None:
    """TAB-TIME-04: a millisecond before it does, at it it does not; the server's grace is added for all."""
    game = a_table(edition, grace_ms=grace_ms).at(0, 17).turn_of(0).wait(90_000 + grace_ms)
    game.refused(0, c.Roll(), "stale_deadline", "TAB-TIME-04", {"late_ms": 0})
    game.wait(-1).roll(0, 1, 2)
    assert game.position(0) == 20


def test_a_late_sale_does_not_save_a_debtor() -> None:
    """TAB-TIME-04: though others may sell at that moment."""
    game = tabletop().owning(0, 5).owning(1, 15).with_cash(0, 60).owing(0, 100, 1).wait(90_000)
    game.refused(0, c.Mortgage(5), "stale_deadline", "TAB-TIME-04", {"late_ms": 0})
    game.do(1, c.Mortgage(15)).expire("payment")
    assert game.money()[-1] == (0, 1, 100, "card")


def test_a_timeout_names_its_phase() -> None:
    """TAB-TIME-04: one that is closed, or that is not due, does nothing."""
    game = tabletop().at(0, 17).turn_of(0)
    old = game.state.deadlines[0].id
    game.refused(-1, c.Expire(old), "not_due", "TAB-TIME-04", {"left_ms": 90_000})
    game.wait(89_999).refused(-1, c.Expire(old), "not_due", "TAB-TIME-04", {"left_ms": 1})
    game.roll(0, 1, 2).wait(90_000)
    game.refused(-1, c.Expire(old), "stale_deadline", "TAB-TIME-04", {"deadline": old})
    game.refused(-1, c.Expire(999), "stale_deadline", "TAB-TIME-04", {"deadline": 999})


def test_arrival_decides_between_a_command_and_a_timeout() -> None:
    """TAB-TIME-04: whichever is first closes the phase, and the other one does nothing."""
    game = tabletop().at(0, 17).turn_of(0)
    roll, timeout = game.command(0, c.Roll()), c.Command(-1, 0, c.Expire(game.state.deadlines[0].id))
    game.upcoming_dice((1, 2)).wait(89_999)
    first = advance(game.edition, game.state, roll, game.now_ms)
    assert not isinstance(first, Refusal)
    second = advance(game.edition, first.state, timeout, game.now_ms + 10)
    assert isinstance(second, Refusal)
    assert second.reason == "stale_deadline"
    first = advance(game.edition, game.state, timeout, game.now_ms + 1)
    assert not isinstance(first, Refusal)
    second = advance(game.edition, first.state, roll, game.now_ms + 1)
    assert isinstance(second, Refusal)
    assert second.reason == "stale_decision"


@pytest.mark.parametrize("edition", TABLETOPS)
def test_settling_an_offer_gives_the_rest_of_the_clock(edition: str) -> None:
    """TAB-TIME-03, TAB-PHASE-02: an interrupted phase is not a new one."""
    game = a_table(edition).turn_of(0).wait(70_000).do(0, OfferTrade(1, Basket(1), Basket(1)))
    game.do(1, c.RefuseTrade(), after_ms=25_000)
    assert game.deadline == ("turn", 20_000)


def test_payments_of_other_editions_run_on_their_own_clock() -> None:
    """TAB-TIME-01: a debt has its 90 seconds, whatever was left of the turn."""
    for game in (online(), rent_tax()):
        game.owning(1, 39).owning(0, 37).with_cash(0, 10).at(0, 36).turn_of(0).roll(0, 1, 2, after_ms=85_000)
        assert game.deadline == ("payment", 90_000)
