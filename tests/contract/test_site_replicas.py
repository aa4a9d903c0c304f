"""Two replicas of everything: what the end, death or standstill of one is to clients who keep to the guide."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import pytest
from magnate.game.v1 import update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from services.kit.errors import ServiceError
from services.site.cluster.site import LocalSite
from tests.support.amount import amount
from tests.support.site_clients import People
from tests.support.sites import LiveSite
from tests.support.steady_client import SteadyClient

pytestmark = pytest.mark.parametrize("site", ["distributed"], indirect=True)

#: refusals of a player who was a moment too late, or another's that is due to nobody's failure
_LATE = frozenset({"stale_decision", "not_asked", "game_over", "too_late", "wrong_decision"})


@dataclass
class Company:
    """Clients who play and watch at one table; `acknowledged` has the numbers of every command that was answered."""

    table_id: str
    clients: list[SteadyClient]
    seen: list[list[update_pb2.Update]]
    acknowledged: dict[str, tuple[int, int]] = field(default_factory=dict)
    draw: random.Random = field(default_factory=lambda: random.Random(23))
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def begin(self, players: int) -> None:
        """The first `players` clients play their seats, all watch."""
        for number, client in enumerate(self.clients):
            seat = number if number < players else None
            self.tasks.append(asyncio.create_task(self._follow(client, self.seen[number], seat)))

    async def _follow(self, client: SteadyClient, seen: list[update_pb2.Update], seat: int | None) -> None:
        async for update in client.updates(self.table_id):
            seen.append(update)
            if update.game_over:
                return
            if seat is not None and seat in update.decision.seats[:1]:
                await asyncio.sleep(0.03)
                await self._answer(client, update)

    async def _answer(self, client: SteadyClient, update: update_pb2.Update) -> None:
        command = People(self.table_id, [], self.draw).command(update.decision)
        try:
            done = await client.ask(pb.SubmitRequest(table_id=self.table_id, command=command))
        except ServiceError as error:
            if error.reason not in _LATE:
                raise
        else:
            self.acknowledged[command.command_id] = (done.first_seq, done.last_seq)

    async def at_least(self, updates: int) -> None:
        """Returns when every client has seen so many, or the end; raises what befell one of them."""
        async with asyncio.timeout(60):
            while any(len(seen) < updates and not (seen and seen[-1].game_over) for seen in self.seen):
                for task in self.tasks:
                    if task.done():
                        task.result()
                await asyncio.sleep(0.05)

    async def grown(self, by: int = 3) -> None:
        """Returns when the game has gone on by so many commands before everybody's eyes."""
        await self.at_least(max(len(seen) for seen in self.seen) + by)

    async def end(self) -> None:
        """Stops them all; raises what befell one of them, or says where they differ from the log."""
        for task in self.tasks:
            if not task.done():
                task.cancel()
        for result in await asyncio.gather(*self.tasks, return_exceptions=True):
            if isinstance(result, BaseException) and not isinstance(result, asyncio.CancelledError):
                raise result
        last_seq = max(seen[-1].last_seq for seen in self.seen)
        log: list[update_pb2.Update] = []
        async with asyncio.timeout(30):
            async for update in self.clients[0].updates(self.table_id):
                log.append(update)
                if update.last_seq >= last_seq:
                    break
        for seen in self.seen:
            assert seen == log[: len(seen)]
        ids = [update.command.command_id for update in log]
        assert len(set(ids)) == len(ids)
        told = {update.command.command_id: (update.first_seq, update.last_seq) for update in log}
        missing = {
            name: seqs for name, seqs in self.acknowledged.items() if seqs[1] <= last_seq and told.get(name) != seqs
        }
        assert missing == {}


@asynccontextmanager
async def company(site: LiveSite, players: int, bots: int = 0, watchers: int = 2) -> AsyncIterator[Company]:
    """People, bots and watchers at a running table, half of them at each gateway."""
    clients = [SteadyClient(site.addresses, first=number, seed=number) for number in range(max(players, 1) + watchers)]
    try:
        for number, client in enumerate(clients):
            await client.begin(f"Steady {number}")
        host, seats = clients[0], players + bots
        settings = table_pb2.TableSettings(edition="industry", seats=seats, spectators=True)
        wish = pb.CreateTableRequest(settings=settings, spectate=not players, command_id="mine")
        table_id = (await host.ask(wish)).table.table_id
        for client in clients[1:players]:
            await client.ask(pb.JoinTableRequest(table_id=table_id))
        if bots:
            await host.ask(pb.AddBotsRequest(table_id=table_id, count=bots))
        await host.ask(pb.StartGameRequest(table_id=table_id))
        gathered = Company(table_id, clients, [[] for _ in clients])
        gathered.begin(players)
        await gathered.at_least(3)
        yield gathered
        await gathered.end()
    finally:
        for client in clients:
            await client.close()


def _local(site: LiveSite) -> LocalSite:
    assert site.local is not None
    return site.local


async def test_a_rolling_restart_fails_no_command(site: LiveSite) -> None:
    """Every replica of every service is ended in order and started again, one after the other, while people and bots
    play through both gateways: no command fails for good, and nobody sees a gap, a repeat or another's log."""
    local = _local(site)
    async with company(site, players=3) as people, company(site, players=0, bots=3) as bots:
        for _ in range(amount(1, 5)):
            for name in local.replicas:
                assert await asyncio.to_thread(local.process(name).end) == 0, name
                local.launch(name)
                await local.ready(name)
                await people.grown()
                await bots.grown()
        assert len(people.acknowledged) > 20
        assert sum(client.resumed for client in (*people.clients, *bots.clients)) >= 4


async def test_a_replica_that_stands_still_costs_a_repeat(site: LiveSite) -> None:
    """Its connections stay open and nothing answers, as when a machine hangs: others take over within seconds."""
    local = _local(site)
    async with company(site, players=2) as people, company(site, players=0, bots=2) as bots:
        for name in ("gateway-1", "table-1", "rules-1", "bots-1"):
            local.process(name).pause()
            try:
                for played in (people, bots):
                    await played.grown(5)
            finally:
                local.process(name).resume()
            await local.ready(name)


async def test_a_replica_that_dies_is_replaced_by_the_other(site: LiveSite) -> None:
    """kill -9: while it is away the game of people and that of bots go on; bots' turns that it had are taken over."""
    local = _local(site)
    async with company(site, players=2) as people, company(site, players=0, bots=2) as bots:
        for name in ("gateway-2", "table-2", "rules-2", "bots-2"):
            local.process(name).kill()
            for played in (people, bots):
                await played.grown(5)
            local.launch(name)
        for name in local.replicas:
            await local.ready(name)
        await people.grown()


async def test_turns_that_a_dead_replica_of_the_bots_had_are_taken_up_within_seconds(site: LiveSite) -> None:
    """Also where neither the table service asks anew nor anybody looks at its list: the survivor takes over what the
    event stream had given to the dead one."""
    local = _local(site)
    alone = {
        "table": {"MAGNATE_TABLE_BOT_ANSWER_MS": "600000"},
        "bots": {"MAGNATE_BOTS_RELIST_MS": "3600000", "MAGNATE_BOTS_THINK_MS": "300"},
    }
    try:
        await _restarted(local, alone)
        async with AsyncExitStack() as tables:
            games = [await tables.enter_async_context(company(site, players=0, bots=2, watchers=1)) for _ in range(6)]
            local.process("bots-1").kill()
            async with asyncio.timeout(12):
                for game in games:
                    await game.grown(3)
    finally:
        await _restarted(local, {service: {} for service in alone})


async def _restarted(local: LocalSite, changes: Mapping[str, Mapping[str, str]]) -> None:
    """Ends the replicas of these services and starts them with these settings; returns when they serve."""
    replicas = [replica for replica in local.replicas.values() if replica.service in changes]
    for replica in replicas:
        await asyncio.to_thread(replica.process.end)
        local.launch(replica.name, **changes[replica.service])
    for replica in replicas:
        await local.ready(replica.name)
    await local.reachable()


async def test_redis_may_lose_everything_and_stay_away(site: LiveSite) -> None:
    """Two table replicas publish the updates of their tables: what was lost on the way costs a delay and no more. In
    CI it is away for some seconds, else for a minute."""
    local = _local(site)
    async with company(site, players=2) as people, company(site, players=0, bots=2) as bots:
        for _ in range(2):
            local.redis.empty()
            for played in (people, bots):
                await played.grown()
        local.redis.stop()
        await asyncio.sleep(amount(3, 60))
        local.launch("redis")
        await local.ready("redis")
        for played in (people, bots):
            await played.grown(5)


async def test_postgres_away_costs_a_delay_and_a_line(site: LiveSite) -> None:
    """Killed and started again: what was acknowledged is there, games go on, and no log has the stack of calls of what
    is nobody's mistake."""
    local = _local(site)
    async with company(site, players=2) as people, company(site, players=0, bots=2) as bots:
        before = {path: path.stat().st_size for path in site.folder.glob("*.log")}
        local.process("postgres").kill()
        await asyncio.sleep(2)
        await local.ready("postgres")
        for played in (people, bots):
            await played.grown(5)
    lines = [line for path, size in before.items() for line in path.read_bytes()[size:].splitlines()]
    assert lines
    assert [json.loads(line) for line in lines if not line.startswith(b"{") or b'"stack"' in line] == []
