"""SQLite: one thread writes, one reads. All that waits for the writer is committed together, with a full sync."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar, cast

import sqlalchemy as sa

from services.kit.migrations import upgrade
from services.table.adapters import sql_games
from services.table.adapters.databases import Work, unreachable
from services.table.adapters.migrations import VERSION_TABLE, VERSIONS
from services.table.adapters.sqlite_writer import TROUBLE, Job, Writer, answer, open_engine
from services.table.application.ports import LogRow

T = TypeVar("T")

_MAX_JOBS = 256
_SWITCH_S = 0.0005


class SqliteDatabase:
    """Database over one file."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._writer: threading.Thread | None = None
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="table-reader")
        self._read_engine = open_engine(url)

    async def start(self) -> None:
        # A busy loop gives the interpreter up to the writer only when asked, by default after 5 ms, and a commit has
        # to ask four times.
        sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH_S))
        path = sa.make_url(self._url).database
        if path:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
        opened: Future[None] = Future()
        self._writer = threading.Thread(target=self._run, args=(opened,), name="table-writer", daemon=True)
        self._writer.start()
        await asyncio.wrap_future(opened)
        await upgrade(self.write, versions=VERSIONS, version_table=VERSION_TABLE)

    async def read(self, work: Work[T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._reader, self._read, work)
        except TROUBLE as error:
            raise unreachable(error) from None

    async def write(self, work: Work[T]) -> T:
        job = Job(asyncio.get_running_loop().create_future(), work=work)
        self._jobs.put(job)
        # What has begun is finished, also when nobody waits for it any more.
        return cast(T, await asyncio.shield(job.future))

    def append(self, row: LogRow) -> asyncio.Future[bool]:
        job = Job(asyncio.get_running_loop().create_future(), row=row)
        self._jobs.put(job)
        return job.future

    async def commit_probe(self, shard: int, probe_id: str, now_ms: int) -> None:
        await self.write(lambda connection: sql_games.commit_probe(connection, shard, probe_id, now_ms))

    async def close(self) -> None:
        if self._writer is not None:
            self._jobs.put(None)
            await asyncio.get_running_loop().run_in_executor(None, self._writer.join)
        await asyncio.get_running_loop().run_in_executor(self._reader, self._read_engine.dispose)
        self._reader.shutdown()

    def _read(self, work: Work[T]) -> T:
        with self._read_engine.connect() as connection:
            return work(connection)

    def _run(self, opened: Future[None]) -> None:
        engine = open_engine(self._url)
        try:
            connection = engine.connect()
        except TROUBLE as error:
            # No database, or none that may be opened: whoever starts us must not wait for a writer that is not there.
            opened.set_exception(unreachable(error))
            return
        with connection:
            opened.set_result(None)
            writer = Writer(connection)
            while True:
                jobs, is_last = self._take()
                if jobs:
                    writer.commit(jobs)
                    loop = jobs[0].future.get_loop()
                    if not loop.is_closed():
                        loop.call_soon_threadsafe(answer, jobs)
                if is_last:
                    break
        engine.dispose()

    def _take(self) -> tuple[list[Job], bool]:
        """Waits for a job and takes all that wait with it; true when the end has been ordered."""
        jobs: list[Job] = []
        item = self._jobs.get()
        while item is not None:
            jobs.append(item)
            if len(jobs) >= _MAX_JOBS or self._jobs.empty():
                return jobs, False
            item = self._jobs.get()
        return jobs, True
