"""Skips, and what three of them in a row do (MET-TIME-07 to -11)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import Bankrupt, Leaving, SeatOut, StrikeCounted, StrikesCleared, TurnEnded
from services.rules.domain.parties import BANK
from tests.rules.metro.games import METRO, SPEED, both, drawing, metro, offer
from tests.support.scenario import Game


def skips(game: Game) -> list[int]:
    """Skip counters by seat."""
    return game.state.strikes


@both
def test_a_missed_turn_clock_is_a_skip(edition: str) -> None:
    """MET-TIME-09: in the own turn, whatever phase ran out."""
    game = metro(2, edition).turn_of(0).expire()
    assert game.events_of(StrikeCounted) == [StrikeCounted(0, 1)]
    assert game.events_of(TurnEnded) == [TurnEnded(0, "time")]
    game = metro(2, edition).turn_of(0).roll(0, 1, 2).expire()
    assert skips(game) == [1, 0]
    game = metro(2, edition).owning(1, 3).turn_of(0).roll(0, 1, 2).expire("payment")
    assert skips(game) == [1, 0]


def test_at_most_one_skip_in_a_turn() -> None:
    """MET-TIME-09: even if the payment and the throw run out."""
    game = metro(2).owning(1, 6).turn_of(0).roll(0, 3, 3).expire("payment")
    assert (skips(game), game.decision) == ([1, 0], ("roll", 0))
    game.expire("turn")
    assert (skips(game), game.decision) == ([1, 0], ("roll", 1))


@both
def test_what_is_no_skip(edition: str) -> None:
    """MET-TIME-09: automatic passes, expired offers, and payments in others' turns."""
    game = metro(2, edition).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).expire("bid").expire("bid")
    assert skips(game) == [0, 0]
    game = metro(2, edition).owning(0, 5).turn_of(0).do(0, offer(1, 0, (5,), cash=2000)).expire("answer")
    assert skips(game) == [0, 0]
    game = drawing("yard_concert", 2, edition).roll(0, 3, 4).expire("payment")
    assert (skips(game), game.money()) == ([0, 0], [(1, 0, 200, "card")])


def test_any_action_sets_the_counter_back() -> None:
    """MET-TIME-07, MET-TIME-09: also bids, passes and answers in others' turns; a refused command does not."""
    game = metro(2).with_strikes(1, 2).turn_of(0)
    game.refused(1, c.Roll(), "not_asked", "MET-TURN-04")
    assert skips(game) == [0, 2]
    game.roll(0, 1, 2).do(0, c.Decline()).do(1, c.Pass())
    assert game.events_of(StrikesCleared) == [StrikesCleared(1)]
    assert skips(game) == [0, 0]
    game = metro(2).with_strikes(1, 2).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).do(1, c.Bid(600))
    assert skips(game) == [0, 0]
    game = metro(2).owning(0, 5).with_strikes(1, 2).turn_of(0).do(0, offer(1, 0, (5,), cash=2000))
    assert skips(game.do(1, c.RefuseTrade())) == [0, 0]
    assert skips(metro(2).with_strikes(0, 2).turn_of(0).roll(0, 1, 2)) == [0, 0]
    assert skips(metro(2).owning(0, 5).with_strikes(0, 1).turn_of(0).do(0, c.Mortgage(5))) == [0, 0]


@both
def test_three_skips_in_a_row_are_a_surrender(edition: str) -> None:
    """MET-TIME-08, MET-TIME-10: instead of the default; the second one is only a skip."""
    game = metro(3, edition).with_strikes(0, 1).turn_of(0).expire()
    assert (skips(game), game.state.in_play) == ([2, 0, 0], [True] * 3)
    game = metro(3, edition).owning(0, 5).with_strikes(0, 2).turn_of(0).expire()
    assert game.events_of(Leaving) == [Leaving(0, "strikes")]
    assert game.events_of(SeatOut) == [SeatOut(0, 3)]
    assert game.events_of(TurnEnded) == [TurnEnded(0, "out")]
    assert (game.owner(5), game.money(), game.decision) == (BANK, [(0, BANK, 15000, "estate")], ("roll", 1))


def test_three_skipped_turns_from_the_start() -> None:
    """MET-TIME-08: turn by turn, while the other plays."""
    game = metro(2)
    for number in (1, 2):
        game.expire()
        assert skips(game) == [number, 0]
        game.at(1, 13).roll(1, 3, 4)
    game.expire()
    assert game.state.ended == "last_left"


def test_the_third_skip_declines_nothing() -> None:
    """MET-TIME-10: no auction follows."""
    game = metro(3).turn_of(0).roll(0, 1, 2).with_strikes(0, 2).expire()
    assert (game.state.in_play[0], game.decision) == (False, ("roll", 1))
    assert "AuctionOpened" not in game.event_names()


def test_the_third_skip_settles_the_payment_that_ran_out() -> None:
    """MET-TIME-10: so that creditors do not suffer: the money is raised and paid, or the debtor is bankrupt over it."""
    game = metro(3).owning(1, 39).owning(0, 5).with_cash(0, 100).at(0, 36).turn_of(0).roll(0, 1, 2)
    game.with_strikes(0, 2).expire("payment")
    assert game.money()[:2] == [(BANK, 0, 1000, "mortgage"), (0, 1, 500, "rent")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]
    assert (game.cash(1), game.state.in_play[0]) == (15500, False)
    game = metro(3).owning(1, 39).with_cash(0, 100).at(0, 36).turn_of(0).roll(0, 1, 2)
    game.with_strikes(0, 2).expire("payment")
    assert game.money() == [(0, 1, 100, "estate")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, 1, "leaving")]


def test_bots_are_given_no_skips() -> None:
    """MET-TIME-09, MET-BOT-04: the default is played without counting one."""
    game = metro(2, kinds=("person", "bot")).turn_of(1).expire()
    assert (skips(game), game.decision) == ([0, 0], ("roll", 0))


@both
def test_after_two_turns_without_a_throw_the_dice_are_thrown(edition: str) -> None:
    """MET-TIME-11: instead of skipping, and it is a skip all the same; stray actions between do not help."""
    game = metro(2, edition).owning(0, 1, 3, 5, 12)
    for cell in (1, 3):
        game.turn_of(0).do(0, c.Mortgage(cell)).expire()
        assert (skips(game), game.position(0)) == ([1, 0], 0)
    game.turn_of(0).do(0, c.Mortgage(5)).upcoming_dice((3, 4)).expire()
    assert (skips(game), game.position(0)) == ([1, 0], 7)
    assert game.money() == [(BANK, 0, 1500, "card")]
    # it has thrown: the next missed turn is skipped again
    game.turn_of(0).do(0, c.Mortgage(12)).expire()
    assert (skips(game), game.position(0)) == ([1, 0], 7)


def test_a_throw_in_jail_is_made_for_them_too() -> None:
    """MET-TIME-11: running out of time in `roll`, also in jail."""
    game = metro(2).in_jail(0).turn_of(0).expire()
    game.with_strikes(0, 0).turn_of(0).expire()
    game.with_strikes(0, 0).turn_of(0).upcoming_dice((1, 2)).expire()
    assert (game.jail_tries(0), skips(game)) == (1, [1, 0])


def test_the_third_skip_in_a_row_is_no_throw() -> None:
    """MET-TIME-11: then the player leaves."""
    game = metro(3).turn_of(0).expire()
    game.turn_of(0).expire().turn_of(0).expire()
    assert (game.state.in_play[0], game.position(0)) == (False, 0)


def test_only_turns_without_any_throw_count() -> None:
    """MET-TIME-11: a turn that lost only its extra throw had one."""
    game = metro(2).turn_of(0).expire()
    game.at(0, 14).turn_of(0).roll(0, 3, 3).expire()
    assert game.decision == ("roll", 1)
    game.with_strikes(0, 0).turn_of(0).expire()
    assert (game.position(0), game.decision) == (20, ("roll", 1))


def test_the_two_turns_are_those_just_before() -> None:
    """MET-TIME-11: a turn with a throw between them begins the count anew."""
    game = metro(2).turn_of(0).expire()
    game.at(0, 13).turn_of(0).roll(0, 3, 4)
    game.turn_of(0).expire()
    game.with_strikes(0, 0).turn_of(0).upcoming_dice((3, 5)).expire()
    assert (game.position(0), skips(game)) == (20, [1, 0])


@pytest.mark.parametrize("edition", [METRO, SPEED])
def test_the_counter_stays_below_three(edition: str) -> None:
    """MET-TIME-08: 0, 1 or 2 for an active player."""
    game = metro(3, edition)
    for _ in range(6):
        game.expire()
        assert max(skips(game)) <= 2
    assert skips(game) == [2, 2, 2]
    game.expire()
    assert (game.state.in_play, skips(game)) == ([False, True, True], [0, 2, 2])
