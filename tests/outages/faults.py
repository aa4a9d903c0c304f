"""What is done to the parts of a running site, and for how long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal

from services.site.cluster.site import POSTGRES, REDIS, SERVICES, LocalSite

Action = Literal["kill", "stop", "none"]
ACTIONS: tuple[Action, ...] = ("kill", "stop")
#: no part: what happens then is the machine's own doing
NOTHING = "nothing"

PARTS = (*SERVICES, REDIS, POSTGRES)
SHORT_S, LONG_S = (1, 5), (20, 90)


@dataclass(frozen=True, slots=True)
class Fault:
    """A part is killed, and begun again after the stretch, or stopped as a machine that hangs, and goes on.

    `part` is a service (all its replicas), a single replica such as `table-1`, one of the two servers, or nothing.
    """

    part: str
    action: Action
    seconds: float


@dataclass(frozen=True, slots=True)
class Struck:
    """When a fault began, when all its parts were down, when its stretch was over, and when its parts said that they do
    their work again; by the harness's monotonic clock, in seconds."""

    fault: Fault
    began_s: float
    down_s: float
    ended_s: float
    ready_s: float


def plan(seed: int, replicas: Sequence[str]) -> list[Fault]:
    """Every part killed and stopped, once for a short and once for a long stretch; single replicas; and nothing."""
    draw = Random(seed)
    faults: list[Fault] = []
    for number, part in enumerate(PARTS):
        lengths = (draw.choice(SHORT_S), LONG_S[number % 2])
        faults += [
            Fault(part, action, seconds)
            for action, seconds in zip(ACTIONS, lengths[:: draw.choice((1, -1))], strict=True)
        ]
    alone = [Fault(name, action, 5) for name in replicas for action in ACTIONS]
    return [*faults, *alone, Fault(NOTHING, "none", 5)]


def shares(faults: Sequence[Fault], count: int, rest_s: float, seed: int) -> list[list[Fault]]:
    """The faults for so many sites side by side, so that all are done at about the same time; in any order."""
    parts: list[list[Fault]] = [[] for _ in range(count)]
    for fault in sorted(faults, key=lambda fault: -fault.seconds):
        min(parts, key=lambda part: sum(item.seconds + rest_s for item in part)).append(fault)
    for part in parts:
        Random(seed).shuffle(part)
    return parts


async def strike(site: LocalSite, fault: Fault) -> Struck:
    """Does it, waits for the stretch, and has the part come back; does not wait until it is back."""
    names = [fault.part] if fault.part in site.names else [replica.name for replica in site.of(fault.part)]
    processes = [site.process(name) for name in names]
    began_s = time.monotonic()
    await asyncio.gather(
        *(asyncio.to_thread(item.kill if fault.action == "kill" else item.pause) for item in processes)
    )
    down_s = time.monotonic()
    await asyncio.sleep(fault.seconds)
    ended_s = time.monotonic()
    for name, process in zip(names, processes, strict=True):
        if fault.action == "kill":
            site.launch(name)
        else:
            process.resume()
    await asyncio.gather(*(site.ready(name) for name in names))
    return Struck(fault, began_s, down_s, ended_s, time.monotonic())
