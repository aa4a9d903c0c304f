"""Decides a stored log anew."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from google.protobuf.message import DecodeError
from magnate.game.v1 import update_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.table.application.ports import LoggedUpdate, Rules, Store, TableKey

# Each piece stays well below what a service takes as one message.
_PIECE = 100


@dataclass(frozen=True, slots=True)
class LogCheck:
    """Whether all came out the same, and what did not; `snapshot` is the state at the end of a log that did."""

    same: bool
    first_difference: int
    explanation: str
    commands: int
    snapshot: bytes


class Redeciding:
    """By the rules that run now, from the seed and the commands of the log alone."""

    def __init__(self, store: Store, rules: Rules) -> None:
        self._store = store
        self._rules = rules

    async def check(self, key: TableKey, last_seq: int) -> LogCheck:
        """The log up to this event. ServiceError when a part of the way is broken."""
        log = _Log(self._store, key, last_seq)
        answer = await self._rules.replay(log.pieces())
        result = answer.result
        if log.is_unreadable and (result.same or not log.commands):
            return LogCheck(False, log.seq + 1, "the log holds what is no update", log.commands, b"")
        if result.same and log.seq != last_seq:
            return LogCheck(False, log.seq + 1, "the log ends too early", log.commands, b"")
        return LogCheck(result.same, result.first_difference, result.explanation, log.commands, answer.snapshot)


class _Log:
    """A log on its way to the rules: the last event and the number of commands so far."""

    def __init__(self, store: Store, key: TableKey, last_seq: int) -> None:
        self._store = store
        self._key = key
        self._last_seq = last_seq
        self.seq = 0
        self.commands = 0
        self.is_unreadable = False

    async def pieces(self) -> AsyncIterator[rules_pb.ReplayStreamRequest]:
        while self.seq < self._last_seq:
            rows, _ = await self._store.read_log(self._key, self.seq, _PIECE, with_secrets=True)
            rows = [row for row in rows if row.last_seq <= self._last_seq]
            if not rows:
                return
            piece = rules_pb.ReplayStreamRequest()
            for row in rows:
                try:
                    piece.entries.append(_entry(row))
                except DecodeError:
                    # What is before it is still decided: it may differ earlier.
                    self.is_unreadable = True
                    break
                self.seq = row.last_seq
                self.commands += 1
            yield piece
            if self.is_unreadable:
                return


def _entry(row: LoggedUpdate) -> rules_pb.LogEntry:
    entry = rules_pb.LogEntry.FromString(row.secrets) if row.secrets else rules_pb.LogEntry()
    entry.update.CopyFrom(update_pb2.Update.FromString(row.update))
    return entry
