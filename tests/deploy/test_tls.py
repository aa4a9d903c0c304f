"""The component for TLS between services: what it adds to an overlay, and that it changes nothing else."""

from __future__ import annotations

import json
import os
from typing import Any

import kubernetes_validate
import pytest

from tests.deploy.test_pods import VERSIONS, settings
from tests.support.cluster import FOLDER, OVERLAYS, SERVICES, Object, objects, rendered

FILES = {"MAGNATE_TLS_CERT": "tls.crt", "MAGNATE_TLS_KEY": "tls.key", "MAGNATE_TLS_CA": "ca.crt"}


@pytest.fixture(scope="module", params=OVERLAYS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """An overlay as it is, and with the component: the objects by kind and name."""
    folder = tmp_path_factory.mktemp("site")
    overlay, component = FOLDER / "overlays" / request.param, FOLDER / "components" / "tls"
    chosen = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [os.path.relpath(overlay, folder)],
        "components": [os.path.relpath(component, folder)],
    }
    (folder / "kustomization.yaml").write_text(json.dumps(chosen))
    return _by_name(objects(request.param)), _by_name(rendered(folder))


def _by_name(found: tuple[Object, ...]) -> dict[tuple[str, str], Object]:
    # The name of the shared settings says what is in them.
    return {
        (item["kind"], "settings" if item["kind"] == "ConfigMap" else item["metadata"]["name"]): item for item in found
    }


def test_every_object_still_fits_its_schema(both: tuple[Any, Any]) -> None:
    for version in VERSIONS:
        for (kind, _), item in both[1].items():
            if kind == "Deployment":
                kubernetes_validate.validate(item, version, strict=True)


def test_only_services_and_their_settings_change(both: tuple[Any, Any]) -> None:
    plain, secured = both
    assert set(plain) == set(secured)
    changed = {key for key in plain if plain[key] != secured[key]}
    assert changed == {("ConfigMap", "settings"), *(("Deployment", name) for name in SERVICES)}


def test_the_settings_name_the_mounted_files(both: tuple[Any, Any]) -> None:
    plain, secured = (site["ConfigMap", "settings"]["data"] for site in both)
    added = {name: value for name, value in secured.items() if name not in plain}
    assert {name: secured[name] for name in plain} == plain
    assert added == {**{name: f"/tls/{file}" for name, file in FILES.items()}, "MAGNATE_HEALTH_PORT": "7490"}
    known = settings()
    for name, value in added.items():
        known[name].read(value)


@pytest.mark.parametrize("service", SERVICES)
def test_every_pod_has_its_own_certificate_and_a_port_for_probes(both: tuple[Any, Any], service: str) -> None:
    """It can read its own and no other; the rest of the pod is as without TLS."""
    plain, secured = (site["Deployment", service]["spec"]["template"]["spec"] for site in both)
    assert secured["volumes"] == [{"name": "tls", "secret": {"secretName": f"tls-{service}", "defaultMode": 0o440}}]
    assert secured["securityContext"] == {**plain["securityContext"], "fsGroup": 10001}
    (container,), (before,) = secured["containers"], plain["containers"]
    assert container["volumeMounts"] == [{"name": "tls", "mountPath": "/tls", "readOnly": True}]
    for kind in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[kind] == {**before[kind], "grpc": {**before[kind]["grpc"], "port": 7490}}
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports == {**{port["name"]: port["containerPort"] for port in before["ports"]}, "health": 7490}
    same = set(before) - {"ports", "startupProbe", "livenessProbe", "readinessProbe", "envFrom"}
    assert {name: container[name] for name in same} == {name: before[name] for name in same}
