"""Which faults a run has: drawn from its seed alone."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

KILL, STOP, RESTART = "kill", "stop", "restart"
ACTIONS = (KILL, STOP, RESTART)
RELAY, REDIS, POSTGRES = "relay", "redis", "postgres"
SERVICES = ("rules", "table", "clock", "bots", "gateway")
TARGETS = (*SERVICES, RELAY, REDIS, POSTGRES)
#: how long a stopped process stands still: mostly shorter than a client waits for an answer, now and then longer
_SHORT_STOP_MS, _LONG_STOP_MS, _LONG_SHARE = (100, 1_500), (3_000, 6_000), 0.15
#: how long a part that was killed is away before it is started again
_AWAY_MS = (0, 800)
_PAUSE_MS = (0, 600)


class Fault(NamedTuple):
    """What is done to which replica (from 0) of what, for how long, and how long nothing is done before it."""

    action: str
    target: str
    replica: int
    hold_ms: int
    pause_ms: int

    @property
    def kind(self) -> str:
        """`kill:table`"""
        return f"{self.action}:{self.target}"


KINDS = tuple(f"{action}:{target}" for target in TARGETS for action in ACTIONS)


def draw(seed: int, faults: int, replicas: Mapping[str, int], kinds: Sequence[str] = KINDS) -> list[Fault]:
    """So many faults in a random order, each kind equally often but for one. `replicas` of each service."""
    rng = random.Random(seed)
    order = rng.sample(kinds, len(kinds))
    drawn = [order[number % len(order)] for number in range(faults)]
    rng.shuffle(drawn)
    return [_fault(rng, kind, replicas) for kind in drawn]


def _fault(rng: random.Random, kind: str, replicas: Mapping[str, int]) -> Fault:
    action, target = kind.split(":")
    service = "table" if target == RELAY else target
    hold_ms = rng.randint(*_AWAY_MS)
    if action == STOP:
        hold_ms = rng.randint(*(_LONG_STOP_MS if rng.random() < _LONG_SHARE else _SHORT_STOP_MS))
    return Fault(action, target, rng.randrange(replicas.get(service, 1)), hold_ms, rng.randint(*_PAUSE_MS))
