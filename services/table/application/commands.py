"""The way of one command: the rules decide it on the newest state, the store commits it, the event stream gets it.

Commands of one table come one after the other in this process; against other replicas the version in the store
guards, and a lost race is tried again a few times on the newer state.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from google.protobuf.message import DecodeError
from magnate.game.v1 import command_pb2, refusal_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb
from magnate.table.v1 import table_pb2, table_service_pb2

from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.table.application.audit import AuditEntry
from services.table.application.bot_watch import BotWatch
from services.table.application.broken import fault_of, refuse_stopped
from services.table.application.errors import from_refused, from_rules
from services.table.application.hot_tables import HotTable, HotTables
from services.table.application.lobby import version_race
from services.table.application.options import Options
from services.table.application.outbox import Outbox
from services.table.application.play_time import refuse_unknown
from services.table.application.ports import (
    LoggedCommand,
    LogRow,
    Meter,
    OwnTime,
    PlayTime,
    Rules,
    Store,
    TableKey,
    Wall,
)
from services.table.application.states import by_name, by_value, digest_of
from services.table.domain.refusals import Reason, RefusalError

_log = get_log(__name__)
_OF_THE_SYSTEM = ("expire", "withdraw")
_HELD_RETRY_MS = 5_000


@dataclass(frozen=True, slots=True)
class Done:
    """What a command did; `repeated` when it had been done before under the same id."""

    first_seq: int
    last_seq: int
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """A command with its play time at receipt (None before the first reading) and who may give it."""

    key: TableKey
    command: command_pb2.Command
    play_time_ms: int | None
    authorise: Callable[[HotTable], None]
    audit: AuditEntry | None = None

    @property
    def kind(self) -> str:
        return self.command.WhichOneof("action") or "none"

    def digest(self) -> bytes:
        """SHA-256 of the body, by which a repeat is told from another command under the same id."""
        return hashlib.sha256(self.command.SerializeToString(deterministic=True)).digest()


class Stopping(Protocol):
    """Lets a table stand still whose state is broken."""

    async def stop_broken(self, key: TableKey, why: str, play_time_ms: int) -> None: ...


class Commands:
    """Does commands of running games, whoever gives them."""

    def __init__(
        self,
        *,
        store: Store,
        rules: Rules,
        play_time: PlayTime,
        hot_tables: HotTables,
        outbox: Outbox,
        bots: BotWatch,
        stopping: Stopping,
        wall: Wall,
        meter: Meter,
        options: Options,
    ) -> None:
        self._store = store
        self._rules = rules
        self._play_time = play_time
        self._hot_tables = hot_tables
        self._outbox = outbox
        self._bots = bots
        self._stopping = stopping
        self._wall = wall
        self._meter = meter
        self._options = options

    def stamp(self, key: TableKey) -> int | None:
        """Play time of the table now: taken when a command arrives, before anything else."""
        return self._play_time.now_ms(key.shard)

    async def for_bot(self, key: TableKey, command: command_pb2.Command) -> Done:
        """A command that the table itself gives in a bot's name."""
        return await self.do(Order(key, command, self.stamp(key), lambda _: None))

    async def do(self, order: Order) -> Done:
        """Does a command, or raises ServiceError: a refusal of the rules, of this service, or trouble on the way.

        A table whose state turns out to be broken stops itself; its callers hear that it is stopped.
        """
        try:
            try:
                return await self._do(order)
            except (ServiceError, RefusalError, DecodeError) as error:
                fault = fault_of(error, order.kind)
                stamp = order.play_time_ms or self.stamp(order.key)
                if fault is None or stamp is None:
                    raise
                await self._stopping.stop_broken(order.key, fault, stamp)
                refuse_stopped()
        except RefusalError as refused:
            self._meter.command_refused(refused.reason)
            raise from_refused(refused) from None
        except ServiceError as error:
            self._meter.command_refused(error.reason)
            raise

    async def _do(self, order: Order) -> Done:
        if order.play_time_ms is None:
            order = replace(order, play_time_ms=await self._play_time.first_ms(order.key.shard))
        hot = self._hot_tables.of(order.key)
        for _ in range(self._options.max_attempts):
            async with hot.lock:
                is_fresh = await self._hot_tables.ensure(hot)
                try:
                    order.authorise(hot)
                except RefusalError:
                    if is_fresh:
                        raise
                    hot.is_loaded = False
                    continue
                if hot.is_paused and not is_fresh:
                    hot.is_loaded = False
                    continue
                done = await self._attempt(hot, order)
            if done is not None:
                return done
            self._meter.raced()
        raise version_race()

    async def _attempt(self, hot: HotTable, order: Order) -> Done | None:
        """One try; None when the table has moved on meanwhile."""
        if hot.is_over:
            return await self._repeated(hot, order) or _refuse_over()
        if hot.is_stopped:
            return await self._repeated(hot, order) or refuse_stopped()
        if hot.is_paused:
            return await self._repeated(hot, order) or _refuse_paused()
        held = self._play_time.held(hot.key.shard)
        if held is not None and order.kind not in _OF_THE_SYSTEM:
            return await self._repeated(hot, order) or _refuse_held(held)
        if order.play_time_ms is None:
            # At the time of the last command the deadlines that this one opens would have run for a while already.
            return await self._repeated(hot, order) or _refuse_unknown_time()
        # A replica whose readings lag must not take play time back.
        play_time_ms = max(order.play_time_ms - hot.own_time.held_ms, hot.play_time_ms)
        answer = await self._apply(hot, order.command, play_time_ms)
        if answer is None:
            hot.is_loaded = False
            return None
        if answer.HasField("refusal"):
            return await self._refused(hot, order, answer.refusal)
        applied = answer.applied
        row = self._row(hot, order, play_time_ms, applied)
        begun_s = self._wall.monotonic_s()
        if not await self._commit(hot, row, applied):
            hot.is_loaded = False
            return await self._repeated(hot, order)
        self._meter.command_done(order.kind, self._wall.monotonic_s() - begun_s)
        self._advance(hot, row, applied)
        if row.result is not None:
            await self._tell_finished(hot)
        return Done(row.first_seq, row.last_seq)

    async def _apply(
        self, hot: HotTable, command: command_pb2.Command, play_time_ms: int
    ) -> rules_pb.ApplyResponse | None:
        """What the rules say; None when the state that is kept here is so old that nobody has it any more."""
        request = rules_pb.ApplyRequest(
            state=by_name(hot.key, hot.last_seq, hot.state_hash, hot.update_digest),
            command=command,
            play_time_ms=play_time_ms,
            want_snapshot=hot.since_snapshot + 1 >= self._options.snapshot_every,
        )
        answer = await self._rules.apply(request)
        if answer.HasField("state_needed"):
            self._meter.state_sent()
            source = await by_value(self._store, hot.key, request.state)
            if source is None:
                return None
            request.state.CopyFrom(source)
            answer = await self._rules.apply(request)
        if answer.HasField("state_needed"):
            raise RefusalError(Reason.INTERNAL, "the rules service does not take the state of this table")
        return answer

    async def _refused(self, hot: HotTable, order: Order, refusal: refusal_pb2.Refusal) -> Done | None:
        """A refusal by the rules counts only for the newest state, and not for what was done before."""
        found = await self._store.find_command(hot.key, order.command.command_id)
        if found.logged is not None:
            return _same(order, found.logged)
        # Where the table stood meanwhile, elsewhere, its time is another one.
        if (found.last_seq, found.holders_version) != (hot.last_seq, hot.holders_version):
            hot.is_loaded = False
            return None
        raise from_rules(refusal)

    async def _repeated(self, hot: HotTable, order: Order) -> Done | None:
        logged = (await self._store.find_command(hot.key, order.command.command_id)).logged
        return None if logged is None else _same(order, logged)

    async def _commit(self, hot: HotTable, row: LogRow, applied: rules_pb.Applied) -> bool:
        commit = self._store.append(row)
        try:
            return await asyncio.shield(commit)
        except BaseException:
            # The caller has gone, or the store is in trouble: the commit may still succeed.
            hot.is_loaded = False
            commit.add_done_callback(partial(self._committed_late, row, turns_of(hot, row, applied), hot.own_time))
            raise

    def _committed_late(
        self, row: LogRow, turns: Sequence[table_pb2.BotTurn], own_time: OwnTime, commit: asyncio.Future[bool]
    ) -> None:
        key = TableKey(row.shard, row.table_id)
        if commit.cancelled() or commit.exception() is not None:
            self._outbox.outcome_unknown(key, row.first_seq)
        elif commit.result():
            self._outbox.update_committed(key, row.last_seq, row.update, own_time, turns)
            self._bots.game_moved(key, row.last_seq, turns)

    def _row(self, hot: HotTable, order: Order, play_time_ms: int, applied: rules_pb.Applied) -> LogRow:
        result: bytes | None = None
        if applied.HasField("ended"):
            ended = table_service_pb2.TableResult(reason=applied.ended.reason, places=applied.ended.places)
            result = ended.SerializeToString()
        return LogRow(
            shard=hot.key.shard,
            table_id=hot.key.table_id,
            first_seq=hot.last_seq + 1,
            last_seq=applied.seq,
            holders_version=hot.holders_version,
            command_id=order.command.command_id,
            digest=order.digest(),
            play_time_ms=play_time_ms,
            update=applied.update,
            secrets=secrets_of(applied),
            at_unix_ms=self._wall.unix_ms(),
            snapshot=applied.snapshot or None,
            result=result,
            audit=order.audit,
            history_id=hot.history_id,
        )

    def _advance(self, hot: HotTable, row: LogRow, applied: rules_pb.Applied) -> None:
        hot.last_seq = row.last_seq
        hot.state_hash = applied.state_hash
        hot.update_digest = digest_of(row.update)
        hot.play_time_ms = row.play_time_ms
        hot.is_over = row.result is not None
        hot.since_snapshot = 0 if row.snapshot is not None else hot.since_snapshot + 1
        turns = turns_of(hot, row, applied)
        self._outbox.update_committed(hot.key, row.last_seq, row.update, hot.own_time, turns)
        self._bots.game_moved(hot.key, row.last_seq, turns)

    async def _tell_finished(self, hot: HotTable) -> None:
        _log.info("game_finished", table_id=hot.key.table_id, seq=hot.last_seq)
        table = await self._store.load_table(hot.key)
        if table is not None:
            self._outbox.table_changed(table)


def turns_of(hot: HotTable, row: LogRow, applied: rules_pb.Applied) -> list[table_pb2.BotTurn]:
    """The bots that are asked after a command."""
    return [
        table_pb2.BotTurn(
            table_id=row.table_id,
            shard=row.shard,
            seat=seat,
            level=hot.holders[seat].bot_level,
            decision_id=applied.decision_id,
            seq=row.last_seq,
        )
        for seat in applied.asked
        if seat < len(hot.holders) and hot.holders[seat].is_bot
    ]


def secrets_of(applied: rules_pb.Applied) -> bytes:
    """The withheld events as they are stored; nothing where there are none."""
    if not applied.secrets:
        return b""
    return rules_pb.LogEntry(secrets=applied.secrets).SerializeToString()


def _same(order: Order, logged: LoggedCommand) -> Done:
    if logged.digest != order.digest():
        raise RefusalError(
            Reason.COMMAND_ID_REUSED,
            "another command was done under this id",
            {"command_id": order.command.command_id},
        )
    return Done(logged.first_seq, logged.last_seq, repeated=True)


def _refuse_paused() -> Done:
    raise RefusalError(Reason.TABLE_PAUSED, "the table stands still for a transfer", {"statement": "IND-PHASE-11"})


def _refuse_held(reason: str) -> Done:
    # A hold is an outage that was announced: nobody moves in it, and everybody gets its time back.
    raise RefusalError(
        Reason.UNREACHABLE, f"maintenance, play time stands still: {reason}", retry_after_ms=_HELD_RETRY_MS
    )


def _refuse_unknown_time() -> Done:
    refuse_unknown()


def _refuse_over() -> Done:
    raise RefusalError(Reason.GAME_OVER, "the game is over")
