"""Figures of a run: in total, and for each kind of fault."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tests.chaos import journal as j
from tests.chaos.checks import DOUBLED, FORK, GAP, LOST, Trouble
from tests.chaos.faults import Done
from tests.chaos.tables import Noted

_COUNTED = {"lost": (LOST,), "doubled": (DOUBLED, FORK), "gaps": (GAP,)}
#: longer than any client waits between two tries of a command
_LONGEST_NS = 20_000_000_000


class Span(NamedTuple):
    """A time in which something took place."""

    began_ns: int
    ended_ns: int


def commands_of(clients: Iterable[Noted]) -> list[Span]:
    """From the first try to the acknowledgement of each command."""
    asked: dict[str, int] = {}
    found: dict[str, Span] = {}
    for client in clients:
        for note in client.notes:
            if isinstance(note, j.Asked):
                asked[note.command_id] = note.at_ns
            elif isinstance(note, j.Answered):
                found[note.command_id] = Span(asked[note.command_id], note.at_ns)
    return list(found.values())


def stalls_of(clients: Iterable[Noted], until_ns: int) -> list[Span]:
    """The times between two signs of life of a table's game, in the eyes of all of its clients, up to a moment."""
    moments = sorted(note.at_ns for client in clients for note in client.notes if isinstance(note, j.Seen | j.Answered))
    within = [moment for moment in moments if moment <= until_ns]
    return [Span(one, next_one) for one, next_one in pairwise(within)]


def figures(
    faults: Sequence[Done], commands: Sequence[Span], stalls: Sequence[Span], troubles: Sequence[Trouble]
) -> dict[str, Any]:
    """The last line of a run."""
    kinds: defaultdict[str, list[Done]] = defaultdict(list)
    for fault in faults:
        kinds[fault.kind].append(fault)
    in_order = sorted(commands, key=lambda span: span.ended_ns)
    ends = [span.ended_ns for span in in_order]
    blamed = _blame(faults, troubles)
    by_kind = {
        kind: {
            "faults": len(done),
            "acknowledged": len({number for one in done for number in _during(one, in_order, ends)}),
            **_counts([trouble for trouble, by in blamed if kind in by]),
            "longest_stall_ms": _longest_ms([stall for stall in stalls if any(_overlap(stall, one) for one in done)]),
        }
        for kind, done in sorted(kinds.items())
    }
    total = {
        "faults": len(faults),
        "acknowledged": len(commands),
        **_counts(troubles),
        "longest_stall_ms": _longest_ms(stalls),
    }
    return {**total, "by_kind": by_kind}


def _counts(troubles: Sequence[Trouble]) -> Mapping[str, int]:
    return {name: sum(trouble.sort in sorts for trouble in troubles) for name, sorts in _COUNTED.items()}


def _during(fault: Done, commands: Sequence[Span], ends: Sequence[int]) -> Iterable[int]:
    """The commands that were under way while the fault was in force, and acknowledged in the end."""
    for number in range(bisect_left(ends, fault.began_ns), len(commands)):
        if commands[number].ended_ns > fault.ended_ns + _LONGEST_NS:
            return
        if commands[number].began_ns <= fault.ended_ns:
            yield number


def _blame(faults: Sequence[Done], troubles: Iterable[Trouble]) -> list[tuple[Trouble, frozenset[str]]]:
    """Each trouble with the kinds of the faults in force when it was noted, or else of the last one before."""
    in_order = sorted(faults, key=lambda fault: fault.began_ns)
    found = []
    for trouble in troubles:
        before = [fault for fault in in_order if fault.began_ns <= trouble.at_ns]
        there = [fault for fault in before if trouble.at_ns <= fault.ended_ns] or before[-1:]
        found.append((trouble, frozenset(fault.kind for fault in there)))
    return found


def _overlap(span: Span, fault: Done) -> bool:
    return span.began_ns <= fault.ended_ns and fault.began_ns <= span.ended_ns


def _longest_ms(spans: Sequence[Span]) -> int:
    return max((span.ended_ns - span.began_ns for span in spans), default=0) // 1_000_000
