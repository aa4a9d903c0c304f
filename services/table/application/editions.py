"""What the lobby needs to know of editions, asked of the rules service and remembered."""

from __future__ import annotations

import json

from magnate.game.v1 import edition_pb2

from services.table.application.ports import Rules, Wall
from services.table.domain.seating import EditionSeats, Seating

_MAX_KNOWN = 64
# Which version is the newest may change while we run; what a version says may not.
_NEWEST_FOR_S = 60.0


class Editions:
    """Seats and seatings by edition and version."""

    def __init__(self, rules: Rules, wall: Wall) -> None:
        self._rules = rules
        self._wall = wall
        self._known: dict[tuple[str, int], tuple[EditionSeats, float]] = {}

    async def seats_of(self, edition: str, version: int) -> EditionSeats:
        """Version 0 means the newest. ServiceError `no_edition` of the rules service."""
        now_s = self._wall.monotonic_s()
        known = self._known.get((edition, version))
        if known is not None and (version or known[1] > now_s):
            return known[0]
        seats = _seats(await self._rules.describe(edition, version))
        if len(self._known) >= _MAX_KNOWN:
            self._known.clear()
        self._known[edition, version] = (seats, now_s + _NEWEST_FOR_S)
        return seats


def _seats(edition: edition_pb2.Edition) -> EditionSeats:
    parameters = {parameter.name: parameter.value for parameter in edition.parameters}
    seatings = json.loads(parameters.get("seating", "[]"))
    return EditionSeats(
        edition=edition.edition,
        version=edition.version,
        least=edition.seats_least,
        most=edition.seats_most,
        seatings=frozenset(Seating(name) for name in seatings),
    )
