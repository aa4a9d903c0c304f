"""The lobby: creating, joining, leaving, bots, the host's right, the start, lists, presence and expiry."""

from __future__ import annotations

import asyncio
import hashlib
import json
from typing import Any

import grpc
import pytest
from magnate.game.v1 import event_pb2
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.errors import ServiceError
from services.rules.editions.loader import EDITIONS, load_catalogue
from services.table.domain.table import MOST_OVERRIDE_CHARS
from tests.support.site_of_tables import SEED, Tables, open_tables, refusal, with_options


async def _join(tables: Tables, name: str, table_id: str) -> str:
    token = await tables.session(name)
    await tables.client.JoinTable(pb.JoinTableRequest(session_token=token, table_id=table_id))
    return token


async def _describe(tables: Tables, table_id: str) -> table_pb2.Table:
    answer = await tables.client.DescribeTable(pb.DescribeTableRequest(table_id=table_id))
    table: table_pb2.Table = answer.table
    return table


def _names(table: table_pb2.Table) -> list[str]:
    return [seat.name for seat in table.seats]


async def test_the_creator_sits_first_and_is_host(tables: Tables) -> None:
    token = await tables.session("Olena")
    created = await tables.table(token, seats=3, spectators=True)
    table = created.table
    assert table.status == table_pb2.TABLE_STATUS_LOBBY
    assert _names(table) == ["Olena"]
    assert table.seats[0].session_id == table.host_session_id
    assert table.seats[0].kind == event_pb2.SEAT_KIND_PERSON
    assert (table.settings.seats, table.settings.spectators, table.settings.edition_version) == (3, True, 1)
    assert (table.last_seq, len(table.seed_hash)) == (0, 64)
    described = await tables.client.DescribeTable(pb.DescribeTableRequest(session_token=token, table_id=table.table_id))
    assert (described.table, described.own_seat) == (table, 0)


def _creation(token: str, **wishes: Any) -> pb.CreateTableRequest:
    settings = table_pb2.TableSettings(edition="industry", seats=4)
    return pb.CreateTableRequest(session_token=token, settings=settings, command_id="mine", **wishes)


async def _opens(tables: Tables, table_id: str, secret: str) -> str:
    """Whether a stranger gets the first seat by this secret."""
    heir = await tables.session("Heir")
    request = pb.ReclaimSeatRequest(session_token=heir, table_id=table_id, seat=0, seat_secret=secret)
    return await refusal(tables.client.ReclaimSeat(request))


def _held_after(tables: Tables, call: str) -> tuple[asyncio.Event, asyncio.Event]:
    """The replica stands still once between this call of its store and what it does next: whether it does, and what
    lets it go on."""
    reached, leave = asyncio.Event(), asyncio.Event()
    real = getattr(tables.store, call)

    async def held(*arguments: Any) -> Any:
        answer = await real(*arguments)
        setattr(tables.store, call, real)
        reached.set()
        await leave.wait()
        return answer

    setattr(tables.store, call, held)
    return reached, leave


async def test_a_repeated_creation_gives_the_same_table_and_another_body_is_refused(tables: Tables) -> None:
    token = await tables.session()
    request = _creation(token)
    first = await tables.client.CreateTable(request)
    again = await tables.client.CreateTable(request)
    assert again.table.lobby_version == first.table.lobby_version + 1
    again.table.lobby_version = first.table.lobby_version
    assert again.table == first.table
    request.settings.seats = 5
    assert await refusal(tables.client.CreateTable(request)) == "command_id_reused"
    other = await tables.session()
    request.session_token = other
    assert (await tables.client.CreateTable(request)).table.table_id != first.table.table_id


async def test_a_repeated_creation_gives_a_secret_that_opens_the_seat_once(store_url: str) -> None:
    """The replica that made the table is gone before anybody has its answer."""
    gone = await open_tables(store_url)
    token = await gone.session()
    lost = await gone.client.CreateTable(_creation(token))
    await gone.close()
    tables = await open_tables(store_url)
    again = await tables.client.CreateTable(_creation(token))
    table_id = again.table.table_id
    assert (table_id, len(again.seat_secret)) == (lost.table.table_id, len(lost.seat_secret))
    assert await _opens(tables, table_id, lost.seat_secret) == "wrong_secret"
    assert await _opens(tables, table_id, again.seat_secret) == "done"
    assert await _opens(tables, table_id, again.seat_secret) == "wrong_secret"
    await tables.close()


async def test_a_repeated_creation_gives_no_secret_of_what_is_not_the_creators_any_more(tables: Tables) -> None:
    """His seat is another session's, he has left it, the game has begun, or he never had one."""
    token = await tables.session()
    created = await tables.client.CreateTable(_creation(token))
    assert await _opens(tables, created.table.table_id, created.seat_secret) == "done"
    assert (await tables.client.CreateTable(_creation(token))).seat_secret == ""

    token = await tables.session()
    table_id = (await tables.client.CreateTable(_creation(token))).table.table_id
    await _join(tables, "B", table_id)
    await tables.client.LeaveTable(pb.LeaveTableRequest(session_token=token, table_id=table_id))
    assert (await tables.client.CreateTable(_creation(token))).seat_secret == ""

    token = await tables.session()
    created = await tables.client.CreateTable(_creation(token))
    await _join(tables, "B", created.table.table_id)
    await tables.client.StartGame(pb.StartGameRequest(session_token=token, table_id=created.table.table_id))
    again = await tables.client.CreateTable(_creation(token))
    assert (again.table.status, again.seat_secret) == (table_pb2.TABLE_STATUS_RUNNING, "")
    assert await _opens(tables, created.table.table_id, created.seat_secret) == "done"

    watcher = _creation(await tables.session(), spectate=True)
    for _ in range(2):
        assert (await tables.client.CreateTable(watcher)).seat_secret == ""


async def test_of_repeats_that_meet_only_one_gives_a_secret(store_url: str) -> None:
    """One has looked and not stored yet when another one is answered: it does not take that answer's worth away."""
    one, other = await open_tables(store_url), await open_tables(store_url)
    token = await one.session()
    table_id = (await one.client.CreateTable(_creation(token))).table.table_id
    reached, leave = _held_after(one, "load_table")
    late = asyncio.create_task(refusal(one.client.CreateTable(_creation(token))))
    await reached.wait()
    answered = await other.client.CreateTable(_creation(token))
    leave.set()
    assert await late == "version_race"
    assert await _opens(other, table_id, answered.seat_secret) == "done"
    await one.close()
    await other.close()


async def test_a_creation_that_meets_its_repeat_leaves_the_secret_as_it_is(store_url: str) -> None:
    """Both have found no table, and one is quicker."""
    one, other = await open_tables(store_url), await open_tables(store_url)
    token = await one.session()
    reached, leave = _held_after(one, "load_table")
    late = asyncio.create_task(refusal(one.client.CreateTable(_creation(token))))
    await reached.wait()
    answered = await other.client.CreateTable(_creation(token))
    leave.set()
    assert await late == "version_race"
    assert await _opens(other, answered.table.table_id, answered.seat_secret) == "done"
    await one.close()
    await other.close()


async def test_a_repeat_is_tried_again_when_something_else_of_the_table_changes(store_url: str) -> None:
    one, other = await open_tables(store_url), await open_tables(store_url)
    token = await one.session()
    table_id = (await one.client.CreateTable(_creation(token))).table.table_id
    reached, leave = _held_after(one, "load_table")
    repeat = asyncio.create_task(one.client.CreateTable(_creation(token)))
    await reached.wait()
    await _join(other, "B", table_id)
    leave.set()
    again = await repeat
    assert _names(again.table) == ["Olena", "B"]
    assert await _opens(other, table_id, again.seat_secret) == "done"
    await one.close()
    await other.close()


async def test_of_many_repeats_at_once_the_newest_answer_opens_the_seat(store_url: str) -> None:
    replicas = [await open_tables(store_url) for _ in range(3)]
    token = await replicas[0].session()
    tries = [replica.client.CreateTable(_creation(token)) for replica in replicas for _ in range(5)]
    answers = await asyncio.gather(*tries, return_exceptions=True)
    refused = [answer.reason for answer in answers if isinstance(answer, ServiceError)]
    given = [answer for answer in answers if isinstance(answer, pb.CreateTableResponse)]
    assert len(refused) + len(given) == len(tries)
    # Two that write their first row at the same moment: Postgres breaks one off.
    assert set(refused) <= {"version_race", "unreachable"}
    given.sort(key=lambda answer: answer.table.lobby_version)
    assert [bool(answer.seat_secret) for answer in given] == [True] * len(given)
    for answer in given[:-1]:
        assert await _opens(replicas[0], answer.table.table_id, answer.seat_secret) == "wrong_secret"
    assert await _opens(replicas[0], given[-1].table.table_id, given[-1].seat_secret) == "done"
    for replica in replicas:
        await replica.close()


@pytest.mark.parametrize(
    ("wishes", "reason"),
    [
        ({"edition": "chess", "seats": 4}, "no_edition"),
        ({"edition": "industry", "edition_version": 99, "seats": 4}, "no_edition"),
        ({"edition": "industry", "seats": 7}, "bad_choice"),
        ({"edition": "industry", "seats": 1}, "malformed"),
        ({"edition": "in dustry", "seats": 4}, "malformed"),
    ],
)
async def test_wishes_that_the_edition_does_not_allow_are_refused(
    tables: Tables, wishes: dict[str, object], reason: str
) -> None:
    request = pb.CreateTableRequest(
        session_token=await tables.session(),
        settings=table_pb2.TableSettings(**wishes),  # type: ignore[arg-type]
        command_id="c",
    )
    assert await refusal(tables.client.CreateTable(request)) == reason


async def test_an_override_that_the_edition_does_not_know_is_refused_at_once(tables: Tables) -> None:
    override = event_pb2.Override(parameter="no_such_parameter", value="1")
    token = await tables.session()
    assert await refusal(tables.table(token, overrides=[override])) == "override_out_of_range"


async def _custom(tables: Tables, parameter: str, value: str) -> pb.CreateTableResponse:
    override = event_pb2.Override(parameter=parameter, value=value)
    settings = table_pb2.TableSettings(edition="brands", seats=4, overrides=[override])
    request = pb.CreateTableRequest(
        session_token=await tables.session(), settings=settings, command_id=f"{parameter[:20]}.{len(value)}"
    )
    answer: pb.CreateTableResponse = await tables.client.CreateTable(request)
    return answer


@pytest.mark.parametrize(
    ("parameter", "value", "field"),
    [
        ("start_cash", " " * 61 + "5000", "value"),
        ("start_cash", " " * 64_000 + "5000", "value"),
        ("start_cash", "[" * 2_000, "value"),
        ("s" * 65, "5000", "parameter"),
    ],
)
async def test_an_override_with_a_long_text_is_refused(tables: Tables, parameter: str, value: str, field: str) -> None:
    with pytest.raises(ServiceError) as refused:
        await _custom(tables, parameter, value)
    assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "malformed")
    assert dict(refused.value.metadata) == {"field": f"settings.overrides[0].{field}"}
    assert len(refused.value.message) < 100


async def test_an_override_may_be_as_long_as_the_limit(tables: Tables) -> None:
    table = (await _custom(tables, "start_cash", " " * 60 + "5000")).table
    assert [override.value.strip() for override in table.settings.overrides] == ["5000"]


def test_what_an_edition_lets_tables_change_has_room_in_an_override() -> None:
    """With half of it to spare."""
    editions = load_catalogue(EDITIONS).newest()
    allowed = [override for edition in editions for override in edition.overrides]
    assert {override.parameter for override in allowed} >= {"start_cash", "auction_style", "rent_claim"}
    for override in allowed:
        values = [override.least, override.most, *override.choices]
        assert max(len(override.parameter), *(len(json.dumps(value)) for value in values)) <= MOST_OVERRIDE_CHARS / 2


async def test_a_fixed_seed_needs_the_servers_leave(store_url: str) -> None:
    tables = await open_tables(store_url)
    request = pb.CreateTableRequest(
        session_token=await tables.session(),
        settings=table_pb2.TableSettings(edition="industry", seats=2),
        fixed_seed=SEED,
        command_id="seeded",
    )
    assert await refusal(tables.client.CreateTable(request)) == "not_allowed"
    await tables.close()
    tables = await open_tables(store_url, options=with_options(allow_fixed_seed=True))
    table = (await tables.client.CreateTable(request)).table
    assert table.seed_hash == hashlib.sha256(bytes.fromhex(SEED)).hexdigest()
    request.fixed_seed, request.command_id = "abc", "short"
    assert await refusal(tables.client.CreateTable(request)) == "malformed"
    await tables.close()


async def test_seats_fill_in_order_and_one_session_holds_one(tables: Tables) -> None:
    """IND-TABLE-02, IND-TABLE-12, IND-TABLE-15"""
    host = await tables.session("A")
    table_id = (await tables.table(host, seats=2)).table.table_id
    assert await refusal(_join(tables, "B", table_id)) == "done"
    request = pb.JoinTableRequest(session_token=host, table_id=table_id)
    assert await refusal(tables.client.JoinTable(request)) == "already_seated"
    assert await refusal(_join(tables, "C", table_id)) == "table_full"
    assert await refusal(_join(tables, "D", "nowhere")) == "no_table"
    assert _names(await _describe(tables, table_id)) == ["A", "B"]


async def test_the_host_launches_from_the_second_seat_on_and_nobody_else(tables: Tables) -> None:
    """IND-TABLE-03, IND-TABLE-12"""
    host = await tables.session("A")
    table_id = (await tables.table(host)).table.table_id
    start = pb.StartGameRequest(session_token=host, table_id=table_id)
    assert await refusal(tables.client.StartGame(start)) == "too_few_seats"
    other = await _join(tables, "B", table_id)
    by_other = pb.StartGameRequest(session_token=other, table_id=table_id)
    assert await refusal(tables.client.StartGame(by_other)) == "not_host"
    started = await tables.client.StartGame(start)
    assert started.table.status == table_pb2.TABLE_STATUS_RUNNING
    assert (started.seq, started.table.last_seq) == (started.seq, started.seq)
    updates = await tables.updates(table_id)
    assert (updates[0].first_seq, updates[0].last_seq) == (1, started.seq)
    assert updates[0].events[0].game_started.seed_hash == started.table.seed_hash
    assert await refusal(tables.client.StartGame(start)) == "already_started"
    assert await refusal(_join(tables, "C", table_id)) == "already_started"
    leave = pb.LeaveTableRequest(session_token=other, table_id=table_id)
    assert await refusal(tables.client.LeaveTable(leave)) == "already_started"
    add = pb.AddBotsRequest(session_token=host, table_id=table_id, count=1)
    assert await refusal(tables.client.AddBots(add)) == "already_started"


async def test_when_the_host_leaves_the_right_goes_to_the_longest_seated(tables: Tables) -> None:
    """IND-TABLE-04, IND-TABLE-13"""
    host = await tables.session("A")
    table_id = (await tables.table(host)).table.table_id
    second, third = [await _join(tables, name, table_id) for name in ("B", "C")]
    left = await tables.client.LeaveTable(pb.LeaveTableRequest(session_token=host, table_id=table_id))
    assert _names(left.table) == ["B", "C"]
    assert left.table.host_session_id == left.table.seats[0].session_id
    again = pb.LeaveTableRequest(session_token=host, table_id=table_id)
    assert await refusal(tables.client.LeaveTable(again)) == "not_your_seat"
    started = await tables.client.StartGame(pb.StartGameRequest(session_token=second, table_id=table_id))
    assert [seat.seat for seat in started.table.seats] == [0, 1]
    command = await tables.next_command(table_id, "first")
    assert await refusal(tables.submit([second, third][command.seat], table_id, command)) == "done"


async def test_a_table_that_everybody_left_is_gone(tables: Tables) -> None:
    host = await tables.session("A")
    table_id = (await tables.table(host)).table.table_id
    left = await tables.client.LeaveTable(pb.LeaveTableRequest(session_token=host, table_id=table_id))
    assert left.table.status == table_pb2.TABLE_STATUS_EXPIRED
    assert await refusal(_join(tables, "B", table_id)) == "no_table"


async def test_bots_sit_where_the_edition_lets_them(tables: Tables) -> None:
    """IND-TABLE-02, IND-SETUP-10: people alone, one person with bots, or bots alone."""
    host = await tables.session("A")
    table_id = (await tables.table(host, seats=3)).table.table_id
    guest = await _join(tables, "B", table_id)
    add = pb.AddBotsRequest(session_token=host, table_id=table_id, count=1, level="hard")
    assert await refusal(tables.client.AddBots(add)) == "no_bots"
    await tables.client.LeaveTable(pb.LeaveTableRequest(session_token=guest, table_id=table_id))
    by_guest = pb.AddBotsRequest(session_token=guest, table_id=table_id, count=1)
    assert await refusal(tables.client.AddBots(by_guest)) == "not_host"
    add.count = 3
    assert await refusal(tables.client.AddBots(add)) == "table_full"
    add.count = 2
    table = (await tables.client.AddBots(add)).table
    assert [(seat.name, seat.bot_level) for seat in table.seats] == [("A", ""), ("Bot 1", "hard"), ("Bot 2", "hard")]
    assert await refusal(_join(tables, "C", table_id)) == "table_full"
    await tables.client.StartGame(pb.StartGameRequest(session_token=host, table_id=table_id))
    assert (await tables.last(table_id)).events[0].game_started.seating == event_pb2.SEATING_SOLO


async def test_a_host_may_watch_bots_play_without_a_seat(tables: Tables) -> None:
    table_id, token = await tables.running_bots(4)
    table = await _describe(tables, table_id)
    assert [seat.bot_level for seat in table.seats] == ["normal"] * 4
    assert (await tables.last(table_id)).events[0].game_started.seating == event_pb2.SEATING_BOTS
    command = await tables.next_command(table_id, "host")
    assert await refusal(tables.submit(token, table_id, command)) == "not_your_seat"
    assert await refusal(tables.submit("", table_id, command)) == "done"


async def test_nonces_of_the_seats_go_into_the_game(tables: Tables) -> None:
    host, guest = await tables.session("A"), await tables.session("B")
    created = await tables.client.CreateTable(
        pb.CreateTableRequest(
            session_token=host,
            settings=table_pb2.TableSettings(edition="industry", seats=2),
            nonce="aa11",
            command_id="n",
        )
    )
    join = pb.JoinTableRequest(session_token=guest, table_id=created.table.table_id, nonce="bb22")
    await tables.client.JoinTable(join)
    await tables.client.StartGame(pb.StartGameRequest(session_token=host, table_id=created.table.table_id))
    started = (await tables.last(created.table.table_id)).events[0].game_started
    assert [seat.nonce for seat in started.seats] == ["aa11", "bb22"]


async def test_open_tables_are_listed_newest_first_page_by_page(tables: Tables) -> None:
    token = await tables.session()
    made = []
    for _ in range(7):
        tables.clock.unix += 1
        made.append((await tables.table(token)).table.table_id)
    await tables.table(token, unlisted=True)
    full = (await tables.table(token, seats=2)).table.table_id
    await _join(tables, "B", full)
    found: list[str] = []
    page_token, pages = "", 0
    while True:
        answer = await tables.client.ListTables(
            pb.ListTablesRequest(session_token=token, edition="industry", page_size=3, page_token=page_token)
        )
        found += [table.table_id for table in answer.tables]
        pages, page_token = pages + 1, answer.next_page_token
        if not page_token:
            break
    assert (found, pages) == (made[::-1], 3)
    nothing = await tables.client.ListTables(pb.ListTablesRequest(session_token=token, edition="metro"))
    assert list(nothing.tables) == []
    assert await refusal(tables.client.ListTables(pb.ListTablesRequest(session_token="x.y"))) == "no_session"


async def test_my_tables_are_those_where_i_sit(tables: Tables) -> None:
    host, guest = await tables.session("A"), await tables.session("B")
    table_ids = []
    for _ in range(3):
        tables.clock.unix += 1
        table_ids.append((await tables.table(host)).table.table_id)
    await tables.client.JoinTable(pb.JoinTableRequest(session_token=guest, table_id=table_ids[1]))
    mine = await tables.client.ListMyTables(pb.ListMyTablesRequest(session_token=guest))
    assert [table.table_id for table in mine.tables] == [table_ids[1]]
    first = await tables.client.ListMyTables(pb.ListMyTablesRequest(session_token=host, page_size=2))
    rest = await tables.client.ListMyTables(
        pb.ListMyTablesRequest(session_token=host, page_size=2, page_token=first.next_page_token)
    )
    assert [table.table_id for table in (*first.tables, *rest.tables)] == table_ids[::-1]
    assert rest.next_page_token == ""
    # A token of one list does not open another.
    other = pb.ListTablesRequest(session_token=host, page_token=first.next_page_token)
    assert await refusal(tables.client.ListTables(other)) == "malformed"


@pytest.mark.parametrize("page_token", ["x", "AAAA", "Ж", "AAAAAFsib3BlbiIsMSwieCJd", "=" * 20])
async def test_page_tokens_that_were_not_given_out_are_refused(tables: Tables, page_token: str) -> None:
    token = await tables.session()
    request = pb.ListTablesRequest(session_token=token, page_token=page_token)
    assert await refusal(tables.client.ListTables(request)) == "malformed"
    assert await refusal(tables.client.ListDeadlines(pb.ListDeadlinesRequest(page_token=page_token))) == "malformed"


async def test_who_vanishes_before_the_start_loses_his_seat_and_the_host_his_right(store_url: str) -> None:
    """IND-TABLE-04, IND-TABLE-13: 60 seconds without a live connection."""
    tables = await open_tables(store_url)
    await tables.listen()
    host = await tables.session("A")
    table_id = (await tables.table(host)).table.table_id
    await _join(tables, "B", table_id)
    guest_id = (await _describe(tables, table_id)).seats[1].session_id

    async def touch(session_id: str) -> None:
        watched = pb.TouchPresenceRequest.Watched(table_id=table_id, session_ids=[session_id, "nobody", "Ж"])
        await tables.client.TouchPresence(pb.TouchPresenceRequest(watched=[watched]))

    for _ in range(3):
        tables.clock.pass_ms(20_000)
        await touch(guest_id)
        await tables.application.sweeper.sweep()
    before = await _describe(tables, table_id)
    assert [(seat.name, seat.present) for seat in before.seats] == [("A", False), ("B", True)]
    tables.clock.pass_ms(1)
    await tables.application.sweeper.sweep()
    after = await _describe(tables, table_id)
    assert _names(after) == ["B"]
    assert after.host_session_id == guest_id
    assert after.lobby_version > before.lobby_version
    await tables.settle()
    told = [message.table for message in tables.heard if message.HasField("table")]
    assert told[-1] == after
    await tables.close()


async def test_presence_comes_back_with_a_connection(tables: Tables) -> None:
    table_id, _ = await tables.running()
    tables.clock.pass_ms(30_000)
    await tables.application.sweeper.sweep()
    absent = await _describe(tables, table_id)
    assert [seat.present for seat in absent.seats] == [False, False]
    watched = pb.TouchPresenceRequest.Watched(table_id=table_id, session_ids=[absent.seats[1].session_id])
    await tables.client.TouchPresence(pb.TouchPresenceRequest(watched=[watched]))
    assert [seat.present for seat in (await _describe(tables, table_id)).seats] == [False, True]


async def test_a_running_game_keeps_its_absent_players(tables: Tables) -> None:
    """IND-TABLE-14"""
    table_id, _ = await tables.running()
    tables.clock.pass_ms(10 * 3_600_000)
    await tables.application.sweeper.sweep()
    assert len((await _describe(tables, table_id)).seats) == 2


async def test_a_table_that_nobody_joined_expires(tables: Tables) -> None:
    host = await tables.session("A")
    table_id = (await tables.table(host)).table.table_id
    session_id = (await _describe(tables, table_id)).host_session_id
    tables.clock.unix += 30 * 60_000 + 1
    watched = pb.TouchPresenceRequest.Watched(table_id=table_id, session_ids=[session_id])
    await tables.client.TouchPresence(pb.TouchPresenceRequest(watched=[watched]))
    await tables.application.sweeper.sweep()
    assert (await _describe(tables, table_id)).status == table_pb2.TABLE_STATUS_EXPIRED
