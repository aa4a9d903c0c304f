"""Buying a free business (IND-BUY)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import DeedMoved
from services.rules.domain.evolve import evolve
from services.rules.domain.parties import BANK
from services.rules.domain.state import RollFrame
from tests.support.scenario import a_game


@pytest.mark.parametrize(("cell", "price"), [("bread_stall", 60), ("freight_station", 200), ("power_grid", 150)])
def test_a_free_business_is_bought_or_declined(cell: str, price: int) -> None:
    """IND-BUY-01: the one who stopped on it pays its price and owns it, or declines."""
    game = a_game(2).landing(0, cell)
    assert (game.decision, game.option_kinds()) == (("purchase", 0), {"buy", "decline"})
    assert game.option("buy").amount == price
    game.do(0, c.Buy())
    assert (game.owner(cell), game.cash(0), game.decision) == (0, 1500 - price, ("manage", 0))
    assert game.events_of(DeedMoved) == [DeedMoved(game.cell(cell), BANK, 0, "purchase")]
    game = a_game(2).landing(0, cell).do(0, c.Decline())
    assert (game.owner(cell), game.decision) == (BANK, ("auction_bid", 0))


def test_the_price_is_paid_at_once_from_cash() -> None:
    """IND-BUY-02: cash equal to the price is enough, one less is not."""
    game = a_game(2).with_cash(0, 200).landing(0, "freight_station").do(0, c.Buy())
    assert (game.money(), game.cash(0)) == ([(0, BANK, 200, "purchase")], 0)
    game = a_game(2).with_cash(0, 199).landing(0, "freight_station")
    assert game.options("buy") == []
    game.refused(0, c.Buy(), "not_enough_cash", "IND-BUY-02", {"least": 200})


def test_nothing_is_declined_for_a_player_without_money() -> None:
    """IND-BUY-03: he is asked, and may only decline."""
    game = a_game(2).with_cash(0, 0).at(0, 2).turn_of(0).roll(0, 1, 2)
    assert (game.decision, game.option_kinds()) == (("purchase", 0), {"decline"})
    game.do(0, c.Decline())
    assert game.decision == ("auction_bid", 1)


def test_while_the_purchase_is_open_only_collapsing_is_legal_beside_it() -> None:
    """IND-BUY-04: trade, own auction and building wait; collapsing may bring the price."""
    game = a_game(2).owning_group(0, "it", 1, 1, 1).owning(0, "river_port").owning(1, "power_grid").with_cash(0, 100)
    game.landing(0, "freight_station")
    assert game.option_kinds() == {"decline", "sell_buildings"}
    game.refused(0, c.Build((36,)), "wrong_decision", "IND-PHASE-03")
    game.refused(0, c.OpenAuction(18, 100), "wrong_decision", "IND-PHASE-03")
    game.refused(0, c.OfferTrade(1, Basket(1), Basket(0, (12,))), "wrong_decision", "IND-PHASE-03")
    game.refused(0, c.Roll(), "wrong_decision", "IND-PHASE-03")
    game.do(0, c.SellBuildings((39,), 0))
    assert (game.cash(0), game.decision) == (200, ("purchase", 0))
    game.do(0, c.Buy())
    assert (game.owner(5), game.cash(0)) == (0, 0)


def test_only_the_purchase_settles_the_landing() -> None:
    """IND-BUY-04: collapsing comes back to the purchase, and the purchase itself closes it, event by event."""
    game = a_game(2).owning_group(0, "it", 1, 1, 1).landing(0, "freight_station")
    game.do(0, c.SellBuildings((39,), 0))
    assert game.asked() == [("purchase", 0)]
    before = game.state
    game.do(0, c.Buy())
    stages = []
    for event in game.events:
        before = evolve(game.edition, before, event)
        top = before.agenda[-1]
        stages.append((event.__class__.__name__, top.stage if isinstance(top, RollFrame) else ""))
    assert stages[:3] == [("DecisionClosed", "landing"), ("MoneyMoved", "landing"), ("DeedMoved", "settled")]


def test_a_cell_that_stayed_free_is_not_for_sale_until_somebody_arrives() -> None:
    """IND-BUY-05: not after the auction, and on a new arrival again."""
    game = a_game(2).landing(0, "freight_station").do(0, c.Decline()).do(0, c.Pass()).do(1, c.Pass())
    assert (game.owner(5), game.decision) == (BANK, ("manage", 0))
    game.refused(0, c.Buy(), "wrong_decision", "IND-PHASE-05")
    game.end_turn(0)
    game.roll(1, 2, 3)
    assert game.decision == ("purchase", 1)
