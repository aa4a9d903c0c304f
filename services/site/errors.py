"""What a command of the program says when it cannot do what it was asked."""

from __future__ import annotations

from services.kit.errors import ServiceError


class CommandError(Exception):
    """One line for people: what happened and what to do. `status` is the exit status."""

    def __init__(self, message: str, *, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def in_words(error: ServiceError) -> str:
    """A failed call in one line."""
    said = error.message or error.code.name.lower().replace("_", " ")
    return f"{said} ({error.reason.lower()})"
