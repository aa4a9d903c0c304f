"""The excise duty (IND-TAX)."""

from services.rules.domain import commands as c
from services.rules.domain.events import PaymentDue
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.support.scenario import a_game


def test_excise_duty_is_100() -> None:
    """IND-TAX-01: to the bank, by whoever stops on it, and not by who passes."""
    game = a_game(2).with_cash(0, 100).at(0, 32).turn_of(0).roll(0, 1, 2)
    assert (game.money(), game.cash(0), game.decision) == ([(0, BANK, 100, "tax")], 0, ("manage", 0))
    game = a_game(2).at(0, 32).turn_of(0).roll(0, 1, 3)
    assert game.money() == []


def test_excise_duty_can_be_a_debt() -> None:
    """IND-TAX-02: with 99 the whole 100 is owed to the bank, and is paid when the cash reaches it."""
    game = a_game(2).owning_group(0, "bakery", 1, 1, 1).with_cash(0, 75).landing(0, "excise_duty")
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(BANK, 100),), "tax", 35)]
    assert (game.cash(0), game.decision) == (75, ("payment", 0))
    game.do(0, c.SellBuildings((1,), 0))
    assert (game.cash(0), game.decision) == (0, ("manage", 0))
    game = a_game(2).with_cash(0, 99).landing(0, "excise_duty")
    assert (game.cash(0), game.decision) == (99, ("payment", 0))
