"""Positions that follow the updates passing by."""

from __future__ import annotations

from dataclasses import dataclass

from services.bots.application.ports import Change, Position
from services.bots.application.positions import Positions
from services.rules.domain.state import State
from tests.support.bot_games import flat_edition


def position(seq: int) -> Position:
    view = State()
    view.seq = seq
    return Position(flat_edition(), view, ())


def change(first_seq: int, last_seq: int, table_id: str = "t1", update: bytes = b"") -> Change:
    return Change(table_id, first_seq, last_seq, update)


@dataclass
class CountingReader:
    """Follows every change but those that say `secret`."""

    read: int = 0

    def follow_up(self, known: Position, change: Change) -> Position | None:
        self.read += 1
        assert change.first_seq == known.seq + 1
        return None if change.update == b"secret" else position(change.last_seq)


def seq_of(positions: Positions, table_id: str = "t1") -> int | None:
    found = positions.find(table_id)
    return None if found is None else found.seq


def test_changes_are_read_when_the_position_is_wanted() -> None:
    reader = CountingReader()
    positions = Positions(reader, capacity=2)
    positions.keep("t1", position(3))
    positions.note(change(4, 6))
    positions.note(change(7, 7))
    assert reader.read == 0
    assert seq_of(positions) == 7
    assert seq_of(positions) == 7
    assert reader.read == 2


def test_repeats_are_dropped_and_a_gap_forgets_the_table() -> None:
    positions = Positions(CountingReader(), capacity=2)
    positions.keep("t1", position(3))
    positions.note(change(4, 6))
    positions.note(change(4, 6))
    positions.note(change(2, 3))
    assert seq_of(positions) == 6
    positions.note(change(8, 9))
    assert seq_of(positions) is None


def test_a_snapshot_passes_over_what_it_holds_already() -> None:
    positions = Positions(CountingReader(), capacity=2)
    positions.keep("t1", position(3))
    positions.note(change(4, 6))
    positions.note(change(7, 9))
    positions.keep("t1", position(6))
    assert seq_of(positions) == 9
    positions.keep("t1", position(5))
    assert seq_of(positions) == 9


def test_what_cannot_be_followed_is_asked_for_anew() -> None:
    positions = Positions(CountingReader(), capacity=2)
    positions.keep("t1", position(3))
    positions.note(change(4, 4, update=b"secret"))
    assert seq_of(positions) is None


def test_the_table_wanted_longest_ago_goes_first() -> None:
    positions = Positions(CountingReader(), capacity=2)
    for table_id in ("t1", "t2"):
        positions.keep(table_id, position(1))
    assert seq_of(positions, "t1") == 1
    positions.keep("t3", position(1))
    assert [seq_of(positions, table_id) for table_id in ("t1", "t2", "t3")] == [1, None, 1]


def test_changes_that_nobody_reads_do_not_pile_up() -> None:
    positions = Positions(CountingReader(), capacity=2)
    positions.keep("t1", position(0))
    for seq in range(1, 200):
        positions.note(change(seq, seq))
    assert len(positions) == 0
