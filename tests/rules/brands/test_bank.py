"""Bankruptcy and surrender (BRA-BANK)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import (
    AuctionOpened,
    Bankrupt,
    DeedMoved,
    PaymentClosed,
    SeatOut,
    TradeClosed,
    TurnEnded,
)
from services.rules.domain.parties import BANK
from tests.rules.brands.games import (
    BRANDS,
    BRAWL,
    FAST,
    INCOME_TAX,
    M1,
    RELEASE_CARD,
    TEAMS,
    brands,
    drawing,
    every_mode,
    holding_the_release_card,
    in_minute,
    offer,
)
from tests.support.scenario import Game


def ruined_by_rent(edition: str = BRANDS, minute: int = 1) -> Game:
    """Seat 0 has 1000 and a mortgaged supermarket, and lands on a rent of 20000 to seat 1."""
    game = in_minute(brands(edition), minute).owning_group(1, "technology", 5, 5)
    return game.owning(0, 1).mortgaged(1, since=1).with_cash(0, 1000).landing(0, 39)


@pytest.mark.parametrize(("cash", "bankrupt"), [(299, True), (300, False)])
@every_mode
def test_bankrupt_when_the_debt_exceeds_everything(edition: str, cash: int, bankrupt: bool) -> None:
    """BRA-BANK-01, BRA-BANK-06: money, properties (two of 600) and buildings (one of 500) against 2000."""
    game = brands(edition).owning_group(0, "supermarkets", 1, 0).with_cash(0, cash).landing(0, INCOME_TAX)
    assert game.state.in_play[0] == (not bankrupt)


def test_a_mortgaged_property_is_worth_half() -> None:
    """BRA-BANK-01, BRA-BANK-06: of its price."""
    for cash, in_play in ((249, False), (250, True)):
        game = brands().owning(0, 37).mortgaged(37).with_cash(0, cash).landing(0, INCOME_TAX)
        assert game.state.in_play[0] == in_play


@every_mode
def test_over_rent_the_properties_pass_to_the_creditor(edition: str) -> None:
    """BRA-BANK-02, BRA-BANK-07: cash up to the sum, properties as they stand."""
    game = ruined_by_rent(edition)
    assert [event for event in game.events if isinstance(event, Bankrupt)] == [Bankrupt(0, 1, "insolvent")]
    assert game.money() == [(0, 1, 1000, "estate")]
    assert (game.owner(1), game.state.mortgaged_rounds[1], game.cash(0)) == (1, 1, 0)
    assert game.decision == ("roll", 1)


def test_a_bankrupts_cash_is_taxed_as_rent() -> None:
    """BRA-BANK-07: at the rate of the rent."""
    game = ruined_by_rent(minute=70)
    assert game.money() == [(0, 1, 400, "estate"), (0, BANK, 600, "rent_tax")]


def test_buildings_pass_as_they_stand() -> None:
    """BRA-BANK-07: nothing is liquidated; levels, mortgages and rounds stay."""
    game = brands().owning_group(1, "technology", 5, 5).owning_group(0, "drinks", 2, 3, 2).owning(0, 5)
    game.mortgaged(5, since=1).in_round(4).with_cash(0, 10).landing(0, 39)
    assert game.money() == [(0, 1, 10, "estate")]
    assert [game.owner(cell) for cell in (6, 8, 9, 5)] == [1, 1, 1, 1]
    assert [game.level(cell) for cell in (6, 8, 9)] == [2, 3, 2]
    assert game.state.mortgaged_rounds[5] == 1


@pytest.mark.parametrize("edition", [BRANDS, FAST, BRAWL])
def test_over_a_tax_the_properties_return_to_the_bank(edition: str) -> None:
    """BRA-BANK-03: unowned, without buildings and mortgages, and without an auction."""
    game = brands(edition).owning(0, 1).mortgaged(1).with_cash(0, 100).landing(0, INCOME_TAX)
    assert game.money() == [(0, BANK, 100, "estate")]
    assert (game.owner(1), game.state.mortgaged_rounds[1], game.decision) == (BANK, 0, ("roll", 1))
    assert [event for event in game.events if isinstance(event, AuctionOpened)] == []
    game = brands(edition).owning_group(0, "supermarkets", 2, 2).turn_of(1).do(0, c.Surrender())
    assert (game.owner(1), game.level(1), game.level(3)) == (BANK, 0, 0)


def test_the_ally_takes_over() -> None:
    """BRA-BANK-04, BRA-BANK-10, BRA-MORT-09: properties as they stand, without a fee; the cash goes to the bank."""
    game = brands(TEAMS).owning_group(0, "supermarkets", 2, 2).owning(0, 5).mortgaged(5, since=3).in_round(4)
    game.with_cash(0, 100).turn_of(1).do(0, c.Surrender())
    assert game.money() == [(0, BANK, 100, "estate")]
    assert [game.owner(cell) for cell in (1, 3, 5)] == [2, 2, 2]
    assert (game.level(1), game.state.mortgaged_rounds[5]) == (2, 3)
    game = brands(TEAMS).owning(0, 1).mortgaged(1).with_cash(0, 100).landing(0, INCOME_TAX)
    assert (game.owner(1), game.state.mortgaged_rounds[1]) == (2, 1)


def test_without_an_active_ally() -> None:
    """BRA-BANK-10: the properties return to the bank, here at the end of the game."""
    game = brands(TEAMS).out(2).owning(0, 5).mortgaged(5).turn_of(1).do(0, c.Surrender())
    assert (game.owner(5), game.state.mortgaged_rounds[5]) == (BANK, 0)


@every_mode
def test_surrender_at_any_time(edition: str) -> None:
    """BRA-BANK-05: in one's own turn, in others', over any decision."""
    for game in (
        brands(edition).turn_of(0),
        brands(edition).turn_of(1),
        brands(edition).landing(0, 39),
        brands(edition).landing(1, 39),
        brands(edition).landing(0, 20),
        brands(edition).landing(0, INCOME_TAX),
        brands(edition).turn_of(1).do(1, offer(0, 100, for_cash=100)),
        brands(edition).in_jail(0).turn_of(0),
    ):
        assert 0 in {option.seat for option in game.options("surrender")}
        game.do(0, c.Surrender())
        assert game.events_of(SeatOut)[0].seat == 0
        game.refused(0, c.Surrender(), "seat_out", "BRA-BANK-12")


@pytest.mark.parametrize("worth", [1999, 2000])
def test_the_first_test_is_of_assets(worth: int) -> None:
    """BRA-BANK-06: bankrupt at once if no sale at full value could cover the sum; else there are 60 seconds."""
    game = brands().owning(0, 1, 6).with_cash(0, worth - 1600).landing(0, INCOME_TAX)
    assert game.state.in_play[0] == (worth == 2000)
    if worth == 2000:
        assert game.deadline == ("payment", 60_000)
        game.do(0, c.DeclareBankruptcy())
        assert not game.state.in_play[0]


def test_a_card_to_one_single_player() -> None:
    """BRA-BANK-08: treated like rent, but not taxed."""
    game = in_minute(drawing("joint_exhibition", BRANDS, 3).out(2), 70).owning(0, 1).mortgaged(1).with_cash(0, 100)
    game.turn_of(0).roll(0, 3, 4)
    assert game.state.ended == "last_left"
    assert game.money() == [(0, 1, 100, "estate")]
    assert game.owner(1) == 1
    game = in_minute(brands(BRANDS, 3), 70).top_cards("chance", "licence_fees").with_cash(1, 100).owning(1, 3)
    game.mortgaged(3).turn_of(0).roll(0, 3, 4)
    assert game.money()[0] == (1, 0, 100, "estate")
    assert game.owner(3) == 0


def test_several_creditors_share() -> None:
    """BRA-BANK-09: in proportion, units left over one each from the debtor's neighbour; properties to the bank."""
    game = drawing("joint_exhibition", BRANDS, 4, seat=1).owning(1, 3).mortgaged(3).with_cash(1, 101).roll(1, 3, 4)
    assert game.money() == [(1, 2, 34, "estate"), (1, 3, 34, "estate"), (1, 0, 33, "estate")]
    assert [event for event in game.events if isinstance(event, Bankrupt)] == [Bankrupt(1, BANK, "insolvent")]
    assert (game.owner(3), game.decision) == (BANK, ("roll", 2))


def test_a_claim_that_has_passed_to_the_bank_comes_last() -> None:
    """BRA-BANK-09: 100 among three claims of 500, one of them the bank's."""
    game = drawing("joint_exhibition", BRANDS, 4).owning(0, 1).with_cash(0, 1100).roll(0, 3, 4)
    assert game.decision == ("payment", 0)
    game.do(1, c.Surrender())
    game.with_cash(0, 100).do(0, c.DeclareBankruptcy())
    assert game.money() == [(0, 2, 34, "estate"), (0, 3, 33, "estate"), (0, BANK, 33, "estate")]


def test_several_creditors_in_teams() -> None:
    """BRA-BANK-09, BRA-BANK-10: the properties go to the ally as they stand; the cash is shared, the ally's too."""
    game = drawing("joint_exhibition", TEAMS).owning(0, 1).mortgaged(1, since=1).with_cash(0, 100).roll(0, 3, 4)
    assert game.money() == [(0, 1, 34, "estate"), (0, 2, 33, "estate"), (0, 3, 33, "estate")]
    assert (game.owner(1), game.state.mortgaged_rounds[1]) == (2, 1)


def test_surrender_over_a_payment_that_can_be_made() -> None:
    """BRA-BANK-11: the money is raised and paid, then the rest goes to the bank."""
    game = brands().owning(1, 39).owning(0, 37, 35).with_cash(0, 100).landing(0, 39).do(0, c.Surrender())
    assert game.money() == [(BANK, 0, 1000, "mortgage"), (0, 1, 500, "rent"), (0, BANK, 600, "estate")]
    assert game.events_of(PaymentClosed) == [PaymentClosed(1, "paid")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]
    assert (game.owner(37), game.owner(35)) == (BANK, BANK)


def test_surrender_over_a_payment_that_cannot_be_made() -> None:
    """BRA-BANK-11: a bankruptcy over that payment."""
    game = brands().owning(1, 39).owning(0, 1).with_cash(0, 100).landing(0, 39)
    assert game.decision == ("payment", 0)
    game.do(0, c.Surrender())
    assert game.money() == [(0, 1, 100, "estate")]
    assert (game.owner(1), game.events_of(Bankrupt)) == (1, [Bankrupt(0, 1, "leaving")])


@pytest.mark.parametrize(("cash", "legal"), [(199, True), (200, False)])
def test_declaring_bankruptcy(cash: int, legal: bool) -> None:
    """BRA-BANK-11: only over a payment that raisable does not cover: cash and half of 600."""
    game = brands().owning(1, 39).owning(0, 1).with_cash(0, cash).landing(0, 39)
    assert ("declare_bankruptcy" in game.option_kinds()) == legal
    if legal:
        game.do(0, c.DeclareBankruptcy())
        assert game.events_of(Bankrupt) == [Bankrupt(0, 1, "declared")]
    else:
        game.refused(0, c.DeclareBankruptcy(), "within_reach", "BRA-BANK-11")


@every_mode
def test_surrender_without_a_payment(edition: str) -> None:
    """BRA-BANK-11: a bankruptcy to the bank with a debt of 0: all cash goes there."""
    game = brands(edition).turn_of(1).do(0, c.Surrender())
    assert game.money() == [(0, BANK, game.edition.start_cash, "estate")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]
    assert game.decision == ("roll", 1)


def test_missed_turns_bankrupt_to_the_bank() -> None:
    """BRA-BANK-11: with a debt of 0."""
    game = brands().owning(0, 39).with_strikes(0, 2).turn_of(0).expire()
    assert game.money() == [(0, BANK, 15000, "estate")]
    assert game.owner(39) == BANK


def test_an_open_offer_is_void() -> None:
    """BRA-BANK-12: anybody's, when somebody goes out."""
    game = brands().turn_of(0).do(0, offer(1, 100, for_cash=100), after_ms=4000).do(2, c.Surrender(), after_ms=9000)
    assert game.events_of(TradeClosed) == [TradeClosed(1, "void")]
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 71_000))
    game = brands().turn_of(0).do(0, offer(1, 100, for_cash=100)).do(1, c.Surrender())
    assert (game.events_of(TradeClosed), game.decision) == ([TradeClosed(1, "void")], ("roll", 0))


def test_the_turn_of_a_leaver_ends_at_once() -> None:
    """BRA-BANK-12: without the M1 move and the extra throw."""
    game = brands(FAST).in_round(8).at(0, 37).turn_of(0).roll(0, 1, 1, third=M1).do(0, c.Surrender())
    assert game.events_of(TurnEnded) == [TurnEnded(0, "out")]
    assert game.decision == ("roll", 1)


def test_a_debt_of_others_is_finished_first() -> None:
    """BRA-BANK-12: then the leaver's turn ends."""
    game = brands(BRANDS, 3).owning(1, 37).with_cash(1, 4000).landing(0, 39).do(0, c.Decline()).do(1, c.Bid(5000))
    game.do(2, c.Pass()).do(0, c.Surrender())
    assert (game.decision, game.events_of(TurnEnded)) == (("payment", 1), [])
    game.do(1, c.Mortgage(37)).do(1, c.Pay())
    assert game.events_of(DeedMoved) == [DeedMoved(39, BANK, 1, "auction")]
    assert (game.events_of(TurnEnded), game.decision) == ([TurnEnded(0, "out")], ("roll", 1))


def test_release_cards_of_a_leaver() -> None:
    """BRA-BANK-12: they go to the discard pile, also at a bankruptcy over rent."""
    game = holding_the_release_card(brands().owning_group(1, "technology", 5, 5).with_cash(0, 10), 0).landing(0, 39)
    assert game.state.release_cards == [(), (), ()]
    assert game.state.discards["chance"] == (RELEASE_CARD,)


@pytest.mark.parametrize("edition", [BRANDS, FAST, BRAWL])
def test_another_leaves_during_a_turn(edition: str) -> None:
    """BRA-BANK-12: the turn and its clock go on."""
    game = brands(edition).turn_of(0)
    decision = game.state.decision
    game.do(2, c.Surrender(), after_ms=5000)
    assert game.state.decision == decision
