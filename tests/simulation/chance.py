"""Time and chance of the machine for the length of a simulation: on the clocks of the loop, and from a seed."""

from __future__ import annotations

import base64
import random
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from services.clock.adapters import leases, outages
from services.clock.domain.play_time import Instant
from tests.simulation.loop import VirtualLoop


class Machine:
    """The clocks that a process reads: `Wall` of the table service, `Timepiece` of the clock."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def unix_ms(self) -> int:
        return self._loop.unix_ms()

    def monotonic_s(self) -> float:
        # That of the kind which goes on while a machine is suspended.
        return self._loop.now_s

    def active_s(self) -> float:
        """Monotonic seconds without those for which the machine was suspended."""
        return self._loop.time()

    def now(self) -> Instant:
        # The clock reads the one that goes on while a machine is suspended.
        return Instant(mono_ns=round(self._loop.now_s * 1e9), unix_ms=self._loop.unix_ms())


class SeededChance:
    """`Chance` of the table service."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def token(self) -> str:
        return self._rng.randbytes(24).hex()

    def public_id(self) -> str:
        return base64.b32encode(self._rng.randbytes(10)).decode().lower()

    def seed(self) -> bytes:
        return self._rng.randbytes(32)


@contextmanager
def seeded_machine(loop: VirtualLoop, seed: int) -> Iterator[Machine]:
    """What code reads of the machine by itself (`time`, `secrets`, `random`) follows the loop and the seed."""
    machine = Machine(loop)
    rng = random.Random(f"{seed}/machine")
    before = random.getstate()
    random.seed(seed)
    with (
        patch.object(time, "monotonic", machine.active_s),
        patch.object(time, "monotonic_ns", lambda: round(machine.active_s() * 1e9)),
        patch.object(time, "time", lambda: machine.unix_ms() / 1000),
        patch.object(time, "time_ns", lambda: machine.unix_ms() * 1_000_000),
        # As Postgres has a clock of its own; SQLite's is that of whoever asks.
        patch.object(leases, "now_ms", lambda connection, unix_ms: machine.unix_ms()),
        patch.object(outages, "now_ms", lambda connection, unix_ms: machine.unix_ms()),
        patch.object(secrets, "token_hex", lambda size=16: rng.randbytes(size).hex()),
        patch.object(secrets, "token_urlsafe", lambda size=16: rng.randbytes(size).hex()),
        patch.object(secrets, "token_bytes", lambda size=16: rng.randbytes(size)),
    ):
        try:
            yield machine
        finally:
            random.setstate(before)
