"""`magnate clock` against a clock on a port, as an operator with a token."""

from __future__ import annotations

import asyncio
import getpass
import hashlib
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from services.clock.main import build
from services.clock.settings import ClockSettings
from services.kit.calls import TlsFiles
from services.kit.errors import ServiceError
from services.kit.streams_memory import MemoryStream
from services.site.arguments import parser
from services.site.errors import CommandError
from services.site.program import main
from services.site.settings import ClockCommandSettings
from services.site.timekeeping import ClockOptions, keep_time
from tests.support.certificates import Authority

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
    async with clock(tmp_path) as address:
        yield address


@asynccontextmanager
async def clock(folder: Path, **tls: Any) -> AsyncIterator[str]:
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    service = build(
        ClockSettings(database_url=f"sqlite:///{folder / 'clock.db'}", operators=f"ada:{digest}", **tls),
        table_client=Away(),
        gateway_client=Away(),
        stream=MemoryStream(),
    )
    await service.start(0)
    yield f"127.0.0.1:{service.port}"
    await service.stop()


def files(of: TlsFiles) -> dict[str, str]:
    """The settings that name these files."""
    return {"tls_certificate": of.certificate, "tls_key": of.key, "tls_authorities": of.authorities}


async def said(address: str, *words: str, token: str = TOKEN, **tls: str) -> list[str]:
    """The lines of `magnate clock WORDS`."""
    chosen = vars(parser().parse_args(["clock", *words]))
    chosen.pop("command")
    lines: list[str] = []
    settings = ClockCommandSettings(clock_address=address, operator_token=token, **tls)
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


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is typed at the terminal, answer by answer; all of it is asked for."""
    answers: list[str] = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(getpass, "getpass", lambda prompt: answers.pop(0))
    yield answers
    assert not answers


async def test_a_token_that_is_not_set_is_asked_for(address: str, typed: list[str]) -> None:
    typed[:] = [TOKEN, ""]
    assert await said(address, "holds", token="") == ["clock: no shard is held"]
    with pytest.raises(CommandError, match="nobody is an operator"):
        await said(address, "holds", token="")


async def test_it_is_asked_for_beside_a_certificate_too(tmp_path: Path, typed: list[str]) -> None:
    """The pod's own certificate makes nobody an operator, his token does; an operator's certificate is enough."""
    authority = Authority(tmp_path)
    pod, operator = files(authority.issue("clock")), files(authority.issue("operator", person="ada"))
    async with clock(tmp_path, **pod) as address:
        typed[:] = [TOKEN, "", ""]
        assert await said(address, "holds", token="", **pod) == ["clock: no shard is held"]
        assert await said(address, "holds", token="", **operator) == ["clock: no shard is held"]
        with pytest.raises(ServiceError) as refused:
            await said(address, "holds", token="", **pod)
    assert refused.value.reason == "not_allowed"


async def test_nobody_is_asked_without_a_terminal(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False)
    with pytest.raises(ServiceError) as refused:
        await said(address, "holds", token="")
    assert refused.value.reason == "not_allowed"


@pytest.mark.parametrize("command", ["admin", "clock"])
def test_both_commands_ask(command: str, typed: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    typed[:] = [""]
    assert main([command, "audit" if command == "admin" else "holds"]) == 2
    assert "nobody is an operator" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("hold",), ("hold", "--reason", "x", "--shards", "64"), ("outages", "--limit", "0")])
def test_bad_input_is_refused(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(["clock", *words])
    assert ended.value.code == 2
    assert "usage: magnate clock" in capsys.readouterr().err
