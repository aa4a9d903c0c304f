"""What the bots can be told through the environment."""

from __future__ import annotations

from dataclasses import dataclass

from services.bots.application.play_seat import Manners
from services.bots.application.worker import Load
from services.kit.server import ServiceSettings
from services.kit.settings import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class BotsSettings(ServiceSettings):
    """Settings of the bots service."""

    port: int = setting("MAGNATE_BOTS_PORT", 7440, "port of the bots service", low=0, high=65535)
    redis_url: str = setting(
        "MAGNATE_REDIS_URL", "redis://127.0.0.1:6379/0", "Redis that carries the event stream", secret=True
    )
    table_address: str = setting("MAGNATE_TABLE_ADDRESS", "127.0.0.1:7420", "where the table service is")
    think_ms: int = setting(
        "MAGNATE_BOTS_THINK_MS", 0, "pause of a bot before each action, for people to follow", low=0, high=20_000
    )
    gather_ms: int = setting(
        "MAGNATE_BOTS_GATHER_MS",
        5,
        "pause after each look at the event stream, so that news are read many at a time",
        low=0,
        high=1_000,
    )
    max_turns: int = setting(
        "MAGNATE_BOTS_MAX_TURNS", 256, "bots' turns that a replica has in work at a time", low=1, high=10_000
    )
    relist_ms: int = setting(
        "MAGNATE_BOTS_RELIST_MS",
        5_000,
        "time between two looks at the table service's list of open turns, a page of a thousand tables each, in case "
        "one was lost on its way",
        low=100,
        high=3_600_000,
    )
    kept_positions: int = setting(
        "MAGNATE_BOTS_KEPT_POSITIONS", 512, "tables whose position a replica keeps", low=0, high=100_000
    )

    def manners(self) -> Manners:
        """How the bots behave."""
        return Manners(think_ms=self.think_ms)

    def share(self) -> Load:
        """How much a replica does."""
        return Load(max_turns=self.max_turns, relist_ms=self.relist_ms)
