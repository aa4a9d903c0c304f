"""How long a call waits at the own port before anybody sees it: by calling there, as the callers do."""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from collections.abc import Callable
from typing import Any

import grpc

_EVERY_S = 0.2
_LIMIT_S = 5.0
_NOT_THERE = "/magnate.Door/Knock"
_HEARD = (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.DEADLINE_EXCEEDED)


def own_address() -> str:
    """An address that only this machine reaches, for one more door of a server; empty where there is no such kind."""
    return f"unix-abstract:magnate-{os.getpid()}-{secrets.token_hex(8)}" if sys.platform == "linux" else ""


async def knock(address: str, note: Callable[[float], None]) -> None:
    """Calls what the server there has not got, for ever, and notes how many seconds each refusal took.

    A new call waits in the server's queue, which nothing else tells of: where the loop has much to do, it takes them
    from there one by one, some turns for each. The health service would not do: it has a queue of its own.
    """
    async with grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        call: Any = channel.unary_unary(_NOT_THERE)
        while True:
            began_s = time.monotonic()
            try:
                await call(b"", timeout=_LIMIT_S)
            except grpc.aio.AioRpcError as error:
                if error.code() in _HEARD:
                    note(time.monotonic() - began_s)
            await asyncio.sleep(_EVERY_S)
