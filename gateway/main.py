"""Puts the gateway together, for a process of its own or one shared with other services."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from magnate.gateway.v1 import gateway_service_pb2
from magnate.table.v1 import table_service_pb2 as table_pb

from gateway.adapters.catalogue import BotsClient, RulesClient, ServicesCatalogue
from gateway.adapters.connect_app import ConnectApp
from gateway.adapters.instruments import Instruments
from gateway.adapters.web_app import WebApp
from gateway.adapters.web_files import read_web_files
from gateway.adapters.web_server import WebServer
from gateway.application.callers import Callers
from gateway.application.exports import Exports
from gateway.application.handler import GatewayHandler
from gateway.application.heartbeats import Heartbeats
from gateway.application.hub import Hub
from gateway.application.live import Live
from gateway.application.play_time import SHARDS, PlayTimes, boot_s
from gateway.application.ports import ClockCalls, ProbeCall, ProbeWays, SubmitCall, TableCalls
from gateway.application.presence import Presence
from gateway.application.probes import Probes
from gateway.application.reconciling import reconcile_for_ever
from gateway.domain.contract_version import CONTRACT_KEY, CONTRACT_VERSION
from gateway.settings import GatewaySettings
from services.kit.admission import Admission
from services.kit.calls import Replicas
from services.kit.server import Service
from services.kit.streams import EventStream
from services.kit.telemetry import Telemetry

DESCRIPTOR = gateway_service_pb2.DESCRIPTOR.services_by_name["GatewayService"]
_WEB_FOLDER = Path(__file__).parent / "web" / "dist"


@dataclass(frozen=True, slots=True)
class Gateway:
    """The gateway as a service that is not started yet, its browser port, and its watches."""

    service: Service
    web: WebServer
    hub: Hub


def build(
    settings: GatewaySettings,
    *,
    table_client: TableCalls,
    submit: SubmitCall,
    rules_client: RulesClient,
    clocks: Replicas[ClockCalls],
    stream: EventStream,
    bots_client: BotsClient | None = None,
    probe_ways: ProbeWays | None = None,
    now_s: Callable[[], float] = time.monotonic,
    boot_s: Callable[[], float] = boot_s,
    with_web: bool = True,
    telemetry: Telemetry | None = None,
) -> Gateway:
    """The gateway. Clients and stream belong to the caller; the browser port opens and closes with the service.

    `probe_ways` are those of commands; without them probes go over the client. `now_s` tells monotonic seconds, and
    `boot_s` those that go on while the machine is suspended; without `with_web` browsers are not served.
    """
    telemetry = telemetry or Telemetry.off()
    probes = Probes(probe_ways or _one_way(table_client), timeout_ms=settings.probe_timeout_ms)
    hub = Hub(table_client, settings.watch_limits(), on_probe=probes.seen, now_s=now_s)
    play_times = PlayTimes(boot_s)
    live = Live(stream, hub, {f"shard:{shard}": shard for shard in range(SHARDS)})
    admission = Admission(target_ms=settings.submit_target_ms)
    instruments = Instruments(telemetry, hub, admission)
    handler = GatewayHandler(
        table=table_client,
        submit=submit,
        catalogue=ServicesCatalogue(rules_client, bots_client, now_s=now_s),
        hub=hub,
        exports=Exports(
            per_session=settings.exports_per_session, slow_ms=settings.slow_ms, retry_ms=settings.heartbeat_ms
        ),
        probes=probes,
        play_times=play_times,
        callers=Callers(settings.call_limits()),
        admission=admission,
        now_s=now_s,
        on_command=instruments.command,
    )
    service = Service(
        "gateway",
        settings,
        telemetry=telemetry,
        draw_traces=True,
        answer_metadata={CONTRACT_KEY: CONTRACT_VERSION},
    )
    service.add_handler(DESCRIPTOR, handler)
    if settings.submit_target_ms:
        service.watch_delay(admission.delayed)
    web = _web(settings, service, live)

    async def is_subscribed() -> None:
        await live.subscribed.wait()

    async def drain() -> None:
        await service.gate.draining.wait()
        hub.drain()

    service.add_check("event_stream", is_subscribed)
    service.add_background("live", live.run)
    service.add_background("play_time", lambda: play_times.follow(clocks))
    heartbeats = Heartbeats(hub, play_times)
    service.add_background("heartbeats", heartbeats.run)
    service.add_background("time_changes", heartbeats.tell_changes)
    service.add_background("presence", Presence(table_client, hub, period_ms=settings.presence_ms).run)
    service.add_background("reconcile", lambda: reconcile_for_ever(hub))
    service.add_background("drain", drain)
    if with_web:
        service.add_opener(web.start)
        service.add_closer(web.stop)
    return Gateway(service, web, hub)


def _one_way(table_client: TableCalls) -> ProbeWays:
    async def probe(request: table_pb.ProbeRequest, limit_ms: int) -> None:
        await table_client.Probe(request, timeout_ms=limit_ms)

    ways: tuple[ProbeCall, ...] = (probe,)
    return lambda: ways


def _web(settings: GatewaySettings, service: Service, live: Live) -> WebServer:
    calls = ConnectApp(service.dispatcher(DESCRIPTOR), max_bytes=settings.max_message_bytes)
    app = WebApp(
        calls=calls,
        calls_path=calls.path,
        files=read_web_files(Path(settings.web_folder) if settings.web_folder else _WEB_FOLDER),
        origins=settings.origins(),
        is_ready=lambda: live.subscribed.is_set() and not service.is_stopping,
    )
    return WebServer(
        app,
        host=settings.host,
        port=settings.web_port,
        grace_ms=settings.shutdown_grace_ms,
        max_connections=settings.max_streams + settings.max_calls,
        request_ms=settings.web_request_ms,
    )
