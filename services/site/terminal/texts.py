"""The texts of the terminal in three languages: templates as data, one file for each language."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

LANGUAGES = ("en", "uk", "ru")

_OPTIONAL = re.compile(r"\[([^\]]*)\]")
_FIELD = re.compile(r"\{(\w+)\}")


class Texts:
    """The texts of one language, by section and key."""

    def __init__(self, language: str, sections: Mapping[str, Mapping[str, str]]) -> None:
        self.language = language
        self._sections = sections

    def say(self, section: str, key: str, **fields: object) -> str:
        """The text of a key with its fields in place. Raises KeyError for a key or a field that is missing."""
        return fill(self._sections[section][key], fields)

    def find(self, section: str, key: str) -> str | None:
        """The template of a key, if there is one."""
        return self._sections[section].get(key)

    def keys(self, section: str) -> frozenset[str]:
        """All keys of a section."""
        return frozenset(self._sections[section])


def fill(template: str, fields: Mapping[str, object]) -> str:
    """Puts fields into a template; a part in brackets goes away when a field inside it is empty or unknown."""

    def optional(match: re.Match[str]) -> str:
        part = match.group(1)
        return part if all(fields.get(name) not in (None, "") for name in _FIELD.findall(part)) else ""

    return _FIELD.sub(lambda match: str(fields[match.group(1)]), _OPTIONAL.sub(optional, template))


@lru_cache(maxsize=len(LANGUAGES))
def load_texts(language: str) -> Texts:
    """The texts of a language. Raises KeyError for one that there is not."""
    if language not in LANGUAGES:
        raise KeyError(language)
    file = resources.files("services.site.terminal") / "texts" / f"{language}.toml"
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    return Texts(language, {name: section for name, section in content.items() if isinstance(section, dict)})
