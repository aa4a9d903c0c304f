"""The bots service at real tables: rules, tables and bots in one process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import grpc
import pytest
from google.protobuf.message import DecodeError
from magnate.bots.v1 import bots_service_pb2
from magnate.game.v1 import decision_pb2, update_pb2
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

import services.bots.main
from services.bots.adapters.handler import BotsHandler
from services.bots.adapters.rules_library import RulesReader
from services.bots.application.play_seat import seed_of
from services.kit.calls import Call
from services.kit.errors import ServiceError
from services.kit.streams import EventStream
from services.kit.streams_memory import MemoryStream
from services.kit.streams_redis import RedisStream
from services.rules.codec.messages import write_decision
from services.rules.codec.states import view_message
from services.rules.domain.commands import Action
from services.rules.domain.edition import Edition
from services.rules.domain.options import Option
from services.rules.domain.state import State
from tests.bots.site import Site, running_site
from tests.support.amount import amount
from tests.support.bot_games import flat_edition, play_bots


async def play_out(site: Site, table_id: str, *, within_s: float = 120) -> table_pb2.Table:
    """Waits until the game is over."""
    async with asyncio.timeout(within_s):
        while True:
            answer = await site.table.DescribeTable(pb.DescribeTableRequest(table_id=table_id))
            if answer.table.status == table_pb2.TABLE_STATUS_FINISHED:
                table: table_pb2.Table = answer.table
                return table
            await asyncio.sleep(0.05)


async def test_a_whole_game_through_the_services(tmp_path: Path) -> None:
    """IND-BOT-07, IND-BOT-09: bots play a game to its end through Submit alone; every command is one of theirs."""
    async with running_site(tmp_path, MemoryStream()) as site:
        await site.add_bots()
        token = await site.open_session()
        table_id = await site.start_bot_game(token, seats=2, seed=3)
        table = await play_out(site, table_id)
        updates = [update_pb2.Update.FromString(data) for data in await site.updates(table_id)]
    assert updates[-1].game_over
    assert updates[-1].last_seq == table.last_seq
    commands = [update.command for update in updates[1:]]
    assert all(command.command_id.startswith(f"bot.{command.seat}.") for command in commands)
    assert len({command.command_id for command in commands}) == len(commands)


async def check_that_replicas_share(folder: Path, stream: EventStream) -> None:
    """Three replicas; one that stops in the middle leaves nothing undone."""
    async with running_site(folder, stream) as site:
        for _ in range(3):
            await site.add_bots(relist_ms=200)
        token = await site.open_session()
        tables = [await site.start_bot_game(token, seats=2, seed=seed) for seed in (4, 5)]
        await asyncio.sleep(0.3)
        await site.bots[0].stop()
        for table_id in tables:
            await play_out(site, table_id)
            updates = [update_pb2.Update.FromString(data) for data in await site.updates(table_id)]
            assert [update.first_seq for update in updates[1:]] == [update.last_seq + 1 for update in updates[:-1]]
            assert all(update.command.command_id.startswith("bot.") for update in updates[1:])


async def test_replicas_share_the_work_and_do_each_turn_once(tmp_path: Path) -> None:
    """IND-BOT-09: several replicas over the stream in memory play whole games, each turn once."""
    await check_that_replicas_share(tmp_path, MemoryStream(claim_idle_ms=300))


async def test_replicas_share_the_work_over_redis(tmp_path: Path, redis_url: str) -> None:
    """IND-BOT-09: the same over Redis Streams."""
    await check_that_replicas_share(tmp_path, RedisStream(redis_url, claim_idle_ms=300))


async def test_turns_that_were_lost_are_found_in_the_list(tmp_path: Path) -> None:
    """A game that began before any bot was there is taken up from the table service's list."""
    async with running_site(tmp_path, MemoryStream()) as site:
        token = await site.open_session()
        table_id = await site.start_bot_game(token, seats=2, seed=6)
        await asyncio.sleep(0.1)
        before = await site.updates(table_id)
        await site.add_bots()
        async with asyncio.timeout(10):
            while len(await site.updates(table_id)) < len(before) + 10:
                await asyncio.sleep(0.02)
    assert len(before) == 1


async def test_bots_think_when_people_are_to_follow(tmp_path: Path) -> None:
    """The pause before an action is a setting."""
    async with running_site(tmp_path, MemoryStream()) as site:
        await site.add_bots(think_ms=150)
        table_id = await site.start_bot_game(await site.open_session(), seats=2, seed=7)
        await asyncio.sleep(1.0)
        played = len(await site.updates(table_id)) - 1
    assert 3 <= played <= 7


async def test_lists_levels_and_chooses(tmp_path: Path) -> None:
    """IND-BOT-08: Choose gives the very command that the bot's seat plays."""
    async with running_site(tmp_path, MemoryStream()) as site:
        token = await site.open_session()
        table_id = await site.start_bot_game(token, seats=2, seed=8)
        snapshot = (await site.table.GetSnapshot(pb.GetSnapshotRequest(table_id=table_id))).snapshot
        bots = (await site.add_bots()).local(services.bots.main.DESCRIPTOR)
        levels = await bots.ListLevels(bots_service_pb2.ListLevelsRequest())
        assert [(level.level, level.name.uk, level.standard) for level in levels.levels] == [
            ("normal", "Звичайний", True)
        ]
        seat = snapshot.decision.seats[0]
        request = bots_service_pb2.ChooseRequest(
            snapshot=snapshot, seat=seat, seed=seed_of(snapshot.view.seed_hash, seat)
        )
        chosen = (await bots.Choose(request)).command
        assert chosen.WhichOneof("action") == "roll"
        assert (chosen.seat, chosen.decision_id) == (seat, snapshot.decision.decision_id)

        invalid = grpc.StatusCode.INVALID_ARGUMENT
        for changed, reason, code in (
            ({"seat": 1 - seat}, "not_asked", grpc.StatusCode.PERMISSION_DENIED),
            ({"level": "grandmaster"}, "bad_choice", invalid),
            ({"snapshot": update_pb2.Snapshot()}, "malformed", invalid),
        ):
            fields: dict[str, object] = {"snapshot": snapshot, "seat": seat, **changed}
            with pytest.raises(ServiceError) as failure:
                await bots.Choose(bots_service_pb2.ChooseRequest(**fields))  # type: ignore[arg-type]
            assert (failure.value.reason, failure.value.code) == (reason, code)


async def test_a_spoilt_snapshot_gets_a_typed_answer(tmp_path: Path) -> None:
    """Whatever a snapshot holds, Choose answers or refuses; nothing else escapes."""
    edition = flat_edition()
    rng = Random(5)
    handler = BotsHandler(RulesReader())
    call = Call(method="/magnate.bots.v1.BotsService/Choose")
    reasons: set[str] = set()
    for seed in range(amount(8, 60)):
        snapshot = middle_of_a_game(edition, seed)
        for _ in range(60):
            data = bytearray(snapshot)
            for _ in range(rng.randint(1, 6)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            try:
                request = bots_service_pb2.ChooseRequest(snapshot=update_pb2.Snapshot.FromString(bytes(data)))
            except DecodeError:
                continue
            request.seat = rng.randrange(3)
            try:
                await handler.Choose(request, call)
            except ServiceError as error:
                reasons.add(error.reason)
    assert reasons == {"malformed", "not_asked"}


def middle_of_a_game(edition: Edition, seed: int) -> bytes:
    """The snapshot of a game somewhere in its middle."""
    positions: list[bytes] = []

    def keep(state: State, options: tuple[Option, ...], seat: int, action: Action) -> None:
        if len(positions) < 200:
            decision = state.decision
            assert decision is not None
            snapshot = update_pb2.Snapshot(
                view=view_message(state), decision=decision_pb2.Decision.FromString(write_decision(decision, options))
            )
            positions.append(snapshot.SerializeToString())

    play_bots(edition, seats=3, seed=seed, max_rounds=15, watch=keep)
    return positions[seed * 37 % len(positions)]
