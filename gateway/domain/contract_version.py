"""The version of the contracts, and which versions of a client are served."""

from __future__ import annotations

import re
from functools import lru_cache

# Minor grows with every addition; major only when an old client would misunderstand.
CONTRACT_VERSION = "1.0"
OLDEST_CONTRACT_VERSION = "1.0"

# Metadata key in which client and gateway tell each other their version.
CONTRACT_KEY = "magnate-contract"

_FORM = re.compile(r"([0-9]{1,6})\.([0-9]{1,6})", re.ASCII)


@lru_cache(maxsize=256)
def parse_version(text: str) -> tuple[int, int] | None:
    """(major, minor) of a text such as `1.4`; None for anything else."""
    match = _FORM.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def is_served(
    version: tuple[int, int],
    *,
    current: tuple[int, int] | None = None,
    oldest: tuple[int, int] | None = None,
) -> bool:
    """Whether a client of this version is served: same major, not below the oldest. A newer minor is."""
    current = current or _known(CONTRACT_VERSION)
    oldest = oldest or _known(OLDEST_CONTRACT_VERSION)
    return version[0] == current[0] and version >= oldest


def _known(text: str) -> tuple[int, int]:
    version = parse_version(text)
    if version is None:
        raise ValueError(f"{text!r} is no contract version")
    return version
