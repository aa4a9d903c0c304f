"""Processes under measurement: started with their address read back, and what they cost from /proc."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


class Process:
    """A Python module in a process of its own that speaks lines of JSON on its pipes, or only runs."""

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        environ: Mapping[str, str] | None = None,
        *,
        speaks: bool = True,
    ) -> None:
        self.name = name
        self.began_s = time.monotonic()
        self._process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            env={**os.environ, "GRPC_VERBOSITY": "ERROR", "MAGNATE_LOG_LEVEL": "error", **(environ or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE if speaks else subprocess.DEVNULL,
            text=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, **order: Any) -> dict[str, Any]:
        """Sends an order and waits for the answer."""
        self.tell(**order)
        return self.answer()

    def tell(self, **order: Any) -> None:
        """Sends an order, whose `answer` is read later."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """The next line of the process. RuntimeError when it has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.name} has ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        """Ends it in order, or after some seconds by force."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def cpu_seconds(pids: Iterable[int]) -> float:
    """CPU time, in seconds, that these processes and all below them have used."""
    stats = {pid: fields for pid in _all_pids() if (fields := _stat(pid))}
    wanted, found = set(pids), set[int]()
    while wanted:
        found |= wanted
        wanted = {pid for pid, fields in stats.items() if int(fields[1]) in wanted} - found
    # utime, stime, and those of children that have ended.
    return sum(int(field) for pid in found if pid in stats for field in stats[pid][11:15]) / _TICKS


def rss_kb(pid: int) -> int:
    """Resident memory of a process in kB."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_KB


def _all_pids() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _stat(pid: int) -> list[str]:
    """What follows the name of a process: its state, its parent, ...; nothing for one that has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
