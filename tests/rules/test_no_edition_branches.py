"""Rules are parameters: no code asks which edition it plays."""

import ast
from collections.abc import Iterator
from pathlib import Path

from services.rules.editions.loader import load_catalogue

ROOT = Path(__file__).resolve().parents[2]
IDS = frozenset(edition.id for edition in load_catalogue().newest())
#: words that may stand alone for the id of an edition
NAMES = frozenset({"edition", "edition_id"})


def words(node: ast.AST) -> set[str]:
    """The words that an operand or a pattern holds, also inside a list."""
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def is_id(node: ast.AST) -> bool:
    """`edition`, `edition_id`, or the id of something called an edition."""
    if isinstance(node, ast.Name):
        return node.id in NAMES
    if not isinstance(node, ast.Attribute):
        return False
    holder = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    return node.attr in NAMES or (node.attr == "id" and holder in ("edition", "flat"))


def branches(source: str) -> Iterator[int]:
    """The lines at which a value is compared with an edition's id, or an edition's id with a fixed word."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            fixed = set().union(*(words(operand) for operand in operands))
            if fixed & IDS or (fixed - {""} and any(is_id(operand) for operand in operands)):
                yield node.lineno
        elif isinstance(node, ast.MatchValue) and words(node) & IDS:
            yield node.value.lineno
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in ("startswith", "endswith") and is_id(node.func.value):
                yield node.lineno
        elif isinstance(node, ast.Dict) and len(IDS & {word for key in node.keys if key for word in words(key)}) > 1:
            yield node.lineno


def test_the_search_finds_what_it_looks_for() -> None:
    text = """
if edition.id == "chess": pass
if table.edition in ("brands", "metro"): pass
if kind != "tabletop-short": pass
if request.edition_id.startswith("brands"): pass
match name:
    case "rent-tax": pass
TABLE = {"metro": 1, "brands": 2}
if edition.id == other.edition: pass
if edition == "": pass
if deck == "chance": pass
"""
    assert sorted(branches(text)) == [2, 3, 4, 5, 7, 8]


def test_no_code_branches_on_the_id_of_an_edition() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for folder in ("services", "gateway")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in branches(path.read_text(encoding="utf-8"))
    ]
    assert found == []
