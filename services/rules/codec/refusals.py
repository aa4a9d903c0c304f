"""Refusals as messages and as errors: each reason with its gRPC status."""

from collections.abc import Mapping
from typing import Final, get_args

import grpc
from magnate.game.v1 import refusal_pb2

from services.kit.errors import ServiceError
from services.rules.codec.twins import enum_numbers
from services.rules.domain.refusals import Reason, Refusal

_BAD_INPUT: Final = ("malformed", "unknown_cell", "bad_amount", "bad_choice", "override_out_of_range")
_WRONG_CALLER: Final = ("not_your_seat", "not_asked", "excluded_bidder")

#: reasons of this service beside those of the rules
SERVICE_STATUSES: Final[Mapping[str, grpc.StatusCode]] = {
    "no_edition": grpc.StatusCode.NOT_FOUND,
    "unknown_content": grpc.StatusCode.FAILED_PRECONDITION,
    "internal": grpc.StatusCode.INTERNAL,
}

_STATUSES: Final[Mapping[str, grpc.StatusCode]] = {
    # What names no status of its own is not legal now.
    **dict.fromkeys(get_args(Reason), grpc.StatusCode.FAILED_PRECONDITION),
    **dict.fromkeys(_BAD_INPUT, grpc.StatusCode.INVALID_ARGUMENT),
    **dict.fromkeys(_WRONG_CALLER, grpc.StatusCode.PERMISSION_DENIED),
    **SERVICE_STATUSES,
}
_NUMBERS: Final = enum_numbers(refusal_pb2.RefusalReason.DESCRIPTOR)


def status_of(reason: str) -> grpc.StatusCode:
    """The gRPC status of a reason, as the contract names it."""
    return _STATUSES[reason]


def refusal_message(refusal: Refusal) -> refusal_pb2.Refusal:
    """The Refusal message of a refusal by the rules."""
    return _message(refusal.reason, refusal.statement, refusal.message, _texts(refusal.fields))


def refusal_error(refusal: Refusal) -> ServiceError:
    """A refusal by the rules where the call itself fails."""
    fields = _texts(refusal.fields)
    detail = _message(refusal.reason, refusal.statement, refusal.message, fields)
    metadata = {**fields, "statement": refusal.statement} if refusal.statement else fields
    return ServiceError(status_of(refusal.reason), refusal.reason, refusal.message, metadata, details=(detail,))


def reason_error(reason: str, message: str, **fields: str) -> ServiceError:
    """A failure with one of the closed list's reasons, where no rule is involved."""
    return ServiceError(status_of(reason), reason, message, fields, details=(_message(reason, "", message, fields),))


def _texts(fields: Mapping[str, int]) -> dict[str, str]:
    return {name: str(value) for name, value in fields.items()}


def _message(reason: str, statement: str, message: str, fields: Mapping[str, str]) -> refusal_pb2.Refusal:
    number = _NUMBERS[reason]
    return refusal_pb2.Refusal(
        reason=number,  # type: ignore[arg-type]
        statement=statement,
        message=message,
        fields=fields,
    )
