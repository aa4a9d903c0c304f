"""Limits that stand in the contracts, enforced: each message type is compiled once into the checks that it needs.

The limits of a field are the option `magnate.options.v1.limits`; it is found by reflection, so that any contract that
declares it is enforced. Only what has limits costs anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, cast

import grpc
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from services.kit.errors import ServiceError

_OPTION = "magnate.options.v1.limits"
# Postgres stores and compares no text with it, and no name, id or token has a use for it.
_NUL = "\0"
_SIGNED = (
    FieldDescriptor.TYPE_INT32,
    FieldDescriptor.TYPE_INT64,
    FieldDescriptor.TYPE_SINT32,
    FieldDescriptor.TYPE_SINT64,
)

# Checks one value; raises _OutOfLimitsError.
Check = Callable[[Any], None]


class _OutOfLimitsError(Exception):
    """A value that the contract does not allow; the path to its field grows while this is on its way up."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.path: list[str] = []


def validate(message: Message) -> None:
    """Raises INVALID_ARGUMENT `malformed`, or `bad_amount` for a negative amount, naming the field."""
    check = _compiled(cast(Descriptor, message.DESCRIPTOR))
    if check is None:
        return
    try:
        check(message)
    except _OutOfLimitsError as bad:
        field = ".".join(reversed(bad.path))
        raise ServiceError(
            grpc.StatusCode.INVALID_ARGUMENT, bad.reason, f"{field} {bad.message}", {"field": field}
        ) from None


_cache: dict[Descriptor, Check | None] = {}


def _compiled(descriptor: Descriptor) -> Check | None:
    """The check of a message type; None if nothing in it, or below it, has limits."""
    if descriptor not in _cache:
        if _has_limits(descriptor, set()):
            # Put there first: a type may contain itself.
            checks: list[Check] = []
            _cache[descriptor] = _all_of(checks)
            checks.extend(_checks_of(descriptor))
        else:
            _cache[descriptor] = None
    return _cache[descriptor]


def _has_limits(descriptor: Descriptor, seen: set[Descriptor]) -> bool:
    if descriptor in seen:
        return False
    seen.add(descriptor)
    return any(
        _limits_of(field) is not None or (field.message_type is not None and _has_limits(field.message_type, seen))
        for field in descriptor.fields
    )


def _limits_of(field: FieldDescriptor) -> Any:
    for option, value in field.GetOptions().ListFields():
        if option.is_extension and option.full_name == _OPTION:
            return value
    return None


def _all_of(checks: list[Check]) -> Check:
    def check_message(message: Any) -> None:
        for check in checks:
            check(message)

    return check_message


def _checks_of(descriptor: Descriptor) -> Iterable[Check]:
    """One check for each field on its own, and one for each oneof whose members have something to check."""
    of_oneofs: dict[str, dict[str, Check]] = {}
    for field in descriptor.fields:
        limits = _limits_of(field)
        if limits is not None and limits.required:
            yield _required(field.name)
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            if limits is not None and limits.HasField("max_items"):
                yield _on_field(field.name, _at_most_items(limits.max_items))
            continue
        value = _compiled(field.message_type) if field.message_type is not None else _value_check(field, limits)
        if field.is_repeated:
            yield from _repeated(field.name, limits, value)
        elif value is None:
            continue
        elif field.containing_oneof is not None:
            of_oneofs.setdefault(field.containing_oneof.name, {})[field.name] = value
        elif field.has_presence:
            yield _if_present(field.name, value)
        else:
            yield _on_field(field.name, value)
    for oneof, members in of_oneofs.items():
        yield _on_oneof(oneof, members)


def _repeated(name: str, limits: Any, value: Check | None) -> Iterable[Check]:
    if limits is not None and limits.HasField("max_items"):
        yield _on_field(name, _at_most_items(limits.max_items))
    if value is not None:
        yield _on_items(name, value)


def _required(name: str) -> Check:
    def check(message: Any) -> None:
        if not message.HasField(name):
            bad = _OutOfLimitsError("malformed", "is missing")
            bad.path.append(name)
            raise bad

    return check


def _on_field(name: str, value: Check) -> Check:
    def check(message: Any) -> None:
        try:
            value(getattr(message, name))
        except _OutOfLimitsError as bad:
            bad.path.append(name)
            raise

    return check


def _if_present(name: str, value: Check) -> Check:
    on_field = _on_field(name, value)

    def check(message: Any) -> None:
        if message.HasField(name):
            on_field(message)

    return check


def _on_oneof(oneof: str, members: dict[str, Check]) -> Check:
    on_members = {name: _on_field(name, value) for name, value in members.items()}

    def check(message: Any) -> None:
        on_member = on_members.get(message.WhichOneof(oneof))
        if on_member is not None:
            on_member(message)

    return check


def _on_items(name: str, value: Check) -> Check:
    def check(message: Any) -> None:
        for index, item in enumerate(getattr(message, name)):
            try:
                value(item)
            except _OutOfLimitsError as bad:
                bad.path.append(f"{name}[{index}]")
                raise

    return check


def _at_most_items(most: int) -> Check:
    def check(items: Any) -> None:
        if len(items) > most:
            raise _OutOfLimitsError("malformed", f"has more than {most} items")

    return check


def _value_check(field: FieldDescriptor, limits: Any) -> Check | None:
    if limits is None:
        return None
    if field.type == FieldDescriptor.TYPE_BYTES:
        return _text_check(limits, "bytes", forbidden=None)
    if field.type == FieldDescriptor.TYPE_STRING:
        return _text_check(limits, "characters", forbidden=_NUL)
    return _number_check(limits, signed=field.type in _SIGNED)


def _text_check(limits: Any, unit: str, *, forbidden: str | None) -> Check | None:
    least = limits.min_length
    most = limits.max_length if limits.HasField("max_length") else None
    pattern = re.compile(limits.pattern, re.ASCII) if limits.HasField("pattern") else None
    if not least and most is None and pattern is None:
        return None

    def check(text: Any) -> None:
        size = len(text)
        if size < least:
            raise _OutOfLimitsError("malformed", f"has less than {least} {unit}")
        if most is not None and size > most:
            raise _OutOfLimitsError("malformed", f"has more than {most} {unit}")
        if forbidden is not None and forbidden in text:
            raise _OutOfLimitsError("malformed", "holds a NUL character")
        if pattern is not None and pattern.fullmatch(text) is None:
            raise _OutOfLimitsError("malformed", f"is not of the form {pattern.pattern}")

    return check


def _number_check(limits: Any, *, signed: bool) -> Check | None:
    least = limits.min if limits.HasField("min") else None
    most = limits.max if limits.HasField("max") else None
    if least is None and most is None:
        return None
    # Only amounts are signed and yet may not be negative.
    below = "bad_amount" if signed and least is not None and least >= 0 else "malformed"

    def check(number: Any) -> None:
        if least is not None and number < least:
            raise _OutOfLimitsError(below if number < 0 else "malformed", f"is below {least}")
        if most is not None and number > most:
            raise _OutOfLimitsError("malformed", f"is above {most}")

    return check
