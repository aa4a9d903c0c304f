"""The levels of play by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from services.bots.domain.bot import Bot
from services.bots.domain.steady import SteadyBot
from services.rules.domain.board import Names


@dataclass(frozen=True, slots=True)
class Level:
    """A level: its stable name, its names for people, and who plays it."""

    name: str
    names: Names
    bot: Bot


STANDARD = "normal"

LEVELS: Mapping[str, Level] = MappingProxyType(
    {
        "normal": Level("normal", Names(en="Normal", uk="Звичайний", ru="Обычный"), SteadyBot()),
    }
)


def level_named(name: str) -> Level | None:
    """The level of that name, the standard one for an empty name; None if there is none."""
    return LEVELS.get(name or STANDARD)
