"""Movement, salary and arrivals (IND-MOVE)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import Jailed, TokenMoved
from services.rules.domain.moves.walking import step_back
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play
from tests.support.scenario import Game, a_game


@pytest.mark.parametrize(
    ("start", "dice", "end", "passed"),
    [(0, (1, 2), 3, False), (12, (6, 5), 23, False), (38, (2, 1), 1, True), (39, (6, 6), 11, True)],
)
def test_the_token_moves_forward_and_from_39_to_0(start: int, dice: tuple[int, int], end: int, passed: bool) -> None:
    """IND-MOVE-01: toward higher numbers, and round."""
    game = a_game(2).at(0, start).turn_of(0).roll(0, *dice)
    assert game.events_of(TokenMoved)[0] == TokenMoved(0, start, end, "dice", passed)
    assert game.position(0) == end


@pytest.mark.parametrize(
    ("start", "dice", "paid"),
    [(37, (1, 1), False), (38, (1, 1), True), (38, (1, 2), True), (34, (6, 6), True), (0, (1, 2), False)],
)
def test_salary_for_passing_or_stopping_on_start(start: int, dice: tuple[int, int], paid: bool) -> None:
    """IND-MOVE-02: 200 for passing Start or stopping on it, nothing one cell before it or for leaving it."""
    game = a_game(2).at(0, start).turn_of(0).roll(0, *dice)
    assert game.money() == ([(BANK, 0, 200, "salary")] if paid else [])


def test_salary_comes_before_the_cell() -> None:
    """IND-MOVE-03: once, and it serves to pay at the destination."""
    game = a_game(2).owning(1, "bread_stall").with_cash(0, 0).at(0, 38).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(BANK, 0, 200, "salary"), (0, 1, 6, "rent")]
    assert (game.cash(0), game.decision) == (194, ("manage", 0))


def test_no_salary_on_the_way_to_inspection() -> None:
    """IND-MOVE-04: neither from the tax service, nor by a card, nor by the third double."""
    game = a_game(2).at(0, 27).turn_of(0).roll(0, 1, 2)
    assert (game.money(), game.position(0), game.events_of(Jailed)) == ([], 10, [Jailed(0, "cell")])
    game = a_game(2).at(0, 35).top_cards("market", "unscheduled_audit").turn_of(0).roll(0, 1, 2)
    assert (game.money(), game.position(0)) == ([], 10)
    game = a_game(2).at(0, 38).extra_roll_owed().doubles(2).turn_of(0).roll(0, 4, 4)
    assert (game.money(), game.position(0)) == ([], 10)


def test_no_salary_for_three_steps_back() -> None:
    """IND-MOVE-04, -05: back from cell 7 to 4, nothing is paid by the bank."""
    game = a_game(2).owning(0, "pastry_workshop").top_cards("market", "contract_lost").turn_of(0).roll(0, 3, 4)
    assert game.events_of(TokenMoved)[1] == TokenMoved(0, 7, 4, "card_back", False)
    assert (game.money(), game.decision) == ([], ("manage", 0))


@pytest.mark.parametrize(("start", "end"), [(3, 0), (2, 39), (0, 37)])
def test_steps_back_onto_or_over_start_pay_nothing(start: int, end: int) -> None:
    """IND-MOVE-05: no salary even where the steps would end on Start."""
    game = a_game(2).at(0, start)
    play = Play(game.edition, game.state.copy(), 0)
    step_back(play, 0, 3)
    assert play.events == [TokenMoved(0, start, end, "card_back", False)]


def trip(to: int) -> Game:
    """A random trip from cell 38."""
    game = a_game(2).at(0, 35).top_cards("market", "unexpected_trip").upcoming_dice((1, 2))
    return game.upcoming_trip(to, standing_on=38).turn_of(0).do(0, c.Roll())


def test_a_random_trip_pays_only_on_start_itself() -> None:
    """IND-MOVE-04: crossing Start pays nothing, landing on it pays 200."""
    game = trip(20)
    assert (game.position(0), game.money()) == (20, [])
    game = trip(0)
    assert (game.position(0), game.money()) == (0, [(BANK, 0, 200, "salary")])


def test_every_arrival_is_a_new_visit() -> None:
    """IND-MOVE-06: a branch was opened in this visit; after a double, and after a card, one may be opened again."""
    game = a_game(2).owning_group(0, "bakery", 0, 0, 0).at(0, 39).turn_of(0)
    game.roll(0, 1, 1).do(0, c.Build((1,)))
    game.refused(0, c.Build((1,)), "build_limit_used", "IND-BUILD-03")
    game.end_turn(0)
    game.roll(0, 1, 1).do(0, c.Build((3,)))
    assert (game.level(1), game.level(3)) == (1, 1)
    game = a_game(2).owning_group(0, "bakery", 1, 0, 0).counted("visit", "build", (0,)).at(0, 1)
    game.top_cards("market", "contract_lost").turn_of(0).roll(0, 2, 4)
    assert game.position(0) == 4
    game.do(0, c.Build((4,)))
    assert game.level(4) == 1


@pytest.mark.parametrize(
    ("card", "dice", "expected"),
    [
        ("contract_lost", (1, 2), [(0, BANK, 100, "tax")]),
        ("urgent_shipment", (1, 2), [(BANK, 0, 200, "salary"), (0, 1, 25, "rent")]),
        ("new_contracts", (1, 2), [(BANK, 0, 200, "salary")]),
    ],
)
def test_the_destination_applies_after_a_card(
    card: str, dice: tuple[int, int], expected: list[tuple[int, int, int, str]]
) -> None:
    """IND-MOVE-07: three steps back from 38 to the tax, on to another's logistics, to Start."""
    game = a_game(2).owning(1, "freight_station").at(0, 35).top_cards("market", card).turn_of(0).roll(0, *dice)
    assert (game.money(), game.decision) == (expected, ("manage", 0))


def test_the_destination_applies_after_a_trip() -> None:
    """IND-MOVE-07: a free business is offered, the tax service sends to inspection."""
    assert trip(39).decision == ("purchase", 0)
    game = trip(30)
    assert (game.position(0), game.jail_tries(0)) == (10, 0)


def test_stopping_on_inspection_is_harmless() -> None:
    """IND-MOVE-08: nothing is paid, and the next roll is an ordinary one."""
    game = a_game(2).at(0, 3).turn_of(0).roll(0, 3, 4)
    assert (game.position(0), game.jail_tries(0), game.money()) == (10, NONE, [])
    assert game.decision == ("manage", 0)
    game.turn_of(0)
    assert game.option_kinds() == {"roll"}


def test_the_forum_is_free() -> None:
    """IND-MOVE-09: nothing is paid and nothing received."""
    game = a_game(2).at(0, 13).turn_of(0).roll(0, 3, 4)
    assert (game.position(0), game.money(), game.decision) == (20, [], ("manage", 0))
