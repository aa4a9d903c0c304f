"""Which tests name which statements of the ledgers.

    python -m tests.tools.rules_coverage [--missing] [--renew-baseline]

A test names a statement by its id in the docstring or the name of the test function (`test_ind_auc_05_...`), or in the
arguments of its decorators (parametrised ids, also through a constant of the module). `IND-AUC-05, -06` names both.
Lists every statement with its tests, then those in scope without one, then one JSON line of counts for each ledger.
Exit status 1 if a statement in scope has no test, or if a test names a statement that no ledger has.
"""

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.tools.ledgers import LEDGERS, ROOT, RULES, ScopeError, Statement, left_out_ids, statements

BASELINE = RULES / "scope_baseline.json"

_NAMED = re.compile(r"\b((?:IND|MET|BRA|TAB)-[A-Z]+)-([0-9]{2})\b((?:(?:,| and|, and)? -[0-9]{2}\b)*)")
_IN_NAME = re.compile(r"(?:^|_)(ind|met|bra|tab)_([a-z]+)_([0-9]{2})(?=_|$)")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def ids_in(text: str) -> set[str]:
    """The statement ids that a text names."""
    found: set[str] = set()
    for area, number, more in _NAMED.findall(text):
        found.update(f"{area}-{part}" for part in (number, *re.findall(r"[0-9]{2}", more)))
    return found


def tests_of_module(source: str) -> dict[str, set[str]]:
    """Test name (with its class) -> the statement ids that it names."""
    tree = ast.parse(source)
    constants = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    found: dict[str, set[str]] = {}
    for name, function in _test_functions(tree.body):
        text = [ast.get_docstring(function) or ""]
        for decorator in function.decorator_list:
            text += _strings(decorator, constants)
        ids = set().union(*(ids_in(part) for part in text))
        ids |= {"-".join(match).upper() for match in _IN_NAME.findall(function.name)}
        found[name] = ids
    return found


def _test_functions(
    body: list[ast.stmt], prefix: str = ""
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in body:
        if isinstance(node, _FUNCTIONS) and node.name.startswith("test"):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from _test_functions(node.body, f"{node.name}::")


def _strings(node: ast.AST, constants: dict[str, ast.expr]) -> Iterator[str]:
    """String constants in an expression, following names of the module's constants one step."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.Name) and part.id in constants:
            for inner in ast.walk(constants[part.id]):
                if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                    yield inner.value


def tests_by_statement(folder: Path) -> dict[str, list[str]]:
    """Statement id -> tests that name it, as `tests/rules/test_x.py::test_y`, for all test files under `folder`."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        if "tools" in path.relative_to(folder).parts:
            continue  # the tests of this tool name statements, real and invented, without testing them
        where = path.relative_to(folder.parent).as_posix()
        for name, ids in tests_of_module(path.read_text(encoding="utf-8")).items():
            for one in ids:
                found.setdefault(one, []).append(f"{where}::{name}")
    return found


def counts(found: tuple[Statement, ...], tests: dict[str, list[str]]) -> dict[str, dict[str, int]]:
    """For each ledger: statements in total, those in scope, and those of them that a test names."""
    result = {}
    for ledger in LEDGERS:
        own = [statement for statement in found if statement.ledger == ledger]
        in_scope = [statement for statement in own if statement.left_out is None]
        covered = [statement for statement in in_scope if statement.id in tests]
        result[ledger] = {"total": len(own), "in_scope": len(in_scope), "covered": len(covered)}
    return result


def renew_baseline() -> None:
    """Write what scope.toml leaves out now; raises ScopeError if it leaves out more than before."""
    now = left_out_ids()
    before = set(json.loads(BASELINE.read_text(encoding="utf-8"))) if BASELINE.exists() else set(now)
    grown = sorted(set(now) - before)
    if grown:
        raise ScopeError(f"scope.toml may only leave out less; newly left out: {', '.join(grown)}")
    BASELINE.write_text(json.dumps(sorted(now), indent=0) + "\n", encoding="utf-8")


def report(found: tuple[Statement, ...], tests: dict[str, list[str]], *, only_missing: bool) -> bool:
    """Print the lists and the JSON line; true if nothing is amiss."""
    missing = [statement for statement in found if statement.left_out is None and statement.id not in tests]
    unknown = sorted(set(tests) - {statement.id for statement in found})
    for statement in () if only_missing else found:
        if statement.id in tests:
            print(f"{statement.id}: {', '.join(tests[statement.id])}")
        else:
            print(f"{statement.id}: " + (f"left out: {statement.left_out}" if statement.left_out else "NO TEST"))
    for statement in missing:
        print(f"in scope without a test: {statement.id}")
    for one in unknown:
        print(f"no ledger has {one}, named by {', '.join(tests[one])}")
    print(json.dumps(counts(found, tests)))
    return not missing and not unknown


def main(arguments: list[str]) -> int:
    """Run the tool; returns its exit status."""
    parser = argparse.ArgumentParser(prog="rules_coverage", description="Which tests name which statements.")
    parser.add_argument("--missing", action="store_true", help="list only what is amiss")
    parser.add_argument("--renew-baseline", action="store_true", help="record that scope.toml leaves out less")
    options = parser.parse_args(arguments)
    try:
        if options.renew_baseline:
            renew_baseline()
        fine = report(statements(), tests_by_statement(ROOT / "tests"), only_missing=options.missing)
    except ScopeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
