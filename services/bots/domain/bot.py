"""What a bot is: a pure choice of one action among those that are legal."""

from typing import Protocol

from services.rules.domain.commands import Action
from services.rules.domain.edition import Edition
from services.rules.domain.options import Option
from services.rules.domain.state import State


class Bot(Protocol):
    """A level of play."""

    def choose(self, edition: Edition, view: State, options: tuple[Option, ...], seat: int, seed: int) -> Action | None:
        """The action of a seat, within the bounds of its options.

        `edition` is flat, `view` has no secrets, `seed` is the bot's own chance: equal arguments give an equal action
        (IND-BOT-08). None where the seat is asked but may stay silent and wants nothing, as in an open lot.
        Raises ValueError if no option is the seat's.
        """
        ...
