"""The objects of deploy/k8s as a cluster would get them, rendered by kubectl itself, which needs no cluster for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "deploy" / "k8s"
OVERLAYS = ("dev", "prod")
SERVICES = ("rules", "table", "clock", "bots", "gateway")
WORKLOADS = ("Deployment", "StatefulSet", "Job")
NAME = "app.kubernetes.io/name"

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod as a workload makes it. `spec` is its own, `owner` the workload."""

    name: str
    labels: Mapping[str, str]
    spec: Object
    owner: Object

    @property
    def container(self) -> Object:
        """The only container."""
        (found,) = self.spec["containers"]
        return dict(found)

    @property
    def ports(self) -> dict[str, int]:
        """Ports by their names."""
        return {port["name"]: port["containerPort"] for port in self.container.get("ports", [])}


@cache
def objects(overlay: str) -> tuple[Object, ...]:
    """Everything that an overlay makes."""
    return rendered(FOLDER / "overlays" / overlay)


def rendered(folder: Path) -> tuple[Object, ...]:
    """Everything that a folder with a kustomization makes."""
    beside = Path(sys.executable).parent / "kubectl"
    program = str(beside) if beside.exists() else shutil.which("kubectl")
    assert program is not None, "kubectl comes with `make setup` on Linux; elsewhere it has to be installed"
    done = subprocess.run([program, "kustomize", str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return tuple(yaml.load_all(done.stdout, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def of_kind(overlay: str, *kinds: str) -> dict[str, Object]:
    """The objects of some kinds, by name."""
    return {item["metadata"]["name"]: item for item in objects(overlay) if item["kind"] in kinds}


def pods(overlay: str) -> dict[str, Pod]:
    """The pods of all workloads, by the workload's name."""
    return {
        name: Pod(name, item["spec"]["template"]["metadata"]["labels"], item["spec"]["template"]["spec"], item)
        for name, item in of_kind(overlay, *WORKLOADS).items()
    }


def settings_map(overlay: str) -> dict[str, str]:
    """The variables that all services share."""
    (found,) = of_kind(overlay, "ConfigMap").values()
    return dict(found["data"])


def selects(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a label selector means something with these labels."""
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    for wish in selector.get("matchExpressions", []):
        assert wish["operator"] == "In", "only what the manifests use is understood"
        if labels.get(wish["key"]) not in wish["values"]:
            return False
    return True


def raw_files() -> Iterator[Path]:
    """All files of the folder."""
    return (path for path in sorted(FOLDER.rglob("*")) if path.is_file())
