"""One call as its handler sees it, whichever way it came."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from services.kit.errors import ServiceError

NO_METADATA: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True, kw_only=True)
class Call:
    """What a handler may know of its caller.

    `peer` is the caller's address as gRPC writes it (`ipv4:10.0.0.7:4711`), or `local`; `metadata` has the text
    headers, keys in lower case; `deadline_s` is the time of the event loop at which the caller gives up, None for
    never. `draining` is set when the server is about to stop: a long stream should then say goodbye and return.
    When a caller goes away, its handler is cancelled: `finally` clauses run at once.

    `names` is what the caller has shown to be: by the certificate of its connection, or as composed in one process;
    None where nobody could show anything. `operator` is the name of the person, once he is let in as one.

    `ended_with` is what a handler that cancels its own stream, since the caller leaves an answer waiting, tells him.
    """

    method: str
    peer: str = "local"
    metadata: Mapping[str, str] = field(default_factory=lambda: NO_METADATA)
    deadline_s: float | None = None
    names: frozenset[str] | None = None
    operator: str = ""
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    ended_with: ServiceError | None = None

    def time_left_ms(self) -> int | None:
        """Milliseconds until the caller gives up (0 when it has), None when it never does."""
        if self.deadline_s is None:
            return None
        return max(0, int((self.deadline_s - asyncio.get_running_loop().time()) * 1000))
