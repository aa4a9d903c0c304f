"""The errors of the services as Connect and gRPC-Web clients get them: the one place of this mapping."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import grpc
from connectrpc.code import Code
from connectrpc.errors import ConnectError, ErrorDetail
from protobuf.wkt import Any as ConnectAny

from gateway.application import refusals
from services.kit.errors import ServiceError, to_status

_CODES: Mapping[grpc.StatusCode, Code] = MappingProxyType(
    {
        grpc.StatusCode.CANCELLED: Code.CANCELED,
        grpc.StatusCode.UNKNOWN: Code.UNKNOWN,
        grpc.StatusCode.INVALID_ARGUMENT: Code.INVALID_ARGUMENT,
        grpc.StatusCode.DEADLINE_EXCEEDED: Code.DEADLINE_EXCEEDED,
        grpc.StatusCode.NOT_FOUND: Code.NOT_FOUND,
        grpc.StatusCode.ALREADY_EXISTS: Code.ALREADY_EXISTS,
        grpc.StatusCode.PERMISSION_DENIED: Code.PERMISSION_DENIED,
        grpc.StatusCode.RESOURCE_EXHAUSTED: Code.RESOURCE_EXHAUSTED,
        grpc.StatusCode.FAILED_PRECONDITION: Code.FAILED_PRECONDITION,
        grpc.StatusCode.ABORTED: Code.ABORTED,
        grpc.StatusCode.OUT_OF_RANGE: Code.OUT_OF_RANGE,
        grpc.StatusCode.UNIMPLEMENTED: Code.UNIMPLEMENTED,
        grpc.StatusCode.INTERNAL: Code.INTERNAL,
        grpc.StatusCode.UNAVAILABLE: Code.UNAVAILABLE,
        grpc.StatusCode.DATA_LOSS: Code.DATA_LOSS,
        grpc.StatusCode.UNAUTHENTICATED: Code.UNAUTHENTICATED,
    }
)


def to_connect(error: ServiceError) -> ConnectError:
    """The same status, message and details (ErrorInfo, RetryInfo, the error's own) as on the native port."""
    status = to_status(refusals.for_client(error))
    # connectrpc takes messages of another runtime only; as Any they pass through it byte for byte.
    details = [ErrorDetail(ConnectAny(type_url=detail.type_url, value=detail.value)) for detail in status.details]
    return ConnectError(_CODES.get(error.code, Code.UNKNOWN), status.message, details)
