"""Why the table service refuses: its share of the closed list in magnate.game.v1.RefusalReason."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Reason(StrEnum):
    """The lower-case names of the contract's reasons that come from this service."""

    MALFORMED = "malformed"
    BAD_CHOICE = "bad_choice"
    OVERRIDE_OUT_OF_RANGE = "override_out_of_range"
    NOT_YOUR_SEAT = "not_your_seat"
    STALE_DEADLINE = "stale_deadline"
    TABLE_PAUSED = "table_paused"
    GAME_OVER = "game_over"
    NO_SESSION = "no_session"
    NO_TABLE = "no_table"
    NO_EDITION = "no_edition"
    TABLE_FULL = "table_full"
    ALREADY_STARTED = "already_started"
    NOT_STARTED = "not_started"
    TOO_FEW_SEATS = "too_few_seats"
    NOT_HOST = "not_host"
    WRONG_SECRET = "wrong_secret"
    ALREADY_SEATED = "already_seated"
    NO_SPECTATORS = "no_spectators"
    NO_BOTS = "no_bots"
    COMMAND_ID_REUSED = "command_id_reused"
    VERSION_RACE = "version_race"
    OVERLOADED = "overloaded"
    SEQ_AHEAD = "seq_ahead"
    NOT_ALLOWED = "not_allowed"
    UNREACHABLE = "unreachable"
    INTERNAL = "internal"
    TABLE_STOPPED = "table_stopped"


_NO_FIELDS: Mapping[str, str] = MappingProxyType({})


class RefusalError(Exception):
    """A wish that is not granted; nothing has changed. `retry_after_ms` where waiting alone helps."""

    def __init__(
        self,
        reason: Reason,
        message: str,
        fields: Mapping[str, str] = _NO_FIELDS,
        retry_after_ms: int | None = None,
    ) -> None:
        super().__init__(reason, message)
        self.reason = reason
        self.message = message
        self.fields = fields
        self.retry_after_ms = retry_after_ms
