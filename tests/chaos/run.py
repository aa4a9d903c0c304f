"""A run: the site under load, faults from a seed, a time without faults, and then the judgement."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

from services.kit.ending import end_tasks
from services.site.cluster.site import LocalSite
from tests.chaos.checks import STUCK, Trouble
from tests.chaos.faults import Injector
from tests.chaos.journal import now_ns
from tests.chaos.judging import Run, judge_all
from tests.chaos.load import Load
from tests.chaos.report import figures
from tests.chaos.schedule import RELAY, Fault
from tests.chaos.tables import last_seqs

Say = Callable[[str], None]

_TELL_EVERY_S = 15.0
_POLL_S = 0.2
#: commands of each game that have to be seen before the first fault, and again after the last one
_COMMANDS_AROUND = 3
_GO_ON_S = 240.0
_REACH_S = 120.0
_KNOWN_S = 120.0


class Wish(NamedTuple):
    """What a run is to be: it goes on after its faults until so many commands are acknowledged, but not for ever."""

    seed: int
    tables: int
    faults: list[Fault]
    lanes: int = 3
    acknowledged: int = 0
    most_s: float = 3_600.0
    #: time without faults at the end in which clients play on
    calm_s: float = 0.0


class Outcome(NamedTuple):
    """The figures, and everything that is wrong."""

    figures: Mapping[str, Any]
    troubles: list[Trouble]


async def run_chaos(site: LocalSite, folder: Path, wish: Wish, say: Say) -> Outcome:
    """Runs and judges; the journals stay in the folder. The site is started, and closed by the caller."""
    began_s = time.monotonic()

    def tell(what: str) -> None:
        say(f"{time.monotonic() - began_s:6.1f} s  {what}")

    await site.start(tell)
    load = Load(folder, site.gateways, site.web_addresses, tables=wish.tables, seed=wish.seed)
    injector = Injector(site, lambda: load.acknowledged, folder / "faults.log")
    await load.start()
    tell(f"{load.clients} clients at {wish.tables} tables")
    async with _telling(load, injector, wish, tell):
        stuck = await _play(load, injector, wish, tell)
        acted_until_ns = now_ns()
        load.stage.acts = False
        must_reach, unanswered = await _settle(site, load, tell)
    await load.close()
    ended_ns = now_ns()
    for replica in site.replicas.values():
        replica.process.ask_to_end()
    for replica in site.replicas.values():
        await asyncio.to_thread(replica.process.end)
    tell(f"the services have ended; judging {len(must_reach)} tables")
    run = Run(folder, site.settings["MAGNATE_DATABASE_URL"], must_reach, injector.done, acted_until_ns, ended_ns)
    verdicts = await judge_all(run, tell)
    troubles = [*stuck, *unanswered, *(trouble for verdict in verdicts for trouble in verdict.troubles)]
    commands = [span for verdict in verdicts for span in verdict.commands]
    stalls = [span for verdict in verdicts for span in verdict.stalls]
    tell(f"{sum(verdict.rows for verdict in verdicts)} commands in {len(verdicts)} logs, {len(troubles)} troubles")
    return Outcome(figures(injector.done, commands, stalls, troubles), troubles)


async def _play(load: Load, injector: Injector, wish: Wish, tell: Say) -> list[Trouble]:
    stuck = await _go_on(load, "before the first fault")
    tell("every game is under way")
    limit_s = time.monotonic() + wish.most_s
    left = iter(wish.faults)
    await asyncio.gather(*(_lane(left, injector, load) for _ in range(wish.lanes)))
    while load.acknowledged < wish.acknowledged and time.monotonic() < limit_s:
        load.check()
        await asyncio.sleep(_POLL_S)
    await asyncio.sleep(wish.calm_s)
    stuck += await _go_on(load, "after the last fault")
    relays = [done for done in injector.done if done.kind.endswith(RELAY)]
    hits = sum(done.unpublished > 0 for done in relays)
    tell(f"faults of the relay that met acknowledged commands: {hits} of {len(relays)}")
    tell("every game has gone on" if not stuck else f"{len(stuck)} games stand still")
    return stuck


async def _lane(left: Iterator[Fault], injector: Injector, load: Load) -> None:
    """Does one fault after another out of what is left."""
    for fault in left:
        load.check()
        await asyncio.sleep(fault.pause_ms / 1000)
        await injector.inject(fault)


async def _go_on(load: Load, when: str) -> list[Trouble]:
    """Waits until each slot has seen some more commands; those that have not are stuck."""
    before = {slot: slot.progress for slot in load.slots}
    limit_s = time.monotonic() + _GO_ON_S
    waiting = list(before)
    while waiting and time.monotonic() < limit_s:
        load.check()
        await asyncio.sleep(_POLL_S)
        waiting = [slot for slot in waiting if slot.progress < before[slot] + _COMMANDS_AROUND]
    return [Trouble(STUCK, slot.table_id, now_ns(), f"the game does not go on {when}") for slot in waiting]


async def _settle(site: LocalSite, load: Load, tell: Say) -> tuple[dict[str, int], list[Trouble]]:
    """Lets the clients hear of every command that they gave, then of everything that is in the log at that moment."""
    limit_s = time.monotonic() + _KNOWN_S
    while load.under_way and time.monotonic() < limit_s:
        await asyncio.sleep(_POLL_S)
    database = await asyncpg.connect(site.settings["MAGNATE_DATABASE_URL"])
    try:
        must_reach = await last_seqs(database)
    finally:
        await database.close()
    limit_s = time.monotonic() + _REACH_S
    while (behind := load.behind(must_reach)) and time.monotonic() < limit_s:
        await asyncio.sleep(_POLL_S)
    unanswered = [Trouble(STUCK, "", now_ns(), "a command has no answer") for _ in range(load.under_way)]
    tell(f"{len(unanswered)} commands without an answer, {behind} watches behind the log")
    return must_reach, unanswered


@asynccontextmanager
async def _telling(load: Load, injector: Injector, wish: Wish, tell: Say) -> AsyncIterator[None]:
    """Tells now and then how far the run is."""

    async def go_on() -> None:
        while True:
            await asyncio.sleep(_TELL_EVERY_S)
            targets = Counter(done.kind.split(":")[1] for done in injector.done)
            tell(
                f"faults {len(injector.done)} of {len(wish.faults)}, acknowledged {load.acknowledged}, "
                f"games {len(load.stage.tables)}; {dict(sorted(targets.items()))}"
            )

    telling = asyncio.create_task(go_on())
    try:
        yield
    finally:
        await end_tasks([telling])
