"""When to look at which table: times for a million names at a few bytes each.

Names wait in slices of time without order; only the slice that comes first is put in order, when it is looked at.
Whoever moves a name leaves its old entry behind, which is passed over when its slice comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush

_SLICE_BITS = 8  # slices of 256 ms
_SPARE = 1_000


class Agenda:
    """`time_of` says for which time a name is entered now, None for one that is not; times in milliseconds, not
    negative."""

    def __init__(self, time_of: Callable[[str], int | None]) -> None:
        self._time_of = time_of
        self._clear()

    def __len__(self) -> int:
        """Entries, those left behind included."""
        return self._size

    def enter(self, at_ms: int, name: str) -> None:
        """To be called when `time_of` the name has become this."""
        self._size += 1
        if at_ms < self._open_until_ms:
            heappush(self._open, (at_ms, name))
            return
        number = at_ms >> _SLICE_BITS
        waiting = self._slices.get(number)
        if waiting is None:
            self._slices[number] = [name]
            heappush(self._numbers, number)
        else:
            waiting.append(name)

    def first(self) -> tuple[int, str] | None:
        """The earliest time and its name; None when nothing is entered."""
        while True:
            while self._open:
                at_ms, name = self._open[0]
                if self._time_of(name) == at_ms:
                    return at_ms, name
                self.pop()
            if not self._numbers:
                return None
            self._open_slice(heappop(self._numbers))

    def pop(self) -> None:
        """Takes out what `first` has just given."""
        heappop(self._open)
        self._size -= 1

    def trim(self, names: Iterable[str], count: int) -> None:
        """Drops what is left behind if that is more than the names, all of which these are."""
        if self._size <= 2 * count + _SPARE:
            return
        self._clear()
        for name in names:
            at_ms = self._time_of(name)
            if at_ms is not None:
                self.enter(at_ms, name)

    def _clear(self) -> None:
        self._slices: dict[int, list[str]] = {}
        self._numbers: list[int] = []
        self._open: list[tuple[int, str]] = []
        self._open_until_ms = 0
        self._size = 0

    def _open_slice(self, number: int) -> None:
        """Puts a slice in order, once each name that is still entered in it."""
        waiting = self._slices.pop(number)
        self._open_until_ms = (number + 1) << _SLICE_BITS
        for name in set(waiting):
            at_ms = self._time_of(name)
            if at_ms is not None and at_ms >> _SLICE_BITS == number:
                self._open.append((at_ms, name))
        heapify(self._open)
        self._size -= len(waiting) - len(self._open)
