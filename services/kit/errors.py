"""The one error of the services, and its form on the wire (a rich gRPC status)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import TypeVar

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

DOMAIN = "magnate"
DETAILS_KEY = "grpc-status-details-bin"

# A status travels in HTTP/2 trailers, of which peers accept 8 kB in all.
_MAX_MESSAGE_CHARS = 512
_MAX_FIELD_CHARS = 256

_CODES: Mapping[int, grpc.StatusCode] = MappingProxyType({code.value[0]: code for code in grpc.StatusCode})
Detail = TypeVar("Detail", bound=Message)
_NOTHING: Mapping[str, str] = MappingProxyType({})


class ServiceError(Exception):
    """A call that failed, alike for a caller in the same process and one behind the network.

    `code` is the gRPC status, `reason` one snake_case word of a closed list for programs, `message` a
    sentence for people, `metadata` further fields for programs, `retry_after_ms` when another try makes sense
    (None: not by waiting alone), `details` messages of the contracts that say more.
    """

    def __init__(
        self,
        code: grpc.StatusCode,
        reason: str,
        message: str = "",
        metadata: Mapping[str, str] = _NOTHING,
        retry_after_ms: int | None = None,
        details: Sequence[Message] = (),
    ) -> None:
        super().__init__(code, reason, message)
        self.code = code
        self.reason = reason
        self.message = message
        self.metadata = metadata
        self.retry_after_ms = retry_after_ms
        self.details = tuple(details)

    def __str__(self) -> str:
        return f"{self.code.name} {self.reason}: {self.message}"

    def __repr__(self) -> str:
        return f"ServiceError({self.code.name}, {self.reason!r}, {self.message!r}, {dict(self.metadata)!r})"

    def find_detail(self, kind: type[Detail]) -> Detail | None:
        """The first detail of this kind, if there is one, also when it came over the network."""
        for detail in self.details:
            if isinstance(detail, kind):
                return detail
            if isinstance(detail, AnyMessage) and detail.TypeName() == kind.DESCRIPTOR.full_name:
                found = kind()
                detail.Unpack(found)
                return found
        return None


def to_status(error: ServiceError) -> status_pb2.Status:
    """The rich status of an error: ErrorInfo, RetryInfo where it has a delay, then its own details."""
    status = status_pb2.Status(code=error.code.value[0], message=error.message[:_MAX_MESSAGE_CHARS])
    info = error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN)
    for key, value in error.metadata.items():
        info.metadata[key] = value[:_MAX_FIELD_CHARS]
    status.details.add().Pack(info)
    if error.retry_after_ms is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromTimedelta(timedelta(milliseconds=error.retry_after_ms))
        status.details.add().Pack(retry)
    for detail in error.details:
        if isinstance(detail, AnyMessage):
            status.details.add().CopyFrom(detail)
        else:
            status.details.add().Pack(detail)
    return status


def from_status(status: status_pb2.Status) -> ServiceError:
    """The error that `to_status` was given; a status without ErrorInfo gets its code's name in lower case as reason."""
    code = _CODES.get(status.code, grpc.StatusCode.UNKNOWN)
    reason, metadata, retry_after_ms = code.name.lower(), dict[str, str](), None
    details: list[AnyMessage] = []
    for detail in status.details:
        if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR):
            info = error_details_pb2.ErrorInfo()
            detail.Unpack(info)
            reason, metadata = info.reason, dict(info.metadata)
        elif detail.Is(error_details_pb2.RetryInfo.DESCRIPTOR):
            retry = error_details_pb2.RetryInfo()
            detail.Unpack(retry)
            retry_after_ms = retry.retry_delay.ToMilliseconds()
        else:
            details.append(detail)
    return ServiceError(code, reason, status.message, metadata, retry_after_ms, details)


def from_rpc_error(error: grpc.aio.AioRpcError) -> ServiceError:
    """The error behind a failed remote call; the transport's own has its code's name, lower case, as reason."""
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS_KEY and isinstance(value, bytes):
            status = status_pb2.Status()
            try:
                status.ParseFromString(value)
            except DecodeError:
                break
            return from_status(status)
    return ServiceError(error.code(), error.code().name.lower(), error.details() or "")


def short_text(error: ServiceError) -> str:
    """The message as it stands beside the code, where each letter that is not ASCII takes six bytes or more."""
    return error.message[:100]


def trailers(error: ServiceError) -> tuple[tuple[str, bytes], ...]:
    """The trailing metadata with which a server answers this error."""
    return ((DETAILS_KEY, to_status(error).SerializeToString()),)
