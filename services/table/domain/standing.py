"""Whether a running table stands still, and why: its one person has paused it, or the site has stopped it.

Both are one pause for the table's play time; a stop remembers whether a person had paused before it.
"""

from __future__ import annotations

from dataclasses import replace

from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.table import Status, Stop, Table


def pause(table: Table, session_id: str, play_time_ms: int) -> Table:
    """Lets a table of one person against bots stand still, in any phase [IND-PHASE-11]. The same table if it does."""
    _need_lone_person(table, session_id)
    return table if table.is_paused else _changed(table, paused_at_ms=play_time_ms)


def resume(table: Table, session_id: str, play_time_ms: int) -> Table:
    """Lets a paused table go on where it stood. The same table if it is not paused."""
    _need_lone_person(table, session_id)
    return table if table.paused_at_ms is None else _gone_on(table, play_time_ms)


def stop(table: Table, why: str, play_time_ms: int, *, is_broken: bool) -> Table:
    """Stops a running table. The same table if it is stopped."""
    _need_running(table)
    if table.stop is not None:
        return table
    since_ms = play_time_ms if table.paused_at_ms is None else table.paused_at_ms
    stopped = Stop(why=why, is_broken=is_broken, was_paused=table.is_paused)
    return replace(_changed(table, paused_at_ms=since_ms), stop=stopped)


def release(table: Table, play_time_ms: int) -> Table:
    """Takes a stop back: the table goes on where it stood, or is paused as before. The same table if it is not
    stopped."""
    _need_running(table)
    if table.stop is None:
        return table
    if table.stop.was_paused:
        return replace(_changed(table, paused_at_ms=table.paused_at_ms), stop=None)
    return replace(_gone_on(table, play_time_ms), stop=None)


def _gone_on(table: Table, play_time_ms: int) -> Table:
    stood_ms = max(0, play_time_ms - table.stood_at_ms(play_time_ms))
    return replace(_changed(table, paused_at_ms=None), held_ms=table.held_ms + stood_ms)


def _changed(table: Table, *, paused_at_ms: int | None) -> Table:
    return replace(
        table,
        paused_at_ms=paused_at_ms,
        lobby_version=table.lobby_version + 1,
        holders_version=table.holders_version + 1,
    )


def _need_lone_person(table: Table, session_id: str) -> None:
    _need_running(table)
    if table.seat_of(session_id) is None:
        raise RefusalError(Reason.NOT_YOUR_SEAT, "this session holds no seat at the table")
    if table.people() != 1 or not table.bots():
        raise RefusalError(Reason.NOT_ALLOWED, "only a table of one person against bots is paused for a transfer")
    if table.stop is not None:
        raise RefusalError(Reason.TABLE_STOPPED, "the site has stopped the table")


def _need_running(table: Table) -> None:
    if table.status == Status.EXPIRED:
        raise RefusalError(Reason.NO_TABLE, "the table has expired")
    if table.status == Status.LOBBY:
        raise RefusalError(Reason.NOT_STARTED, "the game has not been started yet")
    if table.status == Status.FINISHED:
        raise RefusalError(Reason.GAME_OVER, "the game is over")
