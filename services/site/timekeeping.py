"""`magnate clock`: what operators see of play time, and how they let it stand still for maintenance."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from magnate.clock.v1 import clock_service_pb2 as pb

from services.clock.domain.shards import ALL, write_shards
from services.kit.calls import PoolClient, bearer, open_pool
from services.kit.telemetry import Telemetry
from services.site.operators import operator_token
from services.site.settings import ClockCommandSettings

CLOCK = pb.DESCRIPTOR.services_by_name["ClockService"]
_PAGE = 500
_ATTEMPT_MS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOptions:
    """One command; what it does not need stays as it is. Times in seconds."""

    what: str
    shards: tuple[int, ...] = ALL
    begins_in: int = 60
    lasts: int = 600
    reason: str = ""
    limit: int = 50


async def keep_time(settings: ClockCommandSettings, options: ClockOptions, say: Callable[[str], None]) -> None:
    """Asks any replica of the clock and says what came of it. Raises ServiceError, SettingsError, CommandError."""
    token = operator_token(settings.operator_token, settings)
    pool = open_pool(
        CLOCK,
        settings.clock_address,
        service="clock",
        tls=settings.tls(),
        attempt_ms=_ATTEMPT_MS,
        telemetry=Telemetry.off(),
        shows=bearer(token),
    )
    await pool.start()
    try:
        await _COMMANDS[options.what](PoolClient(CLOCK, pool, repeatable=_REPEATABLE), options, say)
    finally:
        await pool.close()


async def _outages(client: Any, options: ClockOptions, say: Callable[[str], None]) -> None:
    told, token = 0, ""
    while told < options.limit:
        size = min(_PAGE, options.limit - told)
        answer = await client.ListOutages(pb.ListOutagesRequest(page_size=size, page_token=token))
        for outage in answer.outages:
            say(outage_line(outage))
        told, token = told + len(answer.outages), answer.next_page_token
        if not token:
            break
    if not told:
        say("clock: no outage is on record")


async def _hold(client: Any, options: ClockOptions, say: Callable[[str], None]) -> None:
    request = pb.HoldShardsRequest(
        hold_id=secrets.token_hex(6),
        shards=options.shards,
        begins_in_ms=options.begins_in * 1000,
        lasts_ms=options.lasts * 1000,
        reason=options.reason,
    )
    answer = await client.HoldShards(request)
    say(f"clock: players are told: {hold_line(answer.hold)}")


async def _release(client: Any, options: ClockOptions, say: Callable[[str], None]) -> None:
    answer = await client.ReleaseShards(pb.ReleaseShardsRequest(shards=options.shards))
    say(f"clock: released {write_shards(answer.shards)}" if answer.shards else "clock: none of these shards was held")


async def _holds(client: Any, options: ClockOptions, say: Callable[[str], None]) -> None:
    answer = await client.ListHolds(pb.ListHoldsRequest())
    for hold in answer.holds:
        say(hold_line(hold))
    if not answer.holds:
        say("clock: no shard is held")


def outage_line(outage: pb.Outage) -> str:
    """One outage as a line: from, to, how long, cause, shards."""
    cause = pb.OutageCause.Name(outage.cause).removeprefix("OUTAGE_CAUSE_").lower()
    shards = write_shards(outage.shards or [outage.shard])
    if not outage.to_unix_ms:
        return f"{_at(outage.from_unix_ms)} lasts {cause} shards={shards}"
    given_back_s = outage.given_back_ms / 1000
    return f"{_at(outage.from_unix_ms)} {_at(outage.to_unix_ms)} {cause} given_back={given_back_s:.3f}s shards={shards}"


def hold_line(hold: pb.Hold) -> str:
    """One hold as a line."""
    begins = f"begins in {hold.begins_in_ms // 1000} s" if hold.begins_in_ms else "has begun"
    return (
        f"{_at(hold.begins_at_unix_ms)} {_at(hold.ends_at_unix_ms)} {begins}, ends in {hold.ends_in_ms // 1000} s "
        f"shards={write_shards(hold.shards)} id={hold.hold_id} {hold.reason}"
    )


def _at(unix_ms: int) -> str:
    return datetime.fromtimestamp(unix_ms / 1000, UTC).isoformat(timespec="milliseconds")


_REPEATABLE = ("ListOutages", "ListHolds", "HoldShards", "ReleaseShards")
_COMMANDS: dict[str, Callable[[Any, ClockOptions, Callable[[str], None]], Awaitable[None]]] = {
    "outages": _outages,
    "hold": _hold,
    "release": _release,
    "holds": _holds,
}
