"""Whether the history of a table is linearisable, judged against its log.

The log puts all commands into one order, and a read tells after which of them it took place. So nothing has to be
searched for: a history is linearisable in this order if and only if no operation had ended before another one began
that the order puts before it. Reads of the same place stand in any order among themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple


class Operation(NamedTuple):
    """What one client did: a command that the log has up to event `seq`, or a read that found the log at `seq`.

    It took effect at some moment from `began_ns` to `ended_ns`.
    """

    seq: int
    is_read: bool
    began_ns: int
    ended_ns: int
    name: str


class Disorder(NamedTuple):
    """`late` began when `early` had ended, yet the log puts it first."""

    late: Operation
    early: Operation


def disorders(operations: Iterable[Operation]) -> list[Disorder]:
    """All operations that stand too late in the log, each with one that stands before it and began after its end."""
    found: list[Disorder] = []
    latest: Operation | None = None
    for _, group in groupby(sorted(operations, key=_place), key=_place):
        alike = list(group)
        if latest is not None:
            found += [Disorder(latest, one) for one in alike if one.ended_ns < latest.began_ns]
        last = max(alike, key=lambda one: one.began_ns)
        if latest is None or last.began_ns > latest.began_ns:
            latest = last
    return found


def _place(operation: Operation) -> tuple[int, bool]:
    return operation.seq, operation.is_read
