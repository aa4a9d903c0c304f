"""Limits of the contracts are enforced before a handler runs, naming the field."""

from __future__ import annotations

import time

import grpc
import pytest
from google.protobuf.message import Message
from magnate.bots.v1 import bots_service_pb2 as bots_pb
from magnate.game.v1 import command_pb2
from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb
from magnate.table.v1 import table_service_pb2 as table_pb

from services.kit.calls import LocalClient
from services.kit.errors import ServiceError
from services.kit.validation import validate

SUBMIT = gateway_pb.SubmitRequest


def command(**fields: object) -> command_pb2.Command:
    """A command that is within all limits but for the fields given."""
    given: dict[str, object] = {"command_id": "c-1", "seat": 1, "roll": command_pb2.Roll(), **fields}
    if set(fields) & {"bid", "build", "place_bet", "offer_trade"}:
        del given["roll"]
    return command_pb2.Command(**given)  # type: ignore[arg-type]


def submit(**fields: object) -> gateway_pb.SubmitRequest:
    """A submit with this command."""
    return SUBMIT(table_id="t1", command=command(**fields))


def refusal(message: Message) -> tuple[str, str]:
    """Reason and field of the refusal of a message."""
    with pytest.raises(ServiceError) as caught:
        validate(message)
    assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT
    return caught.value.reason, caught.value.metadata["field"]


@pytest.mark.parametrize(
    "message",
    [
        submit(),
        submit(seat=7, command_id="x" * 64),
        submit(bid=command_pb2.Bid(amount=1_000_000_000)),
        submit(place_bet=command_pb2.PlaceBet(numbers=[1, 6, 3])),
        gateway_pb.CreateSessionRequest(name="ї" * 32),
        gateway_pb.WatchRequest(targets=[gateway_pb.WatchTarget(table_id="t")] * 32),
        gateway_pb.ListTablesRequest(),
        gateway_pb.EndSessionRequest(),
        bots_pb.ListLevelsRequest(),
    ],
)
def test_what_is_within_the_limits_passes(message: Message) -> None:
    """The bounds themselves are allowed; a type without limits costs nothing and passes."""
    validate(message)


@pytest.mark.parametrize(
    ("message", "reason", "field"),
    [
        (SUBMIT(table_id="t1"), "malformed", "command"),
        (SUBMIT(command=command()), "malformed", "table_id"),
        (SUBMIT(table_id="t" * 65, command=command()), "malformed", "table_id"),
        (submit(command_id=""), "malformed", "command.command_id"),
        (submit(command_id="a b"), "malformed", "command.command_id"),
        (submit(command_id="x" * 100_000), "malformed", "command.command_id"),
        (submit(seat=8), "malformed", "command.seat"),
        (submit(bid=command_pb2.Bid(amount=-1)), "bad_amount", "command.bid.amount"),
        (submit(bid=command_pb2.Bid(amount=1_000_000_001)), "malformed", "command.bid.amount"),
        (submit(place_bet=command_pb2.PlaceBet(numbers=[1, 7])), "malformed", "command.place_bet.numbers[1]"),
        (submit(place_bet=command_pb2.PlaceBet(numbers=[1, 2, 3, 4])), "malformed", "command.place_bet.numbers"),
        (gateway_pb.AddBotsRequest(table_id="t", count=0), "malformed", "count"),
        (gateway_pb.CreateSessionRequest(name="ї" * 33), "malformed", "name"),
        (gateway_pb.CreateSessionRequest(name="a\0b"), "malformed", "name"),
        (gateway_pb.ListTablesRequest(edition="\0"), "malformed", "edition"),
        (gateway_pb.ChangeWatchRequest(watch_id="w", remove=["t", "\0"]), "malformed", "remove[1]"),
        (gateway_pb.WatchRequest(targets=[gateway_pb.WatchTarget()]), "malformed", "targets[0].table_id"),
        (
            gateway_pb.WatchRequest(targets=[gateway_pb.WatchTarget(table_id="t")] * 33),
            "malformed",
            "targets",
        ),
        (gateway_pb.ChangeWatchRequest(watch_id="w", remove=["t", "x" * 65]), "malformed", "remove[1]"),
        (
            table_pb.TouchPresenceRequest(watched=[table_pb.TouchPresenceRequest.Watched()] * 10_001),
            "malformed",
            "watched",
        ),
    ],
)
def test_what_is_outside_the_limits_is_refused(message: Message, reason: str, field: str) -> None:
    """Each kind of limit refuses with its reason and the path of the field."""
    assert refusal(message) == (reason, field)


def test_the_message_never_repeats_what_was_sent() -> None:
    """A huge or secret value is not sent back, nor written into logs."""
    with pytest.raises(ServiceError) as caught:
        validate(submit(command_id="geheim " * 10_000))
    assert "geheim" not in caught.value.message


def test_a_submit_is_checked_in_a_few_microseconds() -> None:
    """The check is on the way of every command."""
    message = submit()
    validate(message)
    best_s = min(_time_of_200(message) for _ in range(5)) / 200
    assert best_s < 50e-6


def _time_of_200(message: Message) -> float:
    began = time.perf_counter()
    for _ in range(200):
        validate(message)
    return time.perf_counter() - began


async def test_a_handler_never_sees_what_is_outside_the_limits() -> None:
    """The dispatcher checks before the handler, in the same process too."""

    class Handler:
        def __getattr__(self, name: str) -> object:
            async def answer(request: object, call: object) -> object:
                raise AssertionError("the handler was reached")

            return answer

    service = gateway_pb.DESCRIPTOR.services_by_name["GatewayService"]
    client = LocalClient(service, Handler())
    with pytest.raises(ServiceError) as caught:
        await client.Submit(SUBMIT())
    assert caught.value.reason == "malformed"
