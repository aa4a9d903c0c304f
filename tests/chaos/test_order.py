"""The linearisability check itself: right histories pass, planted violations are found, and a search agrees."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chaos.order import Operation, disorders
from tests.support.amount import amount

_EXAMPLES = amount(150, 5_000)


@st.composite
def histories(draw: st.DrawFn) -> list[Operation]:
    """What clients saw of commands and reads that took effect one after another, each within its own time."""
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=12))
    seq, moment = 0, 0
    found = []
    for number, is_read in enumerate(kinds):
        moment += draw(st.integers(1, 20))
        seq += 0 if is_read else draw(st.integers(1, 5))
        before, after = draw(st.integers(0, 60)), draw(st.integers(0, 60))
        found.append(Operation(seq, is_read, moment - before, moment + after, str(number)))
    return draw(st.permutations(found))


@st.composite
def small_histories(draw: st.DrawFn) -> list[Operation]:
    """Any five operations at all; a command has a number of its own."""
    seqs = draw(st.lists(st.integers(1, 9), min_size=1, max_size=5, unique=True))
    reads = draw(st.lists(st.booleans(), min_size=len(seqs), max_size=len(seqs)))
    found = []
    for number, (seq, is_read) in enumerate(zip(seqs, reads, strict=True)):
        began = draw(st.integers(0, 12))
        found.append(
            Operation(seq // 2 * 2 if is_read else seq, is_read, began, began + draw(st.integers(0, 6)), str(number))
        )
    return found


def _is_linearisable(operations: list[Operation]) -> bool:
    """By trying all orders: one that keeps to time, and in which every number comes as the log has it."""
    return any(_keeps_to_time(order) and _follows_log(order) for order in permutations(operations))


def _keeps_to_time(order: tuple[Operation, ...]) -> bool:
    return not any(later.ended_ns < one.began_ns for at, one in enumerate(order) for later in order[at:])


def _follows_log(order: tuple[Operation, ...]) -> bool:
    places = [(one.seq, one.is_read) for one in order]
    return places == sorted(places)


@settings(max_examples=_EXAMPLES, deadline=None)
@given(histories())
def test_what_took_effect_in_the_order_of_the_log_passes(history: list[Operation]) -> None:
    """Given operations that each took effect between their call and their answer, there is no disorder."""
    assert disorders(history) == []


@settings(max_examples=_EXAMPLES, deadline=None)
@given(small_histories())
def test_the_check_agrees_with_a_search_through_all_orders(history: list[Operation]) -> None:
    """A disorder is found if and only if no order of the operations fits both the log and the clock."""
    assert (disorders(history) == []) == _is_linearisable(history)


@settings(max_examples=_EXAMPLES, deadline=None)
@given(histories(), st.data())
def test_a_command_that_the_log_puts_too_late_is_found(history: list[Operation], data: st.DataObject) -> None:
    """Given a command that began after all others had ended, when the log has it before one of them, it is named."""
    others = [one for one in history if not one.is_read]
    if not others:
        return
    overtaken = data.draw(st.sampled_from(others))
    late_ns = max(one.ended_ns for one in history) + 1
    planted = Operation(overtaken.seq - 1, True, late_ns, late_ns + 1, "planted")
    assert "planted" in {found.late.name for found in disorders([*history, planted])}


def test_a_read_that_is_older_than_an_answer_before_it_is_found() -> None:
    """Given a command acknowledged at 7, when a read that begins afterwards sees 6, both are named."""
    write, read = Operation(7, False, 10, 20, "write"), Operation(6, True, 21, 30, "read")
    assert [(found.late.name, found.early.name) for found in disorders([write, read])] == [("read", "write")]


def test_a_read_that_overlaps_a_command_may_see_either() -> None:
    """Given a read that began before the answer, what it sees is right with and without the command."""
    write = Operation(7, False, 10, 20, "write")
    assert disorders([write, Operation(6, True, 19, 30, "before")]) == []
    assert disorders([write, Operation(7, True, 5, 11, "after")]) == []
