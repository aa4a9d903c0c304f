"""Where editions come from."""

from collections.abc import Mapping
from typing import Protocol

from services.rules.domain.edition import Edition
from services.rules.domain.state import Config, Seating

Overrides = tuple[tuple[str, str], ...]


class UnknownEditionError(Exception):
    """There is no such edition, or not in that version."""


class OverrideError(Exception):
    """A table may not change this parameter, or not to this value; `fields` say which and what is allowed."""

    def __init__(self, message: str, fields: Mapping[str, str]) -> None:
        super().__init__(message)
        self.fields = fields


class Editions(Protocol):
    """The editions that this service knows."""

    def newest(self) -> tuple[Edition, ...]:
        """The newest version of each, ordered by id."""

    def get(self, edition_id: str, version: int) -> Edition:
        """One edition; version 0 is the newest. Raises UnknownEditionError."""

    def flat(self, edition_id: str, version: int, seating: Seating, overrides: Overrides) -> Edition:
        """The rules of one table; the same object for the same arguments. Raises UnknownEditionError, OverrideError."""


def of_game(editions: Editions, config: Config) -> Edition:
    """The rules of a game that has begun. Raises UnknownEditionError where they are not known any more."""
    try:
        return editions.flat(config.edition, config.version, config.seating, config.overrides)
    except (OverrideError, ValueError) as error:
        raise UnknownEditionError(f"{config.edition} {config.version}: {error}") from error
