"""The option of rent that its owner must ask for (TAB-RENT-11)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import RentClaimable, RentClaimClosed
from services.rules.domain.parties import BANK
from services.rules.editions.ports import OverrideError
from tests.rules.tabletop.tables import TABLETOPS, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game


def visited(seats: int = 3, cash: int = 1500) -> Game:
    """Seat 0 has stopped on Grand Terrace of seat 1, which asks for rent on demand."""
    game = tabletop(seats, rent_claim="on_demand").owning(1, 39).with_cash(0, cash)
    return game.at(0, 36).turn_of(0).roll(0, 1, 2)


@pytest.mark.parametrize("edition", TABLETOPS)
def test_nothing_is_due_until_the_owner_asks(edition: str) -> None:
    """TAB-RENT-11: the visit makes a claim of the rent of that moment."""
    game = a_table(edition, overrides={"rent_claim": "on_demand"}).owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert (game.money(), game.decision) == ([], ("manage", 0))
    assert game.events_of(RentClaimable) == [RentClaimable(0, 39, 50, 1, 0)]
    game.do(1, c.ClaimRent(0, 39))
    assert game.events_of(RentClaimClosed) == [RentClaimClosed(0, 39, True)]
    assert (game.money(), game.decision) == ([(0, 1, 50, "rent")], ("manage", 0))
    game.refused(1, c.ClaimRent(0, 39), "bad_choice", "TAB-RENT-11")


def test_only_tabletop_editions_have_the_option() -> None:
    """TAB-RENT-11: in the others rent is taken at once."""
    for edition in ("online-classic", "rent-tax"):
        with pytest.raises(OverrideError):
            a_table(edition, overrides={"rent_claim": "on_demand"})
    for game in (online(), rent_tax(), tabletop()):
        game.turn_of(0)
        assert game.edition.rent_claim == "auto"
        assert "claim_rent" not in game.option_kinds()


def test_the_claim_is_listed_for_its_owner() -> None:
    """TAB-RENT-11: with the amount; nobody else has it."""
    game = visited()
    option = game.option("claim_rent")
    assert (option.seat, [(deed.cell, deed.amount) for deed in option.deeds]) == (1, [(39, 50)])
    game.refused(2, c.ClaimRent(0, 39), "bad_choice", "TAB-RENT-11")
    game.refused(1, c.ClaimRent(2, 39), "bad_choice", "TAB-RENT-11")


def test_the_amount_is_the_rent_at_the_visit() -> None:
    """TAB-RENT-11: a house built since changes nothing, nor does a mortgage."""
    game = tabletop(rent_claim="on_demand").owning_group(1, "navy").at(0, 36).turn_of(0).roll(0, 1, 2).end_turn(0)
    game.do(1, c.Build((39,))).do(1, c.ClaimRent(0, 39))
    assert game.money() == [(0, 1, 100, "rent")]


def test_the_claim_may_come_before_the_next_roll() -> None:
    """TAB-RENT-11: also in the next player's `PRE_ROLL`."""
    game = visited().end_turn(0)
    assert game.decision == ("roll", 1)
    game.do(1, c.ClaimRent(0, 39))
    assert game.money() == [(0, 1, 50, "rent")]
    assert game.decision == ("roll", 1)


def test_the_claim_lapses_with_the_next_players_first_roll() -> None:
    """TAB-RENT-11: it is gone then, a try in jail being a roll as well."""
    game = visited().end_turn(0).owning(1, 3).roll(1, 1, 2)
    assert game.state.rent_claims == ()
    game.refused(1, c.ClaimRent(0, 39), "bad_choice", "TAB-RENT-11")
    game = visited().in_jail(1).end_turn(0).roll(1, 1, 2)
    assert game.state.rent_claims == ()


def test_the_visitors_own_extra_roll_does_not_end_it() -> None:
    """TAB-RENT-11: only the roll of the player after the visitor does."""
    game = tabletop(rent_claim="on_demand").owning(1, 39).owning(0, 1, 3).at(0, 37).turn_of(0).roll(0, 1, 1)
    game.roll(0, 1, 3)
    assert game.position(0) == 3
    game.do(1, c.ClaimRent(0, 39))
    assert game.money() == [(0, 1, 50, "rent")]


def test_a_claim_in_a_gap() -> None:
    """TAB-RENT-11: `PRE_ROLL`, `END` and `GAP`."""
    game = visited().owning_group(2, "brown").do(2, c.AskGap()).end_turn(0)
    assert game.decision is not None
    assert game.decision[0] == "gap"
    game.do(1, c.ClaimRent(0, 39))
    assert game.money() == [(0, 1, 50, "rent")]


def test_no_claim_in_other_phases() -> None:
    """TAB-RENT-11: not during a purchase, an auction or an answer."""
    game = tabletop(rent_claim="on_demand").owning(1, 39).at(0, 37).turn_of(0).roll(0, 1, 1).roll(0, 3, 3)
    assert game.decision == ("purchase", 0)
    game.refused(1, c.ClaimRent(0, 39), "wrong_decision", "TAB-RENT-11")
    assert "claim_rent" not in game.option_kinds()
    game.do(0, c.Decline())
    game.refused(1, c.ClaimRent(0, 39), "wrong_decision", "TAB-RENT-11")


def test_a_claim_that_is_not_covered_is_a_debt() -> None:
    """TAB-RENT-11, TAB-PHASE-02: owed at once like any debt; the interrupted clock goes on with its rest."""
    game = visited(cash=49).owning(0, 1).end_turn(0).wait(30_000).do(1, c.ClaimRent(0, 39))
    assert (game.decision, game.deadline) == (("payment", 0), ("payment", 90_000))
    game.wait(20_000).do(0, c.Mortgage(1))
    assert game.money() == [(BANK, 0, 30, "mortgage"), (0, 1, 50, "rent")]
    assert (game.decision, game.deadline) == (("roll", 1), ("turn", 60_000))


def test_a_claim_that_is_just_covered_interrupts_nothing() -> None:
    """TAB-RENT-11: it is paid at once, and the open decision stays the same."""
    game = visited(cash=50).end_turn(0)
    decision = game.state.decision
    game.do(1, c.ClaimRent(0, 39))
    assert (game.money(), game.cash(0), game.state.decision) == ([(0, 1, 50, "rent")], 0, decision)


def test_a_debt_in_a_gap_leaves_the_gap_its_time() -> None:
    """TAB-RENT-11, TAB-PHASE-02: `GAP` goes on with the rest it had, and then `PRE_ROLL`."""
    game = visited(cash=49).owning(0, 1).owning_group(2, "brown").owning(0, 6).do(2, c.AskGap())
    game.end_turn(0).wait(10_000).do(1, c.ClaimRent(0, 39))
    assert game.decision == ("payment", 0)
    game.wait(50_000).do(0, c.Mortgage(6))
    assert game.decision is not None
    assert (game.decision[0], game.deadline) == ("gap", ("answer", 20_000))


@pytest.mark.parametrize("seat", [0, 1])
def test_the_claim_lapses_when_owner_or_visitor_drops_out(seat: int) -> None:
    """TAB-RENT-11."""
    game = visited(4).do(seat, c.Surrender())
    assert game.state.rent_claims == ()


def test_bankrupt_over_a_claim() -> None:
    """TAB-RENT-11, TAB-BANK-03: like any debt to a player."""
    game = visited(cash=20).do(1, c.ClaimRent(0, 39)).do(0, c.DeclareBankruptcy())
    assert game.money() == [(0, 1, 20, "estate")]
    assert game.decision == ("roll", 1)
