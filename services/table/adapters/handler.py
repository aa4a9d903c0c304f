"""The handler of magnate.table.v1.TableService: requests into use cases, results into answers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from magnate.table.v1 import table_service_pb2 as pb

from services.kit.batches import serve_batches
from services.kit.calls import Call
from services.kit.envelopes import Envelopes
from services.kit.validation import validate
from services.table.application.add_bots import AddBots
from services.table.application.create_session import CreateSession
from services.table.application.create_table import CreateTable
from services.table.application.describe_table import DescribeTable
from services.table.application.end_session import EndSession
from services.table.application.errors import from_refused
from services.table.application.expire_deadline import ExpireDeadline
from services.table.application.export_table import ExportTable
from services.table.application.get_snapshot import GetSnapshot
from services.table.application.join_table import JoinTable
from services.table.application.leave_table import LeaveTable
from services.table.application.list_deadlines import ListBotTurns, ListDeadlines
from services.table.application.list_tables import ListMyTables, ListTables
from services.table.application.messages import session_message, table_message
from services.table.application.pause_table import PauseTable
from services.table.application.probe import Probe
from services.table.application.read_updates import ReadUpdates
from services.table.application.reclaim_seat import ReclaimSeat
from services.table.application.renew_session import RenewSession
from services.table.application.sessions import Sessions
from services.table.application.start_game import StartGame
from services.table.application.submit import Submit
from services.table.application.touch_presence import TouchPresence
from services.table.domain.refusals import RefusalError

_PIECE_BYTES = 64 * 1024
_MAX_IN_FLIGHT = 1024

_SERVICE = pb.DESCRIPTOR.services_by_name["TableService"]
SUBMITS = Envelopes(_SERVICE.methods_by_name["SubmitStream"])
EXPIRIES = Envelopes(_SERVICE.methods_by_name["ExpireStream"])


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCases:
    """Everything that the service can do."""

    sessions: Sessions
    create_session: CreateSession
    renew_session: RenewSession
    end_session: EndSession
    create_table: CreateTable
    describe_table: DescribeTable
    list_tables: ListTables
    list_my_tables: ListMyTables
    join_table: JoinTable
    leave_table: LeaveTable
    reclaim_seat: ReclaimSeat
    add_bots: AddBots
    start_game: StartGame
    pause_table: PauseTable
    submit: Submit
    expire_deadline: ExpireDeadline
    read_updates: ReadUpdates
    get_snapshot: GetSnapshot
    export_table: ExportTable
    touch_presence: TouchPresence
    list_deadlines: ListDeadlines
    list_bot_turns: ListBotTurns
    probe: Probe


class TableHandler:
    """One method for each RPC of the contract; ServiceError for every refusal."""

    def __init__(self, use_cases: UseCases) -> None:
        self._do = use_cases

    async def CreateSession(self, request: pb.CreateSessionRequest, call: Call) -> pb.CreateSessionResponse:
        with _refusing():
            token, session = await self._do.create_session.run(request.name, request.address)
        return pb.CreateSessionResponse(session_token=token, session=session_message(session))

    async def RenewSession(self, request: pb.RenewSessionRequest, call: Call) -> pb.RenewSessionResponse:
        with _refusing():
            token, session = await self._do.renew_session.run(request.session_token)
        return pb.RenewSessionResponse(session_token=token, session=session_message(session))

    async def EndSession(self, request: pb.EndSessionRequest, call: Call) -> pb.EndSessionResponse:
        with _refusing():
            await self._do.end_session.run(request.session_token)
        return pb.EndSessionResponse()

    async def GetSession(self, request: pb.GetSessionRequest, call: Call) -> pb.GetSessionResponse:
        with _refusing():
            session = await self._do.sessions.require(request.session_token)
        return pb.GetSessionResponse(session=session_message(session))

    async def CreateTable(self, request: pb.CreateTableRequest, call: Call) -> pb.CreateTableResponse:
        with _refusing():
            created = await self._do.create_table.run(request)
        return pb.CreateTableResponse(table=table_message(created.table), seat_secret=created.seat_secret)

    async def DescribeTable(self, request: pb.DescribeTableRequest, call: Call) -> pb.DescribeTableResponse:
        with _refusing():
            table, own_seat = await self._do.describe_table.run(request.session_token, request.table_id)
        return pb.DescribeTableResponse(table=table_message(table), own_seat=own_seat)

    async def ListTables(self, request: pb.ListTablesRequest, call: Call) -> pb.ListTablesResponse:
        with _refusing():
            found, token = await self._do.list_tables.run(
                request.session_token, request.edition, request.page_size, request.page_token
            )
        return pb.ListTablesResponse(tables=[table_message(table) for table in found], next_page_token=token)

    async def ListMyTables(self, request: pb.ListMyTablesRequest, call: Call) -> pb.ListMyTablesResponse:
        with _refusing():
            found, token = await self._do.list_my_tables.run(
                request.session_token, request.page_size, request.page_token
            )
        return pb.ListMyTablesResponse(tables=[table_message(table) for table in found], next_page_token=token)

    async def JoinTable(self, request: pb.JoinTableRequest, call: Call) -> pb.JoinTableResponse:
        with _refusing():
            joined = await self._do.join_table.run(request.session_token, request.table_id, request.nonce)
        return pb.JoinTableResponse(table=table_message(joined.table), seat=joined.seat, seat_secret=joined.seat_secret)

    async def LeaveTable(self, request: pb.LeaveTableRequest, call: Call) -> pb.LeaveTableResponse:
        with _refusing():
            table = await self._do.leave_table.run(request.session_token, request.table_id)
        return pb.LeaveTableResponse(table=table_message(table))

    async def ReclaimSeat(self, request: pb.ReclaimSeatRequest, call: Call) -> pb.ReclaimSeatResponse:
        with _refusing():
            table, secret = await self._do.reclaim_seat.run(
                request.session_token, request.table_id, request.seat, request.seat_secret
            )
        return pb.ReclaimSeatResponse(table=table_message(table), seat_secret=secret)

    async def AddBots(self, request: pb.AddBotsRequest, call: Call) -> pb.AddBotsResponse:
        with _refusing():
            table = await self._do.add_bots.run(request.session_token, request.table_id, request.count, request.level)
        return pb.AddBotsResponse(table=table_message(table))

    async def StartGame(self, request: pb.StartGameRequest, call: Call) -> pb.StartGameResponse:
        with _refusing():
            table, seq = await self._do.start_game.run(request.session_token, request.table_id)
        return pb.StartGameResponse(table=table_message(table), seq=seq)

    async def PauseTable(self, request: pb.PauseTableRequest, call: Call) -> pb.PauseTableResponse:
        with _refusing():
            table = await self._do.pause_table.pause(request.session_token, request.table_id)
        return pb.PauseTableResponse(table=table_message(table))

    async def ResumeTable(self, request: pb.ResumeTableRequest, call: Call) -> pb.ResumeTableResponse:
        with _refusing():
            table = await self._do.pause_table.resume(request.session_token, request.table_id)
        return pb.ResumeTableResponse(table=table_message(table))

    async def Submit(self, request: pb.SubmitRequest, call: Call) -> pb.SubmitResponse:
        return await self._submit(request)

    def SubmitStream(
        self, requests: AsyncIterator[pb.SubmitStreamRequest], call: Call
    ) -> AsyncIterator[pb.SubmitStreamResponse]:
        return serve_batches(
            requests, items=SUBMITS.asked, handle=self._submit_one, wrap=SUBMITS.answer, max_in_flight=_MAX_IN_FLIGHT
        )

    async def ExpireDeadline(self, request: pb.ExpireDeadlineRequest, call: Call) -> pb.ExpireDeadlineResponse:
        return await self._expire(request)

    def ExpireStream(
        self, requests: AsyncIterator[pb.ExpireStreamRequest], call: Call
    ) -> AsyncIterator[pb.ExpireStreamResponse]:
        return serve_batches(
            requests, items=EXPIRIES.asked, handle=self._expire_one, wrap=EXPIRIES.answer, max_in_flight=_MAX_IN_FLIGHT
        )

    async def ReadUpdates(self, request: pb.ReadUpdatesRequest, call: Call) -> pb.ReadUpdatesResponse:
        with _refusing():
            page = await self._do.read_updates.run(
                request.session_token, request.table_id, request.after_seq, request.page_size
            )
        return pb.ReadUpdatesResponse(
            updates=page.updates,
            last_seq=page.last_seq,
            history_id=page.history_id,
            lobby_version=page.lobby_version,
        )

    async def GetSnapshot(self, request: pb.GetSnapshotRequest, call: Call) -> pb.GetSnapshotResponse:
        with _refusing():
            snapshot, table = await self._do.get_snapshot.run(request.session_token, request.table_id)
        return pb.GetSnapshotResponse(snapshot=snapshot, table=table_message(table))

    async def ExportTable(self, request: pb.ExportTableRequest, call: Call) -> AsyncIterator[pb.ExportTableResponse]:
        with _refusing():
            async for text in self._do.export_table.run(request.session_token, request.table_id):
                for start in range(0, len(text), _PIECE_BYTES):
                    yield pb.ExportTableResponse(piece=text[start : start + _PIECE_BYTES])

    async def TouchPresence(self, request: pb.TouchPresenceRequest, call: Call) -> pb.TouchPresenceResponse:
        seen = [(watched.table_id, session) for watched in request.watched for session in watched.session_ids]
        await self._do.touch_presence.run(seen)
        return pb.TouchPresenceResponse()

    async def ListDeadlines(self, request: pb.ListDeadlinesRequest, call: Call) -> pb.ListDeadlinesResponse:
        with _refusing():
            found, token = await self._do.list_deadlines.run(request.shards, request.page_size, request.page_token)
        return pb.ListDeadlinesResponse(tables=found, next_page_token=token)

    async def ListBotTurns(self, request: pb.ListBotTurnsRequest, call: Call) -> pb.ListBotTurnsResponse:
        with _refusing():
            found, token = await self._do.list_bot_turns.run(request.shards, request.page_size, request.page_token)
        return pb.ListBotTurnsResponse(turns=found, next_page_token=token)

    async def Probe(self, request: pb.ProbeRequest, call: Call) -> pb.ProbeResponse:
        return await self._probe(request)

    async def _submit_one(self, asked: pb.SubmitRequest | pb.ProbeRequest) -> pb.SubmitResponse | pb.ProbeResponse:
        validate(asked)
        return await (self._probe(asked) if isinstance(asked, pb.ProbeRequest) else self._submit(asked))

    async def _expire_one(self, request: pb.ExpireDeadlineRequest) -> pb.ExpireDeadlineResponse:
        validate(request)
        return await self._expire(request)

    async def _probe(self, request: pb.ProbeRequest) -> pb.ProbeResponse:
        await self._do.probe.run(request.probe_id, request.shard if request.HasField("shard") else None)
        return pb.ProbeResponse()

    async def _expire(self, request: pb.ExpireDeadlineRequest) -> pb.ExpireDeadlineResponse:
        done = await self._do.expire_deadline.run(request.table_id, request.deadline_id)
        return pb.ExpireDeadlineResponse(last_seq=done.last_seq)

    async def _submit(self, request: pb.SubmitRequest) -> pb.SubmitResponse:
        done = await self._do.submit.run(request.session_token, request.table_id, request.command)
        return pb.SubmitResponse(first_seq=done.first_seq, last_seq=done.last_seq, repeated=done.repeated)


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except RefusalError as refused:
        raise from_refused(refused) from None
