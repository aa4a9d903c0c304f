"""How many commands may be under way at a time: as many as are answered soon, and no more."""

from __future__ import annotations

from math import ceil

import grpc

from services.kit.errors import ServiceError

_WINDOW_S = 0.2
# A window with so few answers says nothing yet; one that stays so for so long says that there is little to do.
_FEW_ANSWERS, _LONGEST_WINDOW_S = 8, 1.0
# Answers that take half of the target in the mean keep all but very few of them below it.
_GOAL_SHARE = 0.5
_MOST_GOALS = 4
_SMOOTHING = 0.5
_MOST_GROWTH, _RECOVERY = 1.5, 1.05
# So many come again for each that is answered: to refuse them costs something too.
_AGAIN_SHARE = 0.25
_FIRST_RATE = 100.0
_NO_ANSWERS = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)
_FIRST_WAIT_S, _LAST_WAIT_S = 0.25, 5.0


class Admission:
    """Waiting commands help nobody: what would wait for long is refused at once, with a time to wait elsewhere.

    By Little's law a queue that is answered at a rate r holds r x t commands when each takes t: so that is how many
    are let in, with half of `target_ms` for t and r as it was lately. What a command waits for before it gets here
    (`delayed`) is part of that time. The bound is not lowered while answers come sooner than
    that, and rises while it is met and they do. The refused come again one after the other, some for each that is
    answered, as long as that does not take them too long: in heaps they would wait before anybody sees them, and
    refusing would become the load. A target of 0 admits all.
    """

    def __init__(self, *, target_ms: int, least: int = 4, first: int = 128, most: int = 1_000) -> None:
        self._goal_s = target_ms / 1000 * _GOAL_SHARE
        self._least = least
        self._first, self._most = first, most
        self.limit = float(first if target_ms else most)
        self.under_way = 0
        self._delay_s = 0.0
        self._rate = _FIRST_RATE
        self._next_again_s = 0.0
        self._began_s: float | None = None
        self._answered = self._refused = 0
        self._took_s = 0.0

    def enter(self, now_s: float) -> int:
        """Counts a command in: 0. Or refuses it: the milliseconds after which it may come again."""
        self._turn(now_s)
        if self._goal_s and self.under_way >= self.limit:
            self._refused += 1
            return ceil(self._wait_s(now_s) * 1000)
        self.under_way += 1
        return 0

    def leave(self, now_s: float, took_s: float, failure: ServiceError | None = None) -> None:
        """Counts it out, with the time that its answer took. What failed because something is away, or was refused
        further on for the same reason as here, says nothing of how long answers take."""
        self.under_way -= 1
        if failure is None or failure.code not in _NO_ANSWERS:
            self._answered += 1
            # A few that hang are no queue.
            self._took_s += min(took_s, _MOST_GOALS * self._goal_s)
        self._turn(now_s)

    def delayed(self, delay_s: float) -> None:
        """So long a command lately waited before it came here."""
        self._delay_s += (delay_s - self._delay_s) * _SMOOTHING

    def _turn(self, now_s: float) -> None:
        if self._began_s is None:
            self._began_s = now_s
        elapsed_s = now_s - self._began_s
        if elapsed_s < _WINDOW_S or (self._answered < _FEW_ANSWERS and elapsed_s < _LONGEST_WINDOW_S):
            return
        if self._answered >= _FEW_ANSWERS or self._refused:
            self._learn(elapsed_s)
        else:
            self._recover()
        self._began_s = now_s
        self._answered = self._refused = 0
        self._took_s = 0.0

    def _learn(self, elapsed_s: float) -> None:
        mean_s = self._delay_s + self._took_s / max(1, self._answered)
        if self._refused or mean_s > self._goal_s:
            left_s = max(0.0, self._goal_s - self._delay_s)
            wanted = min(self._answered / elapsed_s * left_s, self.limit * _MOST_GROWTH)
            # A queue far too long is cut at once: whoever waits in it waits in vain.
            share = 1.0 if mean_s > 2 * self._goal_s else _SMOOTHING
            self.limit = max(self._least, min(self._most, self.limit + (wanted - self.limit) * share))
        else:
            self._recover()
        self._rate += (max(1.0, self._answered / elapsed_s) - self._rate) * _SMOOTHING

    def _recover(self) -> None:
        # What a hiccup has taken of it comes back where nobody needs it.
        self.limit = max(self.limit, min(self._first, self.limit * _RECOVERY))

    def _wait_s(self, now_s: float) -> float:
        self._next_again_s = max(self._next_again_s, now_s + _FIRST_WAIT_S) + 1 / (self._rate * _AGAIN_SHARE)
        if self._next_again_s <= now_s + _LAST_WAIT_S:
            return self._next_again_s - now_s
        # Too many for that: those who come now fill the same seconds once more.
        self._next_again_s = now_s + _FIRST_WAIT_S
        return _LAST_WAIT_S
