"""Every failure that a service names is in the closed list of the contracts, with the status that stands beside it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ROOT / "proto" / "magnate" / "game" / "v1" / "refusal.proto"
_ENTRY = re.compile(r"// [^\n]*\[([A-Z_]+)\]\n  REFUSAL_REASON_([A-Z_]+) = ")


def statuses() -> dict[str, str]:
    """Reason -> gRPC status, read from the contract's comments."""
    return {reason.lower(): status for status, reason in _ENTRY.findall(CONTRACT.read_text(encoding="utf-8"))}


def named_failures() -> Iterator[tuple[str, str, str]]:
    """(where, status, reason) of every ServiceError whose status and reason stand in the code."""
    for folder in ("services", "gateway"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ServiceError":
                    yield from _named(f"{path.relative_to(ROOT)}:{node.lineno}", node.args)


def _named(where: str, arguments: list[ast.expr]) -> Iterator[tuple[str, str, str]]:
    if len(arguments) > 1 and isinstance(arguments[0], ast.Attribute) and isinstance(arguments[1], ast.Constant):
        yield where, arguments[0].attr, str(arguments[1].value)


@pytest.mark.parametrize(("where", "status", "reason"), list(named_failures()))
def test_a_failure_is_one_of_the_closed_list_with_its_status(where: str, status: str, reason: str) -> None:
    """No client meets a reason that the contracts do not name."""
    assert (where, statuses().get(reason)) == (where, status)


def test_the_contract_names_a_status_for_every_reason() -> None:
    """The list is complete: each entry but the unset one has its status."""
    entries = re.findall(r"REFUSAL_REASON_([A-Z_]+) = [0-9]+;", CONTRACT.read_text(encoding="utf-8"))
    assert sorted(statuses()) == sorted(entry.lower() for entry in entries if entry != "UNSPECIFIED")
