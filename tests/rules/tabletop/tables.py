"""The five editions of the ledger, for short scenarios."""

from collections.abc import Mapping

from services.rules.domain.parties import BANK
from services.rules.domain.state import SeatKind
from tests.support.scenario import Game, a_game

TABLETOPS = ("tabletop", "tabletop-short", "tabletop-timed")
FIVE = (*TABLETOPS, "online-classic", "rent-tax")

MINUTE_MS = 60_000


def a_table(
    edition: str,
    seats: int = 3,
    *,
    kinds: tuple[SeatKind, ...] = (),
    grace_ms: int = 0,
    overrides: Mapping[str, object] | None = None,
) -> Game:
    """A table of an edition where nobody owns anything yet and everybody has the cash of the start."""
    game = a_game(seats, edition=edition, kinds=kinds, grace_ms=grace_ms, overrides=overrides)
    game.owning(BANK, *game.edition.board.deeds)
    return game.cash_of_all(*[game.edition.start_cash] * seats)


def tabletop(seats: int = 3, **options: object) -> Game:
    """A table of `tabletop`; `options` are overrides."""
    return a_table("tabletop", seats, overrides=options)


def short_game(seats: int = 3) -> Game:
    """A table of `tabletop-short`, as if nothing had been dealt."""
    return a_table("tabletop-short", seats)


def timed(seats: int = 3, **options: object) -> Game:
    """A table of `tabletop-timed`, as if nothing had been dealt; `options` are overrides."""
    return a_table("tabletop-timed", seats, overrides=options)


def online(seats: int = 3) -> Game:
    """A table of `online-classic`."""
    return a_table("online-classic", seats)


def rent_tax(seats: int = 3, **options: object) -> Game:
    """A table of `rent-tax`; `options` are overrides."""
    return a_table("rent-tax", seats, overrides=options)
