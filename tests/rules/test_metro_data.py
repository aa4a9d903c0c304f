"""The data of editions `metro` and `metro-speed`: cells, cards and parameters, statement by statement."""

from collections import Counter
from dataclasses import fields

import pytest

from services.rules.domain import parameters as p
from services.rules.editions.loader import load_catalogue

CATALOGUE = load_catalogue()
METRO, SPEED = CATALOGUE.get("metro", 1), CATALOGUE.get("metro-speed", 1)
BOARD = METRO.board


def test_both_modes_are_played_on_one_ring_of_forty_cells() -> None:
    """MET-SETUP-01: the same board, cells 0 to 39, and the same decks."""
    assert SPEED.board == BOARD
    assert SPEED.decks == METRO.decks
    assert len(BOARD.kind) == 40


def test_a_mode_changes_only_its_parameters() -> None:
    """MET-SETUP-02: the third die, uneven building, the mortgage timer, and faster numbers; nothing else."""
    differing = {item.name for item in fields(METRO) if getattr(METRO, item.name) != getattr(SPEED, item.name)}
    assert differing - {"id", "names", "statements"} == {
        "third_die_from_round",
        "triple_extra_roll",
        "rent_tax_start",
        "rent_tax_curve",
        "build_limit",
        "build_even",
        "mortgage_rounds",
        "mortgage_lapse",
        "round_limit",
        "turn_s",
    }


def test_twenty_eight_fields_in_ten_groups() -> None:
    """MET-SETUP-03: 22 streets in 8 groups, 4 stations, 2 utilities; street prices from 600 to 4000."""
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
    assert (len(BOARD.deeds), len(BOARD.group_cells)) == (28, 10)
    prices = [BOARD.price[cell] for cell in BOARD.streets]
    assert (min(prices), max(prices)) == (600, 4000)


def test_corners() -> None:
    """MET-SETUP-04: Start, Jail, Free Parking, Go to Jail."""
    assert [(cell, BOARD.kind[cell]) for cell in (0, 10, 20, 30)] == [
        (0, "start"),
        (10, "jail"),
        (20, "free"),
        (30, "goto_jail"),
    ]


def test_taxes() -> None:
    """MET-SETUP-05: income tax of 2000, luxury tax of 1000."""
    assert {cell: BOARD.amount[cell] for cell in range(40) if BOARD.kind[cell] == "tax"} == {4: 2000, 38: 1000}


def test_six_chance_cells_draw_from_one_deck_of_sixteen() -> None:
    """MET-SETUP-06: one deck of 16 cards, drawn at six cells."""
    assert [cell for cell in range(40) if BOARD.deck_of[cell] == "chance"] == [2, 7, 17, 22, 33, 36]
    assert {name: len(deck) for name, deck in METRO.decks.items()} == {"chance": 16}


def test_layout_prices_and_build_costs() -> None:
    """MET-SETUP-07: stations at 2000, utilities at 1500, build costs of 500 to 2000 by side of the board."""
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
        "blue": (37, 39),
    }
    assert {BOARD.price[cell] for cell in BOARD.transports} == {2000}
    assert {BOARD.price[cell] for cell in BOARD.utilities} == {1500}
    costs = {group: BOARD.build_cost[cells[0]] for group, cells in BOARD.group_cells.items()}
    assert costs == {
        "brown": 500,
        "sky": 500,
        "pink": 1000,
        "orange": 1000,
        "red": 1500,
        "yellow": 1500,
        "green": 2000,
        "blue": 2000,
        "stations": 0,
        "utilities": 0,
    }


@pytest.mark.parametrize(
    ("cell", "price", "rents"),
    [
        (1, 600, (20, 100, 300, 900, 1600, 2500)),
        (9, 1200, (80, 400, 1000, 3000, 4500, 6000)),
        (19, 2000, (160, 800, 2200, 6000, 8000, 10000)),
        (24, 2400, (200, 1000, 3000, 7500, 9250, 11000)),
        (39, 4000, (500, 2000, 6000, 14000, 17000, 20000)),
        (5, 2000, (250, 500, 1000, 2000)),
        (12, 1500, (40, 100)),
    ],
)
def test_prices_and_rents_are_the_classic_ones_times_ten(cell: int, price: int, rents: tuple[int, ...]) -> None:
    """MET-SETUP-07: streets, stations (RENT-06) and utilities (RENT-07)."""
    assert (BOARD.price[cell], BOARD.rents[cell]) == (price, rents)


def test_the_bank_has_no_limit_of_buildings_and_no_halves() -> None:
    """MET-SETUP-13: no supply; half a price, 55% of it and half a build cost are whole."""
    assert (METRO.supply, SPEED.supply) == (None, None)
    assert all(BOARD.price[cell] % 20 == 0 for cell in BOARD.deeds)
    assert all(BOARD.build_cost[cell] % 2 == 0 for cell in BOARD.streets)


CARDS = [
    ("ripe_deposit", "gain", 1500, None, ""),
    ("masked_parade", "move_to", 0, None, "paper_masks_square"),
    ("flooded_cellar", "pay", 500, None, ""),
    ("last_coach", "move_nearest", 0, None, "transport"),
    ("yard_concert", "collect_each", 200, None, "others"),
    ("wrong_turnstile", "goto_jail", 0, None, "jail"),
    ("found_umbrella", "gain", 1000, None, ""),
    ("forgotten_gloves", "move_by", -2, None, ""),
    ("leaking_roofs", "pay_per_building", 250, None, "own_buildings"),
    ("broken_window", "pay", 1500, None, ""),
    ("morning_bell", "move_to", 0, None, "start"),
    ("round_of_tea", "pay_each", 250, None, "others"),
    ("town_lottery", "gain", 2000, None, ""),
    ("meter_reading", "move_nearest", 0, None, "utility"),
    ("fallen_crane", "pay", 2500, None, ""),
    ("star_gazing", "move_to", 0, None, "ninth_star_esplanade"),
]


def test_the_sixteen_cards() -> None:
    """MET-CARD-07: what each card does, in the order of the deck."""
    deck = METRO.decks["chance"]
    assert [(card.key, card.effect, card.amount, card.amount2, card.target) for card in deck] == CARDS
    assert [card.order for card in deck] == list(range(1, 17))
    assert [BOARD.cell_of_key[key] for key in ("paper_masks_square", "ninth_star_esplanade")] == [24, 39]
    assert METRO.deck_cycle == SPEED.deck_cycle == "file_order"


def test_sums_of_cards_between_player_and_bank() -> None:
    """MET-CARD-02: 1000 to 2000 from the bank, 500 to 2500 to it."""
    deck = METRO.decks["chance"]
    assert sorted(card.amount for card in deck if card.effect == "gain") == [1000, 1500, 2000]
    assert sorted(card.amount for card in deck if card.effect == "pay") == [500, 1500, 2500]


def test_there_are_no_release_cards() -> None:
    """MET-JAIL-12: no card releases from jail."""
    assert (METRO.release_card, METRO.trade_cards) == (None, None)
    assert "release_card" not in {card.effect for card in METRO.decks["chance"]}


@pytest.mark.parametrize(
    ("start", "full", "rates"),
    [
        (100, 200, {99: 0, 100: 1, 101: 1, 102: 2, 150: 50, 151: 50, 199: 98, 200: 99, 300: 99}),
        (40, 100, {39: 0, 40: 1, 41: 2, 70: 50, 99: 97, 100: 99, 250: 99}),
    ],
    ids=["metro", "metro-speed"],
)
def test_rate_of_the_rent_tax(start: int, full: int, rates: dict[int, int]) -> None:
    """MET-RENT-12, -13: 1% in the first round of the tax, 50% half way, 99% from the full round on."""
    edition = METRO if start == 100 else SPEED
    assert (edition.rent_tax_clock, edition.rent_tax_start) == ("round", start)
    assert edition.rent_tax_curve is not None
    assert {number: edition.rent_tax_curve.percent_at(number - start) for number in rates} == rates
    assert rates[full] == 99
    for number in range(start, full + 1):
        assert edition.rent_tax_curve.percent_at(number - start) == 1 + 98 * (number - start) // (full - start)


def test_nobody_auctions_own_fields_or_pauses() -> None:
    """MET-OWNAUC-01, MET-TIME-17: neither exists here."""
    for edition in (METRO, SPEED):
        assert (edition.own_auction, edition.own_auction_in, edition.pause) == (None, frozenset(), None)


def test_no_overrides() -> None:
    """A table changes nothing but mode, seats and bots."""
    assert (METRO.overrides, SPEED.overrides, METRO.seating) == ((), (), ("mixed",))


XP = p.Xp(winner=200, others=0, leavers=0, only_rated=False, only_people=True, from_round=21, deed_card=True)
WINDOWS = frozenset({"roll", "purchase", "choice"})

# Ids without their prefix name statements about behaviour, which need tests of the rules.
PARAMETERS = [
    ("TABLE-02", "seats", p.SeatRange(least=2, most=6), p.SeatRange(least=2, most=6)),
    ("MET-SETUP-09", "start_cash", 15000, 15000),
    ("SETUP-11", "first_player", "draw", "draw"),
    ("SETUP-15", "deck_cycle", "file_order", "file_order"),
    ("MOVE-02", "salary", 2000, 2000),
    ("MOVE-02", "start_landing_bonus", 0, 0),
    ("TIME-01", "turn_s", 75, 45),
    ("TIME-04", "payment_s", p.PaymentClock(seconds=75, covered="own"), p.PaymentClock(seconds=75, covered="own")),
    ("AUC-06", "bid_s", 10, 10),
    ("AUC-04", "opening_bid", p.Opening(percent=100), p.Opening(percent=100)),
    ("AUC-04", "bid_increment", 100, 100),
    ("AUC-09", "bid_rule", "exact", "exact"),
    ("AUC-02", "decliner_bids", True, True),
    ("AUC-01", "first_asked", "next", "next"),
    ("AUC-07", "bid_limit", "cash", "cash"),
    ("TRADE-08", "answer_s", 30, 30),
    ("TRADE-09", "trade_limit", 3, 3),
    ("TRADE-02", "trade_in", *[p.TradeIn(full=frozenset({"roll", "payment"}), sale=frozenset())] * 2),
    ("TRADE-05", "trade_balance", p.TradeBalance(percent=50, allies=50), p.TradeBalance(percent=50, allies=50)),
    ("TRADE-04", "trade_mortgaged", "no", "no"),
    ("JAIL-04", "jail_fine", 500, 500),
    ("MORT-04", "redeem_cost", 55, 55),
    ("MORT-02", "mortgage", "group", "group"),
    ("MORT-06", "mortgage_rounds", None, 10),
    ("MORT-06", "mortgage_lapse", None, "unowned"),
    ("BUILD-03", "build_even", True, False),
    ("BUILD-04", "build_limit", "street_turn", None),
    ("BUILD-02", "houses_under_hotel", 4, 4),
    ("BUILD-10", "building_refund", 50, 50),
    ("TURN-04", "build_in", WINDOWS, WINDOWS),
    ("TURN-02", "manage_after", "never", "never"),
    ("DICE-05", "third_die_from_round", None, 7),
    ("DICE-17", "triple_extra_roll", None, True),
    ("RENT-16", "jailed_owner_rent", True, True),
    ("RENT-15", "rent_tax_on", frozenset({"rent"}), frozenset({"rent"})),
    ("WIN-02", "round_limit", 500, 300),
    ("WIN-07", "xp", XP, XP),
    ("TIME-08", "on_timeout", "default", "default"),
    ("AUTO-01", "timeout_roll", "skip", "skip"),
    ("DEBT-01", "payment_confirm", "all", "all"),
    ("BANK-02", "estate_to_player", *[p.EstateToPlayer(usual="liquidate", last="liquidate")] * 2),
]


@pytest.mark.parametrize(
    ("statement", "name", "metro", "speed"), PARAMETERS, ids=[f"{case[0]}-{case[1]}" for case in PARAMETERS]
)
def test_parameter(statement: str, name: str, metro: object, speed: object) -> None:
    """The number or variant that a statement gives for each mode."""
    assert (getattr(METRO.at("mixed"), name), getattr(SPEED.at("mixed"), name)) == (metro, speed)
