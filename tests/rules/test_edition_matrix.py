"""The edition files hold what the matrix of docs/rules/parameters.md says, cell by cell."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.rules.domain.edition import Edition
from services.rules.editions.loader import load_catalogue
from services.rules.editions.schema import PARAMETERS
from tests.tools.ledgers import ledger_ids

MATRIX = (Path(__file__).resolve().parents[2] / "docs" / "rules" / "parameters.md").read_text(encoding="utf-8")
CATALOGUE = load_catalogue()
EDITIONS = (
    "industry",
    "metro",
    "metro-speed",
    "brands",
    "brands-fast",
    "brands-brawl",
    "brands-teams",
    "tabletop",
    "tabletop-short",
    "tabletop-timed",
    "online-classic",
    "rent-tax",
)
LETTERS = {
    "roll": "r",
    "first_roll": "r1",
    "purchase": "p",
    "choice": "c",
    "manage": "m",
    "payment": "y",
    "gap": "g",
}


def rows() -> dict[str, list[str]]:
    """Parameter -> its cells, in the order of EDITIONS."""
    found = {}
    for line in MATRIX.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.match(r"\| `[a-z_]+` \|", line) and len(cells) == len(EDITIONS) + 3:
            found[cells[0].strip("`")] = cells[2:-1]
    return found


def windows(value: frozenset[str]) -> str:
    return " ".join(LETTERS[word] for word in LETTERS if word in value)


def decks(edition: Edition) -> str:
    files = {"industry": ("market", "support")}.get(edition.board.name, tuple(edition.decks))
    extra = " + chance_brawl" if any(card.effect == "destroy_building" for card in edition.decks[files[0]]) else ""
    return ", ".join(files) + extra


def opening(value: Any) -> str:
    return value if isinstance(value, str) else f"{value.percent}%" if value.percent else str(value.units)


def estate(value: Any) -> str:
    if getattr(value, "ally", False):
        return f"ally as_is, else {value.usual}"
    return value.usual if value.last == value.usual else f"{value.usual}; last: {value.last}"


def experience(edition: Edition) -> str:
    xp = edition.xp
    if xp is None:
        return "0"
    if xp.only_rated:
        return f"if rated: {xp.winner} / {xp.others} ({xp.leavers} if surrendered or struck out)"
    assert (xp.only_people, xp.deed_card) == (True, True)
    return f"person, round ≥ {xp.from_round}: {xp.winner} + deed card / {xp.others}"


def overrides(edition: Edition) -> str:
    names = [item.parameter for item in edition.overrides]
    return ("list below" if "start_cash" in names else ", ".join(names)) or "none"


def curve(edition: Edition) -> str:
    value = edition.rent_tax_curve
    assert value is not None
    return f"{value.shape} " + " ".join(f"{offset}:{percent}" for offset, percent in value.points)


def trade_limit(edition: Edition) -> str:
    value = edition.debt_trade_limit
    assert value is not None
    return f"{value.count} refused" if value.counts == "refused" else str(value.count)


def time_limit(edition: Edition) -> str:
    bounds = next(item for item in edition.overrides if item.parameter == "time_limit_min")
    return f"{edition.time_limit_min} ({bounds.least}–{bounds.most})"


def seat_range(edition: Edition) -> str:
    least, most = edition.seats.least, edition.seats.most
    return str(least) if least == most else f"{least}–{most}"


def balance(edition: Edition) -> str:
    percent, allies = edition.trade_balance.percent, edition.trade_balance.allies
    return str(percent) if percent == allies else f"{percent}; allies {allies}"


def trade_in(edition: Edition) -> str:
    sale = windows(edition.trade_in.sale)
    return windows(edition.trade_in.full) + (f"; {sale}: sale" if sale else "")


def payment_s(edition: Edition) -> str:
    covered = "; covered: turn" if edition.payment_s.covered == "turn" else ""
    return f"{edition.payment_s.seconds}{covered}"


SHOWN: dict[str, Callable[[Edition], str]] = {
    "board": lambda edition: edition.board.name,
    "decks": decks,
    "seats": seat_range,
    "seating": lambda edition: " or ".join(", ".join(edition.seating).rsplit(", ", 1)),
    "teams": lambda edition: ", ".join("+".join(map(str, team)) for team in edition.teams or ()),
    "opening_bid": lambda edition: opening(edition.opening_bid),
    "own_auction": lambda edition: edition.own_auction or "none",
    "own_auction_opening": lambda edition: opening(edition.own_auction_opening),
    "own_auction_in": lambda edition: windows(edition.own_auction_in) or "–",
    "build_in": lambda edition: windows(edition.build_in),
    "build_limit": lambda edition: (edition.build_limit or "none").replace("_", ", "),
    "trade_in": trade_in,
    "rent_tax_curve": curve,
    "rent_tax_on": lambda edition: ", ".join(sorted(edition.rent_tax_on, reverse=True)) or "–",
    "supply": lambda edition: f"{edition.supply.houses}/{edition.supply.hotels}" if edition.supply else "none",
    "debt_trade_limit": trade_limit,
    "bot_offers": lambda edition: (
        f"{edition.bot_offers.per_turn}; {edition.bot_offers.silent_rounds}" if edition.bot_offers else "–"
    ),
    "trade_balance": balance,
    "trade_mortgaged": lambda edition: {"no": "n", "yes": "y", "allies": "allies", None: "–"}[edition.trade_mortgaged],
    "casino": lambda edition: (
        f"{edition.casino.stake}; {edition.casino.to_jackpot}; 1/{edition.casino.jackpot_one_in}"
        if edition.casino
        else "–"
    ),
    "payment_confirm": lambda edition: (
        {"rent_tax": "rent, tax"}.get(str(edition.payment_confirm)) or edition.payment_confirm or "none"
    ),
    "insolvent_at_once": lambda edition: (edition.insolvent_at_once or "never").replace("_", " "),
    "estate_to_player": lambda edition: estate(edition.estate_to_player),
    "estate_to_bank": lambda edition: estate(edition.estate_to_bank),
    "time_limit_min": time_limit,
    "payment_s": payment_s,
    "pause": lambda edition: (
        f"{edition.pause.vote_s}/{edition.pause.countdown_s}/{edition.pause.longest_s}/{edition.pause.again_s}"
        if edition.pause
        else "–"
    ),
    "rated": lambda edition: (
        f"no bots, {edition.rated.least_rounds} rounds, {edition.rated.least_minutes} min" if edition.rated else "n"
    ),
    "xp": experience,
    "overrides": overrides,
}


def shown(edition: Edition, name: str) -> set[str]:
    """The ways in which the matrix may write a parameter of a flat edition."""
    value = getattr(edition, name)
    if value is None and name not in ("xp", "rated", "debt_trade_limit"):
        return {"–", "never", "none"}
    if value is None and name == "debt_trade_limit":
        return {"–", "none"}
    if name in SHOWN:
        return {SHOWN[name](edition)}
    if isinstance(value, bool):
        return {"y" if value else "n"}
    return {str(value)}


@pytest.mark.parametrize("edition_id", EDITIONS)
def test_every_parameter_is_as_in_the_matrix(edition_id: str) -> None:
    table, edition = rows(), CATALOGUE.get(edition_id, 1)
    assert sorted(table) == sorted(set(PARAMETERS) - {"auction_style", "rent_claim"})
    column = EDITIONS.index(edition_id)
    wrong = []
    for name, cells in table.items():
        usual, *special = cells[column].split("; solo: ")
        first = edition.seating[0]
        if usual not in shown(edition.at(first) if name != "seating" else edition, name):
            wrong.append((name, usual, shown(edition, name)))
        if special and special[0] not in shown(edition.at("solo"), name):
            wrong.append((name, special[0], shown(edition.at("solo"), name)))
    assert wrong == []
    assert (edition.auction_style, edition.rent_claim) == ("in_turn", "auto")


def test_the_program_has_these_editions_in_their_first_version() -> None:
    assert sorted(CATALOGUE.editions) == sorted((name, 1) for name in EDITIONS)


def test_names_and_colours_tell_editions_and_groups_apart() -> None:
    editions = CATALOGUE.newest()
    for language in ("en", "uk", "ru"):
        assert len({edition.names.in_language(language) for edition in editions}) == len(EDITIONS)
        for edition in editions:
            groups = edition.board.groups.values()
            assert len({group.names.in_language(language) for group in groups}) == len(groups) == 10
            assert len({group.colour for group in groups}) == 10


LEDGER_OF = {
    "metro": "metro",
    "brands": "brands",
    "industry": "industry",
    "tabletop": "tabletop",
    "renttax": "tabletop",
}


@pytest.mark.parametrize("edition_id", EDITIONS)
def test_refusals_name_statements_of_the_ledger_of_the_edition(edition_id: str) -> None:
    edition = CATALOGUE.get(edition_id)
    board = edition.board.name
    assert set(edition.statements.values()) <= set(ledger_ids(LEDGER_OF.get(board, board)))
