"""The picture of README.md as data: who calls whom."""

from __future__ import annotations

import re

from tests.support.cluster import ROOT


def drawn() -> set[tuple[str, str]]:
    """Who calls whom in the picture. What comes out of the stream is fetched by the one who reads it."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    picture = text.split("```mermaid", 1)[1].split("```", 1)[0]
    names = {"store": "postgres", "stream": "redis"}
    arrows = set()
    for line in picture.splitlines():
        found = re.match(r"\s*(\w+)\S*\s+(?:--|-\.).*(?:-->|\.->)\s+(\w+)", line) or re.match(
            r"\s*(\w+)\S* --> (\w+)", line
        )
        if found:
            source, target = (names.get(name, name) for name in found.groups())
            arrows.add((target, source) if source == "redis" else (source, target))
    return arrows
