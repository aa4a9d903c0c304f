"""Kept games of every edition come out as they did when they were played."""

import pytest

from services.rules.adapters.log_check import check_log, read_log
from services.rules.editions.shelf import EditionShelf
from services.rules.main import shipped_editions
from tests.golden.logs import GAMES, ROOT, Sight, log_files, possible_sights, read_log_file, sights_of
from tests.property.games import EDITION_IDS, EDITIONS

FILES = [path.relative_to(ROOT).as_posix() for edition_id in EDITION_IDS for path in log_files(edition_id)]


@pytest.mark.parametrize("name", FILES)
def test_a_kept_game_is_decided_as_it_was(name: str) -> None:
    """IND-INV-13: every command of the log gives the events that it gave."""
    entries = read_log_file(ROOT / name)
    result = check_log(EditionShelf(shipped_editions()), entries, read_log(entries))
    assert (result.same, result.first_difference, result.chance_verified) == (True, 0, True), result.explanation
    assert entries[-1].update.events[-1].WhichOneof("body") == "game_ended"


@pytest.mark.parametrize("edition_id", EDITION_IDS)
def test_the_kept_games_show_every_end_and_every_effect_of_a_card(edition_id: str) -> None:
    """The message of a failure names what no kept game shows."""
    edition = EDITIONS[edition_id]
    shown: set[Sight] = set()
    for path in log_files(edition_id):
        shown |= sights_of(edition, read_log(read_log_file(path)))
    assert possible_sights(edition) - shown == set()
    assert len(log_files(edition_id)) >= GAMES
