"""What must hold in every schedule, checked against what really happened.

Times are the world's. A *budget* is a deadline's budget of play time; it is *due* when play time reaches
`opened_at_ms + budget_ms + grace`. It opens when the table service takes up the command that opens it, and it *fires*
when the `Expire` that ends it is taken up (early) or committed (late).

early        A deadline fires although less than its budget has passed since it opened. Time in which surely nothing
             could be played does not count: some part had no process that ran, or the store, the event stream or a way
             of the probes was away, for longer than the longest gap between two probes that counts.
late         In a stretch without a fault, in which play time runs, a deadline is committed as over more than 200 ms
             after it is due. For one that lived wholly in such a stretch due is reckoned in real time, for others by
             the play time that the clock tells. The stretch begins `SETTLE_S` after play time runs again. For one that
             was due before the stretch it is `AGAIN_MS`, after its begin: word of its end may have been lost.
forgotten    The same, of a deadline that is still in force at the end.
twice        Two commands of a game are the end of one deadline, or one is the end of a deadline that was not in force.
over-credit  Of a disturbance: real time less the advance of play time less the real outage, for each time that play
             time stood still. The real outage is the time of the faults themselves, after them the time until the
             world's own probes come back, and after the death of the process that told play time, or had been given it
             to tell, until one tells it. (Where it was given after its death, before that could be noticed, until a
             while after it could.)
ahead        Play time that surely passed advances faster than the time in which something could be played.
remaining    What is left of a deadline, as a client reckons it from `SyncTime` of any gateway, grows; or between two
             answers that say that play time is running it shrinks faster than real time. (While a gateway says that it
             is not running a client stops its countdown, and goes on from what the next answer says. A gateway that was
             stopped while it was asked answers what it knew before.)
stuck        Play time stands still at the end of a stretch without a fault, and has for longer than `RECOVERY_S`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from magnate.game.v1 import decision_pb2, update_pb2

from services.table.domain.shards import shard_of
from tests.simulation.faults import Window
from tests.simulation.loop import FIRST_S
from tests.simulation.people import Sample, Sight
from tests.simulation.site import CLOCK, TABLE
from tests.simulation.store import Logged
from tests.simulation.truth import ALWAYS, PROBE_EVERY_S, Read, Span, Truth

SETTLE_S = 1.5
RECOVERY_S = 5.0
LATE_MS = 200.0
AGAIN_MS = 3_000.0
OVER_CREDIT_MS = 2.0 * CLOCK.probe_period_ms
_ROUNDING_MS = 2.0
# Faults of one disturbance: the next begins before play time has run quietly for so long.
_APART_S = 1.0
# So long a clock that died is taken for living, and so long after that others take what it was given and tell it.
_SEEN_S = CLOCK.terms().seen_ms / 1000
_TAKEN_AGAIN_S = 0.5
# So long after it goes on a gateway may still be reading what had piled up.
_WOKEN_S = 0.1


@dataclass(slots=True)
class Findings:
    """What was found in one schedule."""

    violations: list[str] = field(default_factory=list)
    late_ms: list[float] = field(default_factory=list)
    over_credit_ms: float = 0.0
    opened: int = 0
    fired: int = 0


@dataclass(slots=True)
class Life:
    """One deadline from its opening to its end; None while it has not fired."""

    table_id: str
    shard: int
    deadline: decision_pb2.Deadline
    opened_s: float
    fires: list[tuple[float, float]] = field(default_factory=list)
    ended_s: float | None = None

    @property
    def due_ms(self) -> int:
        return self.deadline.opened_at_ms + self.deadline.budget_ms + TABLE.grace_ms

    def __str__(self) -> str:
        return (
            f"deadline {self.deadline.deadline_id} of {self.table_id[:6]} (opened at {self.deadline.opened_at_ms} ms)"
        )


@dataclass(slots=True)
class Schedule:
    """What there is to check: the world's truth, the log, the faults, what people saw, and when all ended."""

    truth: Truth
    log: Sequence[Logged]
    windows: Sequence[Window]
    sights: Sequence[Sight]
    begun_s: float
    ended_s: float


def check(schedule: Schedule) -> Findings:
    """All of the above."""
    findings = Findings()
    lives = list(_lives(schedule.log, findings))
    findings.opened, findings.fired = len(lives), sum(bool(life.fires) for life in lives)
    shards = sorted({*ALWAYS, *(life.shard for life in lives)})
    for life in lives:
        _early(schedule, life, findings)
    for shard in shards:
        mine = [life for life in lives if life.shard == shard]
        calm = list(_calm(schedule, shard, findings))
        _late(schedule, mine, calm, findings)
        _ahead(schedule, shard, findings)
        _over_credit(schedule, shard, findings)
    for sight in schedule.sights:
        _remaining(schedule, sight, findings)
    return findings


def _lives(log: Sequence[Logged], findings: Findings) -> Iterator[Life]:
    tables: dict[str, list[Logged]] = defaultdict(list)
    for row in log:
        tables[row.table_id].append(row)
    for table_id, rows in tables.items():
        lives: dict[int, Life] = {}
        in_force: set[int] = set()
        for row in sorted(rows, key=lambda row: row.first_seq):
            update = update_pb2.Update.FromString(row.update)
            taken_up_s = row.receipt.at_s if row.receipt is not None else row.committed_s
            if update.command.HasField("expire"):
                _fire(update, lives, in_force, (taken_up_s, row.committed_s), findings)
            now_in_force = set() if update.game_over else {item.deadline_id for item in update.deadlines}
            for deadline in update.deadlines:
                if deadline.deadline_id not in lives:
                    lives[deadline.deadline_id] = Life(table_id, shard_of(table_id), deadline, taken_up_s)
            for deadline_id in in_force - now_in_force:
                lives[deadline_id].ended_s = row.committed_s
            in_force = now_in_force
        yield from lives.values()


def _fire(
    update: update_pb2.Update, lives: dict[int, Life], in_force: set[int], at: tuple[float, float], findings: Findings
) -> None:
    life = lives.get(update.command.expire.deadline_id)
    if life is None:
        findings.violations.append(f"twice: {update.command.expire.deadline_id} of {update.table_id} never opened")
        return
    life.fires.append(at)
    if life.deadline.deadline_id not in in_force:
        findings.violations.append(f"twice: {life} ended at {_at(at[1])} and was not in force")
    elif len(life.fires) > 1:
        findings.violations.append(f"twice: {life} ended again at {_at(at[1])}")


def _early(schedule: Schedule, life: Life, findings: Findings) -> None:
    for taken_up_s, _ in life.fires:
        had_s = taken_up_s - life.opened_s - schedule.truth.lost_s(life.opened_s, taken_up_s)
        short_ms = life.deadline.budget_ms - had_s * 1000
        if short_ms > _ROUNDING_MS:
            findings.violations.append(
                f"early: {life}, opened at {_at(life.opened_s)}, fired at {_at(taken_up_s)}, "
                f"{short_ms:.0f} ms of its budget of {life.deadline.budget_ms} ms before its time"
            )


def _calm(schedule: Schedule, shard: int, findings: Findings) -> Iterator[Span]:
    """Stretches without a fault in which the play time of a shard runs, from a while after it goes on."""
    reads = schedule.truth.reads[shard]
    if not reads:
        return
    for quiet_s, until_s in _quiet(schedule.windows, max(schedule.begun_s, reads[0].at_s), schedule.ended_s):
        runs_s = _runs_since(reads, quiet_s, until_s)
        if runs_s is None:
            stopped_s = _last_run_s(reads, quiet_s, until_s)
            if until_s - stopped_s > RECOVERY_S:
                findings.violations.append(f"stuck: play time of shard {shard} does not run from {_at(stopped_s)} on")
        elif runs_s + SETTLE_S < until_s:
            yield runs_s + SETTLE_S, until_s


def _quiet(windows: Sequence[Window], begun_s: float, ended_s: float) -> Iterator[Span]:
    at_s = begun_s
    for window in sorted(windows, key=lambda window: window.from_s):
        if window.from_s > at_s:
            yield at_s, min(window.from_s, ended_s)
        at_s = max(at_s, window.to_s)
    if at_s < ended_s:
        yield at_s, ended_s


def _runs_since(reads: Sequence[Read], from_s: float, to_s: float) -> float | None:
    """From when on play time runs without a pause up to the end of a span; None if it does not at its end."""
    since: float | None = None
    last_s = from_s
    first = max(0, bisect_left(reads, from_s, key=lambda read: read.at_s) - 1)
    for read in reads[first:]:
        if read.at_s > to_s:
            break
        if not read.running or read.at_s - last_s > CLOCK.probe_longest_gap_ms / 1000:
            since = None
        if read.running and since is None:
            since = max(from_s, read.at_s)
        last_s = max(from_s, read.at_s)
    return since if to_s - last_s < CLOCK.probe_longest_gap_ms / 1000 else None


def _last_run_s(reads: Sequence[Read], from_s: float, to_s: float) -> float:
    """When play time ran for the last time in a span; its begin if it never did."""
    return max((read.at_s for read in reads if read.running and from_s <= read.at_s <= to_s), default=from_s)


def _late(schedule: Schedule, lives: Sequence[Life], calm: Sequence[Span], findings: Findings) -> None:
    for begin_s, end_s in calm:
        for life in lives:
            due_s, grace_ms = _due_s(schedule, life, begin_s, end_s), LATE_MS
            if due_s < begin_s:
                # Its end may have been lost on its way and is told again.
                due_s, grace_ms = begin_s, AGAIN_MS
            if due_s + grace_ms / 1000 > end_s or (life.ended_s is not None and life.ended_s <= due_s):
                continue
            if life.ended_s is None:
                findings.violations.append(f"forgotten: {life}, due at {_at(due_s)}, never ended")
                continue
            late_ms = (life.ended_s - due_s) * 1000
            if late_ms > grace_ms:
                findings.violations.append(
                    f"late: {life}, due at {_at(due_s)}, ended at {_at(life.ended_s)}, {late_ms:.0f} ms after"
                )
            elif life.fires and grace_ms == LATE_MS:
                findings.late_ms.append(late_ms)


def _due_s(schedule: Schedule, life: Life, begin_s: float, end_s: float) -> float:
    """When a deadline is due, as reckoned in a calm stretch; never for one that does not live in it."""
    if life.opened_s >= end_s or (life.ended_s is not None and life.ended_s <= begin_s):
        return float("inf")
    if life.opened_s >= begin_s:
        return life.opened_s + (life.deadline.budget_ms + TABLE.grace_ms) / 1000
    return begin_s + (life.due_ms - schedule.truth.play_time_ms(life.shard, begin_s)) / 1000


def _ahead(schedule: Schedule, shard: int, findings: Findings) -> None:
    """Play time less the time that could be played never grows, over all pairs of readings."""
    truth = schedule.truth
    least, least_s, lost_s, before_s = float("inf"), 0.0, 0.0, schedule.begun_s
    for read in truth.reads[shard]:
        lost_s += truth.lost_s(before_s, read.at_s)
        before_s = read.at_s
        if not read.is_exact:
            continue
        lead_ms = read.play_time_ms - (read.at_s - lost_s) * 1000
        if lead_ms > least + _ROUNDING_MS:
            findings.violations.append(
                f"ahead: play time of shard {shard} gained {lead_ms - least:.0f} ms on what could be played "
                f"between {_at(least_s)} and {_at(read.at_s)}"
            )
            return
        if lead_ms < least:
            least, least_s = lead_ms, read.at_s


def _over_credit(schedule: Schedule, shard: int, findings: Findings) -> None:
    truth = schedule.truth
    for begin_s, to_s in _disturbances(schedule, shard):
        if begin_s < truth.reads[shard][0].at_s:
            # Of its begin nothing is known here.
            continue
        advance_ms = truth.play_time_ms(shard, to_s) - truth.play_time_ms(shard, begin_s)
        not_counted_ms = (to_s - begin_s) * 1000 - advance_ms
        real_ms = _covered(_real_outages(schedule, shard, begin_s, to_s)) * 1000
        stops = max(1, _stops(truth.reads[shard], begin_s, to_s))
        over_ms = (not_counted_ms - real_ms) / stops
        findings.over_credit_ms = max(findings.over_credit_ms, over_ms)
        if over_ms > OVER_CREDIT_MS:
            findings.violations.append(
                f"over-credit: from {_at(begin_s)} to {_at(to_s)} shard {shard} got {not_counted_ms:.0f} ms "
                f"back for outages of {real_ms:.0f} ms; play time stood still {stops} times"
            )


def _disturbances(schedule: Schedule, shard: int) -> Iterator[Span]:
    """From the first fault of some that follow each other to when play time has run for a while."""
    reads = schedule.truth.reads[shard]
    begin_s: float | None = None
    spans = list(_quiet(schedule.windows, schedule.begun_s, schedule.ended_s))
    for number, (quiet_s, until_s) in enumerate(spans):
        if begin_s is not None:
            runs_s = _runs_since(reads, quiet_s, until_s)
            if runs_s is None or runs_s + _APART_S > until_s:
                continue
            yield begin_s, runs_s + _APART_S / 2
        begin_s = until_s if number < len(spans) - 1 else None


def _real_outages(schedule: Schedule, shard: int, begin_s: float, to_s: float) -> Iterator[Span]:
    truth = schedule.truth
    for sent_s, returned in truth.probes:
        if not returned and begin_s <= sent_s < to_s:
            yield sent_s, sent_s + PROBE_EVERY_S
    for window in schedule.windows:
        if window.to_s > begin_s and window.from_s < to_s:
            yield max(begin_s, window.from_s), min(to_s, window.to_s)
    # While the process that told the time of the shard is down: until it, or another one, tells it again.
    reads = truth.reads[shard]
    for down_s, _ in (span for spans in truth.down.values() for span in spans):
        index = bisect_left(reads, down_s, key=lambda read: read.at_s)
        if not 0 < index < len(reads):
            continue
        told_by = reads[index - 1].process
        # Or of one that had been given the shard and died before it told anything.
        is_on_its_way = told_by != reads[index].process and (down_s, reads[index].process) in _begins(truth)
        if (down_s, told_by) in _begins(truth) or is_on_its_way:
            yield max(begin_s, down_s), min(to_s, reads[index].at_s)
    # And where it was given to one that had died so lately that nobody could know.
    for before, after in pairwise(reads):
        if after.epoch > before.epoch and begin_s <= before.at_s < to_s:
            for down_s in _clocks_died(truth, before.at_s - _SEEN_S, before.at_s):
                yield before.at_s, min(to_s, after.at_s, down_s + _SEEN_S + _TAKEN_AGAIN_S)


def _clocks_died(truth: Truth, from_s: float, to_s: float) -> Iterator[float]:
    for process, spans in truth.down.items():
        if process.startswith("clock"):
            yield from (down_s for down_s, _ in spans if from_s <= down_s <= to_s)


def _begins(truth: Truth) -> set[tuple[float, str]]:
    return {(span[0], process) for process, spans in truth.down.items() for span in spans}


def _stops(reads: Sequence[Read], begin_s: float, to_s: float) -> int:
    """How often play time came to stand still."""
    first = max(0, bisect_left(reads, begin_s, key=lambda read: read.at_s) - 1)
    inside = [read for read in reads[first:] if read.at_s <= to_s]
    return sum(
        before.running
        and (
            not after.running
            or after.process != before.process
            or after.at_s - before.at_s > CLOCK.probe_longest_gap_ms / 1000
        )
        for before, after in pairwise(inside)
    )


def _covered(spans: Iterator[Span]) -> float:
    """The length of a union of spans."""
    total, reached = 0.0, float("-inf")
    for begin_s, end_s in sorted(spans):
        total += max(0.0, end_s - max(begin_s, reached))
        reached = max(reached, end_s)
    return total


def _remaining(schedule: Schedule, sight: Sight, findings: Findings) -> None:
    for deadline_id, deadline in sight.deadlines.items():
        begin_s, end_s = sight.known[deadline_id]
        most_play_ms, least_lead_ms = float("-inf"), float("inf")
        for sample in sight.samples:
            if sample.asked_s < begin_s or sample.heard_s > end_s:
                continue
            left_ms = deadline.opened_at_ms + deadline.budget_ms - sample.play_time_ms
            if left_ms < 0:
                break
            if sample.play_time_ms < most_play_ms - _ROUNDING_MS:
                findings.violations.append(
                    f"remaining: of deadline {deadline_id} of {sight.table_id[:6]} grew by "
                    f"{most_play_ms - sample.play_time_ms:.0f} ms at {_at(sample.heard_s)}, says {sample.gateway}"
                )
                return
            most_play_ms = max(most_play_ms, sample.play_time_ms)
            if not sample.running or _was_stopped(schedule, sample):
                continue
            lead_ms = sample.play_time_ms - sample.heard_s * 1000
            if lead_ms > least_lead_ms + _ROUNDING_MS:
                findings.violations.append(
                    f"remaining: of deadline {deadline_id} of {sight.table_id[:6]} fell "
                    f"{lead_ms - least_lead_ms:.0f} ms faster than real time until {_at(sample.heard_s)}, "
                    f"says {sample.gateway}"
                )
                return
            least_lead_ms = min(least_lead_ms, sample.play_time_ms - sample.asked_s * 1000)


def _was_stopped(schedule: Schedule, sample: Sample) -> bool:
    """Whether the gateway was down while the question was on its way: the answer may be what it knew before."""
    spans = schedule.truth.down[sample.gateway]
    return any(sample.asked_s <= up_s + _WOKEN_S and down_s <= sample.heard_s for down_s, up_s in spans)


def _at(moment_s: float) -> str:
    """A moment as the trace writes it."""
    return f"{moment_s - FIRST_S:.3f}"
