"""Plays and keeps games of an edition, until they show every way to end and every effect of its cards.

    python -m tests.tools.golden [--edition industry|all] [--renew]

Editions whose games are kept are left as they are; `--renew` replaces them, for rules that were meant to change.
Exit status 1 if an edition's games do not show everything.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from services.rules.domain.commands import Command
from services.rules.domain.edition import Edition
from services.rules.domain.options import Option
from tests.golden.logs import GAMES, ROOT, Sight, log_files, possible_sights, sights_of, write_log_file
from tests.property.games import CUSTOM_IDS, EDITION_IDS, EDITIONS, SANE, TIMED, WILD, RandomGame

MOST_COMMANDS = 6_000
MOST_TRIES = 400
#: what an idle seat does, the first that it may
_IDLE = ("decline", "pass", "roll", "refuse_trade", "close_gap", "end_turn")


@dataclass(slots=True)
class IdleGame(RandomGame):
    """A game in which nobody buys anything, so that it lasts."""

    def _command(self, options: tuple[Option, ...]) -> Command:
        for kind in _IDLE:
            option = next((option for option in options if option.kind == kind), None)
            if option is not None:
                options = (option,)
                break
        return RandomGame._command(self, options)


def candidates(edition_id: str) -> Iterator[RandomGame]:
    """Finished games of many kinds."""
    for attempt in range(MOST_TRIES):
        mood = (SANE, TIMED, WILD, TIMED, WILD)[attempt % 5]
        custom = attempt % 3 == 2 and edition_id in CUSTOM_IDS
        kind = IdleGame if attempt % 8 == 7 else RandomGame
        game = kind(attempt, mood if kind is RandomGame else WILD, edition_id, custom=custom, plain=True)
        for _ in game.steps(MOST_COMMANDS):
            pass
        if game.state.ended:
            yield game


def choose(edition_id: str, edition: Edition) -> tuple[list[RandomGame], set[Sight]]:
    """A dozen games, and what they do not show: some of all kinds first, then those that show something new."""
    missing = possible_sights(edition)
    chosen: list[RandomGame] = []
    for game in candidates(edition_id):
        shown = missing & sights_of(edition, game.entries)
        room = GAMES - len(chosen)
        if shown or room > len(missing):
            chosen.append(game)
            missing -= shown
        if len(chosen) == GAMES:
            break
    return chosen, missing


def main(arguments: list[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edition", default="all", choices=("all", *EDITION_IDS))
    parser.add_argument("--renew", action="store_true", help="replace games that are kept")
    wanted = parser.parse_args(arguments)
    failed = False
    for edition_id in EDITION_IDS if wanted.edition == "all" else (wanted.edition,):
        if log_files(edition_id) and not wanted.renew:
            print(f"{edition_id}: kept already", file=sys.stderr)
            continue
        for path in log_files(edition_id):
            path.unlink()
        games, missing = choose(edition_id, EDITIONS[edition_id])
        for number, game in enumerate(games, 1):
            write_log_file(ROOT / edition_id / f"{number:02}.log.gz", game.entries)
        print(f"{edition_id}: {len(games)} games kept; missing: {sorted(missing) or 'nothing'}", file=sys.stderr)
        failed |= bool(missing) or len(games) < GAMES
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
