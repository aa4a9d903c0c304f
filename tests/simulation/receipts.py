"""When a call arrived: known to everything that is done for it."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Receipt:
    """The call by the name of its RPC, and the world's time at which the handler's process took it up."""

    method: str
    request: object
    at_s: float
    process: str


RECEIPT: ContextVar[Receipt | None] = ContextVar("receipt", default=None)
