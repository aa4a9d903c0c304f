"""How a game begins: board, cash, the first player, rounds, and what is left to chance (MET-SETUP)."""

from dataclasses import fields

import pytest

from services.rules.domain import commands as c
from services.rules.domain.chance import ChanceError
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    CardDrawn,
    DeckShuffled,
    DiceRolled,
    FirstPlayerChosen,
    GameEnded,
    TokenMoved,
    TurnStarted,
)
from services.rules.domain.new_game import SetupError
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import SeatKind
from services.rules.domain.view import state_from_view, view
from tests.rules.metro.games import CARDS, METRO, SPEED, both, metro
from tests.support.positions import CATALOGUE
from tests.support.scenario import a_game

EDITIONS = {name: CATALOGUE.get(name) for name in (METRO, SPEED)}

#: what tells an edition apart by name, not by rule
LABELS = {"id", "names", "statements", "by_seating"}


def test_both_modes_are_played_on_one_board() -> None:
    """MET-SETUP-01: a ring of 40 cells, the same cells and the same cards."""
    edition, speed = EDITIONS[METRO], EDITIONS[SPEED]
    assert len(edition.board.kind) == 40
    for field in ("kind", "key", "group", "price", "build_cost", "rents", "amount"):
        assert getattr(edition.board, field) == getattr(speed.board, field)
    assert edition.decks == speed.decks


def test_the_mode_changes_only_some_values() -> None:
    """MET-SETUP-02: the third die, uneven building, the mortgage timer, faster clocks and ends; all else is equal."""
    edition, speed = EDITIONS[METRO], EDITIONS[SPEED]
    names = [field.name for field in fields(Edition) if field.name not in LABELS]
    changed = {name for name in names if getattr(edition, name) != getattr(speed, name)}
    assert changed == {
        "third_die_from_round",
        "triple_extra_roll",
        "build_limit",
        "build_even",
        "mortgage_rounds",
        "mortgage_lapse",
        "rent_tax_start",
        "rent_tax_curve",
        "round_limit",
        "turn_s",
    }


@both
def test_28_fields_in_10_groups(edition: str) -> None:
    """MET-SETUP-03: 22 streets in 8 colours from 600 to 4000, 4 stations and 2 utilities."""
    board = EDITIONS[edition].board
    assert (len(board.deeds), len(board.group_cells)) == (28, 10)
    assert (len(board.streets), len(board.transports), len(board.utilities)) == (22, 4, 2)
    assert len({board.group[cell] for cell in board.streets}) == 8
    prices = [board.price[cell] for cell in board.streets]
    assert (min(prices), max(prices)) == (600, 4000)


@both
def test_corners_taxes_and_chance(edition: str) -> None:
    """MET-SETUP-04, MET-SETUP-05, MET-SETUP-06: four corners, two taxes, six Chance cells and 16 cards."""
    flat = EDITIONS[edition]
    board = flat.board
    assert {cell: board.kind[cell] for cell in (0, 10, 20, 30)} == {0: "start", 10: "jail", 20: "free", 30: "goto_jail"}
    assert {cell: board.amount[cell] for cell, kind in enumerate(board.kind) if kind == "tax"} == {4: 2000, 38: 1000}
    assert [cell for cell, kind in enumerate(board.kind) if kind == "card"] == [2, 7, 17, 22, 33, 36]
    assert {board.deck_of[cell] for cell in (2, 7, 17, 22, 33, 36)} == {"chance"}
    assert tuple(card.key for card in flat.decks["chance"]) == CARDS
    assert len(CARDS) == 16


@both
def test_positions_and_prices_of_the_scale(edition: str) -> None:
    """MET-SETUP-07: stations at 2000, utilities at 1500, build costs 500 to 2000 by side."""
    board = EDITIONS[edition].board
    assert {cell: board.price[cell] for cell in board.transports} == dict.fromkeys((5, 15, 25, 35), 2000)
    assert {cell: board.price[cell] for cell in board.utilities} == {12: 1500, 28: 1500}
    for cell in board.streets:
        assert board.build_cost[cell] == 500 * (cell // 10 + 1)
    assert [board.price[cell] for cell in (1, 3, 6, 8, 9)] == [600, 600, 1000, 1000, 1200]
    assert [board.price[cell] for cell in (11, 13, 14, 16, 18, 19)] == [1400, 1400, 1600, 1800, 1800, 2000]
    assert [board.price[cell] for cell in (21, 23, 24, 26, 27, 29)] == [2200, 2200, 2400, 2600, 2600, 2800]
    assert [board.price[cell] for cell in (31, 32, 34, 37, 39)] == [3000, 3000, 3200, 3500, 4000]
    assert board.rents[1] == (20, 100, 300, 900, 1600, 2500)
    assert board.rents[39] == (500, 2000, 6000, 14000, 17000, 20000)


@both
def test_everybody_starts_on_cell_0_with_15000(edition: str) -> None:
    """MET-SETUP-08, MET-SETUP-09: in both modes, whatever the number of players."""
    for seats in (2, 6):
        game = metro(seats, edition)
        assert game.state.position == [0] * seats
        assert game.state.cash == [15000] * seats
        assert game.money() == [(BANK, seat, 15000, "start_cash") for seat in range(seats)]


def test_cell_numbers_rise_and_begin_again_after_39() -> None:
    """MET-SETUP-08: clockwise is by rising numbers, from 39 to 0."""
    game = metro().at(0, 38).turn_of(0).roll(0, 1, 2)
    assert game.events_of(TokenMoved) == [TokenMoved(0, 38, 1, "dice", True)]


@pytest.mark.parametrize("kinds", [("person", "person", "person"), ("person", "bot", "bot")])
def test_the_first_player_is_drawn_from_all(kinds: tuple[SeatKind, ...]) -> None:
    """MET-SETUP-10, MET-SETUP-11: one draw among all seats with equal chances, bots included."""
    for first in range(3):
        game = metro(3, kinds=kinds, first=first)
        assert game.events_of(FirstPlayerChosen) == [FirstPlayerChosen(first, 1)]
        assert game.decision == ("roll", first)
    with pytest.raises(ChanceError, match="out of 3"):
        metro(3, kinds=kinds, first=3)


def test_turns_pass_in_seat_order() -> None:
    """MET-SETUP-11: from seat to seat and round again, leaving out who is no longer active."""
    game = metro(4, first=2)
    order = [game.state.turn_seat]
    order += [game.expire().state.turn_seat for _ in range(4)]
    assert order == [2, 3, 0, 1, 2]
    game.do(3, c.Surrender()).expire()
    assert game.decision == ("roll", 0)


def test_a_round_is_one_lap_of_turns() -> None:
    """MET-SETUP-12: it starts at 1 and grows when the next place is not higher; places never shift."""
    game = metro(4, first=2)
    rounds = [game.state.round]
    rounds += [game.expire().state.round for _ in range(4)]
    assert (rounds, game.decision) == ([1, 1, 1, 1, 2], ("roll", 2))
    # the first player leaves: the round grows between seat 1 (place 3) and seat 3 (place 1)
    game.do(2, c.Surrender())
    assert (game.state.round, game.decision) == (2, ("roll", 3))
    assert [game.expire().state.round for _ in range(3)] == [2, 2, 3]
    assert game.decision == ("roll", 3)


def test_the_round_grows_when_the_last_place_has_left() -> None:
    """MET-SETUP-12: the next player's place, not a count of turns, decides."""
    game = metro(3).turn_of(1)
    game.do(2, c.Surrender())
    assert (game.state.round, game.decision) == (1, ("roll", 1))
    game.expire()
    assert (game.state.round, game.decision) == (2, ("roll", 0))


@both
def test_buildings_and_money_of_the_bank_have_no_limit(edition: str) -> None:
    """MET-SETUP-13: all 22 streets may hold five buildings, and the bank pays and takes any sum."""
    game = metro(2, edition)
    for group in game.edition.board.group_cells:
        if game.edition.board.is_street[game.edition.board.group_cells[group][0]]:
            game.owning_group(0, group, 5, 5, 5)
    game.building(1, 4).building(3, 4).with_cash(0, 1_000_000_000).turn_of(0)
    game.do(0, c.Build((1,))).do(0, c.Build((3,)))
    assert sum(game.state.levels) == 110
    game.at(0, 36).roll(0, 1, 3)
    assert game.cash(0) == 1_000_000_000 - 1000 + 2000


@both
def test_no_printed_number_has_a_fraction(edition: str) -> None:
    """MET-SETUP-13: half prices, half build costs and 55% are whole."""
    board = EDITIONS[edition].board
    for cell in board.deeds:
        assert board.price[cell] * 55 % 100 == 0
        assert (board.half_price[cell] * 2, board.build_cost[cell] % 2) == (board.price[cell], 0)


def test_what_is_left_to_chance() -> None:
    """MET-SETUP-14: the first player, then white 1, white 2, and the third die in this order."""
    game = metro(2, SPEED)
    assert game.state.draws == 1
    game.roll(0, 1, 2)
    assert (game.events_of(DiceRolled), game.state.draws) == ([DiceRolled(0, "move", (1, 2), 0)], 3)
    game = metro(2, SPEED).in_round(7).turn_of(0).roll(0, 2, 5, third=3)
    assert (game.events_of(DiceRolled), game.state.draws) == ([DiceRolled(0, "move", (2, 5), 3)], 4)


def test_the_reward_card_is_a_draw_stored_in_the_last_event() -> None:
    """MET-SETUP-14: a replay reads it from the event."""
    game = metro(2).in_round(21).owning(0, 1, 3, 5).upcoming_draws(2).turn_of(0)
    game.do(1, c.Surrender())
    (ended,) = game.events_of(GameEnded)
    assert [(place.seat, place.card) for place in ended.places] == [(0, 5), (1, NONE)]


@both
def test_the_deck_starts_at_card_1(edition: str) -> None:
    """MET-SETUP-15: in every game, unshuffled; a look ahead from a view starts there too."""
    game = metro(2, edition)
    assert not game.events_of(DeckShuffled)
    assert tuple(game.cards("chance")) == CARDS
    guessed = state_from_view(game.edition, view(game.state), bytes(16))
    assert guessed.decks["chance"] == tuple(range(16))
    game.roll(0, 3, 4)
    assert game.events_of(CardDrawn) == [CardDrawn(0, "chance", 0)]


@both
@pytest.mark.parametrize("seats", [1, 7])
def test_two_to_six_players(edition: str, seats: int) -> None:
    """MET-TABLE-02: no other number."""
    with pytest.raises(SetupError):
        metro(seats, edition)


def test_tables_override_nothing() -> None:
    """MET-TABLE-08, MET-SETUP-02: the mode alone tunes the economy."""
    assert [EDITIONS[name].overrides for name in (METRO, SPEED)] == [(), ()]
    with pytest.raises(Exception, match="cannot be changed"):
        a_game(2, edition=METRO, overrides={"start_cash": 20000})


def test_turns_start_as_events() -> None:
    """MET-SETUP-12: the round stands in the event that begins a turn."""
    game = metro(2).expire()
    assert game.events_of(TurnStarted) == [TurnStarted(1, 1, False)]
    assert game.expire().events_of(TurnStarted) == [TurnStarted(0, 2, False)]
