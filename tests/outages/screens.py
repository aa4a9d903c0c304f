"""Clients of a site on virtual time, which follow the guide for client authors."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from magnate.game.v1 import decision_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from services.kit.errors import ServiceError
from tests.clock.virtual_time import now_ms
from tests.outages.parts import Door

_REST_S = 0.2


class Guest:
    """A client with a session: calls, and screens that show tables."""

    def __init__(self, gateway: Door, token: str) -> None:
        self._gateway = gateway
        self._metadata = {"authorization": f"Bearer {token}"}
        self.screens: list[Screen] = []

    async def ask(self, request: Any) -> Any:
        """The call named after its request."""
        call = getattr(self._gateway, type(request).__name__.removesuffix("Request"))
        return await call(request, metadata=self._metadata)

    def open(self, table_id: str) -> Screen:
        """A screen that shows the table until it is closed."""
        screen = Screen(self._gateway, table_id, self._metadata)
        self.screens.append(screen)
        return screen

    def cut(self) -> None:
        """All connections of this client break."""
        for screen in self.screens:
            screen.cut()

    def close(self) -> None:
        for screen in self.screens:
            screen.close()


class Screen:
    """What a client shows of one table: it follows the guide for client authors, resumes after a broken connection,
    and counts down by the readings of play time that it gets."""

    def __init__(self, gateway: Door, table_id: str, metadata: Mapping[str, str]) -> None:
        self._gateway = gateway
        self._table_id = table_id
        self._metadata = metadata
        self._seq: int | None = None
        self._rest_s = _REST_S
        self._reading: tuple[int, bool, float] | None = None
        self._reader: asyncio.Task[None] | None = None
        self._task = asyncio.create_task(self._run())
        self.table = table_pb2.Table()
        self.decision = decision_pb2.Decision()
        self.deadlines: list[decision_pb2.Deadline] = []
        self.updates: list[update_pb2.Update] = []

    def cut(self, seconds: float = _REST_S) -> None:
        """The connection breaks; after so long the client opens it again."""
        self._rest_s = seconds
        if self._reader is not None:
            self._reader.cancel()

    def close(self) -> None:
        """The page is closed."""
        self._task.cancel()
        self.cut()

    @property
    def running(self) -> bool:
        """Whether this client was told that play time advances."""
        return self._reading is not None and self._reading[1]

    def left_ms(self, kind: decision_pb2.DeadlineKind.ValueType | None = None) -> int:
        """What the countdown of the only deadline, or of the one of a kind, shows."""
        (deadline,) = [item for item in self.deadlines if kind in (None, item.kind)]
        assert self._reading is not None
        play_time_ms, running, heard_ms = self._reading
        passed_ms = now_ms() - heard_ms if running else 0
        left = deadline.opened_at_ms + deadline.budget_ms + self.table.held_ms - play_time_ms - passed_ms
        return max(0, round(left))

    async def _run(self) -> None:
        while True:
            self._reader = asyncio.create_task(self._read())
            await asyncio.wait([self._reader])
            self._reading = None if self._reading is None else (*self._reading[:1], False, now_ms())
            rest_s, self._rest_s = self._rest_s, _REST_S
            await asyncio.sleep(rest_s)

    async def _read(self) -> None:
        with suppress(ServiceError):
            request = pb.WatchRequest(targets=[pb.WatchTarget(table_id=self._table_id, after_seq=self._seq)])
            async with self._gateway.Watch(request, metadata=self._metadata) as messages:
                async for message in messages:
                    self._take(message)

    def _take(self, message: pb.WatchResponse) -> None:
        match message.WhichOneof("message"):
            case "table":
                self.table = message.table
            case "snapshot":
                snapshot = message.snapshot
                self._seq, self.decision, self.deadlines = snapshot.seq, snapshot.decision, [*snapshot.view.deadlines]
                self._reading = (snapshot.play_time_ms, True, now_ms())
            case "update":
                update = message.update
                self.updates.append(update)
                self._seq, self.decision, self.deadlines = update.last_seq, update.decision, [*update.deadlines]
            case "heartbeat":
                heartbeat = message.heartbeat
                self._reading = (heartbeat.play_time_ms, heartbeat.running, now_ms())
