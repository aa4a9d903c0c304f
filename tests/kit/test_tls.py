"""TLS between services: who has the right certificate is served, everybody else is not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from gateway.settings import GatewaySettings
from services.clock.settings import ClockSettings
from services.kit.calls import Call, RemoteClient, TlsFiles, open_channel
from services.kit.errors import ServiceError
from services.kit.server import Service, ServiceSettings
from services.kit.settings import SettingsError
from tests.support.certificates import Authority
from tests.support.echo import ECHO, EchoRequest, EchoResponse, text_of
from tests.support.servers import free_port

AWAY = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


class WhoHandler:
    """Answers with the names of the caller's certificate."""

    async def Once(self, request: Any, call: Call) -> Any:
        return EchoResponse(text=f"{sorted(call.names) if call.names is not None else None} {call.operator}".strip())

    async def Many(self, request: Any, call: Call) -> AsyncIterator[Any]:
        yield await self.Once(request, call)
        await call.draining.wait()

    async def Join(self, request: Any, call: Call) -> Any:
        return EchoResponse()

    async def Talk(self, request: Any, call: Call) -> AsyncIterator[Any]:
        async for item in request:
            yield EchoResponse(text=item.text)


@asynccontextmanager
async def running(files: TlsFiles, **more: Any) -> AsyncIterator[Service]:
    settings = ServiceSettings(
        tls_certificate=files.certificate, tls_key=files.key, tls_authorities=files.authorities, **more
    )
    service = Service("table", settings)
    service.add_handler(ECHO, WhoHandler())
    await service.start(0)
    try:
        yield service
    finally:
        await service.stop()


async def ask(port: int, tls: TlsFiles | None, *, service: str = "table", timeout_ms: int = 20_000) -> str:
    async with open_channel(f"127.0.0.1:{port}", tls=tls, service=service) as channel:
        client: Any = RemoteClient(ECHO, channel)
        return text_of(await client.Once(EchoRequest(text="who am I?"), timeout_ms=timeout_ms))


async def test_the_certificate_says_who_calls(tmp_path: Path) -> None:
    """Its DNS name is the service's; an operator's has his own name too."""
    authority = Authority(tmp_path)
    async with running(authority.issue("table")) as table:
        assert await ask(table.port, authority.issue("gateway")) == "['gateway']"
        assert await ask(table.port, authority.issue("operator", person="ada")) == "['operator'] ada"


async def test_nobody_else_is_served(tmp_path: Path) -> None:
    """Without TLS, without a certificate, with one of another authority: there is no connection."""
    authority, stranger = Authority(tmp_path / "own"), Authority(tmp_path / "other")
    foreign = stranger.issue("gateway")
    async with running(authority.issue("table")) as table:
        for tls in (
            None,
            TlsFiles(authorities=str(authority.file)),
            TlsFiles(foreign.certificate, foreign.key, str(authority.file)),
        ):
            with pytest.raises(ServiceError) as caught:
                await ask(table.port, tls, timeout_ms=3_000)
            assert caught.value.code in AWAY
        assert await ask(table.port, authority.issue("bots")) == "['bots']"


async def test_a_caller_knows_whom_it_calls(tmp_path: Path) -> None:
    """A process with another service's certificate, or another authority's, is not talked to."""
    authority, stranger = Authority(tmp_path / "own"), Authority(tmp_path / "other")
    gateway = authority.issue("gateway")
    for files in (authority.issue("bots"), stranger.issue("table")):
        served_by = TlsFiles(files.certificate, files.key, str(authority.file))
        async with running(served_by) as impostor:
            with pytest.raises(ServiceError) as caught:
                await ask(impostor.port, gateway, timeout_ms=3_000)
            assert caught.value.code in AWAY


async def test_certificates_are_renewed_under_way(tmp_path: Path) -> None:
    """Given open connections, when all get certificates of a new authority, then streams go on, and calls and new
    connections are made with the new ones, without a restart; the old ones are good no more."""
    before, after = Authority(tmp_path / "own"), Authority(tmp_path / "new")
    table, gateway = before.issue("table"), before.issue("gateway")
    old = before.issue("bots")
    async with running(table) as service:
        async with open_channel(f"127.0.0.1:{service.port}", tls=gateway, service="table") as channel:
            client: Any = RemoteClient(ECHO, channel)
            async with client.Talk(_until_cancelled()) as stream:
                assert text_of(await anext(stream)) == "first"
                for files, name in ((table, "table"), (gateway, "gateway")):
                    _replace(files, after.issue(name))
                served = await _until_served(service.port, after.issue("clock"))
                assert served == "['clock']"
                ends_s = time.monotonic() + 20
                while time.monotonic() < ends_s:
                    try:
                        answer = await client.Once(EchoRequest(text="again"), timeout_ms=3_000)
                        break
                    except ServiceError:
                        await asyncio.sleep(0.1)
                assert text_of(answer) == "['gateway']"
                assert text_of(await anext(stream)) == "second"
        with pytest.raises(ServiceError):
            await ask(service.port, TlsFiles(old.certificate, old.key, str(after.file)), timeout_ms=3_000)


def _replace(files: TlsFiles, renewed: TlsFiles) -> None:
    for name in ("certificate", "key", "authorities"):
        Path(getattr(files, name)).write_bytes(Path(getattr(renewed, name)).read_bytes())


async def _until_cancelled() -> AsyncIterator[Any]:
    yield EchoRequest(text="first")
    yield EchoRequest(text="second")
    await asyncio.Event().wait()


async def _until_served(port: int, tls: TlsFiles) -> str:
    ends_s = time.monotonic() + 20
    while True:
        try:
            return await ask(port, tls, timeout_ms=3_000)
        except ServiceError:
            if time.monotonic() > ends_s:
                raise
            await asyncio.sleep(0.1)


async def test_probes_without_tls_have_a_port_of_their_own(tmp_path: Path) -> None:
    """It answers for the health of the service, and for nothing else."""
    port = free_port()
    async with (
        running(Authority(tmp_path).issue("table"), health_port=port),
        grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel,
    ):
        stub: Any = health_pb2_grpc.HealthStub(channel)
        for name in ("", "live"):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=5)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING
        with pytest.raises(ServiceError) as caught:
            await RemoteClient(ECHO, channel).Once(EchoRequest(text="x"))
        assert caught.value.code is grpc.StatusCode.UNIMPLEMENTED


async def test_a_gateways_clients_show_no_certificate(tmp_path: Path) -> None:
    """Its native port has a certificate of its own; whom it serves is the matter of sessions and tokens."""
    authority = Authority(tmp_path)
    files = authority.issue("gateway")
    settings = GatewaySettings(port_certificate=files.certificate, port_key=files.key)
    service = Service("gateway", settings)
    service.add_handler(ECHO, WhoHandler())
    await service.start(0)
    assert await ask(service.port, TlsFiles(authorities=str(authority.file)), service="gateway") == "None"
    await service.stop()


def test_files_go_together(tmp_path: Path) -> None:
    """What cannot be used is said at the start, with the file that is wrong."""
    authority = Authority(tmp_path)
    table, bots = authority.issue("table"), authority.issue("bots")
    good = {"MAGNATE_TLS_CERT": table.certificate, "MAGNATE_TLS_KEY": table.key, "MAGNATE_TLS_CA": table.authorities}
    assert ServiceSettings.load(good).tls() == table
    assert ServiceSettings.load({}).tls() is None
    for missing in good:
        with pytest.raises(SettingsError, match="all or none"):
            ServiceSettings.load({name: value for name, value in good.items() if name != missing})
    with pytest.raises(SettingsError, match="are no certificate with its key"):
        ServiceSettings.load({**good, "MAGNATE_TLS_KEY": bots.key})
    with pytest.raises(SettingsError, match="holds no certificate of an authority"):
        ServiceSettings.load({**good, "MAGNATE_TLS_CA": str(tmp_path / "nothing")})
    with pytest.raises(SettingsError, match="both or none"):
        GatewaySettings.load({"MAGNATE_GATEWAY_TLS_CERT": table.certificate})
    with pytest.raises(SettingsError, match="MAGNATE_OPERATORS"):
        ClockSettings.load({"MAGNATE_OPERATORS": "ada:not a digest"})
