"""`magnate replay`: decides every command of an exported game anew and says whether all came out the same."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.rules.adapters.log_check import check_log, read_log
from services.rules.codec.messages import CodecError
from services.rules.editions.shelf import EditionShelf
from services.rules.main import shipped_editions
from services.site.errors import CommandError
from services.site.log_file import GameLog, LogFileError, read_log_file

_PROGRESS_LINES = 5_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a replay ended; `seq` is the first event that differs, 0 if none."""

    same: bool
    seq: int
    explanation: str
    commands: int
    events: int
    winner_seat: int | None
    chance_verified: bool


def replay_file(path: Path) -> Verdict:
    """Reads and judges a file. Raises CommandError when it cannot be read as a log."""
    try:
        log = read_log_file(path, _report)
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}; is the name right?", status=2) from None
    except LogFileError as error:
        at = f"event {error.seq}: " if error.seq else ""
        raise CommandError(f"{path}: {at}{error}") from None
    if len(log.entries) >= _PROGRESS_LINES:
        print(f"replay: deciding {len(log.entries)} commands anew ...", file=sys.stderr)
    return judge(log)


def judge(log: GameLog) -> Verdict:
    """Decides the log anew; a line that was changed counts as a difference also where the rules cannot see it."""
    verdict = _decide(log)
    if not verdict.same:
        return verdict
    seq, explanation = verdict.seq, verdict.explanation
    started = log.entries[0].update.events[0].game_started
    if (started.edition, started.version) != (log.edition, log.version):
        seq, explanation = 1, "the header names another edition than the first event"
    elif log.finished and not log.entries[-1].update.game_over:
        seq, explanation = verdict.events + 1, "the log ends before its game does"
    elif log.changed_seq:
        seq, explanation = log.changed_seq, "the line of this event was changed: its digest does not fit"
    if seq:
        return Verdict(False, seq, explanation, verdict.commands, verdict.events, None, False)
    return verdict


def _decide(log: GameLog) -> Verdict:
    entries = log.entries
    if not entries:
        return Verdict(False, 1, "the log does not begin with game_started", 0, 0, None, False)
    last = entries[-1].update
    try:
        result, _ = check_log(EditionShelf(shipped_editions()), entries, read_log(entries))
    except CodecError as error:
        return Verdict(False, _first_unreadable(log), str(error), len(entries) - 1, last.last_seq, None, False)
    return Verdict(
        same=result.same,
        seq=result.first_difference,
        explanation=result.explanation,
        # The first entry is the start of the game, which nobody commanded.
        commands=len(entries) - 1,
        events=last.last_seq,
        winner_seat=_winner(entries),
        chance_verified=result.chance_verified,
    )


def _first_unreadable(log: GameLog) -> int:
    for entry in log.entries:
        try:
            read_log([entry])
        except CodecError:
            return entry.update.first_seq
    return 1


def _winner(entries: tuple[rules_pb.LogEntry, ...]) -> int | None:
    for event in reversed(entries[-1].update.events):
        if event.HasField("game_ended"):
            return next((place.seat for place in event.game_ended.places if place.place == 1), None)
    return None


def _report(lines: int) -> None:
    if lines % _PROGRESS_LINES == 0:
        print(f"replay: {lines} lines read", file=sys.stderr)
