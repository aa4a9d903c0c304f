"""The short form of `make outages`: real processes, live games, three outages one after the other."""

from __future__ import annotations

import asyncio

from tests.outages.faults import Fault
from tests.outages.session import Plan, outages

BUSY_MS = 1_000
FAULTS = (Fault("table", "stop", 3), Fault("postgres", "stop", 2), Fault("clock", "kill", 2))


def test_no_player_loses_time_to_an_outage() -> None:
    """IND-TIME-04, MET-TIME-14, MET-TIME-15: with every replica of the tables, then Postgres stopped, and the clock
    killed, no bid's time is over before its budget, every deadline ends once, and who answers at the last moment is
    heard. The bids of ten seconds make it take half a minute."""
    plan = Plan(
        faults=FAULTS,
        bidding=5,
        silent=0,
        rest_s=2.0,
        last_s=8.0,
        replicas={"rules": 1, "table": 2, "clock": 1, "bots": 1, "gateway": 1},
    )
    outcome = asyncio.run(outages(plan, print))
    assert [row.part for row in outcome.rows] == ["table", "postgres", "clock"]
    assert all(row.deadlines >= 2 for row in outcome.rows)
    assert outcome.answered >= 1
    assert [(row.refused, row.not_once) for row in outcome.rows] == [(0, 0)] * 3
    assert outcome.refused == outcome.forgotten == []
    # On a busy machine commands that take longer than a second count as unplayable, though time goes on.
    assert max(row.lost_ms for row in outcome.rows) <= BUSY_MS
    # Each stretch was noticed, and was given back.
    assert all(row.unplayable_ms >= 1_000 for row in outcome.rows)
    assert all(row.counted_ms <= row.unplayable_ms - 1_000 for row in outcome.rows)
