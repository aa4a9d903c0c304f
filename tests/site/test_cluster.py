"""The processes of a distributed site on one machine: every way to end them, and that nothing outlives its owner."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from services.site.cluster.process import LocalProcess
from services.site.cluster.servers import LocalRedis, free_port
from services.site.program import main
from tests.support.servers import PostgresServer

# Of those that Linux gives to connections.
_FIRST_OF_CONNECTIONS = 32_768
_OWNER = """
import os, time
from services.site.cluster.servers import LocalRedis
redis = LocalRedis()
redis.start()
redis.process.pause()
print(redis.pid, redis._folder, flush=True)
time.sleep(60)
"""


def _until(is_so: Callable[[], bool]) -> None:
    limit_s = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < limit_s
        time.sleep(0.02)


def _runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists() or subprocess.run(["ps", "-p", str(pid)], check=False).returncode == 0


def test_servers_end_with_their_owner_however_it_ends() -> None:
    """A killed owner cleans up nothing by itself: its server, here a paused one, and its folder go all the same."""
    with subprocess.Popen([sys.executable, "-c", _OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        pid, folder = owner.stdout.readline().split()
        assert _runs(int(pid))
        owner.kill()
    _until(lambda: not _runs(int(pid)) and not Path(folder).exists())


def test_a_postgres_keeps_its_databases_through_a_kill(postgres_server: PostgresServer) -> None:
    """And starts again although it was killed with its memory in use."""
    url = postgres_server.new_database()
    pid = postgres_server.pid
    postgres_server.process.kill()
    assert (postgres_server.pid, postgres_server.process.status) == (0, -9)
    postgres_server.start()
    assert postgres_server.pid not in (0, pid)
    postgres_server.drop_database(url)


def test_a_paused_process_answers_again_when_it_is_resumed() -> None:
    redis = LocalRedis()
    try:
        redis.start()
        redis.process.pause()
        assert not redis.comes_up()
        redis.process.resume()
        assert redis.comes_up()
    finally:
        redis.remove()


def test_a_process_that_is_asked_to_end_and_does_not_is_killed(tmp_path: Path) -> None:
    stubborn = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    )
    process = LocalProcess([sys.executable, "-c", stubborn], tmp_path / "stubborn.log")
    process.launch(os.environ)
    _until(lambda: bool(process.log.read_text()))
    assert process.end(0.3) == -9
    assert not process.is_alive
    polite = LocalProcess([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path / "polite.log")
    polite.launch(os.environ)
    assert polite.end() == -15


def test_distributed_goes_without_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["up", "table", "--distributed"]) == 2
    assert capsys.readouterr().err == "magnate: --distributed starts every service; it goes without a name\n"


def test_no_port_is_given_twice_or_to_a_connection() -> None:
    """Servers of a site begin one after the other, and again after their death: their ports have to wait for them."""
    given = [free_port() for _ in range(300)]
    assert len(set(given)) == len(given)
    assert max(given) < _FIRST_OF_CONNECTIONS


def test_a_port_in_use_is_passed_over() -> None:
    """Given a server at the port that would be next, when one is asked for, then it is another one."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port() + 1))
        taken.listen()
        assert free_port() != taken.getsockname()[1]
