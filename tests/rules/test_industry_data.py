"""The data of edition `industry`: cells, cards and parameters, statement by statement."""

from collections import Counter

import pytest

from services.rules.domain import parameters as p
from services.rules.domain.board import Names
from services.rules.domain.edition import Edition
from services.rules.editions.loader import load_catalogue

INDUSTRY = load_catalogue().get("industry", 1)
BOARD = INDUSTRY.board
PEOPLE, SOLO = INDUSTRY.at("people"), INDUSTRY.at("solo")


def test_board_has_forty_cells_of_the_stated_kinds() -> None:
    """IND-SETUP-01: 24 enterprises in 8 industries of three, 3 logistics, 2 utilities, cards, a tax, four corners."""
    assert len(BOARD.kind) == 40
    assert Counter(BOARD.kind) == {
        "property": 24,
        "transport": 3,
        "utility": 2,
        "card": 6,
        "tax": 1,
        "start": 1,
        "jail": 1,
        "free": 1,
        "goto_jail": 1,
    }
    streets = {group: cells for group, cells in BOARD.group_cells.items() if BOARD.is_street[cells[0]]}
    assert [len(cells) for cells in streets.values()] == [3] * 8


def test_six_card_cells_one_tax_and_the_corners() -> None:
    """IND-SETUP-02: 3 market and 3 support cells, a tax of 100; corners 0, 10, 20, 30."""
    assert Counter(deck for deck in BOARD.deck_of if deck) == {"market": 3, "support": 3}
    assert [(cell, BOARD.amount[cell]) for cell in range(40) if BOARD.kind[cell] == "tax"] == [(35, 100)]
    assert [BOARD.kind[cell] for cell in (0, 10, 20, 30)] == ["start", "jail", "free", "goto_jail"]
    assert [BOARD.key[cell] for cell in (10, 20, 30)] == ["inspection", "business_forum", "tax_service"]


@pytest.mark.parametrize(
    ("cell", "key", "price", "build_cost", "rents"),
    [
        (1, "bread_stall", 60, 50, (6, 30, 90, 180, 260, 340)),
        (4, "pastry_workshop", 80, 50, (10, 45, 120, 240, 350, 450)),
        (9, "grain_elevator", 120, 50, (14, 70, 190, 380, 525, 675)),
        (14, "footwear_factory", 160, 100, (20, 95, 270, 520, 700, 900)),
        (19, "conference_hotel", 200, 100, (26, 125, 350, 670, 875, 1100)),
        (24, "design_bureau", 240, 150, (32, 160, 440, 820, 1075, 1325)),
        (29, "family_clinic", 280, 150, (40, 195, 530, 980, 1250, 1525)),
        (34, "shipyard", 320, 200, (48, 230, 630, 1160, 1425, 1725)),
        (39, "robotics_lab", 400, 200, (64, 315, 850, 1520, 1825, 2125)),
        (5, "freight_station", 200, 0, (25, 50, 120)),
        (28, "water_supply", 150, 0, (4, 10)),
    ],
)
def test_prices_costs_and_rents_come_from_the_cells(
    cell: int, key: str, price: int, build_cost: int, rents: tuple[int, ...]
) -> None:
    """IND-SETUP-03, -04: what the card of a cell says."""
    assert (BOARD.key[cell], BOARD.price[cell], BOARD.build_cost[cell], BOARD.rents[cell]) == (
        key,
        price,
        build_cost,
        rents,
    )
    assert BOARD.cell_of_key[key] == cell


def test_all_prices_are_even_and_within_60_to_400() -> None:
    """IND-SETUP-04: half a price is always whole."""
    prices = [BOARD.price[cell] for cell in BOARD.deeds]
    assert (min(prices), max(prices), {price % 2 for price in prices}) == (60, 400, {0})


def test_card_cells_carry_their_deck_and_levels_their_price() -> None:
    """IND-SETUP-05: `group` of a card cell is its deck; `build_cost` is the same for every level of an industry."""
    assert {cell: BOARD.deck_of[cell] for cell in range(40) if BOARD.kind[cell] == "card"} == {
        2: "support",
        7: "market",
        15: "support",
        22: "support",
        25: "market",
        38: "market",
    }
    assert {group: BOARD.build_cost[cells[0]] for group, cells in BOARD.group_cells.items()} == {
        "bakery": 50,
        "agro": 50,
        "textile": 100,
        "hospitality": 100,
        "construction": 150,
        "medicine": 150,
        "machinery": 200,
        "it": 200,
        "logistics": 0,
        "utilities": 0,
    }


def test_layout() -> None:
    """IND-SETUP-04: where the groups lie."""
    assert BOARD.group_cells == {
        "bakery": (1, 3, 4),
        "logistics": (5, 18, 32),
        "agro": (6, 8, 9),
        "textile": (11, 13, 14),
        "utilities": (12, 28),
        "hospitality": (16, 17, 19),
        "construction": (21, 23, 24),
        "medicine": (26, 27, 29),
        "machinery": (31, 33, 34),
        "it": (36, 37, 39),
    }
    assert BOARD.group_of_cell[12] == (12, 28)
    assert (BOARD.transports, BOARD.utilities) == ((5, 18, 32), (12, 28))
    assert (len(BOARD.deeds), len(BOARD.streets), BOARD.start_cell, BOARD.jail_cell) == (29, 24, 0, 10)


FIRST_BIDS = {
    60: 45,
    80: 60,
    100: 75,
    120: 90,
    140: 105,
    150: 113,
    160: 120,
    180: 135,
    200: 150,
    220: 165,
    240: 180,
    260: 195,
    280: 210,
    300: 225,
    320: 240,
    350: 263,
    370: 278,
    400: 300,
}


def test_first_bids_and_bank_prices() -> None:
    """IND-SETUP-05: the price is the base of first bid (75%, rounded up) and bank price (half), for every price."""
    assert {BOARD.price[cell] for cell in BOARD.deeds} == set(FIRST_BIDS)
    assert {price: INDUSTRY.opening_bid.of_price(price) for price in FIRST_BIDS} == FIRST_BIDS
    assert {BOARD.price[cell]: BOARD.half_price[cell] for cell in BOARD.deeds} == {
        60: 30,
        80: 40,
        100: 50,
        120: 60,
        140: 70,
        150: 75,
        160: 80,
        180: 90,
        200: 100,
        220: 110,
        240: 120,
        260: 130,
        280: 140,
        300: 150,
        320: 160,
        350: 175,
        370: 185,
        400: 200,
    }


def test_colours_and_names_of_groups() -> None:
    """IND-SETUP-04: ten groups with a colour and three names."""
    assert {key: group.colour for key, group in BOARD.groups.items()} == {
        "bakery": "#8d5a3b",
        "logistics": "#424242",
        "agro": "#7cb342",
        "textile": "#d81b60",
        "utilities": "#fdd835",
        "hospitality": "#fb8c00",
        "construction": "#e53935",
        "medicine": "#00acc1",
        "machinery": "#546e7a",
        "it": "#3949ab",
    }
    names = BOARD.groups["textile"].names
    assert names == Names(en="Light industry", uk="Легка промисловість", ru="Лёгкая промышленность")
    assert [names.in_language(language) for language in ("en", "uk", "ru")] == [names.en, names.uk, names.ru]
    assert BOARD.names[13] == Names(en="Knitwear Mill", uk="Трикотажна фабрика", ru="Трикотажная фабрика")


def test_decks_of_ten_cards_in_a_circle() -> None:
    """IND-CARD-02: two decks of 10 cards, which go round in file order once shuffled."""
    assert {name: len(deck) for name, deck in INDUSTRY.decks.items()} == {"market": 10, "support": 10}
    for name, deck in INDUSTRY.decks.items():
        assert [(card.deck, card.order) for card in deck] == [(name, order) for order in range(1, 11)]
    assert INDUSTRY.deck_cycle == "shuffle_once"


CARDS = [
    ("IND-CARD-21", "market", 0, ("new_contracts", "move_to", 0, None, "start")),
    ("IND-CARD-22", "market", 1, ("unexpected_trip", "random_trip", 0, None, "random")),
    ("IND-CARD-23", "market", 2, ("urgent_shipment", "move_nearest", 0, None, "transport")),
    ("IND-CARD-24", "market", 3, ("unscheduled_audit", "goto_jail", 0, None, "jail")),
    ("IND-CARD-25", "market", 4, ("lawyer_won", "release_card", 1, None, "")),
    ("IND-CARD-26", "market", 5, ("contract_lost", "move_by", -3, None, "")),
    ("IND-CARD-27", "market", 6, ("dividends", "gain", 150, None, "")),
    ("IND-CARD-28", "market", 7, ("late_report", "pay", 100, None, "")),
    ("IND-CARD-29", "market", 8, ("staff_party", "pay_each", 50, None, "others")),
    ("IND-CARD-30", "market", 9, ("equipment_repair", "pay_per_building", 25, 100, "own_buildings")),
    ("IND-CARD-31", "support", 0, ("vat_refund", "gain", 200, None, "")),
    ("IND-CARD-32", "support", 1, ("state_grant", "gain", 100, None, "")),
    ("IND-CARD-33", "support", 2, ("old_equipment_sold", "gain", 50, None, "")),
    ("IND-CARD-34", "support", 3, ("supplier_lawsuit", "pay", 150, None, "")),
    ("IND-CARD-35", "support", 4, ("audit_fee", "pay", 50, None, "")),
    ("IND-CARD-36", "support", 5, ("tender_won", "collect_each", 50, None, "others")),
    ("IND-CARD-37", "support", 6, ("council_contact", "release_card", 1, None, "")),
    ("IND-CARD-38", "support", 7, ("competitor_complaint", "goto_jail", 0, None, "jail")),
    ("IND-CARD-39", "support", 8, ("annual_report", "move_to", 0, None, "start")),
    ("IND-CARD-40", "support", 9, ("modernisation", "pay_per_building", 40, 115, "own_buildings")),
]


@pytest.mark.parametrize(("statement", "deck", "index", "expected"), CARDS, ids=[case[0] for case in CARDS])
def test_card(statement: str, deck: str, index: int, expected: tuple[str, str, int, int | None, str]) -> None:
    """Each card does what its statement says, and says so in three languages."""
    card = INDUSTRY.decks[deck][index]
    assert (card.key, card.effect, card.amount, card.amount2, card.target) == expected
    texts = (card.texts.en, card.texts.uk, card.texts.ru)
    assert len(set(texts)) == 3
    for amount in (abs(card.amount), card.amount2):
        if amount and card.effect != "release_card":
            assert all(str(amount) in text for text in texts)


# Ids without their prefix name statements about behaviour, which need tests of the rules: the value alone is not enough
# to count for them.
PARAMETERS = [
    ("IND-SETUP-07", "round_limit", None),
    ("IND-SETUP-07", "time_limit_min", None),
    ("IND-SETUP-08", "start_cash", 1500),
    ("SETUP-09", "seats", p.SeatRange(least=2, most=6)),
    ("SETUP-13", "first_player", "draw"),
    ("TURN-06", "manage_after", "every_roll"),
    ("MOVE-02", "salary", 200),
    ("AUC-02", "decliner_bids", True),
    ("AUC-03", "first_asked", "decliner"),
    ("AUC-05", "opening_bid", p.Opening(percent=75)),
    ("AUC-06", "bid_increment", 10),
    ("AUC-19", "bid_rule", "exact"),
    ("AUC-08", "bid_limit", "cash"),
    ("AUC-14", "lot_s", 60),
    ("OWNAUC-02", "own_auction", "bare"),
    ("OWNAUC-10", "own_auction_opening", "seller"),
    ("OWNAUC-05", "own_auction_in", frozenset({"manage", "payment"})),
    ("RENT-03", "double_rent_bare", "street"),
    ("RENT-07", "utility_dice", "last"),
    ("RENT-08", "jailed_owner_rent", True),
    ("RENT-09", "payment_confirm", None),
    ("BUILD-11", "build_in", frozenset({"manage"})),
    ("BUILD-03", "build_where", "token"),
    ("BUILD-04", "build_limit", "visit"),
    ("BUILD-05", "build_even", True),
    ("BUILD-06", "houses_under_hotel", 4),
    ("IND-BUILD-07", "supply", p.Supply(houses=32, hotels=12)),
    ("BUILD-08", "supply_short", "refuse"),
    ("BUILD-14", "building_refund", 50),
    ("BUILD-17", "sale_unit", "level"),
    ("BUILD-18", "raise_in", "own"),
    ("IND-MORT-01", "mortgage", None),
    ("IND-MORT-01", "redeem_cost", None),
    ("TRADE-01", "trade_limit", 1),
    ("TRADE-08", "trade_in", p.TradeIn(full=frozenset({"manage"}), sale=frozenset({"payment"}))),
    ("TRADE-07", "trade_shape", "single"),
    ("TRADE-11", "repeat_offer_step", 10),
    ("TRADE-15", "trade_counts", "offers"),
    ("TRADE-16", "answer_s", 60),
    ("TRADE-19", "bot_offers", p.BotOffers(per_turn=1, silent_rounds=5)),
    ("TRADE-03", "trade_cards", False),
    ("DEBT-20", "debt_trade_limit", p.DebtTradeLimit(count=3, counts="refused")),
    ("DEBT-10", "sell_to_bank", True),
    ("DEBT-25", "give_up", "debt"),
    ("CARD-05", "release_card", "stays"),
    ("JAIL-04", "jail_fine", 50),
    ("BANK-01", "estate_to_player", p.EstateToPlayer(usual="cash", last="cash")),
    ("BANK-07", "estate_to_bank", p.EstateToBank(usual="unowned", last="unowned", ally=False)),
    ("TIME-05", "on_timeout", "eliminate"),
    ("TIME-14", "turn_clock", "per_action"),
    ("TIME-01", "turn_s", 300),
    ("TIME-01", "payment_s", p.PaymentClock(seconds=300, covered="own")),
    ("TIME-09", "bid_s", 60),
]


@pytest.mark.parametrize(
    ("statement", "name", "value"), PARAMETERS, ids=[f"{statement}-{name}" for statement, name, _ in PARAMETERS]
)
def test_parameter(statement: str, name: str, value: object) -> None:
    """The number or variant that a statement gives, as an online table has it."""
    assert getattr(PEOPLE, name) == value


def test_what_differs_at_a_bot_table() -> None:
    """The person is first, only deals count, refusals in a debt do not."""
    assert (SOLO.first_player, SOLO.trade_counts, SOLO.debt_trade_limit) == ("person", "deals", None)
    bots = INDUSTRY.at("bots")
    assert (bots.first_player, bots.trade_counts) == ("draw", "offers")


def test_a_table_has_people_or_one_person_with_bots() -> None:
    """People alone, one person and bots, or bots alone; never mixed."""
    assert INDUSTRY.seating == ("people", "solo", "bots")
    with pytest.raises(ValueError, match="has no mixed tables"):
        INDUSTRY.at("mixed")


def test_the_start_cell_repeats_the_salary() -> None:
    """200 stands on the start cell too."""
    assert BOARD.amount[BOARD.start_cell] == INDUSTRY.salary == 200


def test_flat_edition_is_shared_and_flat() -> None:
    assert SOLO is INDUSTRY.at("solo")
    assert (SOLO.seating, SOLO.by_seating, SOLO.at("solo")) == (("solo",), (), SOLO)
    assert isinstance(SOLO, Edition)
    assert SOLO != PEOPLE
