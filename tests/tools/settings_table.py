"""The one table of all settings: `python -m tests.tools.settings_table` writes docs/settings.md, and the list of their
names that the program knows them by."""

from __future__ import annotations

import importlib
from pathlib import Path

from services.kit.settings import Settings, known_settings, render_table

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "settings.md"
NAMES = ROOT / "services" / "site" / "variables.txt"

_HEAD = """# Settings

Every setting is a variable of the environment; an absent or empty one means its default. A value that is not allowed
stops the service at its start with a message that names the variable, the value and what is allowed. The table is
made from the declarations in the code (`make settings`); a test fails when it is out of date.

"""


def render() -> str:
    """The page for what the code declares now."""
    return _HEAD + render_table(_declared())


def render_names() -> str:
    """The names of all variables, one a line."""
    return "\n".join(sorted({each.env for kind in _declared() for each in kind.described().values()})) + "\n"


def _declared() -> list[type[Settings]]:
    importlib.import_module("services.kit.server")
    for path in sorted([*ROOT.glob("services/*/settings.py"), *ROOT.glob("gateway/settings.py")]):
        importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return [kind for kind in known_settings() if kind.__module__.split(".")[0] in {"services", "gateway"}]


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
    NAMES.write_text(render_names(), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)} and {NAMES.relative_to(ROOT)}")
