"""Whole games of bots, headless: do they run without failure, and do they end?

    python -m tests.tools.games [N] [--edition industry|all] [--seats 4|any] [--seed 0] [--rounds 1000] [--write]

Shows how far it is on stderr; each edition ends with one JSON object on a line. Exit status 1 if a game failed, or if
fewer than 95 in 100 of an edition's ended with a winner within the rounds. `--write` puts the figures of all editions
into docs/editions.md and README.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from services.rules.editions.loader import load_catalogue
from tests.support.bot_games import STEP_MS, GameFailedError, GameRun, flat_edition, play_bots, seats_of

#: games that must end with a winner, in percent
LEAST_ENDED = 95
ROOT = Path(__file__).resolve().parents[2]
#: pages that show the table
PAGES = (ROOT / "docs" / "editions.md", ROOT / "README.md")
_BEGIN, _END = "<!-- games: begin -->\n", "<!-- games: end -->\n"
_HEAD = """| edition | seats | games | failed | ended | median rounds | median minutes | median commands | ends |
|---|---|---|---|---|---|---|---|---|
"""


@dataclass(slots=True)
class Tally:
    """What some games came to."""

    rounds: list[int] = field(default_factory=list)
    minutes: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)
    winners: Counter[int] = field(default_factory=Counter)
    seats: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    unfinished: list[int] = field(default_factory=list)
    commands: int = 0
    choices: int = 0
    events: int = 0
    core_seconds: float = 0.0
    bot_seconds: float = 0.0

    def add(self, seed: int, run: GameRun) -> None:
        """Counts a game in."""
        self.commands += len(run.commands)
        self.choices += run.choices
        self.events += run.events
        self.core_seconds += run.core_seconds
        self.bot_seconds += run.bot_seconds
        self.seats[len(run.state.in_play)] += 1
        if run.winner is None:
            self.unfinished.append(seed)
            return
        self.winners[run.winner] += 1
        self.ends[run.state.ended] += 1
        self.rounds.append(run.state.round)
        self.minutes.append(run.now_ms / 60_000)
        self.lengths.append(len(run.commands))

    @property
    def games(self) -> int:
        """Games counted."""
        return len(self.rounds) + len(self.unfinished) + len(self.failures)

    @property
    def holds(self) -> bool:
        """Whether no game failed and enough of them ended."""
        return not self.failures and len(self.rounds) * 100 >= self.games * LEAST_ENDED

    def line(self) -> dict[str, object]:
        """The figures for the last line."""
        return {
            "games": self.games,
            "failures": len(self.failures),
            "winners": sum(self.winners.values()),
            "winners_by_seat": {str(seat): count for seat, count in sorted(self.winners.items())},
            "ends": dict(sorted(self.ends.items())),
            "median_rounds": _median(self.rounds),
            "p95_rounds": sorted(self.rounds)[len(self.rounds) * 95 // 100] if self.rounds else None,
            "median_minutes": _median(self.minutes),
            "median_commands": _median(self.lengths),
            "commands": self.commands,
            "events": self.events,
            "commands_per_s": round(self.commands / (self.core_seconds + self.bot_seconds or 1.0)),
            "core_commands_per_s": round(self.commands / (self.core_seconds or 1.0)),
            "us_per_choice": round(self.bot_seconds / (self.choices or 1) * 1e6, 1),
        }

    def row(self, edition_id: str) -> str:
        """The line of the table in docs/editions.md."""
        share = len(self.rounds) * 100 / (self.games or 1)
        seats = sorted(self.seats)
        ends = ", ".join(f"{name} {count}" for name, count in self.ends.most_common())
        cells = (
            f"`{edition_id}`",
            str(seats[0]) if len(seats) == 1 else f"{seats[0]}-{seats[-1]}" if seats else "",
            str(self.games),
            str(len(self.failures)),
            f"{share:.1f} %",
            *(f"{_median(values):.0f}" if values else "" for values in (self.rounds, self.minutes, self.lengths)),
            ends,
        )
        return f"| {' | '.join(cells)} |\n"


def _median(values: Sequence[float]) -> float | None:
    return round(statistics.median(values), 1) if values else None


def play_games(count: int, *, seats: int | None, edition_id: str, first_seed: int, rounds: int) -> Tally:
    """Plays games one after another, saying how far it is; `seats` None: every number that is allowed, in turn."""
    edition = flat_edition(edition_id)
    tally = Tally()
    shown = 0.0
    for number in range(count):
        seed = first_seed + number
        sizes = edition.seats.most - edition.seats.least + 1
        wanted = edition.seats.least + seed % sizes if seats is None else seats_of(edition, seats)
        try:
            tally.add(seed, play_bots(edition, seats=wanted, seed=seed, max_rounds=rounds))
        except GameFailedError as failure:
            tally.failures.append(str(failure))
            print(f"\n{failure}", file=sys.stderr)
        if time.monotonic() - shown > 1 or number + 1 == count:
            shown = time.monotonic()
            won = sum(tally.winners.values())
            head = f"{edition_id}: game {number + 1} of {count}"
            print(f"\r{head}: {won} won, {len(tally.failures)} failed", end="", file=sys.stderr)
    print(file=sys.stderr)
    return tally


def written(page: str, rows: Sequence[str]) -> str:
    """The page with its table renewed."""
    head, rest = page.split(_BEGIN)
    return head + _BEGIN + _HEAD + "".join(rows) + _END + rest.split(_END)[1]


def main(arguments: list[str] | None = None) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(
        description=f"Play whole games of bots by the core alone, {STEP_MS // 1000} s of play time for each command.",
        epilog="example: python -m tests.tools.games 200 --edition all --seats any",
    )
    parser.add_argument("games", nargs="?", type=int, default=1000, help="how many of each edition (1000)")
    parser.add_argument("--edition", default="industry", help="edition, or all (industry)")
    parser.add_argument("--seats", default="4", help="bots at a table, as near as the edition allows, or any (4)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first game (0)")
    parser.add_argument("--write", action="store_true", help="write the table of docs/editions.md and README.md")
    parser.add_argument(
        "--rounds", type=int, default=1000, help="rounds after which a game counts as unfinished (1000)"
    )
    chosen = parser.parse_args(arguments)
    known = [edition.id for edition in load_catalogue().newest()]
    names = known if chosen.edition == "all" else [chosen.edition]
    if not set(names) <= set(known):
        parser.error(f"the editions are {', '.join(known)}, or all")
    seats = None if chosen.seats == "any" else int(chosen.seats)
    rows, holds = [], True
    for name in names:
        tally = play_games(chosen.games, seats=seats, edition_id=name, first_seed=chosen.seed, rounds=chosen.rounds)
        print(json.dumps({"edition": name, "seats": chosen.seats, **tally.line()}), flush=True)
        rows.append(tally.row(name))
        holds = holds and tally.holds
    if chosen.write:
        for page in PAGES:
            page.write_text(written(page.read_text(encoding="utf-8"), rows), encoding="utf-8")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
