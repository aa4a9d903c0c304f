"""The end of a game (TAB-WIN)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import TurnEnded
from services.rules.domain.parties import BANK
from services.rules.domain.state import SeatKind
from tests.rules.tabletop.tables import FIVE, MINUTE_MS, a_table, short_game, tabletop, timed
from tests.support.scenario import Game


def ranking(game: Game) -> list[tuple[int, int]]:
    """(seat, net worth), the winner first."""
    assert [place.place for place in game.state.places] == list(range(1, len(game.state.places) + 1))
    return [(place.seat, place.net_worth) for place in game.state.places]


@pytest.mark.parametrize("edition", FIVE)
def test_the_last_who_is_not_bankrupt_wins(edition: str) -> None:
    """TAB-WIN-01: and nothing is asked any more."""
    game = a_table(edition, 2).turn_of(0).do(0, c.Surrender())
    assert (game.state.ended, game.decision, game.state.deadlines) == ("last_left", None, ())
    assert [place.seat for place in game.state.places] == [1, 0]
    game.refused(1, c.Roll(), "game_over", "TAB-WIN-02" if edition == "tabletop-short" else "TAB-WIN-01")


@pytest.mark.parametrize("edition", ["tabletop", "tabletop-timed", "online-classic", "rent-tax"])
def test_a_second_bankruptcy_ends_no_other_game(edition: str) -> None:
    """TAB-WIN-01: it goes on while two are left."""
    game = a_table(edition, 4).out(3).turn_of(0).do(0, c.Surrender())
    assert (game.state.ended, game.decision) == ("", ("roll", 1))


def test_the_second_bankruptcy_ends_the_short_game() -> None:
    """TAB-WIN-02: the first one drops out as in the standard game."""
    game = short_game(4).turn_of(0).do(0, c.Surrender())
    assert (game.state.ended, game.decision) == ("", ("roll", 1))
    game.do(1, c.Surrender())
    assert game.state.ended == "bankruptcies"
    assert [place.seat for place in game.state.places] == [2, 3, 1, 0]


def test_a_short_game_of_two() -> None:
    """TAB-WIN-02: the first bankruptcy leaves one, who wins."""
    game = short_game(2).turn_of(0).do(0, c.Surrender())
    assert game.state.ended == "last_left"


def test_what_a_player_is_worth() -> None:
    """TAB-WIN-03: cash, printed prices, half of mortgaged ones, houses at cost, hotels with their three houses; release
    cards are worth nothing."""
    game = short_game(4).out(3).owning_group(1, "navy", 4, 3).owning(1, 5, 12).mortgaged(12).cash_of_all(0, 11, 2500, 0)
    game.holding_release_cards(1, "chest").turn_of(0).do(0, c.Surrender())
    worth = 11 + 350 + 400 + 200 + 75 + 200 * 4 + 200 * 3
    assert ranking(game)[:2] == [(2, 2500), (1, worth)]


def test_the_richest_wins_and_ties_go_to_the_lower_seat() -> None:
    """TAB-WIN-04."""
    game = short_game(4).out(3).cash_of_all(0, 500, 501, 0).turn_of(0).do(0, c.Surrender())
    assert ranking(game)[0] == (2, 501)
    game = short_game(4).out(3).cash_of_all(0, 500, 500, 0).turn_of(0).do(0, c.Surrender())
    assert ranking(game)[:2] == [(1, 500), (2, 500)]


def test_the_agreed_time() -> None:
    """TAB-WIN-05: 90 minutes; a turn that ends a millisecond before is followed by another, one at it is not."""
    game = timed().cash_of_all(100, 300, 200).wait(90 * MINUTE_MS - 1).managing(0).end_turn(0)
    assert (game.state.ended, game.decision) == ("", ("roll", 1))
    game = timed().cash_of_all(100, 300, 200).wait(90 * MINUTE_MS).managing(0).end_turn(0)
    assert game.state.ended == "time"
    assert ranking(game) == [(1, 300), (2, 200), (0, 100)]


@pytest.mark.parametrize("minutes", [30, 240])
def test_the_host_sets_the_time(minutes: int) -> None:
    """TAB-WIN-05, TAB-SETUP-15: from 30 to 240 minutes of game time."""
    for wait_ms, ended in ((minutes * MINUTE_MS - 1, ""), (minutes * MINUTE_MS, "time")):
        game = timed(time_limit_min=minutes).wait(wait_ms).managing(0).end_turn(0)
        assert game.state.ended == ended


def test_the_running_turn_is_played_out() -> None:
    """TAB-WIN-05: extra rolls, debts and auctions included."""
    late = 95 * MINUTE_MS
    game = timed().wait(late).at(0, 35).turn_of(0).roll(0, 1, 1)
    game.do(0, c.Decline()).do(1, c.Bid(1)).do(2, c.Pass()).do(0, c.Pass())
    assert game.decision == ("roll", 0)
    game.with_cash(0, 199).owning(0, 11).at(0, 1).roll(0, 1, 2)
    assert game.decision == ("payment", 0)
    game.do(0, c.Mortgage(11))
    assert (game.decision, game.state.ended) == (("manage", 0), "")
    game.end_turn(0)
    assert (game.state.ended, game.events_of(TurnEnded)) == ("time", [TurnEnded(0, "done")])


def test_a_turn_that_ends_by_itself_at_the_time() -> None:
    """TAB-WIN-05: in jail, by time-out, or by going bankrupt."""
    game = timed().wait(90 * MINUTE_MS).at(0, 27).turn_of(0).roll(0, 1, 2)
    assert game.state.ended == "time"
    game = timed().wait(90 * MINUTE_MS - 1).managing(0).expire("turn")
    assert game.state.ended == "time"
    game = timed().wait(90 * MINUTE_MS).turn_of(0).do(0, c.Surrender())
    assert game.state.ended == "time"


def test_a_hotel_counts_five_times_its_cost() -> None:
    """TAB-WIN-05: the hotel and four houses; ties as in the short game."""
    game = timed().owning_group(0, "navy", 5, 4).cash_of_all(0, 2550, 2550).wait(90 * MINUTE_MS).managing(0).end_turn(0)
    assert ranking(game) == [(0, 2550), (1, 2550), (2, 2550)]


def test_one_left_before_the_time() -> None:
    """TAB-WIN-06."""
    game = timed(2).cash_of_all(5000, 1).turn_of(0).do(0, c.Surrender())
    assert game.state.ended == "last_left"
    assert game.state.places[0].seat == 1


@pytest.mark.parametrize("edition", FIVE)
def test_the_bankrupt_rank_by_when_they_went(edition: str) -> None:
    """TAB-WIN-07: the last to go first."""
    game = a_table(edition, 4).out(2).turn_of(0)
    if edition == "tabletop-short":
        game.do(0, c.Surrender())
        assert [place.seat for place in game.state.places] == [1, 3, 0, 2]
        return
    game.do(0, c.Surrender()).do(3, c.Surrender())
    assert [place.seat for place in game.state.places] == [1, 3, 0, 2]


def test_the_solvent_rank_by_net_worth() -> None:
    """TAB-WIN-07: behind the winner, before the bankrupt."""
    game = (
        timed(5).out(4, 1).cash_of_all(100, 0, 400, 400, 0).owning(0, 39).wait(90 * MINUTE_MS).managing(0).end_turn(0)
    )
    assert ranking(game) == [(0, 500), (2, 400), (3, 400), (1, 0), (4, 0)]


PERSON_AND_BOTS: tuple[SeatKind, ...] = ("bot", "person", "bot")


@pytest.mark.parametrize("edition", FIVE)
def test_the_last_person_at_a_table_with_bots(edition: str) -> None:
    """TAB-WIN-07: when out, the game ends at once, ranked in the same way."""
    game = a_table(edition, kinds=PERSON_AND_BOTS).cash_of_all(10, 20, 30).turn_of(0).do(1, c.Surrender())
    assert game.state.ended == "last_person_out"
    assert [place.seat for place in game.state.places] == [2, 0, 1]


@pytest.mark.parametrize("edition", FIVE)
def test_bots_alone_play_on(edition: str) -> None:
    """TAB-WIN-07: nobody was there to leave."""
    game = a_table(edition, kinds=("bot", "bot", "bot")).turn_of(0).do(0, c.Surrender())
    assert (game.state.ended, game.decision) == ("", ("roll", 1))


def test_nobody_wins_by_riches_in_the_long_game() -> None:
    """TAB-WIN-01: a fortune does not end it, nor does time."""
    game = tabletop().cash_of_all(10**9, 1, 1).wait(10_000 * MINUTE_MS).managing(0).end_turn(0)
    assert (game.state.ended, game.owner(39)) == ("", BANK)
