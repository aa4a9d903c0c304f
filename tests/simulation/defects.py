"""Faults of the kind that a programmer makes, planted into the code of this process for the length of a test."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from magnate.game.v1 import command_pb2

from services.clock.adapters.clients import TableCalls
from services.clock.application.clock import Clock
from services.clock.application.ports import Expiry, Timepiece
from services.clock.domain.deadlines import Deadline, Deadlines, Due
from services.clock.domain.play_time import Instant, PlayTime, Stretch
from services.rules.domain.commands import Command, Expire
from services.rules.domain.moves import timeouts
from services.rules.domain.play import Play
from services.rules.domain.refusals import Refusal
from services.table.application.commands import Commands, Done, Order
from services.table.application.ports import TableKey
from tests.simulation.receipts import RECEIPT

_EARLY_MS = 1_200


@contextmanager
def fires_early() -> Iterator[None]:
    """The clock says that time is up before it is, and the table believes it."""
    take_due, stamp = Deadlines.take_due, Commands.stamp

    def take_due_early(self: Deadlines, play_time_ms: int, limit: int) -> list[Due]:
        return take_due(self, play_time_ms + _EARLY_MS, limit)

    def stamp_late(self: Commands, key: TableKey) -> int | None:
        value, receipt = stamp(self, key), RECEIPT.get()
        is_expiry = receipt is not None and receipt.method.startswith("Expire")
        return value + _EARLY_MS if is_expiry and value is not None else value

    with patch.object(Deadlines, "take_due", take_due_early), patch.object(Commands, "stamp", stamp_late):
        yield


@contextmanager
def forgets() -> Iterator[None]:
    """One deadline in three is never armed."""
    arm = Deadlines.arm

    def arm_some(self: Deadlines, table_id: str, seq: int, deadlines: Iterable[Deadline], grace_ms: int) -> None:
        arm(self, table_id, seq, [item for item in deadlines if item.deadline_id % 3], grace_ms)

    with patch.object(Deadlines, "arm", arm_some):
        yield


@contextmanager
def fires_twice() -> Iterator[None]:
    """The clock says it twice, and neither the command's id nor the rules know that it is the same."""
    expire, do, decide, numbers = TableCalls.expire, Commands.do, timeouts.expire, itertools.count()

    async def expire_twice(self: TableCalls, table_id: str, deadline_id: int) -> Expiry:
        await expire(self, table_id, deadline_id)
        return await expire(self, table_id, deadline_id)

    async def do_anew(self: Commands, order: Order) -> Done:
        if order.kind != "expire":
            return await do(self, order)
        command = command_pb2.Command()
        command.CopyFrom(order.command)
        command.command_id += f":{next(numbers)}"
        return await do(self, replace(order, command=command))

    def expire_any(play: Play, command: Command) -> Refusal | None:
        refusal = decide(play, command)
        if refusal is None or not isinstance(command.action, Expire) or not play.state.deadlines:
            return refusal
        timeouts.run_out(play, play.state.deadlines[0].kind)
        return None

    with ExitStack() as patches:
        patches.enter_context(patch.object(TableCalls, "expire", expire_twice))
        patches.enter_context(patch.object(Commands, "do", do_anew))
        patches.enter_context(_in_place_of(decide, expire_any))
        yield


@contextmanager
def counts_outages() -> Iterator[None]:
    """However long no probe came back, the time counts."""
    probe_returned = PlayTime.probe_returned

    def count_all(self: PlayTime, now: Instant) -> Stretch | None:
        ended = probe_returned(self, now)
        if ended is not None:
            self._counted_ns += ended.to_ns - ended.from_ns
        return ended

    with patch.object(PlayTime, "probe_returned", count_all):
        yield


@contextmanager
def steps_with_the_wall_clock() -> Iterator[None]:
    """Play time is measured with the clock that NTP and people set."""
    init = Clock.__init__

    def init_with_wall(self: Clock, *, timepiece: Timepiece, **others: Any) -> None:
        init(self, timepiece=_WallTime(timepiece), **others)

    with patch.object(Clock, "__init__", init_with_wall):
        yield


class _WallTime:
    def __init__(self, timepiece: Timepiece) -> None:
        self._timepiece = timepiece

    def now(self) -> Instant:
        unix_ms = self._timepiece.now().unix_ms
        return Instant(mono_ns=unix_ms * 1_000_000, unix_ms=unix_ms)


def _in_place_of(function: Any, other: Any) -> ExitStack:
    """Replaces a function of the rules wherever a table of moves holds it."""
    from services.rules.domain import decide

    stack = ExitStack()
    for module in (timeouts, decide):
        for name, value in list(vars(module).items()):
            if value is function:
                stack.enter_context(patch.object(module, name, other))
            elif isinstance(value, dict):
                for key, held in list(value.items()):
                    if held is function:
                        stack.enter_context(patch.dict(value, {key: other}))
    return stack
