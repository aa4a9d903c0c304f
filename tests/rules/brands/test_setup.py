"""Board, seats, the deal and the beginning of a game (BRA-SETUP)."""

from collections import Counter
from dataclasses import replace

import pytest

from services.rules.domain import chance
from services.rules.domain import commands as c
from services.rules.domain.events import (
    CasinoPlayed,
    DeckShuffled,
    DeedDealt,
    DiceRolled,
    Event,
    FirstPlayerChosen,
    SeedDrawn,
)
from services.rules.domain.evolve import fold
from services.rules.domain.new_game import Setup, SetupError, begin
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import SeatKind, SeatSetup, State
from tests.rules.brands.games import (
    BRANDS,
    BRAWL,
    BUS,
    CASINO,
    CHANCE,
    FAST,
    FINANCE,
    GO_TO_JAIL,
    INCOME_TAX,
    INDUSTRY,
    JAIL,
    LUXURY_TAX,
    MODES,
    START,
    START_CASH,
    TEAMS,
    brands,
    every_mode,
    pass_turn,
)
from tests.support.positions import CATALOGUE, SEED
from tests.support.scenario import a_game

#: the classic board: cells of each sector, price and base rent of each brand
CLASSIC = {
    "supermarkets": ((1, 60, 2), (3, 60, 4)),
    "drinks": ((6, 100, 6), (8, 100, 6), (9, 120, 8)),
    "clothing": ((11, 140, 10), (13, 140, 10), (14, 160, 12)),
    "restaurants": ((16, 180, 14), (18, 180, 14), (19, 200, 16)),
    "airlines": ((21, 220, 18), (23, 220, 18), (24, 240, 20)),
    "media": ((26, 260, 22), (27, 260, 22), (29, 280, 24)),
    "motors": ((31, 300, 26), (32, 300, 26), (34, 320, 28)),
    "technology": ((37, 350, 35), (39, 400, 50)),
}


def setup_of(count: int, kind: SeatKind = "person", **more: object) -> Setup:
    return Setup(
        seating="mixed",
        seats=tuple(SeatSetup(kind, seat) for seat in range(count)),
        server_seed=SEED,
        **more,  # type: ignore[arg-type]
    )


def begun(edition: str, count: int, kind: SeatKind = "person", **more: object) -> tuple[Event, ...]:
    return begin(CATALOGUE.get(edition).at("mixed"), setup_of(count, kind, **more), 0).events


@every_mode
def test_the_board(edition: str) -> None:
    """BRA-SETUP-01: 22 brands in 8 groups of 2 or 3, 4 finance, 2 industry, 4 corners, 6 Chance and 2 taxes."""
    board = CATALOGUE.get(edition).board
    assert Counter(board.kind) == {
        "property": 22,
        "transport": 4,
        "utility": 2,
        "card": 6,
        "tax": 2,
        "start": 1,
        "jail": 1,
        "casino": 1,
        "goto_jail": 1,
    }
    streets = {key: len(cells) for key, cells in board.group_cells.items() if board.is_street[cells[0]]}
    assert list(streets) == list(CLASSIC)
    assert {key: len(cells) for key, cells in CLASSIC.items()} == streets
    assert sum(streets.values()) == 22
    assert len(board.kind) == 40


@every_mode
def test_corners_and_taxes(edition: str) -> None:
    """BRA-SETUP-02: Start, Jail, Casino and Go to Jail; taxes of 2000 and 1000."""
    board = CATALOGUE.get(edition).board
    kinds = [board.kind[cell] for cell in (START, JAIL, CASINO, GO_TO_JAIL)]
    assert kinds == ["start", "jail", "casino", "goto_jail"]
    assert [board.amount[cell] for cell in (INCOME_TAX, LUXURY_TAX)] == [2000, 1000]


@every_mode
def test_positions_prices_and_rents_are_the_classic_ones_times_ten(edition: str) -> None:
    """BRA-SETUP-03: jail 10, go to jail 30, taxes on 4 and 38; finance at 2000, industry at 1500."""
    board = CATALOGUE.get(edition).board
    assert [cell for cell, kind in enumerate(board.kind) if kind == "card"] == list(CHANCE)
    assert board.group_cells["finance"] == FINANCE
    assert board.group_cells["industry"] == INDUSTRY
    assert [board.price[cell] for cell in (*FINANCE, *INDUSTRY)] == [2000] * 4 + [1500] * 2
    for sector, cells in CLASSIC.items():
        assert board.group_cells[sector] == tuple(cell for cell, _, _ in cells)
        for cell, price, rent in cells:
            assert (board.price[cell], board.rents[cell][0]) == (price * 10, rent * 10), sector


@every_mode
def test_start_cash(edition: str) -> None:
    """BRA-SETUP-04: 15000, 17500, 25000 and 15000."""
    game = a_game({TEAMS: 4, BRAWL: 3}.get(edition, 2), edition=edition)
    assert set(game.state.cash) == {START_CASH[edition]}
    paid = [item for item in game.money() if item[3] == "start_cash"]
    assert paid == [(BANK, seat, START_CASH[edition], "start_cash") for seat in range(len(game.state.cash))]


@pytest.mark.parametrize(
    ("edition", "least", "most"), [(BRANDS, 2, 6), (FAST, 2, 6), (BRAWL, 3, 3), (TEAMS, 4, 4)], ids=MODES
)
def test_numbers_of_players(edition: str, least: int, most: int) -> None:
    """BRA-SETUP-05, BRA-SETUP-06: brawl exactly 3, teams exactly 4, the others 2 to 6."""
    for count in range(1, 8):
        if least <= count <= most:
            assert begun(edition, count)
        else:
            with pytest.raises(SetupError, match=f"{least} to {most} seats, not {count}"):
                begun(edition, count)


def test_teams_take_turns_alternately() -> None:
    """BRA-SETUP-05, BRA-SETUP-07: the ledger's seats 1 and 3 are one team, 2 and 4 the other."""
    game = a_game(4, edition=TEAMS)
    teams = [seat.team for seat in game.state.config.seats]
    assert teams[0] == teams[2] != teams[1] == teams[3]
    for edition in (BRANDS, FAST, BRAWL):
        alone = a_game(3, edition=edition)
        assert len({seat.team for seat in alone.state.config.seats}) == 3


@pytest.mark.parametrize("first", [0, 1, 2])
def test_the_board_of_a_brawl_is_dealt_singly_from_the_first_player(first: int) -> None:
    """BRA-SETUP-08, BRA-SETUP-09: 9 each in turn order, free of charge; the last of the order stays unowned."""
    game = a_game(3, edition=BRAWL, first=first)
    order = game.edition.board.deeds
    dealt = game.events_of(DeedDealt)
    assert [(event.seat, event.cell) for event in dealt] == [
        ((first + number) % 3, order[number]) for number in range(27)
    ]
    assert [game.state.owners.count(seat) for seat in range(3)] == [9, 9, 9]
    assert game.owner(order[27]) == BANK
    assert set(game.state.cash) == {25000}
    assert {reason for _, _, _, reason in game.money()} == {"start_cash"}


def test_the_deal_follows_the_shuffle() -> None:
    """BRA-SETUP-09: the 28 properties are shuffled, and a full group may be dealt."""
    events = begun(BRAWL, 3)
    deeds = CATALOGUE.get(BRAWL).board.deeds
    (order,) = [event.order for event in events if isinstance(event, DeckShuffled) and event.deck == "deeds"]
    assert sorted(order) == list(range(28))
    assert order != tuple(range(28))
    dealt = [event.cell for event in events if isinstance(event, DeedDealt)]
    assert dealt == [deeds[number] for number in order[:27]]
    # The order of the file but for places 1 and 3, so that seat 0 gets both supermarkets.
    draws = (0, *range(20, 0, -1), *range(27, 3, -1), 1, 2, 1)
    setup = setup_of(3, algorithm=chance.SCRIPT, script=draws)
    state = begin(CATALOGUE.get(BRAWL).at("mixed"), setup, 0).state
    assert state.owners[1] == state.owners[3] == 0


@pytest.mark.parametrize("edition", [BRANDS, FAST, TEAMS])
def test_elsewhere_nothing_is_dealt(edition: str) -> None:
    """BRA-SETUP-08: only in the brawl."""
    game = a_game(4, edition=edition)
    assert game.events_of(DeedDealt) == []
    assert set(game.state.owners) == {BANK}


@pytest.mark.parametrize("kind", ["person", "bot"])
def test_the_first_player_is_drawn_from_all_seats(kind: SeatKind) -> None:
    """BRA-SETUP-10: each seat with equal chance, bots included, and turns pass in seat order."""
    decks = tuple(range(19, 0, -1))
    for seat in range(5):
        events = begun(BRANDS, 5, kind, algorithm=chance.SCRIPT, script=(seat, *decks))
        assert [event for event in events if isinstance(event, FirstPlayerChosen)] == [FirstPlayerChosen(seat, 1)]
    with pytest.raises(chance.ChanceError, match="a draw out of 5"):
        begun(BRANDS, 5, kind, algorithm=chance.SCRIPT, script=(5, *decks))
    game = brands(BRANDS, 3, first=2)
    for seat in (2, 0, 1, 2):
        assert game.decision == ("roll", seat)
        pass_turn(game, seat)


def test_a_round_is_one_lap_of_turns() -> None:
    """BRA-SETUP-11: places from the first player; the counter grows when the next place is not higher."""
    game = brands(BRANDS, 3, first=1)
    assert game.state.round == 1
    rounds = []
    for seat in (1, 2, 0, 1, 2, 0, 1):
        rounds.append(game.state.round)
        pass_turn(game, seat)
    assert rounds == [1, 1, 1, 2, 2, 2, 3]


def test_places_never_shift_when_somebody_leaves() -> None:
    """BRA-SETUP-11: without its first player a round still ends where it did."""
    game = brands(BRANDS, 4, first=1).out(1).in_round(5).turn_of(2)
    pass_turn(game, 2)
    assert (game.decision, game.state.round) == (("roll", 3), 5)
    pass_turn(game, 3)
    assert (game.decision, game.state.round) == (("roll", 0), 5)
    pass_turn(game, 0)
    assert (game.decision, game.state.round) == (("roll", 2), 6)


@every_mode
def test_money_is_whole_and_the_bank_without_limits(edition: str) -> None:
    """BRA-SETUP-12: no stock of buildings, a jackpot of 0, and no share of a price that is a fraction."""
    game = a_game({TEAMS: 4}.get(edition, 3), edition=edition)
    assert (game.supply, game.state.jackpot) == ((NONE, NONE), 0)
    board = game.edition.board
    for cell in board.deeds:
        assert board.price[cell] % 2 == 0
        assert board.price[cell] * 60 % 100 == 0
        assert board.build_cost[cell] * game.edition.building_refund % 100 == 0
    rich = brands(edition)
    for group in ("supermarkets", "drinks", "clothing", "restaurants", "airlines", "media", "motors"):
        rich.owning_group(0, group, 5, 5, 5)
    rich.owning_group(0, "technology", 4, 4).with_cash(0, 2000).turn_of(0)
    assert [choice.cell for choice in rich.option("build").buildings] == [37, 39]


def test_chance_enters_in_this_order_and_every_outcome_is_in_its_event() -> None:
    """BRA-SETUP-13: white 1, white 2, third; at the casino the die, then the jackpot draw."""
    game = brands(FAST).in_round(8).at(0, 14).turn_of(0).upcoming_draws(3, 1, BUS - 1)
    game.do(0, c.Roll())
    assert game.events_of(DiceRolled) == [DiceRolled(0, "move", (4, 2), BUS)]
    game = brands().landing(0, CASINO).upcoming_draws(2, 7).do(0, c.PlaceBet((1,)))
    assert game.events_of(CasinoPlayed) == [CasinoPlayed(0, (1,), 3, 8)]
    started = begun(BRAWL, 3)
    seedless = tuple(
        replace(event, algorithm="none", server_seed=b"") if isinstance(event, SeedDrawn) else event
        for event in started
    )
    with_seed, without = (fold(CATALOGUE.get(BRAWL).at("mixed"), State(), events) for events in (started, seedless))
    assert (without.decks, without.first_seat, without.owners) == (
        with_seed.decks,
        with_seed.first_seat,
        with_seed.owners,
    )
