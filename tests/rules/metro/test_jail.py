"""Jail (MET-JAIL)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import (
    CardDrawn,
    DiceRolled,
    Jailed,
    JailTryFailed,
    PaymentDue,
    Released,
    TokenMoved,
)
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.rules.metro.games import METRO, SPEED, X, both, drawing, metro, offer
from tests.support.scenario import Game


def jailed(edition: str = METRO, tries: int = 0, seats: int = 2) -> Game:
    """Seat 0 is in jail and about to throw."""
    return metro(seats, edition).in_jail(0, tries).turn_of(0)


@both
def test_the_three_ways_into_jail(edition: str) -> None:
    """MET-JAIL-01, MET-JAIL-07: third double, cell 30, card: to cell 10 without money, and the turn ends."""
    ways = {
        "doubles": metro(2, edition).at(0, 36).turn_of(0).doubles(2).roll(0, 3, 3),
        "cell": metro(2, edition).at(0, 20).turn_of(0).roll(0, 4, 6),
        "card": drawing("wrong_turnstile", 2, edition).at(0, 29).roll(0, 3, 4),
    }
    for reason, game in ways.items():
        assert [event.reason for event in game.events_of(Jailed)] == [reason]
        assert (game.position(0), game.jail_tries(0), game.money()) == (10, 0, [])
        assert (game.state.doubles, game.decision) == (0, ("roll", 1))


def test_jail_ends_the_turn_even_after_a_double() -> None:
    """MET-JAIL-07: the extra throw and the X move are dropped, the count of doubles is cleared."""
    game = metro(2).at(0, 26).turn_of(0).roll(0, 2, 2)
    assert (game.jail_tries(0), game.state.doubles, game.decision) == (0, 0, ("roll", 1))
    game = metro(2, SPEED).in_round(7).at(0, 26).turn_of(0).roll(0, 2, 2, third=X)
    assert (game.position(0), game.decision) == (10, ("roll", 1))


@both
def test_sitting_in_jail_costs_nothing(edition: str) -> None:
    """MET-JAIL-02: a failed throw or a skipped turn costs no money."""
    game = jailed(edition).roll(0, 1, 2)
    assert (game.money(), game.cash(0), game.decision) == ([], 15000, ("roll", 1))
    assert jailed(edition).expire().money() == []


@both
def test_a_double_frees_and_moves_without_an_extra_throw(edition: str) -> None:
    """MET-JAIL-03: by the sum."""
    game = jailed(edition, 2).roll(0, 4, 4)
    assert game.events_of(Released) == [Released(0, "double")]
    assert game.events_of(TokenMoved) == [TokenMoved(0, 10, 18, "dice", False)]
    assert game.jail_tries(0) == -1
    game.do(0, c.Buy())
    assert game.decision == ("roll", 1)


@both
def test_bail_frees_and_the_player_throws_as_usual(edition: str) -> None:
    """MET-JAIL-04, MET-JAIL-08: 500, debited at once; a double then counts as the turn's first."""
    game = jailed(edition).do(0, c.PayFine(), after_ms=1000)
    assert game.money() == [(0, BANK, 500, "fine")]
    assert game.events_of(Released) == [Released(0, "fine")]
    assert not game.events_of(PaymentDue)
    budget = 75_000 if edition == METRO else 45_000
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", budget - 1000))
    game.roll(0, 5, 5)
    assert (game.position(0), game.state.doubles, game.decision) == (20, 1, ("roll", 0))
    game.roll(0, 4, 4)
    assert game.state.doubles == 2


@both
def test_bail_needs_500_in_cash(edition: str) -> None:
    """MET-JAIL-08: exactly 500 suffices; not for who is free, and not after the throw."""
    game = jailed(edition).with_cash(0, 499)
    game.refused(0, c.PayFine(), "not_enough_cash", "MET-JAIL-08", {"least": 500})
    assert not game.options("pay_fine")
    game.with_cash(0, 500).do(0, c.PayFine())
    assert game.cash(0) == 0
    game.refused(0, c.PayFine(), "not_in_jail", "MET-JAIL-04")
    game = jailed(edition).roll(0, 4, 4)
    game.refused(0, c.PayFine(), "wrong_decision", "MET-BUY-01")


@both
@pytest.mark.parametrize("tries", [0, 1, 2])
def test_bail_is_possible_in_any_jailed_turn(edition: str, tries: int) -> None:
    """MET-JAIL-08: before the throw."""
    assert jailed(edition, tries).do(0, c.PayFine()).jail_tries(0) == -1


@both
def test_after_three_failures_the_bail_is_due(edition: str) -> None:
    """MET-JAIL-05, MET-JAIL-06: a payment pause of 500, then release and the move by that throw."""
    game = jailed(edition)
    for tries in (1, 2):
        game.turn_of(0).roll(0, 1, 2)
        assert game.events_of(JailTryFailed) == [JailTryFailed(0, tries)]
        assert (game.position(0), game.decision) == (10, ("roll", 1))
    game.turn_of(0).roll(0, 4, 5)
    assert game.events_of(JailTryFailed) == [JailTryFailed(0, 3)]
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(BANK, 500),), "fine", 10)]
    assert (game.position(0), game.decision) == (10, ("payment", 0))
    game.do(0, c.Pay())
    assert game.money() == [(0, BANK, 500, "fine")]
    assert game.events_of(Released) == [Released(0, "forced_fine")]
    assert game.events_of(TokenMoved) == [TokenMoved(0, 10, 19, "dice", False)]
    game.do(0, c.Buy())
    assert game.decision == ("roll", 1)


def test_the_forced_bail_can_bankrupt() -> None:
    """MET-JAIL-05, MET-BANK-01: an obligatory payment like others."""
    game = jailed(METRO, 2, 3).with_cash(0, 499).roll(0, 1, 2)
    game.do(0, c.DeclareBankruptcy())
    assert (game.state.in_play[0], game.decision) == (False, ("roll", 1))


def test_only_throws_from_jail_count_and_each_stay_begins_at_0() -> None:
    """MET-JAIL-09: skipped turns are no attempts."""
    game = jailed(METRO, 1).expire()
    assert game.jail_tries(0) == 1
    game.turn_of(0).roll(0, 6, 6)
    assert game.jail_tries(0) == -1
    game.at(0, 20).turn_of(0).roll(0, 4, 6)
    assert game.jail_tries(0) == 0


def test_a_jailed_player_keeps_all_other_rights() -> None:
    """MET-JAIL-10: trading, mortgaging, building, redeeming, and bidding."""
    game = jailed().owning(0, 5, 15).mortgaged(15).owning_group(0, "blue").owning(1, 25)
    assert {"offer_trade", "mortgage", "build", "redeem", "pay_fine", "roll"} <= game.option_kinds()
    game.do(0, offer(1, 0, (5,), cells=(25,))).do(1, c.AcceptTrade())
    assert game.owner(25) == 0


def test_stopping_on_cell_10_is_a_visit() -> None:
    """MET-JAIL-11: the next throw is a free one."""
    game = metro(2).turn_of(0).roll(0, 4, 6)
    assert (game.position(0), game.jail_tries(0)) == (10, -1)
    game.turn_of(0).roll(0, 4, 6)
    assert game.events_of(DiceRolled)[0].purpose == "move"
    assert game.position(0) == 20


@both
def test_there_is_no_release_card(edition: str) -> None:
    """MET-JAIL-12: none in the deck, none to use."""
    game = jailed(edition)
    assert all(card.effect != "release_card" for card in game.edition.decks["chance"])
    game.refused(0, c.UseReleaseCard(), "no_release_card", "MET-JAIL-12")
    assert not game.events_of(CardDrawn)
