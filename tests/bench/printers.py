"""The figures of the distributed site and of the clock, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def by_number(figures: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """What was measured for each number of something, from the least on."""
    yield from sorted((int(key), value) for key, value in figures.items() if key.isdecimal())


def print_replicas(figures: Mapping[str, Any]) -> None:
    """One line for each number of replicas."""
    print("            commands/s  p50 ms  p99 ms   CPU us/command (services, stores)  memory MB")
    for count, found in by_number(figures):
        cpu = (
            f"{found['cpu_us_per_command']:6.0f} "
            f"({found['cpu_us_per_command_services']:.0f}, {found['cpu_us_per_command_stores']:.0f})"
        )
        print(
            f"  {count} of each {found['commands_per_s']:11.0f} {found['p50_ms']:7.2f} {found['p99_ms']:7.2f}   "
            f"{cpu:33} {found['rss_mb']:10.0f}"
        )
        services = found["cpu_us_per_command_by_service"]
        print("            " + ", ".join(f"{name} {used_us:.0f} us" for name, used_us in services.items()))
    print(f"  rate {figures['rate_ratio']:.2f} and CPU {figures['cpu_ratio']:.2f} of the least number's")


def print_watchers(figures: Mapping[str, Any]) -> None:
    """One line for each number of watches."""
    print("                 kB each   after call p50, p99 ms   after answer p50, p99 ms   gateway us/delivery, share")
    for count, found in by_number(figures):
        print(
            f"  {count:6,} watches {found['kb_per_watch']:7.1f} "
            f"{found['delivery_p50_ms']:14.2f} {found['delivery_p99_ms']:8.2f} "
            f"{found['after_answer_p50_ms']:17.2f} {found['after_answer_p99_ms']:8.2f} "
            f"{found['gateway_cpu_us_per_delivery']:17.0f} {found['gateway_cpu_share']:8.2f}"
        )


def print_people(figures: Mapping[str, Any]) -> None:
    """One line for each mode."""
    print(f"  {figures['clients']} people at {figures['tables']} tables, {figures['actions_per_s']:.0f} actions/s")
    for mode in ("embedded", "distributed"):
        if mode in figures:
            found = figures[mode]
            print(
                f"  {mode:12} submit {found['submit_p50_ms']:.2f} / {found['submit_p95_ms']:.2f} ms, "
                f"to the others {found['delivery_p50_ms']:.2f} / {found['delivery_p95_ms']:.2f} ms (p50 / p95); "
                f"{found['cpu_share']:.2f} of a core; {found['failed']} failed"
            )


def print_idle(figures: Mapping[str, Any]) -> None:
    """One line for each number of idle tables."""
    for count, found in by_number(figures):
        rest = ", ".join(f"{name} {share * 100:.1f}" for name, share in found["rest_cpu_share_by_part"].items())
        print(
            f"  {count:7,} idle: {found['commands_per_s']:.0f} commands/s, p99 {found['p99_ms']:.1f} ms; "
            f"at rest {found['rest_cpu_share'] * 100:.1f} % of a core ({rest})"
        )
    print(
        f"  rate {figures['rate_ratio']:.2f} of that with few; an idle table costs "
        f"{figures['cpu_us_per_table_minute']} us a minute and {figures['memory_bytes_per_table']} bytes"
    )


def print_restore(figures: Mapping[str, Any]) -> None:
    """One line for each length of the log."""
    for count, found in by_number(figures):
        print(
            f"  {count:6,} events: place {found['place_ms']:.2f} ms, state {found['state_ms']:.2f} ms, "
            f"a command then {found['submit_p50_ms']:.2f} ms"
        )
    print(
        f"  with the long log {figures['place_ratio']:.2f}, {figures['state_ratio']:.2f} and "
        f"{figures['submit_ratio']:.2f} times as long"
    )


def print_clock(figures: Mapping[str, Any]) -> None:
    """Some lines for each number of deadlines."""
    for count, alone in by_number(figures["alone"]):
        print(
            f"  {count:9,} alone: {alone['resident_bytes']:.0f} bytes each, arm {alone['arm_us']} us, again "
            f"{alone['arm_again_us']} us, cancel {alone['cancel_us']} us"
        )
    for count, found in by_number(figures):
        _print_one_clock(count, found)
    print(f"  {figures['bytes_per_deadline']} bytes for a deadline")


def _print_one_clock(count: int, found: Mapping[str, Any]) -> None:
    space = " " * 12
    print(
        f"  {count:9,} in a clock: {found['rss_mb']:.0f} MB; play time runs {found['start_to_running_ms']} ms after "
        f"the start, all armed after {found['rebuild_ms']} ms ({found['rebuild_cpu_s']} s of CPU)"
    )
    print(
        f"{space}time given back {found['give_back_ms']} ms after an outage (longest {found['give_back_longest_ms']}); "
        f"CPU at rest {found['cpu_share_at_rest']:.3f}, after outages {found['cpu_share_after_outage']:.3f}"
    )
    print(
        f"{space}{found['arms_per_s']:,} armed and {found['cancels_per_s']:,} cancelled a second over the event stream "
        f"({found['arm_cpu_us']} and {found['cancel_cpu_us']} us of CPU)"
    )
    print(
        f"{space}{found['fired_per_s']:,} due a second: late {found['late_p50_ms']:.0f} / "
        f"{found['late_p99_ms']:.0f} ms (p50 / p99), {found['cpu_us_per_firing']} us of CPU each; "
        f"{found['fired_twice']} twice, {found['not_fired']} never"
    )
