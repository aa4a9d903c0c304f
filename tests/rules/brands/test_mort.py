"""Mortgages (BRA-MORT)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import AuctionOpened, DeedMortgaged, DeedMoved, DeedRedeemed, TurnEnded
from services.rules.domain.parties import BANK
from tests.rules.brands.games import BRANDS, BRAWL, FAST, MODES, TEAMS, brands, every_mode, offer, pass_turn
from tests.support.scenario import Game


def quiet_roll(game: Game, seat: int) -> Game:
    """A throw that ends the turn on the jail, with the third die where it is in play."""
    third = 1 if game.edition.third_die_from_round is not None and game.state.round >= 8 else 0
    return game.at(seat, 7 - third).roll(seat, 1, 2, third=third)


def lapsing(edition: str = BRANDS, seats: int = 0, *cells: int) -> Game:
    """It is round 8, and seat 0's property has been mortgaged in round 1."""
    return brands(edition, seats).owning(0, *(cells or (39,))).mortgaged(*(cells or (39,)), since=1).in_round(8)


@every_mode
def test_half_the_price(edition: str) -> None:
    """BRA-MORT-01: from the bank."""
    game = brands(edition).owning(0, 39, 5, 12).in_round(4).turn_of(0).do(0, c.Mortgage(39))
    assert game.money() == [(BANK, 0, 2000, "mortgage")]
    assert game.events_of(DeedMortgaged) == [DeedMortgaged(39, 4)]
    assert [(choice.cell, choice.amount) for choice in game.option("mortgage").deeds] == [(5, 1000), (12, 750)]
    game.refused(0, c.Mortgage(39), "already_mortgaged", "BRA-MORT-01")
    game.refused(0, c.Mortgage(37), "not_owner", "BRA-MORT-01")


@every_mode
def test_a_mortgaged_property_brings_no_rent(edition: str) -> None:
    """BRA-MORT-02: until it is redeemed."""
    game = brands(edition).owning(1, 39).mortgaged(39).landing(0, 39)
    assert (game.decision, game.money()) == (("roll", 1), [])
    game.do(1, c.Redeem(39)).landing(0, 39)
    assert game.decision == ("payment", 0)


@every_mode
def test_buildings_of_the_group_come_first(edition: str) -> None:
    """BRA-MORT-03: they must be sold before any brand of the group is mortgaged."""
    game = brands(edition).owning_group(0, "technology", 0, 1).turn_of(0)
    assert "mortgage" not in game.option_kinds()
    game.refused(0, c.Mortgage(37), "built", "BRA-MORT-03")
    game.refused(0, c.Mortgage(39), "built", "BRA-MORT-03")
    game.do(0, c.SellBuildings((39,), 0)).do(0, c.Mortgage(37))
    assert game.state.mortgaged_rounds[37] == 1


@every_mode
def test_redeeming(edition: str) -> None:
    """BRA-MORT-04, BRA-MORT-09: 60% of the price, in cash at once."""
    board = brands(edition).edition.board
    for cell in board.deeds:
        game = brands(edition).owning(0, cell).mortgaged(cell).turn_of(0).do(0, c.Redeem(cell))
        assert game.money() == [(0, BANK, board.price[cell] * 6 // 10, "redemption")]
        assert board.price[cell] * 6 % 10 == 0
    assert game.events_of(DeedRedeemed) == [DeedRedeemed(39)]


@pytest.mark.parametrize(("cash", "redeemed"), [(2399, False), (2400, True)])
def test_redeeming_needs_cash(cash: int, redeemed: bool) -> None:
    """BRA-MORT-09: the whole sum."""
    game = brands().owning(0, 39).mortgaged(39).with_cash(0, cash).turn_of(0)
    if redeemed:
        assert game.do(0, c.Redeem(39)).cash(0) == 0
    else:
        game.refused(0, c.Redeem(39), "not_enough_cash", "BRA-MORT-09", {"least": 2400})


@every_mode
def test_when_to_redeem(edition: str) -> None:
    """BRA-MORT-09: where building is legal; nothing else can be redeemed."""
    game = brands(edition).owning(0, 39, 5).mortgaged(39).in_jail(0).turn_of(0)
    game.refused(0, c.Redeem(5), "not_mortgaged", "BRA-MORT-04")
    game.refused(0, c.Redeem(37), "not_owner", "BRA-MORT-04")
    assert game.do(0, c.Redeem(39)).state.mortgaged_rounds[39] == 0
    game = brands(edition).owning(0, 39).mortgaged(39).landing(0, 37)
    assert "redeem" not in game.option_kinds()
    game.refused(0, c.Redeem(39), "wrong_decision", "BRA-BUY-01")


@every_mode
def test_a_property_not_redeemed_is_auctioned(edition: str) -> None:
    """BRA-MORT-05, BRA-MORT-06: in all modes, from its full price; anyone may bid, and the bank gets the money."""
    game = quiet_roll(lapsing(edition).turn_of(0), 0)
    assert game.events_of(DeedMoved) == [DeedMoved(39, 0, BANK, "lapse")]
    bidders = (*range(1, len(game.state.cash)), 0)
    assert game.events_of(AuctionOpened) == [AuctionOpened(1, "lapse", 39, BANK, bidders, 4000)]
    for seat in bidders[:-1]:
        game.do(seat, c.Pass())
    game.do(0, c.Bid(4000))
    assert game.money() == [(0, BANK, 4000, "auction")]
    assert (game.owner(39), game.state.mortgaged_rounds[39], game.decision) == (0, 0, ("roll", 1))


@pytest.mark.parametrize(("number", "lapses"), [(7, False), (8, True), (9, True)])
@pytest.mark.parametrize("edition", MODES)
def test_when_a_mortgage_runs_out(edition: str, number: int, lapses: bool) -> None:
    """BRA-MORT-05, BRA-MORT-07: at the end of the owner's turn in round r + 7, or the first one after it."""
    game = quiet_roll(lapsing(edition).in_round(number).turn_of(0), 0)
    assert (game.decision == ("auction_bid", 1)) == lapses


def test_seven_own_turns_are_left() -> None:
    """BRA-MORT-07: mortgaged in the own turn of round 1, it can be redeemed in the own turns of rounds 2 to 8."""
    game = brands(BRANDS, 2).owning(0, 39).turn_of(0).do(0, c.Mortgage(39))
    turns = 0
    while game.state.owners[39] == 0:
        pass_turn(game, 0)
        if game.decision == ("auction_bid", 1):
            break
        pass_turn(game, 1)
        turns += 1
        assert "redeem" in game.option_kinds()
    assert (turns, game.state.round) == (7, 8)


def test_other_ends_of_the_turn() -> None:
    """BRA-MORT-07: a turn that ends in jail ends too; an extra throw does not end it."""
    game = lapsing().at(0, 27).turn_of(0).roll(0, 1, 2)
    assert game.decision == ("auction_bid", 1)
    game = lapsing().at(0, 8).turn_of(0).roll(0, 1, 1)
    assert (game.decision, game.owner(39)) == (("roll", 0), 0)
    game.do(0, c.Redeem(39)).at(0, 7).roll(0, 1, 2)
    assert (game.decision, game.owner(39)) == (("roll", 1), 0)


def test_changed_hands() -> None:
    """BRA-MORT-07, BRA-MORT-09: with an ally it keeps its round, and runs out at the end of the ally's turn."""
    game = brands(TEAMS).owning(0, 39).mortgaged(39, since=1).in_round(8).turn_of(0)
    game.do(0, offer(2, 0, (39,))).do(2, c.AcceptTrade())
    assert (game.owner(39), game.state.mortgaged_rounds[39]) == (2, 1)
    pass_turn(pass_turn(game, 0), 1)
    assert game.decision == ("roll", 2)
    pass_turn(game, 2)
    assert game.events_of(AuctionOpened)[0].bidders == (3, 0, 1, 2)


def test_with_a_creditor_it_keeps_its_round() -> None:
    """BRA-MORT-09: after a bankruptcy."""
    game = brands().owning(0, 1).mortgaged(1, since=3).in_round(5).owning(1, 39).with_cash(0, 100).landing(0, 39)
    assert (game.owner(1), game.state.mortgaged_rounds[1]) == (1, 3)


def test_the_lapsed_property_and_its_auction() -> None:
    """BRA-MORT-08: unowned and free of mortgage, from the player after the former owner, who bids last in the first
    lap; without a bid it stays unowned."""
    game = lapsing(BRANDS, 4)
    game.owning(1, 39).turn_of(1)
    pass_turn(game, 1)
    assert game.events_of(AuctionOpened)[0].bidders == (2, 3, 0, 1)
    assert (game.owner(39), game.state.mortgaged_rounds[39]) == (BANK, 0)
    game.do(2, c.Pass()).do(3, c.Bid(4000)).do(0, c.Pass())
    assert game.decision == ("auction_bid", 1)
    game.do(1, c.Bid(4100)).do(3, c.Pass())
    assert (game.owner(39), game.decision) == (1, ("roll", 2))
    game = pass_turn(lapsing(BRANDS, 2).turn_of(0), 0).do(1, c.Pass()).do(0, c.Pass())
    assert (game.owner(39), game.decision) == (BANK, ("roll", 1))


def test_several_go_one_after_another() -> None:
    """BRA-MORT-08: in rising cell order, each fully settled first, a debt for a bid included."""
    game = lapsing(BRANDS, 2, 39, 5, 12).owning(1, 37).with_cash(1, 500).turn_of(0)
    pass_turn(game, 0)
    assert game.events_of(DeedMoved) == [DeedMoved(cell, 0, BANK, "lapse") for cell in (5, 12, 39)]
    assert game.events_of(AuctionOpened)[0].cell == 5
    game.do(1, c.Bid(2000)).do(0, c.Pass())
    assert game.decision == ("payment", 1)
    game.do(1, c.Mortgage(37)).do(1, c.Pay())
    assert game.events_of(AuctionOpened)[0].cell == 12
    game.do(0, c.Pass())
    assert game.events_of(AuctionOpened)[0].cell == 39
    assert game.events_of(TurnEnded) == []
    game.do(0, c.Pass())
    assert game.events_of(TurnEnded) == [TurnEnded(0, "done")]
    assert [game.owner(cell) for cell in (5, 12, 39)] == [1, BANK, BANK]


def test_a_later_mortgage_starts_a_new_count() -> None:
    """BRA-MORT-09: of the same property."""
    game = lapsing().turn_of(0).do(0, c.Redeem(39)).do(0, c.Mortgage(39))
    assert game.state.mortgaged_rounds[39] == 8
    assert pass_turn(game, 0).decision == ("roll", 1)


@pytest.mark.parametrize("edition", [FAST, BRAWL])
def test_a_turn_with_a_jump_ends_later(edition: str) -> None:
    """BRA-MORT-07: M1's landing still belongs to the turn."""
    game = lapsing(edition).at(0, 5).turn_of(0).roll(0, 2, 3, third=5)
    assert (game.position(0), game.decision) == (11, ("purchase", 0))
    assert game.do(0, c.Buy()).decision == ("auction_bid", 1)
