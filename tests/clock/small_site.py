"""A site around the clock, small enough for virtual time: a gateway that lets probes through or not, and a table
service that knows deadlines only. Both speak the contracts; the store, the event stream and the calls are real.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, TypeVar

import grpc
import sqlalchemy as sa
from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.game.v1 import decision_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from services.clock.adapters.databases import Database, Work
from services.clock.main import DESCRIPTOR, build
from services.clock.settings import ClockSettings
from services.kit.calls import LocalClient, OneReplica
from services.kit.errors import ServiceError
from services.kit.server import Service
from services.kit.streams_memory import MemoryStream
from services.table.adapters.play_time import ClockPlayTime
from services.table.domain.shards import shard_of
from tests.clock.virtual_time import LoopTime, now_ms

T = TypeVar("T")

GRACE_MS = 500
TOKEN = "only the clock knows"


def refused(reason: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.FAILED_PRECONDITION, reason, "not now")


def unreachable() -> ServiceError:
    return ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "the site is down")


class Deadline:
    """One deadline of a table, and what became of it."""

    def __init__(self, deadline_id: int, opened_at_ms: int, budget_ms: int) -> None:
        self.message = decision_pb2.Deadline(
            deadline_id=deadline_id,
            kind=decision_pb2.DEADLINE_KIND_BID,
            budget_ms=budget_ms,
            opened_at_ms=opened_at_ms,
        )

    @property
    def due_ms(self) -> int:
        return self.message.opened_at_ms + self.message.budget_ms + GRACE_MS


class LoopWall:
    """The table service's monotonic time."""

    def monotonic_s(self) -> float:
        return asyncio.get_running_loop().time()

    def unix_ms(self) -> int:
        raise NotImplementedError


class LoopDatabase:
    """A database in memory whose work is done in the loop and takes a millisecond of its time."""

    def __init__(self) -> None:
        self._engine = sa.create_engine("sqlite://", poolclass=sa.pool.StaticPool)
        self._gone = False

    async def run(self, work: Work[T]) -> T:
        await asyncio.sleep(0.001)
        if self._gone:
            raise unreachable()
        with self._engine.begin() as connection:
            return work(connection)

    async def close(self) -> None:
        """It stays for the other replicas."""

    def dispose(self) -> None:
        self._gone = True
        self._engine.dispose()


class MortalDatabase:
    """A database as a process sees it that dies, or that cannot reach it: while `dead` nothing it does has effect."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.dead = False

    async def run(self, work: Work[T]) -> T:
        if self.dead:
            raise unreachable()
        return await self._database.run(work)

    async def close(self) -> None:
        await self._database.close()


class SmallSite:
    """Gateway and tables as the clock sees them; `down` and the like make them fail."""

    def __init__(self) -> None:
        self._databases: dict[str, LoopDatabase] = {}
        self.stream = MemoryStream()
        self.timepiece = LoopTime()
        self.down = False
        self.hanging = False
        self.expire_down = False
        self.mute = False
        self.probe_ms = 4.0
        self.tables: dict[str, dict[int, Deadline]] = {}
        self.seqs: dict[str, int] = {}
        self.asked: list[tuple[str, int]] = []
        self.ended: list[tuple[str, int, float]] = []
        self.lists = 0
        self.play_times = ClockPlayTime(OneReplica(_nobody), LoopWall())
        self._watches: list[asyncio.Task[None]] = []

    def clock(
        self, name: str = "magnate", *, replica: str = "", database: Database | None = None, **settings: Any
    ) -> Service:
        """A replica of the clock of this site; those of one name share a database."""
        chosen = ClockSettings(
            **{"join_ms": 0, "checkpoint_ms": 1_000, **settings}, clock_token=TOKEN, grace_ms=GRACE_MS
        )
        return build(
            chosen,
            table_client=self,
            gateway_client=self,
            stream=self.stream,
            replica=replica,
            database=database or self.database(name),
            timepiece=self.timepiece,
        )

    def database(self, name: str = "magnate") -> LoopDatabase:
        return self._databases.setdefault(name, LoopDatabase())

    def watch(self, service: Service) -> LocalClient:
        """Has the tables follow the clock's play time, as the table service does; returns a client of the clock."""
        client = service.local(DESCRIPTOR)
        self._watches.append(asyncio.create_task(self._follow(client)))
        return client

    async def close(self) -> None:
        for task in self._watches:
            task.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)
        for database in self._databases.values():
            database.dispose()

    def play_time_ms(self, shard: int = 7) -> int:
        """The stamp that a command would get now."""
        stamp = self.play_times.now_ms(shard)
        assert stamp is not None
        return stamp

    async def open(self, table_id: str, deadline_id: int, budget_ms: int, *, keep: bool = False) -> Deadline:
        """Commits an update after which this deadline is in force; alone, or beside those before."""
        deadline = Deadline(deadline_id, self.play_time_ms(shard_of(table_id)), budget_ms)
        before = self.tables.get(table_id, {}) if keep else {}
        self.tables[table_id] = {**before, deadline_id: deadline}
        await self.publish(table_id)
        return deadline

    async def publish(self, table_id: str) -> None:
        """Publishes what is in force at a table after one more event, unless updates get lost."""
        self.seqs[table_id] = self.seqs.get(table_id, 0) + 1
        update = update_pb2.Update(
            table_id=table_id,
            last_seq=self.seqs[table_id],
            deadlines=[item.message for item in self.tables[table_id].values()],
        )
        message = table_pb2.StreamMessage(update=update.SerializeToString())
        if not self.mute:
            payload = message.SerializeToString()
            topic = f"shard:{shard_of(table_id)}"
            await self.stream.publish(topic, [(table_id, self.seqs[table_id], payload)])

    async def Probe(
        self, request: gateway_pb.ProbeRequest, *, timeout_ms: int, metadata: dict[str, str]
    ) -> gateway_pb.ProbeResponse:
        assert metadata == {"authorization": f"Bearer {TOKEN}"}
        assert request.probe_id
        if self.hanging:
            await asyncio.sleep(timeout_ms / 1000)
            raise ServiceError(grpc.StatusCode.DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", "took too long")
        await asyncio.sleep(self.probe_ms / 1000)
        if self.down:
            raise unreachable()
        return gateway_pb.ProbeResponse()

    async def ListDeadlines(
        self, request: table_pb.ListDeadlinesRequest, *, timeout_ms: int
    ) -> table_pb.ListDeadlinesResponse:
        if self.down or self.hanging:
            raise unreachable()
        self.lists += 1
        names = sorted(name for name in self.tables if shard_of(name) in request.shards)
        first = int(request.page_token or 0)
        tables = [
            table_pb.TableDeadlines(
                table_id=name,
                shard=shard_of(name),
                seq=self.seqs[name],
                deadlines=[item.message for item in self.tables[name].values()],
                grace_ms=GRACE_MS,
            )
            for name in names[first : first + 2]
        ]
        more = first + 2 < len(names)
        return table_pb.ListDeadlinesResponse(tables=tables, next_page_token=str(first + 2) if more else "")

    async def ExpireDeadline(
        self, request: table_pb.ExpireDeadlineRequest, *, timeout_ms: int
    ) -> table_pb.ExpireDeadlineResponse:
        await asyncio.sleep(0.002)
        self.asked.append((request.table_id, request.deadline_id))
        if self.down or self.expire_down:
            raise unreachable()
        deadline = self.tables.get(request.table_id, {}).get(request.deadline_id)
        if deadline is None:
            raise refused("stale_deadline")
        if self.play_time_ms(shard_of(request.table_id)) < deadline.due_ms:
            raise refused("not_due")
        del self.tables[request.table_id][request.deadline_id]
        self.ended.append((request.table_id, request.deadline_id, now_ms()))
        await self.publish(request.table_id)
        return table_pb.ExpireDeadlineResponse(last_seq=self.seqs[request.table_id])

    async def _follow(self, client: LocalClient) -> None:
        with suppress(ServiceError):
            async with client.WatchPlayTime(clock_pb.WatchPlayTimeRequest()) as answers:
                async for answer in answers:
                    self.play_times.follow(answer)


def _nobody() -> Any:
    raise NotImplementedError
