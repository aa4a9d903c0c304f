"""Tables before and at the start of a game, through the gateway, in both modes."""

from __future__ import annotations

from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2

from tests.support.site_clients import Guest, Visitors, refusal

NOT_HOST = ("PERMISSION_DENIED", "not_host")
STARTED = ("FAILED_PRECONDITION", "already_started")
FULL = ("FAILED_PRECONDITION", "table_full")


async def _all_pages(guest: Guest, *, size: int) -> list[str]:
    found: list[str] = []
    token = ""
    while True:
        page = await guest.ask(pb.ListTablesRequest(edition="industry", page_size=size, page_token=token))
        assert len(page.tables) <= size
        found += [table.table_id for table in page.tables]
        token = page.next_page_token
        if not token:
            return found


async def test_open_tables_are_listed_newest_first_in_pages(visitors: Visitors) -> None:
    """Each open table once, and none that is unlisted, full or begun."""
    host, guest = await visitors.guests(2)
    shown = [(await visitors.table(host)).table_id for _ in range(5)]
    hidden = (await visitors.table(host, unlisted=True)).table_id
    full = (await visitors.table(host, seats=2)).table_id
    await guest.ask(pb.JoinTableRequest(table_id=full))
    begun = (await visitors.table(host, seats=3)).table_id
    await guest.ask(pb.JoinTableRequest(table_id=begun))
    await host.ask(pb.StartGameRequest(table_id=begun))
    listed = await _all_pages(guest, size=2)
    assert len(listed) == len(set(listed))
    assert [table_id for table_id in listed if table_id in shown] == shown[::-1]
    assert not {hidden, full, begun} & set(listed)
    assert (await guest.ask(pb.ListTablesRequest(edition="no-such", page_size=100))).tables == []
    for token in ("garbage", "AAAA"):
        request = pb.ListTablesRequest(page_token=token)
        assert await refusal(guest.ask(request)) == ("INVALID_ARGUMENT", "malformed")


async def test_my_tables_are_those_where_i_sit(visitors: Visitors) -> None:
    """Unlisted and begun ones too, newest first, in pages; nobody else's."""
    host, guest = await visitors.guests(2)
    own = [(await visitors.table(host, unlisted=number == 1)).table_id for number in range(3)]
    other = (await visitors.table(guest)).table_id
    await guest.ask(pb.JoinTableRequest(table_id=own[0]))
    await host.ask(pb.StartGameRequest(table_id=own[0]))
    first = await host.ask(pb.ListMyTablesRequest(page_size=2))
    rest = await host.ask(pb.ListMyTablesRequest(page_size=2, page_token=first.next_page_token))
    assert [table.table_id for page in (first, rest) for table in page.tables] == own[::-1]
    assert rest.next_page_token == ""
    mine = await guest.ask(pb.ListMyTablesRequest())
    assert [table.table_id for table in mine.tables] == [other, own[0]]


async def test_a_table_is_described_as_it_is(visitors: Visitors) -> None:
    """Settings, seats, host and the hash of the seed; the own seat only for who has one."""
    host, guest, stranger = await visitors.guests(3)
    table = await visitors.table(host, seats=3, spectators=False)
    joined = await guest.ask(pb.JoinTableRequest(table_id=table.table_id, nonce="0aff"))
    assert joined.seat == 1
    described = await guest.ask(pb.DescribeTableRequest(table_id=table.table_id))
    assert described.own_seat == 1
    assert described.table.status == table_pb2.TABLE_STATUS_LOBBY
    assert (described.table.settings.seats, described.table.settings.edition_version) == (3, 1)
    assert [seat.session_id for seat in described.table.seats] == [host.session.session_id, guest.session.session_id]
    assert described.table.host_session_id == host.session.session_id
    assert len(bytes.fromhex(described.table.seed_hash)) == 32
    assert described.table.last_seq == 0
    assert not (await stranger.ask(pb.DescribeTableRequest(table_id=table.table_id))).HasField("own_seat")
    absent = pb.DescribeTableRequest(table_id="no-such-table")
    assert await refusal(stranger.ask(absent)) == ("NOT_FOUND", "no_table")


async def test_joining_and_leaving(visitors: Visitors) -> None:
    """One seat each, as many as there are; a seat given up is free; watchers hear of it."""
    host, second, third = await visitors.guests(3)
    table_id = (await visitors.table(host, seats=2)).table_id
    async with third.watching(table_id) as watcher:
        assert len((await watcher.table()).seats) == 1
        await second.ask(pb.JoinTableRequest(table_id=table_id))
        assert len((await watcher.table()).seats) == 2
        assert await refusal(third.ask(pb.JoinTableRequest(table_id=table_id))) == FULL
        again = ("FAILED_PRECONDITION", "already_seated")
        assert await refusal(second.ask(pb.JoinTableRequest(table_id=table_id))) == again
        await second.ask(pb.LeaveTableRequest(table_id=table_id))
        assert len((await watcher.table()).seats) == 1
    foreign = ("PERMISSION_DENIED", "not_your_seat")
    assert await refusal(second.ask(pb.LeaveTableRequest(table_id=table_id))) == foreign
    assert (await third.ask(pb.JoinTableRequest(table_id=table_id))).seat == 1


async def test_only_the_host_starts_and_the_right_is_handed_over(visitors: Visitors) -> None:
    """Who has sat there longest inherits the right; a game needs two seats and is started once."""
    host, heir, last = await visitors.guests(3)
    table_id = (await visitors.table(host)).table_id
    start = pb.StartGameRequest(table_id=table_id)
    assert await refusal(host.ask(start)) == ("FAILED_PRECONDITION", "too_few_seats")
    await heir.ask(pb.JoinTableRequest(table_id=table_id))
    await last.ask(pb.JoinTableRequest(table_id=table_id))
    assert await refusal(heir.ask(start)) == NOT_HOST
    left = await host.ask(pb.LeaveTableRequest(table_id=table_id))
    assert left.table.host_session_id == heir.session.session_id
    for stranger in (host, last):
        assert await refusal(stranger.ask(start)) == NOT_HOST
    started = await heir.ask(start)
    assert started.table.status == table_pb2.TABLE_STATUS_RUNNING
    assert [seat.session_id for seat in started.table.seats] == [heir.session.session_id, last.session.session_id]
    assert started.seq > 0
    assert await refusal(heir.ask(start)) == STARTED
    assert await refusal(host.ask(pb.JoinTableRequest(table_id=table_id))) == STARTED
    assert await refusal(last.ask(pb.LeaveTableRequest(table_id=table_id))) == STARTED
    assert await refusal(heir.ask(pb.AddBotsRequest(table_id=table_id, count=1))) == STARTED


async def test_bots_are_seated_by_the_host_of_a_solo_table(visitors: Visitors) -> None:
    """One person against bots; no bots beside two people, no people beside bots, none of an unknown level."""
    host, guest = await visitors.guests(2)
    table_id = (await visitors.table(host, seats=4)).table_id
    assert await refusal(guest.ask(pb.AddBotsRequest(table_id=table_id, count=1))) == NOT_HOST
    await guest.ask(pb.JoinTableRequest(table_id=table_id))
    both = pb.AddBotsRequest(table_id=table_id, count=1)
    assert await refusal(host.ask(both)) == ("FAILED_PRECONDITION", "no_bots")
    await guest.ask(pb.LeaveTableRequest(table_id=table_id))
    assert await refusal(host.ask(pb.AddBotsRequest(table_id=table_id, count=4))) == FULL
    seated = await host.ask(pb.AddBotsRequest(table_id=table_id, count=2))
    assert [bool(seat.bot_level) for seat in seated.table.seats] == [False, True, True]
    assert await refusal(guest.ask(pb.JoinTableRequest(table_id=table_id))) == FULL
    assert (await host.ask(pb.StartGameRequest(table_id=table_id))).table.status == table_pb2.TABLE_STATUS_RUNNING


async def test_a_table_is_created_once_for_one_id(visitors: Visitors) -> None:
    """A repeat gets the first table again, and a new secret in place of the first; the same id with another wish is
    refused."""
    host = await visitors.guest()
    settings = table_pb2.TableSettings(edition="industry", seats=3)
    request = pb.CreateTableRequest(settings=settings, command_id="create-once")
    first, again = await host.ask(request), await host.ask(request)
    assert first.table.table_id == again.table.table_id
    heir, seat = await visitors.guest("Heir"), {"table_id": first.table.table_id, "seat": 0}
    used_up = pb.ReclaimSeatRequest(**seat, seat_secret=first.seat_secret)
    assert await refusal(heir.ask(used_up)) == ("PERMISSION_DENIED", "wrong_secret")
    await heir.ask(pb.ReclaimSeatRequest(**seat, seat_secret=again.seat_secret))
    assert (await host.ask(request)).seat_secret == ""
    request.settings.seats = 4
    assert await refusal(host.ask(request)) == ("ALREADY_EXISTS", "command_id_reused")
    request.settings.edition = "no-such"
    request.command_id = "another"
    assert await refusal(host.ask(request)) == ("NOT_FOUND", "no_edition")


async def test_spectators_only_where_the_creator_allows_them(visitors: Visitors) -> None:
    """Else a stranger's watch of the table ends, and he gets no log; those who sit there see everything."""
    closed, open_ = await visitors.people(2, spectators=False), await visitors.people(2, spectators=True)
    stranger = await visitors.guest()
    async with stranger.watching(closed.table_id) as watcher:
        ended = await watcher.ended()
        assert (ended.table_id, ended.reason) == (closed.table_id, "no_spectators")
    assert await refusal(stranger.export(closed.table_id)) == ("PERMISSION_DENIED", "no_spectators")
    for guest in closed.guests:
        assert len(await guest.log(closed.table_id)) == 1
    assert await stranger.log(open_.table_id) == await open_.guests[0].log(open_.table_id)
    assert (await stranger.export(open_.table_id)).count(b"\n") == 2


async def test_a_seat_is_taken_over_with_its_secret_once(visitors: Visitors) -> None:
    """The new session plays, the old one does not any more; a used secret opens nothing."""
    people = await visitors.people(2)
    heir = await visitors.guest("Heir")
    decision = await people.decision()
    seat = decision.seats[0]
    before = people.guests[seat]
    secret = before.secrets[-1]
    request = pb.ReclaimSeatRequest(table_id=people.table_id, seat=seat, seat_secret=secret)
    wrong = pb.ReclaimSeatRequest(table_id=people.table_id, seat=seat, seat_secret="x" * 43)
    assert await refusal(heir.ask(wrong)) == ("PERMISSION_DENIED", "wrong_secret")
    await heir.ask(request)
    for guest in (heir, before):
        assert await refusal(guest.ask(request)) == ("PERMISSION_DENIED", "wrong_secret")
    command = people.command(decision)
    assert await refusal(people.submit(command)) == ("PERMISSION_DENIED", "not_your_seat")
    assert not (await people.submit(command, guest=heir)).repeated
