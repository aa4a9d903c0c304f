"""Scripted clients of the public gateways, who keep to docs/client-guide.md and note everything in their journals."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.kit.errors import ServiceError
from tests.chaos import journal as j
from tests.chaos.journal import Journal, now_ns
from tests.chaos.lines import Line

#: how long a client waits for an answer before it asks again
ANSWER_S = 4.0
_FIRST_REST_S, _LAST_REST_S = 0.05, 1.0
#: what is worth another try of the same call, by the guide
_AGAIN = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
    }
)
#: answers that say that nothing has been done
_NOT_DONE = frozenset({"version_race", "overloaded"})
_FAULTS = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a call that was tried until it had one; not `is_sure`: an earlier try went unanswered."""

    message: Any
    is_sure: bool


class RefusedError(Exception):
    """A call was refused for good; `is_sure` as above."""

    def __init__(self, error: ServiceError, *, is_sure: bool) -> None:
        super().__init__(str(error))
        self.reason = error.reason
        self.is_sure = is_sure


class Client:
    """A session, and a line to each gateway; it uses one until that fails. `under_way` counts commands without an
    answer."""

    def __init__(
        self, name: str, addresses: Sequence[str], open_line: Callable[[str], Line], journal: Journal, seed: str
    ) -> None:
        self.name = name
        self.journal = journal
        self.rng = random.Random(seed)
        self.token = ""
        self.session_id = ""
        self.under_way = 0
        self._addresses = addresses
        self._open_line = open_line
        self._lines: dict[str, Line] = {}
        self._at = self.rng.randrange(len(addresses))
        self._numbers = itertools.count(1)

    @property
    def line(self) -> Line:
        """The one that is used now."""
        address = self._addresses[self._at]
        if address not in self._lines:
            self._lines[address] = self._open_line(address)
        return self._lines[address]

    def move(self) -> None:
        """Goes to another gateway."""
        self._at = (self._at + 1) % len(self._addresses)

    def new_id(self) -> str:
        """A command id that nobody has used."""
        return f"{self.name}.{next(self._numbers)}"

    async def begin(self) -> None:
        """Opens the session."""
        answer = (await self.insist(pb.CreateSessionRequest(name=self.name))).message
        self.token, self.session_id = answer.session_token, answer.session.session_id

    async def insist(self, request: Any, table_id: str = "") -> Answer:
        """Asks until there is an answer. RefusedError for a refusal that another try would not change."""
        rest_s = _FIRST_REST_S
        is_sure = True
        while True:
            try:
                return Answer(await self.line.ask(request, self.token, ANSWER_S), is_sure)
            except ServiceError as error:
                if error.code not in _AGAIN:
                    raise RefusedError(error, is_sure=is_sure) from None
                if error.code in _FAULTS:
                    self.journal.note(j.Failed(now_ns(), table_id, str(error)[:200]))
                if error.reason not in _NOT_DONE:
                    is_sure = False
                    self.move()
                wanted_s = (error.retry_after_ms or 0) / 1000
            await asyncio.sleep(max(wanted_s, rest_s * self.rng.uniform(0.5, 1.0)))
            rest_s = min(rest_s * 2, _LAST_REST_S)

    async def submit(self, table_id: str, command: command_pb2.Command) -> pb.SubmitResponse:
        """Gives a command until it is known what became of it. RefusedError."""
        digest = hashlib.sha256(command.SerializeToString(deterministic=True)).hexdigest()
        self.journal.note(j.Asked(now_ns(), table_id, command.command_id, digest))
        request = pb.SubmitRequest(table_id=table_id, command=command)
        self.under_way += 1
        try:
            done: pb.SubmitResponse = (await self.insist(request, table_id)).message
        except RefusedError as refused:
            self.journal.note(j.Refused(now_ns(), table_id, command.command_id, refused.reason, refused.is_sure))
            raise
        finally:
            self.under_way -= 1
        self.journal.note(
            j.Answered(now_ns(), table_id, command.command_id, done.first_seq, done.last_seq, done.repeated)
        )
        return done

    async def close(self) -> None:
        """Ends the lines and the journal."""
        for line in self._lines.values():
            await line.close()
        self.journal.close()
