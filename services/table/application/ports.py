"""What the use cases need from outside: small interfaces, each with the implementations of `adapters`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from magnate.game.v1 import edition_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.table.application.audit import Administration, AuditEntry
from services.table.application.retention import Retention
from services.table.domain.session import Session
from services.table.domain.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRow:
    """One command of a table's log with all that is committed together with it.

    `command_id` is empty for the start of the game; `digest` is the SHA-256 of the command; `update` is the public
    Update and `secrets` the withheld events, both serialised; `snapshot` the state after it when one is due;
    `result` the serialised TableResult of the command that ended the game; `audit` the entry of the audit log for a
    command that an operator gave; `history_id` the history that it was decided in: in another
    one it is not committed.
    """

    shard: int
    table_id: str
    first_seq: int
    last_seq: int
    holders_version: int
    command_id: str
    digest: bytes
    play_time_ms: int
    update: bytes
    secrets: bytes
    at_unix_ms: int
    snapshot: bytes | None = None
    result: bytes | None = None
    audit: AuditEntry | None = None
    history_id: str = ""


@dataclass(frozen=True, slots=True)
class LoggedCommand:
    """What is known of a command that was done."""

    digest: bytes
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class Looked:
    """How far a game has come, and the command that was looked for if it was done."""

    last_seq: int = 0
    holders_version: int = 0
    logged: LoggedCommand | None = None


@dataclass(frozen=True, slots=True)
class OwnTime:
    """How the time of a table stands to that of its shard: it is `held_ms` behind, and its deadlines have this grace.
    In milliseconds of play time."""

    held_ms: int
    grace_ms: int

    @classmethod
    def of(cls, table: Table) -> OwnTime:
        """That of a table that goes on."""
        return cls(table.held_ms, table.grace_ms)


@dataclass(frozen=True, slots=True)
class LoggedUpdate:
    """One command of the log as it is read back; `secrets` is empty where they were not asked for."""

    last_seq: int
    update: bytes
    secrets: bytes


@dataclass(frozen=True, slots=True)
class Game:
    """A table with where its game stands: its last update and how many commands lie behind the last snapshot."""

    table: Table
    last_update: bytes
    since_snapshot: int


@dataclass(frozen=True, slots=True)
class LiveGame:
    """A running game that is not paused, with its last update, its grace and what it has been held in milliseconds of
    play time, and its bots' levels by seat."""

    shard: int
    table_id: str
    last_update: bytes
    grace_ms: int
    bot_levels: Mapping[int, str]
    held_ms: int = 0


#: live games that one search for unpublished ones looks at: some milliseconds of the store
LIVE_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Unpublished:
    """A game whose log is ahead of the event stream, as far as the store knows."""

    shard: int
    table_id: str
    published_seq: int


@dataclass(frozen=True, slots=True)
class TableKey:
    """A table's place in the store."""

    shard: int
    table_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """Moments, in milliseconds of Unix time, that decide which seats and tables have been abandoned."""

    now_ms: int
    absent_before_ms: int
    vacated_before_ms: int
    lobby_before_ms: int


class Store(Administration, Retention, Protocol):
    """The one store of the service. Writes that lose a race return false and change nothing."""

    @property
    def history_id(self) -> str:
        """The history that the store held when that was last checked: 16 characters."""
        ...

    async def check_history(self) -> bool:
        """Looks which history the store holds; true if it is another one than before."""
        ...

    def append(self, row: LogRow) -> asyncio.Future[bool]:
        """Commits one command: log, table version and snapshot together; false if another command was quicker, the
        seats have changed hands, or the command id is in the log already. Begins at once, also when nobody waits."""
        ...

    async def find_command(self, key: TableKey, command_id: str) -> Looked:
        """Looks for a command by its id; zeros where there is no such game."""
        ...

    async def load_game(self, key: TableKey) -> Game | None: ...

    async def load_table(self, key: TableKey) -> Table | None: ...

    async def create_table(self, table: Table) -> bool:
        """False if there is one with this id."""
        ...

    async def save_table(self, table: Table) -> bool:
        """Stores a changed table over the version before; false if that is no longer the stored one."""
        ...

    async def start_game(self, table: Table, row: LogRow) -> bool:
        """`save_table` and the first log row together."""
        ...

    async def list_open(self, edition: str, before: tuple[int, str] | None, limit: int) -> list[Table]:
        """Listed lobbies, newest first, after (created_at_ms, table_id) of the page before."""
        ...

    async def list_held(self, session_id: str, before: tuple[int, str] | None, limit: int) -> list[Table]:
        """Tables where the session holds a seat, in the same order."""
        ...

    async def read_log(
        self, key: TableKey, after_seq: int, limit: int, *, with_secrets: bool = False
    ) -> tuple[list[LoggedUpdate], int]:
        """Commands whose last event is after this number, and the number of the last event committed."""
        ...

    async def load_snapshot(self, key: TableKey) -> tuple[int, bytes] | None:
        """The newest snapshot with the number of its last event."""
        ...

    async def list_live(self, shards: Sequence[int], after: tuple[int, str] | None, limit: int) -> list[LiveGame]:
        """Running games in the order of (shard, table id); no shards means all."""
        ...

    async def list_quiet(self, before_ms: int, after: tuple[int, str] | None, limit: int) -> list[LiveGame]:
        """Running games with bots and without a command since this moment, in the same order."""
        ...

    async def create_session(self, session: Session) -> None: ...

    async def load_session(self, shard: int, session_id: str) -> Session | None: ...

    async def rotate_session(self, session: Session, old_hash: bytes) -> bool:
        """Stores the new token's hash and expiry; false if the old token is no longer the stored one."""
        ...

    async def delete_session(self, session: Session) -> None: ...

    async def touch(self, seen: Sequence[tuple[TableKey, str]], now_ms: int) -> list[TableKey]:
        """Notes live sessions of tables; returns the tables where somebody had been absent."""
        ...

    async def mark_absent(self, sweep: Sweep, limit: int) -> list[TableKey]:
        """Notes who has no live connection any more; returns their tables."""
        ...

    async def abandoned(self, sweep: Sweep, limit: int) -> list[Table]:
        """Lobbies with a vanished person, or that nobody joined for too long."""
        ...

    async def delete_expired_sessions(self, now_ms: int, limit: int) -> int: ...

    async def mark_published(self, marks: Sequence[tuple[TableKey, int]]) -> list[tuple[TableKey, int]]:
        """Notes how far each game's log is on the event stream. It never waits for a command that is being committed:
        the marks of such games come back, for the next time."""
        ...

    async def unpublished(
        self, before_ms: int, limit: int, *, after: tuple[int, str] | None = None, rows: int = LIVE_ROWS
    ) -> list[Unpublished]:
        """Games whose last commit was before this moment and is not marked as published, among the first so many live
        ones after (shard, table_id)."""
        ...

    async def live_edge(self, after: tuple[int, str] | None, rows: int = LIVE_ROWS) -> tuple[int, str] | None:
        """The last of these; None when there are fewer."""
        ...

    async def mark_lobby_published(self, marks: Sequence[tuple[TableKey, int]]) -> None: ...

    async def unpublished_lobbies(self, before_ms: int, limit: int) -> list[Table]: ...

    async def commit_probe(self, shard: int, probe_id: str, now_ms: int) -> None: ...

    async def close(self) -> None: ...


class Rules(Protocol):
    """The rules service through its contract; every call may raise ServiceError."""

    async def describe(self, edition: str, version: int) -> edition_pb2.Edition: ...

    async def new_game(self, request: rules_pb.NewGameRequest) -> rules_pb.NewGameResponse: ...

    async def apply(self, request: rules_pb.ApplyRequest) -> rules_pb.ApplyResponse: ...

    async def view(self, request: rules_pb.ViewRequest) -> rules_pb.ViewResponse: ...

    async def probe(self) -> None: ...

    async def replay(self, log: AsyncIterator[rules_pb.ReplayStreamRequest]) -> rules_pb.ReplayStreamResponse: ...


class PlayTime(Protocol):
    """Play time as the clock service publishes it."""

    def now_ms(self, shard: int) -> int | None:
        """Play time of the shard now; None before the first reading, and when it should run and is not heard."""
        ...

    async def first_ms(self, shard: int) -> int | None:
        """The same, after waiting a moment for a reading. None if none has ever come; where one is due and stays away,
        play time stands still."""
        ...

    def is_heard(self, shard: int) -> bool:
        """Whether the play time of the shard is known here, or is known to stand still. Before the first reading it is
        neither, and commands have to wait."""
        ...

    def held(self, shard: int) -> str | None:
        """Why an operator lets play time of the shard stand still now; None where he does not."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    """One entry for the event stream; readers drop what they have seen by (key, seq)."""

    shard: int
    key: str
    seq: int
    payload: bytes


class Publisher(Protocol):
    """The way to the event stream."""

    async def publish(self, messages: Sequence[Message]) -> None:
        """Appends in this order within each shard. ServiceError if the stream does not take them."""
        ...


class Wall(Protocol):
    """Wall-clock time, and a monotonic one for measuring."""

    def unix_ms(self) -> int: ...

    def monotonic_s(self) -> float: ...


class Chance(Protocol):
    """Randomness nobody can guess."""

    def token(self) -> str:
        """A secret as text, at least 128 bits."""
        ...

    def public_id(self) -> str:
        """An id that does not repeat."""
        ...

    def seed(self) -> bytes:
        """32 bytes."""
        ...


class Meter(Protocol):
    """What is counted; the names of the metrics are the adapter's business."""

    def command_done(self, kind: str, commit_s: float) -> None: ...

    def command_answered(self, took_s: float) -> None: ...

    def command_refused(self, reason: str) -> None: ...

    def raced(self) -> None: ...

    def state_sent(self) -> None: ...

    def fallback_played(self) -> None: ...

    def archived(self) -> None: ...

    def forgotten(self, games: int) -> None: ...

    def abandoned(self) -> None: ...

    def stopped(self, *, broken: int, by_operator: int) -> None: ...

    def published(self, messages: int) -> None: ...

    def outbox_waits(self, messages: int, lag_s: float) -> None: ...
