"""Variables of the environment that look like settings and are none."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from pathlib import Path

PREFIX = "MAGNATE_"
# The tests' own.
_NOT_OURS = "MAGNATE_TEST_"
# All settings of all services, made by `make settings`: no service loads the others to know their names.
_NAMES = Path(__file__).with_name("variables.txt")


def unknown_variables(environ: Mapping[str, str]) -> str:
    """One line that names them, with what may have been meant; empty when there is none.

    A warning and no refusal: a release before this one, or after it, may know them, and must start all the same.
    """
    known = set(_NAMES.read_text(encoding="utf-8").split())
    unknown = sorted(name for name in environ if _is_ours(name) and name not in known)
    if not unknown:
        return ""
    return "not a setting, ignored: " + ", ".join(f"{name}{_guess(name, known)}" for name in unknown)


def _is_ours(name: str) -> bool:
    return name.startswith(PREFIX) and not name.startswith(_NOT_OURS)


def _guess(name: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.85)
    return f" (is it {near[0]}?)" if near else ""
