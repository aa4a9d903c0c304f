"""What the standard bot does in a position of the scenario builder."""

from __future__ import annotations

from services.bots.domain.roster import LEVELS, STANDARD
from services.rules.domain.commands import Action
from services.rules.domain.legal import legal_actions
from services.rules.domain.view import view
from tests.support.scenario import Game

BOT = LEVELS[STANDARD].bot


def choose(game: Game, seed: int = 7) -> Action:
    """The action of the seat that is asked, from what it may see."""
    decision = game.state.decision
    assert decision is not None
    options = legal_actions(game.edition, game.state)
    action = BOT.choose(game.edition, view(game.state), options, decision.seats[0], seed)
    assert action is not None
    return action


def let_play(game: Game, seed: int = 7) -> Action:
    """Has the asked seat's action done (the builder checks that it is legal) and gives it."""
    decision = game.state.decision
    assert decision is not None
    action = choose(game, seed)
    game.do(decision.seats[0], action)
    return action
