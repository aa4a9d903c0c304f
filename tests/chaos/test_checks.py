"""The checks find each kind of damage in journals and databases that were doctored, and nothing in sound ones."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import pytest

from tests.chaos.checks import Trouble, check_table
from tests.chaos.journal import Answered, Asked, Began, Cut, Joined, Note, Opened, Read, Refused, Seen
from tests.chaos.lateness import Disturbance, check_lateness
from tests.chaos.tables import Noted, Row, Stored

TABLE = "t"
S = 1_000_000_000


def _row(first: int, last: int, command_id: str) -> Row:
    return Row(first, last, command_id, _body(command_id), 0, _update(first), b"")


def _body(command_id: str) -> bytes:
    return hashlib.sha256(command_id.encode()).digest()


def _update(first: int) -> bytes:
    return f"update {first}".encode()


def _seen(at_ns: int, first: int, last: int) -> Seen:
    return Seen(at_ns, TABLE, first, last, hashlib.sha256(_update(first)).hexdigest(), False)


#: a start of three events, then four commands of two events each; `b` and `d` are the client's
ROWS = [_row(1, 3, ""), _row(4, 5, "a"), _row(6, 7, "b"), _row(8, 9, "c"), _row(10, 11, "d")]
STORED = Stored(TABLE, ROWS, 11, 3, b"", False)
PLAYER: list[Note] = [
    Opened(1, TABLE, 0),
    _seen(2, 1, 3),
    _seen(3, 4, 5),
    Asked(4, TABLE, "b", _body("b").hex()),
    Answered(6, TABLE, "b", 6, 7, False),
    _seen(7, 6, 7),
    Cut(8, TABLE, "silence"),
    Opened(9, TABLE, 7),
    _seen(10, 8, 9),
    Asked(11, TABLE, "x", _body("x").hex()),
    Refused(12, TABLE, "x", "stale_decision", True),
    Asked(13, TABLE, "d", _body("d").hex()),
    Answered(15, TABLE, "d", 10, 11, True),
    _seen(16, 10, 11),
]
WATCHER: list[Note] = [Opened(3, TABLE, -1), Began(5, TABLE, 5), _seen(8, 6, 7), _seen(10, 8, 9), _seen(17, 10, 11)]
READER: list[Note] = [Read(8, TABLE, 7, 7), Read(20, TABLE, 16, 11)]

Doctor = Callable[[list[Row], list[Note], list[Note], list[Note]], object]


def _judge(doctor: Doctor, last_seq: int = STORED.last_seq) -> list[Trouble]:
    rows, player, watcher, reader = list(ROWS), list(PLAYER), list(WATCHER), list(READER)
    doctor(rows, player, watcher, reader)
    stored = STORED._replace(rows=rows, last_seq=last_seq)
    clients = [Noted("player", player), Noted("watcher", watcher), Noted("reader", reader)]
    return check_table(stored, clients, must_reach=11)


def _sorts(troubles: Sequence[Trouble]) -> set[str]:
    return {trouble.sort for trouble in troubles}


def test_a_sound_table_has_no_trouble() -> None:
    """Given a log, a player who resumed once, a watcher from a snapshot on and reads, then nothing is found."""
    assert _judge(lambda *_: None) == []


DOCTORED: dict[str, tuple[str, Doctor]] = {
    "an acknowledged command is gone": ("lost", lambda rows, *_: rows.__setitem__(4, _row(10, 11, "e"))),
    "it is in the log elsewhere": (
        "lost",
        lambda rows, player, *_: player.__setitem__(4, Answered(6, TABLE, "b", 4, 5, False)),
    ),
    "it is in the log twice": ("doubled", lambda rows, *_: rows.append(_row(12, 13, "b"))),
    "it was acknowledged twice, at two places": (
        "doubled",
        lambda rows, player, *_: player.append(Answered(18, TABLE, "b", 8, 9, True)),
    ),
    "it is in the log with another body": (
        "differs",
        lambda rows, *_: rows.__setitem__(2, rows[2]._replace(digest=b"?")),
    ),
    "a refused command is in the log": ("refused_but_done", lambda rows, *_: rows.append(_row(12, 13, "x"))),
    "the log has a gap": ("gap", lambda rows, *_: rows.pop(3)),
    "the log has a fork": ("fork", lambda rows, *_: rows.insert(3, _row(6, 8, "f"))),
    "the log has an event twice": ("fork", lambda rows, *_: rows.insert(3, _row(7, 7, "f"))),
    "a watcher was not shown an update": ("gap", lambda rows, player, watcher, *_: watcher.pop(3)),
    "a watcher was not shown the last one": ("gap", lambda rows, player, watcher, *_: watcher.pop()),
    "a watcher was shown an update twice": ("doubled", lambda rows, player, watcher, *_: watcher.insert(4, watcher[3])),
    "a watcher was shown what is not in the log": (
        "lost",
        lambda rows, player, watcher, *_: watcher.append(_seen(18, 12, 12)),
    ),
    "a watcher was shown other bytes": (
        "differs",
        lambda rows, player, watcher, *_: watcher.__setitem__(3, _seen(10, 8, 9)._replace(digest="?")),
    ),
    "a watcher was shown an update cut short": (
        "differs",
        lambda rows, player, watcher, *_: watcher.__setitem__(4, _seen(10, 10, 10)),
    ),
    "a watcher is told that it is ahead of the log": (
        "lost",
        lambda rows, player, watcher, *_: watcher.append(Cut(18, TABLE, "seq_ahead")),
    ),
    "a snapshot is older than what was shown": (
        "lost",
        lambda rows, player, watcher, *_: watcher.append(Began(18, TABLE, 9)),
    ),
    "a read is older than an answer before it": (
        "disorder",
        lambda rows, player, watcher, reader: reader.append(Read(21, TABLE, 16, 9)),
    ),
    "a command is in the log before one that had ended": (
        "disorder",
        lambda rows, player, *_: (
            player.__setitem__(3, Asked(4, TABLE, "b", _body("b").hex()))
            or player.__setitem__(4, Answered(30, TABLE, "b", 6, 7, False))
            or player.__setitem__(3, Asked(29, TABLE, "b", _body("b").hex()))
        ),
    ),
}


@pytest.mark.parametrize("damage", DOCTORED)
def test_damage_is_found(damage: str) -> None:
    """Given a sound run with one thing wrong, then it is found as what it is."""
    sort, doctor = DOCTORED[damage]
    assert sort in _sorts(_judge(doctor))


def test_a_game_that_stands_elsewhere_than_its_log_is_found() -> None:
    """Given a log to 11, when the game's own row says 13, that is a gap."""
    assert _sorts(_judge(lambda *_: None, last_seq=13)) == {"gap"}


def test_a_refusal_after_a_lost_answer_may_be_of_a_command_that_was_done() -> None:
    """Given a command whose first try went unanswered and whose second was refused, either end is right."""
    unsure = Refused(12, TABLE, "x", "stale_decision", False)
    troubles = _judge(
        lambda rows, player, watcher, *_: (rows.append(_row(12, 13, "x")), player.__setitem__(10, unsure)), last_seq=13
    )
    assert troubles == []


# ---- lateness


def _late(shown_ns: int, *disturbances: Disturbance, cut_ns: int = 0) -> list[str]:
    answer: list[Note] = [Asked(1 * S, TABLE, "b", ""), Answered(2 * S, TABLE, "b", 6, 7, False)]
    watch: list[Note] = [Opened(S, TABLE, 5), Joined(S, TABLE)]
    watch += [Cut(cut_ns, TABLE, "silence")] if cut_ns else []
    watch += [_seen(shown_ns, 6, 7)] if shown_ns else []
    clients = [Noted("player", answer), Noted("watcher", watch)]
    return [trouble.sort for trouble in check_lateness(clients, disturbances, ended_ns=60 * S)]


def test_an_update_that_comes_late_without_a_reason_is_found() -> None:
    """Given an acknowledgement at 2 s and all well, an update at 11 s is in time, at 17 s late, and never is late."""
    assert (_late(11 * S), _late(17 * S), _late(0)) == ([], ["late"], ["late"])


def test_a_fault_and_its_aftermath_excuse_a_delay() -> None:
    """Given a fault from 3 s to 6 s, whose aftermath ends at 11 s, an update at 17 s is in time, at 25 s late."""
    fault = Disturbance(3 * S, 6 * S)
    assert (_late(17 * S, fault), _late(25 * S, fault)) == ([], ["late"])


def test_a_watch_that_was_lost_waits_for_nothing() -> None:
    """Given a watch that ends at 5 s, nobody is kept waiting."""
    assert _late(0, cut_ns=5 * S) == []
