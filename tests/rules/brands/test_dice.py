"""Doubles and the third die (BRA-DICE)."""

import pytest

from services.rules.domain import chance
from services.rules.domain import commands as c
from services.rules.domain.events import CardDrawn, DiceRolled, Jailed, MoveChosen, TokenMoved
from services.rules.domain.parties import BANK
from tests.rules.brands.games import (
    BRANDS,
    BRAWL,
    BUS,
    CASINO,
    FAST,
    JAIL,
    M1,
    OTHER_M1,
    START,
    TEAMS,
    brands,
    every_mode,
    pass_turn,
    third_die_modes,
)
from tests.support.scenario import Game


def late(edition: str = FAST, seats: int = 0) -> Game:
    """A game in round 8, with the third die."""
    return brands(edition, seats).in_round(8)


@every_mode
def test_a_double_gives_another_throw(edition: str) -> None:
    """BRA-DICE-01, BRA-DICE-04: after the landing is resolved."""
    game = brands(edition).at(0, 4).turn_of(0).roll(0, 1, 1)
    assert game.decision == ("purchase", 0)
    game.do(0, c.Buy())
    assert game.decision == ("roll", 0)
    game.at(0, JAIL - 3).roll(0, 1, 2)
    assert game.decision == ("roll", 1)


@every_mode
def test_an_auction_belongs_to_the_landing_of_a_double(edition: str) -> None:
    """BRA-DICE-04: the throw comes after the auction too."""
    game = brands(edition).at(0, 4).turn_of(0).roll(0, 1, 1).do(0, c.Decline())
    for seat in range(1, len(game.state.cash)):
        game.do(seat, c.Pass())
    assert game.decision == ("roll", 0)


@every_mode
def test_a_third_double_goes_to_jail(edition: str) -> None:
    """BRA-DICE-02, BRA-DICE-03: without moving first."""
    game = brands(edition).at(0, 8).turn_of(0).roll(0, 1, 1)
    game.at(0, 8).roll(0, 1, 1).at(0, 14).roll(0, 6, 6)
    assert game.events_of(TokenMoved) == []
    assert game.events_of(Jailed) == [Jailed(0, "doubles")]
    assert (game.position(0), game.jail_tries(0), game.decision) == (JAIL, 0, ("roll", 1))


@every_mode
def test_doubles_are_counted_anew_in_each_turn(edition: str) -> None:
    """BRA-DICE-03: from 0 at the start of a turn, and a throw made from jail is not counted."""
    game = brands(edition).doubles(1).at(0, JAIL - 3).turn_of(0).roll(0, 1, 2)
    assert (game.decision, game.state.doubles) == (("roll", 1), 0)
    game = brands(edition).in_jail(0).turn_of(0).at(0, JAIL).roll(0, 5, 5)
    assert (game.position(0), game.state.doubles) == (CASINO, 0)
    game.do(0, c.Decline())
    assert game.decision == ("roll", 1)


@third_die_modes
def test_doubles_are_those_of_the_white_dice(edition: str) -> None:
    """BRA-DICE-03: a white die equal to the third one makes no double."""
    game = late(edition).at(0, JAIL - 7).turn_of(0).roll(0, 2, 3, third=2)
    assert (game.position(0), game.decision) == (JAIL, ("roll", 1))
    game = late(edition).at(0, JAIL - 5).turn_of(0).roll(0, 2, 2, third=1)
    assert (game.position(0), game.decision, game.state.doubles) == (JAIL, ("roll", 0), 1)


@every_mode
def test_an_extra_throw_is_lost_in_jail(edition: str) -> None:
    """BRA-DICE-04: when the landing, or a card drawn there, sends the player to jail."""
    game = brands(edition).at(0, 26).turn_of(0).roll(0, 2, 2)
    assert (game.jail_tries(0), game.decision) == (0, ("roll", 1))
    game = brands(edition).top_cards("chance", "false_advertising").at(0, 3).turn_of(0).roll(0, 2, 2)
    assert (game.jail_tries(0), game.decision) == (0, ("roll", 1))


@pytest.mark.parametrize(("number", "thrown"), [(7, False), (8, True), (9, True)])
@third_die_modes
def test_the_third_die_comes_in_round_8(edition: str, number: int, thrown: bool) -> None:
    """BRA-DICE-05, BRA-DICE-06: round 8 is included."""
    game = brands(edition).in_round(number).at(0, JAIL - 4).turn_of(0)
    game.upcoming_draws(0, 1, 0).do(0, c.Roll())
    assert [event.third for event in game.events_of(DiceRolled)] == [int(thrown)]


@pytest.mark.parametrize("edition", [BRANDS, TEAMS])
def test_elsewhere_there_is_no_third_die(edition: str) -> None:
    """BRA-DICE-05: only in `brands-fast` and `brands-brawl`."""
    game = pass_turn(brands(edition).in_round(50).turn_of(0), 0)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", (1, 2), 0)]


@third_die_modes
def test_the_third_die_and_jail(edition: str) -> None:
    """BRA-DICE-06: with extra throws, never from jail, and with the throw of who has just paid."""
    game = late(edition).at(0, JAIL - 5).turn_of(0).roll(0, 2, 2, third=1)
    game.at(0, JAIL - 4).roll(0, 1, 2, third=1)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", (1, 2), 1)]
    game = late(edition).in_jail(0).turn_of(0).roll(0, 1, 2)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "jail", (1, 2), 0)]
    game = late(edition).in_jail(0).turn_of(0).do(0, c.PayFine()).roll(0, 1, 3, third=BUS)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", (1, 3), BUS)]


@third_die_modes
def test_faces_of_the_third_die(edition: str) -> None:
    """BRA-DICE-07: 1, 2, 3, BUS, M1, M1, each with chance 1/6."""
    moves = {1: [5], 2: [6], 3: [7], BUS: [], M1: [4, 5], OTHER_M1: [4, 5]}
    for face, cells in moves.items():
        game = late(edition).owning(0, *brands(edition).edition.board.deeds).owning(1, 5).turn_of(0)
        game.roll(0, 1, 3, third=face)
        if game.decision == ("payment", 0) and face in (M1, OTHER_M1):
            tax = game.events_of(TokenMoved)
            game.do(0, c.Pay())
            assert [event.to_cell for event in (*tax, *game.events_of(TokenMoved))] == cells
        else:
            assert [event.to_cell for event in game.events_of(TokenMoved)][:1] == cells
    game = late(edition).turn_of(0).upcoming_draws(0, 1, 6)
    with pytest.raises(chance.ChanceError, match="a draw out of 6"):
        game.do(0, c.Roll())


@pytest.mark.parametrize("third", [1, 2, 3])
@third_die_modes
def test_numbers_are_added_to_the_move(edition: str, third: int) -> None:
    """BRA-DICE-08: a 1, 2 or 3."""
    game = late(edition).at(0, JAIL - 9 - third).turn_of(0).roll(0, 4, 5, third=third)
    assert (game.position(0), game.decision) == (JAIL, ("roll", 1))


@pytest.mark.parametrize(
    ("option", "steps"),
    [("first", 2), ("second", 5), ("sum", 7)],
)
@third_die_modes
def test_the_bus(edition: str, option: str, steps: int) -> None:
    """BRA-DICE-09, BRA-DICE-10: by one white die, by the other, or by their sum."""
    game = late(edition).at(0, JAIL - steps).turn_of(0).roll(0, 2, 5, third=BUS)
    assert game.option_kinds() >= {"choose_move"}
    game.do(0, c.ChooseMove(option))  # type: ignore[arg-type]
    assert game.events_of(MoveChosen) == [MoveChosen(0, option)]  # type: ignore[arg-type]
    assert (game.position(0), game.decision) == (JAIL, ("roll", 1))


@pytest.mark.parametrize(("option", "steps"), [("first", 4), ("second", 4), ("sum", 8)])
def test_the_bus_with_a_double(option: str, steps: int) -> None:
    """BRA-DICE-10: all three options with equal dice, and the double still gives its throw."""
    game = late().at(0, JAIL - steps).turn_of(0).roll(0, 4, 4, third=BUS)
    assert game.decision == ("bus_choice", 0)
    game.do(0, c.ChooseMove(option))  # type: ignore[arg-type]
    assert (game.position(0), game.decision) == (JAIL, ("roll", 0))


def test_time_of_the_bus_runs_out() -> None:
    """BRA-DICE-09: it is the sum."""
    game = late().at(0, JAIL - 7).turn_of(0).roll(0, 2, 5, third=BUS).expire()
    assert game.events_of(MoveChosen) == [MoveChosen(0, "sum")]
    assert game.position(0) == JAIL


@pytest.mark.parametrize("face", [M1, OTHER_M1])
@third_die_modes
def test_m1_goes_on_to_the_nearest_unowned_property(edition: str, face: int) -> None:
    """BRA-DICE-11, BRA-DICE-14: by the white sum as usual, its landing resolved, then on."""
    game = late(edition).owning(1, 11).owning(0, 12).at(0, JAIL - 5).turn_of(0).roll(0, 2, 3, third=face)
    assert game.events_of(TokenMoved) == [
        TokenMoved(0, JAIL - 5, JAIL, "dice", False),
        TokenMoved(0, JAIL, 13, "jump", False),
    ]
    assert game.decision == ("purchase", 0)


def test_m1_starts_from_where_the_landing_ended() -> None:
    """BRA-DICE-12, BRA-DICE-14: clockwise from the cell on which the token stands then; an unowned property that was
    not bought is left out."""
    game = late().at(0, 3).turn_of(0).roll(0, 1, 2, third=M1).do(0, c.Decline())
    for seat in (1, 2):
        game.do(seat, c.Pass())
    assert (game.position(0), game.decision) == (8, ("purchase", 0))
    game = late().top_cards("chance", "tech_talk").owning(1, 39, 1).at(0, 4).turn_of(0).roll(0, 1, 2, third=M1)
    assert (game.position(0), game.decision) == (39, ("payment", 0))
    game.do(0, c.Pay())
    assert (game.position(0), game.decision) == (3, ("purchase", 0))
    assert (BANK, 0, 2000, "salary") in game.money()


def test_m1_may_lead_round_the_whole_board() -> None:
    """BRA-DICE-12: the cell itself is left out, so the only unowned property that is stood on is no target."""
    deeds = brands(FAST).edition.board.deeds
    game = late().owning(1, *deeds).owning(BANK, 6).at(0, 3).turn_of(0).roll(0, 1, 2, third=M1).do(0, c.Decline())
    game.do(1, c.Pass()).do(2, c.Pass())
    assert (game.position(0), game.decision) == (8, ("payment", 0))


@third_die_modes
def test_without_unowned_property_m1_leads_to_an_opponents(edition: str) -> None:
    """BRA-DICE-11, BRA-DICE-13: the nearest one, also mortgaged or of an owner in jail."""
    deeds = brands(edition).edition.board.deeds
    game = late(edition).owning(0, *deeds).owning(1, 13, 14).at(0, JAIL - 5).turn_of(0).roll(0, 2, 3, third=M1)
    assert (game.position(0), game.decision) == (13, ("payment", 0))
    game = late(edition).owning(0, *deeds).owning(1, 13, 14).mortgaged(13).at(0, JAIL - 5).turn_of(0)
    game.roll(0, 2, 3, third=M1)
    assert (game.position(0), game.decision) == (13, ("roll", 1))
    game = late(edition).owning(0, *deeds).owning(1, 13).in_jail(1).at(0, JAIL - 5).turn_of(0)
    game.roll(0, 2, 3, third=M1)
    assert (game.position(0), game.money(), game.decision) == (13, [], ("roll", 1))


@third_die_modes
def test_m1_without_any_target_does_nothing(edition: str) -> None:
    """BRA-DICE-13: every property is the player's own."""
    deeds = brands(edition).edition.board.deeds
    game = late(edition).owning(0, *deeds).at(0, JAIL - 5).turn_of(0).roll(0, 2, 3, third=M1)
    assert (game.position(0), game.decision) == (JAIL, ("roll", 1))


def test_m1_passes_over_an_allys_property() -> None:
    """BRA-DICE-13: at a custom table of two teams with the third die."""
    game = brands(TEAMS, overrides={"third_die_from_round": 8}).in_round(8)
    game.owning(0, *game.edition.board.deeds).owning(2, 11).owning(1, 14).at(0, JAIL - 5).turn_of(0)
    game.roll(0, 2, 3, third=M1)
    assert (game.position(0), game.decision) == (14, ("payment", 0))
    game = brands(TEAMS, overrides={"third_die_from_round": 8}).in_round(8)
    game.owning(2, *game.edition.board.deeds).at(0, JAIL - 5).turn_of(0).roll(0, 2, 3, third=M1)
    assert (game.position(0), game.decision) == (JAIL, ("roll", 1))


def test_m1_comes_before_the_extra_throw() -> None:
    """BRA-DICE-14: after the landing, before the throw of a double."""
    game = late().at(0, JAIL - 4).turn_of(0).roll(0, 2, 2, third=M1)
    assert (game.position(0), game.decision) == (11, ("purchase", 0))
    game.do(0, c.Buy())
    assert game.decision == ("roll", 0)


def test_m1_is_dropped_in_jail_and_out_of_the_game() -> None:
    """BRA-DICE-14: sent to jail, or out."""
    game = late().at(0, 25).turn_of(0).roll(0, 2, 3, third=M1)
    assert (game.position(0), game.decision) == (JAIL, ("roll", 1))
    game = late().owning(1, 39).building(39, 0).with_cash(0, 100).at(0, 34).turn_of(0).roll(0, 2, 3, third=M1)
    assert game.state.in_play == [False, True, True]
    assert (game.decision, game.events_of(TokenMoved)) == (("roll", 1), [TokenMoved(0, 34, 39, "dice", False)])


def test_a_lapse_is_no_target_of_m1() -> None:
    """BRA-DICE-13, BRA-MORT-08: M1 without a target is over before the lapse frees a property."""
    game = late()
    game.owning(0, *game.edition.board.deeds).mortgaged(39, since=1).at(0, JAIL - 5).turn_of(0)
    game.roll(0, 2, 3, third=M1)
    for seat in (1, 2, 0):
        game.do(seat, c.Pass())
    assert (game.owner(39), game.position(0), game.decision) == (BANK, JAIL, ("roll", 1))


@pytest.mark.parametrize("number", [1, 2, 3])
@third_die_modes
def test_a_triple_lets_the_player_choose_any_cell(edition: str, number: int) -> None:
    """BRA-DICE-15, BRA-DICE-16: no double, no extra throw, nothing counted."""
    game = late(edition).at(0, 5).turn_of(0).roll(0, number, number, third=number)
    assert (game.decision, game.state.doubles) == (("teleport_choice", 0), 0)
    game.do(0, c.ChooseCell(JAIL))
    assert game.events_of(TokenMoved) == [TokenMoved(0, 5, JAIL, "teleport", False)]
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize("number", [4, 5, 6])
def test_only_numbers_make_a_triple(number: int) -> None:
    """BRA-DICE-15: 1-1-1, 2-2-2 and 3-3-3 only; the other faces have no number."""
    game = late().at(0, JAIL - 2 * number if number < 6 else 38).turn_of(0).roll(0, number, number, third=number)
    assert game.decision != ("teleport_choice", 0)
    assert game.state.doubles == 1


@third_die_modes
def test_a_triple_leads_to_any_other_cell(edition: str) -> None:
    """BRA-DICE-17: any of the 39 others, resolved like any landing."""
    game = late(edition).at(0, 5).turn_of(0).roll(0, 2, 2, third=2)
    game.refused(0, c.ChooseCell(5), "bad_choice", "BRA-DICE-17")
    game.refused(0, c.ChooseCell(40), "unknown_cell", "BRA-DICE-17")
    game.refused(0, c.ChooseCell(-1), "unknown_cell", "BRA-DICE-17")
    for cell in range(40):
        if cell != 5:
            game = late(edition).at(0, 5).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(cell))
            assert game.events_of(TokenMoved)[0].to_cell == cell
    game = late(edition).at(0, 5).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(30))
    assert game.jail_tries(0) == 0
    game = late(edition).at(0, 5).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(39))
    assert game.decision == ("purchase", 0)
    game = late(edition).at(0, 5).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(36))
    assert len(game.events_of(CardDrawn)) == 1


@third_die_modes
def test_a_triple_passes_nothing(edition: str) -> None:
    """BRA-DICE-17: salary and bonus only when Start itself is the target."""
    game = late(edition).at(0, 35).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(JAIL))
    assert game.money() == []
    game = late(edition).at(0, 35).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(START))
    assert game.money() == [(BANK, 0, 2000, "salary"), (BANK, 0, 1000, "landing_bonus")]
    assert game.decision == ("roll", 1)


def test_a_triple_forgets_the_doubles_before_it() -> None:
    """BRA-DICE-16: the turn ends after its landing, whatever was rolled before."""
    game = late(BRAWL).doubles(1).at(0, 5).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(CASINO))
    game.do(0, c.Decline())
    assert game.decision == ("roll", 1)
