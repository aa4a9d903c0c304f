"""Folds of the beginning and the end of a game."""

from dataclasses import replace

from services.rules.domain import chance
from services.rules.domain.board import CELL_COUNT
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    DeckShuffled,
    FirstPlayerChosen,
    GameEnded,
    GameStarted,
    SeedDrawn,
)
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import Config, State


def game_started(edition: Edition, state: State, event: GameStarted) -> None:
    """IND-SETUP-12: tokens on Start, everything free, the whole supply in the bank."""
    state.config = Config(
        edition=event.edition,
        version=event.version,
        overrides=event.overrides,
        seating=event.seating,
        seats=event.seats,
        seed_hash=event.seed_hash,
        grace_ms=event.grace_ms,
        started_at_ms=event.started_at_ms,
    )
    count = len(event.seats)
    state.cash = [0] * count
    state.position = [edition.board.start_cell] * count
    state.in_play = [True] * count
    state.jail_tries = [NONE] * count
    state.release_cards = [()] * count
    state.strikes = [0] * count
    state.leaving = [""] * count
    state.owners = [BANK] * CELL_COUNT
    state.levels = [0] * CELL_COUNT
    state.mortgaged_rounds = [0] * CELL_COUNT
    if edition.supply is not None:
        state.supply_houses = edition.supply.houses
        state.supply_hotels = edition.supply.hotels
    for deck, cards in edition.decks.items():
        state.decks[deck] = tuple(range(len(cards))) if edition.deck_cycle == "file_order" else ()
        state.discards[deck] = ()


def seed_drawn(edition: Edition, state: State, event: SeedDrawn) -> None:
    """The seed of the game comes from the server's and the seats' parts."""
    nonces = [seat.nonce for seat in state.config.seats]
    state.config = replace(
        state.config,
        algorithm=event.algorithm,
        server_seed=event.server_seed,
        game_seed=chance.game_seed(event.server_seed, nonces),
        script=event.script,
    )


def first_player_chosen(edition: Edition, state: State, event: FirstPlayerChosen) -> None:
    """Who starts (IND-SETUP-09, -13)."""
    state.first_seat = event.seat
    state.turn_seat = event.seat
    state.draws += event.draws


def deck_shuffled(edition: Edition, state: State, event: DeckShuffled) -> None:
    """The order of a deck (IND-CARD-03); the deeds are shuffled too where they are dealt."""
    state.draws += event.draws
    if event.deck in edition.decks:
        state.decks[event.deck] = event.order
        state.discards[event.deck] = ()


def game_ended(edition: Edition, state: State, event: GameEnded) -> None:
    """Nothing is asked any more (IND-WIN-04)."""
    state.ended = event.reason
    state.places = event.places
    state.decision = None
    state.deadlines = ()
    state.agenda = []
    state.vote = None
    state.clocks = {}
    state.rent_claims = ()
