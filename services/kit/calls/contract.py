"""What a service offers, read from the descriptor of its contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

_OPTION = "magnate.options.v1.callers"
_PREFIX = "CALLER_"


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC: its path on the wire, the classes of its messages, which sides stream, and who may call it (lower-case
    names of `magnate.options.v1.Caller`; None where the contract does not say)."""

    name: str
    path: str
    request_class: type[Message]
    response_class: type[Message]
    client_streaming: bool
    server_streaming: bool
    callers: frozenset[str] | None = None

    @staticmethod
    def of(descriptor: MethodDescriptor) -> Method:
        service = descriptor.containing_service
        return Method(
            name=descriptor.name,
            path=f"/{service.full_name}/{descriptor.name}",
            request_class=GetMessageClass(descriptor.input_type),
            response_class=GetMessageClass(descriptor.output_type),
            client_streaming=descriptor.client_streaming,
            server_streaming=descriptor.server_streaming,
            callers=_callers_of(descriptor),
        )


@dataclass(frozen=True, slots=True)
class Contract:
    """A service of the contracts: its full name and its methods by name."""

    name: str
    methods: Mapping[str, Method]

    @staticmethod
    def of(descriptor: ServiceDescriptor) -> Contract:
        """From `xxx_pb2.DESCRIPTOR.services_by_name["XxxService"]`."""
        return Contract(descriptor.full_name, {method.name: Method.of(method) for method in descriptor.methods})


def _callers_of(descriptor: MethodDescriptor) -> frozenset[str] | None:
    for option, value in descriptor.GetOptions().ListFields():
        if option.is_extension and option.full_name == _OPTION:
            names = value.DESCRIPTOR.fields_by_name["only"].enum_type.values_by_number
            return frozenset(names[number].name.removeprefix(_PREFIX).lower() for number in value.only)
    return None
