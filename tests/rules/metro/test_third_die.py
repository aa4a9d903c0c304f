"""The third die of the speed mode (MET-DICE-05 to -19)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import DiceRolled, Jailed, MoveChosen, TokenMoved
from services.rules.domain.moves.turn import FACES
from services.rules.domain.parties import BANK
from tests.rules.metro.games import BUS, METRO, OTHER_X, SPEED, X, metro
from tests.support.scenario import Game


def fast(seats: int = 2, round_number: int = 7) -> Game:
    """A speed game in which the third die is thrown."""
    return metro(seats, SPEED).in_round(round_number)


def all_owned(game: Game, seat: int, *but: int) -> Game:
    """Every field of a seat, but some."""
    return game.owning(seat, *(cell for cell in game.edition.board.deeds if cell not in but))


@pytest.mark.parametrize(("round_number", "thrown"), [(6, False), (7, True), (8, True), (299, True)])
def test_the_third_die_comes_in_round_7(round_number: int, thrown: bool) -> None:
    """MET-DICE-05, MET-DICE-06: round 7 included."""
    game = fast(2, round_number).at(0, 17).turn_of(0).roll(0, 1, 2, third=3 * thrown)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", (1, 2), 3 * thrown)]
    assert game.position(0) == 20 + 3 * thrown


def test_metro_has_no_third_die() -> None:
    """MET-DICE-05: in no round."""
    game = metro(2, METRO).in_round(499).at(0, 17).turn_of(0).roll(0, 1, 2)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", (1, 2), 0)]


def test_a_player_in_jail_throws_two_dice() -> None:
    """MET-DICE-05, MET-DICE-06: only while in jail; after the bail the third die goes with the throw."""
    game = fast().in_jail(0).turn_of(0).roll(0, 5, 5)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "jail", (5, 5), 0)]
    game = fast().in_jail(0).turn_of(0).do(0, c.PayFine()).roll(0, 4, 5, third=1)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", (4, 5), 1)]
    assert game.position(0) == 20


def test_the_third_die_goes_with_extra_throws() -> None:
    """MET-DICE-06: every throw of a player who is not in jail."""
    game = fast().at(0, 15).turn_of(0).roll(0, 1, 1, third=3).roll(0, 1, 2, third=2)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", (1, 2), 2)]
    assert game.position(0) == 25


def test_the_six_faces() -> None:
    """MET-DICE-07: 1, 2, 3, BUS, X, X, each one of six."""
    assert FACES == 6
    for face, decision in ((1, ("purchase", 0)), (2, ("purchase", 0)), (3, ("roll", 1)), (BUS, ("bus_choice", 0))):
        assert fast().at(0, 4).turn_of(0).roll(0, 1, 2, third=face).decision == decision, face
    for face in (X, OTHER_X):
        game = fast().at(0, 17).turn_of(0).roll(0, 1, 2, third=face)
        assert [event.cause for event in game.events_of(TokenMoved)] == ["dice", "jump"]


@pytest.mark.parametrize(("third", "cell"), [(1, 21), (2, 22), (3, 23)])
def test_a_number_is_added_to_the_move(third: int, cell: int) -> None:
    """MET-DICE-08: 1 to 3 cells more."""
    game = fast().at(0, 10).turn_of(0).roll(0, 4, 6, third=third)
    assert game.events_of(TokenMoved)[0] == TokenMoved(0, 10, cell, "dice", False)


@pytest.mark.parametrize(("option", "cell"), [("sum", 17), ("first", 12), ("second", 15)])
def test_bus_moves_by_the_sum_or_by_one_die(option: str, cell: int) -> None:
    """MET-DICE-09, MET-DICE-10: three options, and nothing is added for the face."""
    game = fast().at(0, 10).turn_of(0).roll(0, 2, 5, third=BUS)
    assert not game.events_of(TokenMoved)
    assert game.decision == ("bus_choice", 0)
    game.do(0, c.ChooseMove(option))  # type: ignore[arg-type]  # one of the three
    assert game.events_of(MoveChosen) == [MoveChosen(0, option)]  # type: ignore[arg-type]
    assert game.events_of(TokenMoved)[0] == TokenMoved(0, 10, cell, "dice", False)


@pytest.mark.parametrize(("option", "cell"), [("sum", 18), ("first", 14), ("second", 14)])
def test_bus_with_equal_dice_still_throws_again(option: str, cell: int) -> None:
    """MET-DICE-10: all three options also then, and the double counts."""
    game = fast().at(0, 10).turn_of(0).roll(0, 4, 4, third=BUS)
    assert (game.decision, game.state.doubles) == (("bus_choice", 0), 1)
    game.do(0, c.ChooseMove(option)).do(0, c.Buy())  # type: ignore[arg-type]
    assert (game.position(0), game.decision) == (cell, ("roll", 0))


def test_four_fives_or_sixes_are_no_triple() -> None:
    """MET-DICE-17, MET-DICE-07: the faces BUS and X have no number, whatever the white dice show."""
    assert fast().at(0, 10).turn_of(0).roll(0, 4, 4, third=BUS).decision == ("bus_choice", 0)
    for face in (X, OTHER_X):
        game = fast().at(0, 10).turn_of(0).roll(0, face, face, third=face)
        assert game.events_of(TokenMoved)[0].to_cell == 10 + 2 * face
        assert game.state.doubles == 1


def test_x_moves_on_to_the_nearest_unowned_field() -> None:
    """MET-DICE-11, MET-DICE-12, MET-DICE-14: after the landing; never to Chance, tax or a corner."""
    game = fast().owning(1, 21, 23).at(0, 17).turn_of(0).roll(0, 1, 2, third=X)
    assert game.events_of(TokenMoved) == [TokenMoved(0, 17, 20, "dice", False), TokenMoved(0, 20, 24, "jump", False)]
    assert game.decision == ("purchase", 0)
    game.do(0, c.Buy())
    assert (game.owner(24), game.decision) == (0, ("roll", 1))


def test_x_waits_for_the_landing() -> None:
    """MET-DICE-13: the landing of that very throw is fully resolved first."""
    game = fast().at(0, 10).turn_of(0).roll(0, 1, 2, third=X)
    assert (game.position(0), game.decision) == (13, ("purchase", 0))
    game.do(0, c.Decline())
    game.do(1, c.Pass())
    assert game.decision == ("auction_bid", 0)
    game.do(0, c.Pass())
    # 13 itself is left out though it is unowned; the next one is 14
    assert (game.position(0), game.decision) == (14, ("purchase", 0))
    game.do(0, c.Buy())
    assert game.decision == ("roll", 1)


def test_x_passing_start_pays() -> None:
    """MET-DICE-14: clockwise, and 2000 on the way."""
    game = all_owned(fast(), 0, 1).at(0, 17).turn_of(0).roll(0, 1, 2, third=X)
    assert game.events_of(TokenMoved) == [TokenMoved(0, 17, 20, "dice", False), TokenMoved(0, 20, 1, "jump", True)]
    assert game.money() == [(BANK, 0, 2000, "salary")]
    assert game.decision == ("purchase", 0)


def test_without_an_unowned_field_x_goes_to_an_opponents() -> None:
    """MET-DICE-11, MET-DICE-15: the nearest one, where rent is due."""
    game = all_owned(fast(), 0).owning(1, 26, 29).at(0, 17).turn_of(0).roll(0, 1, 2, third=X)
    assert (game.position(0), game.decision) == (26, ("payment", 0))
    game.do(0, c.Pay())
    assert game.money() == [(0, 1, 220, "rent")]


def test_x_also_goes_to_a_mortgaged_field() -> None:
    """MET-DICE-15: nothing is owed there."""
    game = all_owned(fast(), 0).owning(1, 26, 29).mortgaged(26).at(0, 17).turn_of(0).roll(0, 1, 2, third=X)
    assert (game.position(0), game.money(), game.decision) == (26, [], ("roll", 1))


def test_x_with_no_such_field_does_nothing() -> None:
    """MET-DICE-15: all fields are one's own, or the only other one is where the token stands."""
    game = all_owned(fast(), 0).at(0, 17).turn_of(0).roll(0, 1, 2, third=X)
    assert (game.position(0), game.decision) == (20, ("roll", 1))
    game = all_owned(fast(), 0).owning(1, 13).mortgaged(13).at(0, 10).turn_of(0).roll(0, 1, 2, third=X)
    assert (game.position(0), game.decision) == (13, ("roll", 1))


def test_x_is_dropped_in_jail_and_with_the_player() -> None:
    """MET-DICE-16: sent to jail, or gone, during the landing."""
    game = fast().at(0, 27).turn_of(0).roll(0, 1, 2, third=X)
    assert game.events_of(Jailed) == [Jailed(0, "cell")]
    assert (game.position(0), game.decision) == (10, ("roll", 1))
    game = fast(3).owning(1, 13).with_cash(0, 10).at(0, 10).turn_of(0).roll(0, 1, 2, third=X)
    game.do(0, c.DeclareBankruptcy())
    assert not game.events_of(TokenMoved)
    assert game.decision == ("roll", 1)


def test_only_one_x_move_is_pending() -> None:
    """MET-DICE-13: the landing of the jump makes no further one."""
    game = fast().owning(1, 21).at(0, 17).turn_of(0).roll(0, 1, 2, third=OTHER_X)
    game.do(0, c.Buy())
    assert (game.position(0), game.decision) == (23, ("roll", 1))


@pytest.mark.parametrize("face", [1, 2, 3])
def test_a_triple_teleports_and_throws_again(face: int) -> None:
    """MET-DICE-17: to any cell, then another throw; it is no double."""
    game = fast().at(0, 17).turn_of(0).doubles(2).roll(0, face, face, third=face)
    assert (game.decision, game.state.doubles) == (("teleport_choice", 0), 0)
    assert not game.events_of(Jailed)
    game.do(0, c.ChooseCell(20))
    assert game.events_of(TokenMoved) == [TokenMoved(0, 17, 20, "teleport", False)]
    assert game.decision == ("roll", 0)
    game.roll(0, 4, 6, third=2)
    assert game.position(0) == 32


def test_a_triple_sets_the_count_of_doubles_back() -> None:
    """MET-DICE-18: two doubles, a triple, two doubles: still no jail."""
    game = fast().at(0, 16).turn_of(0).roll(0, 1, 1, third=2).at(0, 16).roll(0, 1, 1, third=2)
    assert game.state.doubles == 2
    game.roll(0, 3, 3, third=3).do(0, c.ChooseCell(16)).do(0, c.Buy())
    game.roll(0, 1, 1, third=2).at(0, 16).roll(0, 1, 1, third=2)
    assert (game.state.doubles, game.jail_tries(0), game.decision) == (2, -1, ("roll", 0))


def test_the_target_is_any_other_cell() -> None:
    """MET-DICE-19: 39 cells, but not the present one and none beyond the board."""
    game = fast().at(0, 17).turn_of(0).roll(0, 2, 2, third=2)
    game.refused(0, c.ChooseCell(17), "bad_choice", "MET-DICE-19")
    game.refused(0, c.ChooseCell(40), "unknown_cell", "MET-DICE-19")
    game.refused(0, c.ChooseCell(-1), "unknown_cell", "MET-DICE-19")
    for cell in range(40):
        if cell != 17:
            other = fast().at(0, 17).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(cell))
            assert other.events_of(TokenMoved)[0] == TokenMoved(0, 17, cell, "teleport", False)


def test_a_teleport_is_resolved_like_any_landing() -> None:
    """MET-DICE-19: purchase, rent, tax, and Go to Jail, where the extra throw is lost."""
    game = fast().at(0, 17).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(39))
    assert game.decision == ("purchase", 0)
    game.do(0, c.Buy())
    assert game.decision == ("roll", 0)
    game = fast().at(0, 17).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(38))
    assert game.decision == ("payment", 0)
    game = fast().at(0, 17).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(30))
    assert (game.position(0), game.jail_tries(0), game.decision) == (10, 0, ("roll", 1))


def test_a_teleport_pays_only_on_start_itself() -> None:
    """MET-DICE-19: it passes nothing."""
    game = fast().at(0, 37).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(10))
    assert game.money() == []
    game = fast().at(0, 37).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(0))
    assert game.money() == [(BANK, 0, 2000, "salary")]
