"""The tax inspection: how one gets in, and how one gets out."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import Jailed, JailTryFailed, PaymentDue, ReleaseCardMoved, Released, TokenMoved
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import Claim
from tests.support.scenario import Game, a_game


def jailed(tries: int = 0, seats: int = 2) -> Game:
    """Seat 0 is in inspection and begins its turn."""
    return a_game(seats).in_jail(0, tries).turn_of(0)


def test_the_tax_service_sends_to_inspection() -> None:
    """IND-JAIL-01, IND-JAIL-02: no salary, and the extra roll of a double is lost."""
    game = a_game().at(0, 26).turn_of(0).roll(0, 2, 2)
    assert (game.position(0), game.jail_tries(0), game.money()) == (10, 0, [])
    assert game.events_of(Jailed) == [Jailed(0, "cell")]
    game.end_turn(0)
    assert game.decision == ("roll", 1)


def test_a_card_sends_to_inspection() -> None:
    """IND-JAIL-01, IND-JAIL-02."""
    game = a_game().top_cards("market", "unscheduled_audit").at(0, 35).turn_of(0).roll(0, 1, 2)
    assert (game.position(0), game.jail_tries(0), game.money()) == (10, 0, [])
    assert game.events_of(Jailed) == [Jailed(0, "card")]


def test_the_third_double_sends_to_inspection() -> None:
    """IND-JAIL-01, IND-JAIL-02, IND-DICE-03: without a move, though it would have passed start."""
    game = a_game().at(0, 36).doubles(2).turn_of(0)
    game.state.doubles = 2
    game.roll(0, 3, 3)
    assert (game.position(0), game.jail_tries(0), game.money()) == (10, 0, [])
    assert game.events_of(TokenMoved) == []
    assert game.events_of(Jailed) == [Jailed(0, "doubles")]
    game.end_turn(0)
    assert game.decision == ("roll", 1)


def test_stopping_on_the_cell_is_a_visit() -> None:
    """IND-JAIL-03, IND-MOVE-08: the next turn is an ordinary one."""
    game = a_game().at(0, 4).turn_of(0).roll(0, 2, 4)
    assert (game.position(0), game.jail_tries(0)) == (10, NONE)
    game.end_turn(0).roll(1, 4, 6).end_turn(1)
    assert game.option_kinds() == {"roll"}
    game.refused(0, c.PayFine(), "not_in_jail", "IND-PHASE-02")
    game.refused(0, c.UseReleaseCard(), "not_in_jail", "IND-PHASE-02")


def test_paying_fifty_before_the_roll() -> None:
    """IND-JAIL-04, IND-JAIL-11, IND-JAIL-12: to the bank, free at once, and before the roll."""
    game = jailed(1)
    assert game.option("pay_fine").amount == 50
    game.do(0, c.PayFine())
    assert game.money() == [(0, BANK, 50, "fine")]
    assert game.events_of(Released) == [Released(0, "fine")]
    assert (game.jail_tries(0), game.position(0), game.decision) == (NONE, 10, ("roll", 0))
    assert game.option_kinds() == {"roll"}


def test_after_paying_one_moves_as_usual_and_a_double_rolls_again() -> None:
    """IND-JAIL-04, IND-DICE-02: a further roll after the end of the turn."""
    game = jailed().do(0, c.PayFine()).roll(0, 5, 5)
    assert game.position(0) == 20
    game.end_turn(0)
    assert game.decision == ("roll", 0)
    game = jailed().do(0, c.PayFine()).roll(0, 4, 6).end_turn(0)
    assert game.decision == ("roll", 1)


def test_using_a_release_card_before_the_roll() -> None:
    """IND-JAIL-04, IND-JAIL-12, IND-CARD-05: costs a card and no money."""
    game = a_game().holding_release_cards(0, "support").in_jail(0, 2).turn_of(0)
    assert game.option("use_release_card").deck == ""
    game.do(0, c.UseReleaseCard())
    assert game.money() == []
    assert game.events_of(ReleaseCardMoved) == [ReleaseCardMoved("support", 0, BANK)]
    assert game.events_of(Released) == [Released(0, "card")]
    assert (game.state.release_cards[0], game.jail_tries(0), game.decision) == ((), NONE, ("roll", 0))
    game.roll(0, 5, 5).end_turn(0)
    assert game.decision == ("roll", 0)


def test_without_a_release_card_none_can_be_used() -> None:
    """IND-JAIL-04, IND-PHASE-02."""
    game = jailed()
    assert game.option_kinds() == {"roll", "pay_fine"}
    game.refused(0, c.UseReleaseCard(), "no_release_card", "IND-JAIL-04")
    game.holding_release_cards(0, "market").refused(0, c.UseReleaseCard("market"), "bad_choice", "IND-JAIL-04")


def test_a_double_frees_without_an_extra_roll() -> None:
    """IND-JAIL-05, IND-DICE-06: moves by the sum, and the count of doubles stays at 0."""
    game = jailed().roll(0, 5, 5)
    assert game.events_of(Released) == [Released(0, "double")]
    assert (game.position(0), game.jail_tries(0), game.state.doubles, game.money()) == (20, NONE, 0, [])
    assert game.decision == ("manage", 0)
    game.end_turn(0)
    assert game.decision == ("roll", 1)


def test_a_double_frees_at_the_third_attempt_too() -> None:
    """IND-JAIL-05, IND-JAIL-06: the fee is for three failed attempts only."""
    game = jailed(2).roll(0, 5, 5)
    assert (game.position(0), game.money()) == (20, [])


@pytest.mark.parametrize("tries", [0, 1])
def test_the_first_two_failed_attempts_end_in_manage(tries: int) -> None:
    """IND-JAIL-08, IND-JAIL-10: the token stays, and neither paying nor a card is open any more."""
    game = a_game().holding_release_cards(0, "market").in_jail(0, tries).turn_of(0).roll(0, 4, 6)
    assert game.events_of(JailTryFailed) == [JailTryFailed(0, tries + 1)]
    assert (game.position(0), game.jail_tries(0), game.decision) == (10, tries + 1, ("manage", 0))
    assert game.money() == []
    game.refused(0, c.PayFine(), "wrong_decision", "IND-PHASE-05")
    game.refused(0, c.UseReleaseCard(), "wrong_decision", "IND-PHASE-05")
    game.refused(0, c.Roll(), "wrong_decision", "IND-PHASE-05")
    game.end_turn(0)
    assert game.decision == ("roll", 1)


def test_three_attempts_are_made_in_three_turns() -> None:
    """IND-JAIL-08, IND-JAIL-06: one in each; the third failing roll is the one he moves by."""
    game = jailed()
    for _ in range(2):
        game.roll(0, 4, 6).end_turn(0).roll(1, 4, 6).end_turn(1).at(1, 0)
    game.roll(0, 4, 6)
    assert game.money() == [(0, BANK, 50, "fine")]
    assert game.events_of(Released) == [Released(0, "forced_fine")]
    assert (game.position(0), game.jail_tries(0), game.cash(0)) == (20, NONE, 1450)
    names = game.event_names()
    assert names.index("MoneyMoved") < names.index("Released") < names.index("TokenMoved")
    game.end_turn(0)
    assert game.decision == ("roll", 1)


def test_the_forced_fee_takes_the_last_fifty() -> None:
    """IND-JAIL-06: 50 in cash is enough."""
    game = a_game().with_cash(0, 50).in_jail(0, 2).turn_of(0).roll(0, 4, 6)
    assert (game.cash(0), game.position(0)) == (0, 20)


def test_a_forced_fee_without_the_money_is_a_debt_and_the_token_waits() -> None:
    """IND-JAIL-06, IND-JAIL-09, IND-DEBT-03: first the fee, then the move by the same roll."""
    game = a_game().with_cash(0, 49).owning_group(0, "bakery", 1, 0, 0).in_jail(0, 2).turn_of(0).roll(0, 4, 6)
    assert game.decision == ("payment", 0)
    assert game.money() == []
    (due,) = game.events_of(PaymentDue)
    assert (due.claims, due.reason) == ((Claim(BANK, 50),), "fine")
    assert (game.position(0), game.jail_tries(0)) == (10, 3)
    game.do(0, c.SellBuildings((1,), 0))
    assert game.money() == [(BANK, 0, 25, "building_sale"), (0, BANK, 50, "fine")]
    assert (game.position(0), game.jail_tries(0), game.cash(0)) == (20, NONE, 24)
    assert game.decision == ("manage", 0)


def test_the_move_after_a_fee_in_debt_lands_as_usual() -> None:
    """IND-JAIL-09: by the same roll, with the rules of the cell."""
    game = a_game().with_cash(0, 40).owning_group(0, "bakery", 1, 0, 0).in_jail(0, 2).turn_of(0).roll(0, 3, 5)
    game.do(0, c.SellBuildings((1,), 0))
    assert game.position(0) == 18
    assert game.decision == ("purchase", 0)


def test_paying_needs_fifty_in_cash() -> None:
    """IND-JAIL-11: exactly 50 will do, and it never makes a debt."""
    game = a_game().with_cash(0, 50).in_jail(0).turn_of(0).do(0, c.PayFine())
    assert game.cash(0) == 0
    game = a_game().with_cash(0, 49).in_jail(0).turn_of(0)
    assert game.option_kinds() == {"roll"}
    game.refused(0, c.PayFine(), "not_enough_cash", "IND-JAIL-11", {"least": 50})


def test_a_new_stay_begins_without_attempts() -> None:
    """IND-JAIL-12: the attempts of the last stay are forgotten."""
    game = jailed(2).do(0, c.PayFine()).at(0, 26).roll(0, 1, 3)
    assert game.jail_tries(0) == 0


def test_the_count_of_doubles_is_zero_after_leaving() -> None:
    """IND-JAIL-12: three doubles in a row are needed anew."""
    game = jailed().do(0, c.PayFine())
    assert game.state.doubles == 0
    game.roll(0, 5, 5)
    assert game.state.doubles == 1


def test_rent_is_received_in_inspection() -> None:
    """IND-JAIL-07, IND-RENT-08."""
    game = a_game().owning(1, 3).in_jail(1).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(0, 1, 6, "rent")]


def test_who_is_in_inspection_plays_on_otherwise() -> None:
    """IND-JAIL-13, IND-AUC-16: bids, answers offers, proposes trades after his attempt, and pays."""
    game = a_game(3).owning(0, 5).in_jail(1).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).do(0, c.Pass())
    assert game.decision == ("auction_bid", 1)
    game.do(1, c.Bid(45)).do(2, c.Pass())
    assert game.owner(3) == 1
    offer = c.OfferTrade(1, Basket(cells=(5,)), Basket(200))
    game.do(0, offer).do(1, c.AcceptTrade()).end_turn(0).roll(1, 4, 6)
    game.do(1, c.OfferTrade(2, Basket(cells=(5,)), Basket(300))).do(2, c.AcceptTrade())
    assert (game.owner(5), game.cash(1)) == (2, 1500 - 45 - 200 + 300)


def test_a_player_in_inspection_pays_a_tender() -> None:
    """IND-JAIL-13: pays and receives like others."""
    game = a_game().top_cards("support", "tender_won").in_jail(1).at(0, 12).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(1, 0, 50, "card")]
