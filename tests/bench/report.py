"""The figures for people, and what they have to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.bench import printers

CORE_AT_LEAST = 30_000
FLAGSHIP_SHARE_AT_LEAST = 0.5
FLOOR_SHARE_AT_LEAST = 0.5
IDLE_MB_AT_MOST = 150
TABLE_KB_AT_MOST = 100
#: what may be counted as the same, where a figure must not grow
SAME_AT_MOST = 1.5
SAME_AT_LEAST = 0.8
DEADLINE_BYTES_AT_MOST = 300
LATE_P99_MS_AT_MOST = 200


@dataclass(frozen=True, slots=True)
class Demand:
    """A figure with a bound."""

    name: str
    value: float
    bound: float
    at_least: bool

    @property
    def holds(self) -> bool:
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def figures(self) -> dict[str, Any]:
        """See docs/bench.md for the keys."""
        return {"value": self.value, "at_least" if self.at_least else "at_most": self.bound, "holds": self.holds}

    def __str__(self) -> str:
        return f"{self.name}: {self.value:g}, at {'least' if self.at_least else 'most'} {self.bound:g}"


def demands(found: dict[str, Any]) -> list[Demand]:
    """What the parts that were measured have to hold."""
    held: list[Demand] = []
    if "core" in found:
        held.append(Demand("core commands/s", found["core"]["commands_per_s"], CORE_AT_LEAST, True))
    for edition_id, figures in found.get("editions", {}).items():
        name = f"core's speed by that of the flagship, {edition_id}"
        held.append(Demand(name, figures["of_flagship"], FLAGSHIP_SHARE_AT_LEAST, True))
    for mode, by_tables in found.get("e2e", {}).items():
        for tables, figures in by_tables.items():
            name = f"share of the floor's rate, {mode}, tables: {tables}"
            held.append(Demand(name, figures["rate_ratio"], FLOOR_SHARE_AT_LEAST, True))
    if "memory" in found:
        held.append(Demand("idle embedded site, MB", found["memory"]["0"]["rss_mb"], IDLE_MB_AT_MOST, False))
        held.append(Demand("a running table, kB", found["memory"]["kb_per_table"], TABLE_KB_AT_MOST, False))
    return held + _that_nothing_grows(found) + _of_the_clock(found)


def _that_nothing_grows(found: dict[str, Any]) -> list[Demand]:
    """With the number of watches and of idle tables, and with the length of the log."""
    held: list[Demand] = []
    if "watchers" in found:
        held.append(Demand("memory of a watch, many by few", found["watchers"]["memory_ratio"], SAME_AT_MOST, False))
    if "idle" in found:
        held.append(Demand("rate, many idle tables by few", found["idle"]["rate_ratio"], SAME_AT_LEAST, True))
    for what in ("place", "state", "submit"):
        if "restore" in found:
            name = f"time of a {what}, long log by short"
            held.append(Demand(name, found["restore"][f"{what}_ratio"], SAME_AT_MOST, False))
    return held


def _of_the_clock(found: dict[str, Any]) -> list[Demand]:
    if "clock" not in found:
        return []
    figures = found["clock"]
    late = [value["late_p99_ms"] for key, value in figures.items() if key.isdecimal()]
    return [
        Demand("a deadline, bytes", figures["bytes_per_deadline"], DEADLINE_BYTES_AT_MOST, False),
        Demand("deadlines late, p99 ms", max(late), LATE_P99_MS_AT_MOST, False),
        Demand("time to give back, many deadlines by few", figures["give_back_ratio"], SAME_AT_MOST, False),
    ]


def print_part(part: str, figures: dict[str, Any], seconds: float) -> None:
    """Prints one part with its heading."""
    print(f"\n{part} ({seconds:.0f} s)")
    known = {
        "core": _print_core,
        "editions": _print_editions,
        "e2e": _print_end_to_end,
        "memory": _print_memory,
        "replicas": printers.print_replicas,
        "watchers": printers.print_watchers,
        "people": printers.print_people,
        "idle": printers.print_idle,
        "restore": printers.print_restore,
        "clock": printers.print_clock,
    }
    known[part](figures)


def _print_core(figures: dict[str, Any]) -> None:
    print(
        f"  {figures['commands_per_s']:,} commands/s decided, folded and listed ({figures['us_per_command']} us each)"
    )
    print(f"  {figures['state_hash_us']} us for a state hash")
    print(f"  {figures['games_per_s']} whole games/s of four bots, {figures['commands_per_game']} commands each")


def _print_editions(figures: dict[str, Any]) -> None:
    for edition_id, found in figures.items():
        print(
            f"  {edition_id:16} {found['commands_per_s']:7,} commands/s ({found['us_per_command']:5.1f} us each), "
            f"{found['of_flagship']:.2f} of the flagship's"
        )


def _print_end_to_end(figures: dict[str, Any]) -> None:
    print("                        commands/s  p50 ms  p99 ms   CPU us/command (services, stores)  update B  of floor")
    for mode, by_tables in figures.items():
        for tables, found in by_tables.items():
            _print_chain(f"{mode} {tables}", found, f"{found['rate_ratio']:.2f}")
            _print_chain("  floor", found["floor"], "")


def _print_chain(name: str, figures: dict[str, Any], share: str) -> None:
    cpu = (
        f"{figures['cpu_us_per_command']:6.0f} "
        f"({figures['cpu_us_per_command_services']:.0f}, {figures['cpu_us_per_command_stores']:.0f})"
    )
    print(
        f"  {name:20} {figures['commands_per_s']:11.0f} {figures['p50_ms']:7.2f} {figures['p99_ms']:7.2f}"
        f"   {cpu:33} {figures['update_bytes']:8} {share:>9}"
        + (f"  {figures['failed']} failed" if figures["failed"] else "")
    )


def _print_memory(figures: dict[str, Any]) -> None:
    for tables, found in figures.items():
        if isinstance(found, dict):
            print(
                f"  {tables:>5} tables: {found['rss_mb']} MB; started with them in {found['start_ms']} ms, "
                f"{found['rss_after_restart_mb']} MB then"
            )
    print(f"  {figures['kb_per_table']} kB for a running table")
