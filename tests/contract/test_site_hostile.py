"""Malformed and hostile input at every port: its documented error, a site that lives, and a log as it was."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Iterator
from typing import Any, cast

import grpc
import pytest
from magnate.bots.v1 import bots_service_pb2 as bots_pb
from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.rules.v1 import rules_service_pb2 as rules_pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from services.kit.calls import RemoteClient, bearer, open_channel
from services.kit.errors import from_rpc_error
from tests.support.http import request
from tests.support.site_clients import People, Visitors, refusal
from tests.support.sites import CLOCK_TOKEN, LiveSite

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
SETTINGS_FRAME = b"\0\0\0\4\0\0\0\0\0"
SERVICES: dict[str, Any] = {
    "rules": rules_pb.DESCRIPTOR.services_by_name["RulesService"],
    "table": table_pb.DESCRIPTOR.services_by_name["TableService"],
    "clock": clock_pb.DESCRIPTOR.services_by_name["ClockService"],
    "bots": bots_pb.DESCRIPTOR.services_by_name["BotsService"],
    "gateway": pb.DESCRIPTOR.services_by_name["GatewayService"],
}
# A field of a wire type that there is not: whatever follows, it is no message.
NO_MESSAGE = b"\x0f"
MALFORMED = ("INVALID_ARGUMENT", "malformed")
NOT_ALLOWED = ("PERMISSION_DENIED", "not_allowed")
BAD_AMOUNT = ("INVALID_ARGUMENT", "bad_amount")
NO_TABLE = ("NOT_FOUND", "no_table")


@pytest.fixture
async def people(visitors: Visitors, site: LiveSite) -> People:
    """A running game of two."""
    del site
    return await visitors.people(2)


def _roll(**fields: Any) -> command_pb2.Command:
    return command_pb2.Command(**{"command_id": "x", "decision_id": 1, "roll": command_pb2.Roll(), **fields})


def _wicked() -> Iterator[tuple[command_pb2.Command, set[tuple[str, str]]]]:
    """Commands that nobody may give, with the refusals that the contract documents for them."""
    yield command_pb2.Command(command_id="x", decision_id=1), {MALFORMED}
    for command_id in ("", "x" * 65, "with space", "наказ", "magnate:bot:1:0", "bot.1.1.9"):
        yield _roll(command_id=command_id), {MALFORMED}
    yield _roll(seat=8), {MALFORMED}
    yield _roll(seat=2**32 - 1), {MALFORMED}
    yield _roll(seat=5), {("PERMISSION_DENIED", "not_your_seat")}
    yield _roll(decision_id=2**64 - 1), {("FAILED_PRECONDITION", "stale_decision")}
    for amount, expected in ((-1, BAD_AMOUNT), (-(2**31), BAD_AMOUNT), (2**31 - 1, MALFORMED)):
        yield _only(bid=command_pb2.Bid(amount=amount)), {expected}
        yield _only(open_auction=command_pb2.OpenAuction(cell=1, opening_bid=amount)), {expected}
        give = command_pb2.Basket(cash=amount)
        yield _only(offer_trade=command_pb2.OfferTrade(to=1, give=give)), {expected}
    yield _only(build=command_pb2.Build(cells=[1] * 17)), {MALFORMED}
    yield _only(build=command_pb2.Build(cells=[40])), {("INVALID_ARGUMENT", "unknown_cell"), MALFORMED}
    yield _only(use_release_card=command_pb2.UseReleaseCard(deck="x" * 33)), {MALFORMED}
    cards = command_pb2.Basket(release_cards=["y" * 33])
    yield _only(offer_trade=command_pb2.OfferTrade(to=1, give=cards)), {MALFORMED}
    yield _only(offer_trade=command_pb2.OfferTrade(to=8)), {MALFORMED}
    yield _only(place_bet=command_pb2.PlaceBet(numbers=[1, 2, 3, 4])), {MALFORMED}
    unknown: Any = 77
    yield _only(choose_move=command_pb2.ChooseMove(option=unknown)), {MALFORMED, ("INVALID_ARGUMENT", "bad_choice")}
    yield _only(expire=command_pb2.Expire(deadline_id=1)), {NOT_ALLOWED}
    yield _only(withdraw=command_pb2.Withdraw(seat=1)), {NOT_ALLOWED}


def _only(**action: Any) -> command_pb2.Command:
    return command_pb2.Command(command_id="x", decision_id=1, **action)


async def test_wicked_commands_are_refused_as_documented(people: People) -> None:
    """Absent or foreign actions, seats, ids, money and choices; the log stays as it was, byte for byte."""
    before = await people.guests[0].log(people.table_id)
    for command, expected in _wicked():
        by = people.guests[0]
        got = await refusal(by.ask(pb.SubmitRequest(table_id=people.table_id, command=command)))
        assert got in expected, f"{command} was answered with {got}"
    assert await people.guests[0].log(people.table_id) == before


async def test_wicked_ids_and_secrets(people: People, visitors: Visitors) -> None:
    """Tables, seats, editions and secrets that there are not, huge texts, used tokens, foreign rights."""
    host, stranger = people.guests[0], await visitors.guest("Mallory")
    before = await host.log(people.table_id)
    table_id, far = people.table_id, "z" * 60
    secret = pb.ReclaimSeatRequest(table_id=table_id, seat=1, seat_secret="0" * 43)
    wishes = table_pb2.TableSettings(edition="industry", seats=4)
    fixed = pb.CreateTableRequest(settings=wishes, command_id="x", fixed_seed="ab" * 32)
    override = table_pb2.TableSettings(edition="industry", seats=4)
    override.overrides.add(parameter="start_cash", value="-1")
    deep, padded, named = (table_pb2.TableSettings(edition="brands", seats=4) for _ in range(3))
    deep.overrides.add(parameter="start_cash", value="[" * 2_000)
    padded.overrides.add(parameter="start_cash", value=" " * 60_000 + "5000")
    named.overrides.add(parameter="s" * 60_000, value="5000")
    calls: list[tuple[Any, tuple[str, str]]] = [
        (pb.SubmitRequest(table_id=far, command=_roll()), NO_TABLE),
        (pb.SubmitRequest(table_id="x" * 65, command=_roll()), MALFORMED),
        (pb.SubmitRequest(table_id="../" * 5, command=_roll()), NO_TABLE),
        (pb.SubmitRequest(table_id="'; DROP TABLE games; --", command=_roll()), NO_TABLE),
        (pb.SubmitRequest(table_id=table_id), MALFORMED),
        (pb.SubmitRequest(command=_roll()), MALFORMED),
        (pb.SubmitRequest(table_id=table_id, command=_roll()), ("PERMISSION_DENIED", "not_your_seat")),
        (pb.DescribeTableRequest(table_id=far), NO_TABLE),
        (pb.JoinTableRequest(table_id=far), NO_TABLE),
        (pb.JoinTableRequest(table_id=table_id, nonce="XYZ"), MALFORMED),
        (pb.JoinTableRequest(table_id=table_id), ("FAILED_PRECONDITION", "already_started")),
        (pb.LeaveTableRequest(table_id=far), NO_TABLE),
        (pb.StartGameRequest(table_id=far), NO_TABLE),
        (pb.AddBotsRequest(table_id=table_id, count=9), MALFORMED),
        (pb.AddBotsRequest(table_id=table_id, count=1, level="Ü"), MALFORMED),
        (secret, ("PERMISSION_DENIED", "wrong_secret")),
        (pb.ReclaimSeatRequest(table_id=table_id, seat=7, seat_secret="0"), ("PERMISSION_DENIED", "wrong_secret")),
        (pb.ReclaimSeatRequest(table_id=table_id, seat=1, seat_secret="s" * 129), MALFORMED),
        (pb.CreateTableRequest(settings=wishes, command_id=""), MALFORMED),
        (pb.CreateTableRequest(command_id="x"), MALFORMED),
        (fixed, NOT_ALLOWED),
        (pb.CreateTableRequest(settings=override, command_id="x"), ("INVALID_ARGUMENT", "override_out_of_range")),
        (pb.CreateTableRequest(settings=deep, command_id="x"), MALFORMED),
        (pb.CreateTableRequest(settings=padded, command_id="x"), MALFORMED),
        (pb.CreateTableRequest(settings=named, command_id="x"), MALFORMED),
        (pb.CreateSessionRequest(name=""), MALFORMED),
        (pb.CreateSessionRequest(name="n" * 33), MALFORMED),
        (pb.DescribeEditionRequest(edition="industry", version=99), ("NOT_FOUND", "no_edition")),
        (pb.ListTablesRequest(page_size=101), MALFORMED),
        (pb.ChangeWatchRequest(watch_id=far), ("NOT_FOUND", "no_watch")),
        (pb.ProbeRequest(probe_id="x"), NOT_ALLOWED),
    ]
    for wish, expected in calls:
        assert await refusal(stranger.ask(wish)) == expected, wish
    assert await refusal(stranger.export(far)) == NO_TABLE
    assert await host.log(table_id) == before


async def test_random_bytes_on_every_port(people: People, site: LiveSite) -> None:
    """Noise closes its own connection and nothing else, also behind a valid preface."""
    before = await people.guests[0].log(people.table_id)
    draw = random.Random(11)
    ports = [*site.grpc_ports().values(), int(site.web.rsplit(":", 1)[1])]
    for number in range(20 * len(ports)):
        reader, writer = await asyncio.open_connection("127.0.0.1", ports[number % len(ports)])
        start = (b"", PREFACE, PREFACE + SETTINGS_FRAME, b"POST /x HTTP/1.1\r\nhost: x\r\n")[number // len(ports) % 4]
        writer.write(start + draw.randbytes(draw.randint(1, 5_000)))
        if number % 3 == 0:
            writer.write_eof()
            try:
                async with asyncio.timeout(0.3):
                    await reader.read()
            except (TimeoutError, ConnectionError):
                pass
        writer.close()
    await site.alive()
    assert await people.guests[0].log(people.table_id) == before


async def test_thousands_of_garbage_frames(people: People, site: LiveSite) -> None:
    """Frames of every kind, right in form and wrong in sense, on each gRPC port."""
    before = await people.guests[0].log(people.table_id)
    draw = random.Random(13)
    for port in site.grpc_ports().values():
        for _ in range(5):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(PREFACE + SETTINGS_FRAME + b"".join(_frame(draw) for _ in range(400)))
            with contextlib.suppress(ConnectionError):
                await writer.drain()
            writer.close()
    await site.alive()
    assert await people.guests[0].log(people.table_id) == before


def _frame(draw: random.Random) -> bytes:
    body = draw.randbytes(draw.choice((0, 4, 5, 8, 40)))
    stream = draw.choice((0, 1, 3, 2**31 - 1)).to_bytes(4, "big")
    return len(body).to_bytes(3, "big") + bytes((draw.randrange(12), draw.randrange(256))) + stream + body


async def test_random_bytes_as_messages_of_every_call(people: People, site: LiveSite) -> None:
    """Each call of each service that has a port: what does not parse is refused, and nothing is a fault of the
    server."""
    before = await people.guests[0].log(people.table_id)
    draw = random.Random(17)
    ports = site.grpc_ports()
    metadata = (("authorization", f"Bearer {people.guests[0].token}"),)
    for name, port in ports.items():
        async with open_channel(f"127.0.0.1:{port}") as opened:
            channel: Any = opened
            for method in SERVICES[name].methods:
                path = f"/{SERVICES[name].full_name}/{method.name}"
                for size in (1, 30, 500):
                    body = NO_MESSAGE + draw.randbytes(size)
                    with pytest.raises(grpc.RpcError) as refused:
                        if method.client_streaming:
                            await asyncio.to_thread(_stream, port, path, body, metadata)
                        else:
                            await _call(channel, path, method, body, metadata)
                    error = from_rpc_error(cast(grpc.aio.AioRpcError, refused.value))
                    # A stream is refused to a stranger before anything of it is read.
                    expected = NOT_ALLOWED if method.name == "ExpireStream" else MALFORMED
                    assert (error.code.name, error.reason) == expected, f"{path}: {error}"
    assert await people.guests[0].log(people.table_id) == before


async def _call(channel: Any, path: str, method: Any, body: bytes, metadata: Any) -> None:
    if not method.server_streaming:
        await channel.unary_unary(path)(body, metadata=metadata, timeout=10)
        return
    async for _ in channel.unary_stream(path)(body, metadata=metadata, timeout=10):
        pass


def _stream(port: int, path: str, body: bytes, metadata: Any) -> None:
    # Not over grpc.aio, which may put an error of its own in place of the status of a stream that ends amid a write.
    with grpc.insecure_channel(f"127.0.0.1:{port}") as opened:
        channel: Any = opened
        for _ in channel.stream_stream(path)(iter([body]), metadata=metadata, timeout=10):
            pass


async def test_oversized_messages(people: People, site: LiveSite) -> None:
    """Above the limit of a port a message is refused before it is parsed, on each of them."""
    before = await people.guests[0].log(people.table_id)
    guest = people.guests[0]
    huge = pb.SubmitRequest(table_id="t" * 200_000, command=_roll())
    assert await refusal(guest.ask(huge)) == ("RESOURCE_EXHAUSTED", "resource_exhausted")
    path = f"{site.web}/magnate.gateway.v1.GatewayService/Submit"
    headers = {"content-type": "application/proto", **guest.metadata}
    assert (await request("POST", path, huge.SerializeToString(), headers)).status == 429
    if not site.is_embedded:
        async with open_channel(site.table_address) as channel:
            table: Any = RemoteClient(SERVICES["table"], channel)
            far = table_pb.SubmitRequest(table_id="t" * 5_000_000, command=_roll())
            assert await refusal(table.Submit(far)) == ("RESOURCE_EXHAUSTED", "resource_exhausted")
    assert await guest.log(people.table_id) == before


@pytest.mark.parametrize("site", ["distributed"], indirect=True)
async def test_the_ports_between_services_trust_nobody(people: People, site: LiveSite) -> None:
    """The table plays no person's seat without his token, lets nobody but the clock fire, and nothing early or twice,
    and its log read there is the one that the gateway tells."""
    seat = (await people.decision()).seats[0]
    early = table_pb.ExpireDeadlineRequest(table_id=people.table_id, deadline_id=1)
    async with open_channel(site.table_address) as channel:
        assert await refusal(RemoteClient(SERVICES["table"], channel).ExpireDeadline(early)) == NOT_ALLOWED
        table: Any = RemoteClient(SERVICES["table"], channel, shows=bearer(CLOCK_TOKEN))
        before = (await table.ReadUpdates(table_pb.ReadUpdatesRequest(table_id=people.table_id))).updates
        command = _roll(seat=seat)
        wishes: list[tuple[Any, tuple[str, str]]] = [
            (table_pb.SubmitRequest(table_id=people.table_id, command=command), ("UNAUTHENTICATED", "no_session")),
            (
                table_pb.SubmitRequest(table_id=people.table_id, command=_roll(seat=7)),
                ("PERMISSION_DENIED", "not_your_seat"),
            ),
            (early, ("FAILED_PRECONDITION", "not_due")),
            (
                table_pb.ExpireDeadlineRequest(table_id=people.table_id, deadline_id=99),
                ("FAILED_PRECONDITION", "stale_deadline"),
            ),
            (table_pb.ExpireDeadlineRequest(table_id="no-such", deadline_id=1), NO_TABLE),
            (table_pb.ReadUpdatesRequest(table_id=people.table_id, after_seq=10_000), ("OUT_OF_RANGE", "seq_ahead")),
        ]
        for wish, expected in wishes:
            name = type(wish).__name__.removesuffix("Request")
            assert await refusal(getattr(table, name)(wish)) == expected, wish
        after = (await table.ReadUpdates(table_pb.ReadUpdatesRequest(table_id=people.table_id))).updates
    assert after == before
    told = await people.guests[0].log(people.table_id)
    assert [raw in frame for raw, frame in zip(before, told, strict=True)] == [True] * len(before)


async def test_a_deadline_that_was_replaced_is_stale(people: People, site: LiveSite) -> None:
    """Once its decision is answered, the clock's word for it does nothing; the client has no such word at all."""
    decision = await people.decision()
    done = await people.submit(people.command(decision))
    expire = _only(expire=command_pb2.Expire(deadline_id=decision.deadline_id))
    assert await refusal(people.submit(expire)) == NOT_ALLOWED
    if site.is_embedded:
        return
    async with open_channel(site.table_address) as channel:
        table: Any = RemoteClient(SERVICES["table"], channel, shows=bearer(CLOCK_TOKEN))
        stale = table_pb.ExpireDeadlineRequest(table_id=people.table_id, deadline_id=decision.deadline_id)
        assert await refusal(table.ExpireDeadline(stale)) == ("FAILED_PRECONDITION", "stale_deadline")
    async with people.guests[0].watching(people.table_id, 0) as watcher:
        await watcher.reach(done.last_seq)
    assert len(watcher.updates) == 2


async def test_nothing_of_this_left_a_stack_in_the_logs(site: LiveSite) -> None:
    """No input makes a service log a stack trace or call something its own fault."""
    words = (b"Traceback", b"call_failed", b'"stack"')
    found = [line for line in site.logs().splitlines() if any(word in line for word in words)]
    assert found == []
