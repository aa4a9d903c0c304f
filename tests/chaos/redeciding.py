"""Decides a stored log anew and compares what comes out with all that the database keeps of the game."""

from __future__ import annotations

from functools import cache

from magnate.game.v1 import update_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.rules.adapters.log_check import check_log, read_log
from services.rules.codec.messages import CodecError
from services.rules.codec.states import read_state, write_state
from services.rules.domain.edition import Edition
from services.rules.domain.events import GameStarted
from services.rules.domain.evolve import UnknownEventError, fold
from services.rules.domain.replay import Entry, replay
from services.rules.domain.state import Seating, State
from services.rules.editions.shelf import EditionShelf
from services.rules.main import shipped_editions
from tests.chaos.checks import DIFFERS, Trouble
from tests.chaos.tables import Row, Stored


def redecide(stored: Stored) -> list[Trouble]:
    """What differs: the updates from what the rules decide, or the stored state from the one that comes out."""
    if not stored.rows:
        return []
    try:
        entries = [_entry(row) for row in stored.rows]
        for row, entry in zip(stored.rows, entries, strict=True):
            if not _fits(stored.table_id, row, entry.update):
                return [_trouble(stored, f"the row of event {row.first_seq} and the update in it say different things")]
        log = read_log(entries)
        verdict, _ = check_log(_shelf(), entries, log)
        if not verdict.same:
            return [_trouble(stored, f"event {verdict.first_difference}: {verdict.explanation}")]
        decided = replay(lambda name, version, seating: _edition(log, name, version, seating), log).state
        return _compare(stored, entries, log, decided)
    except CodecError as error:
        return [_trouble(stored, f"the log cannot be read: {error}")]
    except (UnknownEventError, KeyError, ValueError, IndexError) as error:
        return [_trouble(stored, f"the events since the snapshot do not follow from it: {error}")]


def _compare(stored: Stored, entries: list[rules_pb.LogEntry], log: list[Entry], decided: State) -> list[Trouble]:
    found: list[Trouble] = []
    if decided.seq != stored.last_seq:
        found.append(_trouble(stored, f"the log decides {decided.seq} events, the game stands at {stored.last_seq}"))
    if (decided.ended != "") != stored.is_over:
        found.append(_trouble(stored, f"the game is said to be {'over' if stored.is_over else 'running'}"))
    ends = [entry.update.last_seq for entry in entries]
    if stored.snapshot_seq not in ends:
        return [*found, _trouble(stored, f"its snapshot is of event {stored.snapshot_seq}, inside an update")]
    since = [event for entry in log[ends.index(stored.snapshot_seq) + 1 :] for event in entry.events if event]
    kept = fold(_edition_of(log), read_state(stored.snapshot), since)
    if write_state(kept) != write_state(decided):
        found.append(_trouble(stored, f"the stored state after {stored.snapshot_seq} is not the one that was decided"))
    return found


def _fits(table_id: str, row: Row, update: update_pb2.Update) -> bool:
    said = (update.table_id, update.first_seq, update.last_seq, update.command.command_id, update.play_time_ms)
    return said == (table_id, row.first_seq, row.last_seq, row.command_id, row.play_time_ms)


def _entry(row: Row) -> rules_pb.LogEntry:
    entry = rules_pb.LogEntry.FromString(row.secrets) if row.secrets else rules_pb.LogEntry()
    entry.update.CopyFrom(update_pb2.Update.FromString(row.update))
    return entry


@cache
def _shelf() -> EditionShelf:
    return EditionShelf(shipped_editions())


def _edition_of(log: list[Entry]) -> Edition:
    started = log[0].events[0]
    assert isinstance(started, GameStarted)
    return _edition(log, started.edition, started.version, started.seating)


def _edition(log: list[Entry], name: str, version: int, seating: Seating) -> Edition:
    started = log[0].events[0]
    assert isinstance(started, GameStarted)
    return _shelf().flat(name, version, seating, started.overrides)


def _trouble(stored: Stored, what: str) -> Trouble:
    return Trouble(DIFFERS, stored.table_id, 0, what)
