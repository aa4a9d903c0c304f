"""The handler of magnate.rules.v1.RulesService."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterable

from magnate.game.v1 import decision_pb2, event_pb2, update_pb2
from magnate.rules.v1 import rules_service_pb2 as pb

from services.kit.calls import Call, as_service_error
from services.kit.errors import ServiceError, to_status
from services.rules.adapters.log_check import check_log, read_log
from services.rules.application.judge import (
    BrokenInvariantError,
    BrokenStateError,
    Judge,
    Judged,
    NewTable,
    Stored,
    WrongStateError,
)
from services.rules.application.states import Known, StateName
from services.rules.codec import messages
from services.rules.codec.descriptions import edition_message, summary_message
from services.rules.codec.refusals import reason_error, refusal_error, refusal_message
from services.rules.codec.states import NoStateError, read_state, view_message, write_state
from services.rules.domain import digest
from services.rules.domain.events import SECRET_EVENTS, Event, GameEnded
from services.rules.domain.options import Option
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import Deadline, Decision, SeatSetup, State
from services.rules.editions.ports import Editions, OverrideError, UnknownEditionError

#: the longest time that one batch keeps the loop to itself, in commands
_BREATH = 32
_DIGEST_BYTES = 8
_MAX_ENTRIES = 100_000

_SEAT_SETUP = messages.TWINS[SeatSetup]
_DEADLINE = messages.TWINS[Deadline]
_GAME_ENDED = messages.TWINS[GameEnded]


class RulesHandler:
    """Answers the calls of the rules service from a judge and the editions that it knows."""

    def __init__(self, judge: Judge, editions: Editions) -> None:
        self._judge = judge
        self._editions = editions

    async def Describe(self, request: pb.DescribeRequest, call: Call) -> pb.DescribeResponse:
        """One edition in full, or a summary of each."""
        if not request.edition:
            return pb.DescribeResponse(editions=[summary_message(edition) for edition in self._editions.newest()])
        try:
            edition = self._editions.get(request.edition, request.version)
        except UnknownEditionError as error:
            raise reason_error("no_edition", str(error), edition=request.edition) from error
        return pb.DescribeResponse(editions=[edition_message(edition)])

    async def NewGame(self, request: pb.NewGameRequest, call: Call) -> pb.NewGameResponse:
        """The first update of a game, always with a snapshot."""
        try:
            judged = self._judge.begin(_new_table(request))
        except messages.CodecError as error:
            raise reason_error("malformed", str(error)) from error
        except UnknownEditionError as error:
            raise reason_error("no_edition", str(error), edition=request.edition) from error
        except OverrideError as error:
            raise reason_error("override_out_of_range", str(error), **error.fields) from error
        except BrokenInvariantError as error:
            raise _broken() from error
        if isinstance(judged, Refusal):
            raise refusal_error(judged)
        applied = _applied(request.table_id, judged, b"", request.play_time_ms, want_snapshot=True)
        self._judge.keep(request.table_id, judged, _digest(applied.update))
        return pb.NewGameResponse(applied=applied, version=judged.state.config.version)

    async def Apply(self, request: pb.ApplyRequest, call: Call) -> pb.ApplyResponse:
        """Decides one command."""
        return self._apply(request)

    async def ApplyStream(
        self, requests: AsyncIterator[pb.ApplyStreamRequest], call: Call
    ) -> AsyncIterator[pb.ApplyStreamResponse]:
        """Decides all commands of a message and answers them in one."""
        async for request in requests:
            response = pb.ApplyStreamResponse()
            for number, item in enumerate(request.items, 1):
                answer = response.items.add(call_id=item.call_id)
                try:
                    if item.HasField("probe"):
                        answer.probe.SetInParent()
                    else:
                        answer.response.CopyFrom(self._apply(item.request))
                except Exception as error:
                    answer.status = to_status(_failure(error, call)).SerializeToString()
                if number % _BREATH == 0:
                    await asyncio.sleep(0)
            yield response

    async def LegalActions(self, request: pb.LegalActionsRequest, call: Call) -> pb.LegalActionsResponse:
        """The open decision with all that may be answered."""
        known = self._find(request.state)
        if known is None:
            return pb.LegalActionsResponse(state_needed=True)
        return pb.LegalActionsResponse(decision=self._decision(known))

    async def View(self, request: pb.ViewRequest, call: Call) -> pb.ViewResponse:
        """The public snapshot of a state."""
        known = self._find(request.state)
        if known is None:
            return pb.ViewResponse(state_needed=True)
        snapshot = update_pb2.Snapshot(
            table_id=request.state.table_id,
            view=view_message(known.state),
            decision=self._decision(known),
            state_hash=known.state_hash,
            state_hash_version=digest.STATE_HASH_VERSION,
            seq=known.state.seq,
        )
        return pb.ViewResponse(snapshot=snapshot)

    async def Replay(self, request: pb.ReplayRequest, call: Call) -> pb.ReplayResponse:
        """Decides a log anew; what it takes runs beside the loop."""
        try:
            log = read_log(request.entries)
        except messages.CodecError as error:
            raise reason_error("unknown_content", str(error)) from error
        response, _ = await asyncio.to_thread(check_log, self._editions, request.entries, log)
        return response

    async def ReplayStream(
        self, requests: AsyncIterator[pb.ReplayStreamRequest], call: Call
    ) -> pb.ReplayStreamResponse:
        """As Replay, of all pieces together."""
        entries: list[pb.LogEntry] = []
        async for piece in requests:
            entries.extend(piece.entries)
            if len(entries) > _MAX_ENTRIES:
                raise reason_error("malformed", f"a log of more than {_MAX_ENTRIES} commands", field="entries")
        try:
            log = read_log(entries)
        except messages.CodecError as error:
            raise reason_error("unknown_content", str(error)) from error
        result, state = await asyncio.to_thread(check_log, self._editions, entries, log)
        return pb.ReplayStreamResponse(result=result, snapshot=write_state(state) if result.same else b"")

    async def Probe(self, request: pb.ProbeRequest, call: Call) -> pb.ProbeResponse:
        """Answers at once."""
        return pb.ProbeResponse()

    def _apply(self, request: pb.ApplyRequest) -> pb.ApplyResponse:
        if not request.HasField("state") or not request.state.table_id:
            raise reason_error("malformed", "a command needs the state that it is for", field="state")
        try:
            command = messages.read_command(request.command)
        except messages.CodecError as error:
            refusal = Refusal("malformed", "", "", str(error), {})
            return pb.ApplyResponse(refusal=refusal_message(refusal))
        try:
            judged = self._judge.apply(
                _state_name(request.state), lambda: _stored(request.state), command, request.play_time_ms
            )
        except BrokenInvariantError as error:
            raise _broken() from error
        except (WrongStateError, UnknownEditionError) as error:
            raise _unknown_content(error) from error
        if judged is None:
            return pb.ApplyResponse(state_needed=pb.StateNeeded())
        if isinstance(judged, Refusal):
            return pb.ApplyResponse(refusal=refusal_message(judged))
        written = messages.write_command(command, request.command.command_id)
        applied = _applied(
            request.state.table_id, judged, written, request.play_time_ms, want_snapshot=request.want_snapshot
        )
        self._judge.keep(request.state.table_id, judged, _digest(applied.update))
        return pb.ApplyResponse(applied=applied)

    def _find(self, source: pb.StateSource) -> Known | None:
        try:
            return self._judge.find(_state_name(source), lambda: _stored(source))
        except (WrongStateError, UnknownEditionError) as error:
            raise _unknown_content(error) from error

    def _decision(self, known: Known) -> decision_pb2.Decision | None:
        decision: Decision | None = known.state.decision
        if decision is None:
            return None
        return decision_pb2.Decision.FromString(messages.write_decision(decision, self._judge.options(known)))


def _new_table(request: pb.NewGameRequest) -> NewTable:
    return NewTable(
        table_id=request.table_id,
        edition=request.edition,
        version=request.version,
        overrides=tuple((item.parameter, item.value) for item in request.overrides),
        seats=tuple(_SEAT_SETUP.read(seat) for seat in request.seats),
        server_seed=request.server_seed,
        grace_ms=request.grace_ms,
        play_time_ms=request.play_time_ms,
    )


def _state_name(source: pb.StateSource) -> StateName:
    return StateName(source.table_id, source.seq, source.state_hash, source.update_digest)


def _digest(update: bytes) -> bytes:
    """See StateSource.update_digest."""
    return hashlib.sha256(update).digest()[:_DIGEST_BYTES]


def _stored(source: pb.StateSource) -> Stored | None:
    if not source.snapshot:
        return None
    try:
        return Stored(read_state(source.snapshot), messages.read_events(source.tail))
    except NoStateError as error:
        raise BrokenStateError(str(error)) from error
    except messages.CodecError as error:
        raise WrongStateError(str(error)) from error


def _applied(table_id: str, judged: Judged, command: bytes, play_time_ms: int, *, want_snapshot: bool) -> pb.Applied:
    state, decision = judged.state, judged.state.decision
    update = messages.write_update(
        table_id=table_id,
        first_seq=judged.first_seq,
        play_time_ms=play_time_ms,
        command=command,
        events=judged.events,
        options=judged.options,
        state=state,
        state_hash=judged.state_hash,
        hash_version=digest.STATE_HASH_VERSION,
    )
    return pb.Applied(
        update=update,
        secrets=_secrets(judged.first_seq, judged.events),
        seq=state.seq,
        state_hash=judged.state_hash,
        snapshot=write_state(state) if want_snapshot else b"",
        asked=_asked(state, judged.options),
        decision_id=decision.id if decision is not None else 0,
        deadlines=[_DEADLINE.to_message(deadline) for deadline in state.deadlines],
        ended=_ended(judged.events) if state.ended else None,
    )


def _asked(state: State, options: Iterable[Option]) -> list[int]:
    """Seats that the decision asks, and owners whose rent lapses unless they claim it (TAB-RENT-11)."""
    seats = list(state.decision.seats) if state.decision is not None else []
    if state.rent_claims:
        claimants = [option.seat for option in options if option.kind == "claim_rent"]
        seats += [seat for seat in dict.fromkeys(claimants) if seat not in seats]
    return seats


def _secrets(first_seq: int, events: Iterable[Event]) -> list[event_pb2.Event]:
    return [
        event_pb2.Event.FromString(messages.write_event(seq, event))
        for seq, event in enumerate(events, first_seq)
        if isinstance(event, SECRET_EVENTS)
    ]


def _ended(events: Iterable[Event]) -> event_pb2.GameEnded | None:
    for event in events:
        if isinstance(event, GameEnded):
            message: event_pb2.GameEnded = _GAME_ENDED.to_message(event)
            return message
    return None


def _failure(error: Exception, call: Call) -> ServiceError:
    failure = as_service_error(error, call.method)
    if failure is None:
        raise error
    return failure


def _broken() -> ServiceError:
    return reason_error("internal", "the rules are at fault; the command was not done", fault="invariant")


def _unknown_content(error: Exception) -> ServiceError:
    if isinstance(error, BrokenStateError):
        return reason_error("unknown_content", str(error), fault="state")
    return reason_error("unknown_content", str(error))
