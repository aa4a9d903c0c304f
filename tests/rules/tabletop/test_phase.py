"""Phases (TAB-PHASE)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket, OfferTrade
from services.rules.domain.decide import advance
from services.rules.domain.events import TurnEnded
from services.rules.domain.refusals import Refusal
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, tabletop


@pytest.mark.parametrize("edition", FIVE)
def test_what_follows_a_settled_cell(edition: str) -> None:
    """TAB-PHASE-01: over at once in jail; another roll after a double; else `END` in TT, the next turn in OC and RT."""
    usual = ("manage", 0) if edition in TABLETOPS else ("roll", 1)
    assert a_table(edition).at(0, 17).turn_of(0).roll(0, 1, 2).decision == usual
    assert a_table(edition).at(0, 18).turn_of(0).roll(0, 1, 1).decision == ("roll", 0)
    assert a_table(edition).at(0, 27).turn_of(0).roll(0, 1, 2).decision == ("roll", 1)
    assert a_table(edition).owning(0, 14).in_jail(0).turn_of(0).roll(0, 2, 2).decision == usual
    bankrupt = a_table(edition, 4).with_cash(0, 1).owing(0, 9000, 1)
    assert bankrupt.do(0, c.DeclareBankruptcy()).decision == ("roll", 1)
    assert bankrupt.events_of(TurnEnded) == [TurnEnded(0, "out")]


def test_nested_phases_stop_the_clock() -> None:
    """TAB-PHASE-02: an offer, a debt of another, claims, a gap and an estate choice; the rest is what it was."""
    offer = tabletop().turn_of(0).wait(1_000).do(0, OfferTrade(1, Basket(1), Basket(1)))
    offer.do(1, c.RefuseTrade(), after_ms=29_000)
    assert offer.deadline == ("turn", 89_000)
    debt = tabletop(rent_claim="on_demand").owning(1, 39).owning(0, 5).with_cash(0, 0).at(0, 36).turn_of(0)
    debt.roll(0, 1, 2).end_turn(0).wait(2_000).do(1, c.ClaimRent(0, 39)).do(0, c.Mortgage(5), after_ms=89_000)
    assert (debt.decision, debt.deadline) == (("roll", 1), ("turn", 88_000))
    claims = tabletop(4).owning_group(0, "brown").owning_group(1, "sky").branches_left(1, 2).with_cash(2, 0)
    claims.turn_of(0).wait(3_000).do(0, c.Build((1,))).do(1, c.ClaimBuildings((6,)), after_ms=20_000)
    claims.do(0, c.Bid(50), after_ms=20_000).do(1, c.Pass(), after_ms=20_000)
    assert (claims.decision, claims.deadline) == (("roll", 0), ("turn", 87_000))
    gap = (
        tabletop().owning_group(1, "brown").turn_of(0).wait(4_000).do(1, c.AskGap()).do(1, c.CloseGap(), after_ms=9_000)
    )
    assert (gap.decision, gap.deadline) == (("roll", 0), ("turn", 86_000))


def test_offers_of_a_debtor_stop_the_clock_of_the_debt() -> None:
    """TAB-PHASE-02: again and again."""
    game = tabletop().owning(0, 5).with_cash(0, 0).owing(0, 100, 1)
    for number in range(1, 4):
        game.wait(10_000).do(0, OfferTrade(2, Basket(cells=(5,)), Basket(5))).do(2, c.RefuseTrade(), after_ms=20_000)
        assert game.deadline == ("payment", 90_000 - 10_000 * number)


def test_an_estate_choice_stops_the_clock_of_the_turn() -> None:
    """TAB-PHASE-02: of the turn in which another went bankrupt."""
    game = tabletop(4, rent_claim="on_demand").owning(1, 39).owning(0, 5).mortgaged(5).with_cash(0, 0).at(0, 36)
    game.turn_of(0).roll(0, 1, 2).end_turn(0).wait(7_000).do(1, c.ClaimRent(0, 39)).do(0, c.DeclareBankruptcy())
    assert game.decision == ("estate_choice", 1)
    game.do(1, c.ChooseEstate(), after_ms=25_000)
    assert (game.decision, game.deadline) == (("roll", 1), ("turn", 83_000))


def test_commands_are_applied_one_at_a_time() -> None:
    """TAB-PHASE-03: a command quotes the decision that it answers; the second of two for the same one is refused, and
    time-outs are commands like the others."""
    game = tabletop().at(0, 36).turn_of(0)
    first = game.command(0, c.Roll())
    game.roll(0, 1, 2)
    again = advance(game.edition, game.state, first, game.now_ms)
    assert isinstance(again, Refusal)
    assert (again.reason, again.statement) == ("stale_decision", "TAB-PHASE-04")
    decline, buy = game.command(0, c.Decline()), game.command(0, c.Buy())
    game.do(0, c.Buy())
    for late in (decline, buy):
        result = advance(game.edition, game.state, late, game.now_ms)
        assert isinstance(result, Refusal)
        assert result.reason == "stale_decision"


@pytest.mark.parametrize("edition", FIVE)
def test_a_refusal_names_a_reason(edition: str) -> None:
    """TAB-PHASE-04: and a statement, and changes nothing."""
    game = a_table(edition).turn_of(0)
    game.refused(1, c.Roll(), "not_asked", "TAB-PHASE-04", {"seat": 0})
    game.refused(0, c.Buy(), "wrong_decision", "TAB-TURN-01")
    game.refused(0, c.Bid(5), "wrong_decision", "TAB-TURN-01")
    game.refused(0, c.Roll(), "stale_decision", "TAB-PHASE-04", decision_id=999)
    game.refused(9, c.Roll(), "bad_choice", "TAB-BANK-01", {"seat": 9})
    purchase = a_table(edition).with_cash(0, 5).at(0, 36).turn_of(0).roll(0, 1, 2)
    purchase.refused(0, c.Buy(), "not_enough_cash", "TAB-BUY-04")
