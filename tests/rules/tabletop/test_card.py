"""Cards (TAB-CARD)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import CardDrawn, Jailed, PaymentDue, ReleaseCardMoved
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.rules.tabletop.tables import FIVE, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game


def drawing(key: str, game: Game, *, chest: bool = False) -> Game:
    """Seat 0 is about to land on a card cell with this card on top: 7 by (1, 2), or 33."""
    return game.top_cards("chest" if chest else "chance", key).at(0, 30 if chest else 4)


@pytest.mark.parametrize("edition", FIVE[:4])
def test_the_top_card_of_the_deck_of_the_cell(edition: str) -> None:
    """TAB-CARD-01: of the deck that the cell names."""
    game = a_table(edition).top_cards("chest", "old_bonds").top_cards("chance", "workshop_sold").at(0, 4).turn_of(0)
    game.roll(0, 1, 2)
    assert [(drawn.deck, drawn.card) for drawn in game.events_of(CardDrawn)] == [("chance", 15)]
    game.at(0, 30).turn_of(0).roll(0, 1, 2)
    assert [(drawn.deck, drawn.card) for drawn in game.events_of(CardDrawn)] == [("chest", 3)]


def test_cards_are_obeyed_at_once() -> None:
    """TAB-CARD-02: they move, demand, pay, jail and release, and nothing is asked first."""
    assert drawing("to_start", tabletop()).turn_of(0).roll(0, 1, 2).position(0) == 0
    assert drawing("parking_ticket", tabletop()).turn_of(0).roll(0, 1, 2).money() == [(0, BANK, 15, "card")]
    assert drawing("workshop_sold", tabletop()).turn_of(0).roll(0, 1, 2).money() == [(BANK, 0, 150, "card")]
    assert drawing("to_jail_a", tabletop()).turn_of(0).roll(0, 1, 2).events_of(Jailed) == [Jailed(0, "card")]
    game = drawing("release_pass_a", tabletop()).turn_of(0).roll(0, 1, 2)
    assert game.events_of(ReleaseCardMoved) == [ReleaseCardMoved("chance", BANK, 0)]
    assert game.decision == ("manage", 0)


@pytest.mark.parametrize("edition", FIVE)
def test_a_used_card_goes_to_the_bottom(edition: str) -> None:
    """TAB-CARD-03: and decks are not shuffled again: the 17th card is the first."""
    flat = a_table(edition)
    key = "advert" if edition == "rent-tax" else "workshop_sold"
    game = flat.top_cards("chance", key).at(0, 19)
    order = game.cards("chance")
    game.turn_of(0).roll(0, 1, 2)
    assert game.cards("chance") == [*order[1:], key]


def test_the_deck_goes_round() -> None:
    """TAB-CARD-03, -04: without the release card 15 cards come up in their order, again and again."""
    game = tabletop().top_cards("chance", "release_pass_a").at(0, 4).turn_of(0).roll(0, 1, 2)
    order = game.cards("chance")
    assert (len(order), "release_pass_a" in order) == (15, False)
    drawn = []
    for _ in range(16):
        game.in_round(1).with_cash(0, 5000).owning(0, *game.edition.board.deeds).at(0, 4).turn_of(0)
        game.state.jail_tries[0] = -1
        game.roll(0, 1, 2, 0, 0)
        drawn += [event.card for event in game.events_of(CardDrawn) if event.deck == "chance"]
    keys = [game.edition.decks["chance"][card].key for card in drawn]
    assert keys == [*order, order[0]]


@pytest.mark.parametrize("edition", FIVE[:4])
def test_a_release_card_is_kept_or_sold(edition: str) -> None:
    """TAB-CARD-04: for a price agreed upon; given up, it goes to the bottom of the deck that it came from."""
    game = a_table(edition).top_cards("chest", "release_pass_b").at(0, 14).turn_of(0).roll(0, 1, 2)
    assert "release_pass_b" not in game.cards("chest")
    game.turn_of(0).do(0, c.OfferTrade(1, Basket(release_cards=("chest",)), Basket(45))).do(1, c.AcceptTrade())
    assert game.money() == [(1, 0, 45, "trade")]
    assert game.state.release_cards == [(), ("chest",), ()]
    game.in_jail(1).turn_of(1).do(1, c.UseReleaseCard("chest"))
    assert game.cards("chest")[-1] == "release_pass_b"


def test_gain_and_pay() -> None:
    """TAB-CARD-05: from and to the bank."""
    assert drawing("deposit_interest", tabletop()).turn_of(0).roll(0, 1, 2).money() == [(BANK, 0, 50, "card")]
    assert drawing("clinic", tabletop(), chest=True).turn_of(0).roll(0, 1, 2).money() == [(0, BANK, 100, "card")]


def test_collect_each_and_pay_each() -> None:
    """TAB-CARD-05, -06: from and to every other solvent player, in seat order from the drawer's neighbour."""
    game = drawing("housewarming", a_table("tabletop", 5), chest=True).at(2, 30).out(3).turn_of(2).roll(2, 1, 2)
    assert game.money() == [(4, 2, 10, "card"), (0, 2, 10, "card"), (1, 2, 10, "card")]
    game = drawing("street_committee", a_table("tabletop", 5)).at(2, 4).out(3).turn_of(2).roll(2, 1, 2)
    assert game.money() == [(2, 4, 50, "card"), (2, 0, 50, "card"), (2, 1, 50, "card")]


def test_pay_per_building() -> None:
    """TAB-CARD-05: 25 for each house and 100 for each hotel; 40 and 115; 250 and 1000; without buildings nothing."""
    game = drawing("roof_repairs", tabletop()).owning_group(0, "navy", 5, 4).owning_group(1, "brown", 1, 1)
    assert game.turn_of(0).roll(0, 1, 2).money() == [(0, BANK, 200, "card")]
    game = drawing("pavement_works", tabletop(), chest=True).owning_group(0, "navy", 5, 4)
    assert game.turn_of(0).roll(0, 1, 2).money() == [(0, BANK, 275, "card")]
    game = rent_tax().top_cards("chance", "branch_inspection").at(0, 10).owning_group(0, "tea", 5, 4)
    assert game.turn_of(0).roll(0, 1, 2).do(0, c.Pay()).money() == [(0, BANK, 2000, "card")]
    assert drawing("roof_repairs", tabletop()).turn_of(0).roll(0, 1, 2).money() == []


def test_a_hotel_of_the_short_game_counts_as_a_hotel() -> None:
    """TAB-CARD-05, TAB-BUILD-09: level 4 there."""
    game = a_table("tabletop-short").top_cards("chance", "roof_repairs").at(0, 4).owning_group(0, "navy", 4, 3)
    assert game.turn_of(0).roll(0, 1, 2).money() == [(0, BANK, 175, "card")]


def test_move_to_and_move_by() -> None:
    """TAB-CARD-05: forward to the cell; negative amounts go backwards."""
    game = drawing("to_lake_station", tabletop()).owning(0, 5).turn_of(0).roll(0, 1, 2)
    assert (game.position(0), game.money()) == (5, [(BANK, 0, 200, "salary")])
    game = drawing("three_back", tabletop()).turn_of(0).roll(0, 1, 2)
    assert game.position(0) == 4


@pytest.mark.parametrize(("start", "station"), [(4, 15), (19, 25), (33, 5)])
def test_the_nearest_station_costs_twice_its_rent(start: int, station: int) -> None:
    """TAB-CARD-05: the next one forward, from 36 past Start."""
    game = tabletop().top_cards("chance", "nearest_station_1").owning(1, 5, 15, 25, 35).at(0, start).turn_of(0)
    game.roll(0, 1, 2)
    assert game.position(0) == station
    assert game.money()[-1] == (0, 1, 400, "rent")
    single = tabletop().top_cards("chance", "nearest_station_2").owning(1, station).at(0, start).turn_of(0)
    assert single.roll(0, 1, 2).money()[-1] == (0, 1, 50, "rent")


@pytest.mark.parametrize("edition", ["tabletop", "online-classic"])
def test_the_nearest_utility_costs_ten_times_a_new_roll(edition: str) -> None:
    """TAB-CARD-05, TAB-RENT-09, -10: the multiplier is the card's, even for a single utility."""
    game = a_table(edition).top_cards("chance", "nearest_utility").owning(1, 12).at(0, 4).turn_of(0)
    assert game.roll(0, 1, 2, 2, 3).money() == [(0, 1, 70, "rent")]


def test_a_payer_short_of_cash_waits() -> None:
    """TAB-CARD-06: separate debts; the short payer has the decision, and the drawer's turn waits."""
    game = drawing("housewarming", a_table("tabletop", 4), chest=True).with_cash(2, 9).owning(2, 1)
    game.turn_of(0).roll(0, 1, 2)
    assert game.money() == [(1, 0, 10, "card")]
    assert (game.decision, game.state.turn_seat) == (("payment", 2), 0)
    assert game.events_of(PaymentDue)[0].claims == (Claim(0, 10),)
    game.do(2, c.Mortgage(1))
    assert game.money() == [(BANK, 2, 30, "mortgage"), (2, 0, 10, "card"), (3, 0, 10, "card")]
    assert game.decision == ("manage", 0)


def test_in_rent_tax_every_payer_is_asked() -> None:
    """TAB-CARD-06, TAB-DEBT-01: each gets `PAY` in turn."""
    game = rent_tax().top_cards("chance", "anniversary").at(0, 10).turn_of(0).roll(0, 1, 2)
    assert (game.decision, game.money()) == (("payment", 1), [])
    game.do(1, c.Pay())
    assert (game.decision, game.money()) == (("payment", 2), [(1, 0, 300, "card")])
    game.do(2, c.Pay())
    assert game.decision == ("roll", 1)


def test_pay_each_is_one_debt_of_the_whole() -> None:
    """TAB-CARD-06, TAB-DEBT-06: 99 do not pay the one and not the other."""
    game = drawing("street_committee", tabletop()).with_cash(0, 99).owning(0, 1).turn_of(0).roll(0, 1, 2)
    assert game.money() == []
    assert game.events_of(PaymentDue)[0].claims == (Claim(1, 50), Claim(2, 50))
    game.do(0, c.Mortgage(1))
    assert game.money() == [(BANK, 0, 30, "mortgage"), (0, 1, 50, "card"), (0, 2, 50, "card")]


def test_no_release_card_in_rent_tax() -> None:
    """TAB-CARD-07: neither in the deck nor in anybody's hand."""
    game = rent_tax()
    assert "release_card" not in {card.effect for card in game.edition.decks["chance"]}
    assert game.edition.release_card is None


def test_online_a_card_debt_is_paid_by_itself() -> None:
    """TAB-CARD-06: as in TT."""
    game = drawing("street_committee", online()).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(0, 1, 50, "card"), (0, 2, 50, "card")]
