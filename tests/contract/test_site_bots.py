"""Tables with bots, through the gateway, in both modes."""

from __future__ import annotations

import asyncio

from magnate.game.v1 import event_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from tests.support.site_clients import Visitors, Watcher, refusal
from tests.support.site_mirror import Mirror
from tests.support.sites import LiveSite

PLAYED_BY_TABLE = "magnate:bot:"
#: what spends nothing where a bot has a choice
THRIFTY = {"roll", "pass", "refuse_trade", "decline", "end_turn", "sell_buildings", "open_auction", "sell_to_bank"}


def _by_table(updates: list[update_pb2.Update]) -> list[update_pb2.Update]:
    """The commands that the table service gave in a bot's name."""
    return [update for update in updates if update.command.command_id.startswith(PLAYED_BY_TABLE)]


async def test_a_game_of_bots_goes_to_its_end(visitors: Visitors) -> None:
    """Two bots play until there is a winner; the hash of every update is what a client folds; the list knows it."""
    host, table_id = await visitors.bots(2)
    async with host.watching(table_id, 0) as watcher:
        last = await watcher.over()
    mirror = Mirror("bots")
    assert [mirror.take(update) for update in watcher.updates] == [update.state_hash for update in watcher.updates]
    ended = next(event.game_ended for event in last.events if event.HasField("game_ended"))
    assert ended.reason == event_pb2.END_REASON_LAST_LEFT
    assert [place.place for place in ended.places] == [1, 2]
    table = (await host.ask(pb.DescribeTableRequest(table_id=table_id))).table
    assert (table.status, table.last_seq) == (table_pb2.TABLE_STATUS_FINISHED, last.last_seq)


async def test_bots_of_a_level_that_nobody_plays_are_refused(visitors: Visitors) -> None:
    """Else they would play a level that the host did not choose."""
    host = await visitors.guest()
    settings = table_pb2.TableSettings(edition="industry", seats=3)
    wish = pb.CreateTableRequest(settings=settings, command_id="levels")
    table_id = (await host.ask(wish)).table.table_id
    request = pb.AddBotsRequest(table_id=table_id, count=2, level="godlike")
    assert await refusal(host.ask(request)) == ("INVALID_ARGUMENT", "bad_choice")
    assert len((await host.ask(pb.DescribeTableRequest(table_id=table_id))).table.seats) == 1


async def _until_the_person(watcher: Watcher) -> bool:
    """Reads on until the person is asked, while bots answer each other; false if the game ends before."""
    while 0 not in watcher.updates[-1].decision.seats:
        if watcher.updates[-1].game_over:
            return False
        await watcher.update()
    return True


async def test_a_person_plays_against_three_bots(visitors: Visitors) -> None:
    """The person rolls and manages forty times; between, the bots play and answer what he offers and puts up."""
    people = await visitors.solo(3)
    async with people.guests[0].watching(people.table_id, 0) as watcher:
        await watcher.update()
        for _ in range(40):
            if not await _until_the_person(watcher):
                break
            done = await people.submit(people.command(watcher.updates[-1].decision))
            await watcher.reach(done.last_seq)
    answered = {update.command.seat for update in watcher.updates if update.HasField("command")}
    assert answered == {0, 1, 2, 3}


async def test_bots_answer_offers(visitors: Visitors) -> None:
    """An offer of the person to a bot is accepted or refused by that bot, and the person goes on."""
    people = await visitors.solo(1)
    async with people.guests[0].watching(people.table_id, 0) as watcher:
        await watcher.update()
        while True:
            assert await _until_the_person(watcher)
            command = people.offering(watcher.updates[-1].decision)
            done = await people.submit(command)
            await watcher.reach(done.last_seq)
            if command.HasField("offer_trade"):
                break
        answer = await watcher.update()
    assert (answer.command.seat, answer.command.WhichOneof("action")) in {(1, "accept_trade"), (1, "refuse_trade")}
    closed = next(event.trade_closed for event in answer.events if event.HasField("trade_closed"))
    wanted = (
        event_pb2.TRADE_OUTCOME_ACCEPTED if answer.command.HasField("accept_trade") else event_pb2.TRADE_OUTCOME_REFUSED
    )
    assert closed.outcome == wanted


async def test_a_table_plays_for_bots_that_do_not_answer(site: LiveSite, visitors: Visitors) -> None:
    """IND-BOT-09: with the bots service away the table plays what spends least, so that nobody waits for ever; when
    it is back, the bots play again."""
    slow = {"MAGNATE_TABLE_BOT_ANSWER_MS": "600"}
    if site.is_embedded:
        # In one process the bots cannot be stopped alone: they think longer than the table waits.
        slow["MAGNATE_BOTS_THINK_MS"] = "20000"
    async with site.changed("table", **slow):
        if not site.is_embedded:
            site.part("bots").kill()
        host, table_id = await visitors.bots(2)
        async with host.watching(table_id, 0) as watcher:
            await watcher.update()
            for _ in range(4):
                await watcher.update()
        if not site.is_embedded:
            await site.start("bots")
    played = watcher.updates[1:]
    assert _by_table(played) == played
    assert {update.command.WhichOneof("action") for update in played} <= THRIFTY
    async with host.watching(table_id) as watcher:
        await watcher.snapshot()
        while len(watcher.updates) < 20:
            await watcher.update()
    # What was open when they came back may still be the table's.
    assert _by_table(watcher.updates[3:]) == []


async def test_a_paused_solo_table_stands_still(visitors: Visitors) -> None:
    """IND-PHASE-11: in a pause for a transfer neither the person nor a bot acts, in any phase; watchers are told."""
    people = await visitors.solo(2)
    person, table_id = people.guests[0], people.table_id
    stranger = await visitors.guest("Stranger")
    assert await refusal(stranger.ask(pb.PauseTableRequest(table_id=table_id))) == (
        "PERMISSION_DENIED",
        "not_your_seat",
    )
    async with stranger.watching(table_id, 0) as watcher:
        decision = (await watcher.update()).decision
        await person.ask(pb.PauseTableRequest(table_id=table_id))
        while not (await watcher.table()).paused:
            pass
        refused = ("FAILED_PRECONDITION", "table_paused")
        assert await refusal(people.submit(people.command(decision))) == refused
        await person.ask(pb.ResumeTableRequest(table_id=table_id))
        done = await people.submit(people.command(decision))
        await watcher.reach(done.last_seq)
        # Somewhere in the bots' moves.
        while 0 in (last := watcher.updates[-1]).decision.seats:
            done = await people.submit(people.command(last.decision))
            await watcher.reach(done.last_seq)
        await person.ask(pb.PauseTableRequest(table_id=table_id))
        before = await person.log(table_id)
        await asyncio.sleep(0.5)
        assert await person.log(table_id) == before
        assert (await person.ask(pb.ResumeTableRequest(table_id=table_id))).table.paused is False
        await watcher.reach(watcher.updates[-1].last_seq + 1)
