"""Whole games of the standard bot by the core alone."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from services.bots.domain.roster import LEVELS, STANDARD
from services.rules.domain.commands import DeclareBankruptcy, OfferTrade
from services.rules.editions.loader import load_catalogue
from services.rules.editions.shelf import with_overrides
from tests.support.amount import amount
from tests.support.bot_games import flat_edition, play_bots, seats_of
from tests.support.overrides import random_overrides
from tests.tools.games import PAGES, play_games

OTHERS = [edition.id for edition in load_catalogue().newest() if edition.id != "industry"]


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_games_run_and_end(seats: int) -> None:
    """IND-BOT-12, IND-BOT-09: no game fails, and nearly all end within 1,000 rounds."""
    count = amount(6, 200)
    tally = play_games(count, seats=seats, edition_id="industry", first_seed=5000, rounds=1000)
    assert tally.failures == []
    assert len(tally.rounds) >= count * (95 if seats <= 4 else 85) // 100


@pytest.mark.parametrize("edition_id", OTHERS)
def test_games_of_every_edition_run_and_end(edition_id: str) -> None:
    """MET-BOT-01, BRA-BOT-01: bots of one level play every edition wholly by themselves, at tables of any size."""
    tally = play_games(amount(8, 1000), seats=None, edition_id=edition_id, first_seed=100, rounds=1000)
    assert tally.failures == []
    assert tally.unfinished == []


@pytest.mark.parametrize("edition_id", OTHERS)
def test_bots_play_for_people_too(edition_id: str) -> None:
    """A level of play is no matter of the seat's kind: games of people and bots end, with the last person at the
    latest."""
    edition = flat_edition(edition_id)
    seats = seats_of(edition, 4)
    for seed in range(amount(2, 50)):
        run = play_bots(edition, seats=seats, seed=seed, people=1 + seed % seats)
        assert run.state.ended


@pytest.mark.parametrize("edition_id", [edition.id for edition in load_catalogue().newest() if edition.overrides])
def test_bots_play_custom_tables(edition_id: str) -> None:
    """Tables that change what their edition lets them change: rent on demand is claimed, paid bids are made."""
    flat = flat_edition(edition_id)
    for seed in range(amount(4, 100)):
        overrides = random_overrides(Random(seed), flat)
        edition = with_overrides(flat, overrides)
        run = play_bots(edition, seats=seats_of(edition, 4), seed=seed, max_rounds=amount(120, 1000))
        assert run.state.ended or run.state.round > 120


def test_a_failed_or_endless_game_is_told() -> None:
    """The tally counts what did not end, and shows it in its row."""
    tally = play_games(2, seats=4, edition_id="tabletop", first_seed=0, rounds=3)
    assert (tally.unfinished, tally.holds) == ([0, 1], False)
    assert tally.row("tabletop") == "| `tabletop` | 4 | 2 | 0 | 0.0 % |  |  |  |  |\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_pages_show_all_editions(page: Path) -> None:
    """A row with figures for every edition, and none failed."""
    table = page.read_text(encoding="utf-8").split("<!-- games: begin -->")[1]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("| `")]
    assert [row[0].strip("`") for row in rows] == [edition.id for edition in load_catalogue().newest()]
    assert all(int(row[2]) >= 100 and row[3] == "0" for row in rows)
    assert all(float(row[4].removesuffix(" %")) >= 95 for row in rows)


def test_the_same_seed_is_the_same_game() -> None:
    """IND-BOT-08, IND-INV-13: bots repeat, through the view or not, for they see nothing else."""
    edition = flat_edition()
    first = play_bots(edition, seats=4, seed=11)
    second = play_bots(edition, seats=4, seed=11, through_view=True)
    assert first.commands == second.commands
    assert first.state == second.state
    assert play_bots(edition, seats=4, seed=12).commands != first.commands


def test_manners_over_whole_games() -> None:
    """IND-BOT-10, IND-BOT-03: nobody gives up while there is another way, nobody proposes twice in a turn."""
    edition = flat_edition()
    offered: list[tuple[int, int, int]] = []

    def watch(state, options, seat, action):  # type: ignore[no-untyped-def]
        if isinstance(action, DeclareBankruptcy):
            kinds = {option.kind for option in options}
            assert not kinds & {"sell_buildings", "open_auction", "sell_to_bank"}
        if isinstance(action, OfferTrade):
            rolls = state.draws
            assert (seat, state.round, rolls) not in offered or state.agenda[-1].__class__.__name__ == "PaymentFrame"
            offered.append((seat, state.round, rolls))

    for seed in range(3):
        play_bots(edition, seats=4, seed=seed, watch=watch)
    assert offered


def test_the_standard_level_is_on_the_roster() -> None:
    """IND-BOT-05: a level is a way of choosing and nothing else."""
    assert STANDARD in LEVELS
    assert LEVELS[STANDARD].names.en == "Normal"
