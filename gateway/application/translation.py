"""Turns a client's message into the table service's, and its answer back: fields of one name hold the same."""

from __future__ import annotations

from typing import Any, TypeVar

from google.protobuf.message import Message

Target = TypeVar("Target", bound=Message)


def translate(source: Message, kind: type[Target], **fields: str) -> Target:
    """A message of this kind with the fields that are set in `source`, and these further ones."""
    translated = kind(**fields)
    target: Any = translated
    for field, value in source.ListFields():
        if field.is_repeated:
            getattr(target, field.name).extend(value)
        elif field.message_type is not None:
            getattr(target, field.name).CopyFrom(value)
        else:
            setattr(target, field.name, value)
    return translated
