"""Items in the messages of a stream, and out of them."""

from __future__ import annotations

import grpc
from magnate.game.v1 import command_pb2
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.envelopes import Envelopes
from services.kit.errors import ServiceError

SUBMITS = Envelopes(pb.DESCRIPTOR.services_by_name["TableService"].methods_by_name["SubmitStream"])


def a_command(command_id: str) -> pb.SubmitRequest:
    """A request that can be told from another."""
    return pb.SubmitRequest(table_id="t1", command=command_pb2.Command(command_id=command_id))


def test_what_is_asked_comes_out_as_it_went_in() -> None:
    """Items of both kinds, each under its id."""
    items = [(7, a_command("c1")), (8, pb.ProbeRequest(probe_id="p1")), (9, a_command("c2"))]
    request = pb.SubmitStreamRequest.FromString(SUBMITS.ask(items).SerializeToString())
    assert list(SUBMITS.asked(request)) == items


def test_what_is_answered_comes_out_as_it_went_in() -> None:
    """Answers of both kinds, an empty one too."""
    answers = [(7, pb.SubmitResponse(first_seq=3, last_seq=5)), (8, pb.ProbeResponse()), (9, pb.SubmitResponse())]
    response = pb.SubmitStreamResponse.FromString(SUBMITS.answer(answers).SerializeToString())
    assert list(SUBMITS.answered(response)) == answers


def test_a_failure_is_that_of_its_item_alone() -> None:
    """Code, reason, what it is about, and when to try again."""
    failure = ServiceError(
        grpc.StatusCode.RESOURCE_EXHAUSTED, "overloaded", "too many", {"table": "t1"}, retry_after_ms=250
    )
    response = SUBMITS.answer([(1, failure), (2, pb.SubmitResponse(last_seq=4))])
    (first, failed), second = SUBMITS.answered(pb.SubmitStreamResponse.FromString(response.SerializeToString()))
    assert (first, failed.code, failed.reason) == (1, grpc.StatusCode.RESOURCE_EXHAUSTED, "overloaded")
    assert (failed.metadata, failed.retry_after_ms) == ({"table": "t1"}, 250)
    assert second == (2, pb.SubmitResponse(last_seq=4))


def test_an_item_of_a_kind_that_is_not_known_is_an_empty_one_of_the_first_kind() -> None:
    """So that the limits of the contract refuse it."""
    request = pb.SubmitStreamRequest()
    request.items.add(call_id=3)
    assert list(SUBMITS.asked(request)) == [(3, pb.SubmitRequest())]
