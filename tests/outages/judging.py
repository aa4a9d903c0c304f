"""What a fault did to the players' time, reckoned from what clients saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from tests.outages.faults import Struck
from tests.outages.live import PLAYABLE_S, Diary, Run, Success

GRACE_MS = 500
_LONG_MS = 5_000


@dataclass(frozen=True, slots=True)
class Row:
    """One fault. Times in milliseconds but for `seconds`.

    `unplayable_ms`: from the fault, or the last command that got through, to the sending of the first that did again;
    `counted_ms`: play time that advanced meanwhile; `back_ms`: from the end of it until clients heard that play
    time advances. Of the `deadlines` that ran, at the worst, `lost_ms`: how much sooner than its budget of playable
    time one ended; `over_credit_ms`: how much later than budget, grace and outage. `refused`: answers that were sent in
    time and not taken; `not_once`: deadlines whose end is in the log more or less than once.
    """

    part: str
    action: str
    seconds: float
    unplayable_ms: int
    counted_ms: int
    back_ms: int
    deadlines: int
    lost_ms: int
    over_credit_ms: int
    refused: int
    not_once: int

    @property
    def is_fair(self) -> bool:
        """Whether no player lost anything."""
        return not (self.lost_ms or self.refused or self.not_once)

    def as_json(self) -> dict[str, Any]:
        """For the last line of a report."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the people who probe saw: commands that got through, and readings of play time at one of their tables."""

    successes: Sequence[Success]
    readings: Sequence[tuple[float, int, bool]]


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch in which no command got through, in seconds."""

    from_s: float
    to_s: float

    def overlap_s(self, from_s: float, to_s: float) -> float:
        """How much of it lies between two moments."""
        return max(0.0, min(self.to_s, to_s) - max(self.from_s, from_s))


def judge(struck: Sequence[Struck], seen: Seen, diary: Diary) -> list[Row]:
    """A row for each fault, in the order in which they came."""
    ends_s = [*(item.began_s for item in struck[1:]), float("inf")]
    gaps = [_gaps(item, until_s, seen.successes) for item, until_s in zip(struck, ends_s, strict=True)]
    every = [gap for found in gaps for gap in found]
    return [_row(*item, every, seen, diary) for item in zip(struck, ends_s, gaps, strict=True)]


def forgotten(seen: Seen, diary: Diary) -> list[str]:
    """Deadlines that are long due by the clients' play time and have not ended."""
    now_ms = seen.readings[-1][1] if seen.readings else 0
    return [
        f"{run.table_id} deadline {run.deadline.deadline_id}"
        for run in diary.open_runs.values()
        if run.deadline.opened_at_ms + run.deadline.budget_ms + GRACE_MS < now_ms - _LONG_MS
    ]


def _gaps(struck: Struck, until_s: float, successes: Sequence[Success]) -> list[Gap]:
    """The stretches of a fault in which the site could not be played: all in which no command got through for longer
    than one may take; without a clock all of its absence, for then time stands still though commands get through."""
    if struck.fault.part == "clock":
        return [Gap(struck.began_s, struck.ready_s)]
    near = sorted(
        (item for item in successes if struck.began_s - 5 <= item.seen_s <= until_s), key=lambda item: item.seen_s
    )
    found = []
    for before, after in pairwise(near):
        from_s = max(before.seen_s, struck.began_s)
        if after.since_s - from_s > PLAYABLE_S:
            found.append(Gap(from_s, after.since_s))
    return found


def _row(struck: Struck, until_s: float, own: Sequence[Gap], every: Sequence[Gap], seen: Seen, diary: Diary) -> Row:
    over_s = max((gap.to_s for gap in own), default=struck.ready_s)
    touched = [
        run
        for run in diary.runs
        if run.is_expired and run.is_known and run.opened_s <= over_s and run.ended_s >= struck.began_s
    ]
    spare_ms = [_spare_ms(run, every) for run in touched]
    times = [diary.expiries.get((run.table_id, run.deadline.deadline_id), 0) for run in touched]
    return Row(
        part=struck.fault.part,
        action=struck.fault.action,
        seconds=struck.fault.seconds,
        unplayable_ms=round(1000 * sum(gap.to_s - gap.from_s for gap in own)),
        counted_ms=sum(_counted_ms(gap, seen.readings) for gap in own),
        back_ms=_back_ms(struck, seen.readings),
        deadlines=len(touched),
        lost_ms=max((max(0, -spare) for spare in spare_ms), default=0),
        over_credit_ms=max((max(0, spare - GRACE_MS) for spare in spare_ms), default=0),
        refused=sum(struck.began_s - 5 <= sent_s < until_s - 5 for sent_s in diary.refused),
        not_once=sum(count != 1 for count in times),
    )


def _spare_ms(run: Run, all_gaps: Sequence[Gap]) -> int:
    """Playable time that the deadline lasted beyond its budget; below 0: that it was short of it."""
    unplayable_s = sum(gap.overlap_s(run.opened_s, run.ended_s) for gap in all_gaps)
    return round((run.ended_s - run.opened_s - unplayable_s) * 1000) - run.deadline.budget_ms


def _counted_ms(gap: Gap, readings: Sequence[tuple[float, int, bool]]) -> int:
    """Play time that advanced in a gap: between the last reading before it and the first one after it, less the time
    that lay outside."""
    before = [item for item in readings if item[0] <= gap.from_s]
    after = [item for item in readings if item[0] >= gap.to_s and item[2]]
    if not before or not after:
        return 0
    outside_s = gap.from_s - before[-1][0] + after[0][0] - gap.to_s
    return max(0, round(after[0][1] - before[-1][1] - outside_s * 1000))


def _back_ms(struck: Struck, readings: Sequence[tuple[float, int, bool]]) -> int:
    """From the end of the stretch to the first reading that says that play time advances."""
    moment_s = next((at_s for at_s, _, running in readings if running and at_s >= struck.ended_s), struck.ended_s)
    return round((moment_s - struck.ended_s) * 1000)
