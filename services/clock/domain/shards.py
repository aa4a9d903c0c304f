"""Sets of shards as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterable

SHARDS = 64
ALL = tuple(range(SHARDS))
_PART = re.compile(r"(\d{1,2})(?:-(\d{1,2}))?")


def write_shards(shards: Iterable[int]) -> str:
    """As ranges in order: `0-31,40`."""
    runs: list[list[int]] = []
    for shard in sorted(set(shards)):
        if runs and runs[-1][1] == shard - 1:
            runs[-1][1] = shard
        else:
            runs.append([shard, shard])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def read_shards(text: str) -> tuple[int, ...]:
    """The other way round. Raises ValueError for what names no shards, or others than 0 to 63."""
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < SHARDS:
            raise ValueError(
                f"{part.strip()[:20]!r} names no shards; they are written like 0-31,40 and go from 0 to 63"
            )
        found.update(range(first, last + 1))
    return tuple(sorted(found))
