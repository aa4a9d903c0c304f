"""Every object fits the schemas of Kubernetes, and every pod is what a pod has to be."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator

import kubernetes_validate
import pytest

from services.kit.settings import Setting, Settings, known_settings
from services.site.alone import ALONE
from services.site.arguments import parser
from services.site.settings import SiteSettings
from tests.support.cluster import OVERLAYS, SERVICES, Pod, objects, of_kind, pods, raw_files, settings_map
from tests.tools.settings_table import render

# The oldest version that knows all that is used, and the newest that the schemas know.
VERSIONS = ("1.30.0", kubernetes_validate.latest_version())
# What libpq and asyncpg call the security of a connection; it is no setting of ours.
POSTGRES_VARIABLES = {"PGSSLMODE"}
IN_EVERY_OVERLAY = pytest.mark.parametrize("overlay", OVERLAYS)


def settings() -> dict[str, Setting]:
    render()
    kinds = [kind for kind in known_settings() if kind.__module__.split(".")[0] in {"services", "gateway"}]
    return {described.env: described for kind in kinds for described in kind.described().values()}


def settings_of(service: str) -> dict[str, Setting]:
    """The settings that one service reads, by their variable."""
    module = f"{'' if service == 'gateway' else 'services.'}{service}.settings"
    return described_by(getattr(importlib.import_module(module), f"{service.title()}Settings"))


def described_by(kind: type[Settings]) -> dict[str, Setting]:
    """The settings of a class, by their variable."""
    return {described.env: described for described in kind.described().values()}


def variables(pod: Pod) -> Iterator[dict[str, object]]:
    yield from pod.container.get("env", [])


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_fits_its_schema(version: str) -> None:
    different = {json.dumps(item, sort_keys=True): item for overlay in OVERLAYS for item in objects(overlay)}
    for item in different.values():
        kubernetes_validate.validate(item, version, strict=True)


def test_an_object_that_does_not_fit_is_found() -> None:
    wrong = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "x"}, "automount": False}
    with pytest.raises(kubernetes_validate.ValidationError, match="automount"):
        kubernetes_validate.validate(wrong, VERSIONS[0], strict=True)


@IN_EVERY_OVERLAY
def test_every_service_is_there_once(overlay: str) -> None:
    found = {name: item for name, item in of_kind(overlay, "Deployment").items() if name in SERVICES}
    assert sorted(found) == sorted(SERVICES) == sorted(ALONE)
    names = [(item["kind"], item["metadata"]["name"]) for item in objects(overlay)]
    assert len(names) == len(set(names))
    assert {item["metadata"].get("namespace", "magnate") for item in objects(overlay)} == {"magnate"}
    accounts = of_kind(overlay, "ServiceAccount")
    for name, pod in pods(overlay).items():
        assert pod.spec["serviceAccountName"] == name
        assert accounts[name]["automountServiceAccountToken"] is False
        assert pod.owner["spec"].get("selector", {"matchLabels": {}})["matchLabels"].items() <= pod.labels.items()


@IN_EVERY_OVERLAY
def test_every_pod_runs_what_the_program_knows(overlay: str) -> None:
    for name in (*SERVICES, "migrate"):
        chosen = parser().parse_args(pods(overlay)[name].container["args"])
        assert (chosen.command, getattr(chosen, "part", name)) == ("migrate" if name == "migrate" else "up", name)


@IN_EVERY_OVERLAY
def test_every_pod_has_probes(overlay: str) -> None:
    for name, pod in pods(overlay).items():
        if pod.owner["kind"] == "Job":
            continue
        for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert kind in pod.container, f"{name} has no {kind}"
        if name not in SERVICES:
            continue
        port = pod.ports["grpc"]
        # A restart does not bring a store back: only readiness asks for what the service stands on.
        assert pod.container["livenessProbe"]["grpc"] == {"port": port, "service": "live"}
        assert pod.container["startupProbe"]["grpc"] == {"port": port, "service": "live"}
        assert pod.container["readinessProbe"]["grpc"] == {"port": port}


@IN_EVERY_OVERLAY
def test_every_pod_has_requests_and_limits(overlay: str) -> None:
    for name, pod in pods(overlay).items():
        resources = pod.container["resources"]
        assert set(resources["limits"]) == set(resources["requests"]) == {"cpu", "memory"}, name


@IN_EVERY_OVERLAY
def test_every_pod_is_locked_up(overlay: str) -> None:
    for name, pod in pods(overlay).items():
        outer, inner = pod.spec["securityContext"], pod.container["securityContext"]
        assert outer["runAsNonRoot"] is True, name
        assert outer["runAsUser"] > 0, name
        assert outer["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert inner == {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }, name
        assert pod.spec["automountServiceAccountToken"] is False, name
        assert pod.spec["enableServiceLinks"] is False, f"{name}: links would bring MAGNATE-like variables of their own"
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod.spec), name
        assert all("hostPath" not in volume for volume in pod.spec.get("volumes", [])), name


@IN_EVERY_OVERLAY
def test_every_variable_is_a_setting(overlay: str) -> None:
    known = settings()
    for variable, value in settings_map(overlay).items():
        known[variable].read(value)
        assert not known[variable].secret, variable
    for name in (*SERVICES, "migrate"):
        reads = settings_of("table") | described_by(SiteSettings) if name == "migrate" else settings_of(name)
        for entry in variables(pods(overlay)[name]):
            assert entry["name"] in {*reads, *POSTGRES_VARIABLES}, f"{name} does not know {entry['name']}"
            if "value" in entry and entry["name"] in reads:
                reads[str(entry["name"])].read(str(entry["value"]))


@IN_EVERY_OVERLAY
def test_every_service_gets_its_secrets_and_no_other(overlay: str) -> None:
    wanted = {
        "MAGNATE_DATABASE_URL": {"name": "magnate", "key": "database-url"},
        "MAGNATE_REDIS_URL": {"name": "magnate", "key": "redis-url"},
        "MAGNATE_CLOCK_TOKEN": {"name": "magnate", "key": "clock-token"},
        # A site without operators starts all the same.
        "MAGNATE_OPERATORS": {"name": "magnate", "key": "operators", "optional": True},
    }
    for name in SERVICES:
        secrets = {env for env, described in settings_of(name).items() if described.secret}
        given = {
            str(entry["name"]): entry["valueFrom"]
            for entry in variables(pods(overlay)[name])
            if str(entry["name"]).startswith("MAGNATE_")
        }
        assert given == {env: {"secretKeyRef": wanted[env]} for env in secrets & set(wanted)}, name


def test_no_secret_is_in_a_file() -> None:
    telling = re.compile(r"PASSWORD|TOKEN|SECRET|OPERATORS|_URL|_KEY")
    for overlay in OVERLAYS:
        assert not of_kind(overlay, "Secret")
        assert not any(telling.search(variable) for variable in settings_map(overlay))
        for pod in pods(overlay).values():
            given = {str(entry["name"]): set(entry) - {"name"} for entry in variables(pod)}
            for variable, how in given.items():
                assert how == ({"valueFrom"} if telling.search(variable) else {"value"}), f"{pod.name}: {variable}"
    for path in raw_files():
        text = path.read_text(encoding="utf-8")
        assert "secretGenerator" not in text, path
        assert "://" not in text.replace("dns:///", ""), f"{path} names a server by URL"


@IN_EVERY_OVERLAY
def test_every_port_matches(overlay: str) -> None:
    all_pods, shared = pods(overlay), settings_map(overlay)
    services = of_kind(overlay, "Service")
    for name in SERVICES:
        ports = all_pods[name].ports
        assert ports["grpc"] == settings()[f"MAGNATE_{name.upper()}_PORT"].default
        assert ports["metrics"] == int(shared["MAGNATE_METRICS_PORT"])
        annotations = all_pods[name].owner["spec"]["template"]["metadata"]["annotations"]
        assert annotations["prometheus.io/port"] == shared["MAGNATE_METRICS_PORT"]
        host, port = shared[f"MAGNATE_{name.upper()}_ADDRESS"].removeprefix("dns:///").split(":")
        assert services[host]["spec"]["clusterIP"] == "None", "round_robin wants the addresses of all replicas"
        assert services[host]["spec"]["selector"].items() <= all_pods[name].labels.items()
        assert int(port) in {entry["port"] for entry in services[host]["spec"]["ports"]}
    assert all_pods["gateway"].ports["web"] == settings()["MAGNATE_WEB_PORT"].default
    for name, service in services.items():
        (pod,) = [pod for pod in all_pods.values() if service["spec"]["selector"].items() <= pod.labels.items()]
        for entry in service["spec"]["ports"]:
            assert pod.ports[entry["targetPort"]] == entry["port"], name


@IN_EVERY_OVERLAY
def test_every_image_has_one_version(overlay: str) -> None:
    images: dict[str, set[str]] = {}
    for pod in pods(overlay).values():
        name, _, version = pod.container["image"].partition("@" if "@" in pod.container["image"] else ":")
        images.setdefault(name, set()).add(version)
    for name, versions in images.items():
        (version,) = versions
        assert re.fullmatch(r"\d+\.\d+[\w.-]*|sha256:[0-9a-f]{64}", version), f"{name}:{version}"
    for path in raw_files():
        assert not re.search(r"^\s*image:\s*\S*[:@]", path.read_text(encoding="utf-8"), re.MULTILINE), path
