"""The state hash is what its page says: the page's own code computes it from the views of a game."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from services.rules.codec.states import view_message
from services.rules.domain import digest
from services.rules.domain.decide import advance
from services.rules.domain.legal import legal_actions
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import SeatSetup, State
from services.rules.domain.view import view
from services.rules.main import shipped_editions
from tests.support.play import random_command

PAGE = Path(__file__).parents[2] / "docs" / "state-hash.md"


def code_of_the_page() -> Callable[[Any], bytes]:
    block = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    names: dict[str, Any] = {}
    exec(block.group(1), names)
    compute: Callable[[Any], bytes] = names["state_hash"]
    return compute


def test_the_code_of_the_page_computes_the_hash_of_every_view_of_a_game() -> None:
    compute = code_of_the_page()
    edition = shipped_editions().get("industry").at("people")
    seats = tuple(SeatSetup("person", team) for team in range(3))
    state = begin(edition, Setup("people", seats, bytes(32)), 0).state
    rng, hashes = random.Random(11), set[bytes]()
    for number in range(2_000):
        digest_of_state = digest.state_hash(state)
        assert compute(view_message(state)) == digest_of_state
        assert digest.state_hash(view(state)) == digest_of_state
        hashes.add(digest_of_state)
        if state.ended:
            break
        result = advance(edition, state, random_command(rng, state, legal_actions(edition, state)), number * 100)
        assert not isinstance(result, Refusal)
        state = result.state
    assert state.ended
    assert len(hashes) == number + 1


def test_the_hash_of_the_empty_state_stands_for_ever() -> None:
    text = "1;0;0;0;0;0;;;;;;;;;-1,-1;0;0;;;0"
    assert digest.canonical_text(State()) == text
    assert digest.state_hash(State()).hex() == "622fb0722d0aa586"
