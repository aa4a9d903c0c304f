"""Reads journals and database of a run that is over, and judges each table, on all processors if there is much."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import asyncpg

from tests.chaos.checks import Trouble, check_table
from tests.chaos.faults import Done
from tests.chaos.journal import Failed, Note, read_journal
from tests.chaos.lateness import Disturbance, check_lateness
from tests.chaos.redeciding import redecide
from tests.chaos.report import Span, commands_of, stalls_of
from tests.chaos.tables import Noted, Stored, read_stored

#: from so many tables on, other processes are worth their start
_MANY = 16


class Case(NamedTuple):
    """A table with everything that is known of it. Its watchers must have come to `must_reach`."""

    stored: Stored
    clients: Sequence[Noted]
    must_reach: int
    disturbances: Sequence[Disturbance]
    acted_until_ns: int
    ended_ns: int


class Verdict(NamedTuple):
    """What was found of one table."""

    troubles: list[Trouble]
    commands: list[Span]
    stalls: list[Span]
    rows: int


def judge(case: Case) -> Verdict:
    """All checks of one table."""
    troubles = [
        *check_table(case.stored, case.clients, case.must_reach),
        *check_lateness(case.clients, case.disturbances, case.ended_ns),
        *redecide(case.stored),
    ]
    return Verdict(
        troubles, commands_of(case.clients), stalls_of(case.clients, case.acted_until_ns), len(case.stored.rows)
    )


class Run(NamedTuple):
    """A run that is over: its journals and database, the numbers that watchers had to come to, and its faults."""

    folder: Path
    database_url: str
    must_reach: dict[str, int]
    faults: Sequence[Done]
    acted_until_ns: int
    ended_ns: int


async def judge_all(run: Run, say: Callable[[str], None]) -> list[Verdict]:
    """A verdict for each table that a client noted or the database has."""
    noted, failed = _read_journals(run.folder)
    for reason, count in failed.items():
        say(f"answers that are faults of the server: {count} x {reason}")
    names = sorted(noted.keys() | run.must_reach.keys())
    verdicts: list[Verdict] = []
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        pool: Executor | None = None
        if len(names) >= _MANY:
            # Not forked: gRPC has threads here.
            context = multiprocessing.get_context("spawn")
            pool = stack.enter_context(ProcessPoolExecutor(os.cpu_count(), mp_context=context))
        under_way: list[asyncio.Future[Verdict]] = []
        async for case in _cases(run, names, noted):
            under_way.append(loop.run_in_executor(pool, judge, case))
            if len(under_way) > 2 * (os.cpu_count() or 1):
                verdicts.append(await under_way.pop(0))
                _progress(verdicts, len(names), say)
        verdicts += await asyncio.gather(*under_way)
    return verdicts


async def _cases(run: Run, names: Sequence[str], noted: dict[str, dict[str, list[Note]]]) -> AsyncIterator[Case]:
    disturbances = [Disturbance(fault.began_ns, fault.ended_ns) for fault in run.faults]
    database = await asyncpg.connect(run.database_url)
    try:
        for name in names:
            clients = [Noted(client, notes) for client, notes in noted.pop(name, {}).items()]
            stored = await read_stored(database, name)
            yield Case(stored, clients, run.must_reach.get(name, 0), disturbances, run.acted_until_ns, run.ended_ns)
    finally:
        await database.close()


def _read_journals(folder: Path) -> tuple[dict[str, dict[str, list[Note]]], dict[str, int]]:
    """The notes by table and client, and how often the server answered with a fault of its own."""
    noted: defaultdict[str, dict[str, list[Note]]] = defaultdict(dict)
    failed: defaultdict[str, int] = defaultdict(int)
    for path in sorted(folder.glob("*.jsonl")):
        for note in read_journal(path):
            if isinstance(note, Failed):
                failed[note.reason.split("incident")[0]] += 1
            else:
                noted[note.table_id].setdefault(path.stem, []).append(note)
    return noted, failed


def _progress(verdicts: Sequence[Verdict], tables: int, say: Callable[[str], None]) -> None:
    if len(verdicts) % 10 == 0:
        rows = sum(verdict.rows for verdict in verdicts)
        troubles = sum(len(verdict.troubles) for verdict in verdicts)
        say(f"judged {len(verdicts)} of {tables} tables: {rows} commands in their logs, {troubles} troubles")
