"""The handler of magnate.admin.v1.AdminService: every call leaves an entry in the audit log, and a line in the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from magnate.admin.v1 import admin_service_pb2 as pb

from services.kit.calls import Call, Method
from services.kit.errors import ServiceError
from services.kit.logs import get_log
from services.table.application import page_tokens
from services.table.application.audit import DONE, NOTHING, AuditEntry
from services.table.application.delete_player import DeletePlayer
from services.table.application.errors import from_refused
from services.table.application.inspect_table import Inspected, InspectTable
from services.table.application.messages import table_message
from services.table.application.ports import Chance, Store, Wall
from services.table.application.stop_table import StopTable
from services.table.application.withdraw_seat import WithdrawSeat
from services.table.domain.refusals import RefusalError
from services.table.domain.shards import shard_of

T = TypeVar("T")

_log = get_log(__name__)
_DEFAULT_PAGE = 50
_ACTIONS = {
    "InspectTable": pb.AUDIT_ACTION_INSPECT_TABLE,
    "StopTable": pb.AUDIT_ACTION_STOP_TABLE,
    "ReleaseTable": pb.AUDIT_ACTION_RELEASE_TABLE,
    "WithdrawSeat": pb.AUDIT_ACTION_WITHDRAW_SEAT,
    "DeletePlayer": pb.AUDIT_ACTION_DELETE_PLAYER,
    "ListAudit": pb.AUDIT_ACTION_LIST_AUDIT,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminUseCases:
    """Everything that operators can have done."""

    inspect_table: InspectTable
    stop_table: StopTable
    withdraw_seat: WithdrawSeat
    delete_player: DeletePlayer


class AdminHandler:
    """One method for each RPC of the contract; ServiceError for every refusal."""

    def __init__(self, use_cases: AdminUseCases, store: Store, wall: Wall, chance: Chance) -> None:
        self._do = use_cases
        self._store = store
        self._wall = wall
        self._chance = chance

    async def InspectTable(self, request: pb.InspectTableRequest, call: Call) -> pb.InspectTableResponse:
        async def inspect(entry: AuditEntry) -> tuple[Inspected, str]:
            return await self._do.inspect_table.run(request.table_id, check=request.check), DONE

        return _inspected(await self._audited("InspectTable", request, call, inspect, writes=False))

    async def StopTable(self, request: pb.StopTableRequest, call: Call) -> pb.StopTableResponse:
        async def stop(entry: AuditEntry) -> tuple[pb.StopTableResponse, str]:
            table, done = await self._do.stop_table.stop(request.table_id, entry)
            return pb.StopTableResponse(table=table_message(table)), DONE if done else NOTHING

        return await self._audited("StopTable", request, call, stop)

    async def ReleaseTable(self, request: pb.ReleaseTableRequest, call: Call) -> pb.ReleaseTableResponse:
        async def release(entry: AuditEntry) -> tuple[pb.ReleaseTableResponse, str]:
            table, done = await self._do.stop_table.release(request.table_id, entry)
            return pb.ReleaseTableResponse(table=table_message(table)), DONE if done else NOTHING

        return await self._audited("ReleaseTable", request, call, release)

    async def WithdrawSeat(self, request: pb.WithdrawSeatRequest, call: Call) -> pb.WithdrawSeatResponse:
        async def withdraw(entry: AuditEntry) -> tuple[pb.WithdrawSeatResponse, str]:
            done = await self._do.withdraw_seat.run(request.table_id, request.seat, entry)
            return pb.WithdrawSeatResponse(last_seq=done.last_seq), NOTHING if done.repeated else DONE

        return await self._audited("WithdrawSeat", request, call, withdraw)

    async def DeletePlayer(self, request: pb.DeletePlayerRequest, call: Call) -> pb.DeletePlayerResponse:
        async def delete(entry: AuditEntry) -> tuple[pb.DeletePlayerResponse, str]:
            deleted = await self._do.delete_player.run(request.session_id, entry)
            counts = {"withdrawn": deleted.withdrawn, "left": deleted.left, "renamed": deleted.renamed}
            return pb.DeletePlayerResponse(**counts), DONE

        return await self._audited("DeletePlayer", request, call, delete)

    async def ListAudit(self, request: pb.ListAuditRequest, call: Call) -> pb.ListAuditResponse:
        async def list_audit(entry: AuditEntry) -> tuple[pb.ListAuditResponse, str]:
            size = request.page_size or _DEFAULT_PAGE
            before = page_tokens.decode("audit", request.page_token)
            found = await self._store.list_audit(request.table_id, before, size + 1)
            token = ""
            if len(found) > size:
                found = found[:size]
                token = page_tokens.encode("audit", found[-1].at_unix_ms, found[-1].audit_id)
            return pb.ListAuditResponse(entries=[_entry_message(item) for item in found], next_page_token=token), DONE

        return await self._audited("ListAudit", request, call, list_audit, writes=False)

    async def refused(self, method: Method, request: object, call: Call, error: ServiceError) -> None:
        """A call that did not get here: the caller is no operator, or the request is outside its limits."""
        await self._record(replace(self._entry(method.name, request, call), outcome=error.reason, detail=error.message))

    async def _audited(
        self,
        name: str,
        request: object,
        call: Call,
        work: Callable[[AuditEntry], Awaitable[tuple[T, str]]],
        *,
        writes: bool = True,
    ) -> T:
        """Does the work, which writes the entry itself together with what it changes, unless `writes` says that it
        changes nothing; an entry of anything else that came of it is written here."""
        entry = self._entry(name, request, call)
        try:
            result, outcome = await work(entry)
        except (RefusalError, ServiceError) as error:
            failure = error if isinstance(error, ServiceError) else from_refused(error)
            await self._record(replace(entry, outcome=failure.reason, detail=failure.message))
            raise failure from None
        if writes and outcome == DONE:
            _tell(entry)
        else:
            await self._record(replace(entry, outcome=outcome))
        return result

    async def _record(self, entry: AuditEntry) -> None:
        entry = replace(entry, detail=_fitting(entry.detail, 500))
        _tell(entry)
        try:
            await self._store.record(entry)
        except ServiceError as error:
            # The line above is all that is left of it.
            _log.error("audit_not_written", audit_id=entry.audit_id, reason=error.reason)

    def _entry(self, name: str, request: Any, call: Call) -> AuditEntry:
        table_id = _fitting(getattr(request, "table_id", ""), 64)
        session_id = _fitting(getattr(request, "session_id", ""), 64)
        names = "" if call.names is None else " " + ",".join(sorted(call.names))
        return AuditEntry(
            audit_id=self._chance.public_id(),
            at_unix_ms=self._wall.unix_ms(),
            who=call.operator,
            from_=_fitting(call.peer + names, 200),
            action=_ACTIONS[name],
            shard=shard_of(table_id or session_id),
            table_id=table_id,
            session_id=session_id,
            seat=min(request.seat, 255) if name == "WithdrawSeat" else None,
            reason=_fitting(getattr(request, "reason", ""), 500),
        )


def _fitting(text: str, size: int) -> str:
    """What fits into a column: a refused request may hold anything."""
    return text.replace("\0", "")[:size]


def _tell(entry: AuditEntry) -> None:
    _log.info(
        "admin_call",
        audit_id=entry.audit_id,
        action=pb.AuditAction.Name(entry.action).removeprefix("AUDIT_ACTION_").lower(),  # type: ignore[arg-type]
        who=entry.who,
        caller=entry.from_,
        table_id=entry.table_id,
        session_id=entry.session_id,
        seat=entry.seat,
        reason=entry.reason,
        outcome=entry.outcome,
    )


def _entry_message(entry: AuditEntry) -> pb.AuditEntry:
    message = pb.AuditEntry(
        audit_id=entry.audit_id,
        at_unix_ms=entry.at_unix_ms,
        who=entry.who,
        action=entry.action,  # type: ignore[arg-type]
        table_id=entry.table_id,
        session_id=entry.session_id,
        seat=entry.seat,
        reason=entry.reason,
        outcome=entry.outcome,
        detail=entry.detail,
    )
    setattr(message, "from", entry.from_)
    return message


def _inspected(found: Inspected) -> pb.InspectTableResponse:
    update, check, stop = found.update, found.check, found.table.stop
    return pb.InspectTableResponse(
        table=table_message(found.table),
        state_hash=update.state_hash,
        state_hash_version=update.state_hash_version,
        play_time_ms=update.play_time_ms,
        shard_play_time_ms=found.shard_play_time_ms,
        decision_id=update.decision.decision_id,
        asked=update.decision.seats,
        deadlines=update.deadlines,
        published_seq=found.marks.published_seq,
        snapshot_seq=found.marks.snapshot_seq,
        stop_reason=stop.why if stop is not None else "",
        broken=stop is not None and stop.is_broken,
        check=None
        if check is None
        else pb.LogCheck(
            same=check.same,
            first_difference=check.first_difference,
            explanation=check.explanation,
            commands=check.commands,
        ),
        recent=[_entry_message(entry) for entry in found.recent],
    )
