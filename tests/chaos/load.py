"""All scripted clients of a run, and their journals."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

from services.kit.ending import end_tasks
from tests.chaos.clients import Client
from tests.chaos.journal import Journal
from tests.chaos.lines import NativeLine, WebLine
from tests.chaos.players import SEATS, Looker, Player, Slot, Spectator, Stage

#: of thirteen tables one is of bots alone and two of people alone; at the others some people sit beside bots
_ROUND, _BOTS_ALONE, _PEOPLE_ALONE = 13, (12,), (4, 8)
_PEOPLE_BESIDE_BOTS = (1, 2, 3, 3)
_TABLES_PER_SPECTATOR = 11
_TABLES_PER_LOOKER = 6
_WEB_SHARE = 0.2
#: editions that seat several people beside bots, and those that seat one, or people or bots alone
_MIXED = ("brands", "metro", "tabletop")
_SOLO = ("industry", "industry", "online-classic", "brands")
_BEGIN_AT_A_TIME = 8


class Load:
    """Clients at so many tables, through these gateways and as browsers through those; all is drawn from the seed."""

    def __init__(self, folder: Path, gateways: Sequence[str], webs: Sequence[str], *, tables: int, seed: int) -> None:
        self.stage = Stage()
        self._folder = folder
        self._gateways = gateways
        self._webs = webs
        self._seed = seed
        self._rng = random.Random(f"load {seed}")
        self._clients: list[Client] = []
        self._spectators = [
            Spectator(self._client(f"watcher{number}")) for number in range(-(-tables // _TABLES_PER_SPECTATOR))
        ]
        self._lookers = [
            Looker(self._client(f"looker{number}"), self.stage) for number in range(-(-tables // _TABLES_PER_LOOKER))
        ]
        self.slots = [self._slot(number) for number in range(tables)]
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def acknowledged(self) -> int:
        """Commands of which the clients know that they are on disk."""
        return sum(client.journal.acknowledged for client in self._clients)

    @property
    def under_way(self) -> int:
        """Commands that were sent and have no answer yet."""
        return sum(client.under_way for client in self._clients)

    def behind(self, seqs: Mapping[str, int]) -> int:
        """How many watches of tables have not been shown these numbers."""
        watchings = [spectator.watching for spectator in self._spectators]
        watchings += [watching for slot in self.slots for watching in slot.watchings]
        return sum(watching.behind(seqs) for watching in watchings)

    @property
    def clients(self) -> int:
        """How many there are."""
        return len(self._clients)

    async def start(self) -> None:
        """Opens the sessions and lets them all begin."""
        for start in range(0, len(self._clients), _BEGIN_AT_A_TIME):
            await asyncio.gather(*(client.begin() for client in self._clients[start : start + _BEGIN_AT_A_TIME]))
        self._tasks = [
            asyncio.create_task(running)
            for running in (
                *(spectator.watching.run() for spectator in self._spectators),
                *(looker.run() for looker in self._lookers),
                *(slot.run() for slot in self.slots),
            )
        ]

    def check(self) -> None:
        """Raises what a client has failed with, which is a fault of the client."""
        for task in self._tasks:
            if task.done() and not task.cancelled():
                task.result()

    async def close(self) -> None:
        """Ends all watches and closes the journals."""
        await end_tasks(self._tasks)
        for client in self._clients:
            await client.close()

    def _client(self, name: str) -> Client:
        is_web = self._rng.random() < _WEB_SHARE
        client = Client(
            name,
            self._webs if is_web else self._gateways,
            WebLine if is_web else NativeLine,
            Journal(self._folder / f"{name}.jsonl"),
            f"{self._seed} {name}",
        )
        self._clients.append(client)
        return client

    def _slot(self, number: int) -> Slot:
        spectator = self._spectators[number // _TABLES_PER_SPECTATOR]
        people = self._people(number % _ROUND)
        names = [f"table{number}.{seat}" for seat in range(people)] or [f"table{number}.host"]
        clients = [self._client(name) for name in names]
        editions = _MIXED if 1 < people < SEATS else _SOLO
        players = [Player(client, self.stage) for client in clients[:people]]
        return Slot(clients[0], players, self.stage, lambda table_id: _watch(spectator, table_id), editions)

    def _people(self, place: int) -> int:
        if place in _PEOPLE_ALONE:
            return SEATS
        return 0 if place in _BOTS_ALONE else self._rng.choice(_PEOPLE_BESIDE_BOTS)


def _watch(spectator: Spectator, table_id: str) -> None:
    spectator.watching.add(table_id)
