"""The data of the five editions of the tabletop ledger: cells, cards and parameters, statement by statement."""

from collections import Counter
from dataclasses import fields

import pytest

from services.rules.domain import parameters as p
from services.rules.domain.edition import Edition
from services.rules.editions.loader import load_catalogue

CATALOGUE = load_catalogue()
TABLETOP, SHORT, TIMED, ONLINE, RENT_TAX = ALL = tuple(
    CATALOGUE.get(name, 1) for name in ("tabletop", "tabletop-short", "tabletop-timed", "online-classic", "rent-tax")
)
BOARD, COMPANIES = TABLETOP.board, RENT_TAX.board


def differing(edition: Edition, other: Edition) -> set[str]:
    """The parameters in which two editions differ."""
    names = {item.name for item in fields(edition) if getattr(edition, item.name) != getattr(other, item.name)}
    return names - {"id", "names", "statements"}


def test_two_to_eight_players() -> None:
    """TAB-SETUP-01: at least two players, at most eight."""
    assert {(edition.seats.least, edition.seats.most) for edition in ALL} == {(2, 8)}


def test_what_is_in_the_box() -> None:
    """TAB-SETUP-02: 40 cells, 28 deeds, 32 houses, 12 hotels, two decks of 16 cards."""
    assert Counter(BOARD.kind) == {
        "property": 22,
        "transport": 4,
        "utility": 2,
        "card": 6,
        "tax": 2,
        "start": 1,
        "jail": 1,
        "free": 1,
        "goto_jail": 1,
    }
    assert len(BOARD.deeds) == 28
    for edition in (TABLETOP, SHORT, TIMED, ONLINE):
        assert edition.board == BOARD
        assert {name: len(deck) for name, deck in edition.decks.items()} == {"chance": 16, "chest": 16}
    assert BOARD.group_cells == {
        "brown": (1, 3),
        "stations": (5, 15, 25, 35),
        "sky": (6, 8, 9),
        "pink": (11, 13, 14),
        "utilities": (12, 28),
        "orange": (16, 18, 19),
        "red": (21, 23, 24),
        "yellow": (26, 27, 29),
        "green": (31, 32, 34),
        "navy": (37, 39),
    }
    assert {cell: BOARD.deck_of[cell] for cell in range(40) if BOARD.kind[cell] == "card"} == {
        2: "chest",
        7: "chance",
        17: "chest",
        22: "chance",
        33: "chest",
        36: "chance",
    }


@pytest.mark.parametrize(
    ("cell", "price", "cost", "rents"),
    [
        (1, 60, 50, (2, 10, 30, 90, 160, 250)),
        (9, 120, 50, (8, 40, 100, 300, 450, 600)),
        (19, 200, 100, (16, 80, 220, 600, 800, 1000)),
        (24, 240, 150, (20, 100, 300, 750, 925, 1100)),
        (39, 400, 200, (50, 200, 600, 1400, 1700, 2000)),
        (25, 200, 0, (25, 50, 100, 200)),
        (28, 150, 0, (4, 10)),
    ],
)
def test_prices_costs_and_rents_are_the_classic_ones(cell: int, price: int, cost: int, rents: tuple[int, ...]) -> None:
    """TAB-SETUP-02: streets, stations (RENT-08) and utilities (RENT-09)."""
    assert (BOARD.price[cell], BOARD.build_cost[cell], BOARD.rents[cell]) == (price, cost, rents)


def test_the_board_of_companies() -> None:
    """TAB-SETUP-16: 28 companies in ten industries, six Chance cells, no stations or utilities; one deck of 16."""
    assert Counter(COMPANIES.kind) == {
        "property": 28,
        "card": 6,
        "tax": 2,
        "start": 1,
        "jail": 1,
        "free": 1,
        "goto_jail": 1,
    }
    assert [len(cells) for cells in COMPANIES.group_cells.values()] == [2, 2, 3, 3, 4, 4, 3, 2, 3, 2]
    assert {name: len(deck) for name, deck in RENT_TAX.decks.items()} == {"chance": 16}
    assert RENT_TAX.utility_dice is None


def test_corners() -> None:
    """Start, jail, the rest stop and the way to jail stand in the corners (TURN-02)."""
    for board in (BOARD, COMPANIES):
        assert [board.kind[cell] for cell in (0, 10, 20, 30)] == ["start", "jail", "free", "goto_jail"]


def test_amounts_of_taxes() -> None:
    """200 and 100; in rent-tax ten times that (TAX-01)."""
    assert {cell: BOARD.amount[cell] for cell in range(40) if BOARD.kind[cell] == "tax"} == {4: 200, 38: 100}
    assert {cell: COMPANIES.amount[cell] for cell in range(40) if COMPANIES.kind[cell] == "tax"} == {5: 2000, 38: 1000}


def test_sums_that_need_a_whole_half() -> None:
    """Half a price and half a build cost are whole (MORT-02, BUILD-13)."""
    for board in (BOARD, COMPANIES):
        assert all(board.price[cell] % 2 == 0 for cell in board.deeds)
        assert all(board.build_cost[cell] % 2 == 0 for cell in board.streets)


def test_the_short_game_differs_in_three_things() -> None:
    """TAB-SETUP-14: the deal, the hotel after three houses, the end; and nothing else."""
    deal = {"deal_deeds", "deal_price"}
    end = {"bankruptcy_limit", "estate_to_player", "estate_to_bank"}
    assert differing(SHORT, TABLETOP) == deal | {"houses_under_hotel"} | end


def test_the_time_of_the_end_is_agreed_before() -> None:
    """TAB-SETUP-15: 30 to 240 minutes, usually 90; the deal is the only other difference."""
    bounds = {item.parameter: (item.least, item.most, item.never) for item in TIMED.overrides}
    assert (TIMED.time_limit_min, bounds["time_limit_min"]) == (90, (30, 240, False))
    assert differing(TIMED, TABLETOP) == {"deal_deeds", "deal_price", "time_limit_min", "overrides"}


def test_the_dearest_two_deeds_are_affordable() -> None:
    """TAB-SETUP-13: 400 + 350 = 750 of 1500 is the most that two dealt deeds can cost."""
    prices = sorted(BOARD.price[cell] for cell in BOARD.deeds)
    assert (prices[-1] + prices[-2], SHORT.start_cash, SHORT.deal_price) == (750, 1500, 100)


def test_no_card_of_rent_tax_releases_from_jail() -> None:
    """TAB-CARD-07: its deck has no release card."""
    assert (RENT_TAX.release_card, RENT_TAX.trade_cards) == (None, None)
    assert "release_card" not in {card.effect for card in RENT_TAX.decks["chance"]}
    for deck in TABLETOP.decks.values():
        assert [card.effect for card in deck].count("release_card") == 1


CARDS = {
    ("tabletop", "chance"): [
        ("to_start", "move_to", 0, None, "start"),
        ("to_grand_terrace", "move_to", 0, None, "grand_terrace"),
        ("to_oak_boulevard", "move_to", 0, None, "oak_boulevard"),
        ("to_lilac_street", "move_to", 0, None, "lilac_street"),
        ("to_lake_station", "move_to", 0, None, "lake_station"),
        ("nearest_station_1", "move_nearest", 2, None, "transport"),
        ("nearest_station_2", "move_nearest", 2, None, "transport"),
        ("nearest_utility", "move_nearest", 10, None, "utility"),
        ("deposit_interest", "gain", 50, None, ""),
        ("release_pass_a", "release_card", 1, None, ""),
        ("three_back", "move_by", -3, None, ""),
        ("to_jail_a", "goto_jail", 0, None, "jail"),
        ("roof_repairs", "pay_per_building", 25, 100, "own_buildings"),
        ("parking_ticket", "pay", 15, None, ""),
        ("street_committee", "pay_each", 50, None, "others"),
        ("workshop_sold", "gain", 150, None, ""),
    ],
    ("tabletop", "chest"): [
        ("to_start_2", "move_to", 0, None, "start"),
        ("clerk_mistake", "gain", 200, None, ""),
        ("dentist", "pay", 50, None, ""),
        ("old_bonds", "gain", 50, None, ""),
        ("release_pass_b", "release_card", 1, None, ""),
        ("to_jail_b", "goto_jail", 0, None, "jail"),
        ("summer_savings", "gain", 100, None, ""),
        ("tax_refund", "gain", 20, None, ""),
        ("housewarming", "collect_each", 10, None, "others"),
        ("insurance", "gain", 100, None, ""),
        ("clinic", "pay", 100, None, ""),
        ("evening_courses", "pay", 50, None, ""),
        ("good_advice", "gain", 25, None, ""),
        ("pavement_works", "pay_per_building", 40, 115, "own_buildings"),
        ("pie_contest", "gain", 10, None, ""),
        ("inheritance", "gain", 100, None, ""),
    ],
    ("rent-tax", "chance"): [
        ("to_start", "move_to", 0, None, "start"),
        ("to_vistelo", "move_to", 0, None, "vistelo"),
        ("to_nimbarro", "move_to", 0, None, "nimbarro"),
        ("three_back", "move_by", -3, None, ""),
        ("to_police", "goto_jail", 0, None, "jail"),
        ("grant", "gain", 2000, None, ""),
        ("share_sale", "gain", 1500, None, ""),
        ("advert", "gain", 1000, None, ""),
        ("dividend", "gain", 500, None, ""),
        ("found_wallet", "gain", 250, None, ""),
        ("anniversary", "collect_each", 300, None, "others"),
        ("party", "pay_each", 500, None, "others"),
        ("branch_inspection", "pay_per_building", 250, 1000, "own_buildings"),
        ("lawsuit", "pay", 1500, None, ""),
        ("licence_fee", "pay", 500, None, ""),
        ("late_report", "pay", 200, None, ""),
    ],
}


@pytest.mark.parametrize(("edition_id", "name"), CARDS)
def test_cards(edition_id: str, name: str) -> None:
    """What each card does, in the order of the file (CARD-05); the decks are shuffled once (CARD-03)."""
    edition = CATALOGUE.get(edition_id, 1)
    found = [(card.key, card.effect, card.amount, card.amount2, card.target) for card in edition.decks[name]]
    assert found == CARDS[edition_id, name]
    assert edition.deck_cycle == "shuffle_once"


def test_rate_of_the_rent_tax() -> None:
    """TAB-TAX-11: 50% from minute 61, 75% from 76, 90% from 91, 99% from 106."""
    assert (RENT_TAX.rent_tax_clock, RENT_TAX.rent_tax_start) == ("minute", 61)
    curve = RENT_TAX.rent_tax_curve
    assert curve is not None
    rates = {60: 0, 61: 50, 75: 50, 76: 75, 90: 75, 91: 90, 105: 90, 106: 99, 1000: 99}
    assert {minute: curve.percent_at(minute - 61) for minute in rates} == rates
    assert [edition.rent_tax_clock for edition in ALL[:4]] == [None] * 4


OPTIONS = {
    "auction_style": ("in_turn", "open_cry_paid"),
    "rent_claim": ("auto", "on_demand"),
}


def test_options_of_a_table() -> None:
    """The two house rules and the time limit, where an edition has them (TABLE-02, AUC-20, RENT-11)."""
    choices = [{item.parameter: item.choices for item in edition.overrides if item.choices} for edition in ALL]
    assert choices == [OPTIONS, OPTIONS, OPTIONS, {}, {"auction_style": OPTIONS["auction_style"]}]


def of_each(tabletop: object, online: object, rent_tax: object) -> tuple[object, ...]:
    """One value for the three editions of the table, and those of the other two."""
    return (tabletop, tabletop, tabletop, online, rent_tax)


TT_BUILD = frozenset({"roll", "manage", "gap"})
OWN = frozenset({"roll"})
ANY_OWN = p.TradeIn(full=frozenset({"roll", "purchase", "manage", "payment"}), sale=frozenset())
FIRST = p.TradeIn(full=frozenset({"first_roll"}), sale=frozenset())
TRANSFER = p.EstateToPlayer(usual="transfer", last="transfer")
AUCTIONED = p.EstateToBank(usual="auction", last="auction", ally=False)
FREE, HALF = p.TradeBalance(percent=0, allies=0), p.TradeBalance(percent=50, allies=50)

# Ids without their prefix name statements about behaviour, which need tests of the rules.
PARAMETERS: list[tuple[str, str, tuple[object, ...]]] = [
    ("TAB-SETUP-03", "start_cash", of_each(1500, 1500, 15000)),
    ("SETUP-07", "first_player", ("high_roll",) * 5),
    ("SETUP-12", "deal_deeds", (0, 2, 2, 0, 0)),
    ("SETUP-13", "deal_price", (None, 100, 100, None, None)),
    ("MOVE-03", "salary", of_each(200, 200, 2000)),
    ("TAX-10", "salary_end_minute", of_each(None, None, 46)),
    ("TURN-07", "manage_after", of_each("last_roll", "never", "never")),
    ("AUC-02", "decliner_bids", of_each(True, False, True)),
    ("AUC-04", "first_asked", ("next",) * 5),
    ("AUC-05", "opening_bid", of_each(p.Opening(units=1), p.Opening(units=1), p.Opening(units=10))),
    ("AUC-06", "bid_increment", of_each(10, 10, 100)),
    ("AUC-06", "bid_rule", ("at_least",) * 5),
    ("AUC-07", "bid_limit", ("cash",) * 5),
    ("RENT-04", "double_rent_bare", of_each("street", "group", "street")),
    ("RENT-09", "utility_dice", of_each("card_new", "new", None)),
    ("RENT-12", "jailed_owner_rent", (True,) * 5),
    ("TAX-13", "rent_tax_on", of_each(frozenset(), frozenset(), frozenset({"rent", "cards"}))),
    ("BUILD-04", "build_in", of_each(TT_BUILD, OWN, OWN)),
    ("BUILD-20", "build_limit", of_each(None, "group_turn", None)),
    ("BUILD-05", "build_even", of_each(True, False, True)),
    ("BUILD-09", "houses_under_hotel", (4, 3, 4, 4, 4)),
    ("TAB-BUILD-10", "supply", (p.Supply(houses=32, hotels=12),) * 5),
    ("BUILD-12", "supply_short", of_each("claim_auction", "refuse", "refuse")),
    ("BUILD-13", "building_refund", of_each(50, 100, 50)),
    ("BUILD-15", "sale_unit", of_each("hotel_group", "cell", "hotel_group")),
    ("BUILD-14", "raise_in", of_each("any", "own", "own")),
    ("MORT-03", "mortgage", of_each("street", "group", "street")),
    ("MORT-05", "redeem_cost", of_each(55, 110, 55)),
    ("MORT-05", "mortgage_rounds", (None,) * 5),
    ("TRADE-06", "mortgage_transfer_fee", of_each(5, None, 5)),
    ("TRADE-06", "trade_mortgaged", of_each("yes", "no", "yes")),
    ("TRADE-02", "trade_cards", of_each(True, True, None)),
    ("TRADE-10", "trade_in", of_each(ANY_OWN, FIRST, ANY_OWN)),
    ("TRADE-12", "trade_limit", (3,) * 5),
    ("TRADE-14", "trade_balance", of_each(FREE, FREE, HALF)),
    ("DEBT-01", "payment_confirm", of_each(None, None, "all")),
    ("DEBT-05", "settlement", of_each(True, False, True)),
    ("DEBT-04", "insolvent_at_once", of_each(None, "raisable", None)),
    ("JAIL-04", "jail_fine", of_each(50, 50, 500)),
    ("CARD-04", "release_card", of_each("out", "out", None)),
    (
        "BANK-03",
        "estate_to_player",
        (
            TRANSFER,
            p.EstateToPlayer(usual="transfer", last="as_is"),
            TRANSFER,
            p.EstateToPlayer(usual="bank_pays", last="bank_pays"),
            TRANSFER,
        ),
    ),
    (
        "BANK-02",
        "estate_to_bank",
        (
            AUCTIONED,
            p.EstateToBank(usual="auction", last="none", ally=False),
            AUCTIONED,
            p.EstateToBank(usual="unowned", last="unowned", ally=False),
            AUCTIONED,
        ),
    ),
    ("WIN-02", "bankruptcy_limit", (None, 2, None, None, None)),
    ("WIN-05", "time_limit_min", (None, None, 90, None, None)),
    ("TIME-01", "turn_s", (90,) * 5),
    ("TIME-01", "payment_s", (p.PaymentClock(seconds=90, covered="own"),) * 5),
    ("TIME-01", "answer_s", (30,) * 5),
    ("TIME-02", "bid_s", (30,) * 5),
    ("TIME-03", "turn_clock", ("per_decision",) * 5),
    ("TIME-05", "on_timeout", of_each("default", "eliminate", "default")),
    ("TIME-06", "timeout_roll", of_each("roll", None, "roll")),
]


@pytest.mark.parametrize(
    ("statement", "name", "values"), PARAMETERS, ids=[f"{case[0]}-{case[1]}" for case in PARAMETERS]
)
def test_parameter(statement: str, name: str, values: tuple[object, ...]) -> None:
    """The number or variant that a statement gives for each edition."""
    assert tuple(getattr(edition.at("mixed"), name) for edition in ALL) == values
