"""The end of a stream whose client leaves waiting what he has asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gateway.application import refusals
from services.kit.calls import Call
from services.kit.logs import get_log

_log = get_log(__name__)


def cutter(call: Call) -> Callable[[], None]:
    """What ends the present task, which serves a stream, and tells its client RESOURCE_EXHAUSTED slow_client."""
    task = asyncio.current_task()
    assert task is not None

    def cut() -> None:
        _log.info("slow_client_cut", method=call.method, peer=call.peer)
        call.ended_with = refusals.slow_client()
        task.cancel()

    return cut
