"""Small changes to the rules: numbers and comparisons of the core, and parameters of an edition's file.

A mutation knows the statements that it may break: those that the docstrings around it name, or, for a parameter, those
that stand beside it in edition.py.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.tools.ledgers import ROOT
from tests.tools.rules_coverage import ids_in

DOMAIN = ROOT / "services" / "rules" / "domain"
EDITION = DOMAIN / "edition.py"
#: the core's rules; the rest of the domain is types, lists and plumbing
RULE_FILES = ("moves/*.py", "folds/*.py", "agenda.py", "new_game.py", "chance.py", "decide.py")

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
_NUMBER = re.compile(r"(?<![\w.\"])([0-9]+)(?![\w.\"])")
_LEDGER_LETTER = {"IND": "I", "MET": "M", "BRA": "B", "TAB": "T"}


@dataclass(frozen=True, slots=True)
class Mutation:
    """One change: `start` and `end` are offsets in the file's text (characters)."""

    path: Path
    line: int
    start: int
    end: int
    before: str
    after: str
    statements: frozenset[str]

    def apply(self, text: str) -> str:
        """The file's text with the change."""
        return text[: self.start] + self.after + text[self.end :]

    def describe(self) -> str:
        """Where and what, for people."""
        where = self.path.relative_to(ROOT).as_posix()
        return (
            f"{where}:{self.line} {self.before} -> {self.after} ({', '.join(sorted(self.statements)) or 'none named'})"
        )


def core_mutations() -> Iterator[Mutation]:
    """Changes of every whole number and every ordering or equality in functions of the core that name a statement."""
    for pattern in RULE_FILES:
        for path in sorted(DOMAIN.glob(pattern)):
            yield from _of_module(path)


def _of_module(path: Path) -> Iterator[Mutation]:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    starts = _line_starts(text)
    module_ids = frozenset(ids_in(ast.get_docstring(tree) or ""))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            ids = frozenset(ids_in(ast.get_docstring(node) or "")) or module_ids
            if ids:
                yield from _of_function(path, text, starts, node, ids)


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _of_function(
    path: Path, text: str, starts: list[int], function: ast.FunctionDef, ids: frozenset[str]
) -> Iterator[Mutation]:
    for node in (part for statement in function.body for part in ast.walk(statement)):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            start = starts[node.lineno - 1] + node.col_offset
            yield Mutation(
                path, node.lineno, start, start + len(str(node.value)), str(node.value), str(node.value + 1), ids
            )
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
            yield from _of_comparison(path, text, starts, node, ids)


def _of_comparison(
    path: Path, text: str, starts: list[int], node: ast.Compare, ids: frozenset[str]
) -> Iterator[Mutation]:
    sign, other = _COMPARISONS[type(node.ops[0])]
    left, right = node.left, node.comparators[0]
    between = starts[(left.end_lineno or left.lineno) - 1] + (left.end_col_offset or 0)
    until = starts[right.lineno - 1] + right.col_offset
    start = text.index(sign, between, until)
    yield Mutation(path, node.lineno, start, start + len(sign), sign, other, ids)


def parameter_statements(prefix: str) -> dict[str, frozenset[str]]:
    """Parameter -> statements of one ledger (by its prefix, IND), read from the comments in edition.py."""
    letter = _LEDGER_LETTER[prefix]
    found: dict[str, frozenset[str]] = {}
    comment = ""
    for raw in EDITION.read_text(encoding="utf-8").splitlines():
        line = raw.strip()
        if line.startswith("#:"):
            comment += " " + line[2:]
            continue
        match = re.match(r"([a-z_]+): ", line)
        if match and comment:
            found[match[1]] = frozenset(_ids_of_comment(comment, letter, prefix))
        comment = ""
    return found


def _ids_of_comment(comment: str, letter: str, prefix: str) -> Iterator[str]:
    for bracket in re.findall(r"\[([^\]]*)\]", comment):
        for part in bracket.split(";"):
            words = part.split()
            if not words or words[0] != letter:
                continue
            area = ""
            for word in words[1:]:
                if match := re.fullmatch(r"([A-Z]+)-([0-9]{2})", word):
                    area = match[1]
                    yield f"{prefix}-{area}-{match[2]}"
                elif match := re.fullmatch(r"-([0-9]{2})", word):
                    yield f"{prefix}-{area}-{match[1]}"


def parameter_mutations(path: Path, prefix: str) -> Iterator[Mutation]:
    """Changes of every number and switch among an edition's parameters that the core reads."""
    statements = parameter_statements(prefix)
    text = path.read_text(encoding="utf-8")
    used = _parameters_in_use()
    section, offset = "", 0
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if line.startswith("["):
            section = line.strip()
        match = re.match(r"([a-z_]+) = (.*)", line)
        if match and section == "[parameters]" and match[1] in used and statements.get(match[1]):
            yield from _of_value(path, number, offset + match.start(2), match[2], statements[match[1]])
        offset += len(line)


def _parameters_in_use() -> frozenset[str]:
    text = "".join(path.read_text(encoding="utf-8") for path in DOMAIN.rglob("*.py") if path != EDITION)
    return frozenset(re.findall(r"\bedition\.([a-z_]+)", text))


def _of_value(path: Path, line: int, start: int, value: str, ids: frozenset[str]) -> Iterator[Mutation]:
    for match in _NUMBER.finditer(value):
        before = match[1]
        yield Mutation(path, line, start + match.start(), start + match.end(), before, str(int(before) + 1), ids)
    for match in re.finditer(r"\b(true|false)\b", value):
        after = "false" if match[1] == "true" else "true"
        yield Mutation(path, line, start + match.start(), start + match.end(), match[1], after, ids)
