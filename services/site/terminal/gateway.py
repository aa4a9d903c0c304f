"""A guest at a gateway: the calls of the contract with the session's token, and a watch that resumes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import grpc
from magnate.game.v1 import command_pb2, edition_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from gateway.domain.contract_version import CONTRACT_KEY, CONTRACT_VERSION
from services.kit.calls import RemoteClient, TlsFiles, open_channel
from services.kit.errors import ServiceError

DESCRIPTOR = pb.DESCRIPTOR.services_by_name["GatewayService"]

T = TypeVar("T")

_FIRST_BACKOFF_S = 0.2
_LAST_BACKOFF_S = 3.0
_TRIES = 8
#: another try may succeed, and a repeat does no harm
_PASSING = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.ABORTED,
    }
)
# What was seen last is not in the log: the store was restored from a backup.
_RESTORED = "seq_ahead"
#: ends of a watch after which it is opened again
_RESUMABLE = frozenset({"slow_client", "draining", "overloaded", "unreachable", "internal"})


class Guest:
    """A client of the gateway at `host:port`, with a session once it has begun or resumed one.

    With `tls` the connection is encrypted, and the certificate must bear `name`, or the host's."""

    def __init__(self, address: str, tls: TlsFiles | None = None, name: str = "") -> None:
        self.address = address
        self.is_encrypted = tls is not None
        self.token = ""
        self.session = table_pb2.Session()
        self._channel = open_channel(address, tls=tls, service=name)
        self._client: Any = RemoteClient(DESCRIPTOR, self._channel)

    async def close(self) -> None:
        """Closes the connection; the session stays."""
        await self._channel.close()

    def _metadata(self) -> dict[str, str]:
        known = {CONTRACT_KEY: CONTRACT_VERSION}
        return known | {"authorization": f"Bearer {self.token}"} if self.token else known

    async def _ask(self, name: str, request: object) -> Any:
        return await getattr(self._client, name)(request, metadata=self._metadata())

    async def begin(self, name: str) -> None:
        """Opens a guest session."""
        answer = await self.persist(lambda: self._ask("CreateSession", pb.CreateSessionRequest(name=name)))
        self.token, self.session = answer.session_token, answer.session

    async def resume(self, token: str) -> None:
        """Goes on with a session. UNAUTHENTICATED no_session when it has expired."""
        self.token = token
        answer = await self.persist(lambda: self._ask("RenewSession", pb.RenewSessionRequest()))
        self.token, self.session = answer.session_token, answer.session

    async def info(self) -> pb.GetServerInfoResponse:
        """Facts about the server."""
        answer: pb.GetServerInfoResponse = await self.persist(
            lambda: self._ask("GetServerInfo", pb.GetServerInfoRequest())
        )
        return answer

    async def edition(self, name: str, version: int = 0) -> edition_pb2.Edition:
        """An edition in full."""
        request = pb.DescribeEditionRequest(edition=name, version=version)
        answer: pb.DescribeEditionResponse = await self.persist(lambda: self._ask("DescribeEdition", request))
        return answer.edition

    async def create_table(
        self, settings: table_pb2.TableSettings, *, spectate: bool = False, fixed_seed: str = ""
    ) -> pb.CreateTableResponse:
        """Creates a table; a repeat on the way does it once."""
        request = pb.CreateTableRequest(
            settings=settings, spectate=spectate, fixed_seed=fixed_seed, command_id=f"create.{secrets.token_hex(8)}"
        )
        answer: pb.CreateTableResponse = await self.persist(lambda: self._ask("CreateTable", request))
        return answer

    async def describe_table(self, table_id: str) -> pb.DescribeTableResponse:
        """One table, and the own seat."""
        request = pb.DescribeTableRequest(table_id=table_id)
        answer: pb.DescribeTableResponse = await self.persist(lambda: self._ask("DescribeTable", request))
        return answer

    async def add_bots(self, table_id: str, count: int) -> table_pb2.Table:
        """Seats bots."""
        answer: pb.AddBotsResponse = await self._ask("AddBots", pb.AddBotsRequest(table_id=table_id, count=count))
        return answer.table

    async def start_game(self, table_id: str) -> table_pb2.Table:
        """Starts the game."""
        answer: pb.StartGameResponse = await self._ask("StartGame", pb.StartGameRequest(table_id=table_id))
        return answer.table

    async def submit(self, table_id: str, command: command_pb2.Command) -> pb.SubmitResponse:
        """Does a command; its id makes a repeat safe when the connection breaks."""
        request = pb.SubmitRequest(table_id=table_id, command=command)
        answer: pb.SubmitResponse = await self.persist(lambda: self._ask("Submit", request))
        return answer

    async def export(self, table_id: str) -> AsyncIterator[bytes]:
        """The log as a file, in pieces."""
        request = pb.ExportTableRequest(table_id=table_id)
        async with self._client.ExportTable(request, metadata=self._metadata()) as pieces:
            async for piece in pieces:
                yield piece.piece

    async def watch(self, table_id: str, after_seq: int | None, history_id: str) -> AsyncIterator[pb.WatchResponse]:
        """One watch of one table, until it ends. `after_seq` None begins with a snapshot."""
        target = pb.WatchTarget(table_id=table_id, after_seq=after_seq, history_id=history_id)
        request = pb.WatchRequest(targets=[target])
        async with self._client.Watch(request, metadata=self._metadata()) as messages:
            async for message in messages:
                yield message

    async def persist(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Asks again, a bounded number of times, while the server is away or has too much to do."""
        backoff_s = _FIRST_BACKOFF_S
        for _ in range(_TRIES - 1):
            try:
                return await ask()
            except ServiceError as error:
                if error.code not in _PASSING:
                    raise
                wait_s = backoff_s if error.retry_after_ms is None else error.retry_after_ms / 1000
            await asyncio.sleep(wait_s)
            backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)
        return await ask()


class Follower:
    """Everything that happens at a table, over as many watches as it takes: without gap or repeat."""

    def __init__(
        self,
        guest: Guest,
        table_id: str,
        *,
        after_seq: int | None = None,
        on_connection: Callable[[bool], None] = lambda up: None,
    ) -> None:
        self._guest = guest
        self._table_id = table_id
        self._after_seq = after_seq
        self._history_id = ""
        self._on_connection = on_connection
        self._wants_snapshot = False

    def ask_snapshot(self) -> None:
        """Begins anew with a snapshot: what is known here is not what the server has."""
        self._after_seq = None
        self._wants_snapshot = True

    async def messages(self) -> AsyncIterator[pb.WatchResponse]:
        """Snapshots, updates, tables and heartbeats. Raises ServiceError when resuming is no use."""
        backoff_s = _FIRST_BACKOFF_S
        was_up = True
        while True:
            try:
                async for message in self._guest.watch(self._table_id, self._after_seq, self._history_id):
                    if not was_up:
                        was_up = True
                        self._on_connection(True)
                    backoff_s = _FIRST_BACKOFF_S
                    if self._note(message):
                        yield message
                    if message.HasField("ended"):
                        self._resume_after(message.ended.reason)
                        break
                    if self._wants_snapshot:
                        break
            except ServiceError as error:
                if error.code not in _PASSING:
                    raise
            if self._wants_snapshot:
                self._wants_snapshot = False
                continue
            if was_up:
                was_up = False
                self._on_connection(False)
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)

    def _resume_after(self, reason: str) -> None:
        if reason == _RESTORED:
            self.ask_snapshot()
        elif reason not in _RESUMABLE:
            raise ServiceError(grpc.StatusCode.FAILED_PRECONDITION, reason, "the watch ended")

    def _note(self, message: pb.WatchResponse) -> bool:
        """Keeps the place to resume at; False for what has been seen."""
        if message.HasField("table"):
            self._history_id = message.table.history_id
        elif message.HasField("snapshot"):
            self._after_seq = message.snapshot.seq
        elif message.HasField("update"):
            if self._after_seq is not None and message.update.last_seq <= self._after_seq:
                return False
            self._after_seq = message.update.last_seq
        return True
