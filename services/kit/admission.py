"""How many commands may be under way at a time: as many as are answered soon, and no more."""

from __future__ import annotations

from math import ceil

import grpc

from services.kit.errors import ServiceError

_WINDOW_S = 0.2
# A window with so few answers says nothing yet; one that stays so for so long says that there is little to do.
_FEW_ANSWERS, _LONGEST_WINDOW_S = 12, 1.0
# What answers may take in the mean, as a share of the target. How far the slowest are from the mean is not the same
# everywhere, so it follows from them.
_FIRST_GOAL, _LEAST_GOAL, _MOST_GOAL = 0.3, 0.2, 0.36
_SLOW_FROM, _SLOW_SHARE, _JUDGED_ANSWERS = 0.8, 0.01, 200
_STRICTER, _LOOSER = 0.9, 1.05
_MOST_GOALS = 4
_SMOOTHING = 0.5
_MOST_CUT, _MOST_GROWTH, _RECOVERY = 0.6, 1.5, 1.05
# So many come again in vain for each that is answered: fewer, and the work may run out; more, and refusing costs.
_IN_VAIN = 0.3
# A longer wait before a command is seen, by the time that it may take in the mean, says that too many come.
_DELAY_SHARE = 0.25
_FIRST_WAIT_S, _LAST_WAIT_S = 0.1, 5.0
# Slowly: who was sent away for long because of a hiccup does not come back when it is over.
_MOST_WAIT_CHANGE = 1.15
# Multiples of it fill an interval evenly, whatever their number.
_GOLDEN = 0.618034
_NO_ANSWERS = (
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
)


class Admission:
    """Waiting commands help nobody: what would wait for long is refused at once, with a time to wait elsewhere.

    By Little's law a queue that is answered at a rate r holds r x t commands when each takes t. So many are let in,
    with a share of `target_ms` for t, when answers take longer than that in the mean, and as far as that is more than
    before also when they are quicker and the bound was met; a lower rate alone lowers nothing, for it may be that too
    few came. The share falls to 0.2 while more than one answer in a hundred comes near the target, and rises to 0.36
    while none does. What a command waits for before it gets here (`delayed`) is part of its time.

    The refused come again after a time that follows from what is seen of them alone: longer while many come in vain
    for each that is answered, shorter while few do, for then nobody may be left to fill the places. A target of 0
    admits all.
    """

    def __init__(self, *, target_ms: int, least: int = 8, first: int = 128, most: int = 1_000) -> None:
        self._target_s = target_ms / 1000
        self._goal_s = self._target_s * _FIRST_GOAL
        self._least = least
        self._first, self._most = first, most
        self.limit = float(first if target_ms else most)
        self.under_way = 0
        self._wait_s = _FIRST_WAIT_S
        self._delay_s = 0.0
        self._began_s: float | None = None
        self._peak = self._answered = self._refused = self._sent_away = 0
        self._took_s = 0.0
        self._judged = self._slow = 0

    def enter(self, now_s: float) -> int:
        """Counts a command in: 0. Or refuses it: the milliseconds after which it may come again."""
        self._turn(now_s)
        if self._goal_s and self.under_way >= self.limit:
            self._refused += 1
            self._sent_away += 1
            # From one half to one and a half of it, so that they do not come back in a heap.
            return ceil(self._wait_s * (0.5 + self._sent_away * _GOLDEN % 1) * 1000)
        self.under_way += 1
        self._peak = max(self._peak, self.under_way)
        return 0

    def leave(self, now_s: float, took_s: float, failure: ServiceError | None = None) -> None:
        """Counts it out, with the time that its answer took. What failed because something is away, or was refused
        further on for the same reason as here, says nothing of how long answers take."""
        self.under_way -= 1
        if failure is None or failure.code not in _NO_ANSWERS:
            self._answered += 1
            # A few that hang are no queue.
            self._took_s += min(took_s, _MOST_GOALS * self._goal_s)
            self._judge(took_s + self._delay_s)
        self._turn(now_s)

    def delayed(self, delay_s: float) -> None:
        """So long a command lately waited before it came here."""
        self._delay_s += (delay_s - self._delay_s) * _SMOOTHING

    def _judge(self, took_s: float) -> None:
        self._judged += 1
        self._slow += took_s > self._target_s * _SLOW_FROM
        if self._judged < _JUDGED_ANSWERS:
            return
        wanted_s = self._goal_s * (_STRICTER if self._slow > self._judged * _SLOW_SHARE else _LOOSER)
        self._goal_s = max(self._target_s * _LEAST_GOAL, min(self._target_s * _MOST_GOAL, wanted_s))
        self._judged = self._slow = 0

    def _turn(self, now_s: float) -> None:
        if self._began_s is None:
            self._began_s = now_s
        elapsed_s = now_s - self._began_s
        if elapsed_s < _WINDOW_S or (self._answered < _FEW_ANSWERS and elapsed_s < _LONGEST_WINDOW_S):
            return
        if self._answered >= _FEW_ANSWERS:
            self._bound(self._delay_s + self._took_s / self._answered, self._answered / elapsed_s)
        else:
            self._recover()
        self._space(self._refused / max(1, self._answered) / _IN_VAIN)
        self._began_s = now_s
        self._peak, self._answered, self._refused = self.under_way, 0, 0
        self._took_s = 0.0

    def _bound(self, mean_s: float, rate: float) -> None:
        wanted = min(rate * max(0.0, self._goal_s - self._delay_s), self.limit * _MOST_GROWTH)
        if mean_s > self._goal_s:
            wanted = max(self._least, min(self._peak, self.limit) * _MOST_CUT, wanted)
            self.limit = min(self.limit, wanted)
        elif self._peak >= int(self.limit):
            self.limit = min(self._most, max(self.limit, self.limit + (wanted - self.limit) * _SMOOTHING))
        else:
            self._recover()

    def _recover(self) -> None:
        # What a hiccup has taken of it comes back where nobody needs it.
        self.limit = max(self.limit, min(self._first, self.limit * _RECOVERY))

    def _space(self, crowd: float) -> None:
        # Those who wait at the port have not been seen yet, and are too many all the same.
        if self._goal_s:
            crowd = max(crowd, self._delay_s / (self._goal_s * _DELAY_SHARE))
        change = max(1 / _MOST_WAIT_CHANGE, min(_MOST_WAIT_CHANGE, crowd))
        self._wait_s = max(_FIRST_WAIT_S, min(_LAST_WAIT_S, self._wait_s * change))
