"""The Redis of `dev` holds the whole event stream: a full one would refuse all that comes, for ever."""

from __future__ import annotations

import re

from services.clock.domain.shards import ALL
from services.kit.streams_redis import MAX_ENTRIES
from tests.support.cluster import ROOT, pods

# An update of a game of people takes about 370 in Redis' memory, its share of a stream's node included.
ENTRY_BYTES = 400
NEEDED_MB = len(ALL) * MAX_ENTRIES * ENTRY_BYTES / 1e6


def maxmemory_mib() -> int:
    """What the Redis of `dev` may use for its data."""
    words = pods("dev")["redis"].container["args"]
    size = words[words.index("--maxmemory") + 1]
    assert size.endswith("mb"), size
    return int(size.removesuffix("mb"))


def test_all_topics_fit_with_room_to_spare() -> None:
    """Groups, buffers of connections and the fragments between entries take some of it too."""
    assert maxmemory_mib() > 2 * NEEDED_MB


def test_the_pod_is_not_killed_before_redis_refuses() -> None:
    limit = pods("dev")["redis"].container["resources"]["limits"]["memory"]
    assert limit.endswith("Mi"), limit
    assert 1.25 * maxmemory_mib() <= int(limit.removesuffix("Mi"))


def test_the_guide_names_what_redis_needs() -> None:
    guide = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
    least = re.search(r"^\| Redis \|.*`maxmemory` of at least (\d+) MB", guide, re.MULTILINE)
    assert least is not None
    assert int(least.group(1)) > 2 * NEEDED_MB
    assert f"{len(ALL)} topics of about {MAX_ENTRIES:,} entries" in guide
    assert f"{ENTRY_BYTES} bytes in memory: {NEEDED_MB:.0f} MB" in guide
