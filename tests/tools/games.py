"""Whole games of bots, headless: do they run without failure, and do they end?

    python -m tests.tools.games [N] [--seats 4] [--edition industry] [--seed 0] [--rounds 1000]

Shows how far it is on stderr; the last line is one JSON object. Exit status 1 if a game failed, or if fewer than 95
in 100 ended with a winner within the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from tests.support.bot_games import GameFailedError, GameRun, flat_edition, play_bots

#: games that must end with a winner, in percent
LEAST_ENDED = 95


@dataclass(slots=True)
class Tally:
    """What some games came to."""

    rounds: list[int] = field(default_factory=list)
    winners: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    unfinished: list[int] = field(default_factory=list)
    commands: int = 0
    events: int = 0
    core_seconds: float = 0.0
    bot_seconds: float = 0.0

    def add(self, seed: int, run: GameRun) -> None:
        """Counts a game in."""
        self.commands += len(run.commands)
        self.events += run.events
        self.core_seconds += run.core_seconds
        self.bot_seconds += run.bot_seconds
        if run.winner is None:
            self.unfinished.append(seed)
        else:
            self.winners[run.winner] += 1
            self.rounds.append(run.state.round)

    @property
    def games(self) -> int:
        """Games counted."""
        return len(self.rounds) + len(self.unfinished) + len(self.failures)

    def line(self) -> dict[str, object]:
        """The figures for the last line."""
        return {
            "games": self.games,
            "failures": len(self.failures),
            "winners": sum(self.winners.values()),
            "winners_by_seat": {str(seat): count for seat, count in sorted(self.winners.items())},
            "median_rounds": statistics.median(self.rounds) if self.rounds else None,
            "p95_rounds": sorted(self.rounds)[len(self.rounds) * 95 // 100] if self.rounds else None,
            "commands": self.commands,
            "events": self.events,
            "commands_per_s": round(self.commands / (self.core_seconds + self.bot_seconds or 1.0)),
            "core_commands_per_s": round(self.commands / (self.core_seconds or 1.0)),
            "us_per_choice": round(self.bot_seconds / (self.commands or 1) * 1e6, 1),
        }


def play_games(count: int, *, seats: int, edition_id: str, first_seed: int, rounds: int) -> Tally:
    """Plays games one after another, saying how far it is."""
    edition = flat_edition(edition_id)
    tally = Tally()
    shown = 0.0
    for number in range(count):
        seed = first_seed + number
        try:
            tally.add(seed, play_bots(edition, seats=seats, seed=seed, max_rounds=rounds))
        except GameFailedError as failure:
            tally.failures.append(str(failure))
            print(f"\n{failure}", file=sys.stderr)
        if time.monotonic() - shown > 1 or number + 1 == count:
            shown = time.monotonic()
            won = sum(tally.winners.values())
            print(f"\rgame {number + 1} of {count}: {won} won, {len(tally.failures)} failed", end="", file=sys.stderr)
    print(file=sys.stderr)
    return tally


def main(arguments: list[str] | None = None) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(
        description="Play whole games of bots by the core alone.",
        epilog="example: python -m tests.tools.games 200 --seats 6",
    )
    parser.add_argument("games", nargs="?", type=int, default=1000, help="how many (1000)")
    parser.add_argument("--seats", type=int, default=4, help="bots at the table (4)")
    parser.add_argument("--edition", default="industry", help="edition (industry)")
    parser.add_argument("--seed", type=int, default=0, help="number of the first game (0)")
    parser.add_argument(
        "--rounds", type=int, default=1000, help="rounds after which a game counts as unfinished (1000)"
    )
    chosen = parser.parse_args(arguments)
    tally = play_games(
        chosen.games, seats=chosen.seats, edition_id=chosen.edition, first_seed=chosen.seed, rounds=chosen.rounds
    )
    line = {"edition": chosen.edition, "seats": chosen.seats, **tally.line()}
    print(json.dumps(line))
    return 0 if not tally.failures and len(tally.rounds) * 100 >= chosen.games * LEAST_ENDED else 1


if __name__ == "__main__":
    sys.exit(main())
