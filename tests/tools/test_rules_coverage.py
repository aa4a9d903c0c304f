"""The coverage tool, and the ratchet on what the rules leave out."""

import json
from pathlib import Path

import pytest

from tests.tools import rules_coverage
from tests.tools.ledgers import LEDGERS, ScopeError, Statement, ledger_ids, left_out_ids, statements

MODULE = '''
CASES = [("a", "IND-CARD-21"), ("b", "IND-CARD-22")]

@pytest.mark.parametrize(("key", "statement"), CASES)
def test_cards(key, statement):
    """Cards as printed."""

async def test_bid():
    """IND-AUC-05, -06 and -19: bids."""

def test_ind_jail_04_fine():
    ledger = "IND-JAIL-05"

class TestDebt:
    @pytest.mark.parametrize("x", [pytest.param(1, id="IND-DEBT-01")])
    def test_one(self, x):
        pass

def helper():
    """IND-DEBT-02"""
'''


def test_ids_are_found_in_docstrings_names_and_parameters() -> None:
    assert rules_coverage.tests_of_module(MODULE) == {
        "test_cards": {"IND-CARD-21", "IND-CARD-22"},
        "test_bid": {"IND-AUC-05", "IND-AUC-06", "IND-AUC-19"},
        "test_ind_jail_04_fine": {"IND-JAIL-04"},
        "TestDebt::test_one": {"IND-DEBT-01"},
    }


def test_every_statement_of_the_ledgers_is_read() -> None:
    assert {ledger: len(ledger_ids(ledger)) for ledger in LEDGERS} == {
        "industry": 354,
        "metro": 212,
        "brands": 219,
        "tabletop": 221,
    }


def test_missing_and_unknown_ids_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    found = (
        Statement(id="IND-AUC-05", ledger="industry", left_out=None),
        Statement(id="IND-AUC-06", ledger="industry", left_out=None),
        Statement(id="IND-UI-01", ledger="industry", left_out="clients"),
    )
    tests = {"IND-AUC-05": ["tests/a.py::test_a"], "IND-AUC-99": ["tests/a.py::test_b"]}
    assert not rules_coverage.report(found, tests, only_missing=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:5] == [
        "IND-AUC-05: tests/a.py::test_a",
        "IND-AUC-06: NO TEST",
        "IND-UI-01: left out: clients",
        "in scope without a test: IND-AUC-06",
        "no ledger has IND-AUC-99, named by tests/a.py::test_b",
    ]
    assert json.loads(lines[-1])["industry"] == {"total": 3, "in_scope": 2, "covered": 1}


def test_every_statement_in_scope_has_a_test_and_no_test_names_another(capsys: pytest.CaptureFixture[str]) -> None:
    """What `make rules-coverage` fails on is no part of a change that lands."""
    assert rules_coverage.main(["--missing"]) == 0, capsys.readouterr().out


def test_what_is_left_out_only_shrinks() -> None:
    """The baseline is renewed by the tool alone, which refuses growth; so the two are the same list."""
    assert sorted(left_out_ids()) == json.loads(rules_coverage.BASELINE.read_text(encoding="utf-8"))


def test_the_flagship_leaves_out_only_what_other_parts_do() -> None:
    in_scope = [one.id for one in statements() if one.ledger == "industry" and one.left_out is None]
    assert len(in_scope) == 283
    left = {one.id.split("-")[1] for one in statements() if one.ledger == "industry" and one.left_out}
    assert left == {"UI", "BOT", "AUTO", "TABLE"}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ('ledger = "x"\nids = ["IND-AUC-01"]\nreason = "r"', "needs a ledger"),
        ('ledger = "x"\nreason = ""', "needs a ledger"),
        ('ledger = "industry"\nids = ["IND-AUC-99"]\nreason = "r"', "the ledger has no IND-AUC-99"),
        ('ledger = "industry"\narea = "NONE"\nreason = "r"', "the ledger has no area NONE"),
        ('ledger = "industry"\narea = "AUC"\nids = ["IND-AUC-01"]\nreason = "r"', "at most one of ids and area"),
    ],
)
def test_a_wrong_scope_entry_is_refused(tmp_path: Path, entry: str, reason: str) -> None:
    for ledger in LEDGERS:
        (tmp_path / f"{ledger}.md").write_text("- IND-AUC-01 A statement.\n", encoding="utf-8")
    (tmp_path / "scope.toml").write_text(f"[[left_out]]\n{entry}\n", encoding="utf-8")
    with pytest.raises(ScopeError, match=reason):
        left_out_ids(tmp_path)


def test_a_statement_that_stands_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "industry.md").write_text("- IND-AUC-01 One.\n- IND-AUC-01 Two.\n", encoding="utf-8")
    with pytest.raises(ScopeError, match="has twice: IND-AUC-01"):
        ledger_ids("industry", tmp_path)
