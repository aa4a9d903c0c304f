"""Who may call what stands in the contracts, of every call, and says the same as the picture and the network."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor import ServiceDescriptor
from magnate.admin.v1 import admin_service_pb2
from magnate.bots.v1 import bots_service_pb2
from magnate.clock.v1 import clock_service_pb2
from magnate.gateway.v1 import gateway_service_pb2
from magnate.options.v1 import callers_pb2
from magnate.rules.v1 import rules_service_pb2
from magnate.table.v1 import table_service_pb2

from services.kit.calls import Contract
from tests.support.picture import drawn

#: which service answers the calls of a contract
ANSWERS: dict[str, tuple[ServiceDescriptor, ...]] = {
    "rules": tuple(rules_service_pb2.DESCRIPTOR.services_by_name.values()),
    "table": (
        *table_service_pb2.DESCRIPTOR.services_by_name.values(),
        *admin_service_pb2.DESCRIPTOR.services_by_name.values(),
    ),
    "clock": tuple(clock_service_pb2.DESCRIPTOR.services_by_name.values()),
    "bots": tuple(bots_service_pb2.DESCRIPTOR.services_by_name.values()),
    "gateway": tuple(gateway_service_pb2.DESCRIPTOR.services_by_name.values()),
}
METHODS = [
    (service, method)
    for service, descriptors in ANSWERS.items()
    for descriptor in descriptors
    for method in Contract.of(descriptor).methods.values()
]
KNOWN = {name.removeprefix("CALLER_").lower() for name in dict(callers_pb2.Caller.items())} - {"unspecified"}
OUTSIDE = {"client", "operator"}


def callers_of(name: str) -> frozenset[str]:
    """The callers of the one method with this path."""
    (found,) = [method.callers for _, method in METHODS if method.path == name]
    assert found is not None
    return found


@pytest.mark.parametrize("path", [method.path for _, method in METHODS])
def test_every_call_says_who_may_make_it(path: str) -> None:
    """A new rpc needs `option (magnate.options.v1.callers)`; one that nobody may make is of no use."""
    callers = callers_of(path)
    assert callers
    assert callers <= KNOWN


def test_the_contracts_say_what_the_picture_shows() -> None:
    """An arrow for each pair of services of which one may call the other, and none without a call."""
    said = {(caller, service) for service, method in METHODS for caller in method.callers or ()}
    between = {arrow for arrow in said if arrow[0] not in OUTSIDE}
    services = set(ANSWERS)
    assert between == {arrow for arrow in drawn() if set(arrow) <= services}


def test_clients_reach_the_gateway_only() -> None:
    assert {service for service, method in METHODS if "client" in (method.callers or ())} == {"gateway"}


def test_time_is_the_clocks_matter() -> None:
    """Only the clock ends a deadline, and only it sends probes."""
    assert callers_of("/magnate.table.v1.TableService/ExpireDeadline") == {"clock"}
    assert callers_of("/magnate.gateway.v1.GatewayService/Probe") == {"clock"}


def test_only_operators_make_admin_calls() -> None:
    calls = [method.callers for _, method in METHODS if method.path.startswith("/magnate.admin.v1.")]
    assert calls == [frozenset({"operator"})] * 6


def test_only_the_table_service_has_commands_decided() -> None:
    """Whoever could ask the rules to decide could have a seat withdrawn in a forked game, but not commit it."""
    for name in ("Apply", "ApplyStream", "NewGame"):
        assert callers_of(f"/magnate.rules.v1.RulesService/{name}") == {"table"}
