"""What the rules service can be told through the environment."""

from dataclasses import dataclass

from services.kit.server import ServiceSettings
from services.kit.settings import setting


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesSettings(ServiceSettings):
    """Settings of the rules service."""

    port: int = setting("MAGNATE_RULES_PORT", 7410, "port of the rules service", low=0, high=65535)
    kept_states: int = setting(
        "MAGNATE_RULES_KEPT_STATES", 4096, "tables whose latest states a replica keeps in memory", low=1, high=1_000_000
    )
    check_every: int = setting(
        "MAGNATE_RULES_CHECK_EVERY",
        256,
        "of so many commands one has its state checked against the invariants of the game",
        low=1,
        high=1_000_000,
    )
