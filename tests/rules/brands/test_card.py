"""Chance cards (BRA-CARD)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import (
    BuildingDestroyed,
    CardDrawn,
    DeckShuffled,
    Jailed,
    PaymentDue,
    ReleaseCardMoved,
)
from services.rules.domain.options import BuildingChoice
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.rules.brands.games import (
    BRANDS,
    BRAWL,
    CHANCE,
    MODES,
    RELEASE_CARD,
    TEAMS,
    brands,
    drawing,
    every_mode,
    holding_the_release_card,
)
from tests.support.positions import CATALOGUE
from tests.support.scenario import Game

#: the deck of the ledger: (effect, amount, amount2 or target)
DECK = [
    *[("gain", amount, None) for amount in (500, 1000, 1500, 2000)],
    *[("pay", amount, None) for amount in (500, 1000, 1500)],
    *[("collect_each", amount, None) for amount in (250, 500)],
    ("pay_each", 500, None),
    ("move_to", 0, None),
    ("goto_jail", 0, None),
    *[("move_to", 0, None)] * 3,
    *[("move_nearest", 0, None)] * 2,
    ("move_by", -3, None),
    ("pay_per_building", 250, 1000),
    ("release_card", 1, None),
]


@pytest.mark.parametrize("cell", CHANCE)
@every_mode
def test_chance_cells_draw_a_card(edition: str, cell: int) -> None:
    """BRA-CARD-01: each of the six, one card from the top."""
    game = brands(edition).top_cards("chance", "good_quarter").landing(0, cell)
    drawn = [event for event in game.events if isinstance(event, CardDrawn)]
    assert drawn == [CardDrawn(0, "chance", 1)]
    assert game.cash(0) == game.edition.start_cash + 1000


@every_mode
def test_the_deck(edition: str) -> None:
    """BRA-CARD-01, BRA-CARD-05, BRA-CARD-06: 20 cards, in a brawl 21 with the demolition."""
    (cards,) = CATALOGUE.get(edition).decks.values()
    assert len(cards) == (21 if edition == BRAWL else 20)
    assert [(card.effect, card.amount, card.amount2) for card in cards[:20]] == DECK
    targets = {card.key: card.target for card in cards if card.effect in ("move_to", "move_nearest")}
    assert list(targets.values()) == ["start", "casino", "lattice_fern", "crane_parallel", "transport", "utility"]
    board = CATALOGUE.get(edition).board
    assert (board.cell_of_key["lattice_fern"], board.cell_of_key["crane_parallel"]) == (39, 24)
    assert [card.effect for card in cards[20:]] == (["destroy_building"] if edition == BRAWL else [])


@every_mode
def test_the_deck_is_shuffled_at_the_start(edition: str) -> None:
    """BRA-CARD-01: by draws of the game."""
    game = brands(edition)
    size = 21 if edition == BRAWL else 20
    assert next(event for event in game.events if isinstance(event, DeckShuffled)) == DeckShuffled(
        "chance", tuple(range(size)), size - 1
    )


def test_a_used_up_deck_is_shuffled_again() -> None:
    """BRA-CARD-02, BRA-CARD-08: when a card must be drawn and none is left; a drawn card is laid aside."""
    game = brands()
    game.state.decks["chance"] = (2,)
    game.state.discards["chance"] = (0, 1)
    game.at(0, 4).turn_of(0).roll(0, 1, 2)
    assert (game.state.decks["chance"], game.state.discards["chance"]) == ((), (0, 1, 2))
    assert game.events_of(DeckShuffled) == []
    # Two draws shuffle three cards: the last place stays, then the first two change.
    game.at(1, 4).turn_of(1).roll(1, 1, 2, 2, 0)
    assert game.events_of(DeckShuffled) == [DeckShuffled("chance", (1, 0, 2), 2)]
    assert game.events_of(CardDrawn) == [CardDrawn(1, "chance", 1)]
    assert (game.state.decks["chance"], game.state.discards["chance"]) == ((0, 2), (1,))


@pytest.mark.parametrize(
    ("card", "payments"),
    [
        ("small_refund", [(BANK, 0, 500, "card")]),
        ("good_quarter", [(BANK, 0, 1000, "card")]),
        ("export_order", [(BANK, 0, 1500, "card")]),
        ("logo_prize", [(BANK, 0, 2000, "card")]),
        ("misprinted_posters", [(0, BANK, 500, "card")]),
        ("server_outage", [(0, BANK, 1000, "card")]),
        ("product_recall", [(0, BANK, 1500, "card")]),
        ("loyal_customers", [(1, 0, 250, "card"), (2, 0, 250, "card"), (3, 0, 250, "card")]),
        ("licence_fees", [(1, 0, 500, "card"), (2, 0, 500, "card"), (3, 0, 500, "card")]),
        ("joint_exhibition", [(0, 1, 500, "card"), (0, 2, 500, "card"), (0, 3, 500, "card")]),
        ("fire_inspection", [(0, BANK, 250 * 5 + 1000, "card")]),
    ],
)
@pytest.mark.parametrize("edition", [BRANDS, TEAMS])
def test_money_cards(edition: str, card: str, payments: list[tuple[int, int, int, str]]) -> None:
    """BRA-CARD-03, BRA-CARD-06, BRA-CARD-07, BRA-CARD-09: debited at once; the ally is one of the others."""
    game = drawing(card, edition, 4).owning_group(0, "technology", 4, 5).owning_group(0, "supermarkets", 0, 1)
    game.roll(0, 3, 4)
    assert game.money() == payments
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize(
    ("card", "cell", "salary"),
    [
        ("new_season", 0, 2000),
        ("lucky_evening", 20, 0),
        ("tech_talk", 39, 0),
        ("missed_connection", 24, 0),
        ("loan_meeting", 15, 0),
        ("plant_visit", 12, 0),
        ("lost_tender", 4, 0),
    ],
)
def test_cards_that_move(card: str, cell: int, salary: int) -> None:
    """BRA-CARD-03, BRA-CARD-06, BRA-CARD-07: always clockwise, but for 3 cells back; Start pays."""
    game = drawing(card).roll(0, 3, 4)
    assert game.position(0) == cell
    assert sum(amount for _, _, amount, reason in game.money() if reason == "salary") == salary


@pytest.mark.parametrize(("start", "finance", "industry"), [(22, 25, 28), (33, 35, 12), (36, 5, 12)])
def test_the_nearest_is_clockwise(start: int, finance: int, industry: int) -> None:
    """BRA-CARD-07: round the board and past Start too."""
    for card, cell in (("loan_meeting", finance), ("plant_visit", industry)):
        game = brands().top_cards("chance", card).at(0, start - 3).turn_of(0).roll(0, 1, 2)
        assert game.position(0) == cell
        passed = [item for item in game.money() if item[3] == "salary"]
        assert len(passed) == int(cell < start)


def test_to_jail() -> None:
    """BRA-CARD-03, BRA-CARD-06: without salary."""
    game = drawing("false_advertising").roll(0, 3, 4)
    assert game.events_of(Jailed) == [Jailed(0, "card")]
    assert (game.position(0), game.money(), game.decision) == (10, [], ("roll", 1))


@pytest.mark.parametrize(("cash", "owes"), [(1499, True), (1500, False)])
def test_a_card_beyond_the_cash(cash: int, owes: bool) -> None:
    """BRA-CARD-04, BRA-CARD-09: the game goes to debt settlement."""
    game = drawing("product_recall").owning(0, 39).with_cash(0, cash).roll(0, 3, 4)
    assert game.decision == (("payment", 0) if owes else ("roll", 1))
    assert game.cash(0) == (cash if owes else 0)
    if owes:
        assert game.deadline == ("payment", 60_000)
        assert game.events_of(PaymentDue)[0].card == "chance/product_recall"


def test_the_release_card() -> None:
    """BRA-CARD-03, BRA-CARD-08: it stays with its holder and out of the deck until it is used."""
    game = drawing("good_lawyer").roll(0, 3, 4)
    assert game.events_of(ReleaseCardMoved) == [ReleaseCardMoved("chance", BANK, 0)]
    assert game.state.release_cards[0] == ("chance",)
    assert RELEASE_CARD not in (*game.state.decks["chance"], *game.state.discards["chance"])
    game.in_jail(0).turn_of(0).do(0, c.UseReleaseCard("chance"))
    assert game.state.release_cards == [(), (), ()]
    assert game.state.discards["chance"] == (RELEASE_CARD,)


def test_the_release_card_of_a_leaver() -> None:
    """BRA-CARD-08: goes to the discard pile."""
    game = holding_the_release_card(brands(), 1).turn_of(0).do(1, c.Surrender())
    assert (game.state.release_cards[1], game.state.discards["chance"]) == ((), (RELEASE_CARD,))


def test_no_reshuffle_gives_a_held_card() -> None:
    """BRA-CARD-08: only the discard pile is shuffled."""
    game = holding_the_release_card(brands(), 1)
    game.state.decks["chance"], game.state.discards["chance"] = (), tuple(range(19))
    game.at(0, 4).turn_of(0).roll(0, 1, 2, *range(18, 0, -1))
    assert game.state.release_cards[1] == ("chance",)
    assert sorted((*game.state.decks["chance"], *game.state.discards["chance"])) == list(range(19))


def test_collecting_goes_round() -> None:
    """BRA-CARD-10: in seat order from the drawer's neighbour, each paying or settling a debt before the next."""
    game = drawing("licence_fees", BRANDS, 4, seat=2).owning(3, 39).with_cash(3, 499).roll(2, 3, 4)
    assert (game.decision, game.money()) == (("payment", 3), [])
    assert game.events_of(PaymentDue)[0].claims == (Claim(2, 500),)
    game.do(3, c.Mortgage(39)).do(3, c.Pay())
    assert game.money() == [(3, 2, 500, "card"), (0, 2, 500, "card"), (1, 2, 500, "card")]
    assert game.decision == ("roll", 3)


def test_paying_each_is_one_payment() -> None:
    """BRA-CARD-07, BRA-DEBT-05: to all others together, or to nobody yet."""
    game = drawing("joint_exhibition", BRANDS, 4).owning(0, 39).with_cash(0, 1499).roll(0, 3, 4)
    assert game.events_of(PaymentDue)[0].claims == (Claim(1, 500), Claim(2, 500), Claim(3, 500))
    game.do(0, c.Mortgage(39)).do(0, c.Pay())
    assert game.money() == [(0, 1, 500, "card"), (0, 2, 500, "card"), (0, 3, 500, "card")]


def test_repairs_without_buildings_cost_nothing() -> None:
    """BRA-CARD-06: 250 per branch and 1000 per corporation of one's own."""
    game = drawing("fire_inspection").owning_group(1, "technology", 5, 5).owning(0, 5).with_cash(0, 0).roll(0, 3, 4)
    assert (game.money(), game.decision) == ([], ("roll", 1))


def demolition() -> Game:
    """Seat 0 is about to draw the demolition."""
    return drawing("demolition_order", BRAWL)


def test_demolition() -> None:
    """BRA-CARD-05, BRA-CARD-11: the drawer chooses an opponent's brand; it falls by one level, nobody is paid."""
    game = demolition().owning_group(1, "technology", 5, 1).owning_group(2, "motors", 0, 2, 0)
    game.owning_group(0, "drinks", 3, 3, 3).roll(0, 3, 4)
    assert game.decision == ("demolition_choice", 0)
    choices = game.option("choose_building").buildings
    assert choices == (BuildingChoice(32, 1, 0), BuildingChoice(37, 4, 0), BuildingChoice(39, 0, 0))
    for cell in (6, 31, 5, 40, -1):
        game.refused(0, c.ChooseBuilding(cell), "bad_choice", "BRA-CARD-11")
    game.do(0, c.ChooseBuilding(37))
    assert game.events_of(BuildingDestroyed) == [BuildingDestroyed(37, 4)]
    assert (game.level(37), game.money(), game.decision) == (4, [], ("roll", 1))


def test_demolition_without_buildings() -> None:
    """BRA-CARD-11: if no opponent has any, nothing happens."""
    game = demolition().owning_group(0, "drinks", 3, 3, 3).owning(1, 39).roll(0, 3, 4)
    assert (game.events_of(BuildingDestroyed), game.decision) == ([], ("roll", 1))


@pytest.mark.parametrize("edition", MODES)
def test_only_the_brawl_demolishes(edition: str) -> None:
    """BRA-CARD-05: its additional card."""
    keys = [card.key for card in CATALOGUE.get(edition).decks["chance"]]
    assert ("demolition_order" in keys) == (edition == BRAWL)
