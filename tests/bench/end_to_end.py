"""Commands a second through the real services and through the hollow chain, in turns on the same machine."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.processes import Process, cpu_seconds
from tests.bench.recording import record
from tests.bench.sites import Running, distributed, distributed_floor, embedded, embedded_floor, stores

MODES = ("embedded", "distributed")
TABLES = (1, 16, 64)
_WARM_S = 0.7
_RECORD_S = 2.5


@dataclass(slots=True)
class Sums:
    """What several turns of one chain add up to. Seconds, bytes; commands each second; times in milliseconds."""

    commands: int = 0
    rates: list[float] = field(default_factory=list)
    services_s: float = 0.0
    stores_s: float = 0.0
    by_service_s: dict[str, float] = field(default_factory=dict)
    load_s: float = 0.0
    failed: int = 0
    shed: int = 0
    update_bytes: int = 0
    command_bytes: int = 0
    times_ms: list[float] = field(default_factory=list)
    answers_ms: list[float] = field(default_factory=list)

    def by_service(self) -> dict[str, float]:
        """CPU for each command, in microseconds, by service."""
        return {name: round(used_s / max(1, self.commands) * 1e6, 1) for name, used_s in self.by_service_s.items()}

    def figures(self) -> dict[str, float]:
        """See docs/bench.md for the keys."""
        times, answers, count = sorted(self.times_ms), sorted(self.answers_ms), max(1, self.commands)
        return {
            "commands_per_s": round(statistics.median(self.rates), 1),
            "p50_ms": round(times[len(times) // 2], 3),
            "p99_ms": round(times[len(times) * 99 // 100], 3),
            "answer_p50_ms": round(answers[len(answers) // 2], 3),
            "answer_p99_ms": round(answers[len(answers) * 99 // 100], 3),
            "cpu_us_per_command": round((self.services_s + self.stores_s) / count * 1e6, 1),
            "cpu_us_per_command_services": round(self.services_s / count * 1e6, 1),
            "cpu_us_per_command_stores": round(self.stores_s / count * 1e6, 1),
            "cpu_us_per_command_load": round(self.load_s / count * 1e6, 1),
            "update_bytes": round(self.update_bytes / count),
            "command_bytes": round(self.command_bytes / count),
            "commands": self.commands,
            "failed": self.failed,
            "shed": self.shed,
        }


class Turns:
    """A chain with tables at it that are played in turns with those of another chain."""

    def __init__(self, running: Running, load: Process) -> None:
        self._running = running
        self._load = load
        self.sums = Sums()

    def play(self, seconds: float) -> None:
        """One turn."""
        by_service = {name: cpu_seconds(pids) for name, pids in self._running.processes.items()}
        services_s, stores_s = cpu_seconds(self._running.services), cpu_seconds(self._running.stores)
        answer = self._load.ask(seconds=seconds)
        sums = self.sums
        sums.services_s += cpu_seconds(self._running.services) - services_s
        sums.stores_s += cpu_seconds(self._running.stores) - stores_s
        for name, pids in self._running.processes.items():
            sums.by_service_s[name] = sums.by_service_s.get(name, 0.0) + cpu_seconds(pids) - by_service[name]
        sums.load_s += answer["cpu_seconds"]
        sums.commands += answer["commands"]
        sums.rates.append(answer["commands"] / answer["seconds"])
        sums.failed += answer["failed"]
        sums.shed += answer["shed"]
        sums.update_bytes += answer["update_bytes"]
        sums.command_bytes += answer["command_bytes"]
        sums.times_ms += answer["times_ms"]
        sums.answers_ms += answer["answers_ms"]


def measure(
    *, modes: Sequence[str] = MODES, tables: Sequence[int] = TABLES, turns: int = 5, turn_s: float = 1.0
) -> dict[str, Any]:
    """Figures by mode and number of tables; see docs/bench.md for the keys."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="magnate-bench-") as name:
        recording = _recording(Path(name))
        for mode in modes:
            with _chains(mode, Path(name), recording) as (real, floor):
                found[mode] = {str(count): _side_by_side(real, floor, count, turns, turn_s) for count in tables}
    return found


def _recording(folder: Path) -> Path:
    """A file with a game that the real site has played and stored."""
    path, site_folder = folder / "recording.json", folder / "recorded"
    with embedded(site_folder) as site, loaded(site, 1) as (load, table_ids):
        load.ask(seconds=_RECORD_S)
        record(site_folder / "magnate.db", table_ids[0]).write(path)
    return path


@contextmanager
def _chains(mode: str, folder: Path, recording: Path) -> Iterator[tuple[Running, Running]]:
    """The real services and the hollow chain of a mode."""
    with ExitStack() as stack:
        if mode == "embedded":
            yield (
                stack.enter_context(embedded(folder / "site")),
                stack.enter_context(embedded_floor(folder, recording)),
            )
        else:
            used = stack.enter_context(stores())
            yield stack.enter_context(distributed(used=used)), stack.enter_context(distributed_floor(used, recording))


@contextmanager
def loaded(running: Running, count: int) -> Iterator[tuple[Process, list[str]]]:
    """A load generator that sits at so many tables, and their ids."""
    with Process("load", ["tests.bench.load", "--address", ",".join(running.addresses)]) as load:
        yield load, load.ask(tables=count)["tables"]


def _side_by_side(real: Running, floor: Running, count: int, turns: int, turn_s: float) -> dict[str, Any]:
    with loaded(real, count) as (real_load, _), loaded(floor, count) as (floor_load, _):
        both = Turns(real, real_load), Turns(floor, floor_load)
        for chain in both:
            chain.play(_WARM_S)
            chain.sums = Sums()
        for _ in range(turns):
            for chain in both:
                chain.play(turn_s)
    figures, floor_figures = (chain.sums.figures() for chain in both)
    ratios = [own / of_floor for own, of_floor in zip(both[0].sums.rates, both[1].sums.rates, strict=True)]
    return {
        **figures,
        "floor": floor_figures,
        "rate_ratio": round(statistics.median(ratios), 3),
        "cpu_ratio": round(figures["cpu_us_per_command"] / floor_figures["cpu_us_per_command"], 3),
    }
