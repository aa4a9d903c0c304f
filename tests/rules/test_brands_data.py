"""The data of the four editions of brands: cells, cards, parameters and ranges, statement by statement."""

from collections import Counter
from dataclasses import fields

import pytest

from services.rules.domain import parameters as p
from services.rules.domain.edition import Edition
from services.rules.editions.loader import load_catalogue

CATALOGUE = load_catalogue()
BRANDS, FAST, BRAWL, TEAMS = MODES = tuple(
    CATALOGUE.get(name, 1) for name in ("brands", "brands-fast", "brands-brawl", "brands-teams")
)
BOARD = BRANDS.board


def test_the_ring_and_what_lies_on_it() -> None:
    """BRA-SETUP-01: 22 brands in 8 groups of 2 or 3, 4 finance companies, 2 industrial ones, corners, cards, taxes."""
    assert Counter(BOARD.kind) == {
        "property": 22,
        "transport": 4,
        "utility": 2,
        "card": 6,
        "tax": 2,
        "start": 1,
        "jail": 1,
        "casino": 1,
        "goto_jail": 1,
    }
    sizes = [len(cells) for cells in BOARD.group_cells.values() if BOARD.is_street[cells[0]]]
    assert Counter(sizes) == {2: 2, 3: 6}
    assert all(edition.board == BOARD for edition in MODES)


def test_corners_and_taxes() -> None:
    """BRA-SETUP-02: Start, Jail, Casino, Go to Jail; an income tax of 2000 and a luxury tax of 1000."""
    assert [BOARD.kind[cell] for cell in (0, 10, 20, 30)] == ["start", "jail", "casino", "goto_jail"]
    assert {cell: BOARD.amount[cell] for cell in range(40) if BOARD.kind[cell] == "tax"} == {4: 2000, 38: 1000}


def test_positions_sectors_and_prices() -> None:
    """BRA-SETUP-03: the sectors in the order of the board, finance at 2000, industry at 1500, six Chance cells."""
    assert BOARD.group_cells == {
        "supermarkets": (1, 3),
        "finance": (5, 15, 25, 35),
        "drinks": (6, 8, 9),
        "clothing": (11, 13, 14),
        "industry": (12, 28),
        "restaurants": (16, 18, 19),
        "airlines": (21, 23, 24),
        "media": (26, 27, 29),
        "motors": (31, 32, 34),
        "technology": (37, 39),
    }
    assert [cell for cell in range(40) if BOARD.deck_of[cell] == "chance"] == [2, 7, 17, 22, 33, 36]
    assert [BOARD.price[cell] for cell in BOARD.transports + BOARD.utilities] == [2000] * 4 + [1500] * 2
    assert (BOARD.price[1], BOARD.price[39]) == (600, 4000)


def test_rents_of_companies() -> None:
    """250, 500, 1000 or 2000 by the number owned, and 40 or 100 times the sum (RENT-05)."""
    assert {BOARD.rents[cell] for cell in BOARD.transports} == {(250, 500, 1000, 2000)}
    assert {BOARD.rents[cell] for cell in BOARD.utilities} == {(40, 100)}


def test_costs_of_building() -> None:
    """BRA-BUILD-02, -12: 500 to 2000 per step, by sector."""
    assert {group: BOARD.build_cost[cells[0]] for group, cells in BOARD.group_cells.items()} == {
        "supermarkets": 500,
        "drinks": 500,
        "clothing": 1000,
        "restaurants": 1000,
        "airlines": 1500,
        "media": 1500,
        "motors": 2000,
        "technology": 2000,
        "finance": 0,
        "industry": 0,
    }


def test_no_sum_is_a_fraction_and_buildings_are_unlimited() -> None:
    """BRA-SETUP-12: half and 60% of each price, and 75% of each build cost, are whole; no supply."""
    assert all(BOARD.price[cell] * 60 % 100 == 0 and BOARD.price[cell] % 2 == 0 for cell in BOARD.deeds)
    assert all(BOARD.build_cost[cell] * 75 % 100 == 0 for cell in BOARD.streets)
    assert [edition.supply for edition in MODES] == [None] * 4


def test_seats_and_teams() -> None:
    """BRA-SETUP-05, -06, -07: 2 to 6 players; exactly 3; exactly 4 in two teams that take turns alternately."""
    assert [(edition.seats.least, edition.seats.most) for edition in MODES] == [(2, 6), (2, 6), (3, 3), (4, 4)]
    assert [edition.teams for edition in MODES] == [None, None, None, ((0, 2), (1, 3))]


def test_all_modes_have_the_mortgage_timer() -> None:
    """BRA-MORT-06: 7 rounds in each of them, then an auction."""
    assert [(edition.mortgage_rounds, edition.mortgage_lapse) for edition in MODES] == [(7, "auction")] * 4


CARDS = [
    ("small_refund", "gain", 500, None, ""),
    ("good_quarter", "gain", 1000, None, ""),
    ("export_order", "gain", 1500, None, ""),
    ("logo_prize", "gain", 2000, None, ""),
    ("misprinted_posters", "pay", 500, None, ""),
    ("server_outage", "pay", 1000, None, ""),
    ("product_recall", "pay", 1500, None, ""),
    ("loyal_customers", "collect_each", 250, None, "others"),
    ("licence_fees", "collect_each", 500, None, "others"),
    ("joint_exhibition", "pay_each", 500, None, "others"),
    ("new_season", "move_to", 0, None, "start"),
    ("false_advertising", "goto_jail", 0, None, "jail"),
    ("lucky_evening", "move_to", 0, None, "casino"),
    ("tech_talk", "move_to", 0, None, "lattice_fern"),
    ("missed_connection", "move_to", 0, None, "crane_parallel"),
    ("loan_meeting", "move_nearest", 0, None, "transport"),
    ("plant_visit", "move_nearest", 0, None, "utility"),
    ("lost_tender", "move_by", -3, None, ""),
    ("fire_inspection", "pay_per_building", 250, 1000, "own_buildings"),
    ("good_lawyer", "release_card", 1, None, ""),
    ("demolition_order", "destroy_building", 1, None, "opponent_building"),
]


def cards_of(edition: Edition) -> list[tuple[str, str, int, int | None, str]]:
    deck = edition.decks["chance"]
    return [(card.key, card.effect, card.amount, card.amount2, card.target) for card in deck]


def test_the_cards() -> None:
    """BRA-CARD-06: twenty cards in every mode, and a demolition in the brawl."""
    assert [cards_of(edition) for edition in MODES] == [CARDS[:20], CARDS[:20], CARDS, CARDS[:20]]
    assert [BOARD.cell_of_key[key] for key in ("lattice_fern", "crane_parallel", "casino")] == [39, 24, 20]


def test_kinds_of_cards() -> None:
    """BRA-CARD-03: every kind of effect that the source names is in the deck."""
    assert {card.effect for card in BRANDS.decks["chance"]} == {
        "gain",
        "pay",
        "collect_each",
        "pay_each",
        "move_to",
        "move_nearest",
        "move_by",
        "pay_per_building",
        "release_card",
        "goto_jail",
    }


@pytest.mark.parametrize(("edition", "start"), [(BRANDS, 61), (FAST, 40), (BRAWL, 40), (TEAMS, 61)])
def test_rate_of_the_rent_tax(edition: Edition, start: int) -> None:
    """BRA-RENT-10, -11, -12: 50% from the start minute, 10 points more every 5 minutes, at most 99%."""
    assert (edition.rent_tax_clock, edition.rent_tax_start) == ("minute", start)
    curve = edition.rent_tax_curve
    assert curve is not None
    assert curve.percent_at(-1) == 0
    assert [curve.percent_at(minute) for minute in (0, 4, 5, 9, 24, 25, 500)] == [50, 50, 60, 60, 90, 99, 99]
    assert all(curve.percent_at(minute) == min(99, 50 + 10 * (minute // 5)) for minute in range(200))


def test_what_differs_between_the_modes() -> None:
    """Each mode is `brands` with a few other numbers."""

    def differing(edition: Edition) -> set[str]:
        names = {item.name for item in fields(edition) if getattr(edition, item.name) != getattr(BRANDS, item.name)}
        return names - {"id", "names", "statements"}

    fast = {"start_cash", "third_die_from_round", "salary_end_minute", "rent_tax_start", "build_even", "turn_s"}
    unrated = {"rated", "xp"}
    brawl = {"decks", "seats", "deal_deeds", "deal_price", "own_auction", "own_auction_opening", "own_auction_in"}
    assert differing(FAST) == fast | unrated
    assert differing(BRAWL) == fast | unrated | brawl | {"build_limit", "building_refund"}
    assert differing(TEAMS) == unrated | {"seats", "teams", "trade_balance", "trade_mortgaged", "estate_to_bank"}


def test_ranges_of_custom_tables() -> None:
    """What a custom table may change in any mode, with its ranges (TABLE-08, -09, -11)."""
    bounds = {item.parameter: (item.least, item.most, item.step, item.never, item.choices) for item in BRANDS.overrides}
    assert bounds == {
        "start_cash": (5000, 50000, 500, False, ()),
        "turn_s": (30, 120, 5, False, ()),
        "salary_end_minute": (1, 120, 1, True, ()),
        "rent_tax_start": (1, 180, 1, True, ()),
        "mortgage_rounds": (1, 30, 1, True, ()),
        "build_even": (None, None, 1, False, (True, False)),
        "build_limit": (None, None, 1, False, ("group_turn", None)),
        "third_die_from_round": (None, None, 1, False, (8, None)),
    }
    assert all(edition.overrides == BRANDS.overrides for edition in MODES)


SAME = 4
FULL = p.TradeIn(full=frozenset({"roll", "purchase", "manage", "payment"}), sale=frozenset())
RATED = p.Rated(no_bots=True, least_rounds=10, least_minutes=10)
XP = p.Xp(winner=200, others=50, leavers=0, only_rated=True, only_people=False, from_round=1, deed_card=False)
HALF, ALLIES = p.TradeBalance(percent=50, allies=50), p.TradeBalance(percent=50, allies=0)
FREE = p.EstateToBank(usual="unowned", last="unowned", ally=False)
TO_ALLY = p.EstateToBank(usual="unowned", last="unowned", ally=True)

# Ids without their prefix name statements about behaviour, which need tests of the rules.
PARAMETERS: list[tuple[str, str, tuple[object, ...]]] = [
    ("BRA-SETUP-04", "start_cash", (15000, 17500, 25000, 15000)),
    ("SETUP-09", "deal_deeds", (0, 0, 9, 0)),
    ("SETUP-09", "deal_price", (None, None, 0, None)),
    ("SETUP-10", "first_player", ("draw",) * SAME),
    ("MOVE-02", "salary", (2000,) * SAME),
    ("MOVE-03", "start_landing_bonus", (1000,) * SAME),
    ("MOVE-05", "salary_end_minute", (46, 30, 30, 46)),
    ("MOVE-12", "casino", (p.Casino(stake=1000, to_jackpot=500, jackpot_one_in=20),) * SAME),
    ("TIME-01", "turn_s", (75, 45, 45, 75)),
    ("TIME-02", "turn_reserve_s", (15,) * SAME),
    ("AUC-05", "bid_s", (20,) * SAME),
    ("AUC-03", "opening_bid", (p.Opening(percent=100),) * SAME),
    ("AUC-03", "bid_increment", (100,) * SAME),
    ("AUC-09", "bid_rule", ("at_least",) * SAME),
    ("AUC-10", "bid_limit", ("raisable",) * SAME),
    ("AUC-02", "decliner_bids", (False,) * SAME),
    ("AUC-08", "first_asked", ("next",) * SAME),
    ("DEBT-01", "payment_s", (p.PaymentClock(seconds=60, covered="turn"),) * SAME),
    ("DEBT-04", "payment_confirm", ("rent_tax",) * SAME),
    ("TRADE-01", "trade_in", (FULL,) * SAME),
    ("TRADE-10", "answer_s", (30,) * SAME),
    ("TRADE-08", "trade_limit", (3,) * SAME),
    ("TRADE-11", "debt_trade_limit", (p.DebtTradeLimit(count=3, counts="offers"),) * SAME),
    ("TRADE-06", "trade_balance", (HALF, HALF, HALF, ALLIES)),
    ("TRADE-05", "trade_mortgaged", ("no", "no", "no", "allies")),
    ("TRADE-04", "trade_cards", (False,) * SAME),
    ("MORT-03", "mortgage", ("group",) * SAME),
    ("MORT-04", "redeem_cost", (60,) * SAME),
    ("MORT-09", "mortgage_transfer_fee", (0,) * SAME),
    ("OWNAUC-01", "own_auction", (None, None, "mortgaged", None)),
    ("OWNAUC-02", "own_auction_opening", (None, None, p.Opening(percent=100), None)),
    ("OWNAUC-02", "own_auction_in", (*[frozenset()] * 2, frozenset({"roll", "purchase", "payment"}), frozenset())),
    ("BUILD-03", "build_even", (True, False, False, True)),
    ("BUILD-05", "build_limit", ("group_turn", "group_turn", None, "group_turn")),
    ("BUILD-08", "build_in", (frozenset({"roll"}),) * SAME),
    ("BUILD-10", "building_refund", (100, 100, 75, 100)),
    ("DICE-05", "third_die_from_round", (None, 8, 8, None)),
    ("DICE-16", "triple_extra_roll", (False,) * SAME),
    ("CARD-02", "deck_cycle", ("reshuffle",) * SAME),
    ("CARD-08", "release_card", ("out",) * SAME),
    ("JAIL-02", "jail_fine", (500,) * SAME),
    ("JAIL-05", "jailed_owner_rent", (False,) * SAME),
    ("RENT-14", "rent_tax_on", (frozenset({"rent"}),) * SAME),
    ("BANK-06", "insolvent_at_once", ("net_worth",) * SAME),
    ("BANK-07", "estate_to_player", (p.EstateToPlayer(usual="as_is", last="as_is"),) * SAME),
    ("BANK-04", "estate_to_bank", (FREE, FREE, FREE, TO_ALLY)),
    ("TIME-06", "on_timeout", ("default",) * SAME),
    ("AUTO-01", "timeout_roll", ("roll",) * SAME),
    ("TIME-12", "pause", (p.Pause(vote_s=30, countdown_s=5, longest_s=1800, again_s=120),) * SAME),
    ("WIN-03", "round_limit", (None,) * SAME),
    ("WIN-06", "rated", (RATED, None, None, None)),
    ("WIN-08", "xp", (XP, None, None, None)),
]


@pytest.mark.parametrize(
    ("statement", "name", "values"), PARAMETERS, ids=[f"{case[0]}-{case[1]}" for case in PARAMETERS]
)
def test_parameter(statement: str, name: str, values: tuple[object, ...]) -> None:
    """The number or variant that a statement gives for each mode."""
    assert tuple(getattr(edition.at("mixed"), name) for edition in MODES) == values
