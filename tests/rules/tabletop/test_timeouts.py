"""What missing a deadline does (TAB-TIME-05 to -07)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket, OfferTrade
from services.rules.domain.events import (
    AuctionOpened,
    Bankrupt,
    BidderPassed,
    DiceRolled,
    Leaving,
    StrikeCounted,
    StrikesCleared,
    TradeClosed,
)
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import TABLETOPS, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game

WITH_DEFAULTS = [*TABLETOPS, "rent-tax"]


# online-classic


@pytest.mark.parametrize("jailed", [False, True])
def test_online_a_missed_roll(jailed: bool) -> None:
    """TAB-TIME-05: nothing is rolled; the player is bankrupt to the bank, and his deeds are free."""
    game = online().owning(0, 39)
    game = (game.in_jail(0) if jailed else game).turn_of(0).expire("turn")
    assert game.events_of(DiceRolled) == []
    assert game.events_of(Leaving) == [Leaving(0, "time")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]
    assert (game.owner(39), game.decision) == (BANK, ("roll", 1))


def test_online_a_missed_purchase() -> None:
    """TAB-TIME-05: no auction; the deed stays free."""
    game = online().at(0, 36).turn_of(0).roll(0, 1, 2).expire("turn")
    assert game.events_of(AuctionOpened) == []
    assert (game.owner(39), game.state.in_play[0], game.decision) == (BANK, False, ("roll", 1))


def test_online_a_missed_debt() -> None:
    """TAB-TIME-05: raised and paid first, then bankrupt to the bank."""
    game = online().owning(0, 37).owning(1, 39).with_cash(0, 10).at(0, 36).turn_of(0).roll(0, 1, 2).expire("payment")
    assert game.money() == [(BANK, 0, 175, "mortgage"), (0, 1, 50, "rent"), (0, BANK, 135, "estate")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]


def test_online_a_missed_debt_in_the_turn_of_another() -> None:
    """TAB-TIME-05: any debt; the turn goes on."""
    game = online(4).top_cards("chest", "housewarming").owning(1, 1).with_cash(1, 5).at(0, 30).turn_of(0).roll(0, 1, 2)
    game.expire("payment")
    assert game.money()[:2] == [(BANK, 1, 30, "mortgage"), (1, 0, 10, "card")]
    assert not game.state.in_play[1]
    assert game.decision == ("roll", 2)


def test_online_nobody_is_obliged_to_bid_or_to_deal() -> None:
    """TAB-TIME-05: a missed bid is a pass, a missed answer a refusal."""
    game = online().at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).expire("bid")
    assert game.events_of(BidderPassed) == [BidderPassed(1, "time")]
    game = online().turn_of(0).do(0, OfferTrade(1, Basket(1), Basket(1))).expire("answer")
    assert game.events_of(TradeClosed)[0].outcome == "expired"
    assert game.state.in_play == [True] * 3


# TT and RT: defaults


@pytest.mark.parametrize("edition", WITH_DEFAULTS)
def test_defaults_of_the_own_turn(edition: str) -> None:
    """TAB-TIME-06: the dice are rolled; a purchase is declined."""
    game = a_table(edition).at(0, 36).turn_of(0).upcoming_dice((1, 2)).expire("turn")
    assert game.events_of(DiceRolled)[0].dice == (1, 2)
    assert game.decision == ("purchase", 0)
    game.expire("turn")
    assert game.events_of(AuctionOpened)[0].cell == 39


@pytest.mark.parametrize("edition", WITH_DEFAULTS)
def test_a_prisoners_default_is_a_try(edition: str) -> None:
    """TAB-TIME-06: the roll, not the fine."""
    game = a_table(edition).in_jail(0).turn_of(0).upcoming_dice((1, 2)).expire("turn")
    assert (game.jail_tries(0), game.money()) == (1, [])


@pytest.mark.parametrize("edition", TABLETOPS)
def test_the_default_of_the_end_of_a_turn(edition: str) -> None:
    """TAB-TIME-06."""
    game = a_table(edition).managing(0).expire("turn")
    assert game.decision == ("roll", 1)


# TT and RT: missed turns


def test_a_missed_turn_is_counted_once() -> None:
    """TAB-TIME-06: whatever else runs out in it."""
    game = tabletop().at(0, 36).turn_of(0).upcoming_dice((1, 2)).expire("turn")
    assert game.events_of(StrikeCounted) == [StrikeCounted(0, 1)]
    game.expire("turn")
    assert game.events_of(StrikeCounted) == []
    for _ in range(3):
        game.expire("bid")
    game.expire("turn")
    assert (game.state.strikes, game.decision) == ([1, 0, 0], ("roll", 1))


def test_every_own_decision_counts() -> None:
    """TAB-TIME-06: roll, jail, purchase, debt and `END`."""
    ways: list[Game] = [
        tabletop().upcoming_dice((1, 3)).turn_of(0),
        tabletop().upcoming_dice((1, 3)).in_jail(0).turn_of(0),
        tabletop().at(0, 36).turn_of(0).roll(0, 1, 2),
        tabletop().owning(0, 5).with_cash(0, 20).owing(0, 100, 1),
        tabletop().managing(0),
        rent_tax().owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2),
    ]
    for game in ways:
        game.expire()
        assert game.state.strikes[0] == 1


@pytest.mark.parametrize("edition", WITH_DEFAULTS)
def test_the_third_missed_turn_in_a_row_forfeits(edition: str) -> None:
    """TAB-TIME-06: instead of the default: nothing is rolled; bankrupt to the bank as by `resign`."""
    game = a_table(edition, 4).with_strikes(0, 2).turn_of(0).expire("turn")
    assert game.events_of(DiceRolled) == []
    assert game.events_of(Leaving) == [Leaving(0, "strikes")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]
    assert game.decision == ("roll", 1)


def test_three_turns_in_a_row() -> None:
    """TAB-TIME-06: turn by turn, while the other plays."""
    game = tabletop(2).owning(0, 3, 6).owning(1, 1, 13, 23)
    for number in (1, 2):
        game.at(0, 17).turn_of(0).upcoming_dice((1, 2)).expire("turn")
        assert game.state.strikes[0] == number
        game.expire("turn")
        game.at(1, 17).roll(1, 1, 2).end_turn(1)
    game.expire("turn")
    assert (game.state.in_play[0], game.state.ended) == (False, "last_left")


def test_a_debt_missed_in_the_third_turn() -> None:
    """TAB-TIME-06, TAB-BANK-09: raised and paid, then bankrupt to the bank."""
    game = tabletop(4).with_strikes(0, 2).owning(0, 5).with_cash(0, 20).owing(0, 100, 1).expire("payment")
    assert game.money()[:3] == [(BANK, 0, 100, "mortgage"), (0, 1, 100, "card"), (0, BANK, 20, "estate")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]


@pytest.mark.parametrize("own_turn", [True, False])
def test_any_command_sets_the_count_back(own_turn: bool) -> None:
    """TAB-TIME-06: also one that is sent in another's turn; a refused one does not."""
    game = tabletop().with_strikes(0, 2).owning(0, 5).turn_of(0 if own_turn else 1)
    game.refused(0, c.Mortgage(39), "not_owner", "TAB-MORT-02")
    assert game.state.strikes[0] == 2
    game.do(0, c.Mortgage(5))
    assert game.events_of(StrikesCleared) == [StrikesCleared(0)]
    assert game.state.strikes == [0, 0, 0]


def test_what_never_counts() -> None:
    """TAB-TIME-06: bids, answers, gaps, claims, estate choices, and debts in others' turns."""
    bid = tabletop().at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).expire("bid").expire("bid").expire("bid")
    answer = tabletop().turn_of(0).do(0, OfferTrade(1, Basket(1), Basket(1))).expire("answer")
    gap = tabletop().owning_group(1, "brown").turn_of(0).do(1, c.AskGap()).expire("answer")
    claims = tabletop(4).owning_group(0, "brown").owning_group(1, "sky").branches_left(1, 2).turn_of(0)
    claims.do(0, c.Build((1,))).expire("answer")
    estate = tabletop().owning(1, 39).mortgaged(39).with_cash(1, 0).owing(1, 5000, 0, turn=0)
    estate.do(1, c.DeclareBankruptcy()).expire("answer")
    debt = tabletop().owning(1, 5).with_cash(1, 20).owing(1, 100, 0, turn=0).expire("payment")
    for game in (bid, answer, gap, claims, estate, debt):
        assert set(game.state.strikes) == {0}


def test_a_bot_is_never_counted() -> None:
    """TAB-TIME-06: it takes the default for ever."""
    game = a_table("tabletop", kinds=("bot", "person", "person")).turn_of(0)
    for _ in range(5):
        game.at(0, 17).turn_of(0).upcoming_dice((1, 2)).expire("turn").expire("turn")
        assert (game.state.strikes, game.state.in_play) == ([0, 0, 0], [True] * 3)


# The default of a debt


@pytest.mark.parametrize("edition", WITH_DEFAULTS)
def test_a_debt_within_reach_is_raised_and_paid(edition: str) -> None:
    """TAB-TIME-07: the cheapest deed that may be mortgaged first, ties by the lower cell, until cash suffices."""
    if edition == "rent-tax":
        game = rent_tax().owning(0, 39, 7, 8, 1).with_cash(0, 0).owing(0, 1000, 1)
        game.expire("payment")
        assert [money[2] for money in game.money()] == [300, 500, 500, 1000]
        order = (1, 7, 8)
    else:
        game = a_table(edition).owning(0, 39, 5, 8, 6).with_cash(0, 0).owing(0, 120, 1).expire("payment")
        assert game.money() == [(BANK, 0, 50, "mortgage")] * 2 + [(BANK, 0, 100, "mortgage"), (0, 1, 120, "card")]
        order = (6, 8, 5)
    assert [cell for cell in order if game.state.mortgaged_rounds[cell]] == list(order)
    assert not game.state.mortgaged_rounds[39]


def test_then_houses_of_the_cheapest_group() -> None:
    """TAB-TIME-07: one from its highest street, ties by the lower cell; a street that became bare is mortgaged next."""
    game = tabletop().owning_group(0, "sky", 1, 2, 2).owning_group(0, "navy", 1, 1).with_cash(0, 0).owing(0, 120, 1)
    game.expire("payment")
    assert game.money() == [
        (BANK, 0, 25, "building_sale"),
        (BANK, 0, 25, "building_sale"),
        (BANK, 0, 25, "building_sale"),
        (BANK, 0, 50, "mortgage"),
        (0, 1, 120, "card"),
    ]
    # 8 and 9 came down from two houses, then 6, which was mortgaged
    assert [game.level(cell) for cell in (6, 8, 9, 37, 39)] == [0, 1, 1, 1, 1]
    assert game.state.mortgaged_rounds[6]


def test_the_fourth_house_is_sold_like_any_other() -> None:
    """TAB-TIME-07: a street of four houses has no hotel yet; online at its full price."""
    game = tabletop().owning_group(0, "brown", 4, 4).branches_left(0, 2).with_cash(0, 0).owing(0, 20, 1)
    game.expire("payment")
    assert game.money() == [(BANK, 0, 25, "building_sale"), (0, 1, 20, "card")]
    assert (game.level(1), game.level(3)) == (3, 4)
    game = online(4).owning_group(0, "brown", 4, 4).with_cash(0, 0).owing(0, 40, 1).do(0, c.Surrender())
    assert game.money()[:2] == [(BANK, 0, 50, "building_sale"), (0, 1, 40, "card")]


def test_an_unbuilt_street_of_a_built_group_is_mortgaged_first() -> None:
    """TAB-TIME-07, TAB-MORT-03."""
    game = tabletop().owning_group(0, "navy", 1, 0).with_cash(0, 0).owing(0, 200, 1).expire("payment")
    assert game.money() == [(BANK, 0, 200, "mortgage"), (0, 1, 200, "card")]


@pytest.mark.parametrize(("stock", "to_level", "raised"), [(8, 4, 50), (7, 3, 100), (1, 0, 250)])
def test_hotels_are_lowered_as_little_as_the_bank_allows(stock: int, to_level: int, raised: int) -> None:
    """TAB-TIME-07: the whole group to the highest possible k."""
    game = tabletop().owning_group(0, "brown", 5, 5).branches_left(stock, 2).with_cash(0, 0).owing(0, 20, 1)
    game.expire("payment")
    assert sum(money[2] for money in game.money()[:-1]) == raised
    assert (game.level(1), game.level(3)) == (to_level, to_level)


def test_online_one_street_is_lowered() -> None:
    """TAB-TIME-07: through `resign` only; full cost, and only that street."""
    game = online(4).owning_group(0, "brown", 5, 5).with_cash(0, 0).owing(0, 40, 1).do(0, c.Surrender())
    assert game.money()[:2] == [(BANK, 0, 50, "building_sale"), (0, 1, 40, "card")]
    game = online(4).owning_group(0, "brown", 5, 5).branches_left(2, 2).with_cash(0, 0).owing(0, 40, 1)
    game.do(0, c.Surrender())
    assert game.money()[:2] == [(BANK, 0, 150, "building_sale"), (0, 1, 40, "card")]
    game = online(4).owning_group(0, "brown", 5, 5).branches_left(0, 2).with_cash(0, 0).owing(0, 40, 1)
    game.do(0, c.Surrender())
    assert game.money()[:2] == [(BANK, 0, 250, "building_sale"), (0, 1, 40, "card")]


@pytest.mark.parametrize("edition", WITH_DEFAULTS)
def test_a_debt_out_of_reach_is_bankruptcy_to_the_creditor(edition: str) -> None:
    """TAB-TIME-07: by one unit; nothing is raised first."""
    game = a_table(edition).owning(0, 6).with_cash(0, 20)
    game.owing(0, 21 + game.edition.board.half_price[6], 1).expire("payment")
    assert game.events_of(Bankrupt) == [Bankrupt(0, 1, "insolvent")]
    assert game.money() == [(0, 1, 20, "estate")]
    assert (game.owner(6), game.state.mortgaged_rounds[6]) == (1, 0)


def test_in_rent_tax_enough_cash_simply_pays() -> None:
    """TAB-TIME-07: the default of `PAY`."""
    game = rent_tax().owning(0, 1).owning(1, 39).at(0, 36).turn_of(0).roll(0, 1, 2).expire("payment")
    assert game.money() == [(0, 1, 500, "rent")]
