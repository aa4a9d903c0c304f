"""Many watches of few tables: a process of clients who do nothing but look on.

`python -m tests.bench.spectators --address HOST:PORT,...`; orders and answers are lines of JSON on its pipes: `open`
(so many watches, each with a session and a connection of its own, spread over `tables`), `seconds` (so long what comes
is noted: table, last number, moment of the machine's monotonic clock).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from tests.bench.load import Connection

_AT_A_TIME = 32
_LIMIT_S = 120.0


class Spectators:
    """All watches of this process."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._tasks: list[asyncio.Task[None]] = []
        self._arrivals: list[tuple[str, int, float]] = []
        self._ended = 0

    async def open(self, count: int, tables: Sequence[str]) -> dict[str, Any]:
        """So many more; returns when each has had its first snapshot."""
        room = asyncio.Semaphore(_AT_A_TIME)
        ready = [asyncio.Event() for _ in range(count)]
        for event in ready:
            number = len(self._tasks)
            self._tasks.append(asyncio.create_task(self._watch(number, tables[number % len(tables)], room, event)))
        async with asyncio.timeout(_LIMIT_S):
            await asyncio.gather(*(event.wait() for event in ready))
        return {"open": len(self._tasks)}

    async def note(self, seconds: float) -> dict[str, Any]:
        """What has come since the last time, to the end of these seconds: whoever plays may begin before this does."""
        cpu_s = time.process_time()
        await asyncio.sleep(seconds)
        arrivals, self._arrivals = self._arrivals, []
        return {"arrivals": arrivals, "ended": self._ended, "cpu_seconds": time.process_time() - cpu_s}

    async def _watch(self, number: int, table_id: str, room: asyncio.Semaphore, ready: asyncio.Event) -> None:
        async with room:
            connection = Connection(self._addresses[number % len(self._addresses)])
            stream = connection.watch(await connection.session(f"spectator {number}"), [table_id])
            async for message in stream:
                if message.HasField("snapshot"):
                    break
            ready.set()
        async for message in stream:
            now_s = time.monotonic()
            if message.HasField("update"):
                self._arrivals.append((table_id, message.update.last_seq, now_s))
            if message.HasField("ended"):
                self._ended += 1

    async def obey(self, order: dict[str, Any]) -> dict[str, Any]:
        """Does one order."""
        if "open" in order:
            return await self.open(order["open"], order["tables"])
        return await self.note(order["seconds"])


async def main(addresses: Sequence[str]) -> None:
    """Obeys until its input ends."""
    spectators = Spectators(addresses)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await spectators.obey(json.loads(line))), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--address", required=True, help="of each gateway, with commas between")
    asyncio.run(main(parser.parse_args().address.split(",")))
