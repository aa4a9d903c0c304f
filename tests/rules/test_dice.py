"""Dice and doubles (IND-DICE)."""

from collections.abc import Callable

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import DiceRolled, Jailed, Released, TokenMoved, TurnStarted
from services.rules.domain.evolve import evolve
from services.rules.domain.parties import NONE
from tests.support.scenario import Game, a_game


@pytest.mark.parametrize(("die1", "die2"), [(1, 2), (6, 5), (3, 1)])
def test_the_token_moves_by_the_sum_of_two_dice(die1: int, die2: int) -> None:
    """IND-DICE-01: two dice, and their sum is the move."""
    game = a_game(2).at(0, 20).turn_of(0).roll(0, die1, die2)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", (die1, die2))]
    assert game.events_of(TokenMoved) == [TokenMoved(0, 20, 20 + die1 + die2, "dice", False)]


def test_every_die_is_one_draw() -> None:
    """IND-DICE-01: two dice are two draws; a third die, where an edition has one, would be a third."""
    game = a_game(2)
    for third, draws in ((0, 2), (1, 3)):
        after = evolve(game.edition, game.state, DiceRolled(0, "move", (1, 2), third))
        assert after.draws == game.state.draws + draws
        assert after.last_roll == (1, 2)


def test_the_third_double_itself_owes_no_roll() -> None:
    """IND-DICE-02, -04: the first and second double owe one as soon as they fall, the third does not."""
    for before, owed in ((0, True), (1, True), (2, False)):
        game = a_game(2).doubles(before)
        after = evolve(game.edition, game.state, DiceRolled(0, "move", (4, 4)))
        assert (after.doubles, after.extra_owed) == (before + 1, owed)


def test_a_double_gives_one_more_roll_after_the_end_of_the_turn() -> None:
    """IND-DICE-02: first the purchase and «End turn», then the same player rolls again; without a double others do."""
    game = a_game(2).turn_of(0).roll(0, 3, 3)
    assert game.decision == ("purchase", 0)
    game.do(0, c.Buy())
    assert game.decision == ("manage", 0)
    game.end_turn(0)
    assert (game.decision, game.events_of(TurnStarted)) == (("roll", 0), [TurnStarted(0, 1, True)])
    game.roll(0, 1, 3)
    assert game.position(0) == 10
    game.end_turn(0)
    assert game.decision == ("roll", 1)


def test_the_third_double_in_a_row_leads_to_inspection() -> None:
    """IND-DICE-03: no move by the dice and no salary; the second one still moves."""
    game = a_game(2).at(0, 36).doubles(1).turn_of(0)
    game.roll(0, 2, 2)
    assert (game.position(0), game.jail_tries(0), game.state.doubles) == (0, NONE, 2)
    game.at(0, 38).end_turn(0)
    game.roll(0, 6, 6)
    assert game.events_of(Jailed) == [Jailed(0, "doubles")]
    assert (game.events_of(TokenMoved), game.money()) == ([], [])
    assert (game.position(0), game.jail_tries(0), game.decision) == (10, 0, ("manage", 0))


def test_a_roll_that_is_no_double_ends_the_row() -> None:
    """IND-DICE-04: the count is 0 after it."""
    game = a_game(2).extra_roll_owed().doubles(2).managing(0).end_turn(0)
    assert game.state.doubles == 2
    game.roll(0, 4, 6)
    assert (game.state.doubles, game.state.extra_owed, game.decision) == (0, False, ("manage", 0))


def test_the_passing_of_the_turn_ends_the_row() -> None:
    """IND-DICE-04: doubles of one's next turn begin at 1."""
    game = a_game(2).doubles(2).managing(0).end_turn(0)
    assert game.state.doubles == 0
    game.roll(1, 5, 5)
    assert (game.state.doubles, game.jail_tries(1), game.decision) == (1, NONE, ("manage", 1))


def test_doubles_count_one_by_one_through_extra_turns() -> None:
    """IND-DICE-04: three doubles by the same player without the turn passing."""
    game = a_game(2).turn_of(0)
    for count, cell in ((1, 10), (2, 20)):
        game.roll(0, 5, 5)
        assert (game.state.doubles, game.position(0)) == (count, cell)
        game.end_turn(0)
    game.roll(0, 5, 5)
    assert (game.position(0), game.jail_tries(0)) == (10, 0)


def by_third_double() -> Game:
    """Sent by the dice."""
    game = a_game(2)
    game.extra_roll_owed().doubles(2).managing(0).end_turn(0)
    return game.roll(0, 1, 1)


def by_tax_service() -> Game:
    """Sent by the cell."""
    return a_game(2).at(0, 24).turn_of(0).roll(0, 3, 3)


def by_card() -> Game:
    """Sent by a card."""
    return a_game(2).at(0, 1).top_cards("market", "unscheduled_audit").turn_of(0).roll(0, 3, 3)


def by_trip() -> Game:
    """Sent by a random trip to the tax service."""
    game = a_game(2).at(0, 1).top_cards("market", "unexpected_trip").upcoming_dice((3, 3))
    return game.upcoming_trip(30, standing_on=7).turn_of(0).do(0, c.Roll())


@pytest.mark.parametrize("given", [by_third_double, by_tax_service, by_card, by_trip])
def test_who_is_sent_to_inspection_loses_the_extra_roll(given: Callable[[], Game]) -> None:
    """IND-DICE-05: a double gives nothing then, but the turn is ended by «End turn», and the next player follows."""
    game = given()
    assert (game.position(0), game.jail_tries(0), game.decision) == (10, 0, ("manage", 0))
    assert (game.state.extra_owed, game.state.doubles) == (False, 0)
    game.end_turn(0)
    assert game.decision == ("roll", 1)


def test_in_inspection_the_window_after_the_roll_stays_open() -> None:
    """IND-DICE-05: trading and own auctions remain open after one is sent."""
    game = a_game(2).owning(0, "freight_station").owning(1, "river_port").at(0, 24).turn_of(0).roll(0, 3, 3)
    assert game.option_kinds() == {"offer_trade", "open_auction", "end_turn"}


@pytest.mark.parametrize("tries", [0, 1, 2])
def test_a_double_out_of_inspection_gives_no_extra_roll(tries: int) -> None:
    """IND-DICE-06: at any attempt; the count is 0 after it, and the turn passes."""
    game = a_game(2).in_jail(0, tries).turn_of(0).roll(0, 5, 5)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "jail", (5, 5))]
    assert game.events_of(Released) == [Released(0, "double")]
    assert (game.position(0), game.state.doubles, game.state.extra_owed) == (20, 0, False)
    game.end_turn(0)
    assert game.decision == ("roll", 1)
