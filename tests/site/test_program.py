"""The program `magnate` from outside: help, failures, and `up` as a process."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from services.site.__main__ import main
from services.site.arguments import parser
from tests.support.servers import free_port

COMMANDS = ("up", "demo", "play", "replay", "migrate", "settings")
PROGRAM = (sys.executable, "-m", "services.site")


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_examples(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`magnate COMMAND --help` shows at least one line that can be typed."""
    with pytest.raises(SystemExit) as ended:
        parser().parse_args([command, "--help"])
    assert ended.value.code == 0
    examples = re.findall(rf"^  .*magnate {command}.*$", capsys.readouterr().out, re.MULTILINE)
    assert examples


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["demo", "--seed", "x"], "argument --seed: 'x' is not a whole number"),
        (["demo", "--seats", "9"], "argument --seats: 9 is not from 2 to 8"),
        (["demo", "--seed", str(2**256)], "is not from 0 to 2^256 - 1"),
        (["up", "kitchen"], "invalid choice: 'kitchen'"),
    ],
)
def test_wrong_arguments_are_named(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 2, and what is wrong in the last line."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert expected in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "environ", "status", "expected"),
    [
        (["demo"], {"MAGNATE_LOG_LEVEL": "loud"}, 2, "MAGNATE_LOG_LEVEL is 'loud'; allowed is one of"),
        (["demo", "--edition", "chess"], {}, 2, "there is no edition chess; try one of: brands, "),
        (["demo", "--output", "/nowhere/game.mgl"], {}, 2, "there is no folder for /nowhere/game.mgl"),
        (["demo", "--seats", "7"], {}, 1, "seats"),
        (["play", "--continue"], {}, 1, "there is no kept game in"),
        (["play", "--connect", "127.0.0.1:1", "--seed", "1"], {}, 2, "--seed chooses the game of a site of its own"),
        (["play", "--tls"], {}, 2, "--tls is for a gateway that is up already; name it with --connect"),
        (["play", "--connect", "127.0.0.1:1", "--tls-ca", "/nowhere"], {}, 2, "/nowhere holds no certificate of an"),
    ],
)
def test_a_failure_is_one_line_that_says_what_to_do(
    arguments: list[str],
    environ: dict[str, str],
    status: int,
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No stack of calls is ever shown."""
    monkeypatch.setenv("MAGNATE_DATA_FOLDER", str(tmp_path))
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert main(arguments) == status
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("magnate: ")
    assert expected in said[0]


def test_the_settings_are_one_table_of_all_services(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of every service and of the program itself."""
    assert main(["settings"]) == 0
    table = capsys.readouterr().out
    for name in ("GATEWAY_PORT", "RULES_PORT", "TABLE_PORT", "CLOCK_PORT", "BOTS_PORT", "DATA_FOLDER", "LANG"):
        assert f"| `MAGNATE_{name}` |" in table


@pytest.mark.parametrize("command", [["settings"], ["up", "rules"]])
def test_a_mistyped_variable_is_named_and_ignored(command: list[str]) -> None:
    """In one line, with what may have been meant; everything else goes on as if it were not there."""
    environ = {
        "PATH": "/usr/bin:/bin",
        "MAGNATE_RULES_PROT": "1",
        "MAGNATE_KITCHEN": "x",
        "MAGNATE_RULES_PORT": "70000",
    }
    done = subprocess.run([*PROGRAM, *command], env=environ, capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[0] == (
        "magnate: not a setting, ignored: MAGNATE_KITCHEN, MAGNATE_RULES_PROT (is it MAGNATE_RULES_PORT?); "
        "see: magnate settings"
    )
    assert done.returncode == (0 if command == ["settings"] else 2)


def _environ(folder: Path, **settings: object) -> dict[str, str]:
    given = {f"MAGNATE_{name.upper()}": str(value) for name, value in settings.items()}
    return {"MAGNATE_DATA_FOLDER": str(folder), "PATH": "/usr/bin:/bin", **given}


async def _started(environ: dict[str, str], *arguments: str) -> tuple[asyncio.subprocess.Process, list[str]]:
    """A process that has told where to connect, and what it said."""
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, *arguments, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    lines = []
    async with asyncio.timeout(60):
        while line := (await process.stdout.readline()).decode().rstrip():
            lines.append(line)
            if line.startswith("Stop"):
                break
    return process, lines


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_up_says_where_to_connect_and_ends_when_told(tmp_path: Path, number: signal.Signals) -> None:
    """The ports answer, a second site in the same folder is refused, a signal ends it with status 0."""
    environ = _environ(tmp_path, gateway_port=free_port(), web_port=free_port())
    process, lines = await _started(environ, "up")
    try:
        assert f"  gRPC      127.0.0.1:{environ['MAGNATE_GATEWAY_PORT']}" in lines
        assert f"  browsers  http://127.0.0.1:{environ['MAGNATE_WEB_PORT']}" in lines
        for port in (environ["MAGNATE_GATEWAY_PORT"], environ["MAGNATE_WEB_PORT"]):
            _, writer = await asyncio.open_connection("127.0.0.1", int(port))
            writer.close()
            await writer.wait_closed()
        second = await asyncio.to_thread(
            subprocess.run, [*PROGRAM, "up"], env=environ, capture_output=True, text=True, check=False
        )
        assert second.returncode == 1
        assert f"a site already runs in {tmp_path} (process {process.pid})" in second.stderr
    finally:
        process.send_signal(number)
        status = await asyncio.wait_for(process.wait(), 30)
    assert status == 0


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    """Exit status 1, and which port."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        environ = _environ(tmp_path, gateway_port=port, web_port=0)
        done = subprocess.run([*PROGRAM, "up"], env=environ, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert f"magnate: gateway: cannot open 127.0.0.1:{port}" in done.stderr


async def test_up_starts_one_service_alone(tmp_path: Path) -> None:
    """`magnate up rules` opens the port of the rules, and a signal ends it."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, "up", "rules", env=_environ(tmp_path, rules_port=port), stderr=subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(60):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(0.05)
                    continue
                writer.close()
                await writer.wait_closed()
                break
    finally:
        process.send_signal(signal.SIGTERM)
        status = await asyncio.wait_for(process.wait(), 30)
    assert status == 0


async def test_an_interrupted_game_says_how_to_go_on(tmp_path: Path) -> None:
    """Ctrl-C at a question: the exit status of an interrupt, and the last line names the command that continues."""
    process = await asyncio.create_subprocess_exec(
        *(*PROGRAM, "play", "--plain", "--bots", "1", "--seed", "3"),
        env=_environ(tmp_path),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    async with asyncio.timeout(60):
        await process.stdout.readuntil(b"Number of your choice: ")
        process.send_signal(signal.SIGINT)
        rest = await process.stdout.read()
        status = await process.wait()
    assert status == 130
    assert rest.decode().strip().splitlines()[-1] == "The game is kept. Go on with: magnate play --continue"


def test_a_database_that_is_none_is_named(tmp_path: Path) -> None:
    """Exit status 2 and one line, without the value, which may hold a password."""
    environ = {**_environ(tmp_path), "MAGNATE_DATABASE_URL": "nonsense"}
    done = subprocess.run(
        [*PROGRAM, "up", "table"], env=environ, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert (
        "MAGNATE_DATABASE_URL is (a secret); allowed is text that begins with sqlite:/// or postgresql" in done.stderr
    )
    assert len(done.stderr.strip().splitlines()) == 1
