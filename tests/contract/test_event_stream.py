"""Both implementations of the event stream, in process and over a real Redis, pass the same tests."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable

import pytest
from redis.asyncio import Redis

from services.kit.errors import ServiceError
from services.kit.streams import Batch, Delivery, Entry, EventStream, GroupSubscription, Lagged, Subscription
from services.kit.streams_memory import MemoryStream
from services.kit.streams_redis import RedisStream
from tests.support.servers import RedisServer

CAPACITY = 500
CLAIM_IDLE_MS = 200


@pytest.fixture(params=["memory", "redis"])
async def make(request: pytest.FixtureRequest) -> AsyncIterator[Callable[[], EventStream]]:
    """Makes streams on the same ground: one object for memory, one client each for Redis."""
    made: list[EventStream] = []
    url = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    memory = MemoryStream(capacity=CAPACITY, claim_idle_ms=CLAIM_IDLE_MS)

    def make_stream() -> EventStream:
        made.append(
            RedisStream(url, max_entries=CAPACITY, claim_idle_ms=CLAIM_IDLE_MS) if request.param == "redis" else memory
        )
        return made[-1]

    yield make_stream
    for stream in made:
        await stream.close()


@pytest.fixture
def stream(make: Callable[[], EventStream]) -> EventStream:
    return make()


def items(first: int, count: int, key: str = "k") -> list[tuple[str, int, bytes]]:
    return [(key, seq, b"payload %d" % seq) for seq in range(first, first + count)]


async def read(subscription: Subscription, count: int, limit_s: float = 5.0) -> list[Entry]:
    """The next `count` entries; a Lagged among them is an error."""
    got: list[Entry] = []
    async with asyncio.timeout(limit_s):
        async for batch in subscription:
            assert isinstance(batch, Batch), batch
            got += batch.entries
            if len(got) >= count:
                break
    return got


async def take(member: GroupSubscription, limit_s: float = 5.0, *, ack: bool = True) -> Delivery:
    """The next delivery of a member."""
    async with asyncio.timeout(limit_s):
        async for delivery in member:
            assert isinstance(delivery, Delivery), delivery
            if ack:
                await delivery.ack()
            return delivery
    raise AssertionError("the subscription ended")


async def test_subscriber_gets_what_is_published_in_order(stream: EventStream) -> None:
    subscription = await stream.subscribe(["t"])
    await stream.publish("t", items(1, 3))
    await stream.publish("t", items(4, 1))
    assert await read(subscription, 4) == [Entry("k", seq, b"payload %d" % seq) for seq in (1, 2, 3, 4)]


async def test_subscription_begins_now_and_a_waiting_reader_wakes(stream: EventStream) -> None:
    await stream.publish("t", items(1, 3))
    subscription = await stream.subscribe(["t"])
    reading = asyncio.create_task(read(subscription, 1))
    await asyncio.sleep(0.1)
    await stream.publish("t", items(4, 1))
    assert [entry.seq for entry in await reading] == [4]


async def test_every_subscriber_gets_everything(make: Callable[[], EventStream]) -> None:
    subscriptions = [await make().subscribe(["a", "b"]) for _ in range(3)]
    publisher = make()
    await publisher.publish("a", items(1, 2, "x"))
    await publisher.publish("b", items(1, 2, "y"))
    for subscription in subscriptions:
        got = await read(subscription, 4)
        assert sorted((entry.key, entry.seq) for entry in got) == [("x", 1), ("x", 2), ("y", 1), ("y", 2)]


async def test_other_topics_stay_out(stream: EventStream) -> None:
    subscription = await stream.subscribe(["a"])
    await stream.publish("b", items(1, 1, "other"))
    await stream.publish("a", items(1, 1, "mine"))
    assert [entry.key for entry in await read(subscription, 1)] == ["mine"]


async def test_resuming_from_a_cursor_has_no_gap_and_no_repeat(make: Callable[[], EventStream]) -> None:
    stream = make()
    subscription = await stream.subscribe(["t"])
    await stream.publish("t", items(1, 5))
    cursor = ""
    async for batch in subscription:
        assert isinstance(batch, Batch)
        cursor = batch.cursor
        if batch.entries[-1].seq == 5:
            break
    await subscription.close()
    await stream.publish("t", items(6, 4))
    again = await make().subscribe(["t"], cursors={"t": cursor})
    assert [entry.seq for entry in await read(again, 4)] == [6, 7, 8, 9]


async def test_slow_subscriber_is_told_and_holds_nobody_up(stream: EventStream) -> None:
    slow, quick = await stream.subscribe(["t"]), await stream.subscribe(["t"])
    got: list[Entry] = []
    for first in range(1, 2001, 100):
        await stream.publish("t", items(first, 100))
        got += await read(quick, 100)
    assert [entry.seq for entry in got] == list(range(1, 2001))
    seen: list[Batch | Lagged] = []
    async with asyncio.timeout(5):
        async for found in slow:
            seen.append(found)
            if isinstance(found, Batch) and found.entries[-1].seq == 2000:
                break
    assert isinstance(seen[0], Lagged)
    assert seen[0].topic == "t"
    kept = [entry.seq for batch in seen if isinstance(batch, Batch) for entry in batch.entries]
    assert kept == list(range(kept[0], 2001))
    assert kept[0] > 1


async def test_members_of_a_group_share_the_work(make: Callable[[], EventStream]) -> None:
    first, second = make(), make()
    one, two = await first.join("workers", "one", ["t"]), await second.join("workers", "two", ["t"])
    seen: dict[str, list[int]] = {"one": [], "two": []}

    async def work(name: str, member: GroupSubscription) -> None:
        async for delivery in member:
            assert isinstance(delivery, Delivery)
            seen[name] += [entry.seq for entry in delivery.entries]
            await delivery.ack()
            await asyncio.sleep(0.01)

    tasks = [asyncio.create_task(work("one", one)), asyncio.create_task(work("two", two))]
    for seq in range(1, 41):
        await first.publish("t", items(seq, 1))
        await asyncio.sleep(0.002)
    async with asyncio.timeout(5):
        while len(seen["one"]) + len(seen["two"]) < 40:
            await asyncio.sleep(0.01)
    assert sorted(seen["one"] + seen["two"]) == list(range(1, 41))
    assert seen["one"]
    assert seen["two"]
    for task in tasks:
        task.cancel()


async def test_groups_are_independent(stream: EventStream) -> None:
    bots, audit = await stream.join("bots", "a", ["t"]), await stream.join("audit", "a", ["t"])
    await stream.publish("t", items(1, 2))
    for member in (bots, audit):
        assert [entry.seq for entry in (await take(member)).entries] == [1, 2]


async def test_work_of_a_dead_member_goes_to_another(make: Callable[[], EventStream]) -> None:
    first, second = make(), make()
    dying = await first.join("workers", "dying", ["t"])
    await first.publish("t", items(1, 3))
    assert len((await take(dying, ack=False)).entries) == 3
    await dying.close()
    heir = await second.join("workers", "heir", ["t"])
    assert [entry.seq for entry in (await take(heir)).entries] == [1, 2, 3]


async def test_acknowledged_work_does_not_come_back(stream: EventStream) -> None:
    member = await stream.join("workers", "one", ["t"])
    await stream.publish("t", items(1, 1))
    await take(member)
    with pytest.raises(TimeoutError):
        await take(member, limit_s=3 * CLAIM_IDLE_MS / 1000)


async def test_closing_ends_a_waiting_reader(stream: EventStream) -> None:
    subscription, member = await stream.subscribe(["t"]), await stream.join("g", "c", ["t"])

    async def drain(readable: Subscription | GroupSubscription) -> int:
        return len([found async for found in readable])

    tasks = [asyncio.create_task(drain(subscription)), asyncio.create_task(drain(member))]
    await asyncio.sleep(0.1)
    await subscription.close()
    await member.close()
    assert await asyncio.wait_for(asyncio.gather(*tasks), 2) == [0, 0]


async def test_a_stream_that_answers_is_met(stream: EventStream) -> None:
    await stream.met()


# What only a server of its own can suffer.


async def follow(subscription: Subscription, seen: list[Batch | Lagged]) -> None:
    async for found in subscription:
        seen.append(found)


async def wait_for_seq(seen: list[Batch | Lagged], seq: int) -> None:
    async with asyncio.timeout(8):
        while not any(isinstance(found, Batch) and found.entries[-1].seq == seq for found in seen):
            await asyncio.sleep(0.02)


async def publish_when_back(stream: EventStream, first: int) -> None:
    """Publishes as a relay does: until it succeeds."""
    for _ in range(100):
        try:
            return await stream.publish("t", items(first, 1))
        except ServiceError:
            await asyncio.sleep(0.05)
    raise AssertionError("the stream did not come back")


async def test_emptied_redis_shows_as_lagged_and_reading_goes_on(redis_url: str, redis_server: RedisServer) -> None:
    stream = RedisStream(redis_url)
    seen: list[Batch | Lagged] = []
    task = asyncio.create_task(follow(await stream.subscribe(["t"]), seen))
    await stream.publish("t", items(1, 1))
    await wait_for_seq(seen, 1)
    redis_server.empty()
    await stream.publish("t", items(2, 1))
    await wait_for_seq(seen, 2)
    async with asyncio.timeout(5):
        while not any(isinstance(found, Lagged) for found in seen):
            await asyncio.sleep(0.02)
    await stream.publish("t", items(3, 1))
    await wait_for_seq(seen, 3)
    await stream.close()
    await task


async def test_restarted_redis_shows_as_lagged_and_reading_goes_on(redis_url: str, redis_server: RedisServer) -> None:
    stream = RedisStream(redis_url, claim_idle_ms=CLAIM_IDLE_MS)
    seen: list[Batch | Lagged] = []
    worked: list[int] = []
    task = asyncio.create_task(follow(await stream.subscribe(["t"]), seen))
    member = await stream.join("workers", "one", ["t"])

    async def work() -> None:
        async for delivery in member:
            if isinstance(delivery, Delivery):
                worked.extend(entry.seq for entry in delivery.entries)
                await delivery.ack()

    working = asyncio.create_task(work())
    await stream.publish("t", items(1, 1))
    await wait_for_seq(seen, 1)
    redis_server.stop()
    with pytest.raises(ServiceError, match="unreachable"):
        await stream.publish("t", items(2, 1))
    redis_server.start()
    await publish_when_back(stream, 2)
    await wait_for_seq(seen, 2)
    assert any(isinstance(found, Lagged) for found in seen)
    async with asyncio.timeout(5):
        while worked != [1, 2]:
            await asyncio.sleep(0.02)
    await stream.close()
    await asyncio.gather(task, working)


_MEMBER = """
import asyncio, sys
from services.kit.streams_redis import RedisStream

async def main():
    member = await RedisStream(sys.argv[1], silent_ms=600).join("workers", "dying", ["t"])
    print("joined", flush=True)
    async for delivery in member:
        if "ack" in sys.argv:
            await delivery.ack()
        print(delivery.entries[-1].seq, flush=True)

asyncio.run(main())
"""


async def _start_dying(redis_url: str, *how: str) -> asyncio.subprocess.Process:
    """A member in a process of its own, once it has joined."""
    dying = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _MEMBER, redis_url, *how, stdout=asyncio.subprocess.PIPE
    )
    assert dying.stdout is not None
    assert await asyncio.wait_for(dying.stdout.readline(), 30) == b"joined\n"
    return dying


async def _wait_until_read(dying: asyncio.subprocess.Process, seq: int) -> None:
    assert dying.stdout is not None
    async with asyncio.timeout(10):
        # What is published at once may be read in two pieces.
        while await dying.stdout.readline() != b"%d\n" % seq:
            pass


async def test_work_of_a_process_that_was_killed_is_taken_up_at_once_that_of_a_slow_one_is_not(redis_url: str) -> None:
    stream = RedisStream(redis_url, silent_ms=600)
    dying = await _start_dying(redis_url)
    await stream.publish("t", items(1, 3))
    await _wait_until_read(dying, 3)
    heir = await stream.join("workers", "heir", ["t"])
    with pytest.raises(TimeoutError):
        await take(heir, limit_s=2)
    dying.kill()
    await dying.wait()
    assert [entry.seq for entry in (await take(heir)).entries] == [1, 2, 3]
    await stream.close()


async def _held(redis: Redis) -> dict[str, int]:
    """The members that Redis knows in the group, and how much each holds."""
    consumers = await redis.xinfo_consumers("magnate:t", "workers")
    return {consumer["name"].decode(): consumer["pending"] for consumer in consumers}


async def _wait_until_held(redis: Redis, wanted: dict[str, int]) -> None:
    async with asyncio.timeout(8):
        while await _held(redis) != wanted:
            await asyncio.sleep(0.02)


async def _wait_until_silent(redis: Redis, consumer: str, silent_ms: int) -> None:
    """Until this member has been silent for so long and shows no life any more."""
    async with asyncio.timeout(8):
        while True:
            known = await redis.xinfo_consumers("magnate:t", "workers")
            idle_ms = min(one["idle"] for one in known if one["name"].decode() == consumer)
            if idle_ms >= silent_ms and not await redis.exists(f"magnate:alive:workers:{consumer}"):
                return
            await asyncio.sleep(0.02)


async def _work(member: GroupSubscription, done: list[int]) -> None:
    async for delivery in member:
        assert isinstance(delivery, Delivery)
        done += [entry.seq for entry in delivery.entries]
        await delivery.ack()


async def test_a_member_that_ends_in_order_leaves_nothing_behind(redis_url: str) -> None:
    """Unless it still holds work: that waits under its name for another one."""
    stream = RedisStream(redis_url, claim_idle_ms=CLAIM_IDLE_MS)
    redis = stream.connect()
    one, two = await stream.join("workers", "one", ["t"]), await stream.join("workers", "two", ["t"])
    done: list[int] = []
    working = asyncio.create_task(_work(one, done))
    await stream.publish("t", items(1, 2))
    async with asyncio.timeout(5):
        while done != [1, 2]:
            await asyncio.sleep(0.02)
    await one.close()
    await working
    assert await _held(redis) == {}
    await stream.publish("t", items(3, 2))
    assert [entry.seq for entry in (await take(two, ack=False)).entries] == [3, 4]
    await two.close()
    assert await _held(redis) == {"two": 2}
    heir = await stream.join("workers", "heir", ["t"])
    assert [entry.seq for entry in (await take(heir)).entries] == [3, 4]
    await heir.close()
    assert await _held(redis) == {"two": 0}
    await redis.aclose()
    await stream.close()


async def test_a_member_that_was_killed_is_removed_by_the_next_one_when_it_has_long_been_silent(redis_url: str) -> None:
    """One that is only busy elsewhere stays, and so does one that was heard of lately."""
    stream = RedisStream(redis_url, claim_idle_ms=600, silent_ms=600)
    redis = stream.connect()
    busy = await stream.join("workers", "busy", ["t"])
    await stream.publish("t", items(1, 1))
    await take(busy)
    with pytest.raises(TimeoutError):
        await take(busy, limit_s=0.1)
    dying = await _start_dying(redis_url, "ack")
    await stream.publish("t", items(2, 1))
    await _wait_until_read(dying, 2)
    await _wait_until_held(redis, {"busy": 0, "dying": 0})
    dying.kill()
    await dying.wait()
    await _wait_until_silent(redis, "dying", 600)
    patient = RedisStream(redis_url, silent_ms=600)
    done: list[int] = []
    first = asyncio.create_task(_work(await patient.join("workers", "first", ["t"]), done))
    await stream.publish("t", items(3, 1))
    await _wait_until_held(redis, {"busy": 0, "dying": 0, "first": 0})
    second = asyncio.create_task(_work(await stream.join("workers", "second", ["t"]), done))
    async with asyncio.timeout(8):
        while "dying" in await _held(redis):
            await asyncio.sleep(0.02)
    assert {"busy", "first"} <= set(await _held(redis))
    assert done == [3]
    await redis.aclose()
    await patient.close()
    await stream.close()
    await asyncio.gather(first, second)


async def test_a_member_that_was_killed_stays_as_long_as_it_holds_work(redis_url: str) -> None:
    """Given more of it than is taken over in one go, when the next member looks, then it gets it all."""
    stream = RedisStream(redis_url, claim_idle_ms=600, silent_ms=600)
    redis = stream.connect()
    dying = await _start_dying(redis_url)
    await stream.publish("t", items(1, 600))
    await _wait_until_read(dying, 600)
    assert await _held(redis) == {"dying": 600}
    dying.kill()
    await dying.wait()
    await _wait_until_silent(redis, "dying", 600)
    done: list[int] = []
    working = asyncio.create_task(_work(await stream.join("workers", "heir", ["t"]), done))
    async with asyncio.timeout(8):
        while len(done) < 600:
            await asyncio.sleep(0.02)
    assert sorted(done) == list(range(1, 601))
    await _wait_until_held(redis, {"dying": 0, "heir": 0})
    await redis.aclose()
    await stream.close()
    await working


async def test_subscribing_while_redis_is_away(redis_url: str, redis_server: RedisServer) -> None:
    redis_server.stop()
    stream = RedisStream(redis_url)
    seen: list[Batch | Lagged] = []
    task = asyncio.create_task(follow(await stream.subscribe(["t"]), seen))
    await asyncio.sleep(0.1)
    redis_server.start()
    async with asyncio.timeout(5):
        while not seen:
            await asyncio.sleep(0.02)
    assert isinstance(seen[0], Lagged)
    await stream.publish("t", items(1, 1))
    await wait_for_seq(seen, 1)
    await stream.close()
    await task


async def test_a_redis_is_met_when_it_has_answered_once(redis_url: str, redis_server: RedisServer) -> None:
    redis_server.stop()
    stream = RedisStream(redis_url)
    try:
        with pytest.raises(ServiceError, match="unreachable"):
            await stream.met()
    finally:
        redis_server.start()
    await stream.met()
    redis_server.stop()
    try:
        await stream.met()
    finally:
        redis_server.start()
    await stream.close()


async def test_a_redis_that_wants_another_password_is_not_met(redis_url: str) -> None:
    stream = RedisStream(redis_url.replace("://", "://nobody:wrong@"))
    with pytest.raises(ServiceError, match="unreachable"):
        await stream.met()
    await stream.close()
