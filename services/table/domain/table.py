"""The life of a table outside its game: lobby, running, finished or expired; seats, host, presence."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from enum import IntEnum

from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.seating import EditionSeats, Seating, seating_of

# Of the name and of the value of one override, each. It stands here and not in the contract: the same message is part
# of logs and states, which are read with whatever is in them.
MOST_OVERRIDE_CHARS = 64


class Status(IntEnum):
    """Numbers as in magnate.table.v1.TableStatus."""

    LOBBY = 1
    RUNNING = 2
    FINISHED = 3
    EXPIRED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Seat:
    """A seat that is taken: by a person (`session_id`) or by a bot (`bot_level`).

    Times are milliseconds of Unix time; `seen_at_ms` is the last moment at which the holder had a live connection.
    """

    name: str
    session_id: str = ""
    bot_level: str = ""
    secret_hash: bytes = b""
    nonce: str = ""
    joined_at_ms: int = 0
    seen_at_ms: int = 0
    present: bool = True

    @property
    def is_bot(self) -> bool:
        return not self.session_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the creator wants of the table."""

    overrides: tuple[tuple[str, str], ...] = ()
    capacity: int
    spectators: bool = False
    unlisted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """Why the site has stopped a table, for operators and not for players. `was_paused`: by its person, before."""

    why: str
    is_broken: bool
    was_paused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table. `seats` are in joining order. `host_seated` is false where the creator only watches bots play.
    `grace_ms` is the grace of its deadlines in milliseconds of play time, once the game runs.

    `lobby_version` grows with every change; `holders_version` only when a seat of a running game changes hands, or its
    table is paused, stopped or goes on: a command that was decided before is not committed after. `paused_at_ms` is
    the play time of the shard since which the table stands still, for whatever cause, None while it does not; `held_ms`
    that of times that are over.
    `history_id` is the history of the store that the table was read from or made for.
    """

    table_id: str
    shard: int
    status: Status
    seats_of_edition: EditionSeats
    wishes: Wishes
    seats: tuple[Seat, ...]
    host_session_id: str
    host_seated: bool
    server_seed: bytes
    seed_hash: str
    created_at_ms: int
    create_digest: bytes
    grace_ms: int = 0
    lobby_version: int = 1
    holders_version: int = 1
    last_seq: int = 0
    paused_at_ms: int | None = None
    held_ms: int = 0
    stop: Stop | None = None
    history_id: str = field(default="", compare=False)

    @property
    def is_paused(self) -> bool:
        return self.paused_at_ms is not None

    def stood_at_ms(self, play_time_ms: int) -> int:
        """The shard's play time up to which the table has come, when that is now this: in a pause it stands still."""
        return play_time_ms if self.paused_at_ms is None else self.paused_at_ms

    def seat_of(self, session_id: str) -> int | None:
        """The seat that this session holds; None without one."""
        return next((number for number, seat in enumerate(self.seats) if seat.session_id == session_id), None)

    def people(self) -> int:
        return sum(not seat.is_bot for seat in self.seats)

    def bots(self) -> int:
        return sum(seat.is_bot for seat in self.seats)

    def bot_levels(self) -> dict[int, str]:
        """Levels of the bots by seat."""
        return {number: seat.bot_level for number, seat in enumerate(self.seats) if seat.is_bot}

    def is_open(self) -> bool:
        """Whether others may still join."""
        return (
            self.status == Status.LOBBY
            and self.host_seated
            and len(self.seats) < self.wishes.capacity
            and seating_of(self.people() + 1, self.bots(), self.seats_of_edition.seatings) is not None
        )

    def may_watch(self, session_id: str) -> bool:
        """Whether the game's view is open to this session: seats and the host always, others as the creator said."""
        return self.wishes.spectators or session_id == self.host_session_id or self.seat_of(session_id) is not None


def check_wishes(wishes: Wishes, edition: EditionSeats, *, spectate: bool) -> None:
    """Refuses seats outside the edition's range, watching bots where the edition knows no table of bots, and overrides
    whose texts are too long for a parameter or a value of any edition."""
    for number, override in enumerate(wishes.overrides):
        for name, text in zip(("parameter", "value"), override, strict=True):
            if len(text) > MOST_OVERRIDE_CHARS:
                field = f"settings.overrides[{number}].{name}"
                raise RefusalError(
                    Reason.MALFORMED, f"{field} has more than {MOST_OVERRIDE_CHARS} characters", {"field": field}
                )
    if not edition.least <= wishes.capacity <= edition.most:
        raise RefusalError(
            Reason.BAD_CHOICE,
            f"a table of {edition.edition} has {edition.least} to {edition.most} seats",
            {"field": "settings.seats", "least": str(edition.least), "greatest": str(edition.most)},
        )
    if spectate and seating_of(0, edition.least, edition.seatings) is None:
        raise RefusalError(Reason.BAD_CHOICE, "this edition has no tables of bots alone", {"field": "spectate"})


def join(table: Table, seat: Seat) -> Table:
    """Seats a person behind the others."""
    _need_lobby(table)
    if table.seat_of(seat.session_id) is not None:
        raise RefusalError(Reason.ALREADY_SEATED, "this session already holds a seat at the table")
    if len(table.seats) >= table.wishes.capacity:
        raise RefusalError(Reason.TABLE_FULL, "no seat is free")
    allowed = table.seats_of_edition.seatings
    if not table.host_seated or seating_of(table.people() + 1, table.bots(), allowed) is None:
        raise RefusalError(Reason.TABLE_FULL, "no seat is left for people beside these bots")
    return _changed(table, seats=(*table.seats, seat))


def leave(table: Table, session_id: str) -> Table:
    """Frees the seat of a session before the start; the host's right passes on, an empty table expires."""
    _need_lobby(table)
    if table.seat_of(session_id) is None:
        if session_id == table.host_session_id:
            return expire(table)
        raise RefusalError(Reason.NOT_YOUR_SEAT, "this session holds no seat at the table")
    return _without(table, lambda seat: seat.session_id == session_id)


def vacate(table: Table, *, seen_before_ms: int) -> Table:
    """Frees the seats of people last seen before this moment. The same table if there are none [IND-TABLE-13]."""
    if table.status != Status.LOBBY:
        return table

    def is_gone(seat: Seat) -> bool:
        return not seat.is_bot and seat.seen_at_ms < seen_before_ms

    return _without(table, is_gone) if any(is_gone(seat) for seat in table.seats) else table


def add_bots(table: Table, caller: str, bots: Iterable[Seat]) -> Table:
    """Seats bots; only the host may, and only where the edition seats them beside those who are there."""
    _need_lobby(table)
    _need_host(table, caller)
    seats = (*table.seats, *bots)
    if len(seats) > table.wishes.capacity:
        raise RefusalError(
            Reason.TABLE_FULL,
            "there are not so many free seats",
            {"greatest": str(table.wishes.capacity - len(table.seats))},
        )
    people = sum(not seat.is_bot for seat in seats)
    if seating_of(people, len(seats) - people, table.seats_of_edition.seatings) is None:
        raise RefusalError(Reason.NO_BOTS, "the edition does not seat bots beside these people")
    return _changed(table, seats=seats)


def launch(table: Table, caller: str) -> tuple[Table, Seating]:
    """Starts the game: the host's right from the second seat on; seats are numbered in joining order [IND-TABLE-13].

    The person of a solo game gets seat 0 whenever he came.
    """
    _need_lobby(table)
    _need_host(table, caller)
    least = table.seats_of_edition.least
    if len(table.seats) < least:
        raise RefusalError(Reason.TOO_FEW_SEATS, f"a game needs {least} seats", {"least": str(least)})
    seating = seating_of(table.people(), table.bots(), table.seats_of_edition.seatings)
    if seating is None:
        raise RefusalError(Reason.NO_BOTS, "the edition does not seat these people and bots together")
    seats = table.seats
    if seating is Seating.SOLO:
        seats = tuple(sorted(seats, key=lambda seat: seat.is_bot))
    return _changed(table, seats=seats, status=Status.RUNNING), seating


def reclaim(table: Table, number: int, heir: Seat, *, secret_hash: bytes) -> Table:
    """Gives a seat to another session that knows its secret; the secret is used up [IND-TABLE-16]."""
    if table.status == Status.EXPIRED:
        raise RefusalError(Reason.NO_TABLE, "the table has expired")
    seat = table.seats[number] if number < len(table.seats) else None
    if seat is None or seat.is_bot or seat.secret_hash != secret_hash:
        raise RefusalError(Reason.WRONG_SECRET, "the secret does not open this seat")
    if table.seat_of(heir.session_id) not in (None, number):
        raise RefusalError(Reason.ALREADY_SEATED, "this session already holds another seat at the table")
    taken = replace(heir, nonce=seat.nonce, joined_at_ms=seat.joined_at_ms)
    host = heir.session_id if table.host_session_id == seat.session_id else table.host_session_id
    seats = (*table.seats[:number], taken, *table.seats[number + 1 :])
    return _changed(table, seats=seats, host_session_id=host, holders_version=table.holders_version + 1)


def with_secret(table: Table, session_id: str, secret_hash: bytes) -> Table:
    """Puts another secret in the place of that of the session's seat; the one before opens nothing any more."""
    seats = [replace(seat, secret_hash=secret_hash) if seat.session_id == session_id else seat for seat in table.seats]
    return _changed(table, seats=tuple(seats))


def expire(table: Table) -> Table:
    """Ends a lobby that came to nothing."""
    _need_lobby(table)
    return _changed(table, seats=(), status=Status.EXPIRED)


def abandon(table: Table) -> Table:
    """Ends a running game that nobody plays any more, without a result. Its log stays, and takes no command that was
    decided before."""
    changed = _changed(table, seats=table.seats, status=Status.EXPIRED, holders_version=table.holders_version + 1)
    return replace(changed, paused_at_ms=None, stop=None)


def _without(table: Table, is_gone: Callable[[Seat], bool]) -> Table:
    seats = tuple(seat for seat in table.seats if not is_gone(seat))
    heirs = [seat.session_id for seat in seats if not seat.is_bot]
    if not heirs:
        # What is left is nobody, or bots that nobody could start.
        return expire(table)
    host = table.host_session_id if table.host_session_id in heirs else heirs[0]
    return _changed(table, seats=seats, host_session_id=host)


def _changed(
    table: Table,
    *,
    seats: tuple[Seat, ...],
    status: Status | None = None,
    host_session_id: str | None = None,
    holders_version: int | None = None,
) -> Table:
    return replace(
        table,
        seats=seats,
        status=table.status if status is None else status,
        host_session_id=table.host_session_id if host_session_id is None else host_session_id,
        holders_version=table.holders_version if holders_version is None else holders_version,
        lobby_version=table.lobby_version + 1,
    )


def _need_lobby(table: Table) -> None:
    if table.status == Status.EXPIRED:
        raise RefusalError(Reason.NO_TABLE, "the table has expired")
    if table.status != Status.LOBBY:
        raise RefusalError(Reason.ALREADY_STARTED, "the game has been started already")


def _need_host(table: Table, caller: str) -> None:
    if caller != table.host_session_id:
        raise RefusalError(Reason.NOT_HOST, "only the host may do this")
