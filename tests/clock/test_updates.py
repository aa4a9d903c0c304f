"""What the clock reads from the event stream."""

from __future__ import annotations

import pytest
from magnate.game.v1 import decision_pb2, update_pb2
from magnate.table.v1 import table_pb2

from services.clock.adapters.clients import parse_update
from services.clock.application.ports import InForce
from services.clock.domain.deadlines import Deadline

UPDATE = update_pb2.Update(
    table_id="t1",
    last_seq=9,
    deadlines=[decision_pb2.Deadline(deadline_id=4, opened_at_ms=10_000, budget_ms=75_000)],
)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            table_pb2.StreamMessage(held_ms=300_000, grace_ms=700),
            InForce(3, "t1", 9, (Deadline(4, 310_000, 75_000),), 700),
        ),
        (table_pb2.StreamMessage(grace_ms=0), InForce(3, "t1", 9, (Deadline(4, 10_000, 75_000),), 0)),
        (table_pb2.StreamMessage(), InForce(3, "t1", 9, (Deadline(4, 10_000, 75_000),), None)),
    ],
    ids=["a table that stood", "one that did not", "from a release before"],
)
def test_deadlines_are_in_the_time_of_the_shard(message: table_pb2.StreamMessage, expected: InForce) -> None:
    """A table that stood still is behind its shard by as much."""
    message.update = UPDATE.SerializeToString()
    assert parse_update(3, message.SerializeToString()) == expected


def test_a_game_that_is_over_has_none() -> None:
    over = update_pb2.Update()
    over.CopyFrom(UPDATE)
    over.game_over = True
    message = table_pb2.StreamMessage(update=over.SerializeToString(), held_ms=1)
    assert parse_update(3, message.SerializeToString()) == InForce(3, "t1", 9, ())
