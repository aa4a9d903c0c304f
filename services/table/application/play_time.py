"""Play time where something begins by it: a deadline that opened at a time long past would be over too early."""

from __future__ import annotations

from typing import NoReturn

from services.table.application.ports import PlayTime
from services.table.domain.refusals import Reason, RefusalError

_RETRY_MS = 250


async def known_ms(play_time: PlayTime, shard: int) -> int:
    """Play time of the shard now, waited for if this process has only begun. Refuses with `unreachable`."""
    now_ms = play_time.now_ms(shard)
    if now_ms is None:
        now_ms = await play_time.first_ms(shard)
    if now_ms is None:
        refuse_unknown()
    return now_ms


def refuse_unknown() -> NoReturn:
    """The refusal while the clock has not been heard."""
    raise RefusalError(Reason.UNREACHABLE, "play time is not known yet; try again", retry_after_ms=_RETRY_MS)
