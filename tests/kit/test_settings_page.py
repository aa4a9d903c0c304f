"""The documented table of settings is what the code declares."""

from __future__ import annotations

from tests.tools.settings_table import NAMES, PAGE, render, render_names


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run `make settings`"
    assert NAMES.read_text(encoding="utf-8") == render_names(), "run `make settings`"
