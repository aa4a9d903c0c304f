"""A process of the site on this machine, which can be ended in every way that a machine ends one."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from services.site.cluster.warden import WARDEN

_STOP_S = 20.0


class LocalProcess:
    """Its output goes to the file `log`, one run after another. It ends with the one that started it, whatever ends
    that one."""

    def __init__(
        self, command: Sequence[str], log: Path, *, user: str | None = None, end_by: signal.Signals = signal.SIGTERM
    ) -> None:
        self.log = log
        self._command = list(command)
        self._user = user
        self._end_by = end_by
        self._process: subprocess.Popen[bytes] | None = None
        self._is_asked = False
        self._paused: tuple[int, ...] = ()

    @property
    def pid(self) -> int:
        """Its process id; 0 while it does not run."""
        return self._process.pid if self._process is not None and self.is_alive else 0

    @property
    def is_alive(self) -> bool:
        """Whether it runs, or is paused."""
        return self._process is not None and self._process.poll() is None

    @property
    def status(self) -> int | None:
        """How its last run ended: an exit status, or a signal's number below 0. None while it runs or before."""
        return None if self._process is None else self._process.poll()

    def launch(self, environ: Mapping[str, str]) -> None:
        """Begins it and does not wait for it."""
        if self.is_alive:
            raise RuntimeError(f"{self.log.stem} runs already")
        self._forget()
        self._is_asked = False
        with self.log.open("ab") as log:
            # A session of its own: Ctrl-C ends our own process, which ends this one in order.
            self._process = subprocess.Popen(
                self._command,
                env=dict(environ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                user=self._user,
                start_new_session=True,
            )
        WARDEN.guard(self._process.pid)

    def kill(self) -> None:
        """Ends it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._let_go(signal.SIGKILL)
            self._process.wait()
            self._forget()

    def ask_to_end(self) -> None:
        """Ends it as an operator would, without waiting."""
        # A second signal would end it at once.
        if self._process is not None and self.is_alive and not self._is_asked:
            self._is_asked = True
            self.resume()
            self._process.send_signal(self._end_by)

    def end(self, limit_s: float = _STOP_S) -> int:
        """Ends it as an operator would; the exit status. It is killed when it takes longer than this."""
        if self._process is None:
            return 0
        self.ask_to_end()
        try:
            status = self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL
        self._forget()
        return status

    def pause(self) -> None:
        """Stops it, and all processes below it, as a machine that hangs would: connections stay, nothing answers."""
        if self._process is not None and self.is_alive:
            self._paused = (self._process.pid, *_below(self._process.pid))
            for pid in self._paused:
                WARDEN.guard(pid)
                _send(pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Lets it go on after `pause`."""
        self._let_go(signal.SIGCONT)

    def _let_go(self, number: signal.Signals) -> None:
        for pid in self._paused:
            _send(pid, number)
            if self._process is None or pid != self._process.pid:
                WARDEN.release(pid)
        self._paused = ()

    def _forget(self) -> None:
        if self._process is not None and not self.is_alive:
            WARDEN.release(self._process.pid)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def _below(pid: int) -> list[int]:
    """The processes that this one has started."""
    parents: dict[int, int] = {}
    for line in subprocess.run(
        ["ps", "-axo", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout.splitlines():
        child, parent = line.split()
        parents[int(child)] = int(parent)
    return [child for child, parent in parents.items() if parent == pid]
