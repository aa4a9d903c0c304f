"""Problems of edition files: where they stand, and the error that lists them all."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One fault of an edition's data: the file, the line (from 1), the field in it, and what is wrong."""

    file: str
    line: int
    field: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.field}: {self.reason}"


class EditionError(Exception):
    """Edition data that cannot be used; `problems` lists every fault that was found, in order of file and line."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class BadValueError(Exception):
    """One raw value that a reader refuses; `faults` are (field inside the value or empty, reason)."""

    def __init__(self, *faults: tuple[str, str]) -> None:
        self.faults = faults
        super().__init__("; ".join(f"{field}: {reason}" if field else reason for field, reason in faults))
