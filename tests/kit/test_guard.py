"""Callers whom the contract does not name are turned away, over a network and within a process."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from magnate.table.v1 import table_service_pb2 as pb

from services.kit.calls import (
    Call,
    Contract,
    Dispatcher,
    Guard,
    LocalClient,
    Method,
    Proof,
    RemoteClient,
    bearer,
    clock_proofs,
    open_channel,
    operator_proofs,
    serve,
)
from services.kit.errors import ServiceError

TABLE = pb.DESCRIPTOR.services_by_name["TableService"]
CONTRACT = Contract.of(TABLE)
EXPIRE = pb.ExpireDeadlineRequest(table_id="t", deadline_id=1)
DESCRIBE = pb.DescribeTableRequest(table_id="t")
ADA = hashlib.sha256(b"ada's token").hexdigest()


class Everything:
    """Answers every call with nothing, and keeps the calls that reached it."""

    def __init__(self) -> None:
        self.reached: list[Call] = []

    def __getattr__(self, name: str) -> Callable[[object, Call], Coroutine[Any, Any, object]]:
        if name not in CONTRACT.methods:
            raise AttributeError(name)

        async def answer(request: object, call: Call) -> object:
            self.reached.append(call)
            return CONTRACT.methods[name].response_class()

        return answer


@dataclass(frozen=True, slots=True)
class Site:
    """A guarded handler, and how to get a client of it that shows some metadata."""

    handler: Everything
    client: Callable[..., Any]


@pytest.fixture(params=["local", "remote"])
async def site(request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    handler = Everything()
    dispatcher = Dispatcher(CONTRACT, handler, guard=Guard(clock_proofs("new, old")))
    if request.param == "local":
        yield Site(handler, lambda: LocalClient(TABLE, dispatcher))
        return
    async with AsyncExitStack() as stack:
        server = grpc.aio.server()
        serve(server, dispatcher)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        stack.push_async_callback(server.stop, None)
        channel = await stack.enter_async_context(open_channel(f"127.0.0.1:{port}"))
        yield Site(handler, lambda: RemoteClient(TABLE, channel))


async def refused(call: Coroutine[Any, Any, object]) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        await call
    return caught.value


async def test_a_stranger_is_not_the_clock(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """Given no token or a wrong one, then the call does not reach the handler; the log has one line for both."""
    with caplog.at_level(logging.WARNING):
        for metadata in ({}, {"authorization": "Bearer guessed"}, {"authorization": "new"}):
            error = await refused(site.client().ExpireDeadline(EXPIRE, metadata=metadata))
            assert (error.code, error.reason) == (grpc.StatusCode.PERMISSION_DENIED, "not_allowed")
            assert error.metadata["allowed"] == "clock"
    assert site.handler.reached == []
    told = [record for record in caplog.records if record.getMessage() == "caller_refused"]
    assert len(told) == 1
    fields: Any = told[0].fields  # type: ignore[attr-defined]
    assert (fields["method"], fields["names"]) == ("/magnate.table.v1.TableService/ExpireDeadline", "unknown")
    assert "guessed" not in str(fields)


@pytest.mark.parametrize("tokens", ["new", "old", " old , new "])
async def test_the_clock_shows_its_token(site: Site, tokens: str) -> None:
    """While the token is changed both are good, and the clock shows the first that it has."""
    await site.client().ExpireDeadline(EXPIRE, metadata=bearer(tokens))
    assert len(site.handler.reached) == 1


async def test_services_without_certificates_are_told_apart_by_the_network_alone(site: Site) -> None:
    await site.client().DescribeTable(DESCRIBE)
    assert len(site.handler.reached) == 1


@pytest.mark.parametrize("caller", ["gateway", "bots", "rules", "table"])
async def test_a_composed_caller_is_who_he_is_said_to_be(caller: str) -> None:
    """A gateway that knows the clock's token is still no clock."""
    handler = Everything()
    dispatcher = Dispatcher(CONTRACT, handler, guard=Guard(clock_proofs("token")))
    error = await refused(
        LocalClient(TABLE, dispatcher, caller=caller).ExpireDeadline(EXPIRE, metadata=bearer("token"))
    )
    assert error.reason == "not_allowed"
    await LocalClient(TABLE, dispatcher, caller="clock").ExpireDeadline(EXPIRE)
    assert len(handler.reached) == 1


async def test_no_token_means_nobody() -> None:
    """An empty setting is no token that anybody could show."""
    dispatcher = Dispatcher(CONTRACT, Everything(), guard=Guard(clock_proofs("")))
    for metadata in ({}, {"authorization": "Bearer "}, bearer("")):
        assert (await refused(LocalClient(TABLE, dispatcher).ExpireDeadline(EXPIRE, metadata=metadata))).reason == (
            "not_allowed"
        )


def of_operators() -> Method:
    method = CONTRACT.methods["DescribeTable"]
    return Method(method.name, method.path, method.request_class, method.response_class, False, False, OPERATORS)


OPERATORS = frozenset({"operator"})


@pytest.mark.parametrize("names", [None, frozenset[str](), frozenset({"table"})])
def test_an_operators_token_counts_everywhere(names: frozenset[str] | None) -> None:
    """Within a pod he uses the service's certificate; his token says who he is."""
    guard = Guard(operator_proofs(f"bob:{'0' * 64}, ada:{ADA}"))
    call = Call(method="x", metadata=bearer("ada's token"), names=names)
    guard.admit(of_operators(), call)
    assert call.operator == "ada"
    with pytest.raises(ServiceError, match="operator only"):
        guard.admit(of_operators(), Call(method="x", metadata=bearer("bob's token"), names=names))


def test_an_operators_certificate_is_enough() -> None:
    call = Call(method="x", names=frozenset({"operator"}), operator="ada")
    Guard().admit(of_operators(), call)
    assert call.operator == "ada"


@pytest.mark.parametrize("text", ["ada", "ada:12", f"ada:{'g' * 64}", f":{ADA}", f"a b:{ADA}"])
def test_what_is_no_operator_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="NAME:SHA-256"):
        operator_proofs(text)


async def test_somebody_hears_of_what_did_not_reach_the_handler() -> None:
    """Of callers whom the contract does not name, and of requests outside its limits."""
    heard: list[tuple[str, str]] = []

    async def hear(method: Method, request: object, call: Call, error: ServiceError) -> None:
        heard.append((method.name, error.reason))

    guard = Guard([Proof("clock", hashlib.sha256(b"token").digest())])
    dispatcher = Dispatcher(CONTRACT, Everything(), guard=guard, on_refused=hear)
    client: Any = LocalClient(TABLE, dispatcher)
    await refused(client.ExpireDeadline(EXPIRE))
    await refused(client.ExpireDeadline(pb.ExpireDeadlineRequest(), metadata=bearer("token")))
    await client.ExpireDeadline(EXPIRE, metadata=bearer("token"))
    assert heard == [("ExpireDeadline", "not_allowed"), ("ExpireDeadline", "malformed")]
