"""The parts of a site on virtual time: servers that may be away, and processes that may be dead."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import grpc

from services.clock.adapters.databases import open_database as open_clock_database
from services.kit.errors import ServiceError
from services.kit.migrations import upgrade
from services.kit.streams_memory import MemoryStream
from services.table.adapters.databases import Work
from services.table.adapters.migrations import VERSION_TABLE, VERSIONS
from services.table.adapters.sqlite import SqliteDatabase
from services.table.adapters.sqlite_writer import Job, Writer
from services.table.application.ports import LogRow
from tests.clock.virtual_time import now_ms

T = TypeVar("T")

_STREAMS = ("Watch", "WatchPlayTime", "ExportTable")


class Switch:
    """Whether something can be reached, and can be heard."""

    def __init__(self) -> None:
        self.away = False
        self.mute = False

    def check(self) -> None:
        """Before a call. ServiceError `unreachable`."""
        if self.away:
            raise _unreachable()

    def check_answer(self) -> None:
        """After it. ServiceError `unreachable`."""
        if self.away or self.mute:
            raise _unreachable()


def _unreachable() -> ServiceError:
    return ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "it is away")


class Door:
    """A caller's client of a part that may be away, or be another process later on. `told` hears of each answer."""

    def __init__(self, switch: Switch, caller: str, told: Callable[[object, object], None]) -> None:
        self.caller = caller
        self._switch = switch
        self._told = told
        self.client: Any = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _STREAMS:
            self._switch.check()
            return getattr(self.client, name)

        async def guarded(request: object, **options: Any) -> object:
            self._switch.check()
            answer = await getattr(self.client, name)(request, **options)
            self._told(request, answer)
            self._switch.check_answer()
            return answer

        return guarded


class LoopWall:
    """The table service's wall clock on the loop's time."""

    def __init__(self) -> None:
        self._began_ms = time.time() * 1000

    def unix_ms(self) -> int:
        return int(self._began_ms + now_ms())

    def monotonic_s(self) -> float:
        return asyncio.get_running_loop().time()


class TableDatabase(SqliteDatabase):
    """The table service's SQLite without threads, which virtual time would not wait for."""

    def __init__(self, url: str, *switches: Switch) -> None:
        super().__init__(url)
        self._switches = switches
        self._inline: Writer | None = None

    async def start(self) -> None:
        connection = self._read_engine.connect()
        connection.exec_driver_sql("PRAGMA synchronous=OFF")
        self._inline = Writer(connection)
        await upgrade(self.write, versions=VERSIONS, version_table=VERSION_TABLE)

    async def read(self, work: Work[T]) -> T:
        for switch in self._switches:
            switch.check()
        return self._read(work)

    async def write(self, work: Work[T]) -> T:
        return cast(T, self._do(work=work))

    def append(self, row: LogRow) -> asyncio.Future[bool]:
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        try:
            done.set_result(cast(bool, self._do(row=row)))
        except ServiceError as error:
            done.set_exception(error)
        return done

    async def close(self) -> None:
        self._read_engine.dispose()

    def _do(self, **asked: Any) -> object:
        for switch in self._switches:
            switch.check()
        assert self._inline is not None
        job = Job(asyncio.get_running_loop().create_future(), **asked)
        self._inline.commit([job])
        if job.error is not None:
            raise job.error
        return job.answer


class ClockDatabase:
    """The clock's database."""

    def __init__(self, url: str, *switches: Switch) -> None:
        self._database = open_clock_database(url)
        self._switches = switches
        self._is_prepared = False

    async def run(self, work: Work[T]) -> T:
        for switch in self._switches:
            switch.check()
        if not self._is_prepared:
            # The machine itself does not fail here, and waiting for its disk is most of what a test would do.
            await self._database.run(lambda connection: connection.exec_driver_sql("PRAGMA synchronous=OFF"))
            self._is_prepared = True
        return await self._database.run(work)

    async def close(self) -> None:
        await self._database.close()


class Outlet(MemoryStream):
    """The way of one process to an event stream, for what it publishes; its readers are the stream's own."""

    def __init__(self, stream: MemoryStream, *switches: Switch) -> None:
        super().__init__()
        self._stream = stream
        self._switches = switches

    async def publish_all(self, batches: Mapping[str, Sequence[tuple[str, int, bytes]]]) -> None:
        for switch in self._switches:
            switch.check()
        await self._stream.publish_all(batches)
