"""A turn, step by step, and the dice (MET-TURN, MET-DICE-01 to -04)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import DiceRolled, Jailed, TokenMoved, TurnEnded, TurnStarted
from services.rules.domain.parties import BANK
from tests.rules.metro.games import METRO, SPEED, X, both, drawing, metro, offer
from tests.support.scenario import Game

MANAGE = {"build", "sell_buildings", "mortgage", "redeem"}


def a_manager(edition: str = METRO, seats: int = 3) -> Game:
    """Seat 0 has something to build (blue), sell (brown), mortgage (5) and redeem (15)."""
    game = metro(seats, edition).owning_group(0, "blue").owning_group(0, "brown", 1, 1)
    return game.owning(0, 5, 15).mortgaged(15)


def manage_options(game: Game) -> set[str]:
    """Which of build, sell, mortgage and redeem are legal now."""
    return MANAGE & game.option_kinds()


@both
def test_a_turn_throws_moves_and_resolves_the_cell(edition: str) -> None:
    """MET-TURN-01, MET-DICE-01: two dice, their sum in cells, then what the cell demands."""
    game = metro(2, edition).turn_of(0).roll(0, 3, 5)
    assert game.event_names()[:3] == ["DecisionClosed", "DiceRolled", "TokenMoved"]
    assert (game.position(0), game.decision) == (8, ("purchase", 0))
    game.do(0, c.Buy())
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize("dice", [(1, 2), (6, 5), (4, 2)])
def test_the_token_moves_by_the_sum(dice: tuple[int, int]) -> None:
    """MET-DICE-01: whatever the two dice show."""
    game = metro(2).at(0, 20).turn_of(0).roll(0, *dice)
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", dice, 0)]
    assert game.events_of(TokenMoved) == [TokenMoved(0, 20, 20 + sum(dice), "dice", False)]


@both
def test_a_turn_ends_by_itself(edition: str) -> None:
    """MET-TURN-02: nothing is left to do after the landing, and no command ends a turn."""
    game = metro(2, edition).at(0, 13).turn_of(0)
    game.refused(0, c.EndTurn(), "wrong_decision", "MET-TURN-01")
    game.roll(0, 3, 4)
    assert game.events_of(TurnEnded) == [TurnEnded(0, "done")]
    assert game.events_of(TurnStarted) == [TurnStarted(1, 1, False)]
    assert game.decision == ("roll", 1)


@both
def test_managing_before_the_throw(edition: str) -> None:
    """MET-TURN-03, MET-TURN-04: build, sell, mortgage and redeem in one's own `roll`; the decision stays open."""
    game = a_manager(edition).turn_of(0)
    decision = game.state.decision
    assert manage_options(game) == MANAGE
    game.do(0, c.Build((37,))).do(0, c.SellBuildings((1,), 0)).do(0, c.Mortgage(5)).do(0, c.Redeem(15))
    assert game.state.decision == decision
    assert (game.level(37), game.level(1)) == (1, 0)
    assert (game.state.mortgaged_rounds[5], game.state.mortgaged_rounds[15]) == (1, 0)


def test_managing_after_the_throw() -> None:
    """MET-TURN-04: in the purchase, the bus, the teleport, and the roll of an extra throw."""
    game = a_manager().turn_of(0).roll(0, 3, 3)
    assert (game.decision, manage_options(game)) == (("purchase", 0), MANAGE)
    game.do(0, c.Buy())
    assert (game.decision, manage_options(game)) == (("roll", 0), MANAGE)
    game = a_manager(SPEED).in_round(7).turn_of(0).roll(0, 1, 2, third=4)
    assert (game.decision, manage_options(game)) == (("bus_choice", 0), MANAGE)
    game = a_manager(SPEED).in_round(7).turn_of(0).roll(0, 2, 2, third=2)
    assert (game.decision, manage_options(game)) == (("teleport_choice", 0), MANAGE)


def test_no_managing_while_somebody_else_must_act() -> None:
    """MET-TURN-04: not in an auction, an offer, or another player's payment."""
    game = a_manager().turn_of(0).roll(0, 6, 2).do(0, c.Decline())
    assert game.decision == ("auction_bid", 1)
    assert not manage_options(game)
    game.refused(0, c.Mortgage(5), "not_asked", "MET-TURN-04")
    game.do(1, c.Pass()).do(2, c.Pass())
    assert (game.decision, manage_options(game)) == (("auction_bid", 0), set())
    game.refused(0, c.Mortgage(5), "wrong_decision", "MET-AUC-04")
    game = a_manager().turn_of(0).do(0, offer(1, 2000, cash=2000))
    assert (game.decision, manage_options(game)) == (("trade_answer", 1), set())
    game = a_manager().top_cards("chance", "yard_concert").turn_of(0).roll(0, 3, 4)
    assert (game.decision, manage_options(game)) == (("payment", 1), set())
    game.refused(0, c.Build((37,)), "not_asked", "MET-TURN-04")


@both
def test_only_selling_and_mortgaging_in_the_own_payment(edition: str) -> None:
    """MET-TURN-04, MET-MORT-05, MET-BUILD-07: no building and no redeeming."""
    game = a_manager(edition).at(0, 1).turn_of(0).roll(0, 1, 2)
    assert (game.decision, manage_options(game)) == (("payment", 0), {"sell_buildings", "mortgage"})
    game.refused(0, c.Build((37,)), "wrong_decision", "MET-DEBT-06")
    game.refused(0, c.Redeem(15), "wrong_decision", "MET-DEBT-06")
    game.do(0, c.Mortgage(5)).do(0, c.SellBuildings((1,), 0))


def test_nothing_is_managed_in_anothers_turn() -> None:
    """MET-TURN-03: only in one's own turn."""
    game = a_manager().turn_of(1)
    assert not manage_options(game)
    game.refused(0, c.Mortgage(5), "not_asked", "MET-TURN-04")


def test_the_salary_comes_before_the_landing_and_the_jump_after_it() -> None:
    """MET-TURN-05: steps 4 to 6: the token moves and is paid, the landing is resolved, then the X move."""
    game = metro(2, SPEED).in_round(7).owning(1, 1).at(0, 38).turn_of(0).roll(0, 1, 2, third=X)
    assert game.money() == [(BANK, 0, 2000, "salary")]
    assert (game.position(0), game.decision) == (1, ("payment", 0))
    game.do(0, c.Pay())
    assert game.money() == [(0, 1, 20, "rent")]
    assert game.events_of(TokenMoved) == [TokenMoved(0, 1, 3, "jump", False)]
    assert game.decision == ("purchase", 0)


def test_an_x_move_comes_before_the_extra_throw() -> None:
    """MET-TURN-05, MET-DICE-13: step 6, then step 7."""
    game = metro(2, SPEED).in_round(7).at(0, 16).turn_of(0).roll(0, 2, 2, third=X)
    assert (game.position(0), game.decision) == (21, ("purchase", 0))
    game.do(0, c.Buy())
    assert game.decision == ("roll", 0)
    game.roll(0, 4, 5, third=1)
    assert game.position(0) == 31


def test_a_third_double_comes_before_bus_and_x() -> None:
    """MET-TURN-05: step 2 ends the turn before steps 3 and 6."""
    for third in (4, X):
        game = metro(2, SPEED).in_round(7).at(0, 16).turn_of(0).doubles(2).roll(0, 2, 2, third=third)
        assert game.events_of(Jailed) == [Jailed(0, "doubles")]
        assert game.decision == ("roll", 1)


def test_mortgages_run_out_when_the_turn_has_ended() -> None:
    """MET-TURN-05: step 8: before the next player begins."""
    game = metro(2, SPEED).in_round(11).owning(0, 5).mortgaged(5).at(0, 12).turn_of(0).roll(0, 3, 4, third=1)
    names = game.event_names()
    assert names.index("DeedMoved") < names.index("TurnEnded") < names.index("TurnStarted")


@both
def test_a_double_throws_again_after_the_landing(edition: str) -> None:
    """MET-DICE-02, MET-TURN-05: step 7: a new `roll` with a fresh clock once the landing is resolved."""
    game = metro(2, edition).turn_of(0).roll(0, 3, 3)
    assert game.decision == ("purchase", 0)
    game.do(0, c.Buy())
    assert game.decision == ("roll", 0)
    assert not game.events_of(TurnStarted)
    game.roll(0, 1, 3)
    assert game.position(0) == 10


@both
def test_the_third_double_in_a_row_jails_without_a_move(edition: str) -> None:
    """MET-DICE-03: straight to jail, and the token does not move for that throw."""
    game = metro(2, edition).turn_of(0).roll(0, 5, 5)
    assert (game.position(0), game.state.doubles) == (10, 1)
    game.roll(0, 5, 5)
    assert (game.position(0), game.state.doubles, game.decision) == (20, 2, ("roll", 0))
    game.roll(0, 4, 4)
    assert game.events_of(Jailed) == [Jailed(0, "doubles")]
    assert not game.events_of(TokenMoved)
    assert (game.position(0), game.jail_tries(0), game.decision) == (10, 0, ("roll", 1))


def test_doubles_are_counted_from_0_in_each_turn() -> None:
    """MET-DICE-04: two doubles and a plain throw are forgotten in the next turn."""
    game = metro(2).turn_of(0).roll(0, 5, 5).roll(0, 5, 5).at(0, 13).roll(0, 3, 4)
    assert (game.decision, game.state.doubles) == (("roll", 1), 0)
    game.roll(1, 5, 5)
    assert (game.state.doubles, game.decision) == (1, ("roll", 1))


def test_a_double_from_jail_is_not_counted() -> None:
    """MET-DICE-04, MET-JAIL-03: it frees, and gives no extra throw."""
    game = metro(2).in_jail(0).turn_of(0).roll(0, 5, 5)
    assert (game.position(0), game.state.doubles, game.decision) == (20, 0, ("roll", 1))


def test_white_dice_alone_make_a_double() -> None:
    """MET-DICE-04: whatever the third die shows."""
    game = metro(2, SPEED).in_round(7).at(0, 17).turn_of(0).roll(0, 1, 1, third=1)
    assert game.decision == ("teleport_choice", 0)
    game = metro(2, SPEED).in_round(7).at(0, 16).turn_of(0).roll(0, 1, 1, third=2)
    assert (game.position(0), game.state.doubles, game.decision) == (20, 1, ("roll", 0))
    game = metro(2, SPEED).in_round(7).at(0, 16).turn_of(0).roll(0, 1, 2, third=1)
    assert (game.position(0), game.state.doubles, game.decision) == (20, 0, ("roll", 1))


def test_a_card_is_part_of_the_landing() -> None:
    """MET-TURN-05: step 5: the card and whatever it leads to come before the extra throw."""
    game = drawing("ripe_deposit").at(0, 1).roll(0, 3, 3)
    assert game.money() == [(BANK, 0, 1500, "card")]
    assert game.decision == ("roll", 0)
