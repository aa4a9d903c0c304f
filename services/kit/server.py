"""The shell of a service: ports, health, reflection, background work, and an end that finishes what has begun.

A service runs alone in its process (`run_services` waits for SIGTERM) or with others in one loop, then without a
port of its own: its handlers are reached by `Service.local`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import random
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar, cast

import grpc
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from services.kit import logs
from services.kit.calls import (
    Dispatcher,
    Gate,
    Guard,
    Limits,
    LocalClient,
    Proof,
    TlsFiles,
    serve,
    server_credentials,
)
from services.kit.calls.call import NO_METADATA
from services.kit.calls.contract import Contract
from services.kit.calls.dispatch import OnRefused
from services.kit.ending import end_tasks
from services.kit.errors import ServiceError
from services.kit.knocking import knock, own_address
from services.kit.settings import setting
from services.kit.telemetry import Telemetry, observable_value
from services.kit.tls_settings import TlsSettings

T = TypeVar("T")
OnFailure = Literal["restart", "stop"]

#: what the health service answers under this name: SERVING as long as the loop turns, ready or not
LIVE = "live"

_FIRST_BACKOFF_S = 0.1
_LAST_BACKOFF_S = 10.0
_CHECK_PERIOD_S = 1.0
_CHECK_LIMIT_S = 3.0
_HANDSHAKE_MS = 10_000
# Commands make thousands of small objects that die young: looking for cycles among so few of them is a waste.
_GC_THRESHOLDS = (10_000, 20, 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings(TlsSettings):
    """What every service can be told; services add their own to it."""

    host: str = setting("MAGNATE_HOST", "127.0.0.1", "address that ports are opened on; 0.0.0.0 in a container")
    log_level: str = setting(
        "MAGNATE_LOG_LEVEL", "info", "least level that is written", choices=("debug", "info", "warning", "error")
    )
    log_format: str = setting(
        "MAGNATE_LOG_FORMAT", "auto", "form of a line; auto is text on a terminal", choices=("auto", "json", "text")
    )
    trace_ratio: float = setting("MAGNATE_TRACE_RATIO", 0.01, "share of calls that are traced", low=0, high=1)
    otlp_endpoint: str = setting("MAGNATE_OTLP_ENDPOINT", "", "where traces go (OTLP over gRPC); empty: nowhere")
    metrics_port: int = setting("MAGNATE_METRICS_PORT", 0, "port for Prometheus; 0: none", low=0, high=65535)
    max_calls: int = setting("MAGNATE_MAX_CALLS", 1000, "unary calls a service handles at a time", low=1, high=100_000)
    max_streams: int = setting("MAGNATE_MAX_STREAMS", 10_000, "open streams of a service", low=1, high=1_000_000)
    max_connections: int = setting(
        "MAGNATE_MAX_CONNECTIONS", 11_000, "connections open at a gRPC port; more are closed", low=1, high=1_000_000
    )
    max_message_bytes: int = setting(
        "MAGNATE_MAX_MESSAGE_BYTES", 4 * 1024 * 1024, "largest message a service takes", low=1024, high=1 << 30
    )
    attempt_ms: int = setting(
        "MAGNATE_CALL_ATTEMPT_MS",
        1_000,
        "time after which a call to another service that is safe to repeat is tried at another replica",
        low=20,
        high=60_000,
    )
    shutdown_notice_ms: int = setting(
        "MAGNATE_SHUTDOWN_NOTICE_MS",
        200,
        "time before a stop in which a service says that it does not serve and still does, for others to hear it",
        low=0,
        high=600_000,
    )
    shutdown_grace_ms: int = setting(
        "MAGNATE_SHUTDOWN_GRACE_MS", 5_000, "time to finish what has begun before a stop", low=0, high=600_000
    )
    health_port: int = setting(
        "MAGNATE_HEALTH_PORT",
        0,
        "port that answers for the health of the service without TLS, for probes that know none; 0: none",
        low=0,
        high=65535,
    )

    def port_tls(self) -> TlsFiles | None:
        """The files of TLS at the own port; None without. Raises SettingsError."""
        return self.tls()

    def proofs(self) -> Sequence[Proof]:
        """How callers show who they are beside certificates. Raises SettingsError."""
        return ()

    def telemetry(self, service: str) -> Telemetry:
        """The telemetry of a service with these settings."""
        return Telemetry(
            service,
            trace_ratio=self.trace_ratio,
            otlp_endpoint=self.otlp_endpoint,
            metrics_port=self.metrics_port,
        )

    def configure_logs(self, service: str) -> None:
        """Sends the logs of this process where these settings say."""
        logs.configure(service=service, level=self.log_level, log_format=cast(logs.LogFormat, self.log_format))


class StartError(Exception):
    """A service that cannot start, in words for the one who started it."""


class Service:
    """One service: register handlers, checks and background work, then `start`; at the end `stop`."""

    def __init__(
        self,
        name: str,
        settings: ServiceSettings,
        *,
        telemetry: Telemetry | None = None,
        limits: Limits | None = None,
        draw_traces: bool = False,
        answer_metadata: Mapping[str, str] = NO_METADATA,
    ) -> None:
        self.name = name
        self.settings = settings
        self.telemetry = telemetry or Telemetry.off()
        self.gate = Gate(limits or Limits(max_calls=settings.max_calls, max_streams=settings.max_streams))
        self.failed = asyncio.Event()
        self._guard = Guard(settings.proofs())
        self._draw_traces = draw_traces
        self._answer_metadata = answer_metadata
        self._log = logs.get_log(__name__).bind(part=name)
        self._dispatchers: dict[str, Dispatcher] = {}
        self._work: list[tuple[str, Callable[[], Coroutine[Any, Any, None]], OnFailure]] = []
        self._checks: list[tuple[str, Callable[[], Awaitable[object]]]] = []
        self._openers: list[Callable[[], Awaitable[object]]] = []
        self._finishers: list[Callable[[], Awaitable[object]]] = []
        self._closers: list[Callable[[], Awaitable[object]]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._servers: list[grpc.aio.Server] = []
        self._health = health.aio.HealthServicer()
        self._on_delay: Callable[[float], None] | None = None
        self.is_stopping = False
        self._port = 0
        self._observe()

    def add_handler(
        self, descriptor: ServiceDescriptor, handler: object, *, on_refused: OnRefused | None = None
    ) -> None:
        """Puts a handler of a contract on this service; before the start. `on_refused` is told of calls that do not
        reach it: callers whom the contract does not name, requests outside its limits."""
        self._dispatchers[descriptor.full_name] = Dispatcher(
            Contract.of(descriptor),
            handler,
            gate=self.gate,
            guard=self._guard,
            on_refused=on_refused,
            telemetry=self.telemetry,
            draw_traces=self._draw_traces,
            answer_metadata=self._answer_metadata,
        )

    def local(self, descriptor: ServiceDescriptor, *, caller: str = "") -> LocalClient:
        """A client in this process for the service of the name `caller`, behind the same gate as the port."""
        return LocalClient(descriptor, self.dispatcher(descriptor), caller=caller)

    def dispatcher(self, descriptor: ServiceDescriptor) -> Dispatcher:
        """The methods of a registered handler, for a port of another kind."""
        return self._dispatchers[descriptor.full_name]

    def add_background(
        self, name: str, run: Callable[[], Coroutine[Any, Any, None]], *, on_failure: OnFailure = "restart"
    ) -> None:
        """Work that runs from start to stop, where it is cancelled. When it fails, it is logged and begun again, or
        the whole service stops with a failure: for work whose state would be wrong after an error."""
        self._work.append((name, run, on_failure))

    def add_check(self, name: str, check: Callable[[], Awaitable[object]]) -> None:
        """Something without which the service is not ready; it raises when that is missing."""
        self._checks.append((name, check))

    def watch_delay(self, note: Callable[[float], None]) -> None:
        """Several times a second `note` hears how many seconds a call at the own port took that asks for nothing: it
        has waited like all others. Only where there is a port, and on Linux."""
        self._on_delay = note

    def add_opener(self, open_more: Callable[[], Awaitable[object]]) -> None:
        """Called at the start, after the port is open and before the background work; it may raise StartError."""
        self._openers.append(open_more)

    def add_finisher(self, finish: Callable[[], Awaitable[object]]) -> None:
        """Called at the end, when nothing runs in the background any more and nothing is closed yet."""
        self._finishers.append(finish)

    def add_closer(self, close: Callable[[], Awaitable[object]]) -> None:
        """Called at the end, the last added first."""
        self._closers.append(close)

    @property
    def port(self) -> int:
        """The port that was opened; 0 without one."""
        return self._port

    async def start(self, port: int | None = None) -> None:
        """Opens the port (0: any free one; None: none) and begins the background work. Raises StartError."""
        self.telemetry.serve_metrics()
        if port is not None:
            await self._open(port)
        try:
            for open_more in self._openers:
                await open_more()
        except (OSError, ServiceError) as error:
            raise StartError(f"{self.name}: cannot start: {error}") from None
        for name, run, on_failure in self._work:
            self._tasks.append(asyncio.create_task(self._keep_running(name, run, on_failure), name=name))
        if self._servers:
            self._tasks.append(asyncio.create_task(self._watch_health(), name="health"))
        self._log.info("service_started", port=self._port)

    async def stop(self) -> None:
        """Says so and, after the notice, takes nothing new, finishes what has begun within the grace, then closes
        everything; never raises."""
        if self.is_stopping:
            return
        self.is_stopping = True
        grace_s = self.settings.shutdown_grace_ms / 1000
        await self._health.enter_graceful_shutdown()
        if self._servers:
            await asyncio.sleep(self.settings.shutdown_notice_ms / 1000)
        # Streams get the first half to say goodbye, so that those which do not leave time for the calls.
        draining = asyncio.create_task(self.gate.close_streams(grace_s / 2))
        if self._servers:
            await asyncio.gather(*(server.stop(grace_s) for server in self._servers))
        else:
            await self._wait_for_calls(grace_s)
        await draining
        await end_tasks(self._tasks)
        for close in (*self._finishers, *reversed(self._closers)):
            try:
                await close()
            except Exception as error:
                self._log.exception("close_failed", error)
        self.telemetry.close()
        self._log.info("service_stopped")

    async def _open(self, port: int) -> None:
        size = self.settings.max_message_bytes
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", size),
                ("grpc.max_send_message_length", -1),
                ("grpc.so_reuseport", 0),
                ("grpc.max_allowed_incoming_connections", self.settings.max_connections),
                ("grpc.server_handshake_timeout_ms", _HANDSHAKE_MS),
                ("grpc.keepalive_time_ms", 20_000),
                ("grpc.keepalive_timeout_ms", 10_000),
                ("grpc.keepalive_permit_without_calls", 1),
                # Pings of a peer come in heaps when this process had no processor for a while: no fault of the peer.
                ("grpc.http2.max_ping_strikes", 0),
            ]
        )
        files = self.settings.port_tls()
        for dispatcher in self._dispatchers.values():
            serve(server, dispatcher, certified=files is not None and bool(files.authorities))
        if self._on_delay is not None and (door := own_address()):
            server.add_insecure_port(door)
            self.add_background("knock", partial(knock, door, self._on_delay))
        names = [*self._dispatchers, health.SERVICE_NAME, reflection.SERVICE_NAME]
        reflection.enable_server_reflection(names, server)
        self._port = await self._listen(server, port, files)
        if self.settings.health_port:
            await self._listen(grpc.aio.server(options=[("grpc.so_reuseport", 0)]), self.settings.health_port, None)
        await self._health.set(LIVE, health_pb2.HealthCheckResponse.SERVING)
        await self._report(ready=not self._checks)

    async def _listen(self, server: grpc.aio.Server, port: int, files: TlsFiles | None) -> int:
        """Starts a server that also answers for the health of the service; the port that it got."""
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        address = f"{self.settings.host}:{port}"
        try:
            if files is None:
                opened = server.add_insecure_port(address)
            else:
                opened = server.add_secure_port(address, server_credentials(files))
            await server.start()
        except RuntimeError:
            raise StartError(f"{self.name}: cannot open {address}; is it in use, or not an address of here?") from None
        except OSError as error:
            raise StartError(f"{self.name}: cannot read the files of TLS ({error})") from None
        self._servers.append(server)
        return opened

    async def _watch_health(self) -> None:
        known: list[str] | None = None
        while self._checks:
            failing = [name for name, check in self._checks if not await _passes(check)]
            if failing != known:
                known = failing
                self._log.info("readiness_changed", ready=not failing, failing=",".join(failing))
                await self._report(ready=not failing)
            await asyncio.sleep(_CHECK_PERIOD_S)

    async def _report(self, *, ready: bool) -> None:
        status = health_pb2.HealthCheckResponse.SERVING if ready else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", *self._dispatchers):
            await self._health.set(name, status)

    async def _keep_running(
        self, name: str, run: Callable[[], Coroutine[Any, Any, None]], on_failure: OnFailure
    ) -> None:
        backoff_s = _FIRST_BACKOFF_S
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            try:
                return await run()
            except ServiceError as error:
                self._log.warning("background_failed", task=name, then=on_failure, reason=str(error))
            except Exception as error:
                self._log.exception("background_failed", error, task=name, then=on_failure)
            if on_failure == "stop":
                self.failed.set()
                return None
            if loop.time() - began > _LAST_BACKOFF_S:
                backoff_s = _FIRST_BACKOFF_S
            await asyncio.sleep(backoff_s * random.uniform(0.5, 1.0))
            backoff_s = min(backoff_s * 2, _LAST_BACKOFF_S)

    async def _wait_for_calls(self, grace_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                while self.gate.open_calls:  # noqa: ASYNC110 - a few polls at the very end
                    await asyncio.sleep(0.01)

    def _observe(self) -> None:
        meter = self.telemetry.meter_of(self.name)
        meter.create_observable_gauge(
            "magnate_open_calls",
            [lambda _: [observable_value(self.gate.open_calls)]],
            description="unary calls in work",
        )
        meter.create_observable_gauge(
            "magnate_open_streams", [lambda _: [observable_value(self.gate.open_streams)]], description="streams open"
        )


async def _passes(check: Callable[[], Awaitable[object]]) -> bool:
    try:
        async with asyncio.timeout(_CHECK_LIMIT_S):
            await check()
    except Exception:
        return False
    return True


async def run_services(
    services: Sequence[tuple[Service, int | None]], *, started: Callable[[], None] | None = None
) -> int:
    """Starts services in this order on their ports, waits for SIGTERM, SIGINT or a failure, and stops them.

    Returns the exit status: 0 after a signal, 1 when a service failed or could not start. `started` is called when
    all are up. A second signal ends the process at once.
    """
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    def end() -> None:
        ended.set()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    running: list[Service] = []
    waiting = [asyncio.create_task(ended.wait())]
    try:
        for service, port in services:
            running.append(service)
            await service.start(port)
            waiting.append(asyncio.create_task(service.failed.wait()))
        settle()
        if started is not None:
            started()
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    except StartError as error:
        print(f"magnate: {error}", file=sys.stderr)
        return 1
    finally:
        for task in waiting:
            task.cancel()
        for service in reversed(running):
            await service.stop()
    return 1 if any(service.failed.is_set() for service in running) else 0


def settle() -> None:
    """What the process has loaded by now stays until its end: the garbage collector need not look through it again
    and again, which would hold up the loop for a tenth of a second each time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)


def run(main: Coroutine[Any, Any, T]) -> T:
    """Runs a program's main coroutine on the fastest loop there is."""
    if sys.platform == "win32":
        return asyncio.run(main)
    import uvloop  # noqa: PLC0415 - it does not exist there

    return uvloop.run(main)
