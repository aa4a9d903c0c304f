"""Replicas: how many, where, and how one goes."""

from __future__ import annotations

import pytest

from tests.support.cluster import OVERLAYS, SERVICES, of_kind, pods, selects, settings_map

IN_EVERY_OVERLAY = pytest.mark.parametrize("overlay", OVERLAYS)


@IN_EVERY_OVERLAY
def test_every_service_has_a_disruption_budget(overlay: str) -> None:
    budgets = of_kind(overlay, "PodDisruptionBudget")
    assert sorted(budgets) == sorted(SERVICES)
    for name, budget in budgets.items():
        meant = [pod.name for pod in pods(overlay).values() if selects(budget["spec"]["selector"], pod.labels)]
        assert meant == [name]
        assert budget["spec"]["maxUnavailable"] == 1, "a budget that forbids every eviction would hold up a drain"


def test_what_each_service_scales_on() -> None:
    found = {}
    for name, scaler in of_kind("prod", "HorizontalPodAutoscaler").items():
        target = scaler["spec"]["scaleTargetRef"]
        assert (target["kind"], target["name"]) == ("Deployment", name)
        assert "replicas" not in of_kind("prod", "Deployment")[name]["spec"], "an apply would undo the autoscaler"
        assert 2 <= scaler["spec"]["minReplicas"] < scaler["spec"]["maxReplicas"]
        (metric,) = scaler["spec"]["metrics"]
        found[name] = metric["resource"]["name"] if "resource" in metric else metric["pods"]["metric"]["name"]
    assert found == {
        "rules": "cpu",
        "table": "cpu",
        "bots": "magnate_bots_backlog",
        "gateway": "magnate_open_streams",
    }
    assert not of_kind("dev", "HorizontalPodAutoscaler")


@IN_EVERY_OVERLAY
def test_there_are_two_clocks_that_are_found_one_by_one(overlay: str) -> None:
    clock = of_kind(overlay, "Deployment")["clock"]
    assert clock["spec"]["replicas"] == 2, "one takes over what another one held"
    assert of_kind(overlay, "Service")["clock"]["spec"]["clusterIP"] == "None", "tables and gateways hear each of them"
    waits = {entry["key"]: entry["tolerationSeconds"] for entry in pods(overlay)["clock"].spec["tolerations"]}
    assert waits == {"node.kubernetes.io/not-ready": 15, "node.kubernetes.io/unreachable": 15}


@IN_EVERY_OVERLAY
def test_replicas_are_spread(overlay: str) -> None:
    for name in SERVICES:
        pod = pods(overlay)[name]
        spread = pod.spec["topologySpreadConstraints"]
        keys = [entry["topologyKey"] for entry in spread]
        assert keys == ["kubernetes.io/hostname", "topology.kubernetes.io/zone"]
        assert all(selects(entry["labelSelector"], pod.labels) for entry in spread)


@IN_EVERY_OVERLAY
def test_a_pod_has_time_to_end(overlay: str) -> None:
    grace_s = int(settings_map(overlay)["MAGNATE_SHUTDOWN_GRACE_MS"]) / 1000
    for name in SERVICES:
        pod = pods(overlay)[name]
        pause_s = pod.container["lifecycle"]["preStop"]["sleep"]["seconds"]
        # Streams and calls have their grace first, then the browser port of a gateway has its own.
        assert pod.spec["terminationGracePeriodSeconds"] > pause_s + 2 * grace_s, name
        strategy = pod.owner["spec"]["strategy"]
        assert strategy == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}, name


@IN_EVERY_OVERLAY
def test_the_migration_may_run_again(overlay: str) -> None:
    job = pods(overlay)["migrate"]
    assert job.spec["restartPolicy"] == "OnFailure"
    assert job.owner["spec"]["backoffLimit"] >= 5, "a new database may take a while to answer"
