"""The end of a game, places, experience and rating (BRA-WIN)."""

from collections.abc import Mapping

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import GameEnded
from services.rules.domain.parties import NONE
from services.rules.domain.rating import new_ratings
from services.rules.domain.state import Place, SeatKind
from tests.rules.brands.games import BRANDS, BRAWL, FAST, M1, MINUTE_MS, TEAMS, brands, every_mode, in_minute, offer
from tests.support.scenario import Game


def places(game: Game) -> list[tuple[int, int]]:
    """(seat, place) at the end."""
    return [(place.seat, place.place) for place in game.state.places]


def long_game(
    edition: str = BRANDS,
    seats: int = 3,
    *,
    rounds: int = 10,
    ms: int = 10 * MINUTE_MS,
    kinds: tuple[SeatKind, ...] = (),
    overrides: Mapping[str, object] | None = None,
) -> Game:
    """A game in this round and at this reading of its clock."""
    game = brands(edition, seats, kinds=kinds, overrides=overrides)
    game.now_ms = ms
    return game.in_round(rounds).turn_of(0)


@pytest.mark.parametrize("edition", [BRANDS, FAST, BRAWL])
def test_the_last_player_left_wins(edition: str) -> None:
    """BRA-WIN-01, BRA-WIN-04: then those who left, the latest first."""
    game = brands(edition).turn_of(0).do(1, c.Surrender())
    assert game.state.ended == ""
    game.do(0, c.Surrender())
    assert [event.reason for event in game.events_of(GameEnded)] == ["last_left"]
    assert places(game) == [(2, 1), (0, 2), (1, 3)]


def test_the_last_team_left_wins() -> None:
    """BRA-WIN-01, BRA-WIN-02, BRA-WIN-04: both of its players, an ally who is out too; the losers are second."""
    game = brands(TEAMS).turn_of(0).do(0, c.Surrender()).do(1, c.Surrender())
    assert game.decision == ("roll", 2)
    game.do(3, c.Surrender())
    assert game.state.ended == "last_left"
    assert sorted(places(game)) == [(0, 1), (1, 2), (2, 1), (3, 2)]


def test_a_team_is_left_while_one_of_it_is_active() -> None:
    """BRA-WIN-02: two of one team may be out."""
    game = brands(TEAMS).out(1).turn_of(0).do(3, c.Surrender())
    assert game.state.ended == "last_left"
    game = brands(TEAMS).out(1).turn_of(0).do(0, c.Surrender())
    assert game.state.ended == ""


def test_the_end_comes_right_after_the_last_leavers_estate() -> None:
    """BRA-WIN-03: open payments, offers, auctions, M1 moves and extra throws lapse."""
    game = brands(BRANDS, 2).owning_group(1, "technology", 5, 5).owning(0, 1).with_cash(0, 500).at(0, 35).turn_of(0)
    game.roll(0, 2, 2)
    assert (game.state.ended, game.cash(1), game.owner(1)) == ("last_left", 15500, 1)
    assert game.event_names()[-4:] == ["MoneyMoved", "DeedMoved", "SeatOut", "GameEnded"]
    assert (game.state.decision, game.state.agenda, game.state.deadlines) == (None, [], ())
    game = brands(BRANDS, 2).turn_of(0).do(0, offer(1, 100, for_cash=100)).do(0, c.Surrender())
    assert game.event_names()[-2:] == ["SeatOut", "GameEnded"]
    game = brands(FAST, 2).in_round(8).at(0, 36).turn_of(0).roll(0, 1, 1, third=M1).do(0, c.Surrender())
    assert game.event_names()[-2:] == ["SeatOut", "GameEnded"]
    game = brands(BRANDS, 3).top_cards("chance", "licence_fees").out(2).with_cash(1, 0).at(0, 4).turn_of(0)
    assert game.roll(0, 1, 2).state.ended == "last_left"


def test_a_leaver_waits_for_the_auction() -> None:
    """BRA-WIN-03, BRA-AUC-13: the game ends when it is over."""
    game = brands(BRANDS, 2).landing(0, 39).do(0, c.Decline()).do(0, c.Surrender())
    assert (game.state.in_play, game.decision) == ([True, True], ("auction_bid", 1))
    game.do(1, c.Bid(4000))
    assert (game.state.ended, game.owner(39)) == ("last_left", 1)


@every_mode
def test_no_limit_of_rounds_or_time(edition: str) -> None:
    """BRA-WIN-03: a game goes on for as long as two are left."""
    game = in_minute(brands(edition), 100_000).in_round(100_000).at(0, 4).turn_of(0)
    third = 1 if edition in (FAST, BRAWL) else 0
    game.roll(0, 2, 4 - third, third=third)
    assert (game.state.ended, game.decision) == ("", ("roll", 1))


def test_the_last_human_out_ends_the_game() -> None:
    """BRA-WIN-05: at once, ranked by assets and then by seat number."""
    kinds: tuple[SeatKind, ...] = ("bot", "person", "bot", "bot")
    game = brands(BRANDS, kinds=kinds).cash_of_all(1000, 9000, 1000, 1000).owning(2, 1).turn_of(1)
    game.do(1, c.Surrender())
    assert game.state.ended == "last_person_out"
    assert places(game) == [(2, 1), (0, 2), (3, 3), (1, 4)]
    assert [place.net_worth for place in game.state.places] == [1600, 1000, 1000, 0]


def test_assets() -> None:
    """BRA-WIN-05: cash, prices, half of mortgaged ones, and the build cost of every level."""
    kinds: tuple[SeatKind, ...] = ("bot", "person", "bot")
    game = brands(BRANDS, kinds=kinds).cash_of_all(10, 0, 20).owning_group(0, "technology", 5, 4).owning(2, 5, 12)
    game.mortgaged(5).turn_of(1).do(1, c.Surrender())
    worth = {place.seat: place.net_worth for place in game.state.places}
    assert worth == {0: 10 + 3500 + 4000 + 9 * 2000, 2: 20 + 1000 + 1500, 1: 0}


def test_teams_are_ranked_together() -> None:
    """BRA-WIN-05: by the assets of both players."""
    kinds: tuple[SeatKind, ...] = ("bot", "person", "bot", "bot")
    game = brands(TEAMS, kinds=kinds).cash_of_all(3000, 0, 3000, 5000).turn_of(1).do(1, c.Surrender())
    assert sorted(places(game)) == [(0, 1), (1, 2), (2, 1), (3, 2)]
    game = brands(TEAMS, kinds=kinds).cash_of_all(3000, 0, 1999, 5000).turn_of(1).do(1, c.Surrender())
    assert sorted(places(game)) == [(0, 2), (1, 1), (2, 2), (3, 1)]


def test_bots_alone_play_on() -> None:
    """BRA-WIN-05: to the end of the game."""
    game = brands(BRANDS, kinds=("bot", "bot", "bot")).turn_of(0).do(1, c.Surrender())
    assert game.state.ended == ""


@pytest.mark.parametrize(
    ("edition", "rounds", "ms", "counts"),
    [
        (BRANDS, 10, 10 * MINUTE_MS, True),
        (BRANDS, 9, 60 * MINUTE_MS, False),
        (BRANDS, 10, 10 * MINUTE_MS - 1, False),
        (BRANDS, 50, 50 * MINUTE_MS, True),
        (FAST, 50, 50 * MINUTE_MS, False),
        (BRAWL, 50, 50 * MINUTE_MS, False),
        (TEAMS, 50, 50 * MINUTE_MS, False),
    ],
)
def test_which_games_count(edition: str, rounds: int, ms: int, counts: bool) -> None:
    """BRA-WIN-06, BRA-WIN-07: only `brands`, with 10 rounds and 10:00 on the clock."""
    seats = 4 if edition == TEAMS else 3
    game = long_game(edition, seats, rounds=rounds, ms=ms)
    for seat in range(seats - 1):
        if not game.state.ended:
            game.do(seat, c.Surrender())
    assert {place.rating > 0 for place in game.state.places} == {counts}
    assert {place.xp > 0 for place in game.state.places if place.place == 1} == {counts}


def test_games_with_bots_do_not_count() -> None:
    """BRA-WIN-06, BRA-WIN-07: no seat was a bot at the start, even if the bot is long out."""
    game = long_game(kinds=("person", "person", "bot")).do(2, c.Surrender()).do(0, c.Surrender())
    assert {(place.rating, place.xp) for place in game.state.places} == {(0, 0)}


def test_a_pause_does_not_count_as_time() -> None:
    """BRA-WIN-07, BRA-TIME-11: the game clock shows less than 10:00 during and after it."""
    game = long_game(seats=2, ms=9 * MINUTE_MS).do(0, c.AskPause()).do(1, c.VotePause(True))
    game.do(0, c.Surrender(), after_ms=5 * MINUTE_MS)
    assert {place.rating for place in game.state.places} == {0}


def test_experience() -> None:
    """BRA-WIN-08: 200 for the winner, 50 for others, but not after a surrender or missed turns."""
    game = long_game(seats=4).owning_group(3, "technology", 5, 5).with_cash(0, 10).landing(0, 39)
    assert not game.state.in_play[0]
    game.do(1, c.Surrender())
    game.with_strikes(2, 2).turn_of(2).expire()
    assert {place.seat: (place.place, place.xp) for place in game.state.places} == {
        3: (1, 200),
        2: (2, 0),
        1: (3, 0),
        0: (4, 50),
    }


def test_a_declared_bankruptcy_is_no_surrender() -> None:
    """BRA-WIN-08: 50 for who could not pay."""
    game = long_game(seats=2).owning(1, 39).owning(0, 1).with_cash(0, 100).landing(0, 39)
    game.do(0, c.DeclareBankruptcy())
    assert {place.seat: place.xp for place in game.state.places} == {1: 200, 0: 50}


@pytest.mark.parametrize(
    ("before", "ranks", "after"),
    [
        # equal ratings: 32 x (1 - 0.5)
        ([1000, 1000], [1, 2], [1016, 984]),
        ([0, 0], [1, 2], [1016, 984]),
        ([0, 0, 0], [1, 2, 3], [1016, 1000, 984]),
        # expected 1 / (1 + 10^(400/400)) = 1/11: 32 x 10/11 = 29.09
        ([1000, 1400], [1, 2], [1029, 1371]),
        ([1400, 1000], [1, 2], [1403, 997]),
        # 16 x (1/11 + 0.5) = 9.45; 16 x (-1/11 + 10/11) = 13.09; 16 x (-0.5 - 10/11) = -22.55
        ([1400, 1000, 1400], [1, 2, 3], [1409, 1013, 1377]),
    ],
)
def test_ratings(before: list[int], ranks: list[int], after: list[int]) -> None:
    """BRA-WIN-09: everyone starts at 1000; 32 / (n - 1) for each pair, by the ratings before the game."""
    assert new_ratings(before, ranks) == after


def test_halves_are_rounded_away_from_0() -> None:
    """BRA-WIN-09: with 65 equal seats the change is 32 / 64 x (ahead of how many - 32)."""
    assert new_ratings([1000] * 65, list(range(1, 66)))[:3] == [1016, 1016, 1015]
    assert new_ratings([1000] * 65, list(range(1, 66)))[-3:] == [985, 984, 984]


def test_ratings_of_a_game() -> None:
    """BRA-WIN-09: each seat's new rating is told at the end."""
    game = long_game(seats=3).do(1, c.Surrender()).do(0, c.Surrender())
    assert game.state.places == (
        Place(2, 1, 15000, 200, 1016, NONE),
        Place(0, 2, 0, 0, 1000, NONE),
        Place(1, 3, 0, 0, 984, NONE),
    )


@pytest.mark.parametrize(
    ("edition", "rounds", "xp"),
    [(BRANDS, 10, (100, 25)), (BRANDS, 9, (0, 0)), (FAST, 10, (0, 0)), (TEAMS, 10, (0, 0))],
)
def test_custom_tables(edition: str, rounds: int, xp: tuple[int, int]) -> None:
    """BRA-WIN-10, BRA-WIN-11: no rating; half the XP if the base is `brands` and the game was long enough."""
    seats = 4 if edition == TEAMS else 2
    game = long_game(edition, seats, rounds=rounds, overrides={"start_cash": 5000})
    game.owning_group(1, "technology", 5, 5).with_cash(0, 10)
    if edition == TEAMS:
        game.out(2)
    game.landing(0, 39)
    assert game.state.ended == "last_left"
    points = {place.seat: place.xp for place in game.state.places}
    assert (points[1], points[0]) == xp
    assert {place.rating for place in game.state.places} == {0}
