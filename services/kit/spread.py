"""Many calls over the long-lived streams to every replica of a service: one stream each, see `batches`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import grpc

from services.kit.batches import BatchCaller
from services.kit.calls import Member, Pool, Stream
from services.kit.errors import ServiceError

Item = TypeVar("Item")
Result = TypeVar("Result")


class SpreadCaller(Generic[Item, Result]):
    """A `Caller` for items that may be sent twice without harm.

    Items of one key go to one replica, in one message when several wait; those of a replica that dies, drains or lets
    them wait in vain go to another. Streams are opened to replicas as they appear in the pool, which is the caller's.
    """

    def __init__(
        self,
        pool: Pool,
        *,
        open_stream: Callable[[Any, AsyncIterator[Any]], Stream],
        wrap: Callable[[Sequence[tuple[int, Item]]], Any],
        unwrap: Callable[[Any], Iterable[tuple[int, Result | ServiceError]]],
        key_of: Callable[[Item], str],
        name: str,
        timeout_ms: int = 5_000,
    ) -> None:
        """`open_stream` is given the client of a replica and the requests."""
        self._pool = pool
        self._open_stream = open_stream
        self._wrap = wrap
        self._unwrap = unwrap
        self._key_of = key_of
        self._name = name
        self._timeout_ms = timeout_ms
        self._callers: dict[Member, BatchCaller[Item, Result]] = {}
        pool.on_leaving(self._part)

    async def start(self) -> None:
        """Nothing more than the start of the pool: a stream is opened with the first call to its replica."""
        await self._pool.start()

    async def close(self) -> None:
        """Ends the streams; what still waits fails with UNAVAILABLE."""
        for caller in self._callers.values():
            await caller.close()
        self._callers.clear()

    async def call(self, item: Item, *, timeout_ms: int | None = None) -> Result:
        """The answer to one item; DEADLINE_EXCEEDED after `timeout_ms`, UNAVAILABLE when no replica answers."""

        bound_ms = self._timeout_ms if timeout_ms is None else timeout_ms
        return await self._pool.attempt(self._asking(item), bound_ms=bound_ms, repeatable=True, key=self._key_of(item))

    def ways(self, most: int) -> list[Member]:
        """The replicas to which items go now; see `Pool.ways`."""
        return self._pool.ways(most)

    async def call_at(self, member: Member, item: Item, *, timeout_ms: int) -> Result:
        """The answer of this replica and no other, over the stream that the items of `call` take."""
        return await self._pool.ask(member, self._asking(item), bound_ms=timeout_ms)

    async def probe_at(self, member: Member, probe: Any, *, timeout_ms: int) -> None:
        """Returns when this replica has answered a probe, over the stream that the items of `call` take."""
        try:
            await self.call_at(member, probe, timeout_ms=timeout_ms)
        except ServiceError as error:
            if error.code is not grpc.StatusCode.INVALID_ARGUMENT:
                raise
            # A replica of a release before knows no such item.
            await member.client.Probe(probe, timeout_ms=timeout_ms)

    def _asking(self, item: Item) -> Callable[[Member, int], Awaitable[Result]]:
        async def ask(member: Member, limit_ms: int) -> Result:
            caller = self._callers.get(member) or await self._caller_of(member)
            return await caller.call(item, timeout_ms=limit_ms)

        return ask

    async def _part(self, member: Member) -> None:
        caller = self._callers.pop(member, None)
        if caller is not None:
            await caller.finish()

    async def _caller_of(self, member: Member) -> BatchCaller[Item, Result]:
        if self._pool.members.get(member.name) is not member:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", f"{member.name} is gone")
        caller = self._callers[member] = BatchCaller(
            open_stream=lambda requests: self._open_stream(member.client, requests),
            wrap=self._wrap,
            unwrap=self._unwrap,
            name=f"{self._name} {member.name}",
        )
        await caller.start()
        return caller
