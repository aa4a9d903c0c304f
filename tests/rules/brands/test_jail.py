"""Jail (BRA-JAIL)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import Jailed, JailTryFailed, ReleaseCardMoved, Released, TokenMoved
from services.rules.domain.parties import BANK, NONE
from tests.rules.brands.games import (
    BRANDS,
    FAST,
    GO_TO_JAIL,
    JAIL,
    M1,
    TURN_MS,
    brands,
    drawing,
    every_mode,
    holding_the_release_card,
    offer,
    pass_turn,
)


@every_mode
def test_ways_into_jail(edition: str) -> None:
    """BRA-JAIL-01, BRA-JAIL-08: Go to Jail, a Chance card, three doubles; the turn ends, without salary."""
    for game, reason in (
        (brands(edition).at(0, 27).turn_of(0).roll(0, 1, 2), "cell"),
        (drawing("false_advertising", edition).roll(0, 3, 4), "card"),
        (brands(edition).at(0, 38).doubles(2).turn_of(0).roll(0, 3, 3), "doubles"),
    ):
        assert [event.reason for event in game.events_of(Jailed)] == [reason]
        assert (game.position(0), game.jail_tries(0), game.money()) == (JAIL, 0, [])
        assert (game.decision, game.state.doubles) == (("roll", 1), 0)


@every_mode
def test_a_double_frees(edition: str) -> None:
    """BRA-JAIL-02, BRA-JAIL-06: free of charge; it moves by its sum and gives no extra throw."""
    game = brands(edition).owning(0, 16).in_jail(0, tries=1).turn_of(0).roll(0, 3, 3)
    assert game.events_of(Released) == [Released(0, "double")]
    assert (game.position(0), game.money(), game.decision) == (16, [], ("roll", 1))
    assert game.jail_tries(0) == NONE


@every_mode
def test_three_attempts(edition: str) -> None:
    """BRA-JAIL-02, BRA-JAIL-03, BRA-JAIL-04: two failures end the turn; at the third the fine is due, and then the
    token moves by that throw without an extra one."""
    game = brands(edition).in_jail(0)
    for tries in (1, 2):
        game.turn_of(0).roll(0, 1, 2)
        assert game.events_of(JailTryFailed) == [JailTryFailed(0, tries)]
        assert (game.position(0), game.money(), game.decision) == (JAIL, [], ("roll", 1))
    game.turn_of(0).roll(0, 4, 6)
    assert game.money() == [(0, BANK, 500, "fine")]
    assert game.events_of(Released) == [Released(0, "forced_fine")]
    assert (game.position(0), game.decision) == (20, ("casino_bet", 0))
    assert game.do(0, c.Decline()).decision == ("roll", 1)


def test_the_compulsory_fine_may_be_a_debt() -> None:
    """BRA-JAIL-04, BRA-DEBT-08: of 500; the move follows when it is paid."""
    game = brands().owning(0, 39, 20 - 7).with_cash(0, 499).in_jail(0, tries=2).turn_of(0).roll(0, 1, 2)
    assert (game.decision, game.deadline, game.position(0)) == (("payment", 0), ("payment", 60_000), JAIL)
    game.do(0, c.Mortgage(39)).do(0, c.Pay())
    assert game.money() == [(0, BANK, 500, "fine")]
    assert (game.position(0), game.decision, game.jail_tries(0)) == (13, ("roll", 1), NONE)


def test_bankrupt_over_the_fine() -> None:
    """BRA-JAIL-03, BRA-BANK-06: with nothing else to give."""
    game = brands().with_cash(0, 499).in_jail(0, tries=2).turn_of(0).roll(0, 1, 2)
    assert game.state.in_play == [False, True, True]
    assert (game.money(), game.events_of(TokenMoved)) == ([(0, BANK, 499, "estate")], [])


@every_mode
def test_the_release_card(edition: str) -> None:
    """BRA-JAIL-02, BRA-JAIL-04, BRA-JAIL-07: only before a throw; then a throw as usual, on the same clock."""
    game = holding_the_release_card(brands(edition).owning(0, 13).in_jail(0), 0).turn_of(0)
    game.do(0, c.UseReleaseCard("chance"), after_ms=10_000)
    assert game.events_of(ReleaseCardMoved) == [ReleaseCardMoved("chance", 0, BANK)]
    assert game.events_of(Released) == [Released(0, "card")]
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[edition] - 10_000))
    game.roll(0, 1, 2)
    assert (game.position(0), game.decision) == (13, ("roll", 1))


def test_no_release_card() -> None:
    """BRA-JAIL-02, BRA-JAIL-07: one must be held, and one must be in jail."""
    brands().in_jail(0).turn_of(0).refused(0, c.UseReleaseCard("chance"), "no_release_card", "BRA-JAIL-02")
    free = holding_the_release_card(brands(), 0).turn_of(0)
    free.refused(0, c.UseReleaseCard("chance"), "not_in_jail", "BRA-JAIL-02")
    free.refused(0, c.PayFine(), "not_in_jail", "BRA-JAIL-02")


def test_the_release_card_after_a_throw() -> None:
    """BRA-JAIL-04: at the third failure the fine is due, card or not."""
    game = holding_the_release_card(brands().owning(0, 39).with_cash(0, 0).in_jail(0, tries=2), 0).turn_of(0)
    game.roll(0, 1, 2)
    game.refused(0, c.UseReleaseCard("chance"), "wrong_decision", "BRA-DEBT-04")


@pytest.mark.parametrize(("cash", "legal"), [(499, False), (500, True)])
def test_the_fine(cash: int, legal: bool) -> None:
    """BRA-JAIL-02, BRA-JAIL-07: 500 in cash, in any jailed `roll` phase."""
    for tries in (0, 1, 2):
        game = brands().with_cash(0, cash).in_jail(0, tries=tries).turn_of(0)
        if legal:
            game.do(0, c.PayFine())
            assert game.money() == [(0, BANK, 500, "fine")]
            assert (game.decision, game.jail_tries(0)) == (("roll", 0), NONE)
        else:
            assert "pay_fine" not in game.option_kinds()
            game.refused(0, c.PayFine(), "not_enough_cash", "BRA-JAIL-07", {"least": 500})


def test_a_double_after_the_fine_is_the_first() -> None:
    """BRA-JAIL-07: it gives an extra throw."""
    game = brands().owning(0, 12).in_jail(0).turn_of(0).do(0, c.PayFine()).roll(0, 1, 1)
    assert (game.position(0), game.decision, game.state.doubles) == (12, ("roll", 0), 1)


@every_mode
def test_the_others_pay_no_rent(edition: str) -> None:
    """BRA-JAIL-05: while the owner sits in jail; a visitor on cell 10 collects (BRA-JAIL-09)."""
    game = brands(edition).owning(1, 39).in_jail(1).landing(0, 39)
    assert (game.decision, game.money()) == (("roll", 1), [])
    game = brands(edition).owning(1, 39).at(1, JAIL).landing(0, 39)
    assert game.decision == ("payment", 0)


def test_what_going_to_jail_clears() -> None:
    """BRA-JAIL-08: the double counter, the attempts, M1 and the extra throw."""
    game = brands(FAST).in_round(8).at(0, GO_TO_JAIL - 4).turn_of(0).roll(0, 2, 2, third=M1)
    assert (game.position(0), game.decision, game.state.doubles) == (JAIL, ("roll", 1), 0)
    game = brands(BRANDS, 2).in_jail(0, tries=2).turn_of(0).do(0, c.PayFine()).at(0, 27).roll(0, 1, 2)
    assert game.jail_tries(0) == 0
    pass_turn(game, 1).roll(0, 1, 2)
    assert game.jail_tries(0) == 1


@every_mode
def test_rights_of_a_prisoner(edition: str) -> None:
    """BRA-JAIL-09: bidding, trading, building and mortgaging."""
    game = brands(edition).owning_group(0, "drinks").owning(0, 5).owning(1, 39).in_jail(0).turn_of(0)
    game.do(0, c.Build((6,))).do(0, c.Mortgage(5)).do(0, offer(1, 4000, for_cells=(39,))).do(1, c.AcceptTrade())
    assert (game.level(6), game.state.mortgaged_rounds[5], game.owner(39)) == (1, 1, 0)
    game = brands(edition).in_jail(1).landing(0, 39).do(0, c.Decline()).do(1, c.Bid(4000))
    assert game.decision == ("auction_bid", 2)
