"""Custom tables: what an edition lets a table change, drawn at random within its bounds."""

import json
from random import Random

from services.rules.domain.edition import Edition
from services.rules.domain.parameters import Override
from services.rules.editions.ports import OverrideError
from services.rules.editions.shelf import with_overrides


def random_value(rng: Random, override: Override) -> str:
    """A value of one override, as it is written: JSON, `null` for none."""
    if override.choices:
        return json.dumps(rng.choice(override.choices))
    if override.never and rng.random() < 0.25:
        return "null"
    assert override.least is not None
    assert override.most is not None
    steps = (override.most - override.least) // override.step
    return json.dumps(override.least + override.step * rng.choice((0, steps, rng.randint(0, steps))))


def random_overrides(rng: Random, flat: Edition) -> tuple[tuple[str, str], ...]:
    """Some of an edition's overrides; those that do not go together are drawn anew."""
    for _ in range(20):
        drawn = tuple(
            (override.parameter, random_value(rng, override)) for override in flat.overrides if rng.random() < 0.5
        )
        try:
            with_overrides(flat, drawn)
        except OverrideError:
            continue
        return drawn
    return ()
