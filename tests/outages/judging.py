"""What a fault did to the players' time, reckoned from what clients saw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

from tests.outages.faults import Struck
from tests.outages.live import PLAYABLE_S, Diary, Run, Success
from tests.outages.people import Party, Reading

GRACE_MS = 500
_LONG_MS = 5_000
# So long before a fault the ways of commands show how fast this machine is.
_BEFORE_S = 5.0
# So long after the first command that got through a site goes on as before.
_GOOD_S = 3.0


@dataclass(frozen=True, slots=True)
class Row:
    """One fault. Times in milliseconds but for `seconds`.

    `unplayable_ms`: from the fault, or the last command of a table that got through, to the sending of the first that
    did again, whichever table waits;
    `counted_ms`: play time that advanced meanwhile; `back_ms`: from the end of it until clients heard that play
    time advances. Of the `deadlines` that ran, at the worst, `lost_ms`: how much sooner than its budget of playable
    time one ended. `over_credit_ms`: playable time from the fault until it was over for good that no play time was
    counted for, at the table with most of it. `refused`: answers that were sent in time and not taken; `not_once`:
    deadlines whose end is in the log more or less than once.
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
    """What all people of a site saw: commands of those who probe that got through, and what each table was told."""

    successes: Sequence[Success]
    parties: Sequence[Party]

    def told(self) -> list[Sequence[Reading]]:
        """Readings of play time, game by game: each has its shard's own."""
        return [readings for party in self.parties for readings in party.told]


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch in which some of the tables could not be played, in seconds; `to_s`: the first command after it was
    sent, which may have waited on its way, `seen_s`: it was done."""

    from_s: float
    to_s: float
    seen_s: float

    def overlap_s(self, from_s: float, to_s: float) -> float:
        """How much of it lies between two moments."""
        return max(0.0, min(self.to_s, to_s) - max(self.from_s, from_s))


def judge(struck: Sequence[Struck], seen: Seen, diary: Diary) -> list[Row]:
    """A row for each fault, in the order in which they came."""
    ends_s = [*(item.began_s for item in struck[1:]), float("inf")]
    gaps = [_gaps(item, until_s, seen) for item, until_s in zip(struck, ends_s, strict=True)]
    every = [gap for found in gaps for gap in found]
    return [_row(*item, every, seen, diary) for item in zip(struck, ends_s, gaps, strict=True)]


def forgotten(seen: Seen, diary: Diary) -> list[str]:
    """Deadlines that are long due by the clients' play time and have not ended."""
    now_ms = {party.table_id: party.play_time_ms() or 0 for party in seen.parties}
    return [
        f"{run.table_id} deadline {run.deadline.deadline_id}"
        for run in diary.open_runs.values()
        if run.deadline.opened_at_ms + run.deadline.budget_ms + GRACE_MS < now_ms.get(run.table_id, 0) - _LONG_MS
    ]


def _gaps(struck: Struck, until_s: float, seen: Seen) -> list[Gap]:
    """The stretches of a fault in which some table could not be played: all in which no command of it got through for
    longer than one may take; without a clock all of its absence: time stands still, though commands get through.

    A slow site is playable: commands may take twice as long as nine in ten did before the fault. Those took the usual
    time: so much later than the last that got through one that was sent right after it would have come back, and so
    much sooner than one that had waited on its way came back the site could be played.
    """
    if struck.fault.part == "clock":
        # It tells play time before whoever asks every now and then learns that it is ready.
        back_s = min((_back_s(struck, told) or struck.ready_s for told in seen.told()), default=struck.ready_s)
        to_s = min(struck.ready_s, back_s)
        return [Gap(struck.down_s, to_s, to_s)]
    near = [item for item in seen.successes if struck.began_s - _BEFORE_S <= item.seen_s <= until_s]
    took_s = sorted(item.took_s for item in near if item.seen_s < struck.began_s)
    usual_s = took_s[len(took_s) * 9 // 10] if took_s else 0.0
    slow_s = max(PLAYABLE_S, 2 * usual_s)
    found = []
    for table_id in {item.table_id for item in near}:
        of_table = sorted((item for item in near if item.table_id == table_id), key=lambda item: item.seen_s)
        for before, after in pairwise(of_table):
            from_s = max(before.seen_s + usual_s, struck.began_s)
            to_s = after.since_s(slow_s, usual_s)
            if to_s - from_s > slow_s:
                found.append(Gap(from_s, to_s, after.seen_s))
    return _joined(found)


def _joined(gaps: Sequence[Gap]) -> list[Gap]:
    """The same stretches, none of which overlaps another."""
    joined: list[Gap] = []
    for gap in sorted(gaps, key=lambda gap: gap.from_s):
        if joined and gap.from_s <= joined[-1].to_s:
            last = joined[-1]
            joined[-1] = Gap(last.from_s, max(last.to_s, gap.to_s), max(last.seen_s, gap.seen_s))
        else:
            joined.append(gap)
    return joined


def _row(struck: Struck, until_s: float, own: Sequence[Gap], every: Sequence[Gap], seen: Seen, diary: Diary) -> Row:
    over_s = max((gap.seen_s for gap in own), default=struck.ready_s)
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
        counted_ms=max((sum(_counted_ms(gap, told) for gap in own) for told in seen.told()), default=0),
        back_ms=max((_back_ms(struck, told) for told in seen.told()), default=0),
        deadlines=len(touched),
        lost_ms=max((max(0, -spare) for spare in spare_ms), default=0),
        over_credit_ms=max((_over_credit_ms(struck.began_s, over_s, own, told) for told in seen.told()), default=0),
        refused=sum(struck.began_s - 5 <= sent_s < until_s - 5 for sent_s in diary.refused),
        not_once=sum(count != 1 for count in times),
    )


def _spare_ms(run: Run, all_gaps: Sequence[Gap]) -> int:
    """Playable time that the deadline lasted beyond its budget; below 0: that it was short of it."""
    unplayable_s = sum(gap.overlap_s(run.opened_s, run.ended_s) for gap in all_gaps)
    return round((run.ended_s - run.opened_s - unplayable_s) * 1000) - run.deadline.budget_ms


def _within(readings: Sequence[Reading], from_s: float, to_s: float) -> tuple[Reading, Reading] | None:
    """The last reading before a stretch and the first one after it that says that play time advances; None if the game
    was not there all the time."""
    before = [item for item in readings if item[0] <= from_s]
    after = [item for item in readings if item[0] >= to_s and item[2]]
    return (before[-1], after[0]) if before and after else None


def _counted_ms(gap: Gap, readings: Sequence[Reading]) -> int:
    """Play time that advanced in a gap: what the readings around it tell, less the time that lay outside."""
    around = _within(readings, gap.from_s, gap.to_s)
    if around is None:
        return 0
    first, last = around
    outside_s = gap.from_s - first[0] + last[0] - gap.to_s
    return max(0, round(last[1] - first[1] - outside_s * 1000))


def _over_credit_ms(began_s: float, over_s: float, own: Sequence[Gap], readings: Sequence[Reading]) -> int:
    """Time from just before a fault until it was over for good, less what was unplayable and what was counted."""
    around = _within(readings, began_s, over_s + _GOOD_S)
    if around is None:
        return 0
    first, last = around
    playable_s = last[0] - first[0] - sum(gap.seen_s - gap.from_s for gap in own)
    return max(0, round(playable_s * 1000 - (last[1] - first[1])))


def _back_ms(struck: Struck, readings: Sequence[Reading]) -> int:
    """From the end of the stretch to the first reading that says that play time advances."""
    back_s = _back_s(struck, readings)
    return 0 if back_s is None else round((back_s - struck.ended_s) * 1000)


def _back_s(struck: Struck, readings: Sequence[Reading]) -> float | None:
    """The moment of that reading."""
    around = _within(readings, struck.began_s, struck.ended_s)
    return None if around is None else around[1][0]
