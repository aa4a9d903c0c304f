"""What the use cases may be told by the operator."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.table.domain.buckets import Rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Times in the unit that ends their name; wall-clock time, except `grace_ms` and `abandoned_after_ms`, which
    are play time."""

    session_ttl_ms: int = 30 * 24 * 3_600_000
    session_cache_ms: int = 5_000
    session_cache_size: int = 4_096
    hot_tables: int = 2_048
    snapshot_every: int = 64
    max_attempts: int = 5
    submit_target_ms: int = 0
    grace_ms: int = 500
    allow_fixed_seed: bool = False
    bot_level: str = "normal"
    bot_answer_ms: int = 5_000
    absent_after_ms: int = 25_000
    vacate_after_ms: int = 60_000
    lobby_ttl_ms: int = 30 * 60_000
    sweep_every_ms: int = 5_000
    archive_every_ms: int = 600_000
    archive_after_ms: int = 7 * 24 * 3_600_000
    forget_after_ms: int = 0
    abandoned_after_ms: int = 30 * 24 * 3_600_000
    mark_every_ms: int = 1_000
    recover_after_ms: int = 3_000
    outbox_size: int = 20_000
    sessions_per_address: Rate = field(default_factory=lambda: Rate(burst=30, per_second=0.5))
    tables_per_session: Rate = field(default_factory=lambda: Rate(burst=20, per_second=0.2))
    submits_per_session: Rate = field(default_factory=lambda: Rate(burst=200, per_second=100))
