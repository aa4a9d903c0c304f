"""Which deadlines are due, and when."""

from __future__ import annotations

import random

from services.clock.domain.deadlines import Deadline, Deadlines, Due, Left

GRACE_MS = 500


def armed(*named: tuple[str, int, Deadline]) -> Deadlines:
    """Deadlines with these in force: (table, seq, deadline)."""
    deadlines = Deadlines()
    for table_id, seq, deadline in named:
        deadlines.arm(table_id, seq, [deadline], GRACE_MS)
    return deadlines


def test_due_after_budget_and_grace_and_not_a_millisecond_before() -> None:
    """IND-TIME-17: none may fire early."""
    deadlines = armed(("t1", 5, Deadline(3, 10_000, 300_000)))
    assert deadlines.next_ms() == 310_500
    assert deadlines.take_due(310_499, 10) == []
    assert deadlines.take_due(310_500, 10) == [Due("t1", 3, 310_500)]


def test_longest_due_comes_first_and_no_more_than_the_limit() -> None:
    deadlines = armed(
        ("b", 1, Deadline(1, 2_000, 60_000)), ("a", 1, Deadline(1, 3_000, 60_000)), ("c", 1, Deadline(9, 1_000, 60_000))
    )
    assert deadlines.take_due(99_000, 2) == [Due("c", 9, 61_500), Due("b", 1, 62_500)]
    assert deadlines.take_due(99_000, 2) == [Due("a", 1, 63_500)]


def test_update_replaces_all_that_was_in_force() -> None:
    """IND-TIME-16: a deadline that was met never fires."""
    deadlines = armed(("t1", 5, Deadline(3, 0, 60_000)))
    deadlines.arm("t1", 7, [Deadline(4, 50_000, 60_000)], GRACE_MS)
    assert len(deadlines) == 1
    assert deadlines.take_due(110_499, 10) == []
    assert deadlines.take_due(110_500, 10) == [Due("t1", 4, 110_500)]


def test_earlier_deadline_beside_a_later_one() -> None:
    deadlines = armed(("t1", 5, Deadline(3, 0, 300_000)))
    deadlines.arm("t1", 6, [Deadline(3, 0, 300_000), Deadline(4, 1_000, 60_000)], GRACE_MS)
    assert len(deadlines) == 2
    assert deadlines.take_due(61_500, 10) == [Due("t1", 4, 61_500)]
    deadlines.drop("t1", 4)
    assert deadlines.take_due(300_499, 10) == []
    assert deadlines.take_due(300_500, 10) == [Due("t1", 3, 300_500)]


def test_old_news_changes_nothing() -> None:
    deadlines = armed(("t1", 9, Deadline(4, 50_000, 60_000)))
    deadlines.arm("t1", 8, [Deadline(3, 0, 60_000)], GRACE_MS)
    deadlines.arm("t1", 8, [], GRACE_MS)
    assert deadlines.take_due(110_500, 10) == [Due("t1", 4, 110_500)]


def test_no_deadline_in_force_is_forgotten() -> None:
    deadlines = armed(("t1", 9, Deadline(4, 0, 60_000)))
    deadlines.arm("t1", 10, [], GRACE_MS)
    assert len(deadlines) == 0
    assert deadlines.next_ms() is None
    assert deadlines.take_due(1_000_000, 10) == []
    deadlines.drop("t1", 4)
    assert deadlines.left("t1", 0) == []


def test_unanswered_deadline_comes_again_and_again() -> None:
    """None is forgotten because a call failed."""
    deadlines = armed(("t1", 9, Deadline(4, 0, 60_000)))
    assert len(deadlines.take_due(60_500, 10)) == 1
    assert deadlines.take_due(61_499, 10) == []
    # The same update once more does not hasten it.
    deadlines.arm("t1", 9, [Deadline(4, 0, 60_000)], GRACE_MS)
    assert deadlines.take_due(61_499, 10) == []
    assert deadlines.take_due(61_500, 10) == [Due("t1", 4, 60_500)]
    deadlines.drop("t1", 4)
    assert deadlines.take_due(99_000, 10) == []


def test_deadline_moved_under_its_id_fires_at_its_new_time() -> None:
    """IND-TIME-19: what stood still in a pause goes on with what it had left."""
    deadlines = armed(("t1", 9, Deadline(4, 0, 60_000)))
    deadlines.arm("t1", 10, [Deadline(4, 80_000, 60_000)], GRACE_MS)
    assert deadlines.take_due(140_499, 10) == []
    assert deadlines.take_due(140_500, 10) == [Due("t1", 4, 140_500)]


def test_time_left_leaves_out_the_grace() -> None:
    """IND-TIME-20."""
    deadlines = armed(("t1", 9, Deadline(4, 10_000, 60_000)))
    assert deadlines.left("t1", 30_000) == [Left(4, 40_000)]
    assert deadlines.left("t1", 70_000) == [Left(4, 0)]
    assert deadlines.left("t1", 70_400) == [Left(4, 0)]
    # The counter may lie behind the stamp that opened it.
    assert deadlines.left("t1", 9_500) == [Left(4, 60_000)]


def test_list_replaces_what_it_does_not_name() -> None:
    deadlines = armed(("gone", 1, Deadline(1, 0, 60_000)), ("kept", 1, Deadline(1, 0, 60_000)))
    deadlines.begin_round()
    deadlines.arm("kept", 1, [Deadline(1, 0, 60_000)], GRACE_MS)
    deadlines.arm("new", 4, [Deadline(2, 0, 60_000)], GRACE_MS)
    assert deadlines.end_round() == 1
    assert {due.table_id for due in deadlines.take_due(60_500, 10)} == {"kept", "new"}


def test_what_the_list_does_not_name_is_gone_at_once_and_its_memory_when_its_time_comes() -> None:
    deadlines = armed(("gone", 9, Deadline(1, 0, 60_000)), ("back", 9, Deadline(1, 0, 60_000)))
    deadlines.begin_round()
    assert deadlines.end_round() == 2
    assert len(deadlines) == 0
    assert deadlines.left("gone", 0) == []
    # Nothing is known of it any more, so that news of any number counts.
    deadlines.arm("back", 4, [Deadline(7, 10_000, 60_000)], GRACE_MS)
    assert deadlines.take_due(60_500, 10) == []
    assert deadlines.take_due(99_000, 10) == [Due("back", 7, 70_500)]
    assert set(deadlines._tables) == {"back"}


def test_a_list_that_was_broken_off_removes_nothing() -> None:
    deadlines = armed(("a", 1, Deadline(1, 0, 60_000)), ("b", 1, Deadline(1, 0, 60_000)))
    deadlines.begin_round()
    deadlines.arm("a", 1, [Deadline(1, 0, 60_000)], GRACE_MS)
    deadlines.begin_round()
    deadlines.arm("b", 1, [Deadline(1, 0, 60_000)], GRACE_MS)
    assert len(deadlines) == 2
    assert deadlines.end_round() == 1
    assert deadlines.take_due(60_500, 10) == [Due("b", 1, 60_500)]


def test_agenda_stays_small_while_tables_come_and_go() -> None:
    deadlines = Deadlines()
    for number in range(50_000):
        deadlines.arm(f"t{number % 50}", number, [Deadline(number + 1, number, 300_000)], GRACE_MS)
        if number % 2:
            deadlines.arm(f"t{number % 50}", number, [], GRACE_MS)
    assert len(deadlines._agenda) < 1_200


def test_like_a_plain_list_over_random_runs() -> None:
    """IND-TIME-16: exactly what is in force and due comes out, each once."""
    for seed in range(100):
        _compare_with_model(random.Random(seed))


def _compare_with_model(draw: random.Random) -> None:
    deadlines, model, now_ms, next_id, seq = Deadlines(), dict[str, dict[int, int]](), 0, 1, 1
    for _ in range(300):
        now_ms += draw.randrange(0, 4_000)
        table_id = f"t{draw.randrange(8)}"
        kept = {item: due for item, due in model.get(table_id, {}).items() if draw.random() < 0.4}
        named = [Deadline(item, due - 1_000 - GRACE_MS, 1_000) for item, due in kept.items()]
        for _ in range(draw.randrange(3)):
            opened_ms, budget_ms = now_ms, draw.choice((1_000, 6_000, 30_000))
            named.append(Deadline(next_id, opened_ms, budget_ms))
            kept[next_id] = opened_ms + budget_ms + GRACE_MS
            next_id += 1
        named = [Deadline(item.deadline_id, kept[item.deadline_id] - 1_500, 1_000) for item in named]
        seq += 1
        deadlines.arm(table_id, seq, named, GRACE_MS)
        model[table_id] = kept
        expected = {(table, item) for table, items in model.items() for item, due in items.items() if due <= now_ms}
        found = deadlines.take_due(now_ms, 1_000)
        assert {(due.table_id, due.deadline_id) for due in found} == expected
        assert len(found) == len(expected)
        for due in found:
            assert due.due_ms == model[due.table_id].pop(due.deadline_id)
            deadlines.drop(due.table_id, due.deadline_id)
        assert len(deadlines) == sum(len(items) for items in model.values())
