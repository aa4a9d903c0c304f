"""What a service offers, read from the descriptor of its contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass


@dataclass(frozen=True, slots=True)
class Method:
    """One RPC: its path on the wire, the classes of its messages, and which sides stream."""

    name: str
    path: str
    request_class: type[Message]
    response_class: type[Message]
    client_streaming: bool
    server_streaming: bool

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
