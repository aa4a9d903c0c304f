"""One watched table: its updates in order, once for all of its watchers."""

from __future__ import annotations

from collections import deque

from magnate.table.v1 import table_pb2

from gateway.application.frames import Frame, table_frame
from gateway.application.watch import Target
from gateway.domain.continuity import Place, place_of

_MAX_PENDING = 256


class Feed:
    """`last_seq` is the last number given to the targets; None before anything is known of the table's log."""

    __slots__ = (
        "_pending",
        "doubtful",
        "filling",
        "heard_s",
        "last_seq",
        "table",
        "table_frame",
        "table_id",
        "targets",
    )

    def __init__(self, table_id: str, now_s: float) -> None:
        self.table_id = table_id
        self.targets: dict[Target, None] = {}
        self.table: table_pb2.Table | None = None
        self.table_frame: Frame | None = None
        self.last_seq: int | None = None
        self.filling = False
        # Something may have been lost since what is being read was asked for: it is to be compared once more.
        self.doubtful = False
        self.heard_s = now_s
        self._pending: deque[Frame] = deque(maxlen=_MAX_PENDING)

    def is_of(self, history_id: str) -> bool:
        """Whether this may be the history that is followed here; an unknown one may be any."""
        known = self.table.history_id if self.table is not None else ""
        return not known or not history_id or known == history_id

    def place(self, frame: Frame) -> Place:
        """Where an update stands; one behind a gap is kept until that is filled. While the table service is asked,
        which may take long, the next one is the next one all the same."""
        if self.last_seq is None:
            return Place.NEXT
        place = place_of(self.last_seq, frame.first_seq, frame.last_seq)
        if place is Place.GAP:
            self._pending.append(frame)
        return place

    def next_pending(self) -> tuple[Place, Frame | None]:
        """What was kept while a gap was filled: the next frame, or GAP if one more is missing, or SEEN at the end."""
        while self._pending:
            frame = self._pending[0]
            place = place_of(self.last_seq or 0, frame.first_seq, frame.last_seq)
            if place is Place.GAP:
                return place, None
            self._pending.popleft()
            if place is Place.NEXT:
                return place, frame
        return Place.SEEN, None

    def learn(self, table: table_pb2.Table) -> Frame:
        """Takes in the table as described or published; the frame of the newest that is known."""
        known = self.table
        if (
            known is None
            or self.table_frame is None
            or table.lobby_version >= known.lobby_version
            or not self.is_of(table.history_id)
        ):
            self.table, self.table_frame = table, table_frame(table)
        return self.table_frame


def has_game(table: table_pb2.Table) -> bool:
    """Whether the table's game has been started; not of a lobby, nor of one that came to nothing."""
    return table.status in (table_pb2.TABLE_STATUS_RUNNING, table_pb2.TABLE_STATUS_FINISHED) or table.last_seq > 0


def may_watch(table: table_pb2.Table, session_id: str) -> bool:
    """Whether a session may see the game: where there are spectators, or it holds a seat, or it is the host."""
    return (
        table.settings.spectators
        or table.host_session_id == session_id
        or any(seat.session_id == session_id for seat in table.seats)
    )
