"""Sessions and seat secrets: random, stored hashed, rotated, used once."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import grpc
import pytest
from magnate.game.v1 import command_pb2
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.errors import ServiceError
from services.table.domain.buckets import Rate
from tests.support.site_of_tables import UNLIMITED, Tables, open_tables, refusal, with_options


async def _who(tables: Tables, token: str) -> pb.GetSessionResponse:
    answer: pb.GetSessionResponse = await tables.client.GetSession(pb.GetSessionRequest(session_token=token))
    return answer


async def test_a_token_belongs_to_its_session_until_it_expires(store_url: str) -> None:
    tables = await open_tables(store_url, options=with_options(session_ttl_ms=10_000))
    created = await tables.client.CreateSession(pb.CreateSessionRequest(name="Оля", address="::1"))
    assert created.session.name == "Оля"
    assert created.session.expires_at_unix_ms == tables.clock.unix + 10_000
    assert (await _who(tables, created.session_token)).session == created.session
    tables.clock.unix += 10_000
    assert await refusal(_who(tables, created.session_token)) == "no_session"
    await tables.close()


async def test_renewal_rotates_the_token_and_moves_the_expiry(tables: Tables) -> None:
    old = await tables.session()
    before = (await _who(tables, old)).session
    tables.clock.unix += 5_000
    renewed = await tables.client.RenewSession(pb.RenewSessionRequest(session_token=old))
    assert renewed.session.session_id == before.session_id
    assert renewed.session.expires_at_unix_ms == before.expires_at_unix_ms + 5_000
    assert renewed.session_token != old
    assert await refusal(_who(tables, old)) == "no_session"
    assert await refusal(tables.client.RenewSession(pb.RenewSessionRequest(session_token=old))) == "no_session"
    assert (await _who(tables, renewed.session_token)).session == renewed.session


async def test_another_replica_notices_a_renewal_at_once(store_url: str) -> None:
    """But for commands, which it takes from a session that it remembers until the cache time is over."""
    one = await open_tables(store_url)
    two = await open_tables(store_url, clock=one.clock)
    old = await one.session()
    nowhere = (await _who(one, old)).session.session_id
    command = command_pb2.Command(command_id="x", roll=command_pb2.Roll())
    assert await refusal(two.submit(old, nowhere, command)) == "no_table"
    await one.client.RenewSession(pb.RenewSessionRequest(session_token=old))
    assert await refusal(two.submit(old, nowhere, command)) == "no_table"
    one.clock.unix += UNLIMITED.session_cache_ms
    assert await refusal(two.submit(old, nowhere, command)) == "no_session"
    other = await one.session()
    await _who(two, other)
    await one.client.RenewSession(pb.RenewSessionRequest(session_token=other))
    assert await refusal(_who(two, other)) == "no_session"
    await two.close()
    await one.close()


async def test_a_replica_that_remembers_a_session_takes_its_new_token_at_once(store_url: str) -> None:
    """Given a session that a replica knows from a command, when another replica renews it, then the new token holds for
    commands there as soon as it is shown, and with it the old one is over."""
    one = await open_tables(store_url)
    two = await open_tables(store_url, clock=one.clock)
    old = await one.session()
    nowhere = (await _who(one, old)).session.session_id
    command = command_pb2.Command(command_id="x", roll=command_pb2.Roll())
    assert await refusal(two.submit(old, nowhere, command)) == "no_table"
    renewed = await one.client.RenewSession(pb.RenewSessionRequest(session_token=old))
    assert await refusal(two.submit(renewed.session_token, nowhere, command)) == "no_table"
    assert await refusal(two.submit(old, nowhere, command)) == "no_session"
    await two.close()
    await one.close()


async def test_an_ended_session_is_no_session(tables: Tables) -> None:
    token = await tables.session()
    await tables.client.EndSession(pb.EndSessionRequest(session_token=token))
    assert await refusal(_who(tables, token)) == "no_session"
    assert await refusal(tables.client.EndSession(pb.EndSessionRequest(session_token=token))) == "no_session"


@pytest.mark.parametrize("name", ["", " ", "a" * 33, "a\nb", "a\x00b", "\u202eabc"])
async def test_names_that_cannot_be_shown_are_refused(tables: Tables, name: str) -> None:
    assert await refusal(tables.client.CreateSession(pb.CreateSessionRequest(name=name))) == "malformed"


async def test_one_address_opens_only_so_many_sessions(store_url: str) -> None:
    tables = await open_tables(store_url, options=with_options(sessions_per_address=Rate(burst=3, per_second=0.5)))
    for _ in range(3):
        await tables.session()
    with pytest.raises(ServiceError) as raised:
        await tables.session()
    assert (raised.value.code, raised.value.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "overloaded")
    assert 1_900 <= (raised.value.retry_after_ms or 0) <= 2_100
    other = pb.CreateSessionRequest(name="Olena", address="10.0.0.2")
    assert await refusal(tables.client.CreateSession(other)) == "done"
    await tables.close()


async def test_one_session_creates_only_so_many_tables(store_url: str) -> None:
    tables = await open_tables(store_url, options=with_options(tables_per_session=Rate(burst=1, per_second=1)))
    token = await tables.session()
    first = pb.CreateTableRequest(
        session_token=token, settings=table_pb2.TableSettings(edition="industry", seats=2), command_id="one"
    )
    table_id = (await tables.client.CreateTable(first)).table.table_id
    assert await refusal(tables.table(token)) == "overloaded"
    again = await tables.client.CreateTable(first)
    assert again.table.table_id == table_id
    await tables.close()


async def test_no_token_and_no_secret_is_stored_in_clear(tmp_path: Path) -> None:
    tables = await open_tables(f"sqlite:///{tmp_path}/t.db")
    token = await tables.session()
    secret = (await tables.table(token)).seat_secret
    await tables.close()
    with sqlite3.connect(tmp_path / "t.db") as connection:
        dump = "\n".join(connection.iterdump())
    stored = (tmp_path / "t.db").read_bytes()
    assert len(secret) >= 32
    for clear in (token, token.split(".")[1], secret):
        assert clear not in dump
        assert clear.encode() not in stored


async def test_a_seat_secret_moves_the_seat_once_and_voids_the_old_holder(tables: Tables) -> None:
    """IND-TABLE-15, IND-TABLE-16, IND-TABLE-17"""
    token = await tables.session("Old")
    created = await tables.table(token)
    table_id = created.table.table_id
    friend = await tables.session("Friend")
    await tables.client.JoinTable(pb.JoinTableRequest(session_token=friend, table_id=table_id))
    await tables.client.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))
    log = await tables.updates(table_id)
    new = await tables.session("New")

    def claim(token: str, secret: str) -> pb.ReclaimSeatRequest:
        return pb.ReclaimSeatRequest(session_token=token, table_id=table_id, seat=0, seat_secret=secret)

    assert await refusal(tables.client.ReclaimSeat(claim(new, "guess"))) == "wrong_secret"
    assert await refusal(tables.client.ReclaimSeat(claim(friend, created.seat_secret))) == "already_seated"
    taken = await tables.client.ReclaimSeat(claim(new, created.seat_secret))
    assert taken.table.seats[0].name == "New"
    assert taken.table.host_session_id == taken.table.seats[0].session_id
    assert await refusal(tables.client.ReclaimSeat(claim(new, created.seat_secret))) == "wrong_secret"
    assert await tables.updates(table_id) == log
    command = await tables.next_command(table_id, "moved")
    command.seat = 0
    assert await refusal(tables.submit(token, table_id, command)) == "not_your_seat"
    assert await refusal(tables.submit(new, table_id, command)) in ("done", "not_asked")
    back = await tables.client.ReclaimSeat(claim(token, taken.seat_secret))
    assert back.table.seats[0].name == "Old"


async def test_a_replica_learns_of_a_moved_seat_before_it_commits(store_url: str) -> None:
    one = await open_tables(store_url)
    two = await open_tables(store_url, clock=one.clock, stream=one.stream)
    token = await one.session("Old")
    created = await one.table(token)
    table_id = created.table.table_id
    other = await one.session("Other")
    await one.client.JoinTable(pb.JoinTableRequest(session_token=other, table_id=table_id))
    await one.client.StartGame(pb.StartGameRequest(session_token=token, table_id=table_id))
    await two.play(table_id, [token, other], 4)
    while (command := await two.next_command(table_id, f"turn-{len(await two.updates(table_id))}")).seat != 0:
        await two.submit(other, table_id, command)
    new = await one.session("New")
    await one.client.ReclaimSeat(
        pb.ReclaimSeatRequest(session_token=new, table_id=table_id, seat=0, seat_secret=created.seat_secret)
    )
    assert await refusal(two.submit(token, table_id, command)) == "not_your_seat"
    assert (await two.submit(new, table_id, command)).repeated is False
    await two.close()
    await one.close()
