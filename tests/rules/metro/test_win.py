"""How a game ends, and what it brings (MET-WIN)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import GameEnded
from services.rules.domain.moves.money import net_worth
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import EndReason
from tests.rules.metro.games import METRO, SPEED, both, drawing, metro
from tests.support.scenario import Game


def places(game: Game) -> list[tuple[int, int]]:
    """(seat, place), winner first."""
    return [(place.seat, place.place) for place in game.state.places]


def ended(game: Game) -> EndReason | None:
    """Why the game ended."""
    return next((event.reason for event in game.events_of(GameEnded)), None)


@both
def test_the_last_active_player_wins(edition: str) -> None:
    """MET-WIN-01: all others having gone bankrupt or surrendered."""
    game = metro(3, edition).turn_of(0).do(1, c.Surrender())
    assert game.state.ended == ""
    game.with_cash(0, 0).at(0, 1).roll(0, 1, 2).do(0, c.DeclareBankruptcy())
    assert (ended(game), places(game)) == ("last_left", [(2, 1), (0, 2), (1, 3)])
    game.refused(2, c.Roll(), "game_over", "MET-WIN-11")


@pytest.mark.parametrize(("edition", "limit"), [(METRO, 500), (SPEED, 300)])
def test_the_round_limit(edition: str, limit: int) -> None:
    """MET-WIN-02, MET-WIN-04: at the end of the last turn of round 500 or 300; the highest net worth wins."""
    game = metro(3, edition).in_round(limit - 1).upcoming_draws(0).with_cash(1, 15001).turn_of(2).expire()
    assert (game.state.ended, game.state.round) == ("", limit)
    assert game.expire().state.ended == ""
    assert game.expire().state.ended == ""
    game.expire()
    assert (ended(game), places(game)) == ("rounds", [(1, 1), (0, 2), (2, 3)])


def test_an_extra_throw_belongs_to_the_last_turn() -> None:
    """MET-WIN-04: the limit is reached when the turn has ended."""
    game = metro(2).in_round(500).upcoming_draws(0).at(1, 14).turn_of(1).roll(1, 3, 3)
    assert (game.state.ended, game.decision) == ("", ("roll", 1))
    game.at(1, 13).roll(1, 3, 4)
    assert ended(game) == "rounds"


def test_the_last_turn_is_that_of_the_last_place_still_active() -> None:
    """MET-WIN-04, MET-SETUP-12: everyone has had the same number of turns."""
    game = metro(3, first=1).in_round(500).upcoming_draws(0).turn_of(2)
    assert game.expire().state.ended == ""
    game.expire()
    assert ended(game) == "rounds"
    game = metro(3, first=1).in_round(500).upcoming_draws(0).turn_of(2).do(0, c.Surrender())
    assert game.state.ended == ""
    assert ended(game.expire()) == "rounds"


def test_mortgages_run_out_before_the_limit() -> None:
    """MET-WIN-04: they count no more."""
    game = metro(2, SPEED).in_round(300).owning(1, 39).mortgaged(39, since=290).upcoming_draws(0)
    game.with_cash(1, 14000).turn_of(1).expire()
    assert [(place.seat, place.net_worth) for place in game.state.places] == [(0, 15000), (1, 14000)]


@both
def test_equal_net_worth_is_decided_by_the_seat(edition: str) -> None:
    """MET-WIN-03, MET-WIN-06: the lower seat number stands first."""
    limit = 500 if edition == METRO else 300
    game = metro(4, edition, first=3).in_round(limit).upcoming_draws(0).with_cash(2, 15001).turn_of(2).expire()
    assert places(game) == [(2, 1), (0, 2), (1, 3), (3, 4)]


def test_net_worth() -> None:
    """MET-WIN-05: cash, prices, half of it if mortgaged, and the full cost of each building."""
    game = metro(2).with_cash(0, 123).owning(0, 5, 12).mortgaged(12).owning_group(0, "blue", 2, 3)
    assert net_worth(game.edition, game.state, 0) == 123 + 2000 + 750 + 3500 + 4000 + 5 * 2000
    assert net_worth(game.edition, game.state, 1) == 15000


@both
@pytest.mark.parametrize(("round_number", "xp"), [(1, 0), (20, 0), (21, 200), (299, 200)])
def test_the_winner_of_a_real_game_gets_200_xp_and_a_card(edition: str, round_number: int, xp: int) -> None:
    """MET-WIN-07, MET-WIN-08: the round counter is 21 or more at the end; nobody else gets XP."""
    game = metro(3, edition).in_round(round_number).owning(0, 39).upcoming_draws(0).turn_of(0).do(2, c.Surrender())
    game.do(1, c.Surrender())
    assert [(place.seat, place.xp) for place in game.state.places] == [(0, xp), (1, 0), (2, 0)]
    assert [place.card for place in game.state.places] == [39 if xp else NONE, NONE, NONE]


def test_only_people_are_rewarded() -> None:
    """MET-WIN-08: a bot that wins gets nothing; bots at the table do not matter."""
    game = metro(2, kinds=("person", "bot")).in_round(100).turn_of(0).do(0, c.Surrender())
    assert [(place.seat, place.xp, place.card) for place in game.state.places] == [(1, 0, NONE), (0, 0, NONE)]
    game = metro(2, kinds=("person", "bot")).in_round(100).owning(0, 5).upcoming_draws(0).turn_of(0)
    game.do(1, c.Surrender())
    assert [(place.seat, place.xp, place.card) for place in game.state.places] == [(0, 200, 5), (1, 0, NONE)]


def test_the_field_card_is_one_of_the_winners_fields() -> None:
    """MET-WIN-09: each with the same chance; of all 28 if the winner owns none."""
    for draw, cell in enumerate((1, 12, 39)):
        game = metro(2).in_round(21).owning(0, 39, 1, 12).owning(1, 5).upcoming_draws(draw).turn_of(0)
        assert game.do(1, c.Surrender()).state.places[0].card == cell
    deeds = metro(2).edition.board.deeds
    assert len(deeds) == 28
    for draw in (0, 13, 27):
        game = metro(2).in_round(21).owning(1, 5).upcoming_draws(draw).turn_of(0).do(1, c.Surrender())
        assert game.state.places[0].card == deeds[draw]


def test_the_round_limit_rewards_the_richest_too() -> None:
    """MET-WIN-07, MET-WIN-02: the winner however the game ended."""
    game = metro(2).in_round(500).owning(1, 1).upcoming_draws(0).turn_of(1).expire()
    assert [(place.seat, place.xp, place.card) for place in game.state.places] == [(1, 200, 1), (0, 0, NONE)]


def test_final_places() -> None:
    """MET-WIN-10: the winner, the active ones by net worth and seat, then those who left, the latest first."""
    game = metro(6).in_round(500).upcoming_draws(0).turn_of(5).do(3, c.Surrender()).do(0, c.Surrender())
    game.cash_of_all(0, 15000, 16000, 0, 16000, 15500).expire()
    assert places(game) == [(2, 1), (4, 2), (5, 3), (1, 4), (0, 5), (3, 6)]


@both
def test_the_game_ends_right_after_the_last_payout(edition: str) -> None:
    """MET-WIN-11: open payments, offers, auctions, X moves and extra throws lapse."""
    game = drawing("yard_concert", 2, edition).roll(0, 3, 4).do(0, c.Surrender())
    assert game.money() == [(0, BANK, 15000, "estate")]
    assert (ended(game), game.decision, game.state.deadlines) == ("last_left", None, ())
    game = metro(2, edition).owning_group(1, "blue", 1, 1).with_cash(0, 700).at(0, 36).turn_of(0).roll(0, 1, 2)
    game.do(0, c.DeclareBankruptcy())
    names = game.event_names()
    assert game.money() == [(0, 1, 700, "estate")]
    assert names.index("MoneyMoved") < names.index("SeatOut") < names.index("GameEnded") == len(names) - 1


def test_an_auction_is_finished_before_its_leaver_is_out() -> None:
    """MET-WIN-11, MET-AUC-14: nobody goes out inside it, so the game ends after it."""
    game = metro(2).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).do(1, c.Bid(600)).do(0, c.Surrender())
    assert [payment[3] for payment in game.money()] == ["auction", "estate"]
    assert (ended(game), game.owner(3)) == ("last_left", 1)


def test_without_people_the_game_ends_at_once() -> None:
    """MET-WIN-12: ranked by net worth and seat, as at the round limit."""
    game = metro(4, kinds=("person", "bot", "bot", "person")).with_cash(2, 15001).turn_of(0).do(0, c.Surrender())
    assert game.state.ended == ""
    game.do(3, c.Surrender())
    assert (ended(game), places(game)) == ("last_person_out", [(2, 1), (1, 2), (3, 3), (0, 4)])


def test_a_table_of_bots_plays_on_to_its_end() -> None:
    """MET-WIN-12: one on which only bots were seated."""
    game = metro(3, kinds=("bot", "bot", "bot")).turn_of(0).do(0, c.Surrender())
    assert (game.state.ended, game.decision) == ("", ("roll", 1))
    game.do(1, c.Surrender())
    assert ended(game) == "last_left"
