"""What the game does when a clock runs out (BRA-AUTO)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import (
    BetDeclined,
    BidderPassed,
    BuildingDestroyed,
    BuildingsSold,
    DeedMortgaged,
    DiceRolled,
    JailTryFailed,
    MoveChosen,
    StrikeCounted,
    TokenMoved,
    TradeClosed,
)
from services.rules.domain.parties import BANK
from tests.rules.brands.games import (
    BRANDS,
    BRAWL,
    CASINO,
    FAST,
    INCOME_TAX,
    M1,
    TURN_MS,
    brands,
    drawing,
    every_mode,
    holding_the_release_card,
    offer,
    third_die_modes,
)
from tests.support.scenario import Game


@every_mode
def test_the_dice_are_thrown(edition: str) -> None:
    """BRA-AUTO-01: free or jailed; from jail no fine is paid and no release card used."""
    game = brands(edition).at(0, 7).turn_of(0).upcoming_dice((1, 2)).expire()
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", (1, 2))]
    game = holding_the_release_card(brands(edition).in_jail(0), 0).turn_of(0).upcoming_dice((1, 2)).expire()
    assert game.events_of(JailTryFailed) == [JailTryFailed(0, 1)]
    assert (game.money(), game.state.release_cards[0]) == ([], ("chance",))


@third_die_modes
def test_the_bus_takes_the_sum(edition: str) -> None:
    """BRA-AUTO-02: as does the clock that had run out before."""
    game = brands(edition).in_round(8).at(0, 3).turn_of(0).roll(0, 3, 4, third=4).expire()
    assert game.events_of(MoveChosen) == [MoveChosen(0, "sum")]
    assert game.position(0) == 10


@third_die_modes
def test_a_triple_walks(edition: str) -> None:
    """BRA-AUTO-03: clockwise by the sum of all three dice, passing Start; the turn then ends."""
    game = brands(edition).in_round(8).at(0, 4).turn_of(0).roll(0, 2, 2, third=2).expire()
    assert game.events_of(TokenMoved) == [TokenMoved(0, 4, 10, "dice", False)]
    assert game.decision == ("roll", 1)
    game = brands(edition).in_round(8).at(0, 33).turn_of(0).roll(0, 3, 3, third=3).expire()
    assert (game.position(0), game.money()[0]) == (2, (BANK, 0, 2000, "salary"))


@every_mode
def test_a_purchase_is_declined(edition: str) -> None:
    """BRA-AUTO-04: and the auction follows."""
    game = brands(edition).landing(0, 39).expire()
    assert (game.decision, game.owner(39)) == (("auction_bid", 1), BANK)
    game.refused(0, c.Bid(4000), "excluded_bidder", "BRA-AUC-02")


@every_mode
def test_a_bet_is_declined(edition: str) -> None:
    """BRA-AUTO-05: nothing is staked."""
    game = brands(edition).landing(0, CASINO).expire()
    assert (game.events_of(BetDeclined), game.money()) == ([BetDeclined(0)], [])


@pytest.mark.parametrize(
    ("levels", "cell"),
    [
        ({"technology": (1, 4), "motors": (0, 5, 1)}, 32),
        ({"technology": (3, 0), "motors": (3, 3, 3)}, 37),
        ({"motors": (3, 3, 2), "supermarkets": (3, 3)}, 31),
    ],
)
def test_which_building_falls(levels: dict[str, tuple[int, ...]], cell: int) -> None:
    """BRA-AUTO-05: the highest level, of equals the highest price, of equals the lowest cell."""
    game = drawing("demolition_order", BRAWL).owning_group(0, "drinks", 5, 5, 5)
    for group, heights in levels.items():
        game.owning_group(1, group, *heights)
    before = max(height for heights in levels.values() for height in heights)
    game.roll(0, 3, 4).expire()
    assert game.events_of(BuildingDestroyed) == [BuildingDestroyed(cell, before - 1)]


@every_mode
def test_an_awaited_payment_is_paid(edition: str) -> None:
    """BRA-AUTO-06: when the turn's clock runs out."""
    game = brands(edition).owning(1, 39).landing(0, 39).expire("turn")
    assert game.money() == [(0, 1, 500, "rent")]


def test_out_of_reach_nothing_is_sold() -> None:
    """BRA-AUTO-07: bankruptcy at once."""
    game = brands().owning_group(1, "technology", 1, 1).owning(0, 1, 5).with_cash(0, 0).landing(0, 39)
    assert game.decision == ("payment", 0)
    game.expire()
    assert (game.events_of(DeedMortgaged), game.money()) == ([], [])
    assert (game.owner(1), game.state.mortgaged_rounds[1]) == (1, 0)


def raising(game: Game) -> list[tuple[str, int]]:
    """What was mortgaged and sold, in order: (what, cell)."""
    steps = []
    for event in game.events:
        if isinstance(event, DeedMortgaged):
            steps.append(("mortgage", event.cell))
        elif isinstance(event, BuildingsSold):
            steps.append(("sale", event.cell))
    return steps


def test_the_cheapest_property_of_a_bare_group_first() -> None:
    """BRA-AUTO-07: of equals the lowest cell, and only until the cash suffices."""
    game = brands().owning(0, 39, 25, 15, 28, 12, 11).owning_group(0, "supermarkets", 1, 1).with_cash(0, 0)
    game.landing(0, INCOME_TAX).expire()
    # 11 costs 1400, 12 and 28 cost 1500 each: 700 + 750 + 750.
    assert raising(game) == [("mortgage", 11), ("mortgage", 12), ("mortgage", 28)]
    assert (game.cash(0), game.decision) == (200, ("roll", 1))


def test_then_levels_of_the_cheapest_group() -> None:
    """BRA-AUTO-07: the built group with the lowest build cost, of equals the one with the lowest cell; there the
    highest level, of equals the lowest cell; a group that has become bare is mortgaged before more is sold."""
    game = brands().owning_group(0, "drinks", 1, 2, 2).owning_group(0, "supermarkets", 0, 1).with_cash(0, 50)
    game.owning(0, 5).mortgaged(5).landing(0, INCOME_TAX).expire()
    assert raising(game) == [
        ("sale", 3),
        ("mortgage", 1),
        ("mortgage", 3),
        ("sale", 8),
        ("sale", 9),
    ]
    assert game.cash(0) == 50 + 500 + 300 + 300 + 500 + 500 - 2000


def test_build_costs_and_not_prices_decide() -> None:
    """BRA-AUTO-07: clothing (1000 a step) before airlines (1500), although its deed was bought later."""
    game = brands().owning_group(0, "airlines", 1, 1, 1).owning_group(0, "clothing", 2, 2, 1).with_cash(0, 0)
    game.landing(0, INCOME_TAX).expire()
    assert raising(game) == [("sale", 11), ("sale", 13)]


@every_mode
def test_bids_and_offers(edition: str) -> None:
    """BRA-AUTO-08: a pass, and a refusal."""
    game = brands(edition).landing(0, 39).do(0, c.Decline()).expire()
    assert game.events_of(BidderPassed) == [BidderPassed(1, "time")]
    game = brands(edition).turn_of(0).do(0, offer(1, 100, for_cash=100)).expire()
    assert game.events_of(TradeClosed) == [TradeClosed(1, "expired")]


def test_a_spent_turn_clock() -> None:
    """BRA-AUTO-09: further decisions of the same segment take their default at once, in the same entry."""
    game = brands().owning(1, 39).at(0, 36).turn_of(0).upcoming_dice((1, 2)).expire()
    assert game.asked()[:1] == [("payment", 0)]
    assert game.money() == [(0, 1, 500, "rent")]
    assert (game.decision, game.events_of(StrikeCounted)) == (("roll", 1), [StrikeCounted(0, 1)])
    game = brands(FAST).in_round(8).at(0, 33).turn_of(0).upcoming_draws(0, 1, 3).expire()
    # The BUS takes the sum, and on 36 a card brings 500.
    assert (game.position(0), game.decision) == (36, ("roll", 1))


def test_phases_with_their_own_clock_keep_it() -> None:
    """BRA-AUTO-09: auctions and debts; the default that follows them comes at once."""
    game = brands(FAST).in_round(8).at(0, 36).turn_of(0).upcoming_draws(0, 1, M1 - 1).expire()
    assert (game.decision, game.deadline) == (("auction_bid", 1), ("bid", 20_000))
    game.do(1, c.Pass()).do(2, c.Pass())
    # M1 leads on to 1, whose purchase is declined at once.
    assert (game.position(0), game.decision) == (1, ("auction_bid", 1))
    game = brands().owning(0, 39).with_cash(0, 0).at(0, 1).turn_of(0).upcoming_dice((1, 2)).expire()
    assert (game.decision, game.deadline) == (("payment", 0), ("payment", 60_000))


def test_an_extra_throw_has_a_full_clock() -> None:
    """BRA-AUTO-09: it opens a new segment."""
    game = brands().at(0, 6).turn_of(0).upcoming_dice((2, 2)).expire()
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[BRANDS]))
    game = brands().at(0, 35).turn_of(0).upcoming_dice((1, 1)).expire()
    assert game.decision == ("auction_bid", 1)
    game.do(1, c.Pass()).do(2, c.Pass())
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[BRANDS]))


@every_mode
def test_no_automatic_play(edition: str) -> None:
    """BRA-AUTO-10: no command switches it on, in no phase."""
    names = {kind.__name__.lower() for kind in c.Action.__args__}
    assert not [name for name in names if "auto" in name]
    for game in (brands(edition).turn_of(0), brands(edition).landing(0, 39)):
        assert not [kind for kind in game.option_kinds() if "auto" in kind]
