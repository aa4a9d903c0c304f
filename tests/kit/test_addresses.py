"""Address settings, and followers that hear every replica behind one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from services.kit.calls import (
    Address,
    Call,
    Following,
    OneReplica,
    RemoteReplicas,
    open_channel,
    parse_addresses,
    resolve,
)
from services.kit.server import Service, ServiceSettings
from services.kit.settings import SettingsError
from tests.support.echo import ECHO, EchoRequest, EchoResponse, text_of
from tests.support.servers import free_port


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("clock:7430", [("clock", 7430)]),
        ("dns:///clock:7430", [("clock", 7430)]),
        ("127.0.0.1:1, 127.0.0.1:2", [("127.0.0.1", 1), ("127.0.0.1", 2)]),
        ("[::1]:7430,b:2,[::1]:7430", [("::1", 7430), ("b", 2)]),
    ],
)
def test_one_address_or_several(text: str, meant: list[tuple[str, int]]) -> None:
    assert list(parse_addresses(text)) == [Address(host, port, host) for host, port in meant]


@pytest.mark.parametrize(
    "text",
    ["", " , ", "clock", "clock:", ":7430", "clock:0", "clock:65536", "clock:x", "::1:7430", "http://a:1", "a:1,b"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="allowed is host:port, or several with commas between"):
        parse_addresses(text)


def test_an_address_is_written_as_it_is_dialled() -> None:
    assert [str(address) for address in parse_addresses("[::1]:1,a:2")] == ["[::1]:1", "a:2"]


async def test_a_name_becomes_its_numbers_and_stays_known() -> None:
    found = await resolve(parse_addresses("localhost:7,127.0.0.1:7,nobody.invalid:7"))
    assert Address("127.0.0.1", 7, "localhost") in found
    assert {address.name for address in found} == {"localhost", "127.0.0.1"}
    assert all(address.host != "::1" for address in found)


class Speaker:
    """Says its name again and again."""

    def __init__(self, name: str) -> None:
        self._name = name

    async def Many(self, request: Any, call: Call) -> AsyncIterator[Any]:
        while not call.draining.is_set():
            yield EchoResponse(text=self._name)
            await asyncio.sleep(0.02)

    async def Once(self, request: Any, call: Call) -> Any:
        return EchoResponse(text=self._name)

    async def Join(self, request: Any, call: Call) -> Any:
        return EchoResponse(text=self._name)

    async def Talk(self, request: Any, call: Call) -> AsyncIterator[Any]:
        yield EchoResponse(text=self._name)


async def _speaker(name: str, port: int) -> Service:
    service = Service(name, ServiceSettings(shutdown_grace_ms=100))
    service.add_handler(ECHO, Speaker(name))
    await service.start(port)
    return service


async def _until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not done():
            await asyncio.sleep(0.02)


async def test_every_replica_is_heard_also_one_that_comes_back() -> None:
    ports = [free_port(), free_port()]
    heard: list[tuple[str, str]] = []
    replicas = RemoteReplicas(
        ECHO,
        ",".join(f"127.0.0.1:{port}" for port in ports),
        connect=lambda address: open_channel(str(address)),
    )
    following = Following(
        replicas,
        open_stream=lambda client: client.Many(EchoRequest()),
        take=lambda name, message: heard.append((name, text_of(message))),
        what="names",
    )
    first = await _speaker("first", ports[0])
    task = asyncio.create_task(following.run())
    await _until(lambda: (f"127.0.0.1:{ports[0]}", "first") in heard)
    second = await _speaker("second", ports[1])
    await _until(lambda: (f"127.0.0.1:{ports[1]}", "second") in heard)
    await first.stop()
    heard.clear()
    again = await _speaker("again", ports[0])
    await _until(lambda: {text for _, text in heard} == {"again", "second"})
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await again.stop()
    await second.stop()


async def test_a_replica_in_the_same_process_is_heard_the_same_way() -> None:
    service = await _speaker("inside", 0)
    heard: list[tuple[str, str]] = []
    following = Following(
        OneReplica(lambda: service.local(ECHO)),
        open_stream=lambda client: client.Many(EchoRequest()),
        take=lambda name, message: heard.append((name, text_of(message))),
        what="names",
    )
    task = asyncio.create_task(following.run())
    await _until(lambda: ("here", "inside") in heard)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await service.stop()
