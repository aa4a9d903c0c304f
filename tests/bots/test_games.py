"""Whole games of the standard bot by the core alone."""

from __future__ import annotations

import pytest

from services.bots.domain.roster import LEVELS, STANDARD
from services.rules.domain.commands import DeclareBankruptcy, OfferTrade
from tests.support.amount import amount
from tests.support.bot_games import flat_edition, play_bots
from tests.tools.games import play_games


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_games_run_and_end(seats: int) -> None:
    """IND-BOT-12, IND-BOT-09: no game fails, and nearly all end within 1,000 rounds."""
    count = amount(6, 200)
    tally = play_games(count, seats=seats, edition_id="industry", first_seed=5000, rounds=1000)
    assert tally.failures == []
    assert len(tally.rounds) >= count * (95 if seats <= 4 else 85) // 100


def test_the_same_seed_is_the_same_game() -> None:
    """IND-BOT-08, IND-INV-13: bots repeat, through the view or not, for they see nothing else."""
    edition = flat_edition()
    first = play_bots(edition, seats=4, seed=11)
    second = play_bots(edition, seats=4, seed=11, through_view=True)
    assert first.commands == second.commands
    assert first.state == second.state
    assert play_bots(edition, seats=4, seed=12).commands != first.commands


def test_manners_over_whole_games() -> None:
    """IND-BOT-10, IND-BOT-03: nobody gives up while there is another way, nobody proposes twice in a turn."""
    edition = flat_edition()
    offered: list[tuple[int, int, int]] = []

    def watch(state, options, seat, action):  # type: ignore[no-untyped-def]
        if isinstance(action, DeclareBankruptcy):
            kinds = {option.kind for option in options}
            assert not kinds & {"sell_buildings", "open_auction", "sell_to_bank"}
        if isinstance(action, OfferTrade):
            rolls = state.draws
            assert (seat, state.round, rolls) not in offered or state.agenda[-1].__class__.__name__ == "PaymentFrame"
            offered.append((seat, state.round, rolls))

    for seed in range(3):
        play_bots(edition, seats=4, seed=seed, watch=watch)
    assert offered


def test_the_standard_level_is_on_the_roster() -> None:
    """IND-BOT-05: a level is a way of choosing and nothing else."""
    assert STANDARD in LEVELS
    assert LEVELS[STANDARD].names.en == "Normal"
