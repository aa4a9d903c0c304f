"""Kept games of every edition come out as they did when they were played."""

from typing import get_args

import pytest

from services.rules.adapters.log_check import check_log, read_log
from services.rules.domain.commands import Action
from services.rules.domain.events import Event
from services.rules.editions.shelf import EditionShelf
from services.rules.main import shipped_editions
from tests.golden.logs import GAMES, ROOT, Sight, log_files, possible_sights, read_log_file, sights_of
from tests.property.games import EDITION_IDS, EDITIONS

FILES = [path.relative_to(ROOT).as_posix() for edition_id in EDITION_IDS for path in log_files(edition_id)]


@pytest.mark.parametrize("name", FILES)
def test_a_kept_game_is_decided_as_it_was(name: str) -> None:
    """IND-INV-13: every command of the log gives the events that it gave."""
    entries = read_log_file(ROOT / name)
    result, _ = check_log(EditionShelf(shipped_editions()), entries, read_log(entries))
    assert (result.same, result.first_difference, result.chance_verified) == (True, 0, True), result.explanation
    assert entries[-1].update.events[-1].WhichOneof("body") == "game_ended"


@pytest.mark.parametrize("edition_id", EDITION_IDS)
def test_the_kept_games_show_every_end_every_card_and_every_effect(edition_id: str) -> None:
    """The message of a failure names what no kept game shows."""
    edition = EDITIONS[edition_id]
    shown: set[Sight] = set()
    for path in log_files(edition_id):
        shown |= sights_of(edition, read_log(read_log_file(path)))
    assert possible_sights(edition) - shown == set()
    assert len(log_files(edition_id)) >= GAMES


def test_the_kept_games_of_all_editions_know_every_command_and_event() -> None:
    """Whatever a game can hold is in some kept game, so that no change of it goes by unseen."""
    actions: set[type] = set()
    events: set[type] = set()
    for name in FILES:
        for entry in read_log(read_log_file(ROOT / name)):
            events |= {event.__class__ for event in entry.events}
            actions |= {entry.command.action.__class__} if entry.command is not None else set()
    assert {kind.__name__ for kind in set(get_args(Action)) - actions} == set()
    assert {kind.__name__ for kind in set(get_args(Event)) - events} == set()
