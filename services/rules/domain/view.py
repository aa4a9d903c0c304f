"""What everybody may see, and a state guessed from it for looking ahead."""

from dataclasses import replace

from services.rules.domain import chance
from services.rules.domain.edition import Edition
from services.rules.domain.state import State


def view(state: State) -> State:
    """The state without its secrets: no seed, no order of a deck, no count of draws (IND-UI-22).

    When the game is over the seed has been revealed by its last event, but the view stays as it is.
    """
    seen = state.copy()
    seen.config = replace(state.config, algorithm="", server_seed=b"", game_seed=b"", script=())
    seen.decks = dict.fromkeys(state.decks, ())
    seen.draws = 0
    return seen


def state_from_view(edition: Edition, seen: State, guessed_seed: bytes) -> State:
    """A whole state that looks like the view: decks and dice come from the guessed seed (any bytes).

    Decks that an edition never shuffles keep their file order from the top, which may not be the real next card.
    """
    state = seen.copy()
    config = replace(seen.config, algorithm=chance.HMAC_SHA256, server_seed=guessed_seed, game_seed=guessed_seed)
    state.config = config
    for deck, cards in edition.decks.items():
        state.discards.setdefault(deck, ())
        if edition.deck_cycle == "file_order":
            state.decks[deck] = tuple(range(len(cards)))
        else:
            state.decks[deck] = chance.shuffled(config, state.draws, len(cards))
            state.draws += len(cards) - 1
    return state
