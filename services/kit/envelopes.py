"""The messages of a stream of many calls, for any contract that has such a stream.

A request has `items`, each with its `call_id` and, in the field of its own type, what is asked. A response has `items`
with the same ids, each a oneof of what is answered, in the field of its own type, and `status`, a serialised
`google.rpc.Status`, for what failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc import status_pb2

from services.kit.errors import ServiceError, from_status, to_status


class Envelopes:
    """Puts items into the messages of one method, and takes them out again."""

    def __init__(self, method: MethodDescriptor) -> None:
        """`method` is the descriptor of the stream, as of `ApplyStream`."""
        self._request_class = GetMessageClass(method.input_type)
        self._response_class = GetMessageClass(method.output_type)
        self._request_fields = _fields(method.input_type)
        self._response_fields = _fields(method.output_type)
        self._asked_fields = tuple(self._request_fields.values())

    def ask(self, items: Sequence[tuple[int, Message]]) -> Any:
        """One request of items with their ids."""
        request: Any = self._request_class()
        for call_id, item in items:
            request.items.add(call_id=call_id, **{self._request_fields[item.DESCRIPTOR.full_name]: item})
        return request

    def asked(self, request: Any) -> Iterable[tuple[int, Any]]:
        """The items of a request; one of a kind that this release does not know is its first kind, unset."""
        first, *others = self._asked_fields
        return [
            (item.call_id, getattr(item, next((name for name in others if item.HasField(name)), first)))
            for item in request.items
        ]

    def answer(self, finished: Sequence[tuple[int, Any]]) -> Any:
        """One response of answers, some of which may be a ServiceError, under the ids of their items."""
        response: Any = self._response_class()
        for call_id, result in finished:
            if isinstance(result, ServiceError):
                response.items.add(call_id=call_id, status=to_status(result).SerializeToString())
            else:
                response.items.add(call_id=call_id, **{self._response_fields[result.DESCRIPTOR.full_name]: result})
        return response

    @staticmethod
    def answered(response: Any) -> Iterable[tuple[int, Any]]:
        """The answers of a response, some of which may be a ServiceError."""
        for item in response.items:
            kind = item.WhichOneof("result") or "response"
            if kind == "status":
                yield item.call_id, from_status(status_pb2.Status.FromString(item.status))
            else:
                yield item.call_id, getattr(item, kind)


def _fields(message: Descriptor) -> dict[str, str]:
    """Full name of a type -> the field that holds it, in the order of the contract."""
    items = message.fields_by_name["items"].message_type
    assert items is not None
    return {field.message_type.full_name: field.name for field in items.fields if field.message_type is not None}
