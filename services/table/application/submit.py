"""A seat's command: who gives it, and whether he may."""

from __future__ import annotations

from magnate.game.v1 import command_pb2

from services.kit.admission import Admission
from services.kit.errors import ServiceError
from services.table.application.commands import Commands, Done, Order
from services.table.application.errors import from_refused
from services.table.application.hot_tables import HotTable
from services.table.application.limits import Limiter
from services.table.application.lobby import key_of
from services.table.application.ports import Meter, Wall
from services.table.application.sessions import Sessions
from services.table.domain.refusals import Reason, RefusalError

# Ids of commands that this service gives itself; nobody else may use them up.
RESERVED = "magnate:"
# Those of the bots service, which can be foretold: no person may use them up.
RESERVED_FOR_BOTS = "bot."
_NOT_FOR_SEATS = ("expire", "withdraw")


class Submit:
    """Checks the caller, then does the command. With an empty token the bots service plays bots' seats.

    Gateways let in what they can answer soon, but each sees its own commands alone, and none sees those of the bots:
    so they are counted once more here, where they meet. What the clock and this service itself do is never put off.
    """

    def __init__(
        self, commands: Commands, sessions: Sessions, limiter: Limiter, admission: Admission, wall: Wall, meter: Meter
    ) -> None:
        self._commands = commands
        self._sessions = sessions
        self._limiter = limiter
        self._admission = admission
        self._wall = wall
        self._meter = meter

    async def run(self, token: str, table_id: str, command: command_pb2.Command) -> Done:
        """Raises ServiceError, `overloaded` among them; when it returns, the command is on disk."""
        began_s = self._wall.monotonic_s()
        wait_ms = self._admission.enter(began_s)
        if wait_ms:
            self._meter.command_refused(Reason.OVERLOADED)
            raise from_refused(_too_much(wait_ms))
        failure: ServiceError | None = None
        try:
            return await self._run(token, table_id, command)
        except ServiceError as error:
            failure = error
            raise
        finally:
            now_s = self._wall.monotonic_s()
            self._admission.leave(now_s, now_s - began_s, failure)
            self._meter.command_answered(now_s - began_s)

    async def _run(self, token: str, table_id: str, command: command_pb2.Command) -> Done:
        try:
            key = key_of(table_id)
            stamp = self._commands.stamp(key)
            session_id = ""
            if token:
                session_id = (await self._sessions.recall(token)).session_id
                self._limiter.take(session_id)
            _check(command, by_person=bool(token))
        except RefusalError as refused:
            raise from_refused(refused) from None

        def authorise(hot: HotTable) -> None:
            seat = command.seat
            holder = hot.holders[seat] if seat < len(hot.holders) else None
            if holder is None or holder.session_id != session_id:
                if not session_id and holder is not None:
                    raise RefusalError(Reason.NO_SESSION, "a person's seat is played with a session token")
                raise RefusalError(Reason.NOT_YOUR_SEAT, "this session does not hold the seat", {"seat": str(seat)})

        return await self._commands.do(Order(key, command, stamp, authorise))


def _too_much(wait_ms: int) -> RefusalError:
    return RefusalError(Reason.OVERLOADED, "the tables have too much to do just now", retry_after_ms=wait_ms)


def _check(command: command_pb2.Command, *, by_person: bool) -> None:
    kind = command.WhichOneof("action")
    if kind is None:
        raise RefusalError(Reason.MALFORMED, "the command has no action", {"field": "command.action"})
    if kind in _NOT_FOR_SEATS:
        raise RefusalError(Reason.NOT_ALLOWED, f"{kind} is not for seats")
    for prefix in (RESERVED, RESERVED_FOR_BOTS) if by_person else (RESERVED,):
        if command.command_id.startswith(prefix):
            raise RefusalError(
                Reason.MALFORMED, f"command ids that begin with {prefix} are reserved", {"field": "command.command_id"}
            )
