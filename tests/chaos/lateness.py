"""Whether watchers were shown what was acknowledged in good time.

A fault may delay an update by as long as it lasts; when all is well, nothing but the way over the event stream may
pass between an acknowledgement and its update at an open watch. What comes later came by another way: the one that
makes up for a message that the event stream never had.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.chaos import journal as j
from tests.chaos.checks import Trouble
from tests.chaos.tables import Noted

LATE = "late"
#: below the time after which a gateway compares silent tables with the table service (MAGNATE_RECONCILE_MS)
LATEST_NS = 10_000_000_000
#: how long a part may need after a fault until it has found all others again
_AFTERMATH_NS = 5_000_000_000


class Disturbance(NamedTuple):
    """A time in which a fault was in force."""

    began_ns: int
    ended_ns: int


def check_lateness(clients: Sequence[Noted], disturbances: Sequence[Disturbance], ended_ns: int) -> Iterator[Trouble]:
    """Updates of acknowledged commands that an open watch was shown too late, or not by the end of the run."""
    calm = _Calm(disturbances)
    answers = [note for client in clients for note in client.notes if isinstance(note, j.Answered)]
    for client in clients:
        shown = _Shown(client, ended_ns)
        for answer in answers:
            until_ns = shown.waited_until(answer)
            if until_ns - answer.at_ns > LATEST_NS and calm.within(answer.at_ns, until_ns) > LATEST_NS:
                waited_ms = (until_ns - answer.at_ns) // 1_000_000
                yield Trouble(
                    LATE, answer.table_id, answer.at_ns, f"{client.client} waited {waited_ms} ms for {answer.last_seq}"
                )


class _Shown:
    """When a client had been shown how much, and while which times its watch was open."""

    def __init__(self, client: Noted, ended_ns: int) -> None:
        self._places: list[int] = []
        self._times: list[int] = []
        self._opened: list[int] = []
        self._closed: list[int] = []
        for note in client.notes:
            if isinstance(note, j.Seen | j.Began):
                self._places.append(note.last_seq if isinstance(note, j.Seen) else note.seq)
                self._times.append(note.at_ns)
            elif isinstance(note, j.Joined) and len(self._opened) == len(self._closed):
                self._opened.append(note.at_ns)
            elif isinstance(note, j.Opened | j.Cut) and len(self._opened) > len(self._closed):
                self._closed.append(note.at_ns)
        if len(self._opened) > len(self._closed):
            self._closed.append(ended_ns)

    def waited_until(self, answer: j.Answered) -> int:
        """When the client was shown the update, or its watch ended; the answer's own moment if no watch was open."""
        number = bisect_left(self._opened, answer.at_ns) - 1
        if number < 0 or self._closed[number] <= answer.at_ns:
            return answer.at_ns
        shown = bisect_left(self._places, answer.last_seq)
        return min(self._closed[number], self._times[shown] if shown < len(self._times) else self._closed[number])


class _Calm:
    """The times without a disturbance."""

    def __init__(self, disturbances: Sequence[Disturbance]) -> None:
        self._merged: list[Disturbance] = []
        for began_ns, ended_ns in sorted(disturbances):
            until_ns = ended_ns + _AFTERMATH_NS
            if self._merged and began_ns <= self._merged[-1].ended_ns:
                last = self._merged.pop()
                self._merged.append(Disturbance(last.began_ns, max(last.ended_ns, until_ns)))
            else:
                self._merged.append(Disturbance(began_ns, until_ns))

    def within(self, began_ns: int, ended_ns: int) -> int:
        """How much of this time was calm, in nanoseconds."""
        disturbed = sum(max(0, min(ended_ns, one.ended_ns) - max(began_ns, one.began_ns)) for one in self._merged)
        return ended_ns - began_ns - disturbed
