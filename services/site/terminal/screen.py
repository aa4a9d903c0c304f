"""The whole screen of a terminal: a picture, notices, the dialog; keys are read one by one."""

from __future__ import annotations

import asyncio
import codecs
import os
import shutil
import signal
import sys
import termios
import tty
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from services.site.terminal.console import ClosedError
from services.site.terminal.paint import Paint, clip, in_columns, wrap

_REDRAW_S = 0.04
_NOTICES = 4
_ENTER, _DELETE, _END, _ESCAPE = ("\r", "\n"), ("\x7f", "\b"), "\x04", "\x1b"
#: keys that are an answer by themselves while nothing else is typed
_WORDS = "abpq?"


class Screen:
    """A Console on a terminal; use it within `opened`."""

    draws = True

    def __init__(self) -> None:
        self.paint = Paint(on="NO_COLOR" not in os.environ)
        self._make: Callable[[int], Sequence[str]] = _nothing
        self._notices: deque[str] = deque(maxlen=_NOTICES)
        self._status = ""
        self._dialog: Sequence[str] = ()
        self._prompt = ""
        self._typed = ""
        self._answers: deque[str] = deque()
        self._pressed = asyncio.Event()
        self._answered = asyncio.Event()
        self._ended = False
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
        self._loop = asyncio.get_running_loop()
        self._planned: asyncio.TimerHandle | None = None

    @property
    def columns(self) -> int:
        """See Console."""
        return shutil.get_terminal_size().columns

    @contextmanager
    def opened(self) -> Iterator[Screen]:
        """Takes the terminal over, and gives it back as it was."""
        keys = sys.stdin.fileno()
        before = termios.tcgetattr(keys)
        tty.setcbreak(keys)
        # The other screen of the terminal, so that what stood there comes back at the end.
        sys.stdout.write("\x1b[?1049h\x1b[2J")
        self._loop.add_reader(keys, self._read)
        self._loop.add_signal_handler(signal.SIGWINCH, self._plan)
        try:
            yield self
        finally:
            if self._planned is not None:
                self._planned.cancel()
            self._loop.remove_signal_handler(signal.SIGWINCH)
            self._loop.remove_reader(keys)
            termios.tcsetattr(keys, termios.TCSADRAIN, before)
            sys.stdout.write("\x1b[?1049l")
            sys.stdout.flush()

    def picture(self, make: Callable[[int], Sequence[str]]) -> None:
        """See Console."""
        self._make = make
        self._plan()

    def journal(self, line: str) -> None:
        """Nothing: the journal is part of the picture."""
        self._plan()

    def notice(self, line: str) -> None:
        """See Console."""
        self._notices.append(line)
        self._plan()

    def status(self, line: str) -> None:
        """See Console."""
        if line != self._status:
            self._status = line
            self._plan()

    async def ask(self, lines: Sequence[str], prompt: str) -> str:
        """See Console."""
        self._dialog, self._prompt = lines, prompt
        self._plan()
        try:
            while not self._answers:
                if self._ended:
                    raise ClosedError
                self._answered.clear()
                await self._answered.wait()
            self._notices.clear()
            return self._answers.popleft()
        finally:
            self._dialog, self._prompt = (), ""
            self._plan()

    async def pressed(self, within_s: float) -> bool:
        """See Console."""
        self._pressed.clear()
        try:
            async with asyncio.timeout(within_s):
                await self._pressed.wait()
        except TimeoutError:
            return False
        return True

    def _read(self) -> None:
        try:
            data = os.read(sys.stdin.fileno(), 1024)
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        text = self._decoder.decode(data)
        self._pressed.set()
        if not text.startswith(_ESCAPE):
            for key in text:
                self._take(key)
        self._plan()

    def _take(self, key: str) -> None:
        if key in _ENTER:
            self._answer(self._typed.strip())
        elif key in _DELETE:
            self._typed = self._typed[:-1]
        elif key == _END:
            self._end()
        elif not self._typed and key in _WORDS:
            self._answer(key)
        elif key.isprintable():
            self._typed += key

    def _answer(self, text: str) -> None:
        self._typed = ""
        if text:
            self._answers.append(text)
            self._answered.set()

    def _end(self) -> None:
        self._ended = True
        self._answered.set()

    def _plan(self) -> None:
        """Draws soon, once for everything that changes until then."""
        if self._planned is None:
            self._planned = self._loop.call_later(_REDRAW_S, self._draw)

    def _draw(self) -> None:
        self._planned = None
        size = shutil.get_terminal_size()
        notices = [part for notice in self._notices for part in wrap(notice, size.columns)]
        below = [self.paint.dim(line) for line in notices]
        if self._status:
            below.append(self.paint.notice(self._status))
        # What is to be chosen from must be seen, whatever else is not.
        below += in_columns(self._dialog, size.columns, size.lines - len(below) - 1)
        room = max(0, size.lines - len(below) - 1)
        lines = [*list(self._make(room))[:room], *below][-(size.lines - 1) :]
        shown = "\x1b[K\r\n".join(clip(line, size.columns) for line in lines)
        prompt = clip(self._prompt + self._typed, size.columns - 1)
        sys.stdout.write(f"\x1b[H{shown}\x1b[K\r\n{prompt}\x1b[J")
        sys.stdout.flush()


def _nothing(room: int) -> Sequence[str]:
    """The picture before there is one."""
    return ()
