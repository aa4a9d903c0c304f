"""Many running tables at one site, each played a little and watched: what they cost in memory.

`python -m tests.bench.crowd --address HOST:PORT`; the order `{"tables": N}` on its input makes it N tables in all.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

from tests.bench.load import SEATS, Connection, Play, Seats

COMMANDS_EACH = 10
#: as many tables as one message may name, on each of the watches that a session may have open
_TABLES_PER_WATCH = 32
_AT_A_TIME = 16
_LIMIT_S = 120.0


class Crowd:
    """Four guests who sit at all the tables."""

    def __init__(self, address: str) -> None:
        self._connections = [Connection(address) for _ in range(SEATS)]
        self._tokens: list[str] = []
        self._play = Play()
        self._play.is_on = True
        self._tables: dict[str, Seats] = {}
        self._watches: list[asyncio.Task[None]] = []

    async def grow(self, tables: int) -> dict[str, Any]:
        """Up to so many tables, all of them played for a while."""
        if not self._tokens:
            self._tokens = [await self._connections[0].session(f"crowd {seat}") for seat in range(SEATS)]
        while len(self._tables) < tables:
            count = min(_TABLES_PER_WATCH, tables - len(self._tables))
            new = [self._seats(len(self._tables) + number) for number in range(count)]
            for start in range(0, count, _AT_A_TIME):
                await asyncio.gather(*(seats.begin() for seats in new[start : start + _AT_A_TIME]))
            self._tables |= {seats.table_id: seats for seats in new}
            self._watches.append(asyncio.create_task(self._watch([seats.table_id for seats in new])))
        async with asyncio.timeout(_LIMIT_S):
            while any(seats.played < COMMANDS_EACH for seats in self._tables.values()):
                await asyncio.sleep(0.05)
        return {"tables": len(self._tables), "commands": len(self._play.figures.times_ms)}

    def _seats(self, number: int) -> Seats:
        connection = self._connections[number % SEATS]
        return Seats(self._play, connection, number, tokens=self._tokens, most_commands=COMMANDS_EACH)

    async def _watch(self, table_ids: list[str]) -> None:
        place = len(self._watches) % SEATS
        async for message in self._connections[place].watch(self._tokens[place], table_ids):
            seats = self._tables.get(message.update.table_id or message.snapshot.table_id)
            if seats is not None:
                seats.take(message)


async def main(address: str) -> None:
    """Obeys until its input ends."""
    crowd = Crowd(address)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await crowd.grow(int(json.loads(line)["tables"]))), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", required=True)
    asyncio.run(main(parser.parse_args().address))
