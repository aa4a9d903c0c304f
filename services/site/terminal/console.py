"""Where a person reads and types: line by line here, over the whole screen in screen.py."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

from services.site.terminal.paint import Paint


class ClosedError(Exception):
    """There will be no more input, or the player asked to leave."""


class Console(Protocol):
    """See the module."""

    @property
    def paint(self) -> Paint:
        """Its colours."""
        ...

    @property
    def columns(self) -> int:
        """How wide it is."""
        ...

    @property
    def draws(self) -> bool:
        """Whether pictures stay on it; else the board is shown when asked for."""
        ...

    def picture(self, make: Callable[[int], Sequence[str]]) -> None:
        """What is to be seen above the dialog; made, for so many lines, when it is drawn."""
        ...

    def journal(self, line: str) -> None:
        """A line of the journal."""
        ...

    def notice(self, line: str) -> None:
        """A line for the player himself."""
        ...

    def status(self, line: str) -> None:
        """What is true just now; replaces what was true before."""
        ...

    async def ask(self, lines: Sequence[str], prompt: str) -> str:
        """Shows lines and a prompt; the answer without spaces around. Raises ClosedError."""
        ...

    async def pressed(self, within_s: float) -> bool:
        """Waits for a key (here: a line), which stays for the next question. False when none came in time."""
        ...


class PlainConsole:
    """Lines in, lines out: for pipes, scripts and screen readers."""

    draws = False
    columns = 100
    paint = Paint(on=False)

    def __init__(self, output: TextIO, *, echo: bool = True) -> None:
        """`echo`: answers are shown too, for what reads from a pipe; a terminal shows them itself."""
        self._output = output
        self._echo = echo
        self._loop = asyncio.get_running_loop()
        self._lines: deque[str] = deque()
        self._arrived = asyncio.Event()
        self._ended = False
        self._status = ""

    def read_from(self, source: TextIO) -> None:
        """Begins to read lines in a thread: a pipe and a file alike cannot hold up the loop."""
        threading.Thread(target=self._read, args=(source,), name="terminal", daemon=True).start()

    def feed(self, line: str | None) -> None:
        """Takes a line in; None: there will be no more."""
        if line is None:
            self._ended = True
        else:
            self._lines.append(line.strip())
        self._arrived.set()

    def _read(self, source: TextIO) -> None:
        try:
            for line in source:
                self._loop.call_soon_threadsafe(self.feed, line)
            self._loop.call_soon_threadsafe(self.feed, None)
        except RuntimeError:
            # The loop has ended; nobody reads any more.
            return

    def picture(self, make: Callable[[int], Sequence[str]]) -> None:
        """Nothing: the board is long, and a line cannot be drawn over."""

    def journal(self, line: str) -> None:
        """See Console."""
        print(line, file=self._output, flush=True)

    def notice(self, line: str) -> None:
        """See Console."""
        print(line, file=self._output, flush=True)

    def status(self, line: str) -> None:
        """Told once, since it cannot be replaced."""
        if line and line != self._status:
            self.notice(line)
        self._status = line

    async def ask(self, lines: Sequence[str], prompt: str) -> str:
        """See Console."""
        for line in lines:
            self.notice(line)
        print(prompt, end="", file=self._output, flush=True)
        await self._wait()
        if not self._lines:
            raise ClosedError
        answer = self._lines.popleft()
        if self._echo:
            self.notice(answer)
        return answer

    async def pressed(self, within_s: float) -> bool:
        """See Console."""
        try:
            async with asyncio.timeout(within_s):
                await self._wait()
        except TimeoutError:
            return False
        if not self._lines:
            raise ClosedError
        if not self._lines[0]:
            # An empty line is a key that was pressed for this alone.
            self._lines.popleft()
        return True

    async def _wait(self) -> None:
        while not self._lines and not self._ended:
            self._arrived.clear()
            await self._arrived.wait()


def is_terminal() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()
