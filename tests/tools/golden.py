"""Plays many games of an edition and keeps a dozen that together show every way to end and every card.

    python -m tests.tools.golden [--edition industry|all] [--renew] [--candidates 30]

Bots and random players play, at tables of people, of bots and of both, custom ones too; the shortest games that show
what has to be shown are kept. Editions whose games are kept are left as they are; `--renew` replaces those of the
present version of their data, for rules that were meant to change. Games of older versions stay: they must go on being
decided as they were. Exit status 1 if an edition's games do not show everything.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from services.rules.domain.commands import Command, Expire
from services.rules.domain.decide import advance
from services.rules.domain.edition import Edition
from services.rules.domain.events import GameEnded
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.parties import NONE
from services.rules.domain.play import Advance
from services.rules.domain.replay import Entry
from services.rules.domain.state import State
from tests.golden.logs import GAMES, ROOT, Sight, log_files, possible_ends, possible_sights, sights_of, write_log_file
from tests.property.games import EDITION_IDS, EDITIONS, SANE, TIMED, WILD, RandomGame
from tests.support.bot_games import BotTable, GameRun, bot_setup, seating_of_bots, seats_of

#: longer games are kept only where nothing else ends their way
MOST_COMMANDS = 900
#: commands of the longest one, which goes to a limit of rounds
LIMIT = 6_000
#: shorter ones show too little
LEAST_COMMANDS = 60
#: play time between the commands of a slow game: less than any turn
SLOW_MS = 25_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """A finished game that may be kept, with what it shows: sights, kinds of commands and of events."""

    entries: tuple[Entry, ...]
    ended: str
    shown: frozenset[Sight]

    @property
    def length(self) -> int:
        """Its commands."""
        return len(self.entries)


def candidate(edition: Edition, entries: Sequence[Entry]) -> Candidate | None:
    """A game, None if it has not ended."""
    last = entries[-1].events[-1]
    if not isinstance(last, GameEnded):
        return None
    shown = sights_of(edition, entries)
    for entry in entries:
        shown |= {("event", type(event).__name__) for event in entry.events}
        if entry.command is not None:
            shown.add(("command", type(entry.command.action).__name__))
    return Candidate(tuple(entries), last.reason, frozenset(shown))


def _of_bots(edition: Edition, setup: Setup, seed: int, step_ms: int) -> Candidate | None:
    """Bots play for all seats."""
    begun = begin(edition, setup, 0)
    entries, state = [Entry(None, 0, begun.events)], begun.state
    table = BotTable(edition, seed, GameRun(begun.state), step_ms=step_ms)
    while not state.ended and len(entries) < LIMIT:
        table.step()
        state = _take(edition, state, entries, table.run.commands[-1], table.run.times_ms[-1])
    return candidate(edition, entries)


def _of_sleepers(edition: Edition, seed: int) -> Candidate | None:
    """Nobody ever answers: every decision takes its default, and only a limit of rounds or of time ends the game."""
    begun = begin(edition, bot_setup(edition, seats=edition.seats.least, seed=seed), 0)
    entries, state = [Entry(None, 0, begun.events)], begun.state
    while not state.ended and len(entries) < LIMIT:
        deadline = min(state.deadlines, key=lambda item: item.due_at_ms)
        state = _take(edition, state, entries, Command(NONE, 0, Expire(deadline.id)), deadline.due_at_ms)
    return candidate(edition, entries)


def _take(edition: Edition, state: State, entries: list[Entry], command: Command, play_time_ms: int) -> State:
    result = advance(edition, state, command, play_time_ms)
    assert isinstance(result, Advance)
    entries.append(Entry(command, play_time_ms, result.events))
    return result.state


def _bot_games(edition_id: str, count: int) -> Iterator[Candidate | None]:
    entry = EDITIONS[edition_id]
    for seed in range(count):
        rng = Random(seed)
        with_person = seed % 3 == 0 and bool({"mixed", "solo"} & set(entry.seating))
        seating = ("solo" if "solo" in entry.seating else "mixed") if with_person else seating_of_bots(entry)
        edition = entry.at(seating)
        setup = bot_setup(
            edition, seats=seats_of(edition, rng.choice((2, 2, 3, 4))), seed=seed, people=int(with_person)
        )
        yield _of_bots(edition, setup, seed, SLOW_MS if seed % 5 == 4 else 3_000)


def _random_games(edition_id: str, count: int) -> Iterator[Candidate | None]:
    for seed in range(count):
        for mood in (TIMED, WILD, SANE):
            for custom in (False, True):
                game = RandomGame(seed, mood, edition_id, custom=custom, plain=True)
                if game.setup.overrides or not custom:
                    for _ in game.steps(MOST_COMMANDS):
                        pass
                    yield candidate(game.edition, game.entries)


def candidates(edition_id: str, count: int) -> list[Candidate]:
    """Finished games of all kinds."""
    entry = EDITIONS[edition_id]
    found = [*_bot_games(edition_id, count), *_random_games(edition_id, count)]
    if {"rounds", "time"} & set(possible_ends(entry)):
        found += [_of_sleepers(entry.at(seating_of_bots(entry)), seed) for seed in range(4)]
    return [game for game in found if game is not None and game.length >= LEAST_COMMANDS]


def choose(edition: Edition, found: Sequence[Candidate]) -> list[Candidate]:
    """The shortest game for each way to end, then those that add most for their length."""
    rest = sorted(found, key=lambda game: game.length)
    kept: list[Candidate] = []
    for way in sorted(possible_ends(edition)):
        best = next((game for game in rest if game.ended == way), None)
        if best is not None:
            kept.append(best)
            rest.remove(best)
    known = set[Sight]().union(*(game.shown for game in kept))
    rest = [game for game in rest if game.length <= MOST_COMMANDS]
    while rest and len(kept) < GAMES:
        best = max(rest, key=lambda game: (len(game.shown - known) * 100 / (60 + game.length), -game.length))
        if not best.shown - known:
            best = next((game for game in rest if game.length >= 2 * LEAST_COMMANDS), rest[0])
        kept.append(best)
        rest.remove(best)
        known |= best.shown
    return kept


def keep(edition_id: str, count: int) -> bool:
    """Writes the games of an edition; whether they show everything."""
    edition = EDITIONS[edition_id]
    kept = choose(edition, candidates(edition_id, count))
    for path in log_files(edition_id):
        if path.name.startswith(f"v{edition.version}-"):
            path.unlink()
    for number, game in enumerate(kept, 1):
        write_log_file(ROOT / edition_id / f"v{edition.version}-{number:02}.log.gz", game.entries)
    lacking = sorted(possible_sights(edition) - set[Sight]().union(*(game.shown for game in kept)))
    lengths = " ".join(str(game.length) for game in kept)
    print(f"{edition_id}: {len(kept)} games of {lengths} commands; missing: {lacking or 'nothing'}", file=sys.stderr)
    return not lacking and len(kept) >= GAMES


def main(arguments: list[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edition", default="all", choices=("all", *EDITION_IDS))
    parser.add_argument("--renew", action="store_true", help="replace games that are kept")
    parser.add_argument("--candidates", type=int, default=30, help="games of each kind to choose from (30)")
    wanted = parser.parse_args(arguments)
    holds = True
    for edition_id in EDITION_IDS if wanted.edition == "all" else (wanted.edition,):
        if log_files(edition_id) and not wanted.renew:
            print(f"{edition_id}: kept already", file=sys.stderr)
            continue
        holds = keep(edition_id, wanted.candidates) and holds
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
