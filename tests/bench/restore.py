"""What it costs to take up a table that no process has in memory: with a short log and with a long one."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import Awaitable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from magnate.game.v1 import update_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.kit.calls import LocalClient
from services.rules.main import DESCRIPTOR as RULES
from services.rules.main import build as build_rules
from services.rules.settings import RulesSettings
from services.table.adapters.store import SqlStore, open_database
from services.table.adapters.system import SystemWall
from services.table.application.hot_tables import HotTable, HotTables
from services.table.application.ports import TableKey
from services.table.application.states import by_name, by_value, digest_of
from services.table.domain.shards import shard_of
from tests.bench.processes import Process
from tests.bench.sites import Running, distributed

EVENTS = (500, 5_000)
_PEOPLE = 4
_TAIL = 8
_QUICK = 500.0
_TURN_S = 0.5


@dataclass(slots=True)
class _Played:
    """A table and its people; the times of its commands from the call to the answer, in milliseconds."""

    people: Process
    table_id: str
    events: int = 0
    submits_ms: list[float] = field(default_factory=list)

    def play(self, seconds: float) -> None:
        """As fast as it goes; a game that ends is followed by a new one, which counts from its beginning."""
        for table_id, last_seq, called_s, answered_s in self.people.ask(seconds=seconds, per_s=_QUICK)["journal"]:
            if table_id != self.table_id:
                self.table_id, self.submits_ms = table_id, []
            self.events = last_seq
            self.submits_ms.append((answered_s - called_s) * 1000)


def measure(events: Sequence[int] = EVENTS, *, repeats: int = 60, turns: int = 6) -> dict[str, Any]:
    """Figures by length of the log; see docs/bench.md for the keys."""
    with ExitStack() as stack:
        running = stack.enter_context(distributed())
        played = {count: _played(stack, running, count) for count in events}
        for table in played.values():
            table.submits_ms = []
        for _ in range(turns):
            for table in played.values():
                table.play(_TURN_S)
        found = asyncio.run(_restore_all(running.database_url, played, repeats))
    least, most = str(min(events)), str(max(events))
    for what in ("place", "state", "submit"):
        key = f"{what}_p50_ms" if what == "submit" else f"{what}_ms"
        found[f"{what}_ratio"] = round(found[most][key] / found[least][key], 2)
    return found


def _played(stack: ExitStack, running: Running, events: int) -> _Played:
    """A table that is played until its log has so many events."""
    print(f"  a table with {events:,} events ...", file=sys.stderr, flush=True)
    command = ["tests.bench.people", "--address", ",".join(running.addresses)]
    people = stack.enter_context(Process("people", command))
    table = _Played(people, people.ask(tables=1, clients=_PEOPLE)["tables"][0])
    while table.events < events:
        table.play(max(0.2, min(2.0, (events - table.events) / 1000)))
    return table


async def _restore_all(database_url: str, played: dict[int, _Played], repeats: int) -> dict[str, Any]:
    store = SqlStore(open_database(database_url), SystemWall())
    await store.start()
    times: dict[int, tuple[list[float], list[float]]] = {count: ([], []) for count in played}
    names = {count: await _name_near_snapshot(store, _key(table)) for count, table in played.items()}
    for _ in range(repeats):
        for count, table in played.items():
            places, states = times[count]
            rules = build_rules(RulesSettings()).local(RULES)
            places.append(await _timed(_take_up(store, _key(table))))
            states.append(await _timed(_bring_state(store, rules, _key(table), names[count])))
    await store.close()
    return {
        str(count): {
            "events": table.events,
            "place_ms": round(statistics.median(times[count][0]), 2),
            "state_ms": round(statistics.median(times[count][1]), 2),
            "submit_p50_ms": round(statistics.median(table.submits_ms), 2),
        }
        for count, table in played.items()
    }


async def _take_up(store: SqlStore, key: TableKey) -> None:
    """As a table replica that has never seen the table."""
    await HotTables(store, 1).ensure(HotTable(key))


async def _bring_state(store: SqlStore, rules: LocalClient, key: TableKey, name: rules_pb.StateSource) -> None:
    """As the two services do when no rules replica has the state: the snapshot, the events since, and their fold."""
    request = rules_pb.LegalActionsRequest(state=await by_value(store, key, name))
    answer = await rules.LegalActions(request)
    assert not answer.state_needed


async def _name_near_snapshot(store: SqlStore, key: TableKey) -> rules_pb.StateSource:
    """The state some commands after the newest snapshot, as many for every table, by name."""
    snapshot = await store.load_snapshot(key)
    assert snapshot is not None
    rows, _ = await store.read_log(key, snapshot[0], _TAIL)
    if not rows:
        rows, _ = await store.read_log(key, snapshot[0] - 1, 1)
    update = update_pb2.Update.FromString(rows[-1].update)
    return by_name(key, update.last_seq, update.state_hash, digest_of(rows[-1].update))


async def _timed(work: Awaitable[None]) -> float:
    begun_s = time.perf_counter()
    await work
    return (time.perf_counter() - begun_s) * 1000


def _key(table: _Played) -> TableKey:
    return TableKey(shard_of(table.table_id), table.table_id)
