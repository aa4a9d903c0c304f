"""The errors that a client sees: only reasons of the contracts' closed list, each with its status."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import grpc
from magnate.game.v1 import refusal_pb2

from services.kit.errors import ServiceError

_PREFIX = "REFUSAL_REASON_"
_KNOWN = frozenset(name.removeprefix(_PREFIX).lower() for name in refusal_pb2.RefusalReason.DESCRIPTOR.values_by_name)

# A failure that no service has named (the transport's, mostly), by its status.
_BY_CODE: Mapping[grpc.StatusCode, str] = MappingProxyType(
    {
        grpc.StatusCode.INVALID_ARGUMENT: "malformed",
        grpc.StatusCode.RESOURCE_EXHAUSTED: "overloaded",
        grpc.StatusCode.UNAVAILABLE: "unreachable",
        grpc.StatusCode.DEADLINE_EXCEEDED: "unreachable",
        grpc.StatusCode.CANCELLED: "unreachable",
        grpc.StatusCode.UNAUTHENTICATED: "no_session",
        grpc.StatusCode.PERMISSION_DENIED: "not_allowed",
        grpc.StatusCode.ABORTED: "version_race",
    }
)
_RETRY_MS = 250


def for_client(error: ServiceError) -> ServiceError:
    """The same failure with a reason of the closed list; what is no client's business becomes `internal`."""
    if error.reason in _KNOWN:
        return error
    reason = _BY_CODE.get(error.code, "internal")
    if reason == "unreachable":
        retry_ms = error.retry_after_ms if error.retry_after_ms is not None else _RETRY_MS
        code = error.code if error.code is grpc.StatusCode.DEADLINE_EXCEEDED else grpc.StatusCode.UNAVAILABLE
        return ServiceError(code, reason, "the service behind does not answer", retry_after_ms=retry_ms)
    if reason == "internal":
        return ServiceError(grpc.StatusCode.INTERNAL, reason, "a fault of the server", error.metadata)
    return ServiceError(error.code, reason, error.message, error.metadata, error.retry_after_ms, error.details)


def no_session() -> ServiceError:
    """A call without a token, or with one that is not in force."""
    return ServiceError(grpc.StatusCode.UNAUTHENTICATED, "no_session", "a valid session token is needed")


def overloaded(what: str, retry_after_ms: int) -> ServiceError:
    """A limit was hit; waiting so long helps."""
    return ServiceError(grpc.StatusCode.RESOURCE_EXHAUSTED, "overloaded", what, retry_after_ms=retry_after_ms)


def slow_client() -> ServiceError:
    """The client leaves what it has asked for waiting."""
    return ServiceError(grpc.StatusCode.RESOURCE_EXHAUSTED, "slow_client", "what was asked for is not read")


def malformed(field: str, message: str) -> ServiceError:
    """A field holds what it may not."""
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, "malformed", message, {"field": field})


def bad_choice(field: str, message: str) -> ServiceError:
    """A field names none of the choices."""
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, "bad_choice", message, {"field": field})


def not_allowed(message: str) -> ServiceError:
    """The caller may not call this."""
    return ServiceError(grpc.StatusCode.PERMISSION_DENIED, "not_allowed", message)


def no_watch() -> ServiceError:
    """The watch is not at this gateway, or not this session's."""
    return ServiceError(grpc.StatusCode.NOT_FOUND, "no_watch", "there is no such watch here; open a new one")


def draining() -> ServiceError:
    """The server is going away."""
    return ServiceError(grpc.StatusCode.UNAVAILABLE, "draining", "the server is going away", retry_after_ms=100)


def unreachable(message: str) -> ServiceError:
    """A service behind does not answer."""
    return ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", message, retry_after_ms=_RETRY_MS)


def contract_version(spoken: str, *, current: str, oldest: str) -> ServiceError:
    """The client's version of the contracts is not served."""
    return ServiceError(
        grpc.StatusCode.FAILED_PRECONDITION,
        "contract_version",
        f"contract version {spoken[:16]!r} is not served; this server speaks {current} and serves from {oldest} on",
        {"contract_version": current, "oldest_contract_version": oldest},
    )
