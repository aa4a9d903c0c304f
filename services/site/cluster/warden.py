"""A process that outlives the one that starts servers, and ends them with it however that one ends.

It reads lines on its standard input: `+ PID` and `- PID` for a process that has begun or ended, `folder PATH` for one
to delete. At the end of its input, which a killed parent brings about as well, it kills what is left and deletes.
It runs as a script of its own and loads nothing but the standard library.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


class Warden:
    """The parent's side of it: one for a parent, begun with the first process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def guard(self, pid: int) -> None:
        """This process ends with us."""
        self._tell(f"+ {pid}")

    def release(self, pid: int) -> None:
        """This process has ended."""
        self._tell(f"- {pid}")

    def own(self, folder: Path) -> None:
        """This folder goes with us."""
        self._tell(f"folder {folder}")

    def _tell(self, line: str) -> None:
        if self._process is None:
            # A session of its own: what is sent to our whole group must not end it together with us.
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", __file__], stdin=subprocess.PIPE, start_new_session=True
            )
            atexit.register(self._process.communicate)
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()


WARDEN = Warden()


def watch(lines: Iterable[str]) -> None:
    """Follows the parent's lines to their end, then ends what is left."""
    pids: set[int] = set()
    folders: list[str] = []
    for line in lines:
        what, _, value = line.strip().partition(" ")
        if what == "+":
            pids.add(int(value))
        elif what == "-":
            pids.discard(int(value))
        else:
            folders.append(value)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    watch(sys.stdin)
