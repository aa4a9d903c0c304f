"""`magnate clock` against a clock on a port, as an operator with a token."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from services.clock.main import build
from services.clock.settings import ClockSettings
from services.kit.errors import ServiceError
from services.kit.streams_memory import MemoryStream
from services.site.arguments import parser
from services.site.settings import ClockCommandSettings
from services.site.timekeeping import ClockOptions, keep_time

TOKEN = "operator-token"


class Away:
    """Table service and gateway that do not answer."""

    def __getattr__(self, name: str) -> Any:
        async def call(*_: object, **__: object) -> Any:
            raise ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", "away")

        return call


@pytest.fixture
async def address(tmp_path: Path) -> AsyncIterator[str]:
    """Where a clock is that holds everything, and whose probes are lost."""
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    service = build(
        ClockSettings(database_url=f"sqlite:///{tmp_path / 'clock.db'}", operators=f"ada:{digest}"),
        table_client=Away(),
        gateway_client=Away(),
        stream=MemoryStream(),
    )
    await service.start(0)
    yield f"127.0.0.1:{service.port}"
    await service.stop()


async def said(address: str, *words: str, token: str = TOKEN) -> list[str]:
    """The lines of `magnate clock WORDS`."""
    chosen = vars(parser().parse_args(["clock", *words]))
    chosen.pop("command")
    lines: list[str] = []
    settings = ClockCommandSettings(clock_address=address, operator_token=token)
    await keep_time(settings, ClockOptions(**chosen), lines.append)
    return lines


async def test_an_operator_holds_shards_and_lets_them_go(address: str) -> None:
    assert await said(address, "holds") == ["clock: no shard is held"]
    [told] = await said(address, "hold", "--shards", "0-3,9", "--in", "30", "--for", "90", "--reason", "a new version")
    assert told.startswith("clock: players are told: ")
    assert "begins in 29 s, ends in 119 s shards=0-3,9 id=" in told
    assert told.endswith(" a new version")
    [listed] = await said(address, "holds")
    assert "shards=0-3,9" in listed
    assert await said(address, "release", "--shards", "0-1") == ["clock: released 0-1"]
    assert await said(address, "release") == ["clock: released 2-3,9"]
    assert await said(address, "release") == ["clock: none of these shards was held"]


async def test_outages_are_told_line_by_line(address: str) -> None:
    """One that lasts has no end yet; a hold that is over has given its time back."""
    assert await said(address, "outages", "--limit", "3") == ["clock: no outage is on record"]
    await said(address, "hold", "--in", "0", "--for", "3600", "--reason", "work")
    async with asyncio.timeout(20):
        while "lasts held shards=0-63" not in "".join(await said(address, "outages")):
            await asyncio.sleep(0.1)


async def test_only_an_operator_may(address: str) -> None:
    with pytest.raises(ServiceError) as refused:
        await said(address, "holds", token="guessed")
    assert refused.value.reason == "not_allowed"


@pytest.mark.parametrize("words", [("hold",), ("hold", "--reason", "x", "--shards", "64"), ("outages", "--limit", "0")])
def test_bad_input_is_refused(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["clock", *words])
    assert ended.value.code == 2
    assert "usage: magnate clock" in capsys.readouterr().err
