"""Guest sessions, through the gateway, in both modes."""

from __future__ import annotations

import asyncio
import time

from magnate.gateway.v1 import gateway_service_pb2 as pb

from tests.support.site_clients import Visitors, refusal
from tests.support.sites import LiveSite

NO_SESSION = ("UNAUTHENTICATED", "no_session")


async def test_without_a_session_there_is_nothing_but_facts(visitors: Visitors) -> None:
    """Facts and editions are for everybody; every other call wants a token that is known."""
    stranger = visitors.stranger()
    info = await stranger.ask(pb.GetServerInfoRequest())
    assert info.contract_version == "1.0"
    assert "industry" in [edition.edition for edition in info.editions]
    assert "normal" in info.bot_levels
    board = (await stranger.ask(pb.DescribeEditionRequest(edition="industry"))).edition
    assert len(board.cells) == 40
    for token in ("", "x", "x" * 4_000, "1.2.3"):
        stranger.token = token
        assert await refusal(stranger.ask(pb.ListTablesRequest())) == NO_SESSION
        assert await refusal(stranger.ask(pb.RenewSessionRequest())) == NO_SESSION


async def test_a_renewed_session_has_a_new_token_and_the_old_one_is_void(visitors: Visitors) -> None:
    """Renewing uses the token up; a replay of it is refused, also for renewing once more, and harms nobody."""
    guest = await visitors.guest("Ada")
    table = await visitors.table(guest)
    old, session = guest.token, guest.session
    answer = await guest.ask(pb.RenewSessionRequest())
    assert answer.session_token != old
    assert (answer.session.session_id, answer.session.name) == (session.session_id, "Ada")
    assert answer.session.expires_at_unix_ms >= session.expires_at_unix_ms
    for request in (pb.ListMyTablesRequest(), pb.RenewSessionRequest(), pb.EndSessionRequest()):
        assert await refusal(guest.ask(request)) == NO_SESSION
    guest.token = answer.session_token
    assert [own.table_id for own in (await guest.ask(pb.ListMyTablesRequest())).tables] == [table.table_id]


async def test_an_ended_session_is_gone(visitors: Visitors) -> None:
    """Its token opens nothing any more, and its watch ends with the reason."""
    guest, other = await visitors.guests(2)
    table = await visitors.table(guest)
    async with guest.watching(table.table_id) as watcher:
        await watcher.table()
        await guest.ask(pb.EndSessionRequest())
        assert (await watcher.ended()).reason == "no_session"
    assert await refusal(guest.ask(pb.ListMyTablesRequest())) == NO_SESSION
    assert await refusal(guest.ask(pb.EndSessionRequest())) == NO_SESSION
    assert (await other.ask(pb.ListMyTablesRequest())).tables == []


async def test_a_session_expires_unless_renewed(site: LiveSite, visitors: Visitors) -> None:
    """After the time of the setting the token is void; one that was renewed in time lives on."""
    async with site.changed("table", MAGNATE_SESSION_TTL_MS="1500"):
        late, kept = await visitors.guests(2)
        left_ms = late.session.expires_at_unix_ms - time.time() * 1000
        assert 0 < left_ms <= 1_500
        await asyncio.sleep(0.9)
        kept.token = (await kept.ask(pb.RenewSessionRequest())).session_token
        await asyncio.sleep(0.8)
        assert await refusal(late.ask(pb.ListMyTablesRequest())) == NO_SESSION
        assert await refusal(late.ask(pb.RenewSessionRequest())) == NO_SESSION
        assert await refusal(kept.ask(pb.ListMyTablesRequest())) == ("OK", "")
