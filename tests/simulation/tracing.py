"""The logs of all processes of a simulated site as lines of its trace."""

from __future__ import annotations

import logging
from asyncio import events
from collections.abc import Iterator
from contextlib import contextmanager

from tests.simulation.loop import CURRENT, VirtualLoop


class _IntoTrace(logging.Handler):
    """Writes what a process logs where the world notes what happens."""

    def emit(self, record: logging.LogRecord) -> None:
        loop, process = events._get_running_loop(), CURRENT.get()
        if isinstance(loop, VirtualLoop):
            fields = " ".join(f"{name}={value}" for name, value in getattr(record, "fields", {}).items())
            loop.note(f"{process.name if process else 'world'}: {record.getMessage()} {fields}".rstrip())


@contextmanager
def traced(level: int = logging.INFO) -> Iterator[None]:
    """Within it, what is logged becomes a part of the trace."""
    root, handler = logging.getLogger(), _IntoTrace(level)
    before = root.level
    root.addHandler(handler)
    root.setLevel(level)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
