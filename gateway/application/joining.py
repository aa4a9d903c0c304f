"""Brings one table of a watch from where its client stands to the live updates, without gap or repeat."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import grpc
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.application import refusals
from gateway.application.feeds import Feed, has_game, may_watch
from gateway.application.frames import snapshot_frame, update_frame
from gateway.application.ports import TableCalls
from gateway.application.watch import Target
from services.kit.errors import ServiceError

_PAGE_UPDATES = 100
_MAX_TRIES = 20
_RETRY_S = 0.1


class TooSlowError(Exception):
    """The client does not take what it asked for, or has gone."""


class Joiner:
    """Subscribe first, then read: the target is attached to its feed before `join` is called."""

    def __init__(self, table: TableCalls, *, on_fork: Callable[[Feed], None], fill: Callable[[Feed], None]) -> None:
        self._table = table
        self._on_fork = on_fork
        self._fill = fill

    async def join(self, feed: Feed, target: Target) -> None:
        """Sends the table, then a snapshot or all updates after a number, and makes the target live.

        Raises ServiceError with the reason for which the client may not or cannot watch, and TooSlowError.
        """
        token = target.watch.token
        described = await self._table.DescribeTable(
            table_pb.DescribeTableRequest(session_token=token, table_id=target.table_id)
        )
        table = described.table
        if not feed.is_of(table.history_id):
            self._on_fork(feed)
            return
        if target.after_seq and target.history_id not in ("", table.history_id):
            raise _other_history(target.after_seq, table.last_seq)
        target.may_see = described.HasField("own_seat") or may_watch(table, target.watch.session_id)
        target.send_table(feed.learn(table))
        if has_game(table) and not target.may_see:
            raise _no_spectators()
        if not has_game(table):
            if target.after_seq:
                raise _seq_ahead(target.after_seq, 0)
        elif target.after_seq is None:
            await self._send_snapshot(target, token)
        else:
            await self._read(feed, target, token)
        target.joined = True
        await self.catch_up(feed, target, token=token)

    async def catch_up(self, feed: Feed, target: Target, *, token: str = "") -> None:
        """From the last number sent to live; also after a gap. Without a token: the right to watch stands."""
        tries = 0
        while not target.ended:
            await _room(target)
            if target.buffer and not target.may_see:
                raise _no_spectators()
            # No await between these lines: nothing can come live unseen.
            if target.drain_buffer():
                target.live = True
                if feed.last_seq is None:
                    feed.last_seq = target.sent_seq
                    if feed.doubtful:
                        self._fill(feed)
                if feed.table_frame is not None:
                    target.send_table(feed.table_frame)
                return
            if target.overflowed:
                target.overflowed = False
                target.buffer.clear()
            before = target.sent_seq
            await self._read(feed, target, token)
            tries = 0 if target.sent_seq > before else tries + 1
            if tries > _MAX_TRIES:
                raise refusals.unreachable("the log lacks what the event stream has")
            if tries:
                await asyncio.sleep(_RETRY_S)

    async def _send_snapshot(self, target: Target, token: str) -> None:
        answer = await self._table.GetSnapshot(
            table_pb.GetSnapshotRequest(session_token=token, table_id=target.table_id)
        )
        await _room(target)
        target.send(snapshot_frame(answer.snapshot))

    async def _read(self, feed: Feed, target: Target, token: str) -> None:
        while True:
            page = await self._table.ReadUpdates(
                table_pb.ReadUpdatesRequest(
                    session_token=token,
                    table_id=target.table_id,
                    after_seq=target.sent_seq,
                    page_size=_PAGE_UPDATES,
                )
            )
            if target.sent_seq > page.last_seq:
                raise _seq_ahead(target.sent_seq, page.last_seq)
            if not feed.is_of(page.history_id):
                raise _other_history(target.sent_seq, page.last_seq)
            for update in page.updates:
                await _room(target)
                target.send(update_frame(update))
            if not page.updates or target.sent_seq >= page.last_seq:
                return


async def _room(target: Target) -> None:
    if not await target.watch.room():
        raise TooSlowError


def _no_spectators() -> ServiceError:
    return ServiceError(grpc.StatusCode.PERMISSION_DENIED, "no_spectators", "this table has no spectators")


def _seq_ahead(after_seq: int, last_seq: int) -> ServiceError:
    return ServiceError(
        grpc.StatusCode.OUT_OF_RANGE,
        "seq_ahead",
        f"the log ends at {last_seq}, before {after_seq}",
        {"last_seq": str(last_seq)},
    )


def _other_history(after_seq: int, last_seq: int) -> ServiceError:
    return ServiceError(
        grpc.StatusCode.OUT_OF_RANGE,
        "seq_ahead",
        f"the store was restored since {after_seq} was seen",
        {"last_seq": str(last_seq)},
    )


def reason_of(error: ServiceError) -> str:
    """The reason that a client reads in WatchEnded."""
    told = refusals.for_client(error)
    return "unreachable" if told.code is grpc.StatusCode.DEADLINE_EXCEEDED else told.reason
