"""Traces and metrics of a service, with OpenTelemetry underneath.

Only a sampled call pays for its trace: one that is not carries no header and makes no span. A trace begins where a
call enters the site (`Telemetry.root_span`, or a server that draws), and every later hop follows the caller.
Metrics are named `magnate_<noun>_<unit>[_total]`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext

from opentelemetry import metrics, trace
from opentelemetry.context import Context
from opentelemetry.metrics import Meter, NoOpMeterProvider
from opentelemetry.sdk.metrics import Histogram, MeterProvider
from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import NonRecordingSpan, NoOpTracerProvider, Span, SpanContext, SpanKind, TraceFlags

TRACE_HEADER = "traceparent"

_SCOPE = "magnate"
# The library's own boundaries are meant for milliseconds: each of our times would fall into the first.
_SECONDS = View(
    instrument_type=Histogram,
    instrument_name="*_seconds",
    aggregation=ExplicitBucketHistogramAggregation(
        (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
    ),
)
_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


class Telemetry:
    """The tracer and the meter of one service.

    `trace_ratio` is the share of calls that begin a trace here, 0 to 1. `exporter` gets finished spans; without
    one, and without an OTLP endpoint, no trace is ever made.
    """

    def __init__(
        self,
        service: str,
        *,
        trace_ratio: float = 0.0,
        otlp_endpoint: str = "",
        metrics_port: int = 0,
        exporter: SpanExporter | None = None,
    ) -> None:
        # Exporters are loaded by those alone who use them: they take many megabytes.
        resource = Resource.create({"service.name": f"magnate-{service}"})
        if exporter is None and otlp_endpoint:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

            exporter = OTLPSpanExporter(endpoint=otlp_endpoint, insecure=True)
        self._ratio = trace_ratio if exporter is not None else 0.0
        self._tracer_provider: TracerProvider | None = None
        self._meter_provider: MeterProvider | None = None
        self._serve: Callable[[], Callable[[], None]] | None = None
        self._stop_serving: Callable[[], None] | None = None
        if exporter is not None:
            self._tracer_provider = TracerProvider(resource=resource, shutdown_on_exit=False)
            self._tracer_provider.add_span_processor(BatchSpanProcessor(exporter))
        if metrics_port:
            self._meter_provider, self._serve = _prometheus(metrics_port, resource)
        self._tracer = (self._tracer_provider or NoOpTracerProvider()).get_tracer(_SCOPE)
        self.meter: Meter = self.meter_of(_SCOPE)

    def meter_of(self, part: str) -> Meter:
        """The meter of one part, where several services share one telemetry and measure things of one name."""
        return (self._meter_provider or NoOpMeterProvider()).get_meter(part)

    @staticmethod
    def off() -> Telemetry:
        """One that traces and measures nothing."""
        return Telemetry("off")

    def serve_metrics(self) -> None:
        """Opens the Prometheus port, if there is one and it is not open yet."""
        if self._serve is not None and self._stop_serving is None:
            self._stop_serving = self._serve()

    def root_span(self, name: str) -> AbstractContextManager[Span | None]:
        """Around work that begins here; a share of it, as the ratio says, begins a trace."""
        if not self._ratio or random.random() >= self._ratio:
            return nullcontext()
        return self._started(name, SpanKind.INTERNAL, Context())

    def server_span(self, name: str, traceparent: str, *, draw: bool) -> AbstractContextManager[Span | None]:
        """Around the handling of a call; a sampled caller's trace goes on, else `draw` lets one begin here."""
        if self._tracer_provider is None:
            return nullcontext()
        if _is_sampled(trace.get_current_span().get_span_context()):
            return self._started(name, SpanKind.SERVER, None)
        if traceparent:
            parent = parse_traceparent(traceparent)
            if parent is not None and _is_sampled(parent):
                return self._started(name, SpanKind.SERVER, trace.set_span_in_context(NonRecordingSpan(parent)))
        return self.root_span(name) if draw else nullcontext()

    def client_span(self, name: str) -> AbstractContextManager[Span | None]:
        """Around a call to another service, when the present work is being traced."""
        if self._tracer_provider is None or not _is_sampled(trace.get_current_span().get_span_context()):
            return nullcontext()
        return self._started(name, SpanKind.CLIENT, None)

    def close(self) -> None:
        """Sends what is left and stops; again it does nothing."""
        if self._stop_serving is not None:
            self._stop_serving()
        self._serve = self._stop_serving = None
        if self._tracer_provider is not None:
            self._tracer_provider.shutdown()
            self._tracer_provider = None
        if self._meter_provider is not None:
            self._meter_provider.shutdown()
            self._meter_provider = None

    @contextmanager
    def _started(self, name: str, kind: SpanKind, context: Context | None) -> Iterator[Span | None]:
        with self._tracer.start_as_current_span(name, context=context, kind=kind) as span:
            yield span


def _prometheus(port: int, resource: Resource) -> tuple[MeterProvider, Callable[[], Callable[[], None]]]:
    """A provider read by Prometheus, and what opens its port and returns what closes it."""
    from opentelemetry.exporter.prometheus import PrometheusMetricReader  # noqa: PLC0415
    from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415

    registry = CollectorRegistry()
    provider = MeterProvider(
        [PrometheusMetricReader(registry=registry)], resource=resource, shutdown_on_exit=False, views=[_SECONDS]
    )

    def open_port() -> Callable[[], None]:
        server, thread = start_http_server(port, registry=registry)

        def close() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return close

    return provider, open_port


def current_traceparent() -> str:
    """The W3C `traceparent` of the present work, empty when it is not traced: for messages that carry one."""
    context = trace.get_current_span().get_span_context()
    if not _is_sampled(context):
        return ""
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-01"


def parse_traceparent(header: str) -> SpanContext | None:
    """The span that a `traceparent` names; None for anything malformed."""
    parts = header.split("-")
    if [len(part) for part in parts] != [2, 32, 16, 2] or parts[0] == "ff":
        return None
    try:
        trace_id, span_id, flags = int(parts[1], 16), int(parts[2], 16), int(parts[3], 16)
    except ValueError:
        return None
    context = SpanContext(trace_id, span_id, is_remote=True, trace_flags=_SAMPLED if flags & 1 else TraceFlags(0))
    return context if context.is_valid else None


def trace_headers(metadata: Mapping[str, str]) -> Mapping[str, str]:
    """The headers of an outgoing call: these, and the trace of the present work if there is one."""
    header = current_traceparent()
    return {**metadata, TRACE_HEADER: header} if header else metadata


def observable_value(value: float, labels: Mapping[str, str] | None = None) -> metrics.Observation:
    """One value for a callback of an observable instrument."""
    return metrics.Observation(value, labels)


def _is_sampled(context: SpanContext) -> bool:
    return bool(context.trace_flags & TraceFlags.SAMPLED)
