"""One distributed site with live games, and one fault after another."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from services.site.cluster.servers import free_port
from services.site.cluster.site import SERVICES, LocalSite
from services.site.settings import ClockCommandSettings
from services.site.timekeeping import ClockOptions, keep_time
from tests.outages.faults import Fault, Struck, strike
from tests.outages.judging import Row, Seen, forgotten, judge
from tests.outages.live import Diary, LiveTable, ProbeTable, Success
from tests.outages.people import Doorstep

SETTINGS = {
    "MAGNATE_LOG_FORMAT": "json",
    "MAGNATE_HEARTBEAT_MS": "250",
    "MAGNATE_SESSION_RATE": "0",
    "MAGNATE_ADDRESS_RATE": "0",
    "MAGNATE_LIMIT_SESSIONS_BURST": "0",
    "MAGNATE_LIMIT_TABLES_BURST": "0",
    "MAGNATE_LIMIT_SUBMITS_BURST": "0",
    "MAGNATE_SHUTDOWN_GRACE_MS": "1000",
}
TWO_OF_EACH = dict.fromkeys(SERVICES, 2)
#: the budget of a bid, with its grace and something to spare: so long at least lie between two faults
REST_S = 13.0
#: the longest budget of all that runs, likewise
LAST_S = 50.0
_BACK_LIMIT_S = 90.0
# So many that the tables of people are at all replicas, as good as always.
_PROBES = 4

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the faults of one site did. `forgotten`: deadlines that were long due and had not ended; `answered`: answers
    that were sent at the last moment."""

    rows: list[Row]
    deadlines: int
    answered: int
    refused: list[str]
    forgotten: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Faults one after the other, under so many games in which bids run out, and so many in which turns do."""

    faults: Sequence[Fault]
    bidding: int = 12
    silent: int = 3
    rest_s: float = REST_S
    last_s: float = LAST_S
    replicas: Mapping[str, int] = field(default_factory=lambda: TWO_OF_EACH)


async def outages(plan: Plan, say: Say) -> Outcome:
    """Has them happen to a site of their own. Whatever fails in between ends it too."""
    site = LocalSite(port_of=lambda purpose, number: free_port(), settings=SETTINGS, replicas=plan.replicas)
    try:
        await site.start()
        say(f"a site of {len(site.names)} processes is up, {plan.bidding + plan.silent} games begin")
        return await _with_games(site, plan, say)
    finally:
        await site.close()


async def _with_games(site: LocalSite, plan: Plan, say: Say) -> Outcome:
    doorstep, diary, successes = Doorstep(site.gateways), Diary(), list[Success]()
    probes = [ProbeTable(doorstep, successes) for _ in range(_PROBES)]
    games = [
        *(LiveTable(doorstep, "metro", diary, "no_bids" if number % 3 else "late") for number in range(plan.bidding)),
        *(LiveTable(doorstep, "metro-speed", diary, "silent") for _ in range(plan.silent)),
    ]
    parties: list[ProbeTable | LiveTable] = [*probes, *games]
    tasks = [asyncio.create_task(party.run()) for party in parties]
    try:
        await _playable(successes, time.monotonic())
        await asyncio.sleep(plan.rest_s)
        struck: list[Struck] = []
        for number, fault in enumerate(plan.faults):
            began_at = datetime.now(UTC).isoformat(timespec="milliseconds")
            struck.append(await strike(site, fault))
            await _playable(successes, struck[-1].ended_s)
            _raise_failures(tasks)
            say(
                f"{number + 1} of {len(plan.faults)}: {fault.part} {fault.action} {fault.seconds} s, and it plays again"
            )
            await asyncio.sleep(plan.rest_s)
            for line in await _on_record(site, began_at):
                say(f"  {line}")
        await asyncio.sleep(plan.last_s - plan.rest_s)
        seen = Seen(successes, parties)
        return Outcome(
            rows=judge(struck, seen, diary),
            deadlines=sum(run.is_expired for run in diary.runs),
            answered=len(diary.answered),
            refused=list(diary.refused.values()),
            forgotten=forgotten(seen, diary),
        )
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await doorstep.close()


async def _on_record(site: LocalSite, since: str) -> list[str]:
    """The outages that ended since a moment or last, as `magnate clock outages` tells them."""
    lines: list[str] = []
    settings = ClockCommandSettings(clock_address=site.settings["MAGNATE_CLOCK_ADDRESS"])
    await keep_time(settings, ClockOptions(what="outages"), lines.append)
    # From, to, and the rest; one that lasts has no end yet.
    return [line for line in lines if line[:1].isdigit() and line.split()[1] >= since]


async def _playable(successes: Sequence[Success], since_s: float) -> None:
    """Returns when commands have got through again for a while."""
    async with asyncio.timeout(_BACK_LIMIT_S):
        while sum(item.sent_s > since_s for item in successes) < 3:
            await asyncio.sleep(0.1)


def _raise_failures(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        if task.done():
            task.result()
