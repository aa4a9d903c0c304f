"""The state machine: what is legal in each phase, and what a refusal leaves."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.options import BuildingChoice
from services.rules.domain.parties import BANK
from services.rules.domain.state import State
from tests.support.scenario import Game, a_game


def with_all_to_do() -> Game:
    """Seat 0 has a whole industry with a branch, logistics, a release card; seat 1 has logistics."""
    game = a_game(3).owning_group(0, "bakery", 1, 0, 0).owning(0, 5).owning(1, 18)
    return game.holding_release_cards(0, "market")


def test_before_the_roll() -> None:
    """IND-PHASE-01: roll or collapse, which stays."""
    game = with_all_to_do().turn_of(0)
    assert game.option_kinds() == {"roll", "sell_buildings"}
    game.do(0, c.SellBuildings((1,), 0))
    assert game.decision == ("roll", 0)
    for action in (c.EndTurn(), c.Build((3,)), c.OpenAuction(5, 100), c.Buy(), c.Decline(), c.SellToBank(5)):
        game.refused(0, action, "wrong_decision", "IND-PHASE-01")


def test_in_inspection() -> None:
    """IND-PHASE-02: pay, use a card, roll, or collapse, which stays."""
    game = with_all_to_do().in_jail(0).turn_of(0)
    assert game.option_kinds() == {"roll", "pay_fine", "use_release_card", "sell_buildings"}
    game.do(0, c.SellBuildings((1,), 0))
    assert game.decision == ("roll", 0)
    assert game.jail_tries(0) == 0
    game.refused(0, c.EndTurn(), "wrong_decision", "IND-PHASE-02")
    game.refused(0, c.Build((3,)), "wrong_decision", "IND-PHASE-02")


def test_at_a_purchase() -> None:
    """IND-PHASE-03: buy, decline, or collapse, which comes back to the purchase."""
    game = with_all_to_do().at(0, 3).turn_of(0).roll(0, 1, 2)
    assert game.option_kinds() == {"buy", "decline", "sell_buildings"}
    game.do(0, c.SellBuildings((1,), 0))
    assert game.decision == ("purchase", 0)
    for action in (c.EndTurn(), c.Roll(), c.OpenAuction(5, 100), c.Build((3,))):
        game.refused(0, action, "wrong_decision", "IND-PHASE-03")
    game.do(0, c.Buy())
    assert game.decision == ("manage", 0)


def test_in_an_auction() -> None:
    """IND-PHASE-04: bid or pass."""
    game = with_all_to_do().at(0, 3).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    assert game.option_kinds() == {"bid", "pass"}
    for action in (c.EndTurn(), c.Roll(), c.SellBuildings((1,), 0), c.Buy()):
        game.refused(0, action, "wrong_decision", "IND-PHASE-04")


def test_in_manage() -> None:
    """IND-PHASE-05: build, collapse, trade, put up, end the turn."""
    game = with_all_to_do().at(0, 3).managing(0)
    assert game.option_kinds() == {"build", "sell_buildings", "offer_trade", "open_auction", "end_turn"}
    for action in (c.Roll(), c.Buy(), c.PayFine(), c.SellToBank(5), c.DeclareBankruptcy(), c.AcceptTrade()):
        game.refused(0, action, "wrong_decision", "IND-PHASE-05")
    game.do(0, c.Build((3,)))
    assert game.decision == ("manage", 0)
    game.do(0, c.SellBuildings((3,), 0))
    assert game.decision == ("manage", 0)


def test_own_auctions_wait_for_an_unused_trade() -> None:
    """IND-PHASE-05, IND-OWNAUC-04: neither is open when the trade of the turn is used."""
    game = with_all_to_do().managing(0).do(0, c.OfferTrade(1, Basket(10), Basket(0, (18,)))).do(1, c.RefuseTrade())
    assert game.option_kinds() == {"sell_buildings", "end_turn"}
    game.refused(0, c.OpenAuction(5, 100), "trade_limit_used", "IND-OWNAUC-04")


def test_an_offer_waits_for_its_answer() -> None:
    """IND-PHASE-06: accept or refuse."""
    game = with_all_to_do().managing(0).do(0, c.OfferTrade(1, Basket(10), Basket(0, (18,))))
    assert (game.decision, game.option_kinds()) == (("trade_answer", 1), {"accept_trade", "refuse_trade"})
    game.refused(1, c.AcceptTrade((18,)), "bad_choice", "IND-MORT-01")


def test_in_a_debt() -> None:
    """IND-PHASE-07: collapse, put up, direct sale, sale to the bank, give up."""
    game = with_all_to_do().with_cash(0, 0).owing(0, 1000).do(0, c.OpenAuction(5, 100)).do(1, c.Pass()).do(2, c.Pass())
    assert game.option_kinds() == {"sell_buildings", "offer_trade", "sell_to_bank", "declare_bankruptcy"}
    game.refused(0, c.EndTurn(), "wrong_decision", "IND-PHASE-07")


def test_after_a_debt_the_interrupted_step_goes_on() -> None:
    """IND-PHASE-07: here the move after the forced inspection fee, and MANAGE of the turn player."""
    game = a_game(2).with_cash(0, 0).owning(0, 5).in_jail(0, 2).turn_of(0).roll(0, 4, 6)
    game.do(0, c.OpenAuction(5, 100)).do(1, c.Bid(100))
    assert (game.position(0), game.cash(0), game.decision) == (20, 50, ("manage", 0))


def test_when_the_game_is_over_nothing_is_legal() -> None:
    """IND-PHASE-08, IND-WIN-04: for nobody, and for no service."""
    game = a_game(2).turn_of(0).withdraw(0)
    assert (game.decision, game.option_kinds()) == (None, set())
    for seat in (0, 1):
        for action in (c.Roll(), c.EndTurn(), c.Bid(10)):
            game.refused(seat, action, "game_over", "IND-PHASE-08")
    game.refused(-1, c.Expire(1), "game_over", "IND-PHASE-08")
    game.refused(-1, c.Withdraw(1), "game_over", "IND-PHASE-08")


def test_collapse_needs_an_own_level_that_is_the_highest() -> None:
    """IND-PHASE-09, IND-BUILD-15: at least 1, the actor's, one level, even."""
    game = a_game(2).owning_group(0, "bakery", 1, 2, 2).owning_group(1, "agro", 1, 0, 0).owning(0, 39).managing(0)
    assert game.option("sell_buildings").buildings == (BuildingChoice(3, 1, 25), BuildingChoice(4, 1, 25))
    game.refused(0, c.SellBuildings((1,), 0), "uneven", "IND-BUILD-15", {"cell": 1})
    game.refused(0, c.SellBuildings((6,), 0), "not_owner", "IND-PHASE-09", {"cell": 6})
    game.refused(0, c.SellBuildings((39,), 0), "nothing_built", "IND-PHASE-09", {"cell": 39})
    game.refused(0, c.SellBuildings((5,), 0), "unknown_cell", "IND-PHASE-09", {"cell": 5})
    game.refused(0, c.SellBuildings((40,), 0), "unknown_cell", "IND-PHASE-09", {"cell": 40})
    game.refused(0, c.SellBuildings((-1,), 0), "unknown_cell", "IND-PHASE-09", {"cell": -1})
    game.refused(0, c.SellBuildings((3,), 0), "bad_choice", "IND-BUILD-17", {"to_level": 1})
    game.refused(0, c.SellBuildings((3, 4), 1), "bad_choice", "IND-BUILD-17")
    game.do(0, c.SellBuildings((3,), 1))
    assert game.money() == [(BANK, 0, 25, "building_sale")]
    assert game.supply == (32 - 4 - 1, 12)


def test_collapse_of_a_holding_needs_four_branches() -> None:
    """IND-PHASE-09, IND-BUILD-16, IND-BUILD-17: pieces to and from the supply."""
    game = a_game(2).owning_group(0, "bakery", 5, 5, 5).branches_left(4, holder=1).managing(0)
    game.do(0, c.SellBuildings((1,), 4))
    assert (game.level(1), game.supply) == (4, (0, 10))
    game.refused(0, c.SellBuildings((3,), 4), "no_supply", "IND-BUILD-16", {"cell": 3, "least": 4})
    assert game.options("sell_buildings") == []


def test_collapse_of_a_branch_needs_none() -> None:
    """IND-PHASE-09, IND-BUILD-16: the fourth goes with an empty supply too."""
    game = a_game(2).owning_group(0, "bakery", 4, 4, 4).branches_left(0, holder=1).managing(0)
    assert [choice.cell for choice in game.option("sell_buildings").buildings] == [1, 3, 4]
    game.do(0, c.SellBuildings((1,), 3))
    assert (game.level(1), game.supply) == (3, (1, 12))


def test_an_action_for_another_decision_changes_nothing() -> None:
    """IND-PHASE-10: made for an older state, not the actor's, or not legal."""
    game = a_game(3).turn_of(0)
    current = game.state.decision
    assert current is not None
    game.refused(0, c.Roll(), "stale_decision", "IND-PHASE-10", {"decision_id": current.id}, decision_id=current.id - 1)
    game.refused(0, c.Roll(), "stale_decision", "IND-PHASE-10", {"decision_id": current.id}, decision_id=current.id + 1)
    game.refused(0, c.Roll(), "stale_decision", "IND-PHASE-10", decision_id=0)
    game.refused(1, c.Roll(), "not_asked", "IND-PHASE-10", {"seat": 0})
    game.refused(3, c.Roll(), "bad_choice", "IND-INV-12", {"seat": 3})
    game.refused(2, c.EndTurn(), "not_asked", "IND-PHASE-10")


def test_a_refused_action_draws_nothing() -> None:
    """IND-PHASE-10: no random draw, so that the next roll is the same."""
    game = a_game(3).upcoming_dice((3, 4)).turn_of(0)
    game.refused(1, c.Roll(), "not_asked", "IND-PHASE-10")
    game.refused(0, c.EndTurn(), "wrong_decision", "IND-PHASE-01")
    game.do(0, c.Roll())
    assert game.state.last_roll == (3, 4)


@pytest.mark.parametrize(
    "name",
    [
        "config", "decision", "turn_seat", "round", "doubles", "extra_owed", "last_roll", "trip_taken", "cash",
        "position", "in_play", "jail_tries", "release_cards", "owners", "levels", "supply_houses", "supply_hotels",
        "decks", "trip_memory", "agenda", "counters", "draws", "deadlines", "first_seat", "seq", "leaving",
    ],
)  # fmt: skip
def test_the_state_holds_all_that_is_needed_to_go_on(name: str) -> None:
    """IND-PHASE-12: two states that differ in any of this are different."""
    game = a_game(3)
    changed = game.state.copy()
    assert changed == game.state
    setattr(changed, name, object())
    assert changed != game.state
    assert name in State.__slots__
