"""The state hash: a versioned digest of the public view, which any client can compute (docs/state-hash.md)."""

import hashlib
from functools import lru_cache

from services.rules.domain.state import State

STATE_HASH_VERSION = 1
STATE_HASH_BYTES = 8


@lru_cache(maxsize=2048)
def _row(numbers: tuple[int, ...]) -> str:
    """One group of numbers for all cells. Most commands change none of them."""
    return ",".join(map(str, numbers))


def canonical_text(state: State) -> str:
    """Numbers of the public view in a fixed order: groups parted by ';', numbers by ','."""
    decision = state.decision
    cash = ",".join(map(str, state.cash))
    position = ",".join(map(str, state.position))
    tries = ",".join(map(str, state.jail_tries))
    play = ",".join(["1" if in_play else "0" for in_play in state.in_play])
    cards = ",".join([str(len(cards)) for cards in state.release_cards])
    deadlines = ",".join([str(deadline.id) for deadline in state.deadlines])
    asked = ",".join(map(str, decision.seats)) if decision is not None else ""
    return (
        f"{STATE_HASH_VERSION};{state.seq};{state.round};{state.turn_seat};{state.doubles};{int(state.extra_owed)}"
        f";{cash};{position};{tries};{play};{cards};{_row(tuple(state.owners))};{_row(tuple(state.levels))}"
        f";{_row(tuple(state.mortgaged_rounds))}"
        f";{state.supply_houses},{state.supply_hotels};{state.jackpot}"
        f";{decision.id if decision is not None else 0};{asked};{deadlines};{int(bool(state.ended))}"
    )


def state_hash(state: State) -> bytes:
    """The first 8 bytes of the SHA-256 of the canonical text."""
    return hashlib.sha256(canonical_text(state).encode()).digest()[:STATE_HASH_BYTES]
