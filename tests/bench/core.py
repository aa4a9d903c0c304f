"""The core alone: how many commands a second it decides, folds and lists legal actions for, in one process."""

import gc
import sys
import time
from dataclasses import dataclass

from services.rules.domain.commands import Command
from services.rules.domain.decide import advance
from services.rules.domain.digest import state_hash
from services.rules.domain.edition import Edition
from services.rules.domain.legal import legal_actions
from services.rules.domain.play import Advance
from services.rules.domain.state import State
from services.rules.editions.loader import load_catalogue
from tests.support.bot_games import flat_edition, new_bot_game, play_bots, seats_of

FLAGSHIP = "industry"
#: games played by bots, whose commands are decided again under the clock
GAMES = 12
ROUNDS = 150
SEATS = 4
REPEATS = 5
EDITION_REPEATS = 3


@dataclass(frozen=True, slots=True)
class Recorded:
    """A game as it was played: where it began, its commands, and the play time of each."""

    beginning: State
    commands: tuple[Command, ...]
    times_ms: tuple[int, ...]


def record(edition: Edition, games: int = GAMES) -> list[Recorded]:
    """Games of four bots (three where the edition has no more seats), each up to some rounds."""
    seats = seats_of(edition, SEATS)
    recorded = []
    for seed in range(games):
        run = play_bots(edition, seats=seats, seed=seed, max_rounds=ROUNDS)
        beginning = new_bot_game(edition, seats=seats, seed=seed)
        recorded.append(Recorded(beginning, tuple(run.commands), tuple(run.times_ms)))
    return recorded


def decide_all(edition: Edition, recorded: list[Recorded]) -> int:
    """Decides every command again with its list of legal actions; gives their number."""
    decided = 0
    for game in recorded:
        state = game.beginning
        for command, now_ms in zip(game.commands, game.times_ms, strict=True):
            result = advance(edition, state, command, now_ms)
            if not isinstance(result, Advance):
                raise TypeError(f"a recorded command was refused: {result}")
            state = result.state
            legal_actions(edition, state, now_ms)
            decided += 1
    return decided


def measure(edition_id: str = FLAGSHIP) -> dict[str, float]:
    """Figures of the core; see docs/bench.md for the keys."""
    edition = flat_edition(edition_id)
    recorded = record(edition)
    best_us = min(_us_per_command(edition, recorded) for _ in range(REPEATS))
    states = [game.beginning for game in recorded] * 500
    began = time.process_time()
    for state in states:
        state_hash(state)
    hash_us = (time.process_time() - began) / len(states) * 1e6
    began = time.process_time()
    whole = [play_bots(edition, seats=SEATS, seed=seed) for seed in range(GAMES)]
    whole_seconds = time.process_time() - began
    return {
        "commands": sum(len(game.commands) for game in recorded),
        "commands_per_s": round(1e6 / best_us),
        "us_per_command": round(best_us, 2),
        "state_hash_us": round(hash_us, 2),
        "games_per_s": round(len(whole) / whole_seconds, 2),
        "commands_per_game": round(sum(len(run.commands) for run in whole) / len(whole)),
    }


def measure_editions() -> dict[str, dict[str, float]]:
    """Each edition beside the flagship, in turns in one run, so that both meet the same machine."""
    flagship = flat_edition(FLAGSHIP)
    yardstick = record(flagship)
    found: dict[str, dict[str, float]] = {}
    for edition_id in sorted(edition.id for edition in load_catalogue().newest()):
        edition = flat_edition(edition_id)
        recorded = record(edition)
        best, flagship_best = float("inf"), float("inf")
        for _ in range(EDITION_REPEATS):
            flagship_best = min(flagship_best, _us_per_command(flagship, yardstick))
            best = min(best, _us_per_command(edition, recorded))
        found[edition_id] = {
            "commands": sum(len(game.commands) for game in recorded),
            "us_per_command": round(best, 2),
            "commands_per_s": round(1e6 / best),
            "of_flagship": round(flagship_best / best, 2),
        }
        print(f"  {edition_id}: measured", file=sys.stderr, flush=True)
    return found


def _us_per_command(edition: Edition, recorded: list[Recorded]) -> float:
    # As in a service, what lives long is not searched for garbage.
    gc.collect()
    gc.freeze()
    began = time.process_time()
    decided = decide_all(edition, recorded)
    return (time.process_time() - began) / decided * 1e6
