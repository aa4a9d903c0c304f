"""Settings from the environment, declared once: name, type, default, range and a line of documentation.

@dataclass(frozen=True, slots=True, kw_only=True)
class ClockSettings(Settings):
    port: int = setting("MAGNATE_CLOCK_PORT", 7430, "port of the clock service", low=0, high=65535)

settings = ClockSettings.load(os.environ)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, cast

PREFIX = "MAGNATE_"

Value = TypeVar("Value", int, float, str, bool)

_KEY = "setting"
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")


class SettingsError(Exception):
    """A variable of the environment whose value is not allowed; the text names all three."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How one field is read: its variable, default, documentation, and what is allowed."""

    env: str
    default: int | float | str | bool
    doc: str
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    secret: bool
    begins: tuple[str, ...] = ()

    def allowed(self) -> str:
        """What may stand in the variable, in words."""
        if isinstance(self.default, bool):
            return "true or false"
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.begins:
            return "text that begins with " + " or ".join(self.begins)
        kind = {int: "a whole number", float: "a number", str: "text"}[type(self.default)]
        if self.low is not None and self.high is not None:
            return f"{kind} from {self.low:.12g} to {self.high:.12g}"
        if self.low is not None:
            return f"{kind} of {self.low:.12g} or more"
        return kind

    def read(self, text: str) -> int | float | str | bool:
        """The value that a text means; SettingsError when it is not allowed."""
        value = self._parse(text.strip())
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        bad = (
            value is None
            or (is_number and self.low is not None and cast(float, value) < self.low)
            or (is_number and self.high is not None and cast(float, value) > self.high)
            or (bool(self.choices) and value not in self.choices)
            or (bool(self.begins) and not str(value).startswith(self.begins))
        )
        if value is None or bad:
            shown = "(a secret)" if self.secret else repr(text[:80])
            raise SettingsError(f"{self.env} is {shown}; allowed is {self.allowed()}")
        return value

    def _parse(self, text: str) -> int | float | str | bool | None:
        if isinstance(self.default, bool):
            lowered = text.lower()
            return True if lowered in _TRUE else (False if lowered in _FALSE else None)
        if isinstance(self.default, str):
            return text
        try:
            number = type(self.default)(text)
        except ValueError:
            return None
        return number if number == number else None  # noqa: PLR0124 - not a number


def setting(
    env: str,
    default: Value,
    doc: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    secret: bool = False,
    begins: Sequence[str] = (),
) -> Value:
    """Declares a field of a Settings class. Numbers lie in `low..high`, a text begins with one of `begins`; a secret is
    never shown."""
    if not env.startswith(PREFIX):
        raise ValueError(f"{env} does not begin with {PREFIX}")
    described = Setting(env, default, doc, low, high, tuple(choices), secret, tuple(begins))
    made: Any = dataclasses.field(default=default, repr=not secret, metadata={_KEY: described})
    return made  # type: ignore[no-any-return]


class Settings:
    """Base of the settings of a service: a frozen dataclass whose fields are made by `setting`."""

    __slots__ = ()
    _classes: ClassVar[dict[str, type[Settings]]] = {}

    def __init_subclass__(cls) -> None:
        # A slotted dataclass is made twice; the later one, of the same name, is the real one.
        Settings._classes[f"{cls.__module__}.{cls.__qualname__}"] = cls

    @classmethod
    def load(cls, environ: Mapping[str, str]) -> Self:
        """Reads every field; an absent or empty variable means the default. Raises SettingsError."""
        values: dict[str, Any] = {}
        for name, described in cls.described().items():
            text = environ.get(described.env, "")
            if text.strip():
                values[name] = described.read(text)
        loaded = cls(**values)
        loaded.check()
        return loaded

    def check(self) -> None:
        """Raises SettingsError for values that do not go together; for classes that have such."""

    @classmethod
    def described(cls) -> dict[str, Setting]:
        """The settings by the name of their field, those of base classes first."""
        return {
            field.name: field.metadata[_KEY] for field in dataclasses.fields(cast(Any, cls)) if _KEY in field.metadata
        }


def known_settings() -> list[type[Settings]]:
    """All settings classes that have been imported, by module and name."""
    return [Settings._classes[name] for name in sorted(Settings._classes)]  # noqa: SLF001


def render_table(classes: Iterable[type[Settings]]) -> str:
    """The one table of all variables as Markdown, each once, in alphabetical order."""
    rows: dict[str, Setting] = {}
    for kind in classes:
        for described in kind.described().values():
            if rows.setdefault(described.env, described) != described:
                raise ValueError(f"{described.env} is declared in two different ways")
    lines = ["| variable | default | allowed | meaning |", "|---|---|---|---|"]
    for env in sorted(rows):
        row = rows[env]
        default = str(row.default).lower() if isinstance(row.default, bool) else str(row.default)
        lines.append(f"| `{env}` | {f'`{default}`' if default else ''} | {row.allowed()} | {row.doc} |")
    return "\n".join(lines) + "\n"
