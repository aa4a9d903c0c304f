"""Commands: done once, by the one who may, in one order; whatever else comes changes nothing."""

from __future__ import annotations

import asyncio
import random
from collections import Counter

import grpc
import pytest
from google.rpc import status_pb2
from magnate.game.v1 import command_pb2, refusal_pb2, update_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.errors import ServiceError, from_status
from services.table.application.ports import TableKey
from services.table.domain.buckets import Rate
from services.table.domain.shards import shard_of
from tests.support.site_of_tables import Tables, open_tables, real_rules, refusal, with_options


async def test_a_command_is_answered_with_its_events_when_it_is_in_the_log(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    before = await tables.last(table_id)
    command = await tables.next_command(table_id, "first")
    tables.clock.pass_ms(1234)
    answer = await tables.submit(tokens[command.seat], table_id, command)
    after = await tables.last(table_id)
    assert (answer.first_seq, answer.last_seq, answer.repeated) == (before.last_seq + 1, after.last_seq, False)
    assert after.first_seq == answer.first_seq
    assert after.command == command
    assert after.play_time_ms == 1234


async def test_of_twenty_parallel_commands_for_one_decision_one_is_done(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    template = await tables.next_command(table_id, "x")

    async def give(number: int) -> str:
        command = command_pb2.Command()
        command.CopyFrom(template)
        command.command_id = f"parallel-{number}"
        return await refusal(tables.submit(tokens[command.seat], table_id, command))

    outcomes = Counter(await asyncio.gather(*(give(number) for number in range(20))))
    assert outcomes["done"] == 1
    assert outcomes["stale_decision"] == 19
    assert len(await tables.updates(table_id)) == 2


async def test_a_command_sent_again_gets_the_first_answer(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    command = await tables.next_command(table_id, "again")
    first = await tables.submit(tokens[command.seat], table_id, command)
    await tables.play(table_id, tokens, 3)
    log = await tables.updates(table_id)
    second = await tables.submit(tokens[command.seat], table_id, command)
    assert (second.first_seq, second.last_seq, second.repeated) == (first.first_seq, first.last_seq, True)
    assert await tables.updates(table_id) == log


async def test_a_command_sent_twenty_times_at_once_is_done_once(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    command = await tables.next_command(table_id, "same")
    answers = await asyncio.gather(*(tables.submit(tokens[command.seat], table_id, command) for _ in range(20)))
    assert Counter(answer.repeated for answer in answers) == {False: 1, True: 19}
    assert len({(answer.first_seq, answer.last_seq) for answer in answers}) == 1
    assert len(await tables.updates(table_id)) == 2


async def test_another_body_under_a_used_id_is_refused(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    command = await tables.next_command(table_id, "used")
    await tables.submit(tokens[command.seat], table_id, command)
    other = await tables.next_command(table_id, "used")
    log = await tables.updates(table_id)
    with pytest.raises(ServiceError) as raised:
        await tables.submit(tokens[other.seat], table_id, other)
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.ALREADY_EXISTS, "command_id_reused")
    assert await tables.updates(table_id) == log


async def test_only_the_holder_plays_a_seat(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    command = await tables.next_command(table_id, "foreign")
    stranger = await tables.session("Stranger")
    other = tokens[1 - command.seat]
    assert await refusal(tables.submit(other, table_id, command)) == "not_your_seat"
    assert await refusal(tables.submit(stranger, table_id, command)) == "not_your_seat"
    assert await refusal(tables.submit("", table_id, command)) == "no_session"
    command.seat = 7
    assert await refusal(tables.submit(tokens[0], table_id, command)) == "not_your_seat"
    assert len(await tables.updates(table_id)) == 1


async def test_wrong_expired_and_replayed_tokens_play_nothing(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    command = await tables.next_command(table_id, "token")
    token = tokens[command.seat]
    renewed = await tables.client.RenewSession(pb.RenewSessionRequest(session_token=token))
    for bad in (token, token + "x", "nothing", ".", "a.b", "ф" * 100):
        assert await refusal(tables.submit(bad, table_id, command)) == "no_session"
    assert await refusal(tables.submit("\x00.\x00", table_id, command)) == "malformed"
    tables.clock.unix = renewed.session.expires_at_unix_ms
    assert await refusal(tables.submit(renewed.session_token, table_id, command)) == "no_session"
    tables.clock.unix -= 1
    assert await refusal(tables.submit(renewed.session_token, table_id, command)) == "done"


async def test_the_clocks_and_the_tables_own_commands_are_not_for_seats(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    expire = command_pb2.Command(command_id="e", expire=command_pb2.Expire(deadline_id=1))
    withdraw = command_pb2.Command(command_id="w", withdraw=command_pb2.Withdraw(seat=1))
    reserved = await tables.next_command(table_id, "magnate:expire:1")
    assert await refusal(tables.submit(tokens[0], table_id, expire)) == "not_allowed"
    assert await refusal(tables.submit(tokens[0], table_id, withdraw)) == "not_allowed"
    assert await refusal(tables.submit(tokens[reserved.seat], table_id, reserved)) == "malformed"
    assert await refusal(tables.submit(tokens[0], table_id, command_pb2.Command(command_id="n"))) == "malformed"
    assert len(await tables.updates(table_id)) == 1


async def test_a_person_cannot_use_up_the_ids_of_the_bots(tables: Tables) -> None:
    """One person against a bot: with a session their ids are refused, and the bot's own commands are done."""
    token = await tables.session()
    table_id = (await tables.table(token, seats=2)).table.table_id
    await tables.client.AddBots(pb.AddBotsRequest(session_token=token, table_id=table_id, count=1))
    await tables.client.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))
    taken: set[bool] = set()
    for number in range(40):
        update = await tables.last(table_id)
        seat = update.decision.seats[0]
        command = await tables.next_command(table_id, f"bot.{seat}.{update.decision.decision_id}.{update.last_seq}")
        if seat == 1:
            assert await refusal(tables.submit("", table_id, command)) == "done"
        else:
            with pytest.raises(ServiceError) as refused:
                await tables.submit(token, table_id, command)
            assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "malformed")
            assert dict(refused.value.metadata) == {"field": "command.command_id"}
            assert await tables.last(table_id) == update
            command.command_id = f"bots-{number}"
            assert await refusal(tables.submit(token, table_id, command)) == "done"
        taken.add(seat == 1)
    assert taken == {True, False}


async def test_a_refusal_of_the_rules_names_the_statement(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    command = await tables.next_command(table_id, "stale")
    command.decision_id += 1
    with pytest.raises(ServiceError) as raised:
        await tables.submit(tokens[command.seat], table_id, command)
    detail = raised.value.find_detail(refusal_pb2.Refusal)
    assert raised.value.code == grpc.StatusCode.FAILED_PRECONDITION
    assert raised.value.reason == "stale_decision"
    assert detail is not None
    assert raised.value.metadata["statement"] == detail.statement
    assert detail.statement.startswith("IND-")


async def test_huge_and_random_input_changes_nothing(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    log = await tables.updates(table_id)
    command = await tables.next_command(table_id, "x" * 65)
    assert await refusal(tables.submit(tokens[0], table_id, command)) == "malformed"
    assert await refusal(tables.submit("t" * 10**6, table_id, command)) == "malformed"
    draw = random.Random(7)
    for number in range(200):
        raw = draw.randbytes(draw.randrange(40))
        try:
            noise = command_pb2.Command.FromString(raw)
        except Exception:
            continue
        noise.command_id = f"noise-{number}"
        noise.decision_id = draw.choice([0, noise.decision_id])
        assert await refusal(tables.submit(tokens[0], table_id, noise)) != "internal"
    for bad in ("nowhere", "../../etc", "Ж", "a" * 64):
        assert await refusal(tables.submit(tokens[0], bad, await tables.next_command(table_id, "y"))) == "no_table"
    assert await refusal(tables.submit(tokens[0], "\x00", await tables.next_command(table_id, "y"))) == "malformed"
    assert await tables.updates(table_id) == log


async def test_a_lobby_has_no_commands(tables: Tables) -> None:
    token = await tables.session()
    table_id = (await tables.table(token)).table.table_id
    command = command_pb2.Command(command_id="early", decision_id=1, roll=command_pb2.Roll())
    assert await refusal(tables.submit(token, table_id, command)) == "not_started"


async def test_many_commands_travel_over_one_stream_and_each_has_its_answer(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    good = await tables.next_command(table_id, "good")
    bad = await tables.next_command(table_id, "x" * 65)
    token = tokens[good.seat]

    async def requests() -> object:
        items = [(1, good), (2, bad), (3, good)]
        yield pb.SubmitStreamRequest(
            items=[
                pb.SubmitStreamRequest.Item(
                    call_id=number,
                    request=pb.SubmitRequest(session_token=token, table_id=table_id, command=command),
                )
                for number, command in items
            ]
        )

    answers = {}
    async with tables.client.SubmitStream(requests()) as stream:
        async for response in stream:
            for item in response.items:
                answers[item.call_id] = item
    last_seq = (await tables.last(table_id)).last_seq
    assert {answers[1].response.last_seq, answers[3].response.last_seq} == {last_seq}
    assert sorted([answers[1].response.repeated, answers[3].response.repeated]) == [False, True]
    assert from_status(status_pb2.Status.FromString(answers[2].status)).reason == "malformed"


async def test_a_probe_travels_with_commands(tables: Tables) -> None:
    """It shares their stream, has an answer of its own, and is committed and published; one without an id is
    malformed."""
    table_id, tokens = await tables.running()
    good = await tables.next_command(table_id, "good")
    await tables.settle()
    await tables.listen()
    item = pb.SubmitStreamRequest.Item
    request = pb.SubmitRequest(session_token=tokens[good.seat], table_id=table_id, command=good)

    async def requests() -> object:
        yield pb.SubmitStreamRequest(
            items=[
                item(call_id=1, probe=pb.ProbeRequest(probe_id="p-1", shard=3)),
                item(call_id=2, request=request),
                item(call_id=3, probe=pb.ProbeRequest()),
            ]
        )

    answers = {}
    async with tables.client.SubmitStream(requests()) as stream:
        async for response in stream:
            for answer in response.items:
                answers[answer.call_id] = answer
    assert [answers[number].WhichOneof("result") for number in (1, 2, 3)] == ["probe", "response", "status"]
    assert from_status(status_pb2.Status.FromString(answers[3].status)).reason == "malformed"
    await tables.settle()
    assert [message.probe.probe_id for message in tables.heard if message.HasField("probe")] == ["p-1"]


async def test_too_many_commands_of_one_session_are_put_off(store_url: str) -> None:
    rate = Rate(burst=2, per_second=1)
    tables = await open_tables(store_url, options=with_options(submits_per_session=rate))
    table_id, tokens = await tables.running()
    command = await tables.next_command(table_id, "fast")
    token = tokens[command.seat]
    await tables.submit(token, table_id, command)
    await tables.submit(token, table_id, command)
    with pytest.raises(ServiceError) as raised:
        await tables.submit(token, table_id, command)
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "overloaded")
    assert raised.value.retry_after_ms is not None
    tables.clock.unix += raised.value.retry_after_ms
    assert (await tables.submit(token, table_id, command)).repeated
    await tables.close()


async def test_two_replicas_write_one_log(store_url: str) -> None:
    one = await open_tables(store_url)
    two = await open_tables(store_url, clock=one.clock, stream=one.stream)
    table_id, tokens = await one.running()
    for number in range(30):
        replica = (one, two)[number % 2]
        command = await replica.next_command(table_id, f"n{number}")
        await replica.submit(tokens[command.seat], table_id, command)
    updates = await two.updates(table_id)
    assert len(updates) == 31
    assert [update.first_seq for update in updates[1:]] == [update.last_seq + 1 for update in updates[:-1]]
    await two.close()
    await one.close()


async def test_replicas_that_race_do_one_command_for_each_decision(store_url: str) -> None:
    one = await open_tables(store_url)
    two = await open_tables(store_url, clock=one.clock, stream=one.stream)
    table_id, tokens = await one.running()
    for round_number in range(5):
        template = await one.next_command(table_id, "x")

        async def give(number: int, template: command_pb2.Command = template, at: int = round_number) -> str:
            command = command_pb2.Command()
            command.CopyFrom(template)
            command.command_id = f"race-{at}-{number}"
            replica = (one, two)[number % 2]
            return await refusal(replica.submit(tokens[command.seat], table_id, command))

        outcomes = Counter(await asyncio.gather(*(give(number) for number in range(10))))
        assert outcomes["done"] == 1
        assert sum(outcomes.values()) == 10
        assert set(outcomes) <= {"done", "stale_decision", "version_race"}
    assert len(await one.updates(table_id)) == 6
    await two.close()
    await one.close()


async def test_a_replica_that_lags_far_behind_plays_on(store_url: str) -> None:
    """Given a replica that keeps a state older than the snapshot in the store, and rules that have it no more, when a
    command for the newest decision comes to it, then it is done: no replica stays behind for ever."""
    options = with_options(snapshot_every=2)
    one = await open_tables(store_url, options=options, rules=real_rules(kept_states=1))
    two = await open_tables(store_url, options=options, clock=one.clock, stream=one.stream)
    table_id, tokens = await one.running()
    await one.play(table_id, tokens, 1, "one")
    await two.play(table_id, tokens, 6, "two")
    await one.running()
    command = await one.next_command(table_id, "late")
    done = await one.submit(tokens[command.seat], table_id, command)
    assert done.last_seq == (await two.last(table_id)).last_seq
    assert (await two.last(table_id)).command == command
    await two.close()
    await one.close()


async def test_rules_that_know_nothing_of_a_table_get_its_state(store_url: str) -> None:
    """A restart of the rules loses every kept state: the snapshot and the events since bring it back."""
    first = await open_tables(store_url, options=with_options(snapshot_every=5))
    table_id, tokens = await first.running()
    await first.play(table_id, tokens, 12)
    snapshot = await first.store.load_snapshot(TableKey(shard_of(table_id), table_id))
    updates = await first.updates(table_id)
    assert snapshot is not None
    assert snapshot[0] == updates[10].last_seq
    await first.close()
    second = await open_tables(store_url, clock=first.clock)
    await second.play(table_id, tokens, 3, name="d")
    assert len(await second.updates(table_id)) == 16
    await second.close()


async def test_play_time_never_goes_back_in_a_log(tables: Tables) -> None:
    table_id, tokens = await tables.running()
    tables.clock.play = 5_000
    await tables.play(table_id, tokens, 1, "a")
    tables.clock.play = 4_000
    await tables.play(table_id, tokens, 1, "b")
    assert [update.play_time_ms for update in await tables.updates(table_id)] == [0, 5_000, 5_000]


async def test_nothing_new_is_done_before_play_time_is_known(tables: Tables) -> None:
    """A deadline that opens at a time long past would run out early; what was done before is answered all the same."""
    table_id, tokens = await tables.running()
    done = await tables.next_command(table_id, "done")
    first = await tables.submit(tokens[done.seat], table_id, done)
    wish = await tables.next_command(table_id, "new")
    lobby = (await tables.table(tokens[0], seats=2)).table.table_id
    await tables.client.JoinTable(pb.JoinTableRequest(session_token=tokens[1], table_id=lobby))
    start = pb.StartGameRequest(session_token=tokens[0], table_id=lobby)
    tables.clock.play = None
    assert await refusal(tables.submit(tokens[wish.seat], table_id, wish)) == "unreachable"
    assert await refusal(tables.client.StartGame(start)) == "unreachable"
    again = await tables.submit(tokens[done.seat], table_id, done)
    assert (again.first_seq, again.repeated) == (first.first_seq, True)
    tables.clock.play = 60_000
    await tables.submit(tokens[wish.seat], table_id, wish)
    await tables.client.StartGame(start)
    assert [(await tables.last(game)).play_time_ms for game in (table_id, lobby)] == [60_000, 60_000]


async def test_an_expiry_ends_a_deadline_once_and_only_when_it_is_due(tables: Tables) -> None:
    table_id, _ = await tables.running(3)
    deadline = (await tables.last(table_id)).deadlines[0]
    request = pb.ExpireDeadlineRequest(table_id=table_id, deadline_id=deadline.deadline_id)
    assert await refusal(tables.client.ExpireDeadline(request)) == "not_due"
    tables.clock.play = deadline.opened_at_ms + deadline.budget_ms + 500
    first = await tables.client.ExpireDeadline(request)
    again = await tables.client.ExpireDeadline(request)
    assert first.last_seq == again.last_seq
    updates = await tables.updates(table_id)
    assert len(updates) == 2
    assert updates[1].command.expire.deadline_id == deadline.deadline_id
    unknown = pb.ExpireDeadlineRequest(table_id=table_id, deadline_id=999)
    assert await refusal(tables.client.ExpireDeadline(unknown)) == "stale_deadline"


async def test_many_deadlines_end_over_one_stream_and_each_has_its_answer(tables: Tables) -> None:
    table_ids = [(await tables.running(3))[0] for _ in range(2)]
    deadlines = [(await tables.last(table_id)).deadlines[0] for table_id in table_ids]
    tables.clock.play = max(deadline.opened_at_ms + deadline.budget_ms for deadline in deadlines) + 500
    wanted = [*zip(table_ids, (deadline.deadline_id for deadline in deadlines), strict=True), (table_ids[0], 999)]

    async def requests() -> object:
        message = pb.ExpireStreamRequest()
        for number, (table_id, deadline_id) in enumerate([*wanted, (table_ids[0], 0)]):
            message.items.add(
                call_id=number, request=pb.ExpireDeadlineRequest(table_id=table_id, deadline_id=deadline_id)
            )
        yield message

    answers = {}
    async with tables.client.ExpireStream(requests()) as stream:
        async for response in stream:
            answers.update({item.call_id: item for item in response.items})
    ends = [(await tables.last(table_id)).last_seq for table_id in table_ids]
    assert [answers[number].response.last_seq for number in range(2)] == ends
    reasons = [from_status(status_pb2.Status.FromString(answers[number].status)).reason for number in (2, 3)]
    assert reasons == ["stale_deadline", "malformed"]


async def test_a_command_whose_caller_goes_away_is_published_all_the_same(store_url: str) -> None:
    tables = await open_tables(store_url)
    await tables.listen()
    table_id, tokens = await tables.running()
    command = await tables.next_command(table_id, "gone")
    task = asyncio.create_task(tables.submit(tokens[command.seat], table_id, command))
    original = tables.store.append

    def append(row: object) -> asyncio.Future[bool]:
        future = original(row)  # type: ignore[arg-type]
        asyncio.get_running_loop().call_soon(task.cancel)
        return future

    tables.store.append = append  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        await task
    tables.store.append = original  # type: ignore[method-assign]
    # Its commit may still be on its way: whichever is first does it.
    await tables.submit(tokens[command.seat], table_id, command)
    assert len(await tables.updates(table_id)) == 2
    await tables.settle()
    heard = [message.update for message in tables.heard if message.update]
    assert [update_pb2.Update.FromString(raw) for raw in heard] == await tables.updates(table_id)
    await tables.close()


async def test_nobody_moves_while_an_operator_holds_the_shard(tables: Tables) -> None:
    """MET-TIME-14, BRA-TIME-16: a hold is a stretch in which no commands are taken; what was done before is still told,
    and what is sent again after it is done."""
    table_id, tokens = await tables.running()
    done = await tables.next_command(table_id, "before")
    await tables.submit(tokens[done.seat], table_id, done)
    tables.clock.hold = "a new version"
    command = await tables.next_command(table_id, "during")
    with pytest.raises(ServiceError) as refused:
        await tables.submit(tokens[command.seat], table_id, command)
    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.UNAVAILABLE, "unreachable")
    assert "a new version" in refused.value.message
    assert refused.value.retry_after_ms == 5_000
    assert (await tables.submit(tokens[done.seat], table_id, done)).repeated
    tables.clock.hold = None
    assert not (await tables.submit(tokens[command.seat], table_id, command)).repeated
