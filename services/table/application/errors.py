"""Refusals as errors of the services: one mapping from reason to gRPC status."""

from __future__ import annotations

import grpc
from magnate.game.v1 import refusal_pb2

from services.kit.errors import ServiceError
from services.table.domain.refusals import RefusalError

_PREFIX = "REFUSAL_REASON_"
_FIRST_OF_SERVICES = 100
_BAD_INPUT = range(1, 6)
_NOT_YOURS = range(6, 9)
_CODES = {
    "no_session": grpc.StatusCode.UNAUTHENTICATED,
    "no_table": grpc.StatusCode.NOT_FOUND,
    "no_edition": grpc.StatusCode.NOT_FOUND,
    "not_host": grpc.StatusCode.PERMISSION_DENIED,
    "wrong_secret": grpc.StatusCode.PERMISSION_DENIED,
    "no_spectators": grpc.StatusCode.PERMISSION_DENIED,
    "command_id_reused": grpc.StatusCode.ALREADY_EXISTS,
    "version_race": grpc.StatusCode.ABORTED,
    "overloaded": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "slow_client": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "seq_ahead": grpc.StatusCode.OUT_OF_RANGE,
    "not_allowed": grpc.StatusCode.PERMISSION_DENIED,
    "draining": grpc.StatusCode.UNAVAILABLE,
    "unreachable": grpc.StatusCode.UNAVAILABLE,
    "internal": grpc.StatusCode.INTERNAL,
}


def code_of(reason: str) -> grpc.StatusCode:
    """The gRPC status that the contract gives to a reason, by its lower-case name."""
    number = refusal_pb2.RefusalReason.Value(_PREFIX + reason.upper())
    if number in _BAD_INPUT:
        return grpc.StatusCode.INVALID_ARGUMENT
    if number in _NOT_YOURS:
        return grpc.StatusCode.PERMISSION_DENIED
    if number < _FIRST_OF_SERVICES:
        return grpc.StatusCode.FAILED_PRECONDITION
    return _CODES.get(reason, grpc.StatusCode.FAILED_PRECONDITION)


def from_refused(refused: RefusalError) -> ServiceError:
    """The error for a refusal of this service."""
    detail = refusal_pb2.Refusal(
        reason=refusal_pb2.RefusalReason.Value(_PREFIX + refused.reason.upper()),
        message=refused.message,
        fields=dict(refused.fields),
    )
    return ServiceError(
        code_of(refused.reason),
        refused.reason.value,
        refused.message,
        refused.fields,
        refused.retry_after_ms,
        [detail],
    )


def from_rules(refusal: refusal_pb2.Refusal) -> ServiceError:
    """The error for a refusal of the rules, with the statement that the wish breaks."""
    reason = refusal_pb2.RefusalReason.Name(refusal.reason).removeprefix(_PREFIX).lower()
    fields = dict(refusal.fields)
    if refusal.statement:
        fields["statement"] = refusal.statement
    return ServiceError(code_of(reason), reason, refusal.message, fields, details=[refusal])
