"""What stands around a clock that is measured: a table service and a gateway with nothing in them, and its stream.

`python -m tests.bench.around_clock --redis URL`; prints `{"address": ...}`, then obeys lines of JSON: `tables` (so many
have a deadline in force, far off), `runs` (wait for play time), `gone` (the clock is), `stream` (so many deadlines are
armed or cancelled over the event stream), `outage_s` (probes hang for so long), `rate` and `seconds` (so many become
due).
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.game.v1 import decision_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.main import DESCRIPTOR as GATEWAY
from services.clock.main import DESCRIPTOR as CLOCK
from services.kit.batches import serve_batches
from services.kit.calls import Call, Proof, RemoteClient, clock_proofs, open_channel
from services.kit.errors import ServiceError
from services.kit.server import Service, ServiceSettings, run, settle
from services.kit.streams_redis import RedisStream
from services.rules.codec import messages
from services.rules.domain.decide import advance
from services.rules.domain.legal import legal_actions
from services.rules.domain.play import Advance
from services.table.adapters.handler import EXPIRIES
from services.table.domain.shards import SHARDS, shard_of
from services.table.main import DESCRIPTOR as TABLE
from tests.bench.hollow import Hollow
from tests.support.bot_games import flat_edition, new_bot_game, play_bots

GRACE_MS = 500
CLOCK_TOKEN = "bench"
_PAGE = 1_000
_FAR_MS, _SPREAD_MS = 3_600_000, 3_600_000
_PUBLISHED = 256
_WAIT_S = 60.0
_LEAD_MS = 1_500
_MAX_IN_FLIGHT = 1_024


def in_force(table_id: str, seq: int, deadline: decision_pb2.Deadline) -> bytes:
    """An answer of ListDeadlines with this table alone; one put behind the other they are one answer."""
    table = table_pb.TableDeadlines(
        table_id=table_id, shard=shard_of(table_id), seq=seq, deadlines=[deadline], grace_ms=GRACE_MS
    )
    return table_pb.ListDeadlinesResponse(tables=[table]).SerializeToString()


def table_ids(first: int, count: int) -> list[str]:
    """Ids as long as those of the table service."""
    return [base64.b32encode(number.to_bytes(10, "big")).decode().lower() for number in range(first, first + count)]


class Listed:
    """The answers of ListDeadlines, ready to be sent, by shard."""

    def __init__(self, names: Sequence[str]) -> None:
        by_shard: dict[int, list[bytes]] = {}
        for number, table_id in enumerate(names):
            opened_ms = _FAR_MS + number * _SPREAD_MS // len(names)
            deadline = decision_pb2.Deadline(deadline_id=1, budget_ms=60_000, opened_at_ms=opened_ms)
            by_shard.setdefault(shard_of(table_id), []).append(in_force(table_id, 1, deadline))
        self._pages = [
            (shard, b"".join(parts[start : start + _PAGE]))
            for shard, parts in sorted(by_shard.items())
            for start in range(0, len(parts), _PAGE)
        ]

    def page(self, shards: Sequence[int], token: str, more: Mapping[str, bytes]) -> bytes:
        """One answer; the last page is of tables that came later."""
        pages = [data for shard, data in self._pages if not shards or shard in shards]
        place = int(token or 0)
        if place >= len(pages):
            return b"".join(data for table_id, data in more.items() if not shards or shard_of(table_id) in shards)
        return pages[place] + table_pb.ListDeadlinesResponse(next_page_token=str(place + 1)).SerializeToString()


class PlayTime:
    """Play time of each shard as the clock tells it."""

    def __init__(self) -> None:
        self._readings: dict[int, tuple[clock_pb.PlayTime, float]] = {}
        self.changed = asyncio.Event()

    async def follow(self, address: str) -> None:
        """For ever; begins anew while the clock is away."""
        async with open_channel(address) as channel:
            client: Any = RemoteClient(CLOCK, channel)
            while True:
                try:
                    async with client.WatchPlayTime(clock_pb.WatchPlayTimeRequest()) as readings:
                        async for answer in readings:
                            self._take(answer)
                except ServiceError:
                    await asyncio.sleep(0.01)

    def forget(self) -> None:
        """The clock that told it is gone."""
        self._readings.clear()

    def _take(self, answer: clock_pb.WatchPlayTimeResponse) -> None:
        now_s = time.perf_counter()
        for reading in answer.play_times:
            for shard in range(SHARDS) if answer.same_for_all else (reading.shard,):
                self._readings[shard] = (reading, now_s)
        self.changed.set()
        self.changed = asyncio.Event()

    @property
    def runs(self) -> bool:
        """Whether it does in all shards."""
        return len(self._readings) == SHARDS and all(reading.running for reading, _ in self._readings.values())

    def now_ms(self, shard: int) -> float:
        """As a table reckons it."""
        reading, at_s = self._readings[shard]
        return reading.play_time_ms + (time.perf_counter() - at_s) * 1000 * reading.running

    async def until(self, *, runs: bool) -> None:
        """Waits for it. TimeoutError after a minute."""
        async with asyncio.timeout(_WAIT_S):
            while self.runs != runs:
                await self.changed.wait()


class Updates:
    """What tables commit, on the event stream: updates as large as those of a game."""

    def __init__(self, url: str) -> None:
        self._stream = RedisStream(url)
        self._template = _update_of_a_game()
        self.in_force: dict[str, bytes] = {}

    async def publish(self, named: Sequence[tuple[str, int, decision_pb2.Deadline | None]]) -> None:
        """(table, seq, the deadline in force after it)."""
        for start in range(0, len(named), _PUBLISHED):
            batches: dict[str, list[tuple[str, int, bytes]]] = {}
            for table_id, seq, deadline in named[start : start + _PUBLISHED]:
                if deadline is not None:
                    self.in_force[table_id] = in_force(table_id, seq, deadline)
                else:
                    self.in_force.pop(table_id, None)
                item = (table_id, seq, self._message(table_id, seq, deadline))
                batches.setdefault(f"shard:{shard_of(table_id)}", []).append(item)
            await self._stream.publish_all(batches)

    def _message(self, table_id: str, seq: int, deadline: decision_pb2.Deadline | None) -> bytes:
        update = update_pb2.Update()
        update.CopyFrom(self._template)
        update.table_id, update.first_seq, update.last_seq = table_id, seq, seq
        del update.deadlines[:]
        if deadline is not None:
            update.deadlines.append(deadline)
        return table_pb2.StreamMessage(update=update.SerializeToString()).SerializeToString()


class Settings(ServiceSettings):
    """Lets the measured clock in."""

    def proofs(self) -> Sequence[Proof]:
        return clock_proofs(CLOCK_TOKEN)


class AroundClock(Hollow):
    """Answers every call at once, but for the probes of an outage."""

    def __init__(self, updates: Updates) -> None:
        self.play_time = PlayTime()
        self._updates = updates
        self._listed = Listed(())
        self._playable = asyncio.Event()
        self._playable.set()
        self._due_ms: dict[str, int] = {}
        self._late_ms: list[float] = []
        self._repeated = 0
        self._fired: list[str] = []

    async def ListDeadlines(self, request: table_pb.ListDeadlinesRequest, call: Call) -> Any:
        return self._listed.page(request.shards, request.page_token, self._updates.in_force)

    async def Probe(self, request: gateway_pb.ProbeRequest, call: Call) -> gateway_pb.ProbeResponse:
        await self._playable.wait()
        return gateway_pb.ProbeResponse()

    async def ExpireDeadline(
        self, request: table_pb.ExpireDeadlineRequest, call: Call
    ) -> table_pb.ExpireDeadlineResponse:
        due_ms = self._due_ms.pop(request.table_id, None)
        if due_ms is None:
            self._repeated += 1
        else:
            self._late_ms.append(self.play_time.now_ms(shard_of(request.table_id)) - due_ms)
            self._fired.append(request.table_id)
        return table_pb.ExpireDeadlineResponse(last_seq=3)

    def ExpireStream(self, requests: AsyncIterator[table_pb.ExpireStreamRequest], call: Call) -> AsyncIterator[Any]:
        return serve_batches(
            requests,
            items=EXPIRIES.asked,
            handle=lambda request: self.ExpireDeadline(request, call),
            wrap=EXPIRIES.answer,
            max_in_flight=_MAX_IN_FLIGHT,
        )

    async def list_tables(self, count: int) -> dict[str, Any]:
        """From now on so many have a deadline in force."""
        self._listed = Listed(table_ids(0, count))
        settle()
        return {"tables": count}

    async def outage(self, seconds: float) -> dict[str, Any]:
        """Probes hang for so long; from their answer to the running reading, in milliseconds."""
        await self.play_time.until(runs=True)
        self._playable.clear()
        await asyncio.sleep(seconds)
        await self.play_time.until(runs=False)
        begun_s = time.perf_counter()
        self._playable.set()
        await self.play_time.until(runs=True)
        return {"give_back_ms": (time.perf_counter() - begun_s) * 1000}

    async def arm_and_cancel(self, count: int, armed: bool) -> dict[str, Any]:
        """Arms, or cancels, one deadline at each of so many more tables, as fast as the stream takes them."""
        names = table_ids(1 << 40, count)
        now_ms = max(self.play_time.now_ms(shard) for shard in range(SHARDS))
        far = decision_pb2.Deadline(deadline_id=1, budget_ms=_FAR_MS, opened_at_ms=int(now_ms))
        await self._updates.publish([(table_id, 1 if armed else 2, far if armed else None) for table_id in names])
        return {"updates": count}

    async def fire(self, rate: int, seconds: float) -> dict[str, Any]:
        """So many deadlines a second become due; each is followed by a new one, as in a game."""
        count = int(rate * seconds)
        names = table_ids(2 << 40, count)
        base_ms = {shard: int(self.play_time.now_ms(shard)) + _LEAD_MS + count // 4 for shard in range(SHARDS)}
        armed = []
        for number, table_id in enumerate(names):
            due_ms = base_ms[shard_of(table_id)] + number * 1000 // rate
            self._due_ms[table_id] = due_ms
            deadline = decision_pb2.Deadline(deadline_id=1, budget_ms=1, opened_at_ms=due_ms - 1 - GRACE_MS)
            armed.append((table_id, 1, deadline))
        self._late_ms, self._repeated = [], 0
        await self._updates.publish(armed)
        ready_ms = min(base - self.play_time.now_ms(shard) for shard, base in base_ms.items())
        limit_s = time.perf_counter() + ready_ms / 1000 + seconds + 30
        while (self._due_ms or self._fired) and time.perf_counter() < limit_s:
            await self._follow_up(base_ms)
            await asyncio.sleep(0.01)
        return {
            "late_ms": [round(late, 2) for late in self._late_ms],
            "repeated": self._repeated,
            "missing": len(self._due_ms),
            "armed_before_ms": round(ready_ms),
        }

    async def _follow_up(self, base_ms: dict[int, int]) -> None:
        fired, self._fired = self._fired, []
        await self._updates.publish(
            [
                (table_id, 3, decision_pb2.Deadline(deadline_id=2, budget_ms=_FAR_MS, opened_at_ms=base_ms[0]))
                for table_id in fired
            ]
        )

    async def obey(self, order: dict[str, Any]) -> dict[str, Any]:
        """Does one order."""
        if "tables" in order:
            return await self.list_tables(order["tables"])
        if "stream" in order:
            return await self.arm_and_cancel(order["stream"], order["armed"])
        if "outage_s" in order:
            return await self.outage(order["outage_s"])
        if "rate" in order:
            return await self.fire(order["rate"], order["seconds"])
        if "gone" in order:
            self.play_time.forget()
        else:
            await self.play_time.until(runs=True)
        return {}


def _update_of_a_game() -> update_pb2.Update:
    """The update of a command some way into a game."""
    edition = flat_edition()
    played = play_bots(edition, seats=4, seed=1, max_rounds=5)
    state = new_bot_game(edition, seats=4, seed=1)
    events: Any = ()
    for command, now_ms in zip(played.commands[:20], played.times_ms, strict=False):
        result = advance(edition, state, command, now_ms)
        assert isinstance(result, Advance)
        state, events = result.state, result.events
    data = messages.write_update(
        table_id="",
        first_seq=1,
        play_time_ms=1,
        command=b"",
        events=events,
        options=legal_actions(edition, state, now_ms),
        state=state,
        state_hash=b"12345678",
        hash_version=1,
    )
    return update_pb2.Update.FromString(data)


async def serve(redis_url: str, clock_address: str) -> None:
    """Obeys until its input ends."""
    around = AroundClock(Updates(redis_url))
    service = Service("around", Settings())
    service.add_handler(TABLE, around)
    service.add_handler(GATEWAY, around)
    await service.start(0)
    following = asyncio.create_task(around.play_time.follow(clock_address))
    print(json.dumps({"address": f"127.0.0.1:{service.port}"}), flush=True)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await around.obey(json.loads(line))), flush=True)
    following.cancel()
    await service.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--redis", required=True)
    parser.add_argument("--clock", required=True, help="address of the clock")
    arguments = parser.parse_args()
    run(serve(arguments.redis, arguments.clock))
