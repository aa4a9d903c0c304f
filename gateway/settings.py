"""What the gateway can be told through the environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gateway.application.callers import CallLimits
from gateway.application.watch import WatchLimits
from services.kit.calls import Proof, TlsFiles, clock_proofs
from services.kit.server import ServiceSettings
from services.kit.settings import SettingsError, setting
from services.kit.tls_settings import usable


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings(ServiceSettings):
    """Settings of the gateway."""

    port: int = setting("MAGNATE_GATEWAY_PORT", 7400, "port of the gateway for native gRPC", low=0, high=65535)
    port_certificate: str = setting(
        "MAGNATE_GATEWAY_TLS_CERT", "", "PEM file of the certificate of the native port; empty: no TLS there"
    )
    port_key: str = setting("MAGNATE_GATEWAY_TLS_KEY", "", "PEM file of the key of that certificate")
    web_port: int = setting("MAGNATE_WEB_PORT", 7480, "port of the gateway for browsers", low=0, high=65535)
    web_origins: str = setting(
        "MAGNATE_WEB_ORIGINS", "", "origins whose pages may call the browser port, with commas between; * for all"
    )
    web_folder: str = setting("MAGNATE_WEB_FOLDER", "", "folder of the built browser client; empty: gateway/web/dist")
    web_request_ms: int = setting(
        "MAGNATE_WEB_REQUEST_MS", 20_000, "time a browser may take to send a request", low=50, high=600_000
    )
    max_message_bytes: int = setting(
        "MAGNATE_GATEWAY_MAX_MESSAGE_BYTES", 65_536, "largest message a client may send", low=1024, high=16_777_216
    )
    redis_url: str = setting(
        "MAGNATE_REDIS_URL", "redis://127.0.0.1:6379/0", "Redis that carries the event stream", secret=True
    )
    rules_address: str = setting("MAGNATE_RULES_ADDRESS", "127.0.0.1:7410", "where the rules service is")
    table_address: str = setting("MAGNATE_TABLE_ADDRESS", "127.0.0.1:7420", "where the table service is")
    clock_address: str = setting("MAGNATE_CLOCK_ADDRESS", "127.0.0.1:7430", "where the clock service is")
    bots_address: str = setting("MAGNATE_BOTS_ADDRESS", "127.0.0.1:7440", "where the bots service is")
    clock_token: str = setting(
        "MAGNATE_CLOCK_TOKEN",
        "",
        "secret by which gateways and tables know the clock; two with a comma between while it is changed",
        secret=True,
    )
    submit_timeout_ms: int = setting(
        "MAGNATE_GATEWAY_SUBMIT_TIMEOUT_MS", 5_000, "time a command may take", low=50, high=60_000
    )
    submit_target_ms: int = setting(
        "MAGNATE_GATEWAY_SUBMIT_TARGET_MS",
        180,
        "time within which nearly all commands have their answer; a gateway lets in as many at a time as are answered "
        "in a part of it, and refuses more with a time to wait; 0: none is refused for that",
        low=0,
        high=60_000,
    )
    probe_timeout_ms: int = setting(
        "MAGNATE_GATEWAY_PROBE_TIMEOUT_MS", 2_000, "time a probe may take to come back", low=20, high=60_000
    )
    heartbeat_ms: int = setting(
        "MAGNATE_HEARTBEAT_MS", 5_000, "a watch hears something at least this often", low=50, high=60_000
    )
    presence_ms: int = setting(
        "MAGNATE_PRESENCE_MS", 10_000, "how often the table service is told who watches", low=100, high=600_000
    )
    reconcile_ms: int = setting(
        "MAGNATE_RECONCILE_MS",
        15_000,
        "time without news after which a watched table is compared with the table service",
        low=100,
        high=600_000,
    )
    queue_frames: int = setting(
        "MAGNATE_WATCH_QUEUE", 512, "messages that may wait for a slow client before it is cut", low=8, high=100_000
    )
    queue_bytes: int = setting(
        "MAGNATE_WATCH_QUEUE_BYTES", 4_194_304, "bytes that may wait for a slow client", low=65_536, high=1 << 30
    )
    slow_ms: int = setting(
        "MAGNATE_WATCH_SLOW_MS",
        10_000,
        "time a slow client gets to take the end of its watch, or the next piece of an export",
        low=50,
        high=600_000,
    )
    tables_per_watch: int = setting("MAGNATE_WATCH_TABLES", 64, "tables on one watch", low=1, high=10_000)
    watches_per_session: int = setting("MAGNATE_WATCHES", 8, "open watches of one session", low=1, high=10_000)
    exports_per_session: int = setting("MAGNATE_EXPORTS", 4, "open exports of one session", low=1, high=10_000)
    session_rate: float = setting(
        "MAGNATE_SESSION_RATE", 200.0, "calls of a session in a second, twice as many at once; 0: no limit", low=0
    )
    address_rate: float = setting(
        "MAGNATE_ADDRESS_RATE", 2_000.0, "calls of an address in a second, twice as many at once; 0: no limit", low=0
    )
    trusted_hops: int = setting(
        "MAGNATE_TRUSTED_HOPS", 0, "proxies in front whose `x-forwarded-for` is believed", low=0, high=8
    )

    def check(self) -> None:
        self.tls()
        self.port_tls()

    def port_tls(self) -> TlsFiles | None:
        """Clients show no certificate: their sessions say who they are."""
        names = (self.port_certificate, self.port_key)
        if not any(names):
            return None
        if not all(names):
            raise SettingsError("MAGNATE_GATEWAY_TLS_CERT and MAGNATE_GATEWAY_TLS_KEY go together: both or none")
        return usable(TlsFiles(*names))

    def proofs(self) -> Sequence[Proof]:
        return clock_proofs(self.clock_token)

    def watch_limits(self) -> WatchLimits:
        """Bounds of a watch."""
        return WatchLimits(
            heartbeat_ms=self.heartbeat_ms,
            queue_frames=self.queue_frames,
            queue_bytes=self.queue_bytes,
            slow_ms=self.slow_ms,
            tables_per_watch=self.tables_per_watch,
            watches_per_session=self.watches_per_session,
            reconcile_ms=self.reconcile_ms,
        )

    def call_limits(self) -> CallLimits:
        """Bounds of calling."""
        return CallLimits(
            session_per_second=self.session_rate,
            session_burst=2 * self.session_rate,
            address_per_second=self.address_rate,
            address_burst=2 * self.address_rate,
            trusted_hops=self.trusted_hops,
        )

    def origins(self) -> list[str]:
        """Origins that may call from their pages."""
        return [origin.strip() for origin in self.web_origins.split(",") if origin.strip()]
