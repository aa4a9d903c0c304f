"""Where an update stands against what a watcher was sent last."""

from __future__ import annotations

import enum


class Place(enum.Enum):
    """The next one, one that was seen already, or one behind a gap."""

    NEXT = "next"
    SEEN = "seen"
    GAP = "gap"


def place_of(sent_seq: int, first_seq: int, last_seq: int) -> Place:
    """Place of the update `first_seq..last_seq` after `sent_seq`, the last number sent.

    An update that holds `sent_seq` inside is the next one: a watcher may resume inside an update, and gets it whole.
    """
    if last_seq <= sent_seq:
        return Place.SEEN
    return Place.NEXT if first_seq <= sent_seq + 1 else Place.GAP
