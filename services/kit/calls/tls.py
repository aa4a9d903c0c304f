"""Mutual TLS between services: who a process is, and whom it believes, out of files that may change under way.

The DNS name of a certificate is the name of its service (`table`), whatever address it is reached at; an operator's has
the name `operator`, and his own as common name.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import grpc

from services.kit.logs import get_log

_log = get_log(__name__)
_LOOK_PERIOD_S = 1.0


class TlsError(Exception):
    """Files that are no certificate with its key, or no authorities; the text says which."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files: the own certificate with what lies between it and the authority, its key, and the authorities by
    which others' certificates are checked. A server without authorities asks nobody for a certificate; a client
    without a certificate shows none."""

    certificate: str = ""
    key: str = ""
    authorities: str = ""

    def check(self) -> None:
        """Raises TlsError if they cannot be used now."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            if self.certificate:
                context.load_cert_chain(self.certificate, self.key)
        except OSError as error:
            raise TlsError(
                f"{self.certificate} and {self.key} are no certificate with its key ({_cause(error)})"
            ) from None
        try:
            if self.authorities:
                context.load_verify_locations(self.authorities)
        except OSError as error:
            raise TlsError(f"{self.authorities} holds no certificate of an authority ({_cause(error)})") from None


def _cause(error: OSError) -> str:
    return str(getattr(error, "reason", None) or error.strerror or type(error).__name__)


@dataclass(frozen=True, slots=True)
class _Pems:
    """Empty where there is no such file."""

    certificate: bytes
    key: bytes
    authorities: bytes


class _Watched:
    """The files' contents, read again when one has changed. Any thread may ask."""

    def __init__(self, files: TlsFiles) -> None:
        self._files = files
        self._paths = [Path(name) if name else None for name in (files.certificate, files.key, files.authorities)]
        self._lock = threading.Lock()
        self._stamps = self._look()
        self.pems = self._read()

    def changed(self) -> bool:
        """Reads what has changed since the last look; what cannot be used is left for the next one."""
        with self._lock:
            try:
                stamps = self._look()
                if stamps == self._stamps:
                    return False
                self._files.check()
                self.pems = self._read()
            except (OSError, TlsError) as error:
                _log.warning("certificate_unusable", reason=str(error))
                return False
            self._stamps = stamps
        _log.info("certificate_renewed", file=self._files.certificate)
        return True

    def _look(self) -> list[tuple[int, int, int]]:
        stats = [path.stat() for path in self._paths if path is not None]
        return [(stat.st_mtime_ns, stat.st_ino, stat.st_size) for stat in stats]

    def _read(self) -> _Pems:
        return _Pems(*(path.read_bytes() if path is not None else b"" for path in self._paths))


def server_credentials(files: TlsFiles) -> grpc.ServerCredentials:
    """Credentials of a port; each new connection is made with the files of its time. Raises OSError."""
    watched = _Watched(files)

    def configuration() -> grpc.ServerCertificateConfiguration:
        pems = watched.pems
        return grpc.ssl_server_certificate_configuration([(pems.key, pems.certificate)], pems.authorities or None)

    def fetch() -> grpc.ServerCertificateConfiguration | None:
        return configuration() if watched.changed() else None

    # The stubs do not know that None means what there is.
    return grpc.dynamic_ssl_server_credentials(
        configuration(), cast(Any, fetch), require_client_authentication=bool(files.authorities)
    )


class RenewingChannel:
    """A secure channel that is opened anew when the files have changed: connections that stand go on with what they
    were made with, for gRPC looks at a certificate only when it connects. The last channel before stays open for its
    streams, until the files change once more."""

    def __init__(self, files: TlsFiles, open_secure: Callable[[grpc.ChannelCredentials], grpc.aio.Channel]) -> None:
        self._watched = _Watched(files)
        self._open = open_secure
        self._channel = self._opened()
        self._before: list[grpc.aio.Channel] = []
        self._closing: set[asyncio.Task[None]] = set()
        self._generation = 0
        self._looked_s = time.monotonic()

    async def close(self, grace: float | None = None) -> None:
        """Closes what is open."""
        for channel in (*self._before, self._channel):
            await channel.close(grace)
        await asyncio.gather(*self._closing)

    async def __aenter__(self) -> RenewingChannel:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def unary_unary(self, path: str, **how: Any) -> Callable[..., Any]:
        return self._newest("unary_unary", path, how)

    def unary_stream(self, path: str, **how: Any) -> Callable[..., Any]:
        return self._newest("unary_stream", path, how)

    def stream_unary(self, path: str, **how: Any) -> Callable[..., Any]:
        return self._newest("stream_unary", path, how)

    def stream_stream(self, path: str, **how: Any) -> Callable[..., Any]:
        return self._newest("stream_stream", path, how)

    def _newest(self, kind: str, path: str, how: dict[str, Any]) -> Callable[..., Any]:
        made: tuple[int, Callable[..., Any]] | None = None

        def start(*arguments: Any, **options: Any) -> Any:
            nonlocal made
            channel = self._renewed()
            if made is None or made[0] != self._generation:
                made = (self._generation, cast(Callable[..., Any], getattr(channel, kind)(path, **how)))
            return made[1](*arguments, **options)

        return start

    def _renewed(self) -> grpc.aio.Channel:
        now_s = time.monotonic()
        if now_s - self._looked_s < _LOOK_PERIOD_S:
            return self._channel
        self._looked_s = now_s
        if self._watched.changed():
            for old in self._before:
                task = asyncio.create_task(old.close())
                self._closing.add(task)
                task.add_done_callback(self._closing.discard)
            self._before = [self._channel]
            self._channel = self._opened()
            self._generation += 1
        return self._channel

    def _opened(self) -> grpc.aio.Channel:
        pems = self._watched.pems
        return self._open(
            grpc.ssl_channel_credentials(pems.authorities or None, pems.key or None, pems.certificate or None)
        )
