"""One clock process with many deadlines: what each costs, how late they fire, and what an outage costs it."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.bench.around_clock import CLOCK_TOKEN
from tests.bench.percentiles import spread
from tests.bench.processes import Process, cpu_seconds, rss_kb
from tests.support.servers import RedisServer, free_port

COUNTS = (10_000, 1_000_000)
_LIMIT_S = 180.0


def measure(
    counts: Sequence[int] = COUNTS,
    *,
    rate: int = 2_000,
    seconds: float = 20,
    outages: int = 5,
    outage_s: float = 2.0,
    stream: int = 50_000,
    rest_s: float = 5.0,
) -> dict[str, Any]:
    """Figures by number of armed deadlines; see docs/bench.md for the keys."""
    found: dict[str, Any] = {"alone": {str(count): _alone(count) for count in counts}}
    for count in counts:
        print(f"  a clock with {count:,} deadlines ...", file=sys.stderr, flush=True)
        with _running_clock(count) as running:
            found[str(count)] = {
                **running.rebuilt(),
                **running.give_back(outages, outage_s, rest_s),
                **running.stream(stream),
                **running.fire(rate, seconds),
            }
    least, most = min(counts), max(counts)
    more_kb = (found[str(most)]["rss_mb"] - found[str(least)]["rss_mb"]) * 1024
    found["bytes_per_deadline"] = round(more_kb * 1024 / max(1, most - least))
    found["give_back_ratio"] = round(found[str(most)]["give_back_ms"] / found[str(least)]["give_back_ms"], 2)
    return found


def _alone(count: int) -> dict[str, float]:
    """The structure without the service around it, in a process of its own."""
    command = [sys.executable, "-m", "tests.bench.deadlines", str(count)]
    answer: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return answer


class _Running:
    """A clock that has just been started again, with what stands around it."""

    def __init__(self, clock: Process, around: Process, metrics_port: int, count: int) -> None:
        self._clock = clock
        self._around = around
        self._metrics = f"http://127.0.0.1:{metrics_port}/metrics"
        self._count = count

    def rebuilt(self) -> dict[str, float]:
        """Waits for play time to run, and for every deadline to be armed again."""
        self._around.ask(runs=True)
        runs_ms = (time.monotonic() - self._clock.began_s) * 1000
        self._until_armed(self._count)
        return {
            "start_to_running_ms": round(runs_ms),
            "rebuild_ms": round((time.monotonic() - self._clock.began_s) * 1000),
            "rebuild_cpu_s": round(self._cpu_s(), 2),
            "rss_mb": round(rss_kb(self._clock.pid) / 1024, 1),
        }

    def give_back(self, outages: int, seconds: float, rest_s: float) -> dict[str, float]:
        """Time from the first probe that comes back to play time running, and what the clock does after it."""
        at_rest_s = self._cpu_while(lambda: time.sleep(rest_s))
        times_ms = [self._around.ask(outage_s=seconds)["give_back_ms"] for _ in range(outages)]
        after_s = self._cpu_while(lambda: time.sleep(rest_s))
        return {
            "give_back_ms": round(statistics.median(times_ms), 2),
            "give_back_longest_ms": round(max(times_ms), 2),
            "cpu_share_at_rest": round(at_rest_s / rest_s, 3),
            "cpu_share_after_outage": round(after_s / rest_s, 3),
        }

    def stream(self, count: int) -> dict[str, float]:
        """Arms and cancels so many deadlines over the event stream."""
        return {
            **self._over_stream("arm", count, armed=True),
            **self._over_stream("cancel", count, armed=False),
        }

    def fire(self, rate: int, seconds: float) -> dict[str, float]:
        """Lateness, in play time, at so many due each second."""
        answer: dict[str, Any] = {}
        cpu_s = self._cpu_while(lambda: answer.update(self._around.ask(rate=rate, seconds=seconds)))
        late = spread(answer["late_ms"])
        return {
            "fired": len(answer["late_ms"]),
            "fired_per_s": rate,
            "fired_twice": answer["repeated"],
            "not_fired": answer["missing"],
            "late_p50_ms": late.p50,
            "late_p99_ms": late.p99,
            "late_longest_ms": late.longest,
            "cpu_us_per_firing": round(cpu_s / max(1, len(answer["late_ms"])) * 1e6),
        }

    def _over_stream(self, name: str, count: int, *, armed: bool) -> dict[str, float]:
        before = self._armed()
        begun_s = time.monotonic()

        def work() -> None:
            self._around.ask(stream=count, armed=armed)
            self._until_armed(before + count if armed else before - count)

        cpu_s = self._cpu_while(work)
        return {
            f"{name}s_per_s": round(count / (time.monotonic() - begun_s)),
            f"{name}_cpu_us": round(cpu_s / count * 1e6, 1),
        }

    def _until_armed(self, count: int) -> None:
        limit_s = time.monotonic() + _LIMIT_S
        while (armed := self._armed()) != count:
            if time.monotonic() > limit_s:
                raise RuntimeError(f"the clock has {armed} deadlines armed, and not {count}")
            time.sleep(0.05)

    def _armed(self) -> int:
        with urllib.request.urlopen(self._metrics, timeout=30) as answer:
            found = re.search(r"^magnate_clock_deadlines_armed\S* (\S+)$", answer.read().decode(), re.MULTILINE)
        return int(float(found[1])) if found else 0

    def _cpu_s(self) -> float:
        return cpu_seconds([self._clock.pid])

    def _cpu_while(self, work: Callable[[], object]) -> float:
        before_s = self._cpu_s()
        work()
        return self._cpu_s() - before_s


@contextmanager
def _running_clock(count: int) -> Iterator[_Running]:
    """A clock that ran before, was killed, and has to find its deadlines again."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="magnate-bench-"))
        redis = RedisServer()
        stack.callback(redis.remove)
        redis.start()
        clock_port, metrics_port = free_port(), free_port()
        command = ["tests.bench.around_clock", "--redis", redis.url, "--clock", f"127.0.0.1:{clock_port}"]
        around = stack.enter_context(Process("around the clock", command))
        address = around.answer()["address"]
        around.ask(tables=count)
        environ = {
            "MAGNATE_CLOCK_PORT": str(clock_port),
            "MAGNATE_METRICS_PORT": str(metrics_port),
            "MAGNATE_TABLE_ADDRESS": address,
            "MAGNATE_GATEWAY_ADDRESS": address,
            "MAGNATE_REDIS_URL": redis.url,
            "MAGNATE_DATABASE_URL": f"sqlite:///{Path(folder) / 'clock.db'}",
            "MAGNATE_CLOCK_TOKEN": CLOCK_TOKEN,
        }
        with Process("clock", ["services.clock"], environ, speaks=False):
            around.ask(runs=True)
        around.ask(gone=True)
        clock = stack.enter_context(Process("clock", ["services.clock"], environ, speaks=False))
        yield _Running(clock, around, metrics_port, count)
