"""What the table service can be told through the environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.kit.calls import Proof, clock_proofs
from services.kit.server import ServiceSettings
from services.kit.settings import setting
from services.kit.tls_settings import operators
from services.table.application.options import Options
from services.table.domain.buckets import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings(ServiceSettings):
    """Settings of the table service."""

    port: int = setting("MAGNATE_TABLE_PORT", 7420, "port of the table service", low=0, high=65535)
    database_url: str = setting(
        "MAGNATE_DATABASE_URL",
        "sqlite:///magnate.db",
        "database, `sqlite:///PATH` or `postgresql://...`",
        secret=True,
        begins=("sqlite:///", "postgresql"),
    )
    redis_url: str = setting(
        "MAGNATE_REDIS_URL", "redis://127.0.0.1:6379/0", "Redis that carries the event stream", secret=True
    )
    rules_address: str = setting("MAGNATE_RULES_ADDRESS", "127.0.0.1:7410", "where the rules service is")
    clock_address: str = setting("MAGNATE_CLOCK_ADDRESS", "127.0.0.1:7430", "where the clock service is")
    clock_token: str = setting(
        "MAGNATE_CLOCK_TOKEN",
        "",
        "secret by which gateways and tables know the clock; two with a comma between while it is changed",
        secret=True,
    )
    operators: str = setting(
        "MAGNATE_OPERATORS",
        "",
        "operators who may make admin calls, each as NAME:DIGEST, the SHA-256 of his token in hex; commas between",
        secret=True,
    )
    grace_ms: int = setting(
        "MAGNATE_GRACE_MS", 500, "play time after a deadline in which a command still counts", low=0, high=60_000
    )
    allow_fixed_seed: bool = setting(
        "MAGNATE_ALLOW_FIXED_SEED", False, "lets the creator of a table name its seed; embedded only, for tests"
    )
    session_ttl_ms: int = setting(
        "MAGNATE_SESSION_TTL_MS",
        30 * 24 * 3_600_000,
        "time after which a session that is not renewed expires",
        low=1_000,
        high=10**12,
    )
    hot_tables: int = setting(
        "MAGNATE_TABLE_HOT_TABLES", 2_048, "running tables whose place a replica keeps in memory", low=1, high=1_000_000
    )
    snapshot_every: int = setting(
        "MAGNATE_TABLE_SNAPSHOT_EVERY", 64, "commands between two snapshots of a game", low=1, high=10_000
    )
    max_attempts: int = setting(
        "MAGNATE_TABLE_MAX_ATTEMPTS", 5, "tries of a change that another replica was quicker than", low=1, high=100
    )
    submit_target_ms: int = setting(
        "MAGNATE_TABLE_SUBMIT_TARGET_MS",
        180,
        "time within which nearly all commands have their answer at a replica of the table service, those of bots too; "
        "it lets in as many at a time as it answers in a part of it, and refuses more with a time to wait; 0: none "
        "is refused for that",
        low=0,
        high=60_000,
    )
    bot_level: str = setting("MAGNATE_TABLE_BOT_LEVEL", "normal", "level of bots where none is named")
    bot_answer_ms: int = setting(
        "MAGNATE_TABLE_BOT_ANSWER_MS",
        5_000,
        "time a bot has to answer before the table plays for it; half of it later it is asked again",
        low=100,
        high=600_000,
    )
    absent_after_ms: int = setting(
        "MAGNATE_TABLE_ABSENT_AFTER_MS",
        25_000,
        "time without a live connection after which a person is shown as absent",
        low=1_000,
        high=600_000,
    )
    vacate_after_ms: int = setting(
        "MAGNATE_TABLE_VACATE_AFTER_MS",
        60_000,
        "time without a live connection after which a person loses his seat before the start",
        low=1_000,
        high=3_600_000,
    )
    lobby_ttl_ms: int = setting(
        "MAGNATE_TABLE_LOBBY_TTL_MS",
        1_800_000,
        "time after which a table that nobody joined expires",
        low=1_000,
        high=10**9,
    )
    abandoned_after_ms: int = setting(
        "MAGNATE_TABLE_ABANDONED_AFTER_MS",
        30 * 24 * 3_600_000,
        "play time without a command, nor a person there, after which a running game expires; 0: never",
        low=0,
        high=10**12,
    )
    archive_after_ms: int = setting(
        "MAGNATE_TABLE_ARCHIVE_AFTER_MS",
        7 * 24 * 3_600_000,
        "time after its end in which the log of a game is not yet packed away; 0: it never is",
        low=0,
        high=10**12,
    )
    forget_after_ms: int = setting(
        "MAGNATE_TABLE_FORGET_AFTER_MS",
        0,
        "time after which a game that was packed away is deleted with all that is known of it; 0: never",
        low=0,
        high=10**13,
    )
    sessions_burst: int = setting(
        "MAGNATE_LIMIT_SESSIONS_BURST", 30, "sessions that one address may open at once; 0: no limit", low=0
    )
    sessions_per_second: float = setting(
        "MAGNATE_LIMIT_SESSIONS_PER_SECOND", 0.5, "sessions that one address may open in the long run", low=0.001
    )
    tables_burst: int = setting(
        "MAGNATE_LIMIT_TABLES_BURST", 20, "tables that one session may create at once; 0: no limit", low=0
    )
    tables_per_second: float = setting(
        "MAGNATE_LIMIT_TABLES_PER_SECOND", 0.2, "tables that one session may create in the long run", low=0.001
    )
    submits_burst: int = setting(
        "MAGNATE_LIMIT_SUBMITS_BURST", 200, "commands that one session may give at once; 0: no limit", low=0
    )
    submits_per_second: float = setting(
        "MAGNATE_LIMIT_SUBMITS_PER_SECOND", 100.0, "commands that one session may give in the long run", low=0.001
    )

    def check(self) -> None:
        self.tls()
        self.proofs()

    def proofs(self) -> Sequence[Proof]:
        return [*clock_proofs(self.clock_token), *operators(self.operators)]

    def options(self) -> Options:
        """What of these the use cases are told."""
        return Options(
            session_ttl_ms=self.session_ttl_ms,
            hot_tables=self.hot_tables,
            snapshot_every=self.snapshot_every,
            max_attempts=self.max_attempts,
            submit_target_ms=self.submit_target_ms,
            grace_ms=self.grace_ms,
            allow_fixed_seed=self.allow_fixed_seed,
            bot_level=self.bot_level,
            bot_answer_ms=self.bot_answer_ms,
            absent_after_ms=self.absent_after_ms,
            vacate_after_ms=self.vacate_after_ms,
            lobby_ttl_ms=self.lobby_ttl_ms,
            abandoned_after_ms=self.abandoned_after_ms,
            archive_after_ms=self.archive_after_ms,
            forget_after_ms=self.forget_after_ms,
            sessions_per_address=Rate(burst=self.sessions_burst, per_second=self.sessions_per_second),
            tables_per_session=Rate(burst=self.tables_burst, per_second=self.tables_per_second),
            submits_per_session=Rate(burst=self.submits_burst, per_second=self.submits_per_second),
        )
