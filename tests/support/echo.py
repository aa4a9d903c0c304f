"""A small contract for tests of calls: one text in, one or more out, in each of the four forms of a call."""

from __future__ import annotations

from collections.abc import Callable

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

_TEXT = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
_ONE = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(name="echo.proto", package="kit.test.v1", syntax="proto3")
    for name in ("EchoRequest", "EchoResponse"):
        message = file.message_type.add(name=name)
        message.field.add(name="text", number=1, type=_TEXT, label=_ONE)
    service = file.service.add(name="EchoService")
    for name, client, server in (
        ("Once", False, False),
        ("Many", False, True),
        ("Join", True, False),
        ("Talk", True, True),
    ):
        service.method.add(
            name=name,
            input_type=".kit.test.v1.EchoRequest",
            output_type=".kit.test.v1.EchoResponse",
            client_streaming=client,
            server_streaming=server,
        )
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_file())

ECHO: ServiceDescriptor = _pool.FindServiceByName("kit.test.v1.EchoService")
EchoRequest: Callable[..., Message] = GetMessageClass(_pool.FindMessageTypeByName("kit.test.v1.EchoRequest"))
EchoResponse: Callable[..., Message] = GetMessageClass(_pool.FindMessageTypeByName("kit.test.v1.EchoResponse"))


def text_of(message: object) -> str:
    """The text of either message."""
    return str(message.text)  # type: ignore[attr-defined]
