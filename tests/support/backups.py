"""The ways to back a site's store up and to restore it, as docs/operate.md tells them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from tests.support.servers import PostgresServer, private_folder

_LIMIT_S = 30.0


def run(words: list[str], **environ: str) -> str:
    """What a program says that must succeed."""
    done = subprocess.run(words, env={**os.environ, **environ}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout


def begin_history(url: str) -> str:
    """`magnate restored`; what it says."""
    return run([sys.executable, "-m", "services.site", "restored"], MAGNATE_DATABASE_URL=url)


class Backup(Protocol):
    """One backup of one store."""

    def begin(self, url: str) -> None:
        """The site at this store is up; what wants time beforehand is done now."""
        ...

    def mark(self) -> None:
        """To this moment the store will go back."""
        ...

    def restore(self) -> None:
        """Nobody uses the store any more; it goes back."""
        ...


class FileBackup:
    """Of the file of an embedded site."""

    def __init__(self, folder: Path) -> None:
        self._copy = folder / "backup"
        self._store = Path()

    def begin(self, url: str) -> None:
        """See Backup."""
        self._store = Path(url.removeprefix("sqlite:///"))

    def mark(self) -> None:
        """See Backup."""
        with sqlite3.connect(self._store) as store, sqlite3.connect(self._copy) as kept:
            store.backup(kept)

    def restore(self) -> None:
        """See Backup."""
        for name in ("", "-wal", "-shm"):
            Path(f"{self._store}{name}").unlink(missing_ok=True)
        self._store.write_bytes(self._copy.read_bytes())


class DumpBackup:
    """`pg_dump` and `pg_restore`, of one database."""

    def __init__(self, server: PostgresServer, folder: Path) -> None:
        self._server = server
        self._copy = folder / "backup"
        self._url = ""

    def begin(self, url: str) -> None:
        """See Backup."""
        self._url = url

    def mark(self) -> None:
        """See Backup."""
        run([str(self._server.programs / "pg_dump"), "-Fc", "-f", str(self._copy), self._url])

    def restore(self) -> None:
        """See Backup."""
        program = str(self._server.programs / "pg_restore")
        run([program, "--clean", "--if-exists", "-d", self._url, str(self._copy)])


class PointInTimeBackup:
    """`pg_basebackup` and archived WAL: the whole server goes back to a moment long after the base backup."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._owner = server.data.stat()
        self._folder = private_folder("backup")
        self._base, self._archive = self._folder / "base", self._folder / "wal"
        self._archive.mkdir()
        self._give_to_server(self._archive)
        self._url = ""
        self._moment = ""
        self._ask("ALTER SYSTEM SET archive_mode = on", server.url_of("postgres"))
        self._ask(f"ALTER SYSTEM SET archive_command = 'cp %p {self._archive}/%f'", server.url_of("postgres"))
        server.process.end()
        server.start()

    def begin(self, url: str) -> None:
        """See Backup."""
        self._url = url
        program = str(self._server.programs / "pg_basebackup")
        run([program, "-c", "fast", "-D", str(self._base), "-d", self._server.url_of("postgres")])

    def mark(self) -> None:
        """See Backup."""
        self._moment = self._ask("SELECT clock_timestamp()", self._url)

    def restore(self) -> None:
        """See Backup."""
        # Recovery looks for a commit after the moment. What is not archived is lost with the disk.
        self._ask("SELECT pg_logical_emit_message(true, 'end', '')", self._url)
        last = self._ask("SELECT pg_walfile_name(pg_switch_wal())", self._url)
        self._wait_for((self._archive / last).exists, "the WAL is not archived")
        self._server.process.end()
        data = self._server.data
        shutil.rmtree(data)
        self._base.rename(data)
        with (data / "postgresql.auto.conf").open("a", encoding="utf-8") as settings:
            settings.write(
                f"restore_command = 'cp {self._archive}/%f %p'\n"
                f"recovery_target_time = '{self._moment}'\n"
                "recovery_target_action = 'promote'\n"
            )
        (data / "recovery.signal").touch()
        self._give_to_server(data)
        self._server.start()
        self._wait_for(lambda: self._ask("SELECT pg_is_in_recovery()", self._url) == "f", "it does not leave recovery")

    def remove(self) -> None:
        """Deletes it."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(self, statement: str, url: str) -> str:
        return run([str(self._server.programs / "psql"), "-qAt", "-v", "ON_ERROR_STOP=1", "-c", statement, url]).strip()

    def _give_to_server(self, folder: Path) -> None:
        folder.chmod(0o700)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, self._owner.st_uid, self._owner.st_gid, follow_symlinks=False)

    @staticmethod
    def _wait_for(is_there: Callable[[], bool], otherwise: str) -> None:
        limit_s = time.monotonic() + _LIMIT_S
        while not is_there():
            assert time.monotonic() < limit_s, otherwise
            time.sleep(0.05)
