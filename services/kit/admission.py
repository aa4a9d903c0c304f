"""How many commands may be under way at a time: fewer when they wait long, more while they do not."""

from __future__ import annotations

from math import ceil

_WINDOW_S = 0.1
# A share of slow answers that is a queue, and not some hiccup of one.
_SLOW_SHARE = 0.1
_SMOOTHING = 0.25
_LESS, _MORE = 0.85, 1.05
_FIRST_WAIT_MS, _LAST_WAIT_MS = 250, 5_000


class Admission:
    """Waiting commands help nobody: what would wait longer than the target is refused at once, with a time to wait.

    The bound follows the answers of each tenth of a second: when more than a tenth of them took longer than
    `target_ms` it falls below what was under way, and it rises again while it is met and answers come soon. The time
    that the refused shall wait grows with their number, so that refusing does not become the load. A target of 0
    admits all.
    """

    def __init__(self, *, target_ms: int, least: int = 8, most: int = 1_000) -> None:
        self._target_s = target_ms / 1000
        self._least = least
        self._most = most
        self.limit = float(most)
        self.under_way = 0
        self._window_ends_s = 0.0
        self._peak = self._answered = self._slow = self._refused = 0
        self._wait_ms = _FIRST_WAIT_MS

    def enter(self, now_s: float) -> int:
        """Counts a command in: 0. Or refuses it: the milliseconds after which it may come again."""
        self._turn(now_s)
        if self._target_s and self.under_way >= self.limit:
            self._refused += 1
            # Not all at once again: from one half to one and a half of it.
            return self._wait_ms * (8 + self._refused % 16) // 16
        self.under_way += 1
        self._peak = max(self._peak, self.under_way)
        return 0

    def leave(self, now_s: float, took_s: float) -> None:
        """Counts it out, with the time that its answer took."""
        self.under_way -= 1
        self._answered += 1
        self._slow += took_s > self._target_s
        self._turn(now_s)

    def _turn(self, now_s: float) -> None:
        if now_s < self._window_ends_s:
            return
        if self._slow > self._answered * _SLOW_SHARE:
            self.limit = max(self._least, min(self.limit, self._peak) * _LESS)
        elif self._peak >= int(self.limit):
            self.limit = min(self._most, max(self.limit + 1, self.limit * _MORE))
        ratio = self._refused / max(1, self._answered)
        wanted_ms = min(_LAST_WAIT_MS, _FIRST_WAIT_MS * (1 + ratio))
        self._wait_ms += ceil((wanted_ms - self._wait_ms) * _SMOOTHING)
        self._window_ends_s = now_s + _WINDOW_S
        self._peak, self._answered, self._slow, self._refused = self.under_way, 0, 0, 0
