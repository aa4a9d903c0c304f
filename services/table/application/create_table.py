"""Creates a table and seats its creator."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from magnate.game.v1 import event_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb
from magnate.table.v1 import table_service_pb2 as table_pb

from services.table.application.editions import Editions
from services.table.application.limits import Limiter
from services.table.application.lobby import Lobby, key_of, version_race
from services.table.application.options import Options
from services.table.application.outbox import Outbox
from services.table.application.ports import Chance, Rules, Store, Wall
from services.table.application.secret_texts import hash_of, table_id_of
from services.table.application.sessions import Sessions
from services.table.domain.refusals import Reason, RefusalError
from services.table.domain.seating import EditionSeats, seating_of
from services.table.domain.session import Session
from services.table.domain.shards import shard_of
from services.table.domain.table import Seat, Status, Table, Wishes, check_wishes, with_secret

_SEED_BYTES = 32


@dataclass(frozen=True, slots=True)
class Created:
    """The table, and the secret of the creator's seat: empty without a seat, and for a repeat after the lobby."""

    table: Table
    seat_secret: str


class CreateTable:
    """The table's id follows from the session and the command id, so that a repeat finds what was made.

    A repeat gets a new secret, as only hashes are stored, and whoever repeats may never have seen the one before.
    """

    def __init__(
        self,
        *,
        store: Store,
        lobby: Lobby,
        rules: Rules,
        editions: Editions,
        sessions: Sessions,
        outbox: Outbox,
        wall: Wall,
        chance: Chance,
        limiter: Limiter,
        options: Options,
    ) -> None:
        self._store = store
        self._lobby = lobby
        self._rules = rules
        self._editions = editions
        self._sessions = sessions
        self._outbox = outbox
        self._wall = wall
        self._chance = chance
        self._limiter = limiter
        self._options = options

    async def run(self, request: table_pb.CreateTableRequest) -> Created:
        """Refuses wishes that the edition does not allow, another request under the same command id, and with
        `version_race` a request that met its own repeat."""
        session = await self._sessions.require(request.session_token)
        table_id = table_id_of(session.salt, request.command_id)
        digest = _digest(request)
        existing = await self._store.load_table(key_of(table_id))
        if existing is not None:
            return await self._repeated(existing, digest, session)
        self._limiter.take(session.session_id)
        seed = self._seed(request.fixed_seed)
        settings = request.settings
        edition = await self._editions.seats_of(settings.edition, settings.edition_version)
        wishes = Wishes(
            overrides=tuple((override.parameter, override.value) for override in settings.overrides),
            capacity=settings.seats,
            spectators=settings.spectators,
            unlisted=settings.unlisted,
        )
        check_wishes(wishes, edition, spectate=request.spectate)
        if wishes.overrides:
            await self._try_overrides(table_id, edition, settings.overrides)
        created = self._table(session, request, edition, wishes, seed)
        if not await self._store.create_table(created.table):
            other = await self._store.load_table(key_of(table_id))
            if other is not None:
                return _met(other, digest, session)
        self._outbox.table_changed(created.table)
        return created

    async def _repeated(self, table: Table, digest: bytes, session: Session) -> Created:
        _need_same(table, digest)
        seen = _open_seat(table, session)
        if seen is None:
            return Created(table, "")
        secret = self._chance.token()

        def renewed(found: Table) -> Table:
            seat = _open_seat(found, session)
            if seat is None or seat.secret_hash != seen.secret_hash:
                # Another repeat has given out a secret since, which must not be void before it arrives.
                raise version_race()
            return with_secret(found, session.session_id, hash_of(secret))

        return Created(await self._lobby.change(table.table_id, renewed), secret)

    def _table(
        self,
        session: Session,
        request: table_pb.CreateTableRequest,
        edition: EditionSeats,
        wishes: Wishes,
        seed: bytes,
    ) -> Created:
        table_id = table_id_of(session.salt, request.command_id)
        now_ms = self._wall.unix_ms()
        secret, seats = "", tuple[Seat, ...]()
        if not request.spectate:
            secret = self._chance.token()
            creator = Seat(
                name=session.name,
                session_id=session.session_id,
                secret_hash=hash_of(secret),
                nonce=request.nonce,
                joined_at_ms=now_ms,
                seen_at_ms=now_ms,
            )
            seats = (creator,)
        table = Table(
            table_id=table_id,
            shard=shard_of(table_id),
            status=Status.LOBBY,
            seats_of_edition=edition,
            wishes=wishes,
            seats=seats,
            host_session_id=session.session_id,
            host_seated=not request.spectate,
            server_seed=seed,
            seed_hash=hashlib.sha256(seed).hexdigest(),
            created_at_ms=now_ms,
            create_digest=_digest(request),
            history_id=self._store.history_id,
        )
        return Created(table, secret)

    def _seed(self, fixed: str) -> bytes:
        if not fixed:
            return self._chance.seed()
        if not self._options.allow_fixed_seed:
            raise RefusalError(Reason.NOT_ALLOWED, "this server draws every seed itself")
        try:
            seed = bytes.fromhex(fixed)
        except ValueError:
            seed = b""
        if len(seed) != _SEED_BYTES:
            raise RefusalError(Reason.MALFORMED, "a seed is 32 bytes in hexadecimal", {"field": "fixed_seed"})
        return seed

    async def _try_overrides(
        self, table_id: str, edition: EditionSeats, overrides: Iterable[event_pb2.Override]
    ) -> None:
        """Lets the rules judge the overrides now, not only when the game starts."""
        is_person = seating_of(edition.least, 0, edition.seatings) is not None
        kind = event_pb2.SEAT_KIND_PERSON if is_person else event_pb2.SEAT_KIND_BOT
        await self._rules.new_game(
            rules_pb.NewGameRequest(
                table_id=table_id,
                edition=edition.edition,
                version=edition.version,
                overrides=overrides,
                seats=[event_pb2.SeatSetup(kind=kind, team=seat) for seat in range(edition.least)],
                server_seed=bytes(_SEED_BYTES),
                grace_ms=self._options.grace_ms,
            )
        )


def _digest(request: table_pb.CreateTableRequest) -> bytes:
    body = table_pb.CreateTableRequest()
    body.CopyFrom(request)
    body.session_token = ""
    return hashlib.sha256(body.SerializeToString(deterministic=True)).digest()


def _need_same(table: Table, digest: bytes) -> None:
    if table.create_digest != digest:
        raise RefusalError(Reason.COMMAND_ID_REUSED, "another table was created under this id")


def _met(table: Table, digest: bytes, session: Session) -> Created:
    """What was made at the same moment by another try, whose answer alone has the secret."""
    _need_same(table, digest)
    if _open_seat(table, session) is not None:
        raise version_race()
    return Created(table, "")


def _open_seat(table: Table, session: Session) -> Seat | None:
    """The seat that the session holds at a table whose game has not begun."""
    number = table.seat_of(session.session_id) if table.status == Status.LOBBY else None
    return None if number is None else table.seats[number]
