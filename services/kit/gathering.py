"""Several things at a time, of which all have to succeed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any


async def all_succeed(*awaitables: Awaitable[Any]) -> None:
    """Waits for the end of all, also when one fails, and raises the failure of the first one that did."""
    for result in await asyncio.gather(*awaitables, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
