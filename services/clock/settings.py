"""What the clock can be told through the environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from services.clock.application.ports import Terms
from services.clock.application.state import Pace
from services.kit.calls import Proof, TlsFiles
from services.kit.server import ServiceSettings
from services.kit.settings import SettingsError, setting
from services.kit.tls_settings import operators, usable


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockSettings(ServiceSettings):
    """Settings of the clock."""

    port: int = setting("MAGNATE_CLOCK_PORT", 7430, "port of the clock service", low=0, high=65535)
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
    table_address: str = setting("MAGNATE_TABLE_ADDRESS", "127.0.0.1:7420", "where the table service is")
    gateway_address: str = setting("MAGNATE_GATEWAY_ADDRESS", "127.0.0.1:7400", "where the gateways are")
    gateway_tls_authorities: str = setting(
        "MAGNATE_GATEWAY_TLS_CA",
        "",
        "PEM file of the authorities by which a gateway's native port is checked; empty: no TLS there",
    )
    gateway_tls_name: str = setting(
        "MAGNATE_GATEWAY_TLS_NAME", "gateway", "name that the certificate at a gateway's native port bears"
    )
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
    probe_period_ms: int = setting(
        "MAGNATE_PROBE_PERIOD_MS", 250, "time between two probes of the clock", low=20, high=10_000
    )
    probe_longest_gap_ms: int = setting(
        "MAGNATE_PROBE_LONGEST_GAP_MS",
        375,
        "longest time between two probes that came back for it to count as play time; above the period",
        low=21,
        high=20_000,
    )
    probe_limit_ms: int = setting(
        "MAGNATE_PROBE_LIMIT_MS", 1_000, "time after which a probe is lost", low=20, high=60_000
    )
    checkpoint_ms: int = setting(
        "MAGNATE_CLOCK_CHECKPOINT_MS",
        200,
        "shortest time between two checkpoints of play time, which are written when probes come back; a crash gives "
        "the players this and a probe period at most",
        low=20,
        high=1_000,
    )
    lease_ms: int = setting(
        "MAGNATE_CLOCK_LEASE_MS",
        3_000,
        "time after which the shards of a clock that is not heard any more are taken by another one",
        low=2_000,
        high=60_000,
    )
    look_ms: int = setting(
        "MAGNATE_CLOCK_LOOK_MS",
        200,
        "time between two looks of a clock for shards that nobody holds",
        low=50,
        high=2_000,
    )
    join_ms: int = setting(
        "MAGNATE_CLOCK_JOIN_MS",
        10_000,
        "time after its start at which others give shards back to a clock; tables and gateways have found it by then",
        low=0,
        high=600_000,
    )
    relist_ms: int = setting(
        "MAGNATE_CLOCK_RELIST_MS",
        60_000,
        "time in which the deadlines of all shards are read from the table service again, in case an update was lost; "
        "longer when there are more than some ten thousand",
        low=1_000,
        high=3_600_000,
    )
    forget_after_ms: int = setting(
        "MAGNATE_CLOCK_FORGET_AFTER_MS",
        90 * 24 * 3_600_000,
        "time after its end at which a stretch in which play time stood still goes from the record; 0: never",
        low=0,
        high=10**13,
    )
    expire_limit_ms: int = setting(
        "MAGNATE_CLOCK_EXPIRE_LIMIT_MS", 5_000, "time a table has to end a deadline", low=100, high=60_000
    )
    max_expiries: int = setting(
        "MAGNATE_CLOCK_MAX_EXPIRIES", 256, "deadlines that are being ended at a time", low=1, high=10_000
    )

    def check(self) -> None:
        self.tls()
        self.gateway_tls()
        self.proofs()

    def gateway_tls(self) -> TlsFiles | None:
        """The files of TLS to the gateways' native port; None without. Raises SettingsError."""
        if not self.gateway_tls_authorities:
            return None
        return usable(TlsFiles(authorities=self.gateway_tls_authorities))

    def proofs(self) -> Sequence[Proof]:
        return operators(self.operators)

    def pace(self) -> Pace:
        """How often the clock does things. Raises SettingsError when it could never count anything."""
        if self.probe_longest_gap_ms <= self.probe_period_ms:
            raise SettingsError("MAGNATE_PROBE_LONGEST_GAP_MS must be above MAGNATE_PROBE_PERIOD_MS")
        return Pace(
            probe_period_ms=self.probe_period_ms,
            longest_gap_ms=self.probe_longest_gap_ms,
            checkpoint_ms=self.checkpoint_ms,
            lease_ms=self.lease_ms,
            look_ms=self.look_ms,
            relist_ms=self.relist_ms,
            grace_ms=self.grace_ms,
            max_in_flight=self.max_expiries,
        )

    def terms(self) -> Terms:
        """How replicas share the shards."""
        return Terms(lease_ms=self.lease_ms, join_ms=self.join_ms)
