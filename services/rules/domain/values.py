"""How the core's small immutable values are declared."""

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """A slotted value class, compared by its fields, and hashed by them unless it says otherwise.

    The type checker sees it frozen. At run time it is not: a frozen dataclass takes three times as long to build, and
    the core builds half a dozen values for each command.
    """
    return dataclass(slots=True, unsafe_hash="__hash__" not in cls.__dict__)(cls)
