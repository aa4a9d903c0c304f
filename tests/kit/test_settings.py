"""Settings are declared once and read strictly."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from services.kit.settings import Settings, SettingsError, render_table, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorSettings(Settings):
    """An example."""

    port: int = setting("MAGNATE_DOOR_PORT", 7000, "port of the door", low=0, high=65535)
    ratio: float = setting("MAGNATE_DOOR_RATIO", 0.5, "how far it opens", low=0, high=1)
    locked: bool = setting("MAGNATE_DOOR_LOCKED", False, "whether it is locked")
    colour: str = setting("MAGNATE_DOOR_COLOUR", "red", "its colour", choices=("red", "green"))
    key: str = setting("MAGNATE_DOOR_KEY", "", "its key", secret=True)
    bell: str = setting("MAGNATE_DOOR_BELL", "tone:a", "its bell", begins=("tone:", "song:"))


def test_defaults_and_values() -> None:
    assert DoorSettings.load({}) == DoorSettings()
    loaded = DoorSettings.load({"MAGNATE_DOOR_PORT": " 1 ", "MAGNATE_DOOR_LOCKED": "Yes", "MAGNATE_DOOR_RATIO": "1"})
    assert (loaded.port, loaded.locked, loaded.ratio, loaded.colour) == (1, True, 1.0, "red")
    assert DoorSettings.load({"MAGNATE_DOOR_PORT": ""}).port == 7000


@pytest.mark.parametrize(
    ("env", "value", "allowed"),
    [
        ("MAGNATE_DOOR_PORT", "70000", "a whole number from 0 to 65535"),
        ("MAGNATE_DOOR_PORT", "1.5", "a whole number from 0 to 65535"),
        ("MAGNATE_DOOR_RATIO", "-0.1", "a number from 0 to 1"),
        ("MAGNATE_DOOR_RATIO", "nan", "a number from 0 to 1"),
        ("MAGNATE_DOOR_LOCKED", "maybe", "true or false"),
        ("MAGNATE_DOOR_COLOUR", "blue", "one of red, green"),
        ("MAGNATE_DOOR_BELL", "gong", "text that begins with tone: or song:"),
    ],
)
def test_a_bad_value_is_named(env: str, value: str, allowed: str) -> None:
    with pytest.raises(SettingsError) as caught:
        DoorSettings.load({env: value})
    assert str(caught.value) == f"{env} is {value!r}; allowed is {allowed}"


def test_secrets_are_not_shown() -> None:
    assert "sesame" not in repr(DoorSettings(key="sesame"))


def test_the_table_has_a_line_for_each() -> None:
    table = render_table([DoorSettings]).splitlines()
    assert table[3] == "| `MAGNATE_DOOR_COLOUR` | `red` | one of red, green | its colour |"
    assert table[5] == "| `MAGNATE_DOOR_LOCKED` | `false` | true or false | whether it is locked |"
    assert len(table) == 8


def test_one_variable_has_one_meaning() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class OtherSettings(Settings):
        port: int = setting("MAGNATE_DOOR_PORT", 1, "another port")

    with pytest.raises(ValueError, match="MAGNATE_DOOR_PORT is declared in two different ways"):
        render_table([DoorSettings, OtherSettings])


def test_names_have_the_prefix() -> None:
    with pytest.raises(ValueError, match="does not begin with MAGNATE_"):
        setting("DOOR", 1, "a door")
