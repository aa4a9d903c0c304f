"""The format of edition files: what it can hold, and how it reports what is wrong."""

import dataclasses
import re
from pathlib import Path

import pytest

from services.rules.domain.edition import Edition
from services.rules.editions.loader import EDITIONS, EditionError, Problem, load_catalogue, load_edition
from services.rules.editions.schema import PARAMETERS
from tests.rules.edition_files import copy, flagship, write

MATRIX = Path(__file__).resolve().parents[2] / "docs" / "rules" / "parameters.md"


def problems_of(path: Path) -> tuple[Problem, ...]:
    with pytest.raises(EditionError) as caught:
        load_edition(path)
    return caught.value.problems


def line_of(path: Path, start: str) -> int:
    """The line, from 1, that begins with `start`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if line.startswith(start))


def test_an_edition_has_every_parameter_under_its_own_name() -> None:
    rows = re.findall(r"^\| `([a-z_]+)` \|", MATRIX.read_text(encoding="utf-8"), re.MULTILINE)
    named = [*rows[: rows.index("overrides") + 1], "auction_style", "rent_claim"]
    assert len(named) == 85
    assert sorted(PARAMETERS) == sorted(named)
    fields = {field.name for field in dataclasses.fields(Edition)}
    assert fields == {*named, "id", "version", "names", "by_seating", "statements"}


def test_an_overlay_replaces_a_parameter_with_its_values_by_seating(tmp_path: Path) -> None:
    write(tmp_path)
    head = 'id = "variant"\nversion = 1\nbase = "industry.toml"\nnames = { en = "a", uk = "b", ru = "c" }\n'
    text = head + '[parameters]\ntrade_counts = "deals"\n[at.bots]\nbid_s = 5\n'
    variant = load_edition(write(tmp_path, name="variant.toml", text=text))
    assert {(item.seating, item.parameter, item.value) for item in variant.by_seating} == {
        ("solo", "first_player", "person"),
        ("solo", "debt_trade_limit", None),
        ("bots", "bid_s", 5),
    }
    assert (variant.at("bots").bid_s, variant.at("people").bid_s) == (5, 60)
    assert (variant.at("people").trade_counts, variant.start_cash) == ("deals", 1500)
    assert variant.board == load_edition(EDITIONS / "industry.toml").board


def test_versions_of_an_edition_stand_side_by_side(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, name="industry-2.toml", text=flagship(version="2", start_cash="2000"))
    catalogue = load_catalogue(tmp_path)
    assert [(catalogue.get("industry", number).start_cash) for number in (1, 2)] == [1500, 2000]
    assert catalogue.get("industry").version == 2
    assert [(edition.id, edition.version) for edition in catalogue.newest()] == [("industry", 2)]
    with pytest.raises(KeyError):
        catalogue.get("industry", 3)
    with pytest.raises(KeyError):
        catalogue.get("nowhere")


def test_a_catalogue_reports_all_files_and_doubled_versions(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, name="again.toml", text=flagship())
    write(tmp_path, name="bad.toml", text=flagship(salary="-1"))
    with pytest.raises(EditionError) as caught:
        load_catalogue(tmp_path)
    assert [(problem.file, problem.field) for problem in caught.value.problems] == [
        ("bad.toml", "parameters.salary"),
        ("industry.toml", "version"),
    ]


def test_an_empty_folder_is_no_catalogue(tmp_path: Path) -> None:
    with pytest.raises(EditionError, match=re.escape("has no *.toml")):
        load_catalogue(tmp_path)


BAD_VALUES = [
    ("start_cash", '"much"', "parameters.start_cash", "must be a whole number, is 'much'"),
    ("start_cash", "0", "parameters.start_cash", "0 is not within 1 to 10000000"),
    ("start_cash", "true", "parameters.start_cash", "must be a whole number, is True"),
    ("bid_rule", '"loose"', "parameters.bid_rule", "unknown word 'loose'; one of exact, at_least"),
    ("build_even", '"yes"', "parameters.build_even", "must be true or false, is 'yes'"),
    ("building_refund", "101", "parameters.building_refund", "101 is not within 0 to 100"),
    ("opening_bid", "{ percent = 0 }", "parameters.opening_bid.percent", "0 is not within 1 to 1000"),
    ("opening_bid", "{ percent = 75, units = 1 }", "parameters.opening_bid", "needs either percent or units"),
    ("opening_bid", "{ share = 75 }", "parameters.opening_bid.share", "unknown key"),
    ("supply", "{ houses = 32 }", "parameters.supply.hotels", "is missing"),
    ("seats", "{ least = 5, most = 4 }", "parameters.seats", "least 5 is above most 4"),
    ("seats", "{ least = 2, most = 9 }", "parameters.seats.most", "9 is not within 2 to 8"),
    ("build_in", '["manage", "night"]', "parameters.build_in.1", "unknown word 'night'"),
    ("build_in", '["manage", "manage"]', "parameters.build_in", "names a word twice"),
    ("teams", "[[0, 2], [1, 2]]", "parameters.teams", "each seat from 0 must be in one team"),
    ("seating", '["crowd"]', "parameters.seating.0", "unknown word 'crowd'"),
    ("pause", '"sometimes"', "parameters.pause", "must be a table of vote_s"),
    ("overrides", "{ board = { choices = [1] } }", "parameters.overrides.board", "is no parameter that a table can"),
    ("overrides", "{ salary = { least = 9, most = 1 } }", "parameters.overrides.salary", "least 9 is above most 1"),
    ("overrides", "{ salary = { least = 1 } }", "parameters.overrides.salary", "needs either whole numbers"),
    (
        "overrides",
        "{ salary = { least = 1, most = 2, never = true } }",
        "parameters.overrides.salary.never",
        "cannot be never",
    ),
    ("board", '"moon"', "parameters.board", "there is no boards/moon.cells.csv"),
    ("decks", '["market", "market"]', "parameters.decks", "names market twice"),
    ("id", '"In Dustry"', "id", "must be words of a-z"),
    ("version", "0", "version", "must be a whole number from 1, is 0"),
    ("en", '""', "names.en", "must be a text"),
    ("key", '["bakery"]', "groups.0.key", "has no group"),
    ("colour", '"brown"', "groups.0.colour", "must be #rrggbb"),
]


@pytest.mark.parametrize(("key", "value", "field", "reason"), BAD_VALUES)
def test_a_bad_value_is_reported_by_line_and_field(
    tmp_path: Path, key: str, value: str, field: str, reason: str
) -> None:
    path = write(tmp_path, text=flagship(**{key: value}))
    found = [problem for problem in problems_of(path) if problem.field == field]
    assert [(problem.file, problem.line) for problem in found] == [("industry.toml", line_of(path, f"{key} = "))]
    assert reason in found[0].reason


INCOHERENT = [
    ({"lot_s": '"never"', "turn_reserve_s": "300"}, "turn_reserve_s", "must be below turn_s, 300"),
    ({"own_auction": '"none"'}, "own_auction_opening", "must be set exactly where own_auction is"),
    ({"supply": '"none"'}, "supply_short", "must be set exactly where supply is"),
    ({"mortgage": '"street"'}, "redeem_cost", "must be set exactly where mortgage is"),
    ({"rent_tax_start": "5"}, "rent_tax_start", "needs rent_tax_clock"),
    ({"third_die_from_round": "7"}, "triple_extra_roll", "is needed where the third die is thrown"),
    ({"deal_deeds": "1"}, "deal_price", "is needed where deeds are dealt"),
    ({"deal_deeds": "5", "deal_price": "0"}, "deal_deeds", "the board has only 29 deeds"),
    ({"decliner_bids": "false"}, "first_asked", "the decliner does not bid"),
    ({"on_timeout": '"default"'}, "timeout_roll", "is needed where on_timeout is default"),
    ({"estate_to_bank": '{ usual = "unowned", last = "none" }'}, "estate_to_bank", "needs a bankruptcy_limit"),
    ({"own_auction": '"mortgaged"'}, "own_auction", "mortgaged needs mortgage"),
    (
        {"own_auction": '"mortgaged"', "mortgage": '"street"', "redeem_cost": "55", "trade_mortgaged": '"no"'},
        "own_auction_opening",
        "must be at least redeem_cost, 55 percent",
    ),
    ({"teams": "[[0], [1]]"}, "teams", "seat 2, but seats is 2 to 6"),
    ({"casino": "{ stake = 1, to_jackpot = 1, jackpot_one_in = 9 }"}, "casino", "exactly where the board has"),
    ({"utility_dice": '"none"'}, "utility_dice", "exactly where the board has utilities"),
    ({"release_card": '"none"'}, "release_card", "exactly where a deck has release cards"),
    ({"decks": '["market", "support", "luck"]'}, "decks", "industry.cards.csv has no deck luck"),
    ({"first_player": '"person"'}, "first_player", "person is only for tables with one person"),
]


@pytest.mark.parametrize(("changes", "field", "reason"), INCOHERENT)
def test_values_that_do_not_fit_together_are_reported(
    tmp_path: Path, changes: dict[str, str], field: str, reason: str
) -> None:
    path = write(tmp_path, text=flagship(**changes))
    found = [problem for problem in problems_of(path) if problem.field == f"parameters.{field}"]
    assert reason in " / ".join(problem.reason for problem in found)
    assert {problem.line for problem in found} == {line_of(path, f"{field} = ")}


def test_all_problems_of_a_file_are_listed_at_once(tmp_path: Path) -> None:
    text = flagship(salary='"none"', bid_s="0").replace("jail_fine = 50\n", "jail_fee = 50\n")
    text = text.replace("[at.solo]", 'colour = "red"\n[at.moon]\nbid_s = 1\n[at.solo]\nsalary = 1.5\nseats = 3')
    path = write(tmp_path, text=f"note = 1\n{text}")
    assert [(problem.field, problem.reason.split(" (")[0]) for problem in problems_of(path)] == [
        ("note", "unknown key"),
        ("parameters.jail_fine", "is missing"),
        ("parameters.salary", "must be a whole number, is 'none'"),
        ("parameters.jail_fee", "unknown parameter"),
        ("parameters.bid_s", "0 is not within 1 to 86400"),
        ("parameters.colour", "unknown parameter"),
        ("at.moon", "unknown seating"),
        ("at.solo.salary", "must be a whole number, is 1.5"),
        ("at.solo.seats", "no parameter that can differ by seating"),
    ]
    assert str(problems_of(path)[0]) == "industry.toml:1: note: unknown key"


def test_a_file_that_is_no_toml_is_reported_by_line(tmp_path: Path) -> None:
    path = write(tmp_path, text=flagship(salary="= 200"))
    (problem,) = problems_of(path)
    assert (problem.line, problem.field) == (line_of(path, "salary"), "file")
    assert "cannot be read" in problems_of(tmp_path / "absent.toml")[0].reason


def test_keys_in_multi_line_values_keep_their_lines(tmp_path: Path) -> None:
    text = flagship(decks='[\n  "market",\n  "support",\n]', salary="-5")
    path = write(tmp_path, text=text)
    assert [(problem.line, problem.field) for problem in problems_of(path)] == [
        (line_of(path, "salary"), "parameters.salary")
    ]


@pytest.mark.parametrize(
    ("base", "reason"),
    [
        ('"absent.toml"', "no such file beside this one"),
        ('"../industry.toml"', "no such file beside this one"),
        ('"metro-speed.toml"', "has a base itself; only one is allowed"),
    ],
)
def test_a_bad_base_is_reported(tmp_path: Path, base: str, reason: str) -> None:
    copy(tmp_path, "metro.toml", "metro-speed.toml")
    path = write(tmp_path, name="x.toml", text=f'id = "x"\nversion = 1\nbase = {base}\n')
    found = [problem for problem in problems_of(path) if problem.field == "base"]
    assert [(problem.file, problem.line) for problem in found] == [("x.toml", 3)]
    assert reason in found[0].reason
