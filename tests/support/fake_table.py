"""A table service in memory, for tests of what stands before it: real messages, no rules.

Every command makes one to three money events. What it publishes can be lost, late or repeated at will.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import grpc
from magnate.game.v1 import command_pb2, decision_pb2, event_pb2, update_pb2, view_pb2
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.batches import serve_batches
from services.kit.calls import Call
from services.kit.errors import ServiceError
from services.kit.streams import EventStream
from services.kit.validation import validate
from services.table.adapters.handler import SUBMITS

NOT_FOUND = grpc.StatusCode.NOT_FOUND
PRECONDITION = grpc.StatusCode.FAILED_PRECONDITION
DENIED = grpc.StatusCode.PERMISSION_DENIED


@dataclass
class Held:
    """One table with its log."""

    table: table_pb2.Table
    updates: list[bytes] = field(default_factory=list)
    seqs: list[tuple[int, int]] = field(default_factory=list)
    done: dict[str, pb.SubmitResponse] = field(default_factory=dict)

    @property
    def last_seq(self) -> int:
        """Number of the last event."""
        return self.seqs[-1][1] if self.seqs else 0


class FakeTable:
    """TableService. `lose` takes what would be published and says whether to drop it; `touched` is presence as told."""

    def __init__(self, stream: EventStream) -> None:
        self._stream = stream
        self.sessions: dict[str, table_pb2.Session] = {}
        self.tables: dict[str, Held] = {}
        self.touched: list[dict[str, list[str]]] = []
        self.calls: list[str] = []
        self.losing = False
        self.repeating = False
        self.unreachable = False
        self.break_next_answer = False
        self.knows_streamed_probes = True
        self.pause_s = 0.0
        # Cleared, it holds back the answers about the log, which say what stood in it when they were asked for.
        self.reads_leave = asyncio.Event()
        self.reads_leave.set()
        self.padding = 0
        self.play_time_ms = 1_000
        self.addresses: list[str] = []
        self.expires_at_unix_ms = 4_000_000_000_000
        self.history_id = "0123456789abcdef"

    # ---- sessions

    async def CreateSession(self, request: pb.CreateSessionRequest, call: Call) -> pb.CreateSessionResponse:
        number = len(self.sessions) + 1
        session = table_pb2.Session(
            session_id=f"s{number}", name=request.name, expires_at_unix_ms=self.expires_at_unix_ms
        )
        self.sessions[f"token-{number}"] = session
        self.addresses.append(request.address)
        return pb.CreateSessionResponse(session_token=f"token-{number}", session=session)

    async def RenewSession(self, request: pb.RenewSessionRequest, call: Call) -> pb.RenewSessionResponse:
        session = self.session(request.session_token)
        token = f"token-{len(self.sessions) + 1}"
        self.sessions[token] = session
        self.sessions[request.session_token] = table_pb2.Session()
        return pb.RenewSessionResponse(session_token=token, session=session)

    async def EndSession(self, request: pb.EndSessionRequest, call: Call) -> pb.EndSessionResponse:
        self.session(request.session_token)
        self.sessions[request.session_token] = table_pb2.Session()
        return pb.EndSessionResponse()

    async def GetSession(self, request: pb.GetSessionRequest, call: Call) -> pb.GetSessionResponse:
        self._answering()
        return pb.GetSessionResponse(session=self.session(request.session_token))

    def session(self, token: str) -> table_pb2.Session:
        """The session of a token in force."""
        session = self.sessions.get(token)
        if session is None or not session.session_id:
            raise ServiceError(grpc.StatusCode.UNAUTHENTICATED, "no_session", "no such session")
        return session

    # ---- lobby

    async def CreateTable(self, request: pb.CreateTableRequest, call: Call) -> pb.CreateTableResponse:
        session = self.session(request.session_token)
        number = len(self.tables) + 1
        table = table_pb2.Table(
            table_id=f"table{number}",
            shard=number % 64,
            status=table_pb2.TABLE_STATUS_LOBBY,
            settings=request.settings,
            host_session_id=session.session_id,
            lobby_version=1,
            history_id=self.history_id,
        )
        table.seats.add(seat=0, session_id=session.session_id, name=session.name)
        self.tables[table.table_id] = Held(table)
        return pb.CreateTableResponse(table=_copy(table), seat_secret="secret-of-seat-0")

    async def DescribeTable(self, request: pb.DescribeTableRequest, call: Call) -> pb.DescribeTableResponse:
        self._answering()
        self.calls.append("DescribeTable")
        held = self.held(request.table_id)
        answer = pb.DescribeTableResponse(table=_copy(held.table))
        own = self.sessions.get(request.session_token)
        for seat in held.table.seats:
            if own is not None and seat.session_id == own.session_id:
                answer.own_seat = seat.seat
        return answer

    async def ListTables(self, request: pb.ListTablesRequest, call: Call) -> pb.ListTablesResponse:
        self.session(request.session_token)
        return pb.ListTablesResponse(tables=[_copy(held.table) for held in self.tables.values()], next_page_token="n")

    async def ListMyTables(self, request: pb.ListMyTablesRequest, call: Call) -> pb.ListMyTablesResponse:
        self.session(request.session_token)
        return pb.ListMyTablesResponse()

    async def JoinTable(self, request: pb.JoinTableRequest, call: Call) -> pb.JoinTableResponse:
        session, held = self.session(request.session_token), self.held(request.table_id)
        seat = len(held.table.seats)
        if seat >= held.table.settings.seats:
            raise ServiceError(PRECONDITION, "table_full", "no free seat")
        held.table.seats.add(seat=seat, session_id=session.session_id, name=session.name)
        await self.publish_table(held)
        return pb.JoinTableResponse(table=_copy(held.table), seat=seat, seat_secret=f"secret-of-seat-{seat}")

    async def LeaveTable(self, request: pb.LeaveTableRequest, call: Call) -> pb.LeaveTableResponse:
        session, held = self.session(request.session_token), self.held(request.table_id)
        kept = [seat for seat in held.table.seats if seat.session_id != session.session_id]
        if len(kept) == len(held.table.seats):
            raise ServiceError(DENIED, "not_your_seat", "you hold no seat here")
        del held.table.seats[:]
        held.table.seats.extend(kept)
        await self.publish_table(held)
        return pb.LeaveTableResponse(table=_copy(held.table))

    async def ReclaimSeat(self, request: pb.ReclaimSeatRequest, call: Call) -> pb.ReclaimSeatResponse:
        session, held = self.session(request.session_token), self.held(request.table_id)
        if request.seat_secret != f"secret-of-seat-{request.seat}":
            raise ServiceError(DENIED, "wrong_secret", "the secret is wrong")
        held.table.seats[request.seat].session_id = session.session_id
        await self.publish_table(held)
        return pb.ReclaimSeatResponse(table=_copy(held.table), seat_secret="new-secret")

    async def AddBots(self, request: pb.AddBotsRequest, call: Call) -> pb.AddBotsResponse:
        self.session(request.session_token)
        held = self.held(request.table_id)
        for _ in range(request.count):
            held.table.seats.add(seat=len(held.table.seats), kind=event_pb2.SEAT_KIND_BOT, bot_level="steady")
        await self.publish_table(held)
        return pb.AddBotsResponse(table=_copy(held.table))

    async def StartGame(self, request: pb.StartGameRequest, call: Call) -> pb.StartGameResponse:
        session, held = self.session(request.session_token), self.held(request.table_id)
        if held.table.host_session_id != session.session_id:
            raise ServiceError(DENIED, "not_host", "only the host starts")
        held.table.status = table_pb2.TABLE_STATUS_RUNNING
        await self.commit(held, None)
        await self.publish_table(held)
        return pb.StartGameResponse(table=_copy(held.table), seq=held.last_seq)

    # ---- play

    async def Submit(self, request: pb.SubmitRequest, call: Call) -> pb.SubmitResponse:
        self._answering()
        await asyncio.sleep(self.pause_s)
        session, held = self.session(request.session_token), self.held(request.table_id)
        if not any(
            seat.session_id == session.session_id and seat.seat == request.command.seat for seat in held.table.seats
        ):
            raise ServiceError(DENIED, "not_your_seat", "that is not your seat", {"seat": str(request.command.seat)})
        known = held.done.get(request.command.command_id)
        if known is not None:
            return pb.SubmitResponse(first_seq=known.first_seq, last_seq=known.last_seq, repeated=True)
        done = await self.commit(held, request.command)
        held.done[request.command.command_id] = done
        return done

    def SubmitStream(
        self, requests: AsyncIterator[pb.SubmitStreamRequest], call: Call
    ) -> AsyncIterator[pb.SubmitStreamResponse]:
        self.calls.append("SubmitStream")

        async def handle(item: pb.SubmitRequest | pb.ProbeRequest) -> pb.SubmitResponse | pb.ProbeResponse:
            if isinstance(item, pb.ProbeRequest):
                if self.knows_streamed_probes:
                    return await self._probe(item)
                item = pb.SubmitRequest()
            validate(item)
            return await self.Submit(item, call)

        async def answers() -> AsyncIterator[pb.SubmitStreamResponse]:
            async for answer in serve_batches(requests, items=SUBMITS.asked, handle=handle, wrap=SUBMITS.answer):
                if self.break_next_answer:
                    self.break_next_answer = False
                    raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "the stream broke")
                yield answer

        return answers()

    async def commit(self, held: Held, command: command_pb2.Command | None) -> pb.SubmitResponse:
        """Appends the update of one command, and publishes it."""
        first = held.last_seq + 1
        last = first + len(held.seqs) % 3
        self.play_time_ms += 7
        update = update_pb2.Update(
            table_id=held.table.table_id,
            first_seq=first,
            last_seq=last,
            play_time_ms=self.play_time_ms,
            command=command,
            decision=decision_pb2.Decision(decision_id=len(held.seqs) + 1),
            state_hash=b"h" * 32 + b"x" * self.padding,
            state_hash_version=1,
        )
        for seq in range(first, last + 1):
            update.events.add(seq=seq)
        data = update.SerializeToString()
        held.updates.append(data)
        held.seqs.append((first, last))
        held.table.last_seq = last
        message = table_pb2.StreamMessage(update=data, history_id=self.history_id).SerializeToString()
        await self._publish(held.table.shard, held.table.table_id, last, message)
        return pb.SubmitResponse(first_seq=first, last_seq=last)

    async def ReadUpdates(self, request: pb.ReadUpdatesRequest, call: Call) -> pb.ReadUpdatesResponse:
        self._answering()
        self.calls.append("ReadUpdates")
        held = self.held(request.table_id)
        self._may_see(held, request.session_token)
        await asyncio.sleep(0)
        if request.after_seq > held.last_seq:
            raise ServiceError(grpc.StatusCode.OUT_OF_RANGE, "seq_ahead", "ahead of the log")
        page = [data for data, (_, last) in zip(held.updates, held.seqs, strict=True) if last > request.after_seq]
        answer = pb.ReadUpdatesResponse(
            updates=page[: request.page_size or 100],
            last_seq=held.last_seq,
            history_id=self.history_id,
            lobby_version=held.table.lobby_version,
        )
        await self.reads_leave.wait()
        return answer

    async def GetSnapshot(self, request: pb.GetSnapshotRequest, call: Call) -> pb.GetSnapshotResponse:
        self._answering()
        held = self.held(request.table_id)
        self._may_see(held, request.session_token)
        if not held.seqs:
            raise ServiceError(PRECONDITION, "not_started", "not started yet")
        seq = held.last_seq
        snapshot = update_pb2.Snapshot(
            table_id=held.table.table_id, view=view_pb2.GameView(seq=seq), seq=seq, play_time_ms=self.play_time_ms
        )
        await asyncio.sleep(0)
        return pb.GetSnapshotResponse(snapshot=snapshot, table=_copy(held.table))

    async def ExportTable(self, request: pb.ExportTableRequest, call: Call) -> AsyncIterator[pb.ExportTableResponse]:
        held = self.held(request.table_id)
        for update in held.updates:
            yield pb.ExportTableResponse(piece=update)

    async def TouchPresence(self, request: pb.TouchPresenceRequest, call: Call) -> pb.TouchPresenceResponse:
        await asyncio.sleep(self.pause_s)
        self.touched.append({watched.table_id: list(watched.session_ids) for watched in request.watched})
        return pb.TouchPresenceResponse()

    async def Probe(self, request: pb.ProbeRequest, call: Call) -> pb.ProbeResponse:
        self.calls.append("Probe")
        return await self._probe(request)

    async def _probe(self, request: pb.ProbeRequest) -> pb.ProbeResponse:
        self._answering()
        await asyncio.sleep(self.pause_s)
        seen = table_pb2.StreamMessage(probe=table_pb2.ProbeSeen(probe_id=request.probe_id))
        await self._publish(0, "probe", 1, seen.SerializeToString())
        return pb.ProbeResponse()

    def __getattr__(self, name: str) -> object:
        if not name[0].isupper():
            raise AttributeError(name)

        async def refuse(request: object, call: Call) -> object:
            raise ServiceError(grpc.StatusCode.UNIMPLEMENTED, "UNIMPLEMENTED", name)

        return refuse

    # ---- for tests

    def held(self, table_id: str) -> Held:
        """A table by its id."""
        held = self.tables.get(table_id)
        if held is None:
            raise ServiceError(NOT_FOUND, "no_table", "no such table")
        return held

    async def publish_table(self, held: Held) -> None:
        """Tells of a change outside the game."""
        held.table.lobby_version += 1
        message = table_pb2.StreamMessage(table=held.table).SerializeToString()
        await self._publish(held.table.shard, held.table.table_id, held.table.lobby_version, message)

    def restore(self, commands: int) -> None:
        """Puts every table back to where it was after so many commands; another history begins."""
        self.history_id = self.history_id[1:] + self.history_id[0]
        for held in self.tables.values():
            del held.updates[commands:], held.seqs[commands:]
            held.done.clear()
            held.table.last_seq, held.table.history_id = held.last_seq, self.history_id

    async def publish_bytes(self, payload: bytes) -> None:
        """Anything, as if it had been committed."""
        await self._publish(0, "x", 1, payload)

    async def _publish(self, shard: int, key: str, seq: int, payload: bytes) -> None:
        if not self.losing:
            items = [(key, seq, payload)] * (2 if self.repeating else 1)
            await self._stream.publish(f"shard:{shard}", items)

    def _may_see(self, held: Held, token: str) -> None:
        if not token or held.table.settings.spectators:
            return
        session = self.session(token)
        if not any(seat.session_id == session.session_id for seat in held.table.seats):
            raise ServiceError(DENIED, "no_spectators", "no spectators here")

    def _answering(self) -> None:
        if self.unreachable:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unavailable", "connect failed: 10.1.2.3")


def _copy(table: table_pb2.Table) -> table_pb2.Table:
    copied = table_pb2.Table()
    copied.CopyFrom(table)
    return copied
