"""`magnate admin`: what operators do to tables and players of a distributed site."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from google.protobuf.json_format import MessageToDict
from magnate.admin.v1 import admin_service_pb2 as pb

from services.kit.calls import RemoteClient, bearer, open_channel
from services.site.operators import operator_token
from services.site.settings import AdminSettings

ADMIN = pb.DESCRIPTOR.services_by_name["AdminService"]
# A long log is decided anew, or many games are left.
_LIMIT_MS = 180_000
_ENTRIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminOptions:
    """One admin command; what it does not need is empty."""

    what: str
    table_id: str = ""
    session_id: str = ""
    seat: int = 0
    reason: str = ""
    check: bool = False


async def administer(settings: AdminSettings, options: AdminOptions, say: Callable[[str], None]) -> None:
    """Does one admin call and says what came of it. Raises ServiceError, SettingsError, CommandError."""
    token = operator_token(settings.operator_token, settings)
    async with open_channel(settings.table_address, tls=settings.tls(), service="table") as channel:
        client: Any = RemoteClient(ADMIN, channel, timeout_ms=_LIMIT_MS, shows=bearer(token))
        await _COMMANDS[options.what](client, options, say)


async def _inspect(client: Any, options: AdminOptions, say: Callable[[str], None]) -> None:
    found = await client.InspectTable(pb.InspectTableRequest(table_id=options.table_id, check=options.check))
    shown = MessageToDict(found, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    shown["state_hash"] = found.state_hash.hex()
    say(json.dumps(shown, ensure_ascii=False, indent=2))


async def _stop(client: Any, options: AdminOptions, say: Callable[[str], None]) -> None:
    await client.StopTable(pb.StopTableRequest(table_id=options.table_id, reason=options.reason))
    say(f"admin: table {options.table_id} is stopped")


async def _release(client: Any, options: AdminOptions, say: Callable[[str], None]) -> None:
    answer = await client.ReleaseTable(pb.ReleaseTableRequest(table_id=options.table_id, reason=options.reason))
    then = "is paused as its player left it" if answer.table.paused else "goes on"
    say(f"admin: table {options.table_id} {then}; it has stood still for {answer.table.held_ms} ms of play time so far")


async def _withdraw(client: Any, options: AdminOptions, say: Callable[[str], None]) -> None:
    request = pb.WithdrawSeatRequest(table_id=options.table_id, seat=options.seat, reason=options.reason)
    answer = await client.WithdrawSeat(request)
    say(f"admin: seat {options.seat} of table {options.table_id} is out, up to event {answer.last_seq}")


async def _delete_player(client: Any, options: AdminOptions, say: Callable[[str], None]) -> None:
    answer = await client.DeletePlayer(pb.DeletePlayerRequest(session_id=options.session_id, reason=options.reason))
    say(
        f"admin: the player is deleted: {answer.withdrawn} seats withdrawn, {answer.left} lobbies left, "
        f"{answer.renamed} seats renamed"
    )


async def _audit(client: Any, options: AdminOptions, say: Callable[[str], None]) -> None:
    answer = await client.ListAudit(pb.ListAuditRequest(table_id=options.table_id, page_size=_ENTRIES))
    for entry in answer.entries:
        say(audit_line(entry))


def audit_line(entry: pb.AuditEntry) -> str:
    """One entry as a line: when, who, what, to whom, outcome, why."""
    at = datetime.fromtimestamp(entry.at_unix_ms / 1000, UTC).isoformat(timespec="milliseconds")
    action = pb.AuditAction.Name(entry.action).removeprefix("AUDIT_ACTION_").lower()
    fields: Mapping[str, object] = {
        "table": entry.table_id,
        "session": entry.session_id,
        "seat": entry.seat if entry.HasField("seat") else "",
        "from": getattr(entry, "from"),
        "why": json.dumps(entry.reason, ensure_ascii=False) if entry.reason else "",
    }
    told = " ".join(f"{name}={value}" for name, value in fields.items() if value != "")
    return f"{at} {entry.who or '(nobody)'} {action} {entry.outcome} {told}".rstrip()


_COMMANDS = {
    "inspect": _inspect,
    "stop": _stop,
    "release": _release,
    "withdraw": _withdraw,
    "delete-player": _delete_player,
    "audit": _audit,
}
