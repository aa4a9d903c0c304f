"""Who may sit together: the edition's word on people and bots."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Seating(StrEnum):
    """Who sits at a table, as far as an edition cares."""

    PEOPLE = "people"
    MIXED = "mixed"
    SOLO = "solo"
    BOTS = "bots"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionSeats:
    """What an edition says about seats: how many, and which seatings it knows."""

    edition: str
    version: int
    least: int
    most: int
    seatings: frozenset[Seating]


def seating_of(people: int, bots: int, allowed: frozenset[Seating]) -> Seating | None:
    """The seating of so many people and bots; None where the edition does not seat them together."""
    if people and not bots:
        wanted: tuple[Seating, ...] = (Seating.PEOPLE, Seating.MIXED)
    elif bots and not people:
        wanted = (Seating.BOTS, Seating.MIXED)
    elif people == 1:
        wanted = (Seating.SOLO, Seating.MIXED)
    else:
        wanted = (Seating.MIXED,)
    return next((seating for seating in wanted if seating in allowed), None)
