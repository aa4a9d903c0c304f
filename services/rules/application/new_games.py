"""From the seats of a table to the setup of a game."""

from collections.abc import Sequence

from services.rules.domain.edition import Edition
from services.rules.domain.new_game import Setup
from services.rules.domain.refusals import Reason, Refusal
from services.rules.domain.state import Seating, SeatKind, SeatSetup
from services.rules.editions.ports import Overrides

_MOST_NONCE = 128


def make_setup(
    edition: Edition, seats: Sequence[SeatSetup], *, overrides: Overrides, server_seed: bytes, grace_ms: int
) -> Setup | Refusal:
    """The setup of a game with these seats; teams are those of the edition. A Refusal if they do not fit it."""
    least, most = edition.seats.least, edition.seats.most
    if not least <= len(seats) <= most:
        message = f"{edition.id} is played by {least} to {most} seats, not by {len(seats)}"
        return _refusal("bad_choice", message, {"least": least, "greatest": most, "seats": len(seats)})
    for number, seat in enumerate(seats):
        if not _is_hexadecimal(seat.nonce):
            message = f"a nonce is at most {_MOST_NONCE} hexadecimal digits"
            return _refusal("malformed", message, {"seat": number})
    seating = seating_of([seat.kind for seat in seats], edition.seating)
    if seating is None:
        allowed = ", ".join(edition.seating)
        return _refusal("bad_choice", f"{edition.id} does not seat these people and bots together ({allowed})", {})
    return Setup(
        seating=seating,
        seats=tuple(
            SeatSetup(seat.kind, team_of(edition, number), seat.nonce.lower(), seat.rating)
            for number, seat in enumerate(seats)
        ),
        server_seed=server_seed,
        grace_ms=grace_ms,
        overrides=overrides,
    )


def seating_of(kinds: Sequence[SeatKind], allowed: Sequence[Seating]) -> Seating | None:
    """The seating of people and bots in these seats, None if the edition does not allow it."""
    people = kinds.count("person")
    fitting: tuple[Seating, ...]
    if people == len(kinds):
        fitting = ("people", "mixed")
    elif people == 0:
        fitting = ("bots", "mixed")
    elif people == 1 and kinds[0] == "person":
        fitting = ("solo", "mixed")
    else:
        fitting = ("mixed",)
    return next((seating for seating in fitting if seating in allowed), None)


def team_of(edition: Edition, seat: int) -> int:
    """The team of a seat: one of the edition's, by its number there, or the seat alone."""
    for team, members in enumerate(edition.teams or ()):
        if seat in members:
            return team
    return seat


def _is_hexadecimal(nonce: str) -> bool:
    return len(nonce) <= _MOST_NONCE and all(digit in "0123456789abcdefABCDEF" for digit in nonce)


def _refusal(reason: Reason, message: str, fields: dict[str, int]) -> Refusal:
    return Refusal(reason, "", "", message, fields)
