"""Generates the Python code of every contract in `proto/` into `gen/python/` (which git ignores).

Messages and their types, gRPC stubs and their types for all areas; Connect handlers for the gateway, the only
service that browsers reach. The new code is made beside the old and swapped in at the end, so that a failed run
leaves the old one and a process that imports meanwhile sees one or the other.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
TARGET = ROOT / "gen" / "python"
CONNECT_AREAS = ("gateway",)


def protoc(arguments: list[str], files: list[Path]) -> None:
    """Runs protoc with the plugins of this interpreter's environment; exits with its message when it fails."""
    command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", *arguments, *map(str, files)]
    bin_folder = str(Path(sys.executable).parent)
    done = subprocess.run(command, check=False, env={"PATH": f"{bin_folder}:/usr/bin:/bin"})
    if done.returncode:
        sys.exit(f"protoc failed with status {done.returncode}")


def generate(target: Path, files: list[Path]) -> None:
    """Writes the code of `files` under `target`."""
    plugins = ("python", "grpc_python", "mypy", "mypy_grpc")
    outputs = [f"--{plugin}_out={target}" for plugin in plugins]
    protoc([*outputs, "--mypy_opt=quiet", "--mypy_grpc_opt=quiet"], files)
    connect = [file for file in files if file.relative_to(PROTO).parts[1] in CONNECT_AREAS]
    if connect:
        protoc([f"--connectrpc_out={target}", "--connectrpc_opt=protobuf=google"], connect)


def make_packages(target: Path) -> None:
    """Turns each generated folder into a package and marks the whole as typed."""
    package = target / "magnate"
    package.mkdir(exist_ok=True)
    for folder in (package, *(path for path in package.rglob("*") if path.is_dir())):
        (folder / "__init__.py").touch()
    (package / "py.typed").touch()


def main() -> None:
    files = sorted(PROTO.rglob("*.proto"))
    fresh = TARGET.with_name("python.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    if files:
        generate(fresh, files)
    make_packages(fresh)
    old = TARGET.with_name("python.old")
    shutil.rmtree(old, ignore_errors=True)
    if TARGET.exists():
        TARGET.rename(old)
    fresh.rename(TARGET)
    shutil.rmtree(old, ignore_errors=True)
    print(f"generated the code of {len(files)} contracts into {TARGET.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
