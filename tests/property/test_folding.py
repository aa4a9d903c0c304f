"""A game is its log: folding it gives the state byte for byte, messages lose nothing, the same inputs give the same."""

from random import Random

import pytest
from magnate.game.v1 import command_pb2, decision_pb2, event_pb2

from services.rules.codec import messages
from services.rules.codec.states import read_state, read_view, view_message, write_state
from services.rules.domain import commands as c
from services.rules.domain.decide import advance
from services.rules.domain.digest import state_hash
from services.rules.domain.edition import Edition
from services.rules.domain.events import SECRET_EVENTS, Event
from services.rules.domain.evolve import fold
from services.rules.domain.legal import legal_actions
from services.rules.domain.new_game import begin
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import State
from services.rules.domain.view import state_from_view, view
from tests.property.games import FLAGSHIP, MOODS, OTHER_TABLES, TABLES, RandomGame
from tests.support.amount import amount
from tests.support.play import random_command

FLAGSHIPS = [((FLAGSHIP, False), mood, seed) for mood in range(len(MOODS)) for seed in range(amount(4, 300))]
OTHERS = [(table, mood, seed) for table in OTHER_TABLES for mood in range(len(MOODS)) for seed in range(amount(1, 60))]
GAMES = FLAGSHIPS + OTHERS
PLAYED = 250
Table = tuple[str, bool]


def a_game(table: Table, mood: int, seed: int) -> RandomGame:
    """A random game that has just begun."""
    return RandomGame(seed * 11 + mood, MOODS[mood], *table)


def played(table: Table, mood: int, seed: int, steps: int = PLAYED) -> RandomGame:
    """A random game after some commands."""
    game = a_game(table, mood, seed)
    for _ in game.steps(steps):
        pass
    return game


def all_events(game: RandomGame) -> list[Event]:
    """Every event of the log."""
    return [event for entry in game.entries for event in entry.events if event is not None]


@pytest.mark.parametrize(("table", "mood", "seed"), GAMES)
def test_the_log_folds_to_the_stored_state_byte_for_byte(table: Table, mood: int, seed: int) -> None:
    """IND-INV-13: what is stored and what follows from the first event on are the same bytes."""
    game = played(table, mood, seed)
    folded = fold(game.edition, State(), all_events(game))
    assert folded == game.state, folded.differences(game.state)
    assert write_state(folded) == write_state(game.state)
    assert state_hash(folded) == state_hash(game.state)


@pytest.mark.parametrize(("table", "mood", "seed"), GAMES)
def test_states_and_events_survive_their_messages(table: Table, mood: int, seed: int) -> None:
    """IND-PHASE-12: every state's snapshot, view, events, commands and options are read back as they were."""
    game = a_game(table, mood, seed)
    for step in game.steps(PLAYED):
        state = step.after
        assert read_state(write_state(state)) == state
        seen = view(state)
        assert read_view(view_message(state)) == _without_decks(seen)
        for seq, event in enumerate(step.events, step.before.seq + 1):
            message = event_pb2.Event.FromString(messages.write_event(seq, event))
            assert (message.seq, messages.read_event(message)) == (seq, event)
        command = command_pb2.Command.FromString(messages.write_command(step.command, "one"))
        assert messages.read_command(command) == step.command
        if state.decision is not None:
            options = legal_actions(game.edition, state, step.play_time_ms)
            decision = decision_pb2.Decision.FromString(messages.write_decision(state.decision, options))
            assert messages.read_decision(decision) == (state.decision, options)


def _without_decks(seen: State) -> State:
    """A view names no deck in its message, not even an empty one."""
    bare = seen.copy()
    bare.decks, bare.discards = {}, {}
    return bare


@pytest.mark.parametrize(("table", "mood", "seed"), [case for case in GAMES if not MOODS[case[1]].developed])
def test_the_same_inputs_give_the_same_events(table: Table, mood: int, seed: int) -> None:
    """IND-INV-13: the same configuration, seed and sequence of inputs, decided anew."""
    game = played(table, mood, seed)
    begun = begin(game.edition, game.setup, game.entries[0].play_time_ms)
    assert begun.events == game.entries[0].events
    state = begun.state
    for entry in game.entries[1:]:
        assert entry.command is not None
        result = advance(game.edition, state, entry.command, entry.play_time_ms)
        assert not isinstance(result, Refusal)
        assert result.events == entry.events
        state = result.state
    assert write_state(state) == write_state(game.state)


@pytest.mark.parametrize(("table", "mood", "seed"), GAMES)
def test_a_view_holds_no_secret(table: Table, mood: int, seed: int) -> None:
    """IND-CARD-03, IND-SETUP-15: neither the seed, nor a deck's order, nor the number of the next draw."""
    game = a_game(table, mood, seed)
    for step in game.steps(60):
        _check_view(game, step.after)


def _check_view(game: RandomGame, state: State) -> None:
    seen = view(state)
    config = state.config
    assert (seen.config.server_seed, seen.config.game_seed, seen.config.algorithm, seen.config.script) == (
        b"",
        b"",
        "",
        (),
    )
    assert seen.draws == 0
    assert state.config is config
    for deck, cards in state.decks.items():
        if game.edition.deck_cycle != "file_order":
            assert seen.decks[deck] == (), "the order is secret unless it is that of the file"
            assert cards or state.discards[deck], f"deck {deck} has lost its cards"
    for data in (view_message(state).SerializeToString(), view_message(seen).SerializeToString()):
        assert config.server_seed not in data
        assert config.game_seed not in data
    assert view_message(state) == view_message(seen)
    assert state_hash(seen) == state_hash(state)
    assert legal_actions(game.edition, seen, game.now_ms) == legal_actions(game.edition, state, game.now_ms)


def test_the_secret_events_are_those_that_give_a_game_away() -> None:
    """IND-SETUP-15: only the seed and the orders of the decks are withheld."""
    game = played((FLAGSHIP, False), 0, 0, 300)
    secret = [event.__class__.__name__ for event in all_events(game) if isinstance(event, SECRET_EVENTS)]
    assert secret == ["SeedDrawn", "DeckShuffled", "DeckShuffled"]


@pytest.mark.parametrize(("table", "mood", "seed"), GAMES)
def test_a_view_is_enough_to_look_ahead(table: Table, mood: int, seed: int) -> None:
    """IND-INV-13: a state guessed from any view looks the same, goes on, and leaves the true game alone."""
    game = a_game(table, mood, seed)
    for step in game.steps(PLAYED):
        if game.rng.random() < 0.2:
            kept = step.after.copy()
            guess = state_from_view(game.edition, view(step.after), b"guess")
            assert state_hash(guess) == state_hash(step.after)
            _look_ahead(game.edition, guess, game.now_ms, Random(seed))
            assert step.after == kept


def _look_ahead(edition: Edition, guess: State, now_ms: int, rng: Random) -> None:
    for _ in range(6):
        options = legal_actions(edition, guess, now_ms)
        if not options or any(deadline.due_at_ms + guess.config.grace_ms <= now_ms for deadline in guess.deadlines):
            return
        command = random_command(rng, guess, options, edition)
        result = advance(edition, guess, command, now_ms)
        assert not isinstance(result, Refusal), result
        guess = result.state


@pytest.mark.parametrize("mood", range(len(MOODS)))
@pytest.mark.parametrize("table", TABLES)
def test_one_command_leaves_other_states_alone(table: Table, mood: int) -> None:
    """IND-PHASE-10: a state is a value: going on from it twice gives the same twice."""
    game = RandomGame(17 + mood, MOODS[mood], *table)
    for step in game.steps(150):
        again = advance(game.edition, step.before, step.command, step.play_time_ms)
        assert not isinstance(again, Refusal)
        assert (again.events, again.state) == (step.events, step.after)
        assert isinstance(step.command, c.Command)
