"""Exports: whole for whoever reads them, few at a time, and none for ever."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.kit.errors import ServiceError
from tests.support.gateways import Client, Site, running_site

EXPORT = "/magnate.gateway.v1.GatewayService/ExportTable"
# More than the buffers on the way hold, also those of the operating system.
BULK, COMMANDS = 100_000, 250


@asynccontextmanager
async def _site_with_log(**settings: Any) -> AsyncIterator[tuple[Site, Client, str]]:
    """A site with a table whose log is long, and its host."""
    async with running_site(**settings) as site:
        ada = await site.client("Ada")
        table_id = await site.started_table(ada)
        site.table.padding = BULK
        await site.play(table_id, COMMANDS)
        yield site, ada, table_id


def _export(client: Client, table_id: str) -> Any:
    return client.raw.ExportTable(pb.ExportTableRequest(table_id=table_id), metadata=client.metadata)


async def _until_streams(site: Site, count: int) -> None:
    async with asyncio.timeout(10):
        while site.gateway.service.gate.open_streams != count:
            await asyncio.sleep(0.02)


async def test_a_session_has_only_so_many_exports_open() -> None:
    """Four by default, whatever the connection; others have their own, and one that ends makes room."""
    async with _site_with_log(slow_ms=60_000) as (site, ada, table_id):
        other = site.stranger()
        other.token = ada.token
        unread = [_export(client, table_id) for client in (ada, other, ada, other)]
        for export in unread:
            await export.__anext__()
        with pytest.raises(ServiceError) as refused:
            await _export(other, table_id).__anext__()
        assert (refused.value.code, refused.value.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "overloaded")
        assert refused.value.retry_after_ms == 200
        guest = await site.client("Bob")
        pieces = [piece.piece async for piece in _export(guest, table_id)]
        assert pieces == site.table.held(table_id).updates
        unread.pop().cancel()
        await _until_streams(site, 3)
        unread.append(_export(ada, table_id))
        await unread[-1].__anext__()
        for export in unread:
            export.cancel()
        await _until_streams(site, 0)
        pieces = [piece.piece async for piece in _export(ada, table_id)]
        assert pieces == site.table.held(table_id).updates


async def test_an_export_that_nobody_reads_ends() -> None:
    """Nothing of it stays, here or at the tables, and who reads on later is told that it is not whole."""
    async with _site_with_log(slow_ms=200) as (site, ada, table_id):
        unread = [_export(ada, table_id) for _ in range(4)]
        for export in unread:
            await export.__anext__()
        assert site.gateway.service.gate.open_streams == 4
        await _until_streams(site, 0)
        for export in unread:
            with pytest.raises(ServiceError) as ended:
                await _to_the_end(export)
            assert (ended.value.code, ended.value.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "slow_client")
        pieces = [piece.piece async for piece in _export(ada, table_id)]
        assert pieces == site.table.held(table_id).updates


async def _to_the_end(export: Any) -> None:
    async with asyncio.timeout(10):
        async for _ in export:
            pass


async def test_an_export_to_a_browser_that_nobody_reads_ends(caplog: pytest.LogCaptureFixture) -> None:
    """Who reads on later finds an error at the end; nothing of it is a stack in the log."""
    async with _site_with_log(slow_ms=200) as (site, ada, table_id):
        body = pb.ExportTableRequest(table_id=table_id).SerializeToString()
        head = f"POST {EXPORT} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {ada.token}\r\n"
        head += f"content-type: application/connect+proto\r\ncontent-length: {len(body) + 5}\r\n\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", site.gateway.web.port)
        writer.write(head.encode() + struct.pack(">BI", 0, len(body)) + body)
        assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200")
        assert site.gateway.service.gate.open_streams == 1
        await _until_streams(site, 0)
        got, last = 0, b""
        async with asyncio.timeout(10):
            while not last.endswith(b"0\r\n\r\n"):
                chunk = await reader.read(1 << 20)
                got, last = got + len(chunk), (last + chunk)[-200:]
        writer.close()
        assert got < BULK * COMMANDS
        assert b'"code": "canceled"' in last
    assert [record for record in caplog.records if record.exc_info] == []


async def test_an_export_may_be_read_with_pauses() -> None:
    """Each shorter than a piece may wait; all of them longer."""
    async with _site_with_log(slow_ms=600) as (site, ada, table_id):
        held, got = site.table.held(table_id), list[bytes]()
        began_s = asyncio.get_running_loop().time()
        async for piece in _export(ada, table_id):
            got.append(piece.piece)
            if len(got) % 50 == 0:
                await asyncio.sleep(0.3)
        assert asyncio.get_running_loop().time() - began_s > 1.2
        assert got == held.updates
