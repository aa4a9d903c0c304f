"""Bankruptcy (TAB-BANK-01 to -08, -10, -11)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import (
    AuctionOpened,
    Bankrupt,
    BuildingsSold,
    DeedMoved,
    ReleaseCardMoved,
    SeatOut,
)
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import FIVE, MINUTE_MS, TABLETOPS, a_table, online, rent_tax, short_game, tabletop
from tests.support.scenario import Game

#: a debt that nobody can pay
HUGE = 100_000


def without_card(game: Game, deck: str) -> Game:
    """Seat 0 holds the release card of a deck, which is out of it."""
    cards = game.edition.decks[deck]
    game.state.decks[deck] = tuple(n for n in game.state.decks[deck] if cards[n].effect != "release_card")
    return game.holding_release_cards(0, deck)


def rich_bankrupt(edition: str, creditor: int = BANK, seats: int = 3) -> Game:
    """Seat 0 owes too much: it has 10, a house on each of the first two streets, 6, and 39, which is mortgaged."""
    game = a_table(edition, seats).owning_group(0, "perfume" if edition == "rent-tax" else "brown", 1, 1)
    game.owning(0, 6, 39).mortgaged(39).with_cash(0, 10)
    if edition != "rent-tax":
        without_card(game, "chest")
    return game.owing(0, HUGE, *([] if creditor == BANK else [creditor]))


@pytest.mark.parametrize("edition", FIVE)
def test_a_bankrupt_is_out(edition: str) -> None:
    """TAB-BANK-01: no more turns, no commands."""
    game = rich_bankrupt(edition, 1)
    game.do(0, c.DeclareBankruptcy())
    assert not game.state.in_play[0]
    assert game.events_of(SeatOut) == [SeatOut(0, 3)]
    for action in (c.Roll(), c.Surrender(), c.Bid(1)):
        game.refused(0, action, "seat_out", "TAB-BANK-01", {"seat": 0})


@pytest.mark.parametrize("edition", [*TABLETOPS, "rent-tax"])
def test_bankrupt_to_the_bank(edition: str) -> None:
    """TAB-BANK-02: the bank takes the money; buildings go back unpaid; cards go to the bottom; each deed is auctioned
    in board order, free of mortgage, from the seat after the bankrupt."""
    game = rich_bankrupt(edition).do(0, c.DeclareBankruptcy())
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "declared")]
    assert game.money() == [(0, BANK, 10, "estate")]
    assert game.supply == (32, 12)
    assert [moved.cell for moved in game.events_of(DeedMoved)] == [1, 3, 6, 39]
    if edition != "rent-tax":
        assert game.cards("chest")[-1] == "release_pass_b"
    least = game.edition.opening_bid.units or 0
    lots = []
    for cell in (1, 3, 6, 39):
        (opened,) = game.events_of(AuctionOpened)
        lots.append(opened.cell)
        assert (opened.kind, opened.seller, opened.bidders, opened.opening) == ("estate", BANK, (1, 2), least)
        assert game.decision == ("auction_bid", 1)
        game.do(1, c.Pass())
        game.do(2, c.Bid(least) if cell == 39 else c.Pass())
    assert lots == [1, 3, 6, 39]
    assert [game.owner(cell) for cell in lots] == [BANK, BANK, BANK, 2]
    assert game.state.mortgaged_rounds[39] == 0
    assert game.money() == [(2, BANK, least, "auction")]
    assert game.decision == ("roll", 1)


def test_in_estates_one_bids_as_in_any_auction() -> None:
    """TAB-BANK-02: prisoners too, raises of 10, property may be sold while bidding."""
    game = tabletop(4).owning(0, 39).with_cash(0, 0).owning(2, 5).with_cash(2, 10).in_jail(2).owing(0, HUGE)
    game.do(0, c.DeclareBankruptcy()).do(1, c.Bid(100))
    game.refused(2, c.Bid(110), "bid_over_limit", "TAB-AUC-07", {"greatest": 10})
    game.do(2, c.Mortgage(5)).do(2, c.Bid(110)).do(3, c.Pass()).do(1, c.Pass())
    assert game.owner(39) == 2


def test_an_estate_in_the_turn_of_another() -> None:
    """TAB-BANK-02: the auctions come first, then the turn goes on where it was."""
    game = tabletop(4).owning(2, 39, 37).with_cash(2, 5).owing(2, HUGE, turn=1).do(2, c.DeclareBankruptcy())
    assert game.events_of(AuctionOpened)[0].bidders == (3, 0, 1)
    for _ in range(2):
        for seat in (3, 0, 1):
            game.do(seat, c.Pass())
    assert game.decision == ("manage", 1)


@pytest.mark.parametrize("edition", [*TABLETOPS, "rent-tax"])
def test_bankrupt_to_a_player(edition: str) -> None:
    """TAB-BANK-03: the buildings are sold for half, and the creditor gets all money, deeds and release cards."""
    game = rich_bankrupt(edition, 1).do(0, c.DeclareBankruptcy())
    half = game.edition.board.build_cost[1] // 2
    fee = game.edition.board.price[39] // 20
    assert game.money() == [
        (BANK, 0, half, "building_sale"),
        (BANK, 0, half, "building_sale"),
        (0, 1, 10 + 2 * half, "estate"),
        (1, BANK, fee, "transfer_fee"),
    ]
    assert game.events_of(BuildingsSold) == [BuildingsSold(1, 1, 0), BuildingsSold(3, 1, 0)]
    assert [game.owner(cell) for cell in (1, 3, 6, 39)] == [1, 1, 1, 1]
    assert (game.level(1), game.state.mortgaged_rounds[6]) == (0, 0)
    if edition != "rent-tax":
        assert game.events_of(ReleaseCardMoved) == [ReleaseCardMoved("chest", 0, 1)]
        assert game.state.release_cards[1] == ("chest",)
    assert game.decision == ("estate_choice", 1)


def inherited(cash: int = 1000, edition: str = "tabletop") -> Game:
    """Seat 1 inherits a mortgaged utility (fee 8) and cell 37 (fee 18) from seat 0, which has nothing else."""
    game = a_table(edition).owning(0, 12, 37).mortgaged(12, 37).cash_of_all(0, cash, 0).owing(0, HUGE, 1)
    return game.wait(10_000).do(0, c.DeclareBankruptcy())


@pytest.mark.parametrize("edition", TABLETOPS)
def test_the_fees_of_inherited_mortgages(edition: str) -> None:
    """TAB-BANK-04: one debt of 8 + 18, each rounded up; then the choice, for 30 seconds."""
    game = inherited(edition=edition)
    assert game.money() == [(1, BANK, 26, "transfer_fee")]
    assert (game.decision, game.deadline) == (("estate_choice", 1), ("answer", 30_000))
    assert [(deed.cell, deed.amount) for deed in game.option("choose_estate").deeds] == [(12, 75), (37, 175)]


def test_redeeming_what_was_inherited() -> None:
    """TAB-BANK-04: for the mortgage value alone, since the tenth is paid; what is kept costs 83 later."""
    game = inherited().do(1, c.ChooseEstate((37,)))
    assert game.money() == [(1, BANK, 175, "redemption")]
    assert (game.state.mortgaged_rounds[37], game.state.mortgaged_rounds[12]) == (0, 1)
    assert game.decision == ("roll", 1)
    game.do(1, c.Redeem(12))
    assert game.money() == [(1, BANK, 83, "redemption")]


def test_keeping_all_by_silence() -> None:
    """TAB-BANK-04, TAB-TIME-06: and that is no missed decision."""
    game = inherited().expire("answer")
    assert (game.money(), game.state.strikes) == ([], [0, 0, 0])
    assert game.decision == ("roll", 1)


def test_redemptions_need_cash() -> None:
    """TAB-BANK-04: for all of them; one may mortgage meanwhile."""
    game = inherited(cash=26 + 249)
    game.refused(1, c.ChooseEstate((12, 37)), "not_enough_cash", "TAB-BANK-04", {"least": 250})
    game.refused(1, c.ChooseEstate((5,)), "bad_choice", "TAB-BANK-04")
    game.refused(1, c.ChooseEstate((12, 12)), "bad_choice", "TAB-BANK-04")
    game.owning(1, 5).do(1, c.Mortgage(5)).do(1, c.ChooseEstate((12, 37)))
    assert game.cash(1) == 99
    game = inherited(cash=26 + 250).do(1, c.ChooseEstate((12, 37)))
    assert game.cash(1) == 0


def test_the_bankrupts_cash_arrives_before_the_fees() -> None:
    """TAB-BANK-04: with it they are covered."""
    game = tabletop().owning(0, 39).mortgaged(39).cash_of_all(20, 0, 0).owing(0, HUGE, 1).do(0, c.DeclareBankruptcy())
    assert game.money() == [(0, 1, 20, "estate"), (1, BANK, 20, "transfer_fee")]
    assert game.decision == ("estate_choice", 1)


def test_an_heir_short_of_cash_is_in_debt() -> None:
    """TAB-BANK-04: then the choice follows."""
    game = tabletop().owning(0, 39).owning(1, 5).mortgaged(39).cash_of_all(0, 19, 0).owing(0, HUGE, 1)
    game.do(0, c.DeclareBankruptcy())
    assert game.decision == ("payment", 1)
    game.do(1, c.Mortgage(5))
    assert game.money() == [(BANK, 1, 100, "mortgage"), (1, BANK, 20, "transfer_fee")]
    assert game.decision == ("estate_choice", 1)


def test_an_heir_may_go_bankrupt_over_the_fees() -> None:
    """TAB-BANK-04, -02: toward the bank, which auctions all of it free of mortgage."""
    game = tabletop(4).owning(0, 39).mortgaged(39).cash_of_all(0, 19, 500, 500).owing(0, HUGE, 1)
    game.do(0, c.DeclareBankruptcy()).do(1, c.DeclareBankruptcy())
    assert game.events_of(Bankrupt) == [Bankrupt(1, BANK, "declared")]
    game.do(2, c.Bid(1)).do(3, c.Pass())
    assert (game.owner(39), game.state.mortgaged_rounds[39]) == (2, 0)
    assert game.decision == ("roll", 2)


def second_bankruptcy(creditor: int, seats: int = 4) -> Game:
    """Seat 3 is out; seat 0 owes too much, with hotels, a mortgaged station and a card."""
    game = without_card(short_game(seats), "chest").owning_group(0, "navy", 4, 4).owning(0, 5).mortgaged(5).out(3)
    game.with_cash(0, 40).cash_of_all(40, 500, 1600, 0)
    return game.owing(0, HUGE, *([] if creditor == BANK else [creditor])).do(0, c.DeclareBankruptcy())


def test_the_first_bankruptcy_of_the_short_game_is_an_ordinary_one() -> None:
    """TAB-BANK-05: hotels at half of their four levels."""
    game = short_game().owning_group(0, "navy", 4, 4).with_cash(0, 40).owing(0, HUGE, 1).do(0, c.DeclareBankruptcy())
    assert game.money() == [(BANK, 0, 400, "building_sale")] * 2 + [(0, 1, 840, "estate")]
    assert (game.level(37), game.state.ended) == (0, "")


def test_the_second_bankruptcy_hands_over_everything() -> None:
    """TAB-BANK-05: buildings included; no fee, no auction; the game is over."""
    game = second_bankruptcy(1)
    assert game.money() == [(0, 1, 40, "estate")]
    assert [(game.owner(cell), game.level(cell)) for cell in (37, 39, 5)] == [(1, 4), (1, 4), (1, 0)]
    assert (game.state.mortgaged_rounds[5], game.state.release_cards[1]) == (1, ("chest",))
    assert game.state.ended == "bankruptcies"
    # 540 of cash, 350 + 400 + 100 for deeds, 8 levels of 200
    assert [(place.seat, place.net_worth) for place in game.state.places[:2]] == [(1, 2990), (2, 1600)]


def test_the_second_bankruptcy_toward_the_bank() -> None:
    """TAB-BANK-05, -02: nothing is auctioned."""
    game = second_bankruptcy(BANK)
    assert game.money() == [(0, BANK, 40, "estate")]
    assert game.events_of(AuctionOpened) == []
    assert (game.owner(37), game.state.ended) == (BANK, "bankruptcies")
    assert [place.seat for place in game.state.places] == [2, 1, 0, 3]


def test_online_bankrupt_to_the_bank() -> None:
    """TAB-BANK-06: money and deeds to the bank, the deeds become free, the cards return."""
    game = rich_bankrupt("online-classic").do(0, c.DeclareBankruptcy())
    assert game.decision == ("roll", 1)
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "declared")]
    assert game.money() == [(0, BANK, 10, "estate")]
    assert game.events_of(AuctionOpened) == []
    assert (set(game.state.owners), game.supply, sum(game.state.mortgaged_rounds)) == ({BANK}, (32, 12), 0)
    assert game.cards("chest")[-1] == "release_pass_b"
    game.at(1, 36).roll(1, 1, 2)
    assert game.decision == ("purchase", 1)


def test_online_bankrupt_to_a_player() -> None:
    """TAB-BANK-07: the bank pays the creditor the whole debt; all else as toward the bank."""
    game = rich_bankrupt("online-classic", 1).do(0, c.DeclareBankruptcy())
    assert game.money() == [(BANK, 1, HUGE, "estate"), (0, BANK, 10, "estate")]
    assert (set(game.state.owners), game.supply) == ({BANK}, (32, 12))
    assert game.cards("chest")[-1] == "release_pass_b"


def test_online_a_claim_of_the_bank_is_not_paid_to_anybody() -> None:
    """TAB-BANK-07, TAB-DEBT-07: a creditor who dropped out has the bank for his heir."""
    game = online(4).owning(0, 39).with_cash(0, 60).owing(0, 150, 1, 2, 3).do(1, c.Surrender()).do(0, c.Surrender())
    assert game.money()[-3:] == [(0, 2, 50, "card"), (0, 3, 50, "card"), (0, BANK, 110, "estate")]
    game = online(4).with_cash(0, 50).owning(0, 1).owing(0, 60, 1, 2).do(1, c.Surrender())
    game.owning(BANK, 1).do(0, c.Surrender())
    assert game.money() == [(BANK, 2, 30, "estate"), (0, BANK, 50, "estate")]


@pytest.mark.parametrize("kind", ["roll", "purchase"])
def test_online_not_acting_in_time_is_bankruptcy(kind: str) -> None:
    """TAB-BANK-08, TAB-TIME-05."""
    game = online().at(0, 36).turn_of(0)
    if kind == "purchase":
        game.roll(0, 1, 2)
    game.expire("turn")
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize(("minutes", "percent"), [(0, 0), (60, 50), (105, 99)])
def test_in_rent_tax_the_cash_of_a_bankrupt_is_taxed_like_its_debt(minutes: int, percent: int) -> None:
    """TAB-BANK-10: at the rate of the moment it arose; deeds are not taxed."""
    game = rent_tax().wait(minutes * MINUTE_MS).owning(0, 1).owning_group(1, "smartphones", 5, 5).with_cash(0, 301)
    game.at(0, 36).turn_of(0).roll(0, 1, 2).wait(60_000).do(0, c.DeclareBankruptcy())
    tax = 301 * percent // 100
    assert game.money() == [(0, 1, 301 - tax, "estate")] + ([(0, BANK, tax, "rent_tax")] if tax else [])
    assert game.owner(1) == 1


def test_in_rent_tax_a_card_debt_is_taxed_too() -> None:
    """TAB-BANK-10, TAB-TAX-13: each share of it."""
    game = rent_tax().wait(76 * MINUTE_MS).top_cards("chance", "party").with_cash(0, 101).at(0, 10).turn_of(0)
    game.roll(0, 1, 2).do(0, c.DeclareBankruptcy())
    assert game.money() == [
        (0, 1, 13, "estate"),
        (0, BANK, 38, "rent_tax"),
        (0, 2, 13, "estate"),
        (0, BANK, 37, "rent_tax"),
    ]


@pytest.mark.parametrize("edition", FIVE)
def test_the_last_bankruptcy_ends_the_game_at_once(edition: str) -> None:
    """TAB-BANK-11: no estate is auctioned and no fee taken."""
    for creditor in (BANK, 1):
        game = rich_bankrupt(edition, creditor, seats=2)
        game.do(0, c.DeclareBankruptcy())
        assert game.state.ended == "last_left"
        assert game.events_of(AuctionOpened) == []
        assert "transfer_fee" not in {money[3] for money in game.money()}
