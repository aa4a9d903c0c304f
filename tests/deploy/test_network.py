"""The network lets through the arrows of the picture in README.md, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.support.cluster import OVERLAYS, SERVICES, Pod, of_kind, pods, selects
from tests.support.picture import drawn

OUTSIDE = {5432: "postgres", 6379: "redis"}
PORTS = {"rules": 7410, "table": 7420, "clock": 7430, "bots": 7440, "gateway": 7400, "postgres": 5432, "redis": 6379}
IN_EVERY_OVERLAY = pytest.mark.parametrize("overlay", OVERLAYS)

Arrow = tuple[str, str, int]


def rules_of(overlay: str, pod: Pod, direction: str) -> Iterator[Mapping[str, Any]]:
    """The rules of all policies for one direction of a pod."""
    for policy in of_kind(overlay, "NetworkPolicy").values():
        if selects(policy["spec"]["podSelector"], pod.labels):
            assert set(policy["spec"]["policyTypes"]) <= {"Ingress", "Egress"}
            yield from policy["spec"].get(direction, [])


def numbers(rule: Mapping[str, Any]) -> set[int]:
    return {entry["port"] for entry in rule["ports"]}


def passes(rules: Iterator[Mapping[str, Any]], peers: str, other: Pod, port: int) -> bool:
    """Whether one of the rules lets `other` through: all peers, or one of them."""
    return any(
        port in numbers(rule)
        and (
            peers not in rule
            or any(
                "namespaceSelector" not in peer and "podSelector" in peer and selects(peer["podSelector"], other.labels)
                for peer in rule[peers]
            )
        )
        for rule in rules
    )


def let_through(overlay: str) -> set[Arrow]:
    """All pairs of pods and ports between which a connection may be made."""
    found = set()
    for source in pods(overlay).values():
        for target in pods(overlay).values():
            for port in target.ports.values():
                leaves = passes(rules_of(overlay, source, "egress"), "to", target, port)
                if leaves and passes(rules_of(overlay, target, "ingress"), "from", source, port):
                    found.add((source.name, target.name, port))
        for rule in rules_of(overlay, source, "egress"):
            if any("ipBlock" in peer for peer in rule["to"]):
                found |= {(source.name, OUTSIDE[port], port) for port in numbers(rule)}
    return found


def test_the_picture_is_read() -> None:
    assert {("client", "gateway"), ("table", "rules"), ("table", "postgres"), ("bots", "redis")} <= drawn()
    assert ("redis", "bots") not in drawn()


@IN_EVERY_OVERLAY
def test_only_the_arrows_of_the_picture(overlay: str) -> None:
    arrows = {arrow for arrow in drawn() if arrow[0] != "client"} | {("migrate", "postgres")}
    assert let_through(overlay) == {(source, target, PORTS[target]) for source, target in arrows}


@IN_EVERY_OVERLAY
def test_nothing_is_open_unless_a_policy_says_so(overlay: str) -> None:
    policies = of_kind(overlay, "NetworkPolicy")
    assert policies["nothing"]["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for pod in pods(overlay).values():
        own = [rule for rule in rules_of(overlay, pod, "ingress") if "from" not in rule]
        open_ports = set().union(*(numbers(rule) for rule in own))
        assert open_ports == ({7400, 7480} if pod.name == "gateway" else set()), "only clients come from anywhere"
        for rule in rules_of(overlay, pod, "egress"):
            assert rule["to"], "a rule without peers lets everything out"


@IN_EVERY_OVERLAY
def test_other_namespaces_reach_the_metrics_only(overlay: str) -> None:
    for pod in pods(overlay).values():
        inward = [
            (peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], numbers(rule))
            for rule in rules_of(overlay, pod, "ingress")
            for peer in rule.get("from", [])
            if "namespaceSelector" in peer
        ]
        assert inward == ([("monitoring", {9464})] if pod.name in SERVICES else [])
        outward = [
            (peer["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"], numbers(rule))
            for rule in rules_of(overlay, pod, "egress")
            for peer in rule["to"]
            if "namespaceSelector" in peer
        ]
        assert outward == [("kube-system", {53})], "names are asked for, and nothing else"
