"""What is watched: every metric that an alert, a panel or an autoscaler names is one that the code makes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import promql_parser as promql
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from services.bots.application.instruments import Instruments as OfBots
from services.clock.application.instruments import Instruments as OfClock
from services.clock.domain.play_time import Cause
from services.kit.telemetry import Telemetry
from services.rules.application.instruments import Instruments as OfRules
from services.table.adapters.instruments import Instruments as OfTable
from tests.support.cluster import ROOT, of_kind
from tests.support.http import request
from tests.support.metrics import instruments, labels, series
from tests.support.servers import free_port

FOLDER = ROOT / "deploy" / "monitoring"
GUIDE = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
ALERTS = [
    rule
    for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
# Given by Prometheus itself, as deploy/monitoring/scrape.yaml tells it.
SCRAPED_LABELS = {"job", "service", "pod", "namespace"}
SCRAPED_SERIES = {"up"}
# What has to be seen, by a metric without which it would not be.
WANTED = {
    "commands a second": "magnate_table_commands_total",
    "commit latency": "magnate_table_commit_seconds_bucket",
    "stream lag": "magnate_table_outbox_lag_seconds",
    "open streams": "magnate_open_streams",
    "deadlines fired late": "magnate_clock_late_milliseconds_bucket",
    "play time standing still": "magnate_clock_running",
    "refusals by code": "magnate_table_refusals_total",
    "bots' backlog": "magnate_bots_backlog",
}


def queries() -> list[tuple[str, str]]:
    """Every query, with where it is from."""
    from_alerts = [(rule["alert"], rule["expr"]) for rule in ALERTS]
    from_panels = [(panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]]
    adapter = yaml.safe_load((FOLDER / "adapter.yaml").read_text(encoding="utf-8"))["rules"]
    from_panels = [
        (where, query.replace("$__rate_interval", "1m").replace("$__range", "1h")) for where, query in from_panels
    ]
    return [*from_alerts, *from_panels, *(("adapter", rule["seriesQuery"]) for rule in adapter)]


def nodes(node: Any) -> Iterator[Any]:
    """A query's expression and all inside it."""
    yield node
    for part in ("lhs", "rhs", "expr", "param", "vector_selector"):
        inner = getattr(node, part, None)
        if inner is not None:
            yield from nodes(inner)
    for argument in getattr(node, "args", None) or []:
        yield from nodes(argument)


def names_of(query: str) -> set[str]:
    """The series that a query reads."""
    return {str(node.name) for node in nodes(promql.parse(query)) if isinstance(node, promql.VectorSelector)}


def labels_of(query: str) -> set[str]:
    """The labels that a query selects or groups by."""
    found = set()
    for node in nodes(promql.parse(query)):
        if isinstance(node, promql.VectorSelector):
            found |= {matcher.name for matcher in node.matchers.matchers}
        if isinstance(node, promql.AggregateExpr) and node.modifier is not None:
            found |= set(node.modifier.labels)
    return found


async def shown_from_the_start() -> dict[str, list[tuple[dict[str, str], float]]]:
    """What services show before anything has happened: labels and value of each series, by its name."""
    port = free_port()
    telemetry = Telemetry("all", metrics_port=port)
    kept = [kind(telemetry) for kind in (OfBots, OfClock, OfRules, OfTable)]
    telemetry.serve_metrics()
    page = (await request("GET", f"http://127.0.0.1:{port}/metrics")).body.decode()
    telemetry.close()
    assert len(kept) == 4
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def test_the_code_is_read() -> None:
    assert instruments()["magnate_clock_running"] == ("create_observable_gauge", "")
    assert instruments()["magnate_table_commit_seconds"] == ("create_histogram", "s")
    assert {
        "magnate_table_commit_seconds_bucket",
        "magnate_gateway_slow_clients_total",
        "magnate_open_calls",
    } <= series()
    assert {"reason", "outcome", "method", "code"} <= labels()


def test_a_query_is_read() -> None:
    query = 'max by (pod) (some_seconds{code!="OK"}) and on () sum(rate(others_total[1m])) > 1'
    assert names_of(query) == {"some_seconds", "others_total"}
    assert labels_of(query) == {"pod", "code"}


@pytest.mark.parametrize(("where", "query"), queries())
def test_every_metric_that_is_named_exists(where: str, query: str) -> None:
    names = names_of(query)
    assert names, where
    assert names <= series() | SCRAPED_SERIES
    assert labels_of(query) <= labels() | SCRAPED_LABELS


@pytest.mark.parametrize("metric", WANTED.values(), ids=WANTED.keys())
def test_what_matters_is_on_the_dashboard(metric: str) -> None:
    shown = set().union(*(names_of(query) for where, query in queries() if where in {p["title"] for p in PANELS}))
    assert metric in shown
    if "refusals" not in metric and "commands" not in metric:
        assert metric in set().union(*(names_of(rule["expr"]) for rule in ALERTS))


@pytest.mark.parametrize("rule", ALERTS, ids=[rule["alert"] for rule in ALERTS])
def test_every_alert_says_what_to_do(rule: dict[str, Any]) -> None:
    assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"] in ({"severity": "critical"}, {"severity": "warning"})
    assert rule["annotations"]["summary"].endswith((".", "s"))
    name = rule["alert"]
    assert rule["annotations"]["runbook"] == f"docs/operate.md#{name.lower()}"
    section = re.search(rf"^#### {name}\n\n(.+?)(?=^#|\Z)", GUIDE, re.MULTILINE | re.DOTALL)
    assert section is not None, f"docs/operate.md does not tell of {name}"
    assert "**Do:**" in section.group(1)


def test_no_alert_of_the_guide_is_gone() -> None:
    told = re.findall(r"^#### (Magnate\w+)$", GUIDE, re.MULTILINE)
    assert sorted(told) == sorted(rule["alert"] for rule in ALERTS)


async def test_an_alert_on_a_rise_sees_the_first_fault() -> None:
    """A series that is born with a fault has not risen: it is there from the start, or the alert asks whether it was
    there before."""
    shown = await shown_from_the_start()
    rises = 0
    for rule in ALERTS:
        inside = list(nodes(promql.parse(rule["expr"])))
        risen = [node for node in inside if isinstance(node, promql.Call) and node.func.name == "increase"]
        before = {str(node.name) for node in inside if isinstance(node, promql.VectorSelector) and node.offset}
        for name in {name for node in risen for name in names_of(node.prettify())}:
            rises += 1
            assert name in shown or name in before, rule["alert"]
    assert rises == 2


async def test_faults_are_counted_from_zero() -> None:
    shown = await shown_from_the_start()
    for name in (
        "magnate_rules_invariants_broken_total",
        "magnate_clock_probes_lost_total",
        "magnate_bots_failures_total",
        "magnate_table_bot_fallbacks_total",
    ):
        assert [value for _, value in shown[name]] == [0.0], name
    for name in ("magnate_clock_outages_total", "magnate_clock_given_back_milliseconds_total"):
        assert {of["cause"]: value for of, value in shown[name]} == dict.fromkeys(Cause, 0.0), name


def test_panels_do_not_lie_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def test_the_adapter_gives_what_the_autoscalers_want() -> None:
    wanted = {
        metric["pods"]["metric"]["name"]
        for scaler in of_kind("prod", "HorizontalPodAutoscaler").values()
        for metric in scaler["spec"]["metrics"]
        if metric["type"] == "Pods"
    }
    given = set().union(*(names_of(query) for where, query in queries() if where == "adapter"))
    assert given == wanted
