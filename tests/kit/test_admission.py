"""The bound on commands under way, on virtual time: in an overload who is let in is quick, and nobody idles."""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Callable
from itertools import count

import grpc
import pytest

from services.kit.admission import Admission
from services.kit.errors import ServiceError

_OVERLOADED = ServiceError(grpc.StatusCode.RESOURCE_EXHAUSTED, "overloaded")


class Gates:
    """Clients who ask anew as soon as they are answered, or when they are told to, through gateways at a service that
    does a command at a time; each gateway has its bound, and the service one more."""

    def __init__(self, gateways: int, *, per_second: float, target_ms: int = 250, seed: int = 1) -> None:
        self.chance = random.Random(seed)
        self.per_second = per_second
        self.gateways = [Admission(target_ms=target_ms) for _ in range(gateways)]
        self.service = Admission(target_ms=target_ms)
        self.now_s = 0.0
        self.took_s: list[float] = []
        self.waits_ms: list[int] = []
        self.clients = 0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._queue: deque[tuple[float, Admission, int]] = deque()
        self._is_busy = False
        self._still_until_s = 0.0

    def join(self, clients: int) -> None:
        """So many more clients, all at once."""
        for number in range(self.clients, self.clients + clients):
            self._at(self.now_s, lambda number=number: self._ask(number))  # type: ignore[misc]
        self.clients += clients

    def run(self, seconds: float) -> tuple[list[float], list[int]]:
        """Goes on for so long: the times of the answered, sorted, and the waits of the refused."""
        self.took_s, self.waits_ms = [], []
        ends_s = self.now_s + seconds
        while self._events and self._events[0][0] <= ends_s:
            self.now_s, _, happens = heapq.heappop(self._events)
            happens()
        self.now_s = ends_s
        return sorted(self.took_s), self.waits_ms

    def stand_still(self, seconds: float) -> None:
        """The service does nothing for so long."""
        self._still_until_s = self.now_s + seconds

    def _at(self, when_s: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when_s, next(self._numbers), happens))

    def _ask(self, number: int) -> None:
        if number >= self.clients:
            return
        gateway = self.gateways[number % len(self.gateways)]
        wait_ms = gateway.enter(self.now_s)
        if not wait_ms:
            wait_ms = self.service.enter(self.now_s)
            if wait_ms:
                gateway.leave(self.now_s, 0.0, _OVERLOADED)
        if wait_ms:
            self.waits_ms.append(wait_ms)
            self._at(self.now_s + wait_ms / 1000, lambda: self._ask(number))
            return
        self._queue.append((self.now_s, gateway, number))
        self._work()

    def _work(self) -> None:
        if self._queue and not self._is_busy:
            self._is_busy = True
            begins_s = max(self.now_s, self._still_until_s)
            self._at(begins_s + self.chance.expovariate(self.per_second), self._done)

    def _done(self) -> None:
        self._is_busy = False
        began_s, gateway, number = self._queue.popleft()
        took_s = self.now_s - began_s
        self.service.leave(self.now_s, took_s)
        gateway.leave(self.now_s, took_s)
        self.took_s.append(took_s)
        self._at(self.now_s + 0.005, lambda: self._ask(number))
        self._work()


@pytest.mark.parametrize("gateways", [1, 2, 5])
@pytest.mark.parametrize("per_second", [100.0, 300.0, 1_000.0])
@pytest.mark.parametrize("times", [2, 10])
def test_an_overload_leaves_the_answers_quick_and_the_work_whole(gateways: int, per_second: float, times: int) -> None:
    """Whatever the service can do and however many ask: nearly all answers come within the target, it is never idle
    for long, and refusing is not what it is busy with."""
    gates = Gates(gateways, per_second=per_second)
    gates.join(int(per_second * 0.15 * times) + 20 * gateways)
    gates.run(10)
    took_s, waits_ms = gates.run(6)
    assert took_s[len(took_s) * 99 // 100] < 0.25
    assert len(took_s) > per_second * 6 * 0.9
    assert len(waits_ms) < 3 * len(took_s)


def test_when_it_is_over_nobody_is_refused_any_more() -> None:
    gates = Gates(2, per_second=200.0)
    gates.join(600)
    assert gates.run(10)[1]
    gates.clients = 5
    gates.run(10)
    took_s, waits_ms = gates.run(5)
    assert waits_ms == []
    assert len(took_s) > 700


def test_a_service_that_becomes_slow_and_quick_again_is_followed() -> None:
    gates = Gates(2, per_second=600.0)
    gates.join(400)
    gates.run(10)
    for per_second in (100.0, 600.0):
        gates.per_second = per_second
        gates.run(3)
        took_s, _ = gates.run(10)
        assert took_s[len(took_s) * 99 // 100] < 0.25
        assert len(took_s) > per_second * 10 * 0.9


def test_what_a_command_waits_for_before_is_part_of_its_time() -> None:
    """Where calls wait long at the port, few are let in, so that the loop has time to take them from there."""
    gates = Gates(1, per_second=400.0)
    gates.join(200)
    gates.run(5)
    alone = gates.gateways[0].limit
    for _ in range(8):
        gates.gateways[0].delayed(0.05)
    gates.run(2)
    delayed = gates.gateways[0].limit
    gates.gateways[0].delayed(0.3)
    gates.run(2)
    assert 20 < alone < 40
    assert 5 < delayed < alone / 2
    assert gates.gateways[0].limit == 8


def test_what_a_hiccup_takes_of_the_bound_comes_back() -> None:
    admission = Admission(target_ms=100)
    for number in range(100):
        assert admission.enter(number / 100) == 0
        admission.leave(number / 100, 1.0)
    cut = admission.limit
    for number in range(100, 3_000):
        assert admission.enter(number / 20) == 0
        admission.leave(number / 20, 0.01)
    assert cut < 10
    assert admission.limit == 128


def test_quick_answers_admit_all_and_few_slow_ones_are_no_queue() -> None:
    admission = Admission(target_ms=100)
    for number in range(2_000):
        assert admission.enter(number / 100) == 0
        admission.leave(number / 100, 0.5 if number % 125 == 0 else 0.01)
    assert admission.limit == 128


def test_the_more_are_refused_the_longer_they_wait() -> None:
    """From a twentieth of a second to seven and a half; and of those that come, not many come in vain."""
    gates = Gates(1, per_second=100.0)
    gates.join(60)
    gates.run(10)
    few = gates.run(10)[1]
    gates.join(2_000)
    gates.run(10)
    many = gates.run(10)[1]
    assert 50 <= min(few) < max(few) < 7_500
    assert sum(many) / len(many) > 2 * sum(few) / len(few)
    assert max(many) <= 7_500
    assert len(few) < 10 * 100


def test_a_hiccup_sends_nobody_away_for_long() -> None:
    """Given as many clients as a service can just serve in time, when it stands still for half a second, then it has as
    much to do as before a second later."""
    gates = Gates(1, per_second=800.0)
    gates.join(64)
    gates.run(5)
    gates.stand_still(0.5)
    gates.run(1.5)
    took_s, _ = gates.run(3)
    assert len(took_s) > 800 * 3 * 0.9


def test_a_place_does_not_stay_empty_for_want_of_those_who_were_sent_away() -> None:
    """Given slightly more clients than places, then the refused are back soon, and the work goes on whole."""
    gates = Gates(2, per_second=800.0)
    gates.join(90)
    gates.run(5)
    took_s, waits_ms = gates.run(10)
    assert len(took_s) > 800 * 10 * 0.95
    assert sum(waits_ms) / max(1, len(waits_ms)) < 300


@pytest.mark.parametrize("code", ["UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"])
def test_what_gets_no_answer_says_nothing_of_a_queue(code: str) -> None:
    admission = Admission(target_ms=100)
    failure = ServiceError(grpc.StatusCode[code], "whatever")
    for number in range(100):
        assert admission.enter(number / 10) == 0
        admission.leave(number / 10, 5.0, failure)
    assert admission.limit == 128


def test_a_target_of_nought_admits_all() -> None:
    gates = Gates(1, per_second=100.0, target_ms=0)
    gates.join(900)
    assert gates.run(10)[1] == []
