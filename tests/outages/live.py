"""Live games whose deadlines run: nobody bids, some pass at the last moment, everything else is answered at once."""

from __future__ import annotations

import asyncio
import itertools
import time
from dataclasses import dataclass, field
from random import Random
from typing import Literal

from magnate.game.v1 import command_pb2, decision_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.rules.codec.messages import read_decision, write_command
from services.rules.domain.commands import Command
from tests.outages.games import PLAY
from tests.outages.people import AwayError, Doorstep, Party, RefusedError
from tests.support.play import random_action

#: what is left on his countdown when a late one answers
LATE_MS = 2_000
#: how long the way of a command may take, where it is fast at other times, for the site to count as playable
PLAYABLE_S = 1.0
_PACE_S = 0.2
_numbers = itertools.count(1)
_DRAW = Random(1)
_BID = decision_pb2.DECISION_KIND_AUCTION_BID


@dataclass(slots=True)
class Run:
    """A deadline by its client's own clock, in seconds; `is_known`: its beginning was seen when it happened."""

    table_id: str
    deadline: decision_pb2.Deadline
    opened_s: float
    is_known: bool
    ended_s: float = 0.0
    is_expired: bool = False


@dataclass(slots=True)
class Diary:
    """What all live tables of a site saw. `answered`: moments at which answers were sent in time, and `refused` those
    of them that were not taken."""

    runs: list[Run] = field(default_factory=list)
    expiries: dict[tuple[str, int], int] = field(default_factory=dict)
    answered: list[float] = field(default_factory=list)
    refused: dict[float, str] = field(default_factory=dict)
    open_runs: dict[tuple[str, int], Run] = field(default_factory=dict)

    def note(self, update: update_pb2.Update, *, is_news: bool) -> None:
        """Deadlines that an update opened or ended."""
        now_s, table_id = time.monotonic(), update.table_id
        in_force = {item.deadline_id: item for item in update.deadlines}
        expired = update.command.expire.deadline_id
        if expired:
            self.expiries[table_id, expired] = self.expiries.get((table_id, expired), 0) + 1
        for key in [key for key in self.open_runs if key[0] == table_id and key[1] not in in_force]:
            run = self.open_runs.pop(key)
            run.ended_s, run.is_expired = now_s, key[1] == expired
            self.runs.append(run)
        for deadline_id, deadline in in_force.items():
            if (table_id, deadline_id) not in self.open_runs:
                self.open_runs[table_id, deadline_id] = Run(table_id, deadline, now_s, is_news)


def answer(decision: decision_pb2.Decision, *wishes: str) -> command_pb2.Command:
    """What the first asked seat does: the first of the wishes that is legal, then what goes on with the game."""
    known, options = read_decision(decision)
    mine = {option.kind: option for option in options if option.seat == known.seats[0]}
    name = next((name for name in (*wishes, *PLAY) if name in mine), next(iter(mine)))
    chosen = Command(known.seats[0], known.id, random_action(_DRAW, [mine[name]]))
    return command_pb2.Command.FromString(write_command(chosen, f"live-{next(_numbers)}"))


Manner = Literal["silent", "no_bids", "late"]


class LiveTable(Party):
    """Plays on until it is cancelled, one game after another.

    Its people answer nothing at all, or everything at once but bids, or bids too, at the last moment.
    """

    def __init__(self, doorstep: Doorstep, edition: str, diary: Diary, manner: Manner) -> None:
        super().__init__(doorstep, edition, 3)
        self._diary = diary
        self._manner = manner
        self._acting: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """For one task."""
        try:
            while True:
                await self.begin()
                await self._play()
        finally:
            if self._acting is not None:
                self._acting.cancel()

    async def _play(self) -> None:
        async for message, is_news in self.messages():
            if not message.HasField("update"):
                continue
            update = message.update
            self._diary.note(update, is_news=is_news)
            if self._acting is not None:
                self._acting.cancel()
            if update.game_over:
                return
            if self._manner != "silent" and update.decision.kind != _BID:
                self._acting = asyncio.create_task(self._submit(answer(update.decision, "decline", "roll")))
            elif self._manner == "late":
                self._acting = asyncio.create_task(self._pass_late(update))

    async def _pass_late(self, update: update_pb2.Update) -> None:
        deadline = next(item for item in update.deadlines if item.deadline_id == update.decision.deadline_id)
        ends_ms = deadline.opened_at_ms + deadline.budget_ms + self.held_ms
        while (now_ms := self.play_time_ms()) is None or now_ms < ends_ms - LATE_MS:
            await asyncio.sleep(0.05)
        if now_ms >= ends_ms:
            return
        sent_s = time.monotonic()
        self._diary.answered.append(sent_s)
        try:
            await self._insist(answer(update.decision, "pass"))
        except RefusedError as refused:
            self._diary.refused[sent_s] = f"{self.table_id} deadline {deadline.deadline_id}: {refused}"

    async def _submit(self, command: command_pb2.Command) -> None:
        try:
            await self._insist(command)
        except RefusedError:
            # The game has gone on meanwhile, unheard: the watch tells.
            return

    async def _insist(self, command: command_pb2.Command) -> None:
        request = pb.SubmitRequest(table_id=self.table_id, command=command)
        await self.doorstep.insist(request, self.tokens[command.seat])


@dataclass(frozen=True, slots=True)
class Success:
    """A command of the probing people at a table that went its whole way, to the watch and back."""

    table_id: str
    sent_s: float
    seen_s: float

    @property
    def took_s(self) -> float:
        """How long its way took."""
        return self.seen_s - self.sent_s

    def since_s(self, slow_s: float, usual_s: float) -> float:
        """From when on it shows that the site could be played; one slower than that may have waited until it could, and
        then took as long as others."""
        return self.sent_s if self.took_s <= slow_s else self.seen_s - usual_s


class ProbeTable(Party):
    """People who do one thing after another and look whether all of them see it: the ground truth of playability."""

    def __init__(self, doorstep: Doorstep, successes: list[Success]) -> None:
        super().__init__(doorstep, "industry", 2)
        self._successes = successes
        self._sent_s: dict[str, float] = {}
        self._news = asyncio.Event()
        self._last: update_pb2.Update | None = None

    async def run(self) -> None:
        """For one task."""
        while True:
            await self.begin()
            watching = asyncio.create_task(self._watch())
            try:
                await self._play()
            finally:
                watching.cancel()

    async def _watch(self) -> None:
        async for message, _ in self.messages():
            if message.HasField("update"):
                self._last = message.update
                sent_s = self._sent_s.pop(message.update.command.command_id, None)
                if sent_s is not None:
                    self._successes.append(Success(self.table_id, sent_s, time.monotonic()))
                self._news.set()

    async def _play(self) -> None:
        self._last = None
        while True:
            update = await self._next()
            if update.game_over:
                return
            command = answer(update.decision, "decline", "roll", "pass")
            while not self._news.is_set():
                await self._try(command)
            await asyncio.sleep(_PACE_S)

    async def _next(self) -> update_pb2.Update:
        while True:
            await self._news.wait()
            self._news.clear()
            if self._last is not None:
                return self._last

    async def _try(self, command: command_pb2.Command) -> None:
        """Sends it, and waits until it is seen or seems to be lost."""
        self._sent_s[command.command_id] = time.monotonic()
        request = pb.SubmitRequest(table_id=self.table_id, command=command)
        try:
            await self.doorstep.ask(request, self.tokens[command.seat])
            async with asyncio.timeout(PLAYABLE_S):
                await self._news.wait()
        except (AwayError, TimeoutError):
            await asyncio.sleep(0.05)
        except RefusedError:
            # It was done before, unheard.
            await self._news.wait()
