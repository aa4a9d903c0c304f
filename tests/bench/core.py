"""The core alone: how many commands a second it decides, folds and lists legal actions for, in one process."""

import gc
import time
from dataclasses import dataclass

from services.rules.domain.commands import Command
from services.rules.domain.decide import advance
from services.rules.domain.digest import state_hash
from services.rules.domain.edition import Edition
from services.rules.domain.legal import legal_actions
from services.rules.domain.play import Advance
from services.rules.domain.state import State
from tests.support.bot_games import flat_edition, new_bot_game, play_bots

#: games played by bots, whose commands are decided again under the clock
GAMES = 12
ROUNDS = 150
REPEATS = 5


@dataclass(frozen=True, slots=True)
class Recorded:
    """A game as it was played: where it began, and its commands."""

    beginning: State
    commands: tuple[Command, ...]


def record(edition: Edition, games: int = GAMES) -> list[Recorded]:
    """Games of four bots, each up to some rounds."""
    recorded = []
    for seed in range(games):
        run = play_bots(edition, seats=4, seed=seed, max_rounds=ROUNDS)
        recorded.append(Recorded(new_bot_game(edition, seats=4, seed=seed), tuple(run.commands)))
    return recorded


def decide_all(edition: Edition, recorded: list[Recorded]) -> int:
    """Decides every command again with its list of legal actions; gives their number."""
    decided = 0
    for game in recorded:
        state = game.beginning
        for command in game.commands:
            result = advance(edition, state, command, 0)
            if not isinstance(result, Advance):
                raise TypeError(f"a recorded command was refused: {result}")
            state = result.state
            legal_actions(edition, state)
            decided += 1
    return decided


def _best_cpu_seconds(edition: Edition, recorded: list[Recorded]) -> tuple[int, float]:
    best = float("inf")
    decided = 0
    for _ in range(REPEATS):
        gc.collect()
        began = time.process_time()
        decided = decide_all(edition, recorded)
        best = min(best, time.process_time() - began)
    return decided, best


def measure(edition_id: str = "industry") -> dict[str, float]:
    """Figures of the core; see docs/bench.md for the keys."""
    edition = flat_edition(edition_id)
    recorded = record(edition)
    decided, seconds = _best_cpu_seconds(edition, recorded)
    states = [game.beginning for game in recorded] * 500
    began = time.process_time()
    for state in states:
        state_hash(state)
    hash_us = (time.process_time() - began) / len(states) * 1e6
    began = time.process_time()
    whole = [play_bots(edition, seats=4, seed=seed) for seed in range(GAMES)]
    whole_seconds = time.process_time() - began
    return {
        "commands": decided,
        "commands_per_s": round(decided / seconds),
        "us_per_command": round(seconds / decided * 1e6, 2),
        "state_hash_us": round(hash_us, 2),
        "games_per_s": round(len(whole) / whole_seconds, 2),
        "commands_per_game": round(sum(len(run.commands) for run in whole) / len(whole)),
    }
