"""Tables and news as the contracts know them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

import grpc
from google.protobuf.message import DecodeError
from magnate.game.v1 import command_pb2, update_pb2
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from services.bots.adapters.rules_library import CodecError, RulesReader, encode_command
from services.bots.application.ports import Change, Position, Turn, TurnPage, Work
from services.kit.batches import Caller
from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.kit.streams import Entry, EventStream, Lagged
from services.rules.domain.commands import Action

_log = get_log(__name__)
_PAGE_SIZE = 1_000
_LIST_LIMIT_MS = 10_000
_GROUP = "bots"
_NO_GAME = frozenset({"no_table", "not_started"})


class TableClient(Protocol):
    """The calls of the table service that the bots need; LocalClient and RemoteClient have them."""

    async def GetSnapshot(self, request: table_pb.GetSnapshotRequest) -> table_pb.GetSnapshotResponse: ...

    async def ListBotTurns(
        self, request: table_pb.ListBotTurnsRequest, *, timeout_ms: int
    ) -> table_pb.ListBotTurnsResponse: ...


class TableCalls:
    """Tables, over a client of the table service and its stream of commands."""

    def __init__(
        self,
        client: TableClient,
        submitter: Caller[table_pb.SubmitRequest, table_pb.SubmitResponse],
        reader: RulesReader,
    ) -> None:
        self._client = client
        self._submitter = submitter
        self._reader = reader

    async def position(self, table_id: str) -> Position | None:
        """See Tables. FAILED_PRECONDITION unknown_edition: a later version of the game than this replica's."""
        try:
            response = await self._client.GetSnapshot(table_pb.GetSnapshotRequest(table_id=table_id))
        except ServiceError as error:
            if error.reason.lower() in _NO_GAME:
                return None
            raise
        try:
            return self._reader.position(response.snapshot)
        except CodecError as error:
            raise ServiceError(grpc.StatusCode.NOT_FOUND, "no_edition", str(error)) from None

    async def submit(self, turn: Turn, action: Action, command_id: str) -> None:
        command = command_pb2.Command.FromString(encode_command(turn.seat, turn.decision_id, action, command_id))
        await self._submitter.call(table_pb.SubmitRequest(table_id=turn.table_id, command=command))

    async def list_turns(self, page_token: str) -> TurnPage:
        request = table_pb.ListBotTurnsRequest(page_token=page_token, page_size=_PAGE_SIZE)
        response = await self._client.ListBotTurns(request, timeout_ms=_LIST_LIMIT_MS)
        return TurnPage(tuple(turn_of(item) for item in response.turns), response.next_page_token)


class StreamNews:
    """News, from this replica's share of the event stream of all shards.

    Changes of tables of which nothing is known (`knows`) are passed over: most tables have no bots. `gather_ms` is the
    pause after each read.
    """

    def __init__(
        self, stream: EventStream, *, topics: Sequence[str], knows: Callable[[str], bool], gather_ms: int = 0
    ) -> None:
        self._stream = stream
        self._topics = topics
        self._knows = knows
        self._gather_ms = gather_ms
        self._consumer = f"bots-{secrets.token_hex(6)}"

    async def follow(self) -> AsyncIterator[Work]:
        subscription = await self._stream.join(_GROUP, self._consumer, self._topics, gather_ms=self._gather_ms)
        try:
            async for item in subscription:
                if isinstance(item, Lagged):
                    # Turns that were in it stand in the table service's list.
                    _log.info("news_missing", topic=item.topic, reason=item.reason)
                    yield Work((), _nothing, is_incomplete=True)
                    continue
                news = [parse_entry(entry, self._knows) for entry in item.entries]
                yield Work(tuple(found for found in news if found is not None), item.ack)
        finally:
            await subscription.close()


async def _nothing() -> None:
    return None


def parse_entry(entry: Entry, knows: Callable[[str], bool]) -> Turn | Change | None:
    """What an entry of the stream says to the bots, if anything."""
    try:
        message = table_pb2.StreamMessage.FromString(entry.payload)
        kind = message.WhichOneof("message")
        if kind == "bot_turn":
            return turn_of(message.bot_turn)
        if kind == "update" and knows(entry.key):
            update = update_pb2.Update.FromString(message.update)
            return Change(update.table_id, update.first_seq, update.last_seq, message.update)
    except DecodeError:
        _log.warning("message_malformed", size_bytes=len(entry.payload))
    return None


def turn_of(message: table_pb2.BotTurn) -> Turn:
    """A turn of a message."""
    return Turn(message.table_id, message.seat, message.level, message.decision_id, message.seq)
