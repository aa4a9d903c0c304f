"""The course of a turn, and when property is managed (BRA-TURN)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import Jailed, TurnEnded, TurnStarted
from services.rules.domain.parties import BANK
from tests.rules.brands.games import (
    BRANDS,
    BRAWL,
    BUS,
    CASINO,
    FAST,
    GO_TO_JAIL,
    INCOME_TAX,
    M1,
    MODES,
    START,
    TEAMS,
    TURN_MS,
    brands,
    every_mode,
    third_die_modes,
)
from tests.support.scenario import Game

MANAGE = {"build", "redeem", "sell_buildings", "mortgage"}


def rich(edition: str) -> Game:
    """Seat 0 has something to build, to sell, to mortgage and to redeem."""
    game = brands(edition).owning_group(0, "supermarkets", 1, 1).owning(0, 5, 15).mortgaged(15)
    return game.with_cash(0, 20000)


def managing(game: Game) -> set[str]:
    return game.option_kinds() & MANAGE


@every_mode
def test_a_turn_is_a_throw_a_move_and_a_landing(edition: str) -> None:
    """BRA-TURN-01: two dice, clockwise by their sum, the cell resolved; the turn ends by itself."""
    game = brands(edition).at(0, 3).turn_of(0).roll(0, 3, 4)
    assert game.position(0) == 10
    assert game.event_names() == [
        "DecisionClosed",
        "DiceRolled",
        "TokenMoved",
        "DeadlineLifted",
        "TurnEnded",
        "TurnStarted",
        "DeadlineSet",
        "DecisionOpened",
    ]
    assert game.decision == ("roll", 1)


@every_mode
def test_no_action_ends_a_turn(edition: str) -> None:
    """BRA-TURN-01: there is no "end turn"."""
    game = brands(edition).turn_of(0)
    game.refused(0, c.EndTurn(), "wrong_decision", "BRA-TURN-01")
    assert "end_turn" not in game.option_kinds()


@every_mode
def test_managing_before_the_throw(edition: str) -> None:
    """BRA-TURN-02: building, redeeming, selling and mortgaging in `roll`, in jail too."""
    assert managing(rich(edition).turn_of(0)) == MANAGE
    assert managing(rich(edition).in_jail(0).turn_of(0)) == MANAGE


@every_mode
def test_managing_while_deciding_on_a_purchase(edition: str) -> None:
    """BRA-TURN-02: selling and mortgaging in `buy`, but neither building nor redeeming."""
    game = rich(edition).landing(0, 39)
    assert game.decision == ("purchase", 0)
    assert managing(game) == {"sell_buildings", "mortgage"}
    game.refused(0, c.Build((1,)), "wrong_decision", "BRA-BUY-01")
    game.refused(0, c.Redeem(15), "wrong_decision", "BRA-BUY-01")
    game.do(0, c.Mortgage(5)).do(0, c.SellBuildings((1,), 0))
    assert game.decision == ("purchase", 0)


@third_die_modes
def test_managing_in_choices_of_the_third_die(edition: str) -> None:
    """BRA-TURN-02: selling and mortgaging in `bus` and `teleport`."""
    for roll, kind in (((1, 2, BUS), "bus_choice"), ((2, 2, 2), "teleport_choice")):
        game = rich(edition).in_round(8).turn_of(0).roll(0, roll[0], roll[1], third=roll[2])
        assert game.decision == (kind, 0)
        assert managing(game) == {"sell_buildings", "mortgage"}
        game.do(0, c.Mortgage(5)).refused(0, c.Build((1,)), "wrong_decision", "BRA-DICE-17")
        assert game.decision == (kind, 0)


@every_mode
def test_managing_while_paying(edition: str) -> None:
    """BRA-TURN-02: the debtor sells and mortgages in `pay` and in `debt`."""
    game = rich(edition).landing(0, INCOME_TAX)
    assert (game.decision, managing(game)) == (("payment", 0), {"sell_buildings", "mortgage"})
    game = rich(edition).with_cash(0, 1999).landing(0, INCOME_TAX)
    assert (game.decision, managing(game)) == (("payment", 0), {"sell_buildings", "mortgage"})
    game.do(0, c.Mortgage(5)).do(0, c.SellBuildings((3,), 0))
    assert game.decision == ("payment", 0)


@every_mode
def test_nobody_manages_in_other_phases(edition: str) -> None:
    """BRA-TURN-02: not while others act, in an auction, at the casino or over an offer."""
    game = rich(edition).turn_of(1)
    assert managing(game) == set()
    game.refused(0, c.Mortgage(5), "not_asked", "BRA-TURN-02")
    game.refused(0, c.Build((1,)), "not_asked", "BRA-TURN-02")
    game = rich(edition).landing(1, 39).do(1, c.Decline())
    while game.decision != ("auction_bid", 0):
        game.do(game.asked_seats[0], c.Pass())
    assert managing(game) == set()
    game.refused(0, c.Mortgage(5), "wrong_decision", "BRA-AUC-04")
    game = rich(edition).landing(0, CASINO)
    assert (game.decision, managing(game)) == (("casino_bet", 0), set())
    game.refused(0, c.SellBuildings((1,), 0), "wrong_decision", "BRA-MOVE-12")


def test_the_order_of_a_throw_with_jump_and_double() -> None:
    """BRA-TURN-03: double counted, move, salary, landing, M1 with its landing, then the new throw on a full clock."""
    game = brands(FAST).in_round(8).at(0, 38).turn_of(0).with_cash(0, 10000)
    game.roll(0, 2, 2, third=M1, after_ms=10_000)
    # Salary for passing Start; cell 2 is Chance, whose first card brings 500; M1 then leads to cell 3.
    assert game.money() == [(BANK, 0, 2000, "salary"), (BANK, 0, 500, "card")]
    assert (game.position(0), game.decision) == (3, ("purchase", 0))
    assert game.deadline == ("turn", 35_000)
    game.do(0, c.Buy(), after_ms=5000)
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 45_000))
    assert game.state.doubles == 1


@third_die_modes
def test_a_triple_comes_before_everything(edition: str) -> None:
    """BRA-TURN-03: step 1 is the triple, even where it would be the third double; then the turn ends."""
    game = brands(edition).in_round(8).at(0, 5).doubles(2).turn_of(0).roll(0, 3, 3, third=3)
    assert game.decision == ("teleport_choice", 0)
    game.do(0, c.ChooseCell(10))
    assert (game.position(0), game.decision) == (10, ("roll", 1))


@third_die_modes
def test_a_third_double_comes_before_the_bus_and_the_jump(edition: str) -> None:
    """BRA-TURN-03: step 2 sends to jail and ends the turn, whatever the third die shows."""
    for third in (1, BUS, M1):
        game = brands(edition).in_round(8).at(0, 5).doubles(2).turn_of(0).roll(0, 3, 3, third=third)
        assert game.events_of(Jailed) == [Jailed(0, "doubles")]
        assert (game.position(0), game.decision) == (10, ("roll", 1))


@third_die_modes
def test_the_bus_comes_before_the_move(edition: str) -> None:
    """BRA-TURN-03: step 3 asks, step 4 moves."""
    game = brands(edition).in_round(8).at(0, 5).turn_of(0).roll(0, 2, 3, third=BUS)
    assert (game.decision, game.position(0)) == (("bus_choice", 0), 5)
    game.do(0, c.ChooseMove("sum"))
    assert game.position(0) == 10


def test_salary_is_paid_before_the_landing() -> None:
    """BRA-TURN-03: step 4 comes before step 5."""
    game = brands().with_cash(0, 0).at(0, 39).turn_of(0).roll(0, 1, 4)
    assert game.money() == [(BANK, 0, 2000, "salary")]
    assert (game.position(0), game.decision) == (INCOME_TAX, ("payment", 0))
    assert game.do(0, c.Pay()).cash(0) == 0


@every_mode
def test_a_double_lost_by_the_landing(edition: str) -> None:
    """BRA-TURN-03: step 7 needs a player who is not in jail."""
    game = brands(edition).at(0, 28).turn_of(0).roll(0, 1, 1)
    assert game.events_of(Jailed) == [Jailed(0, "cell")]
    assert game.decision == ("roll", 1)


@every_mode
def test_lapses_belong_to_the_end_of_a_turn(edition: str) -> None:
    """BRA-TURN-03: step 8: mortgages run out and are auctioned, then the next active player begins."""
    seats = 4 if edition == TEAMS else 3
    game = brands(edition, seats).in_round(8).owning(0, 5).mortgaged(5, since=1)
    third = 1 if edition in (FAST, BRAWL) else 0
    game.at(0, 3 - third).turn_of(0).roll(0, 3, 4, third=third)
    assert game.events_of(TurnEnded) == []
    assert game.decision == ("auction_bid", 1)
    for seat in (*range(1, seats), 0):
        game.do(seat, c.Pass())
    assert game.events_of(TurnEnded) == [TurnEnded(0, "done")]
    assert game.events_of(TurnStarted) == [TurnStarted(1, 8, False)]


@pytest.mark.parametrize("edition", MODES)
def test_a_new_segment_has_a_full_clock(edition: str) -> None:
    """BRA-TURN-03: the throw for a double comes with a fresh turn clock."""
    game = brands(edition).at(0, GO_TO_JAIL - 22).turn_of(0).roll(0, 1, 1, after_ms=20_000)
    assert game.position(0) == 10
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[edition]))


def test_turns_skip_those_who_are_out() -> None:
    """BRA-TURN-03: step 8: the next active player in seat order."""
    game = brands(BRANDS, 4).out(1, 2).at(0, 3).turn_of(0).roll(0, 3, 4)
    assert game.decision == ("roll", 3)
    game.at(3, 3).roll(3, 3, 4)
    assert game.decision == ("roll", 0)
    assert game.position(0) != START
