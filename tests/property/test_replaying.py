"""Replaying whole finished games: they come out the same, and anything changed in the log is found."""

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from random import Random
from typing import Any

import pytest

from services.rules.domain import commands as c
from services.rules.domain import events as e
from services.rules.domain.chance import seed_hash
from services.rules.domain.edition import Edition
from services.rules.domain.replay import Entry, replay
from services.rules.domain.state import Seating
from tests.property.games import FLAGSHIP, OTHER_TABLES, SANE, TIMED, WILD, Mood, RandomGame
from tests.support.amount import amount

CASES = [(mood, seed) for mood in (SANE, TIMED, WILD) for seed in range(amount(3, 200))]
OTHERS = [(table, seed) for table in OTHER_TABLES for seed in range(amount(1, 40))]
Table = tuple[str, bool]


def finished(mood: Mood, seed: int, table: Table = (FLAGSHIP, False)) -> RandomGame:
    """The first game from `seed` on that ends within some thousand commands."""
    for attempt in range(50):
        game = RandomGame(seed * 1000 + attempt, mood, *table)
        for _ in game.steps(6000):
            pass
        if game.state.ended:
            return game
    raise AssertionError("no game ended")


def catalogue(game: RandomGame) -> Callable[[str, int, Seating], Edition]:
    """Knows only the edition of the game."""

    def find(name: str, version: int, seating: Seating) -> Edition:
        if (name, version, (seating,)) != (game.edition.id, game.edition.version, game.edition.seating):
            raise KeyError(name)
        return game.edition

    return find


@pytest.mark.parametrize(("mood", "seed"), CASES)
def test_a_finished_game_replays_to_the_same_events(mood: Mood, seed: int) -> None:
    """IND-INV-13: a whole game is decided anew, and its chance is verified."""
    game = finished(mood, seed)
    result = replay(catalogue(game), game.entries)
    assert (result.same, result.first_difference, result.chance_verified) == (True, 0, True), result.explanation
    assert result.state == game.state
    ended = game.entries[-1].events[-1]
    assert isinstance(ended, e.GameEnded)
    assert seed_hash(bytes.fromhex(ended.server_seed)) == game.state.config.seed_hash


@pytest.mark.parametrize(("table", "seed"), OTHERS)
def test_a_finished_game_of_any_edition_replays_to_the_same_events(table: Table, seed: int) -> None:
    """IND-INV-13: by the parameters of every edition, with the overrides of custom tables."""
    game = finished(TIMED, seed, table)
    result = replay(catalogue(game), game.entries)
    assert (result.same, result.first_difference, result.chance_verified) == (True, 0, True), result.explanation
    assert result.state == game.state


@pytest.mark.parametrize(("table", "seed"), OTHERS)
def test_a_changed_event_of_any_edition_is_found_where_it_stands(table: Table, seed: int) -> None:
    """IND-INV-13: every event of every edition is what its rules make."""
    game = finished(TIMED, seed + 7, table)
    for entries, seq in Random(seed).sample(list(changed_events(Random(seed), game)), 20):
        result = replay(catalogue(game), entries)
        assert (result.same, result.first_difference) == (False, seq)


def _other(value: Any) -> Any:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}x"
        case bytes():
            return value + b"x"
        case tuple():
            return (*value[:-1], _other(value[-1])) if value else (0,)
        case _:
            name = fields(value)[0].name
            return replace(value, **{name: _other(getattr(value, name))})


def changed_events(rng: Random, game: RandomGame) -> Iterator[tuple[list[Entry], int]]:
    """Logs with one attribute of one event changed, for one event of each class, and that event's number.

    Not the first two events: they are what a game is made of, and another game may come out the same.
    """
    places: dict[type, list[tuple[int, int, int]]] = {}
    seq = 0
    for number, entry in enumerate(game.entries):
        for index, event in enumerate(entry.events):
            seq += 1
            if seq > 2 and event is not None:
                places.setdefault(event.__class__, []).append((number, index, seq))
    for kind, found in places.items():
        number, index, seq = rng.choice(found)
        event = game.entries[number].events[index]
        names = [item.name for item in fields(kind)]
        for name in names:
            other = replace(event, **{name: _other(getattr(event, name))})  # type: ignore[type-var]
            events = (*game.entries[number].events[:index], other, *game.entries[number].events[index + 1 :])
            yield _with(game, number, replace(game.entries[number], events=events)), seq


def _with(game: RandomGame, number: int, entry: Entry) -> list[Entry]:
    return [*game.entries[:number], entry, *game.entries[number + 1 :]]


@pytest.mark.parametrize(("mood", "seed"), CASES[::3])
def test_a_changed_event_is_found_where_it_stands(mood: Mood, seed: int) -> None:
    """IND-INV-13: every roll, card, sum and cell of the log is what the rules make."""
    game = finished(mood, seed)
    kinds = 0
    for entries, seq in changed_events(Random(seed), game):
        result = replay(catalogue(game), entries)
        assert (result.same, result.first_difference) == (False, seq)
        kinds += 1
    assert kinds > 30


def test_another_beginning_is_another_game() -> None:
    """IND-INV-13, IND-SETUP-15: the seed belongs to its published hash, and with the nonces it makes the chance."""
    game = finished(SANE, 3)
    started, drawn, *rest = game.entries[0].events
    assert isinstance(started, e.GameStarted)
    assert isinstance(drawn, e.SeedDrawn)
    seats = (replace(started.seats[0], nonce="abcd"), *started.seats[1:])
    for events in (
        (replace(started, seats=seats), drawn),
        (replace(started, seed_hash=seed_hash(b"another")), drawn),
        (replace(started, started_at_ms=started.started_at_ms + 1), drawn),
        (started, replace(drawn, server_seed=drawn.server_seed[::-1])),
    ):
        entry = replace(game.entries[0], events=(*events, *rest))
        assert not replay(catalogue(game), _with(game, 0, entry)).same


@pytest.mark.parametrize(("mood", "seed"), CASES[::3])
def test_a_changed_command_or_stamp_is_found(mood: Mood, seed: int) -> None:
    """IND-INV-13: another command gives other events, or is refused; a later stamp moves a deadline."""
    game = finished(mood, seed)
    rng = Random(seed)
    for number in rng.sample(range(1, len(game.entries)), min(len(game.entries) - 1, 12)):
        entry = game.entries[number]
        assert entry.command is not None
        for command in _other_commands(entry.command):
            result = replay(catalogue(game), _with(game, number, replace(entry, command=command)))
            assert not result.same, command
        if any(isinstance(event, e.DeadlineSet) for event in entry.events):
            result = replay(catalogue(game), _with(game, number, replace(entry, play_time_ms=entry.play_time_ms + 1)))
            assert not result.same
        if number < len(game.entries) - 1:
            missing = [*game.entries[:number], *game.entries[number + 1 :]]
            assert not replay(catalogue(game), missing).same
        twice = [*game.entries[: number + 1], *game.entries[number:]]
        assert not replay(catalogue(game), twice).same


def _other_commands(command: c.Command) -> Iterator[c.Command]:
    action = command.action
    if command.seat >= 0:
        yield replace(command, seat=command.seat + 1)
        yield replace(command, decision_id=command.decision_id + 1)
        yield replace(command, action=c.AcceptTrade() if not isinstance(action, c.AcceptTrade) else c.Roll())
    for item in fields(action):
        yield replace(command, action=replace(action, **{item.name: _other(getattr(action, item.name))}))


def test_a_running_game_folds_without_its_secrets() -> None:
    """IND-INV-13: secret bodies withheld, the log can be folded but not verified."""
    game = RandomGame(5, WILD)
    for _ in game.steps(80):
        pass
    first = game.entries[0]
    public = tuple(None if isinstance(event, e.SECRET_EVENTS) else event for event in first.events)
    result = replay(catalogue(game), [replace(first, events=public), *game.entries[1:]])
    assert (result.same, result.chance_verified) == (True, False), result.explanation
    assert result.state.cash == game.state.cash
    assert result.state.owners == game.state.owners


def test_a_log_of_another_edition_or_without_a_beginning_is_no_game() -> None:
    """IND-INV-13: what cannot be decided anew is said to differ at its first event."""
    game = RandomGame(5, WILD)
    for entries in ([], game.entries[1:], [Entry(None, 0, ())]):
        assert replay(catalogue(game), entries).first_difference == 1
    started = game.entries[0].events[0]
    assert isinstance(started, e.GameStarted)
    other = (replace(started, version=started.version + 1), *game.entries[0].events[1:])
    result = replay(catalogue(game), [Entry(None, 0, other)])
    assert (result.same, result.first_difference) == (False, 1)
