"""Elo ratings (BRA-WIN-09)."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

FIRST_RATING = 1000
K = 32
SCALE = 400


def new_ratings(ratings: Sequence[int], places: Sequence[int]) -> list[int]:
    """Ratings after a game, for seats in the order given; 0 stands for a first game (BRA-WIN-09).

    Each changes by 32 / (n - 1) times the sum over the others of (1 if placed ahead of them, else 0) less the expected
    score, rounded half away from 0; ratings before the game are used throughout.
    """
    before = [rating or FIRST_RATING for rating in ratings]
    count = len(before)
    after = []
    for index, own in enumerate(before):
        gain = 0.0
        for other, rating in enumerate(before):
            if other != index:
                gain += float(places[index] < places[other]) - 1 / (1 + 10 ** ((rating - own) / SCALE))
        change = Decimal(K * gain / (count - 1)).quantize(Decimal(1), rounding=ROUND_HALF_UP)
        after.append(own + int(change))
    return after
