"""The metrics that the code makes, as Prometheus sees them: found in the sources, named by the real exporter."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.metrics import Meter, Observation
from opentelemetry.sdk.metrics import MeterProvider
from prometheus_client import CollectorRegistry

ROOT = Path(__file__).resolve().parents[2]
_NAME = re.compile(r"magnate(_[a-z]+)+")
#: names that some instrument gives itself by a variable; all of these are observable gauges
_DEFAULT = "create_observable_gauge"


@cache
def instruments() -> dict[str, tuple[str, str]]:
    """The method that makes each instrument, and its unit, by its name in the code."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted([*ROOT.glob("services/**/*.py"), *ROOT.glob("gateway/**/*.py")]):
        text = path.read_text(encoding="utf-8")
        if "create_" in text and "magnate_" in text:
            for name, how, unit in _made_in(ast.parse(text)):
                if how != _DEFAULT or name not in found:
                    found[name] = (how, unit)
    return found


@cache
def series() -> frozenset[str]:
    """The names of all series, `_bucket`, `_sum` and `_count` included."""
    registry = CollectorRegistry()
    provider = MeterProvider([PrometheusMetricReader(registry=registry)], shutdown_on_exit=False)
    meter = provider.get_meter("all")
    for name, (how, unit) in instruments().items():
        _make(meter, how, name, unit)
    names = frozenset(sample.name for family in registry.collect() for sample in family.samples)
    provider.shutdown()
    return names


@cache
def labels() -> frozenset[str]:
    """The labels that the code gives with a value, and those of the exporter."""
    found = {"le", "otel_scope_name"}
    for path in sorted([*ROOT.glob("services/**/*.py"), *ROOT.glob("gateway/**/*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _RECORDERS:
                found |= {key for argument in node.args for key in _keys(argument)}
    return frozenset(found)


_RECORDERS = ("add", "record")


def _keys(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Dict):
        for key in node.keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value


def _made_in(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _NAME.fullmatch(node.value):
            yield node.value, _DEFAULT, ""
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        first = node.args[0]
        if node.func.attr.startswith("create_") and isinstance(first, ast.Constant) and isinstance(first.value, str):
            units = [word.value for word in node.keywords if word.arg == "unit"]
            unit = next((str(value.value) for value in units if isinstance(value, ast.Constant)), "")
            yield first.value, node.func.attr, unit


def _make(meter: Meter, how: str, name: str, unit: str) -> None:
    """Makes the instrument and gives it one value, for without one it is not shown."""
    if how == "create_counter":
        meter.create_counter(name, unit=unit).add(1)
    elif how == "create_histogram":
        meter.create_histogram(name, unit=unit).record(1)
    elif how == "create_observable_counter":
        meter.create_observable_counter(name, [lambda _: [Observation(1)]], unit=unit)
    elif how == "create_observable_gauge":
        meter.create_observable_gauge(name, [lambda _: [Observation(1)]], unit=unit)
    else:
        raise AssertionError(f"{name} is made by {how}, which is not known here")
