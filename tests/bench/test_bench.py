"""The parts of the bench that could mislead without anybody noticing: the choices, the recording, the demands."""

from __future__ import annotations

import os
import time
from pathlib import Path

from magnate.game.v1 import command_pb2, decision_pb2, update_pb2

from tests.bench.choosing import choose
from tests.bench.end_to_end import Sums
from tests.bench.processes import cpu_seconds, rss_kb
from tests.bench.recording import Recording, Step, step_of
from tests.bench.report import demands


def decision(*kinds: str, decision_id: int = 1) -> decision_pb2.Decision:
    """A decision of seat 2 that allows these."""
    asked = decision_pb2.Decision(decision_id=decision_id, seats=[2])
    for kind in kinds:
        setattr(asked.legal_actions.add(seat=2), kind, True)
    return asked


def test_the_asked_seat_goes_on_the_cheapest_way() -> None:
    for kinds, expected in (
        (("end_turn", "surrender"), "end_turn"),
        (("accept_trade", "refuse_trade"), "refuse_trade"),
        (("pass",), "pass"),
        (("declare_bankruptcy",), "declare_bankruptcy"),
    ):
        command = choose(decision(*kinds), "c1")
        assert command is not None
        assert (command.WhichOneof("action"), command.seat, command.decision_id) == (expected, 2, 1)
    assert choose(decision_pb2.Decision(), "c1") is None


def test_every_second_purchase_is_made() -> None:
    bought = []
    for decision_id in range(4):
        asked = decision("decline", decision_id=decision_id)
        asked.legal_actions.add(seat=2, buy=60)
        command = choose(asked, "c1")
        assert command is not None
        bought.append(command.WhichOneof("action"))
    assert bought == ["buy", "decline", "buy", "decline"]


def test_a_recorded_update_serves_another_table_and_command(tmp_path: Path) -> None:
    command = command_pb2.Command(command_id="aaaa-1", seat=1, roll=command_pb2.Roll())
    update = update_pb2.Update(table_id="tableone", first_seq=3, last_seq=4, command=command)
    update.events.add(seq=3)
    update.events.add(seq=4)
    recording = Recording((step_of("tableone", update.SerializeToString(), b"secret"),), b"snapshot")
    recording.write(tmp_path / "recording.json")
    again = Recording.read(tmp_path / "recording.json")
    assert again == recording
    step: Step = again.step(7)
    update.table_id, update.command.command_id = "tabletwo", "bbbb-2"
    assert step.update(b"tabletwo", b"bbbb-2") == update.SerializeToString()
    assert (step.events, step.secrets, again.snapshot) == (2, b"secret", b"snapshot")


def test_figures_of_several_turns() -> None:
    sums = Sums(commands=4, rates=[9.0, 2.0, 1.0], services_s=0.002, stores_s=0.001, update_bytes=400, command_bytes=80)
    sums.times_ms, sums.answers_ms = [4.0, 1.0, 3.0, 2.0], [1.0, 1.0, 1.0, 9.0]
    figures = sums.figures()
    assert (figures["commands_per_s"], figures["p50_ms"], figures["p99_ms"]) == (2.0, 3.0, 4.0)
    assert (figures["cpu_us_per_command"], figures["cpu_us_per_command_stores"]) == (750.0, 250.0)
    assert (figures["update_bytes"], figures["answer_p99_ms"]) == (100, 9.0)


def test_what_has_to_hold() -> None:
    found = {
        "core": {"commands_per_s": 29_999},
        "editions": {"metro": {"of_flagship": 0.49}, "industry": {"of_flagship": 1.0}},
        "e2e": {"embedded": {"16": {"rate_ratio": 0.5}}},
        "memory": {"0": {"rss_mb": 151.0}, "kb_per_table": 100.0},
    }
    assert [demand.holds for demand in demands(found)] == [False, False, True, True, False, True]


def test_cpu_and_memory_of_this_process() -> None:
    before, limit = cpu_seconds([os.getpid()]), time.process_time() + 0.1
    while time.process_time() < limit:
        pass
    assert 0.05 <= cpu_seconds([os.getpid()]) - before <= 0.5
    assert 10_000 < rss_kb(os.getpid()) < 2_000_000
