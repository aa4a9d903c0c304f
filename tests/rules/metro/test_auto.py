"""What the game does by itself when a clock runs out (MET-AUTO)."""

from typing import get_args

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import (
    AuctionOpened,
    BidderPassed,
    BuildingsSold,
    DeadlineSet,
    DeedMortgaged,
    DiceRolled,
    MoveChosen,
    TokenMoved,
    TradeClosed,
    TurnEnded,
)
from services.rules.domain.parties import BANK
from tests.rules.metro.games import BUS, METRO, SPEED, X, both, metro, offer
from tests.support.scenario import Game


@both
def test_a_missed_throw_ends_the_turn(edition: str) -> None:
    """MET-AUTO-01: without a throw; free, with an extra throw due, or jailed, where no attempt is used."""
    game = metro(2, edition).turn_of(0).expire()
    assert game.events_of(TurnEnded) == [TurnEnded(0, "time")]
    assert not game.events_of(DiceRolled)
    game = metro(2, edition).at(0, 14).turn_of(0).roll(0, 3, 3)
    assert game.decision == ("roll", 0)
    game.expire()
    assert (game.events_of(DiceRolled), game.decision, game.position(0)) == ([], ("roll", 1), 20)
    game = metro(2, edition).in_jail(0, 2).turn_of(0).expire()
    assert (game.jail_tries(0), game.events_of(DiceRolled), game.decision) == (2, [], ("roll", 1))


def test_a_missed_bus_moves_by_the_sum() -> None:
    """MET-AUTO-02."""
    game = metro(2, SPEED).in_round(7).at(0, 13).turn_of(0).roll(0, 2, 5, third=BUS).expire()
    assert game.events_of(MoveChosen) == [MoveChosen(0, "sum")]
    assert game.events_of(TokenMoved) == [TokenMoved(0, 13, 20, "dice", False)]


def test_a_missed_teleport_walks_by_all_three_dice() -> None:
    """MET-AUTO-03: clockwise, with the usual Start bonus, and the extra throw stays due with a full clock."""
    game = metro(2, SPEED).in_round(7).owning(0, 5).at(0, 36).turn_of(0).roll(0, 3, 3, third=3).expire()
    assert game.events_of(TokenMoved) == [TokenMoved(0, 36, 5, "dice", True)]
    assert game.money() == [(BANK, 0, 2000, "salary")]
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 45_000))


@both
def test_a_missed_purchase_is_auctioned(edition: str) -> None:
    """MET-AUTO-04: declined, and open to all as ever."""
    game = metro(3, edition).turn_of(0).roll(0, 1, 2).expire()
    assert game.events_of(AuctionOpened) == [AuctionOpened(1, "declined", 3, BANK, (1, 2, 0), 600)]


@both
def test_a_missed_payment_is_raised_and_paid(edition: str) -> None:
    """MET-AUTO-05: or the debtor is bankrupt."""
    game = metro(3, edition).owning(1, 39).owning(0, 5).with_cash(0, 0).at(0, 36).turn_of(0).roll(0, 1, 2)
    game.expire("payment")
    assert game.money() == [(BANK, 0, 1000, "mortgage"), (0, 1, 500, "rent")]
    game = metro(3, edition).owning(1, 39).with_cash(0, 499).at(0, 36).turn_of(0).roll(0, 1, 2).expire("payment")
    assert not game.state.in_play[0]


def raised(game: Game) -> list[tuple[str, int]]:
    """What was mortgaged ("m") and sold ("s"), in order."""
    steps = []
    for event in game.events:
        if isinstance(event, DeedMortgaged):
            steps.append(("m", event.cell))
        elif isinstance(event, BuildingsSold):
            steps.append(("s", event.cell))
    return steps


def misses_income_tax(game: Game) -> Game:
    """Seat 0 lands on the income tax of 2000 and lets the time run out."""
    return game.at(0, 1).turn_of(0).roll(0, 1, 2).expire("payment")


def test_the_cheapest_bare_field_is_mortgaged_first() -> None:
    """MET-AUTO-06: of equals the lowest cell; it stops as soon as the cash covers the sum."""
    game = misses_income_tax(metro(2).with_cash(0, 0).owning(0, 39, 25, 12, 5, 28, 1))
    # 300 + 750 + 750 + 1000
    assert raised(game) == [("m", 1), ("m", 12), ("m", 28), ("m", 5)]
    assert game.cash(0) == 800
    game = misses_income_tax(metro(2).with_cash(0, 1700).owning(0, 39, 1, 12))
    assert (raised(game), game.cash(0)) == ([("m", 1)], 0)
    game = misses_income_tax(metro(2).with_cash(0, 1699).owning(0, 39, 1, 12))
    assert raised(game) == [("m", 1), ("m", 12)]


def test_buildings_go_when_no_bare_field_is_left() -> None:
    """MET-AUTO-06: from the group of the lowest build cost, its highest street, of equals the lowest cell."""
    game = metro(2).with_cash(0, 900).owning(0, 12).owning_group(0, "brown", 1, 1).owning_group(0, "pink", 1, 1, 1)
    # 900 + 750 + 250 + 250, and brown is bare
    assert raised(misses_income_tax(game)) == [("m", 12), ("s", 1), ("s", 3)]
    assert game.cash(0) == 150
    game = metro(2, SPEED).with_cash(0, 1250).owning_group(0, "sky", 1, 3, 3)
    assert raised(misses_income_tax(game)) == [("s", 8), ("s", 9), ("s", 8)]


def test_after_each_step_it_begins_again() -> None:
    """MET-AUTO-06: a group that has become bare is mortgaged before anything else is sold."""
    game = metro(2).with_cash(0, 0).owning_group(0, "brown", 1, 0).owning_group(0, "blue", 3, 3)
    assert raised(misses_income_tax(game)) == [("s", 1), ("m", 1), ("m", 3), ("s", 37), ("s", 39)]


@both
def test_nothing_is_raised_in_vain(edition: str) -> None:
    """MET-AUTO-06: if raisable is below the sum from the outset, the debtor is bankrupt at once."""
    game = misses_income_tax(metro(3, edition).with_cash(0, 999).owning(0, 5))
    assert (raised(game), game.state.in_play[0]) == ([], False)
    game = misses_income_tax(metro(3, edition).with_cash(0, 1000).owning(0, 5))
    assert (raised(game), game.cash(0), game.state.in_play[0]) == ([("m", 5)], 0, True)


@both
def test_a_missed_bid_is_a_pass_and_a_missed_offer_a_refusal(edition: str) -> None:
    """MET-AUTO-07."""
    game = metro(3, edition).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).expire("bid")
    assert game.events_of(BidderPassed) == [BidderPassed(1, "time")]
    game = metro(2, edition).owning(1, 5).turn_of(0).do(0, offer(1, 2000, cells=(5,))).expire("answer")
    assert game.events_of(TradeClosed) == [TradeClosed(1, "expired")]


def test_later_decisions_of_the_segment_take_their_default_at_once() -> None:
    """MET-AUTO-08: once the turn clock has run out; phases with their own clock keep it."""
    game = metro(2, SPEED).in_round(7).owning(1, 16).at(0, 11).turn_of(0).roll(0, 2, 3, third=BUS).expire("turn")
    assert (game.decision, game.deadline) == (("payment", 0), ("payment", 75_000))
    game = metro(2, SPEED).in_round(7).at(0, 11).turn_of(0).roll(0, 2, 3, third=BUS).expire("turn")
    # the bus goes by the sum, the purchase is declined, and the bidder has his ten seconds
    assert game.asked() == [("purchase", 0), ("auction_bid", 1)]
    assert (game.decision, game.deadline) == (("auction_bid", 1), ("bid", 10_000))


def test_the_x_move_after_a_missed_purchase_declines_too() -> None:
    """MET-AUTO-08: the same segment; only one skip is counted."""
    game = metro(2, SPEED).in_round(7).at(0, 10).turn_of(0).roll(0, 1, 2, third=X).expire("turn")
    game.expire("bid").expire("bid")
    assert (game.position(0), game.decision) == (14, ("auction_bid", 1))
    assert game.state.strikes == [1, 0]


@both
def test_an_extra_throw_opens_a_full_clock(edition: str) -> None:
    """MET-AUTO-08: after a missed purchase the double still throws."""
    game = metro(2, edition).turn_of(0).roll(0, 3, 3).expire("turn").expire("bid").expire("bid")
    budget = 75_000 if edition == METRO else 45_000
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", budget))
    assert [event.deadline.budget_ms for event in game.events_of(DeadlineSet)] == [budget]


@pytest.mark.parametrize("edition", [METRO, SPEED])
def test_no_automatic_play_can_be_switched_on(edition: str) -> None:
    """MET-AUTO-09: the game knows only running out of time."""
    game = metro(2, edition).owning(0, 5).turn_of(0)
    assert game.option_kinds() == {"roll", "mortgage", "offer_trade", "surrender"}
    names = {action.__name__ for action in get_args(c.Action)}
    assert not {name for name in names if "Auto" in name}


@both
def test_full_streets_are_sold_level_by_level(edition: str) -> None:
    """MET-AUTO-06: one building at a time, from the fifth down."""
    game = metro(2, edition).with_cash(0, 250).owning_group(0, "brown", 5, 4)
    assert raised(misses_income_tax(game)) == [("s", 1), ("s", 1), ("s", 3), ("s", 1), ("s", 3), ("s", 1), ("s", 3)]
    assert (game.cash(0), game.level(1), game.level(3)) == (0, 1, 1)


def test_a_forced_bail_is_paid_and_the_move_goes_on() -> None:
    """MET-AUTO-05, MET-AUTO-08, MET-JAIL-06: the payment's clock has run out, not the turn's."""
    game = metro(2).in_jail(0, 2).turn_of(0).roll(0, 1, 2, after_ms=30_000).expire("payment")
    assert (game.position(0), game.decision, game.deadline) == (13, ("purchase", 0), ("turn", 45_000))
