"""Cards that pay, cards that cost, and how the decks go round."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import CardDrawn, MoneyMoved, PaymentDue, ReleaseCardMoved
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.support.scenario import Game, a_game

CELL = {"market": 7, "support": 15}


def about_to_draw(deck: str, *cards: str, seats: int = 3, drawer: int = 0) -> Game:
    """The drawer is about to roll 1 and 2 to a card cell; these cards lie on top of its deck."""
    return a_game(seats).top_cards(deck, *cards).at(drawer, CELL[deck] - 3).turn_of(drawer)


def drawn(deck: str, *cards: str, seats: int = 3, drawer: int = 0) -> Game:
    """The drawer has rolled 1 and 2 to a card cell."""
    return about_to_draw(deck, *cards, seats=seats, drawer=drawer).roll(drawer, 1, 2)


@pytest.mark.parametrize(
    ("statement", "deck", "card", "amount"),
    [
        ("IND-CARD-27", "market", "dividends", 150),
        ("IND-CARD-31", "support", "vat_refund", 200),
        ("IND-CARD-32", "support", "state_grant", 100),
        ("IND-CARD-33", "support", "old_equipment_sold", 50),
    ],
)
def test_gains_come_from_the_bank(statement: str, deck: str, card: str, amount: int) -> None:
    """IND-CARD-17, IND-CARD-01: at once, in the step of the roll."""
    game = drawn(deck, card)
    assert game.money() == [(BANK, 0, amount, "card")], statement
    assert game.events_of(MoneyMoved)[0].card == f"{deck}/{card}"
    assert game.decision == ("manage", 0)


@pytest.mark.parametrize(
    ("statement", "deck", "card", "amount"),
    [
        ("IND-CARD-28", "market", "late_report", 100),
        ("IND-CARD-34", "support", "supplier_lawsuit", 150),
        ("IND-CARD-35", "support", "audit_fee", 50),
    ],
)
def test_payments_go_to_the_bank(statement: str, deck: str, card: str, amount: int) -> None:
    """IND-CARD-17, IND-DEBT-01: covered exactly they are paid, a unit less makes a debt of the whole."""
    game = about_to_draw(deck, card).with_cash(0, amount).roll(0, 1, 2)
    assert game.money() == [(0, BANK, amount, "card")], statement
    assert game.cash(0) == 0
    game = about_to_draw(deck, card).with_cash(0, amount - 1).roll(0, 1, 2)
    assert game.money() == []
    (due,) = game.events_of(PaymentDue)
    assert (due.payer, due.claims, due.card) == (0, (Claim(BANK, amount),), f"{deck}/{card}")
    assert game.decision == ("payment", 0)


@pytest.mark.parametrize("deck", ["market", "support"])
def test_the_top_card_goes_to_the_bottom(deck: str) -> None:
    """IND-CARD-01, IND-CARD-02, IND-CARD-03, IND-INV-10: a circle of ten that never changes its order."""
    first = "dividends" if deck == "market" else "vat_refund"
    game = about_to_draw(deck, first)
    before = game.cards(deck)
    game.roll(0, 1, 2)
    assert len(before) == 10
    assert game.cards(deck) == [*before[1:], first]
    assert [event.card for event in game.events_of(CardDrawn)] == [_number(game, deck, first)]
    other = {"market": "support", "support": "market"}[deck]
    assert game.cards(other) == [card.key for card in game.edition.decks[other]]


def _number(game: Game, deck: str, key: str) -> int:
    return [card.key for card in game.edition.decks[deck]].index(key)


@pytest.mark.parametrize(("deck", "card"), [("market", "lawyer_won"), ("support", "council_contact")])
def test_a_release_card_stays_in_the_circle(deck: str, card: str) -> None:
    """IND-CARD-25, IND-CARD-37, IND-CARD-05: the drawer's count grows, the deck keeps ten cards."""
    game = drawn(deck, card)
    assert game.state.release_cards[0] == (deck,)
    assert len(game.cards(deck)) == 10
    assert game.cards(deck)[-1] == card
    assert game.events_of(ReleaseCardMoved) == [ReleaseCardMoved(deck, BANK, 0)]
    assert game.money() == []


def test_several_release_cards_can_be_collected_and_kept() -> None:
    """IND-CARD-04, IND-CARD-05: also two of one deck; using one lowers the count and changes no deck."""
    game = about_to_draw("market", "lawyer_won").holding_release_cards(0, "market", "support").roll(0, 1, 2)
    assert game.state.release_cards[0] == ("market", "market", "support")
    order = game.cards("market"), game.cards("support")
    game.in_jail(0).turn_of(0).do(0, c.UseReleaseCard())
    assert game.state.release_cards[:1] == [("market", "support")]
    assert (game.cards("market"), game.cards("support")) == order


def test_the_staff_party_pays_each_rival() -> None:
    """IND-CARD-29, IND-CARD-18: 50 to every other player in play."""
    game = drawn("market", "staff_party", seats=4)
    assert game.money() == [(0, 1, 50, "card"), (0, 2, 50, "card"), (0, 3, 50, "card")]
    game = about_to_draw("market", "staff_party", seats=4).out(2).roll(0, 1, 2)
    assert game.money() == [(0, 1, 50, "card"), (0, 3, 50, "card")]


def test_the_staff_party_is_paid_wholly_or_to_nobody() -> None:
    """IND-CARD-18, IND-DEBT-22: one debt with all rivals as creditors."""
    game = about_to_draw("market", "staff_party").with_cash(0, 100).roll(0, 1, 2)
    assert game.money() == [(0, 1, 50, "card"), (0, 2, 50, "card")]
    game = about_to_draw("market", "staff_party").with_cash(0, 99).owning(0, 5).roll(0, 1, 2)
    assert game.money() == []
    (due,) = game.events_of(PaymentDue)
    assert due.claims == (Claim(1, 50), Claim(2, 50))
    assert game.decision == ("payment", 0)
    game.do(0, c.OpenAuction(5, 100)).do(1, c.Bid(100)).do(2, c.Pass())
    assert game.money() == [(1, 0, 100, "own_auction"), (0, 1, 50, "card"), (0, 2, 50, "card")]
    assert (game.cash(0), game.cash(1), game.cash(2)) == (99, 1450, 1550)


def test_a_won_tender_is_paid_clockwise_from_the_drawer() -> None:
    """IND-CARD-36, IND-CARD-19: every other player in play, one after another."""
    game = drawn("support", "tender_won", seats=4, drawer=2)
    assert game.money() == [(3, 2, 50, "card"), (0, 2, 50, "card"), (1, 2, 50, "card")]
    assert game.decision == ("manage", 2)
    game = about_to_draw("support", "tender_won", seats=4, drawer=2).out(0).roll(2, 1, 2)
    assert game.money() == [(3, 2, 50, "card"), (1, 2, 50, "card")]


def test_who_lacks_the_money_for_a_tender_becomes_a_debtor_when_reached() -> None:
    """IND-CARD-19, IND-DEBT-22, IND-DEBT-23: the drawer and the payers after him wait."""
    game = (
        about_to_draw("support", "tender_won", seats=4, drawer=1).cash_of_all(49, 0, 50, 20).owning(3, 5).roll(1, 1, 2)
    )
    assert game.money() == [(2, 1, 50, "card")]
    assert game.decision == ("payment", 3)
    assert [(event.payer, event.claims) for event in game.events_of(PaymentDue)] == [(3, (Claim(1, 50),))]
    game.do(3, c.DeclareBankruptcy())
    assert game.money() == [(3, 1, 20, "estate")]
    assert game.decision == ("payment", 0)
    game.do(0, c.DeclareBankruptcy())
    assert game.money() == [(0, 1, 49, "estate")]
    assert game.decision == ("manage", 1)
    assert game.cash(1) == 50 + 20 + 49


def test_a_debtor_who_pays_his_part_of_a_tender_lets_the_next_one_pay() -> None:
    """IND-CARD-19, IND-DEBT-04: the interrupted collection goes on in the same step."""
    game = (
        about_to_draw("support", "tender_won", drawer=1).with_cash(2, 0).building("bread_stall", 1).owning(2, 1, 3, 4)
    )
    game.with_cash(2, 25).roll(1, 1, 2)
    assert game.decision == ("payment", 2)
    game.do(2, c.SellBuildings((1,), 0))
    assert game.money() == [(BANK, 2, 25, "building_sale"), (2, 1, 50, "card"), (0, 1, 50, "card")]
    assert game.decision == ("manage", 1)


@pytest.mark.parametrize(
    ("statement", "deck", "card", "levels", "amount"),
    [
        ("IND-CARD-30", "market", "equipment_repair", (1, 1, 0), 50),
        ("IND-CARD-30", "market", "equipment_repair", (4, 4, 5), 300),
        ("IND-CARD-40", "support", "modernisation", (1, 1, 0), 80),
        ("IND-CARD-40", "support", "modernisation", (4, 4, 5), 435),
        ("IND-CARD-40", "support", "modernisation", (5, 5, 5), 345),
    ],
)
def test_buildings_cost_by_branch_and_holding(
    statement: str, deck: str, card: str, levels: tuple[int, ...], amount: int
) -> None:
    """IND-CARD-30, IND-CARD-40, IND-CARD-20, IND-CARD-17: a holding is one holding and not four branches."""
    game = about_to_draw(deck, card).owning_group(0, "textile", *levels).owning_group(1, "bakery", 2, 2, 2)
    game.roll(0, 1, 2)
    assert game.money() == [(0, BANK, amount, "card")], statement
    assert game.decision == ("manage", 0)


@pytest.mark.parametrize(("deck", "card"), [("market", "equipment_repair"), ("support", "modernisation")])
def test_without_buildings_nothing_is_paid(deck: str, card: str) -> None:
    """IND-CARD-20: a rival's buildings do not count."""
    game = about_to_draw(deck, card).owning_group(0, "textile").owning_group(1, "bakery", 2, 2, 2).with_cash(0, 0)
    game.roll(0, 1, 2)
    assert game.money() == []
    assert game.decision == ("manage", 0)


def test_a_building_payment_can_be_a_debt() -> None:
    """IND-CARD-20, IND-DEBT-01: for the whole sum."""
    game = about_to_draw("market", "equipment_repair").owning_group(0, "textile", 1, 1, 0).with_cash(0, 49)
    game.roll(0, 1, 2)
    assert game.events_of(PaymentDue)[0].claims == (Claim(BANK, 50),)
    game.do(0, c.SellBuildings((11,), 0))
    assert game.money() == [(BANK, 0, 50, "building_sale"), (0, BANK, 50, "card")]
    assert (game.cash(0), game.decision) == (49, ("manage", 0))
