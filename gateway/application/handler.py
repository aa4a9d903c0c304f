"""The calls of GatewayService. The table service decides; here the caller is let in, and streams are kept."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar

from google.protobuf.message import Message
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.application import refusals
from gateway.application.callers import Caller, Callers, check_version
from gateway.application.cutting import cutter
from gateway.application.exports import Exports
from gateway.application.frames import opened_frame
from gateway.application.hub import Hub, Wish
from gateway.application.play_time import PlayTimes
from gateway.application.ports import Catalogue, SubmitCall, TableCalls
from gateway.application.probes import Probes
from gateway.application.translation import translate
from gateway.domain.contract_version import CONTRACT_VERSION, OLDEST_CONTRACT_VERSION
from services.kit.admission import Admission
from services.kit.calls import Call
from services.kit.errors import ServiceError

Answer = TypeVar("Answer", bound=Message)
# The calls that the clients of a table never make, whatever their contract allows.
_SYSTEM_COMMANDS = ("expire", "withdraw")


class GatewayHandler:
    """GatewayService. Methods carry the names of their RPCs; every failure is a ServiceError of the closed list."""

    def __init__(
        self,
        *,
        table: TableCalls,
        submit: SubmitCall,
        catalogue: Catalogue,
        hub: Hub,
        exports: Exports,
        probes: Probes,
        play_times: PlayTimes,
        callers: Callers,
        admission: Admission,
        now_s: Callable[[], float] = time.monotonic,
        on_command: Callable[[str], None] = lambda outcome: None,
    ) -> None:
        self._table = table
        self._submit = submit
        self._catalogue = catalogue
        self._hub = hub
        self._exports = exports
        self._probes = probes
        self._play_times = play_times
        self._callers = callers
        self._admission = admission
        self._now_s = now_s
        self._on_command = on_command

    # ---- the server -------------------------------------------------------------------------------------------

    async def GetServerInfo(self, request: pb.GetServerInfoRequest, call: Call) -> pb.GetServerInfoResponse:
        self._callers.admit_anybody(call)
        return pb.GetServerInfoResponse(
            contract_version=CONTRACT_VERSION,
            oldest_contract_version=OLDEST_CONTRACT_VERSION,
            editions=await _asked(self._catalogue.editions()),
            heartbeat_ms=self._hub.limits.heartbeat_ms,
            bot_levels=await _asked(self._catalogue.bot_levels()),
        )

    async def DescribeEdition(self, request: pb.DescribeEditionRequest, call: Call) -> pb.DescribeEditionResponse:
        self._callers.admit_anybody(call)
        edition = await _asked(self._catalogue.edition(request.edition, request.version))
        return pb.DescribeEditionResponse(edition=edition)

    async def SyncTime(self, request: pb.SyncTimeRequest, call: Call) -> pb.SyncTimeResponse:
        caller = self._callers.admit(call)
        shard = await self._shard_of(request.table_id, caller) if request.table_id else 0
        await self._play_times.settle(shard)
        reading = self._play_times.at(shard)
        if reading is None:
            raise refusals.unreachable("the clock has not been heard yet")
        return pb.SyncTimeResponse(
            play_time_ms=reading.play_time_ms,
            running=reading.running,
            given_back_ms=reading.given_back_ms,
            unix_ms=int(time.time() * 1000),
            standstill=reading.standstill,
            maintenance=reading.maintenance,
        )

    async def Probe(self, request: pb.ProbeRequest, call: Call) -> pb.ProbeResponse:
        check_version(call)
        await _asked(self._probes.run(request, timeout_ms=call.time_left_ms()))
        return pb.ProbeResponse()

    # ---- sessions ---------------------------------------------------------------------------------------------

    async def CreateSession(self, request: pb.CreateSessionRequest, call: Call) -> pb.CreateSessionResponse:
        caller = self._callers.admit_anybody(call)
        wanted = translate(request, table_pb.CreateSessionRequest, address=caller.address)
        return translate(await self._ask("CreateSession", wanted, call), pb.CreateSessionResponse)

    async def RenewSession(self, request: pb.RenewSessionRequest, call: Call) -> pb.RenewSessionResponse:
        answer = await self._pass_on(request, table_pb.RenewSessionRequest, pb.RenewSessionResponse, call)
        self._hub.renew_session(answer.session, answer.session_token)
        return answer

    async def EndSession(self, request: pb.EndSessionRequest, call: Call) -> pb.EndSessionResponse:
        session = await self._session_of(self._callers.admit(call))
        answer = await self._pass_on(request, table_pb.EndSessionRequest, pb.EndSessionResponse, call)
        self._hub.end_session(session.session_id)
        return answer

    # ---- lobby ------------------------------------------------------------------------------------------------

    async def CreateTable(self, request: pb.CreateTableRequest, call: Call) -> pb.CreateTableResponse:
        return await self._pass_on(request, table_pb.CreateTableRequest, pb.CreateTableResponse, call)

    async def DescribeTable(self, request: pb.DescribeTableRequest, call: Call) -> pb.DescribeTableResponse:
        return await self._pass_on(request, table_pb.DescribeTableRequest, pb.DescribeTableResponse, call)

    async def ListTables(self, request: pb.ListTablesRequest, call: Call) -> pb.ListTablesResponse:
        return await self._pass_on(request, table_pb.ListTablesRequest, pb.ListTablesResponse, call)

    async def ListMyTables(self, request: pb.ListMyTablesRequest, call: Call) -> pb.ListMyTablesResponse:
        return await self._pass_on(request, table_pb.ListMyTablesRequest, pb.ListMyTablesResponse, call)

    async def JoinTable(self, request: pb.JoinTableRequest, call: Call) -> pb.JoinTableResponse:
        return await self._pass_on(request, table_pb.JoinTableRequest, pb.JoinTableResponse, call)

    async def LeaveTable(self, request: pb.LeaveTableRequest, call: Call) -> pb.LeaveTableResponse:
        return await self._pass_on(request, table_pb.LeaveTableRequest, pb.LeaveTableResponse, call)

    async def ReclaimSeat(self, request: pb.ReclaimSeatRequest, call: Call) -> pb.ReclaimSeatResponse:
        return await self._pass_on(request, table_pb.ReclaimSeatRequest, pb.ReclaimSeatResponse, call)

    async def AddBots(self, request: pb.AddBotsRequest, call: Call) -> pb.AddBotsResponse:
        levels = await _asked(self._catalogue.bot_levels()) if request.level else []
        if levels and request.level not in levels:
            raise refusals.bad_choice("level", f"there is no such level of bots; one of {', '.join(levels)}")
        return await self._pass_on(request, table_pb.AddBotsRequest, pb.AddBotsResponse, call)

    async def StartGame(self, request: pb.StartGameRequest, call: Call) -> pb.StartGameResponse:
        return await self._pass_on(request, table_pb.StartGameRequest, pb.StartGameResponse, call)

    async def PauseTable(self, request: pb.PauseTableRequest, call: Call) -> pb.PauseTableResponse:
        return await self._pass_on(request, table_pb.PauseTableRequest, pb.PauseTableResponse, call)

    async def ResumeTable(self, request: pb.ResumeTableRequest, call: Call) -> pb.ResumeTableResponse:
        return await self._pass_on(request, table_pb.ResumeTableRequest, pb.ResumeTableResponse, call)

    # ---- play -------------------------------------------------------------------------------------------------

    async def Submit(self, request: pb.SubmitRequest, call: Call) -> pb.SubmitResponse:
        caller = self._callers.admit(call)
        command = request.command
        if command.WhichOneof("action") in _SYSTEM_COMMANDS:
            raise refusals.not_allowed("only the clock and the table service do this")
        wanted = table_pb.SubmitRequest(session_token=caller.token, table_id=request.table_id, command=command)
        began_s = self._now_s()
        wait_ms = self._admission.enter(began_s)
        if wait_ms:
            self._on_command("overloaded")
            raise refusals.overloaded("the site has too much to do just now", wait_ms)
        failure: ServiceError | None = None
        try:
            done = await self._submit(wanted)
        except ServiceError as error:
            failure = refusals.for_client(error)
            self._on_command(failure.reason)
            raise failure from None
        finally:
            now_s = self._now_s()
            self._admission.leave(now_s, now_s - began_s, failure)
        self._on_command("done")
        return pb.SubmitResponse(first_seq=done.first_seq, last_seq=done.last_seq, repeated=done.repeated)

    async def ExportTable(self, request: pb.ExportTableRequest, call: Call) -> AsyncIterator[bytes]:
        caller = self._callers.admit(call)
        session_id = (await self._session_of(caller)).session_id
        wanted = table_pb.ExportTableRequest(session_token=caller.token, table_id=request.table_id)
        try:
            with self._exports.counted(session_id):
                # The piece is the only field of both answers, under one number: its bytes need not be looked at.
                async with (
                    self._table.ExportTable(wanted, raw=True) as pieces,
                    aclosing(self._exports.paced(pieces, call)) as paced,
                ):
                    async for piece in paced:
                        yield piece
        except ServiceError as error:
            raise refusals.for_client(error) from None

    # ---- watching ---------------------------------------------------------------------------------------------

    async def Watch(self, request: pb.WatchRequest, call: Call) -> AsyncIterator[bytes]:
        caller = self._callers.admit(call)
        session = await self._session_of(caller)
        watch = self._hub.open(session=session, token=caller.token, wishes=_wishes(request.targets))
        watch.cut = cutter(call)
        try:
            yield opened_frame(
                watch.watch_id, contract_version=CONTRACT_VERSION, heartbeat_ms=self._hub.limits.heartbeat_ms
            ).data
            while (data := await watch.next()) is not None:
                yield data
        finally:
            self._hub.close(watch)

    async def ChangeWatch(self, request: pb.ChangeWatchRequest, call: Call) -> pb.ChangeWatchResponse:
        caller = self._callers.admit(call)
        session = await self._session_of(caller)
        watch = self._hub.watches.get(request.watch_id)
        if watch is None or watch.over or watch.session_id != session.session_id:
            raise refusals.no_watch()
        watch.token = caller.token
        self._hub.change(watch, add=_wishes(request.add), remove=list(request.remove))
        return pb.ChangeWatchResponse()

    # ---- helpers ----------------------------------------------------------------------------------------------

    async def _pass_on(self, request: Message, wanted: type[Message], answer: type[Answer], call: Call) -> Answer:
        """Asks the table service the same thing in the caller's name."""
        caller = self._callers.admit(call)
        name = type(request).__name__.removesuffix("Request")
        return translate(await self._ask(name, translate(request, wanted, session_token=caller.token), call), answer)

    async def _ask(self, name: str, request: Message, call: Call) -> Message:
        ask: Callable[..., Awaitable[Message]] = getattr(self._table, name)
        left_ms = call.time_left_ms()
        return await _asked(ask(request) if left_ms is None else ask(request, timeout_ms=max(1, left_ms)))

    async def _session_of(self, caller: Caller) -> table_pb2.Session:
        answer = await _asked(self._table.GetSession(table_pb.GetSessionRequest(session_token=caller.token)))
        return answer.session

    async def _shard_of(self, table_id: str, caller: Caller) -> int:
        feed = self._hub.feeds.get(table_id)
        if feed is not None and feed.table is not None:
            return feed.table.shard
        wanted = table_pb.DescribeTableRequest(session_token=caller.token, table_id=table_id)
        answer: Any = await _asked(self._table.DescribeTable(wanted))
        return int(answer.table.shard)


Result = TypeVar("Result")


async def _asked(asking: Awaitable[Result]) -> Result:
    """The answer of another service; its failure in words for clients."""
    try:
        return await asking
    except ServiceError as error:
        raise refusals.for_client(error) from None


def _wishes(targets: Sequence[pb.WatchTarget]) -> list[Wish]:
    return [
        Wish(target.table_id, target.after_seq if target.HasField("after_seq") else None, target.history_id)
        for target in targets
    ]
