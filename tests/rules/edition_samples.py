"""The other eleven editions of docs/rules/parameters.md as edition files, for tests of the format.

Each sample gives what differs from its base; the bases differ from `industry`. `write` makes real files of them.
"""

import csv
import re
import shutil
from pathlib import Path

from services.rules.editions.loader import EDITIONS

Sample = dict[str, str]

BRANDS_OVERRIDES = """{ start_cash = { least = 5000, most = 50000, step = 500 }, \
turn_s = { least = 30, most = 120, step = 5 }, salary_end_minute = { least = 1, most = 120, never = true }, \
rent_tax_start = { least = 1, most = 180, never = true }, mortgage_rounds = { least = 1, most = 30, never = true }, \
build_even = { choices = [true, false] }, build_limit = { choices = ["group_turn", "none"] }, \
third_die_from_round = { choices = [8, "never"] } }"""
BRANDS_CURVE = '{ shape = "step", points = [[0, 50], [5, 60], [10, 70], [15, 80], [20, 90], [25, 99]] }'
RENT_TAX_CURVE = '{ shape = "step", points = [[0, 50], [15, 75], [30, 90], [45, 99]] }'
STYLE = 'auction_style = { choices = ["in_turn", "open_cry_paid"] }'
CLAIM = 'rent_claim = { choices = ["auto", "on_demand"] }'

#: what the editions beside `industry` have in common
COMMON: Sample = {
    **dict.fromkeys(("own_auction", "own_auction_opening", "bot_offers", "lot_s", "supply", "supply_short"), '"none"'),
    "seating": '["mixed"]',
    "own_auction_in": "[]",
    "first_asked": '"next"',
    "build_where": '"group"',
    "trade_shape": '"free"',
    "trade_limit": "3",
    "debt_trade_limit": "{ count = 3 }",
    "repeat_offer_step": "0",
    "sell_to_bank": "false",
    "give_up": '"always"',
    "on_timeout": '"default"',
    "timeout_roll": '"roll"',
    "answer_s": "30",
    "at": "",
}
TENFOLD: Sample = {
    "start_cash": "15000",
    "salary": "2000",
    "opening_bid": "{ percent = 100 }",
    "bid_increment": "100",
    "jail_fine": "500",
}
METRO: Sample = {
    **COMMON,
    **TENFOLD,
    "board": '"metro"',
    "decks": '["chance"]',
    "manage_after": '"never"',
    "rent_tax_clock": '"round"',
    "rent_tax_start": "100",
    "rent_tax_curve": '{ shape = "line", points = [[0, 1], [100, 99]] }',
    "rent_tax_on": '["rent"]',
    "build_in": '["roll", "purchase", "choice"]',
    "build_limit": '"street_turn"',
    "mortgage": '"group"',
    "redeem_cost": "55",
    "trade_in": '{ full = ["roll", "payment"] }',
    "trade_balance": "{ percent = 50 }",
    "trade_mortgaged": '"no"',
    "trade_cards": '"none"',
    "deck_cycle": '"file_order"',
    "release_card": '"none"',
    "payment_confirm": '"all"',
    "estate_to_player": '{ usual = "liquidate" }',
    "round_limit": "500",
    "timeout_roll": '"skip"',
    "turn_clock": '"per_segment"',
    "turn_s": "75",
    "payment_s": '{ seconds = 75, covered = "own" }',
    "bid_s": "10",
    "xp": "{ winner = 200, others = 0, only_people = true, from_round = 21, deed_card = true }",
}
METRO_SPEED: Sample = {
    "third_die_from_round": "7",
    "triple_extra_roll": "true",
    "rent_tax_start": "40",
    "rent_tax_curve": '{ shape = "line", points = [[0, 1], [60, 99]] }',
    "build_limit": '"none"',
    "build_even": "false",
    "mortgage_rounds": "10",
    "mortgage_lapse": '"unowned"',
    "round_limit": "300",
    "turn_s": "45",
}
BRANDS: Sample = {
    **COMMON,
    **TENFOLD,
    "board": '"brands"',
    "decks": '["chance"]',
    "manage_after": '"never"',
    "triple_extra_roll": "false",
    "start_landing_bonus": "1000",
    "salary_end_minute": "46",
    "decliner_bids": "false",
    "bid_rule": '"at_least"',
    "bid_limit": '"raisable"',
    "jailed_owner_rent": "false",
    "rent_tax_clock": '"minute"',
    "rent_tax_start": "61",
    "rent_tax_curve": BRANDS_CURVE,
    "rent_tax_on": '["rent"]',
    "build_in": '["roll"]',
    "build_limit": '"group_turn"',
    "building_refund": "100",
    "mortgage": '"group"',
    "redeem_cost": "60",
    "mortgage_rounds": "7",
    "mortgage_lapse": '"auction"',
    "mortgage_transfer_fee": "0",
    "trade_in": '{ full = ["roll", "purchase", "manage", "payment"] }',
    "trade_balance": "{ percent = 50 }",
    "trade_mortgaged": '"no"',
    "deck_cycle": '"reshuffle"',
    "release_card": '"out"',
    "casino": "{ stake = 1000, to_jackpot = 500, jackpot_one_in = 20 }",
    "payment_confirm": '"rent_tax"',
    "insolvent_at_once": '"net_worth"',
    "estate_to_player": '{ usual = "as_is" }',
    "turn_clock": '"per_segment"',
    "turn_s": "75",
    "turn_reserve_s": "15",
    "payment_s": '{ seconds = 60, covered = "turn" }',
    "bid_s": "20",
    "pause": "{ vote_s = 30, countdown_s = 5, longest_s = 1800, again_s = 120 }",
    "rated": "{ no_bots = true, least_rounds = 10, least_minutes = 10 }",
    "xp": "{ winner = 200, others = 50, only_rated = true }",
    "overrides": BRANDS_OVERRIDES,
}
BRANDS_FAST: Sample = {
    "start_cash": "17500",
    "third_die_from_round": "8",
    "salary_end_minute": "30",
    "rent_tax_start": "40",
    "build_even": "false",
    "turn_s": "45",
    "rated": '"never"',
    "xp": '"none"',
}
BRANDS_BRAWL: Sample = {
    **BRANDS_FAST,
    "decks": '["chance + chance_brawl"]',
    "seats": "{ least = 3, most = 3 }",
    "start_cash": "25000",
    "deal_deeds": "9",
    "deal_price": "0",
    "own_auction": '"mortgaged"',
    "own_auction_opening": "{ percent = 100 }",
    "own_auction_in": '["roll", "purchase", "payment"]',
    "build_limit": '"none"',
    "building_refund": "75",
    "rated": '"never"',
    "xp": '"none"',
}
BRANDS_TEAMS: Sample = {
    "seats": "{ least = 4, most = 4 }",
    "teams": "[[0, 2], [1, 3]]",
    "trade_balance": "{ percent = 50, allies = 0 }",
    "trade_mortgaged": '"allies"',
    "estate_to_bank": '{ usual = "unowned", ally = true }',
    "rated": '"never"',
    "xp": '"none"',
}
TABLETOP: Sample = {
    **COMMON,
    "board": '"tabletop"',
    "decks": '["chance", "chest"]',
    "seats": "{ least = 2, most = 8 }",
    "first_player": '"high_roll"',
    "manage_after": '"last_roll"',
    "opening_bid": "{ units = 1 }",
    "bid_rule": '"at_least"',
    "utility_dice": '"card_new"',
    "build_in": '["roll", "manage", "gap"]',
    "build_limit": '"none"',
    "supply": "{ houses = 32, hotels = 12 }",
    "supply_short": '"claim_auction"',
    "sale_unit": '"hotel_group"',
    "raise_in": '"any"',
    "mortgage": '"street"',
    "redeem_cost": "55",
    "mortgage_transfer_fee": "5",
    "trade_in": '{ full = ["roll", "purchase", "manage", "payment"] }',
    "trade_mortgaged": '"yes"',
    "trade_cards": "true",
    "release_card": '"out"',
    "settlement": "true",
    "estate_to_player": '{ usual = "transfer" }',
    "estate_to_bank": '{ usual = "auction" }',
    "turn_clock": '"per_decision"',
    "turn_s": "90",
    "payment_s": '{ seconds = 90, covered = "own" }',
    "bid_s": "30",
    "overrides": f"{{ {STYLE}, {CLAIM} }}",
}
TABLETOP_SHORT: Sample = {
    "deal_deeds": "2",
    "deal_price": "100",
    "houses_under_hotel": "3",
    "estate_to_player": '{ usual = "transfer", last = "as_is" }',
    "estate_to_bank": '{ usual = "auction", last = "none" }',
    "bankruptcy_limit": "2",
}
TABLETOP_TIMED: Sample = {
    "deal_deeds": "2",
    "deal_price": "100",
    "time_limit_min": "90",
    "overrides": f"{{ {STYLE}, {CLAIM}, time_limit_min = {{ least = 30, most = 240 }} }}",
}
ONLINE_CLASSIC: Sample = {
    "manage_after": '"never"',
    "decliner_bids": "false",
    "double_rent_bare": '"group"',
    "utility_dice": '"new"',
    "build_in": '["roll"]',
    "build_limit": '"group_turn"',
    "build_even": "false",
    "supply_short": '"refuse"',
    "building_refund": "100",
    "sale_unit": '"cell"',
    "raise_in": '"own"',
    "mortgage": '"group"',
    "redeem_cost": "110",
    "mortgage_transfer_fee": '"none"',
    "trade_in": '{ full = ["first_roll"] }',
    "debt_trade_limit": '"none"',
    "trade_mortgaged": '"no"',
    "settlement": "false",
    "insolvent_at_once": '"raisable"',
    "estate_to_player": '{ usual = "bank_pays" }',
    "estate_to_bank": '{ usual = "unowned" }',
    "on_timeout": '"eliminate"',
    "timeout_roll": '"none"',
    "overrides": '"none"',
}
RENT_TAX: Sample = {
    **TENFOLD,
    "opening_bid": "{ units = 10 }",
    "board": '"renttax"',
    "decks": '["chance"]',
    "manage_after": '"never"',
    "salary_end_minute": "46",
    "utility_dice": '"none"',
    "rent_tax_clock": '"minute"',
    "rent_tax_start": "61",
    "rent_tax_curve": RENT_TAX_CURVE,
    "rent_tax_on": '["rent", "cards"]',
    "build_in": '["roll"]',
    "supply_short": '"refuse"',
    "raise_in": '"own"',
    "trade_balance": "{ percent = 50 }",
    "trade_cards": '"none"',
    "release_card": '"none"',
    "payment_confirm": '"all"',
    "overrides": f"{{ {STYLE} }}",
}

#: id -> its base (empty: a file that stands alone) and what differs from it
OTHERS: dict[str, tuple[str, Sample]] = {
    "metro": ("", METRO),
    "metro-speed": ("metro", METRO_SPEED),
    "brands": ("", BRANDS),
    "brands-fast": ("brands", BRANDS_FAST),
    "brands-brawl": ("brands", BRANDS_BRAWL),
    "brands-teams": ("brands", BRANDS_TEAMS),
    "tabletop": ("", TABLETOP),
    "tabletop-short": ("tabletop", TABLETOP_SHORT),
    "tabletop-timed": ("tabletop", TABLETOP_TIMED),
    "online-classic": ("tabletop", ONLINE_CLASSIC),
    "rent-tax": ("tabletop", RENT_TAX),
}


def flagship(**changes: str) -> str:
    """The text of `industry.toml` with the right side of some keys replaced; `at=""` drops its seatings."""
    text = (EDITIONS / "industry.toml").read_text(encoding="utf-8")
    if "at" in changes:
        del changes["at"]
        text = re.sub(r"(?ms)^# A person against bots.*?(?=^# The statement of)", "", text)
    for key, value in changes.items():
        text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}".replace("\\", r"\\"), text, count=1)
        assert count == 1, key
    return text


def groups_of(board: str) -> str:
    """`[[groups]]` for every group of deeds on a board, in grey and named by their keys."""
    with (EDITIONS / "boards" / f"{board}.cells.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    keys = dict.fromkeys(row["group"] for row in rows if row["price"])
    line = '[[groups]]\nkey = "{0}"\ncolour = "#808080"\nen = "{0}"\nuk = "{0}"\nru = "{0}"\n'
    return "\n".join(line.format(key) for key in keys)


def write(folder: Path, *, name: str = "industry.toml", text: str | None = None) -> Path:
    """Write an edition file, by default the flagship, beside a copy of all boards."""
    if not (folder / "boards").exists():
        shutil.copytree(EDITIONS / "boards", folder / "boards")
    path = folder / name
    path.write_text(flagship() if text is None else text, encoding="utf-8")
    return path


def write_other(folder: Path, edition_id: str) -> Path:
    """Write one of the other editions, after the base that it overlays."""
    base, sample = OTHERS[edition_id]
    if not base:
        text = flagship(**sample, id=f'"{edition_id}"')
        text = text[: text.index("[[groups]]")] + groups_of(sample["board"].strip('"'))
        return write(folder, name=f"{edition_id}.toml", text=text)
    write_other(folder, base)
    lines = "\n".join(f"{key} = {value}" for key, value in sample.items())
    text = f'id = "{edition_id}"\nversion = 1\nbase = "{base}.toml"\nnames = {{ en = "a", uk = "b", ru = "c" }}\n'
    text += f"[parameters]\n{lines}\n"
    if "board" in sample:
        text += groups_of(sample["board"].strip('"'))
    return write(folder, name=f"{edition_id}.toml", text=text)
