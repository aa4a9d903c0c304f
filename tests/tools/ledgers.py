"""The ledgers in docs/rules: their statements, and which of them docs/rules/scope.toml leaves out."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "docs" / "rules"
LEDGERS = ("industry", "metro", "brands", "tabletop")

_STATEMENT = re.compile(r"^- \*{0,2}((?:IND|MET|BRA|TAB)-[A-Z]+-[0-9]{2})\b", re.MULTILINE)


class ScopeError(Exception):
    """scope.toml names something that the ledgers do not have, or gives no reason."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One numbered statement; `left_out` is the reason why no test is asked for, None if it is in scope."""

    id: str
    ledger: str
    left_out: str | None


def area_of(statement_id: str) -> str:
    """The area of an id: AUC of IND-AUC-05."""
    return statement_id.split("-")[1]


def ledger_ids(ledger: str, folder: Path = RULES) -> tuple[str, ...]:
    """The ids of a ledger in its order. Raises ScopeError if one stands twice."""
    ids = tuple(_STATEMENT.findall((folder / f"{ledger}.md").read_text(encoding="utf-8")))
    doubled = sorted({one for one in ids if ids.count(one) > 1})
    if doubled:
        raise ScopeError(f"{ledger}.md has twice: {', '.join(doubled)}")
    return ids


def left_out_ids(folder: Path = RULES) -> dict[str, str]:
    """Statement id -> reason, for everything that scope.toml leaves out. Raises ScopeError."""
    entries = tomllib.loads((folder / "scope.toml").read_text(encoding="utf-8")).get("left_out", [])
    reasons: dict[str, str] = {}
    for number, entry in enumerate(entries, start=1):
        unknown = set(entry) - {"ledger", "ids", "area", "reason"}
        if unknown or entry.get("ledger") not in LEDGERS or not entry.get("reason") or {"ids", "area"} <= set(entry):
            raise ScopeError(f"scope.toml, entry {number}: needs a ledger, a reason, and at most one of ids and area")
        for one in _entry_ids(number, entry, ledger_ids(entry["ledger"], folder)):
            if one in reasons:
                raise ScopeError(f"scope.toml, entry {number}: {one} is left out twice")
            reasons[one] = entry["reason"]
    return reasons


def _entry_ids(number: int, entry: dict[str, object], ids: tuple[str, ...]) -> tuple[str, ...]:
    if isinstance(entry.get("ids"), list):
        named = tuple(str(one) for one in entry["ids"])  # type: ignore[attr-defined]  # seen to be a list
        missing = [one for one in named if one not in ids]
        if missing:
            raise ScopeError(f"scope.toml, entry {number}: the ledger has no {', '.join(missing)}")
        return named
    if "area" in entry:
        named = tuple(one for one in ids if area_of(one) == entry["area"])
        if not named:
            raise ScopeError(f"scope.toml, entry {number}: the ledger has no area {entry['area']}")
        return named
    return ids


def statements(folder: Path = RULES) -> tuple[Statement, ...]:
    """All statements of all ledgers, in their order."""
    reasons = left_out_ids(folder)
    return tuple(
        Statement(id=one, ledger=ledger, left_out=reasons.get(one))
        for ledger in LEDGERS
        for one in ledger_ids(ledger, folder)
    )
