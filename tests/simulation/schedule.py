"""One schedule: a site, its people, its faults, and what was found; everything follows from the seed."""

from __future__ import annotations

import asyncio
import gc
import random
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from magnate.game.v1 import update_pb2

from tests.simulation.chance import seeded_machine
from tests.simulation.checks import Findings, Schedule, check
from tests.simulation.faults import Faults
from tests.simulation.loop import FIRST_S, VirtualLoop
from tests.simulation.people import People
from tests.simulation.site import EDITIONS, SLOTS, Site
from tests.simulation.store import Logged, open_disk
from tests.simulation.truth import Truth

_BOOT_S = 1.0
_LEAST_FAULTS = 3
_LEAST_DEADLINES = 20
# After the last fault: the time to recover, and to see that every deadline of then comes to its end.
_TAIL_S = 5.5
_LONGEST_S = 60.0
_COLLECT_EVERY = 10
# So many characters of a line of the trace are its time.
_TIME = 9


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a schedule. `trace`: what happened, line by line; `digest` is of the trace. `violations`: those
    found, what a process never told anybody, and a schedule that is too small to count."""

    seed: int
    faults: int
    findings: Findings
    trace: tuple[str, ...]
    violations: tuple[str, ...]

    @property
    def digest(self) -> str:
        return sha256("\n".join(self.trace).encode()).hexdigest()


def play(seed: int, *, kinds: Sequence[str] = ()) -> Outcome:
    """Plays the schedule of a seed; the same seed does the same on every machine. `kinds`: with these faults alone."""
    open_disk()
    loop = VirtualLoop()
    rng = random.Random(seed)
    was_collecting = gc.isenabled()
    # What is collected when is chance; it would also let killed tasks do their last things.
    gc.disable()
    try:
        with seeded_machine(loop, seed) as machine:
            site = Site(loop, machine, rng)
            try:
                return loop.run_until_complete(_play(seed, site, rng, kinds))
            finally:
                loop.finish(site.born)
    finally:
        if was_collecting:
            gc.enable()
        if seed % _COLLECT_EVERY == 0:
            gc.collect()


async def _play(seed: int, site: Site, rng: random.Random, kinds: Sequence[str]) -> Outcome:
    loop = site.loop
    truth = Truth(site)
    site.network.on_answer = truth.heard
    site.on_change = truth.changed
    for slot in SLOTS:
        site.start(slot, at_once=True)
    people = People(loop, site.network, random.Random(rng.random()), edition=rng.choice(EDITIONS))
    people.on_opened = truth.table_opened
    faults = Faults(site, random.Random(rng.random()), loop.note, kinds)
    truth.slow_s = faults.slow_s
    await asyncio.sleep(_BOOT_S)
    begun_s = loop.now_s
    for number in range(rng.randint(2, 3)):
        loop.create_task(people.keep_playing(number))
    loop.create_task(truth.probe_for_ever(lambda: any(window.to_s == float("inf") for window in faults.windows)))
    await asyncio.sleep(rng.uniform(0.3, 1.5))
    await faults.run(rng.randint(_LEAST_FAULTS, _LEAST_FAULTS + 2))
    await asyncio.sleep(_TAIL_S)
    while _opened(site) < _LEAST_DEADLINES and loop.now_s - begun_s < _LONGEST_S:
        await asyncio.sleep(1.0)
    truth.changed()
    findings = check(Schedule(truth, site.server.log, faults.windows, people.sights, begun_s, loop.now_s))
    trace = sorted([*loop.trace, *(_line_of(row) for row in site.server.log)], key=lambda line: float(line[:_TIME]))
    return Outcome(seed, len(faults.windows), findings, tuple(trace), _violations(findings, faults, loop))


def _violations(findings: Findings, faults: Faults, loop: VirtualLoop) -> tuple[str, ...]:
    found = [*findings.violations, *(f"failure: {text}" for text in loop.failures)]
    if len(faults.windows) < _LEAST_FAULTS or findings.opened < _LEAST_DEADLINES:
        found.append(f"thin: {len(faults.windows)} faults and {findings.opened} deadlines")
    return tuple(found)


def _opened(site: Site) -> int:
    """Deadlines that were opened so far."""
    opened: set[tuple[str, int]] = set()
    for row in site.server.log:
        update = update_pb2.Update.FromString(row.update)
        opened |= {(row.table_id, deadline.deadline_id) for deadline in update.deadlines}
    return len(opened)


def _line_of(row: Logged) -> str:
    update = update_pb2.Update.FromString(row.update)
    action = update.command.WhichOneof("action") or "start"
    ended = f" {update.command.expire.deadline_id}" if action == "expire" else ""
    open_now = ", ".join(f"{item.deadline_id} due {item.opened_at_ms + item.budget_ms}" for item in update.deadlines)
    at_s = row.committed_s - FIRST_S
    by = f", taken up by {row.receipt.process} at {row.receipt.at_s - FIRST_S:.3f}" if row.receipt is not None else ""
    return (
        f"{at_s:9.3f}  table {row.table_id[:6]}: {action}{ended} at play time {row.play_time_ms}{by}; open: {open_now}"
    )
