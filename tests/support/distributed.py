"""A distributed site: each service a process of its own, over a private Postgres and a private Redis."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from tests.support.servers import free_port

MODULES: Mapping[str, str] = {
    "rules": "services.rules",
    "table": "services.table",
    "clock": "services.clock",
    "bots": "services.bots",
    "gateway": "gateway",
}
_START_S = 120.0
_STOP_S = 20.0


class DistributedSite:
    """Start it, use `address` and `web_address`, and at the end `stop` it: that tells how the processes ended."""

    def __init__(
        self,
        *,
        postgres_url: str,
        redis_url: str,
        environ: Mapping[str, str] | None = None,
        environ_of: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        ports = {name: free_port() for name in (*MODULES, "web")}
        self.address = f"127.0.0.1:{ports['gateway']}"
        self.web_address = f"http://127.0.0.1:{ports['web']}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.addresses = {name: f"127.0.0.1:{ports[name]}" for name in MODULES}
        self._environ_of = environ_of or {}
        self._folder = tempfile.TemporaryDirectory(prefix="magnate-distributed-")
        self._environ = {
            **os.environ,
            "MAGNATE_DATABASE_URL": postgres_url,
            "MAGNATE_REDIS_URL": redis_url,
            "MAGNATE_CLOCK_TOKEN": "the clock's token",
            "MAGNATE_LIMIT_SESSIONS_BURST": "0",
            "MAGNATE_LIMIT_TABLES_BURST": "0",
            "MAGNATE_LIMIT_SUBMITS_BURST": "0",
            "MAGNATE_GATEWAY_SUBMIT_TARGET_MS": "0",
            "MAGNATE_TABLE_SUBMIT_TARGET_MS": "0",
            "MAGNATE_SESSION_RATE": "0",
            "MAGNATE_ADDRESS_RATE": "0",
            "MAGNATE_LOG_FORMAT": "json",
            "MAGNATE_WEB_PORT": str(ports["web"]),
            **{f"MAGNATE_{name.upper()}_PORT": str(ports[name]) for name in MODULES},
            **{f"MAGNATE_{name.upper()}_ADDRESS": address for name, address in self.addresses.items()},
            **(environ or {}),
        }

    def start(self) -> None:
        """Returns when the gateway is ready and the table service answers through it."""
        for name in MODULES:
            self.start_one(name)
        ends_s = time.monotonic() + _START_S
        while not (self._answers("/healthz") and self._opens_a_session()):
            failed = [name for name, process in self.processes.items() if process.poll() is not None]
            if failed or time.monotonic() > ends_s:
                self.stop()
                raise RuntimeError(
                    f"the site did not start ({', '.join(failed) or 'too slow'}):\n{self.logs()[-4_000:]}"
                )
            time.sleep(0.1)

    def start_one(self, name: str) -> None:
        """Starts one service, again if it has been stopped."""
        with self._log(name).open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", MODULES[name]],
                env={**self._environ, **self._environ_of.get(name, {})},
                stderr=log,
                stdout=log,
            )

    def stop_one(self, name: str, number: signal.Signals = signal.SIGTERM) -> int:
        """Ends one service; its exit status."""
        process = self.processes[name]
        if process.poll() is None:
            process.send_signal(number)
        try:
            return process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def stop(self) -> dict[str, int]:
        """Ends all, the edge first; the exit statuses."""
        return {name: self.stop_one(name) for name in reversed(list(self.processes))}

    def logs(self) -> str:
        """What all have written."""
        return "".join(self._log(name).read_text() for name in self.processes)

    def remove(self) -> None:
        """Deletes what is left on disk."""
        self._folder.cleanup()

    def _log(self, name: str) -> Path:
        return Path(self._folder.name) / f"{name}.log"

    def _answers(self, path: str, body: bytes | None = None) -> bool:
        call = urllib.request.Request(self.web_address + path, body, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(call, timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _opens_a_session(self) -> bool:
        return self._answers("/magnate.gateway.v1.GatewayService/CreateSession", b'{"name": "first"}')
