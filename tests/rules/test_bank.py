"""Bankruptcies: what becomes of money, deeds, buildings and cards."""

from services.rules.domain import commands as c
from services.rules.domain.events import (
    AuctionOpened,
    Bankrupt,
    DeedMoved,
    Leaving,
    MoneyMoved,
    ReleaseCardMoved,
    SeatOut,
)
from services.rules.domain.parties import BANK
from tests.support.scenario import Game, a_game


def bankrupt(cash: int, *creditors: int, seats: int = 4, debtor: int = 0, amount: int = 600) -> Game:
    """A debtor of some creditors (none: the bank) has given up."""
    game = a_game(seats).with_cash(debtor, cash).owning(debtor, 5, 12).owning_group(debtor, "bakery", 5, 4, 4)
    game.holding_release_cards(debtor, "market", "support").owing(debtor, amount, *creditors)
    return game.do(debtor, c.DeclareBankruptcy())


def test_the_cells_return_to_the_bank_and_the_money_goes_to_the_creditor() -> None:
    """IND-BANK-01, IND-BANK-04: free cells, and exactly the cash left."""
    game = bankrupt(70, 2)
    assert game.money() == [(0, 2, 70, "estate")]
    assert [game.owner(cell) for cell in (1, 3, 4, 5, 12)] == [BANK] * 5
    assert {event.reason for event in game.events_of(DeedMoved)} == {"estate"}
    assert (game.cash(0), game.cash(2), game.cash(1)) == (0, 1570, 1500)
    assert game.events_of(Bankrupt) == [Bankrupt(0, 2, "declared")]
    assert game.events_of(SeatOut) == [SeatOut(0, 4)]


def test_the_bank_as_creditor_gets_the_cash() -> None:
    """IND-BANK-04: nothing for the rest of the debt."""
    game = bankrupt(70)
    assert game.money() == [(0, BANK, 70, "estate")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "declared")]


def test_without_cash_the_creditor_gets_nothing() -> None:
    """IND-BANK-04: and no deed."""
    game = bankrupt(0, 2)
    assert game.events_of(MoneyMoved) == []
    assert game.cash(2) == 1500


def test_branches_and_holdings_return_to_the_supply() -> None:
    """IND-BANK-01, IND-BANK-03, IND-BUILD-09: a holding as a holding; levels become 0."""
    game = bankrupt(70, 2)
    assert game.supply == (32, 12)
    assert [game.level(cell) for cell in (1, 3, 4)] == [0, 0, 0]


def test_release_cards_vanish_and_the_decks_stay() -> None:
    """IND-BANK-03, IND-CARD-05, IND-INV-12."""
    game = bankrupt(70, 2)
    assert (game.state.release_cards[0], game.state.strikes[0], game.state.leaving[0]) == ((), 0, "")
    assert game.events_of(ReleaseCardMoved) == []
    assert (len(game.cards("market")), len(game.cards("support"))) == (10, 10)
    assert not game.state.in_play[0]


def test_a_bankrupt_in_inspection_leaves_it() -> None:
    """IND-BANK-03, IND-INV-11: nothing is left of his stay."""
    game = a_game(3).with_cash(0, 10).in_jail(0, 2).turn_of(0).roll(0, 1, 2).do(0, c.DeclareBankruptcy())
    assert game.jail_tries(0) == -1
    assert game.decision == ("roll", 1)


def test_several_creditors_share_equally() -> None:
    """IND-BANK-05, IND-CARD-18: whole parts, and the units left over go clockwise from the bankrupt."""
    assert bankrupt(99, 1, 2, 3).money() == [(0, 1, 33, "estate"), (0, 2, 33, "estate"), (0, 3, 33, "estate")]
    assert bankrupt(100, 1, 2, 3).money() == [(0, 1, 34, "estate"), (0, 2, 33, "estate"), (0, 3, 33, "estate")]
    assert bankrupt(101, 1, 2, 3).money() == [(0, 1, 34, "estate"), (0, 2, 34, "estate"), (0, 3, 33, "estate")]


def test_units_left_over_go_clockwise_from_the_bankrupt() -> None:
    """IND-BANK-05: from his neighbour on, wrapping round."""
    game = bankrupt(101, 0, 1, 3, debtor=2)
    assert game.money() == [(2, 3, 34, "estate"), (2, 0, 34, "estate"), (2, 1, 33, "estate")]
    game = bankrupt(1, 0, 1, 3, debtor=2)
    assert game.money() == [(2, 3, 1, "estate")]
    assert game.events_of(Bankrupt) == [Bankrupt(2, BANK, "declared")]


def test_the_bank_in_the_place_of_a_creditor_gets_its_part_last() -> None:
    """IND-BANK-05, IND-DEBT-24: the unit left over goes to a player."""
    game = a_game(4).with_cash(0, 71).owing(0, 90, 1, 3).withdraw(1).do(0, c.DeclareBankruptcy())
    assert game.money() == [(0, 3, 36, "estate"), (0, BANK, 35, "estate")]
    game = a_game(4).with_cash(2, 71).owing(2, 90, 0, 3).withdraw(3).do(2, c.DeclareBankruptcy())
    assert game.money() == [(2, 0, 36, "estate"), (2, BANK, 35, "estate")]


def test_who_dropped_out_is_bankrupt_toward_the_bank() -> None:
    """IND-BANK-02, IND-BANK-06: also in a debt to a player, who gets nothing."""
    game = a_game(3).with_cash(0, 70).owning(0, 5).owing(0, 600, 2).expire("payment")
    assert game.events_of(Leaving) == [Leaving(0, "time")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]
    assert game.money() == [(0, BANK, 70, "estate")]
    assert (game.cash(2), game.owner(5), game.decision) == (1500, BANK, ("roll", 1))


def test_a_missed_roll_is_a_bankruptcy_toward_the_bank() -> None:
    """IND-BANK-02, IND-TIME-05: his money, cells and buildings go there."""
    game = a_game(3).owning_group(0, "bakery", 1, 1, 0).turn_of(0).expire("turn")
    assert game.money() == [(0, BANK, 1500, "estate")]
    assert game.supply == (32, 12)
    assert game.decision == ("roll", 1)


def test_a_withdrawn_player_is_bankrupt_toward_the_bank() -> None:
    """IND-BANK-02: whoever dropped out; the turn of another goes on."""
    game = a_game(3).with_cash(2, 40).owning(2, 5).managing(0).withdraw(2)
    assert game.money() == [(2, BANK, 40, "estate")]
    assert game.events_of(Bankrupt) == [Bankrupt(2, BANK, "leaving")]
    assert (game.owner(5), game.decision) == (BANK, ("manage", 0))


def test_freed_cells_are_bought_by_whoever_lands_on_them() -> None:
    """IND-BANK-07: no auction of the estate."""
    game = bankrupt(70, 2)
    assert game.events_of(AuctionOpened) == []
    game.at(1, 2).roll(1, 1, 2)
    assert game.decision == ("purchase", 1)
    assert game.option("buy").amount == 200


def test_a_missed_purchase_brings_no_auction() -> None:
    """IND-BANK-08: the cell stays free, since nobody declined it."""
    game = a_game(3).turn_of(0).roll(0, 1, 2)
    assert game.decision == ("purchase", 0)
    game.expire("turn")
    assert game.events_of(AuctionOpened) == []
    assert (game.owner(3), game.state.in_play) == (BANK, [False, True, True])
    assert game.decision == ("roll", 1)


def test_an_offer_to_a_player_who_goes_out_is_void() -> None:
    """IND-BANK-02, IND-INV-08: the turn of its proposer goes on."""
    game = a_game(3).owning(1, 5).managing(0).do(0, c.OfferTrade(1, c.Basket(10), c.Basket(0, (5,)))).withdraw(1)
    assert game.decision == ("manage", 0)
    assert (game.cash(0), game.owner(5)) == (1500, BANK)


def test_a_player_withdrawn_during_an_auction_goes_out_after_it() -> None:
    """IND-BANK-02, IND-AUC-17: he passes when asked, and his estate follows."""
    game = a_game(3).with_cash(1, 300).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).withdraw(1)
    assert game.decision == ("auction_bid", 0)
    assert game.state.in_play[1]
    game.do(0, c.Bid(45))
    assert game.decision == ("auction_bid", 2)
    game.do(2, c.Pass())
    assert game.money() == [(0, BANK, 45, "auction"), (1, BANK, 300, "estate")]
    assert (game.state.in_play, game.decision) == ([True, False, True], ("manage", 0))
