"""The loaded editions, and the flat ones of tables with their overrides put in place."""

import json
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from services.rules.domain.edition import Edition
from services.rules.domain.parameters import Override, OverrideValue
from services.rules.domain.state import Seating
from services.rules.editions import checks, schema
from services.rules.editions.loader import Catalogue
from services.rules.editions.ports import OverrideError, Overrides, UnknownEditionError
from services.rules.editions.problems import BadValueError

# Tables without overrides share a handful of editions; each set of overrides makes one more.
_MOST_FLAT = 512


class EditionShelf:
    """A catalogue as the rules service uses it; implements `Editions`."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._flat = lru_cache(maxsize=_MOST_FLAT)(self._make_flat)

    def newest(self) -> tuple[Edition, ...]:
        """See Editions."""
        return self._catalogue.newest()

    def get(self, edition_id: str, version: int) -> Edition:
        """See Editions."""
        try:
            return self._catalogue.get(edition_id, version or None)
        except KeyError:
            what = f"{edition_id!r} in version {version}" if version else f"{edition_id!r}"
            raise UnknownEditionError(f"there is no edition {what}") from None

    def flat(self, edition_id: str, version: int, seating: Seating, overrides: Overrides) -> Edition:
        """See Editions."""
        return self._flat(edition_id, version, seating, overrides)

    def _make_flat(self, edition_id: str, version: int, seating: Seating, overrides: Overrides) -> Edition:
        flat = self.get(edition_id, version).at(seating)
        return with_overrides(flat, overrides) if overrides else flat


def with_overrides(flat: Edition, overrides: Overrides) -> Edition:
    """The edition with some parameters changed, as far as it allows that. Raises OverrideError.

    Values are JSON, `null` or `"never"` for none; a text that is no JSON stands for itself.
    """
    allowed = {override.parameter: override for override in flat.overrides}
    values: dict[str, Any] = {}
    for name, text in overrides:
        if name not in allowed or name in values:
            reason = "is given twice" if name in values else f"cannot be changed in {flat.id}"
            raise OverrideError(f"{name} {reason}", {"parameter": name})
        values[name] = _value(allowed[name], text)
    changed = replace(flat, **values)
    for name, reason in checks.parameter_faults({item.name: getattr(changed, item.name) for item in fields(flat)}):
        raise OverrideError(f"{name} {reason}", {"parameter": name})
    return changed


def _value(override: Override, text: str) -> OverrideValue:
    """The typed value of an override, within its bounds."""
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError):
        raw = text
    try:
        value = None if raw is None else schema.READERS[override.parameter](raw)
    except (BadValueError, RecursionError) as error:
        raise _out_of_range(override, text) from error
    if value in override.choices or (override.never and value is None):
        return value
    if isinstance(value, int) and override.least is not None and override.most is not None:
        in_range = override.least <= value <= override.most and (value - override.least) % override.step == 0
        if in_range and not isinstance(value, bool):
            return value
    raise _out_of_range(override, text)


def _out_of_range(override: Override, text: str) -> OverrideError:
    fields_: dict[str, str] = {"parameter": override.parameter, "value": text[:40]}
    if override.choices:
        allowed = "one of " + ", ".join(json.dumps(choice) for choice in override.choices)
    else:
        fields_.update(least=str(override.least), greatest=str(override.most))
        allowed = f"{override.least} to {override.most} in steps of {override.step}"
        allowed += ", or never" if override.never else ""
    return OverrideError(f"{override.parameter} may be {allowed}", fields_)
