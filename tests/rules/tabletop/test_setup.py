"""How a game begins (TAB-SETUP)."""

from dataclasses import replace

import pytest

from services.rules.domain import commands as c
from services.rules.domain.chance import SCRIPT
from services.rules.domain.events import DeckShuffled, DeedDealt, DiceRolled, FirstPlayerChosen, MoneyMoved, TurnStarted
from services.rules.domain.new_game import DEEDS, Setup, SetupError, begin
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import SeatSetup
from services.rules.editions.ports import OverrideError
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, rent_tax, tabletop
from tests.support.positions import CATALOGUE, SEED
from tests.support.scenario import a_game

#: the draws that leave a deck of 16 as it is in its file
UNSHUFFLED = tuple(range(15, 0, -1))


def begun_with(edition: str, seats: int, *script: int) -> tuple[object, ...]:
    """Events of a beginning whose draws are given."""
    flat = CATALOGUE.get(edition).at("mixed")
    setup = Setup("mixed", tuple(SeatSetup("person", seat) for seat in range(seats)), SEED)
    return begin(flat, replace(setup, algorithm=SCRIPT, script=script), 0).events


@pytest.mark.parametrize("edition", FIVE)
def test_two_to_eight_players(edition: str) -> None:
    """TAB-SETUP-01: neither one nor nine; there are eight tokens in the box."""
    for seats in (2, 8):
        assert len(a_game(seats, edition=edition).state.cash) == seats
    for seats in (1, 9):
        with pytest.raises(SetupError):
            a_game(seats, edition=edition)


@pytest.mark.parametrize("edition", FIVE)
def test_what_is_in_the_box(edition: str) -> None:
    """TAB-SETUP-02: 40 cells, 28 deeds, 32 houses, 12 hotels; 16 cards in each deck."""
    game = a_game(2, edition=edition)
    assert len(game.edition.board.kind) == 40
    assert len(game.edition.board.deeds) == 28
    assert game.supply == (32, 12)
    decks = {deck: len(cards) for deck, cards in game.edition.decks.items()}
    assert decks == ({"chance": 16} if edition == "rent-tax" else {"chance": 16, "chest": 16})


def test_the_classic_board() -> None:
    """TAB-SETUP-02: 22 streets, 4 stations and 2 utilities in the classic order, at the classic prices."""
    board = a_game(2, edition="tabletop").edition.board
    assert (len(board.streets), board.transports, board.utilities) == (22, (5, 15, 25, 35), (12, 28))
    assert [cell for cell, kind in enumerate(board.kind) if kind == "tax"] == [4, 38]
    assert [board.deck_of[cell] for cell in (7, 22, 36)] == ["chance"] * 3
    assert [board.deck_of[cell] for cell in (2, 17, 33)] == ["chest"] * 3
    assert [board.kind[cell] for cell in (0, 10, 20, 30)] == ["start", "jail", "free", "goto_jail"]
    assert [board.price[cell] for cell in (1, 5, 12, 19, 39)] == [60, 200, 150, 200, 400]
    assert board.rents[39] == (50, 200, 600, 1400, 1700, 2000)


@pytest.mark.parametrize(("edition", "cash"), [(one, 1500) for one in FIVE[:4]] + [("rent-tax", 15000)])
def test_the_cash_of_the_start(edition: str, cash: int) -> None:
    """TAB-SETUP-03: 1500; in rent-tax 15000."""
    game = a_game(3, edition=edition)
    assert [money for money in game.money() if money[3] == "start_cash"] == [
        (BANK, seat, cash, "start_cash") for seat in range(3)
    ]


def test_money_is_one_number() -> None:
    """TAB-SETUP-04: the notes make 1500, and never limit a payment: a price of 61 leaves 1439."""
    assert 2 * 500 + 4 * 100 + 50 + 20 + 2 * 10 + 5 + 5 * 1 == 1500
    game = tabletop().at(0, 36).owning(1, 39).with_cash(0, 63).turn_of(0).roll(0, 1, 2)
    assert game.cash(0) == 13
    assert isinstance(game.cash(0), int)


@pytest.mark.parametrize("edition", FIVE)
def test_all_tokens_start_on_cell_0(edition: str) -> None:
    """TAB-SETUP-05: each seat has one token of its own, and all stand on Start."""
    assert a_game(8, edition=edition).state.position == [0] * 8


@pytest.mark.parametrize("edition", FIVE)
def test_each_deck_is_shuffled_by_itself(edition: str) -> None:
    """TAB-SETUP-06: one shuffle for each deck, of all its cards, and the order is the one that is drawn from."""
    flat = CATALOGUE.get(edition).at("mixed")
    begun = begin(flat, Setup("mixed", (SeatSetup("person", 0), SeatSetup("person", 1)), SEED), 0)
    shuffles = [event for event in begun.events if isinstance(event, DeckShuffled) and event.deck != DEEDS]
    assert [event.deck for event in shuffles] == list(flat.decks)
    for event in shuffles:
        assert sorted(event.order) == list(range(16))
        assert event.order != tuple(range(16))
        assert begun.state.decks[event.deck] == event.order


def test_the_highest_roll_begins() -> None:
    """TAB-SETUP-07: both dice of each seat; the highest sum moves first, then the seat to the left."""
    events = begun_with("tabletop", 3, *UNSHUFFLED, *UNSHUFFLED, 0, 0, 5, 4, 2, 2)
    rolls = [event for event in events if isinstance(event, DiceRolled)]
    assert [(event.seat, event.purpose, event.dice) for event in rolls] == [
        (0, "first_player", (1, 1)),
        (1, "first_player", (6, 5)),
        (2, "first_player", (3, 3)),
    ]
    assert [event.seat for event in events if isinstance(event, FirstPlayerChosen)] == [1]
    assert [event for event in events if isinstance(event, TurnStarted)] == [TurnStarted(1, 1, False)]
    game = tabletop(3).managing(1).end_turn(1)
    assert game.decision == ("roll", 2)
    assert game.managing(2).end_turn(2).decision == ("roll", 0)


@pytest.mark.parametrize("edition", ["tabletop", "online-classic", "rent-tax"])
def test_tied_highest_players_roll_again(edition: str) -> None:
    """TAB-SETUP-07: among themselves, until one is highest; in every edition."""
    decks = UNSHUFFLED * len(CATALOGUE.get(edition).decks)
    events = begun_with(edition, 4, *decks, 4, 4, 3, 5, 0, 0, 5, 3, 1, 1, 2, 2, 2, 2, 0, 3, 5, 0)
    rolls = [(event.seat, sum(event.dice)) for event in events if isinstance(event, DiceRolled)]
    assert rolls == [(0, 10), (1, 10), (2, 2), (3, 10), (0, 4), (1, 6), (3, 6), (1, 5), (3, 7)]
    assert [event.seat for event in events if isinstance(event, FirstPlayerChosen)] == [3]


@pytest.mark.parametrize("edition", FIVE)
def test_no_seat_is_the_banker(edition: str) -> None:
    """TAB-SETUP-08: at six players as at two, every seat plays and has the same rights."""
    for seats in (2, 6):
        game = a_game(seats, edition=edition)
        assert game.state.in_play == [True] * seats
        rights = {option.seat for option in game.options("surrender")}
        assert rights == set(range(seats))


def test_what_the_bank_does() -> None:
    """TAB-SETUP-09: it holds deeds and buildings, pays salaries and bonuses, lends, collects, and runs the auctions."""
    game = tabletop().at(0, 35).owning(1, 37).top_cards("chest", "clerk_mistake")
    assert set(game.state.owners) == {BANK, 1}
    game.turn_of(0).roll(0, 3, 4)
    assert game.money() == [(BANK, 0, 200, "salary"), (BANK, 0, 200, "card")]
    game.do(1, c.Mortgage(37))
    assert game.money() == [(BANK, 1, 175, "mortgage")]
    game.managing(1).do(1, c.Redeem(37))
    assert game.money() == [(1, BANK, 193, "redemption")]
    assert tabletop().at(0, 1).turn_of(0).roll(0, 1, 2).money() == [(0, BANK, 200, "tax")]
    auction = tabletop().at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    assert auction.decision == ("auction_bid", 1)


@pytest.mark.parametrize("edition", FIVE)
def test_the_bank_has_no_balance(edition: str) -> None:
    """TAB-SETUP-10: it pays on and on; nothing in the state could run out but houses and hotels."""
    game = a_table(edition, 2)
    salary = game.edition.salary
    for _ in range(50):
        game.with_cash(0, 10**9).at(0, 39).owning(0, *game.edition.board.deeds).turn_of(0).roll(0, 1, 3)
        assert (BANK, 0, salary, "salary") in game.money()
    assert game.supply == (32, 12)


def test_what_lies_in_the_bank_is_open_to_all() -> None:
    """TAB-SETUP-11: deeds, houses and hotels of the bank are numbers in every view of the state."""
    game = tabletop().owning(0, 1).owning_group(1, "navy", 5, 4)
    assert game.state.owners.count(BANK) - 12 == 25
    assert game.supply == (28, 11)


@pytest.mark.parametrize("edition", ["tabletop-short", "tabletop-timed"])
def test_two_deeds_are_dealt_to_each(edition: str) -> None:
    """TAB-SETUP-12: after the decks and the roll for the first player all 28 deeds are shuffled; one to each player in
    turn order from the first player, then a second to each."""
    still = tuple(range(27, 0, -1))
    events = begun_with(edition, 3, *UNSHUFFLED, *UNSHUFFLED, 0, 0, 5, 5, 0, 0, 0, *still[1:])
    order = [type(event).__name__ for event in events if not isinstance(event, MoneyMoved)]
    assert order[2:10] == [
        "DeckShuffled",
        "DeckShuffled",
        "DiceRolled",
        "DiceRolled",
        "DiceRolled",
        "FirstPlayerChosen",
        "DeckShuffled",
        "DeedDealt",
    ]
    (shuffled,) = [event for event in events if isinstance(event, DeckShuffled) and event.deck == DEEDS]
    assert sorted(shuffled.order) == list(range(28))
    # the only exchange put the last deed, 39, first
    dealt = [(event.seat, event.cell) for event in events if isinstance(event, DeedDealt)]
    assert dealt == [(1, 39), (2, 3), (0, 5), (1, 6), (2, 8), (0, 9)]


@pytest.mark.parametrize("edition", ["tabletop-short", "tabletop-timed"])
def test_dealt_deeds_are_paid_for(edition: str) -> None:
    """TAB-SETUP-13: the printed price of both to the bank at once; the dearest pair costs 750."""
    game = a_game(2, edition=edition)
    assert game.money()[2:] == [
        (0, BANK, 60, "deal"),
        (1, BANK, 60, "deal"),
        (0, BANK, 200, "deal"),
        (1, BANK, 100, "deal"),
    ]
    assert game.state.cash == [1240, 1340]
    assert [game.owner(cell) for cell in (1, 3, 5, 6)] == [0, 1, 0, 1]
    prices = sorted(game.edition.board.price[cell] for cell in game.edition.board.deeds)
    assert sum(prices[-2:]) == 750 < game.edition.start_cash


def test_the_short_game_differs_in_three_things() -> None:
    """TAB-SETUP-14: the deal, the hotel after three houses, and the end with what it leaves."""
    long, short = CATALOGUE.get("tabletop"), CATALOGUE.get("tabletop-short")
    names = {name for name in long.__slots__ if getattr(long, name) != getattr(short, name)}
    assert names - {"id", "names", "statements"} == {
        "deal_deeds",
        "deal_price",
        "houses_under_hotel",
        "bankruptcy_limit",
        "estate_to_player",
        "estate_to_bank",
    }
    assert short.estate_to_player.usual == long.estate_to_player.usual
    assert short.estate_to_bank.usual == long.estate_to_bank.usual


def test_the_time_of_the_end_is_agreed_before() -> None:
    """TAB-SETUP-15: 90 minutes, or what the table names, from 30 to 240; it belongs to the start of the game."""
    assert a_game(2, edition="tabletop-timed").edition.time_limit_min == 90
    for minutes in (30, 240):
        game = a_game(2, edition="tabletop-timed", overrides={"time_limit_min": minutes})
        assert game.edition.time_limit_min == minutes
        assert game.state.config.overrides == (("time_limit_min", str(minutes)),)
    for wrong in (29, 241, 0, "never"):
        with pytest.raises(OverrideError):
            a_game(2, edition="tabletop-timed", overrides={"time_limit_min": wrong})


def test_the_companies_of_rent_tax() -> None:
    """TAB-SETUP-16: 28 companies in ten industries, each of which can be developed; one deck, six Chance cells, two tax
    cells, four corners."""
    board = rent_tax().edition.board
    assert [len(cells) for cells in board.group_cells.values()] == [2, 2, 3, 3, 4, 4, 3, 2, 3, 2]
    assert board.streets == board.deeds
    assert all(board.build_cost[cell] > 0 for cell in board.deeds)
    assert [board.kind.count(kind) for kind in ("card", "tax", "start", "jail", "free", "goto_jail")] == [
        6,
        2,
        1,
        1,
        1,
        1,
    ]
    assert {board.deck_of[cell] for cell in range(40) if board.kind[cell] == "card"} == {"chance"}


@pytest.mark.parametrize("edition", FIVE)
def test_the_position_at_the_start(edition: str) -> None:
    """TAB-SETUP-17: nothing owned but what was dealt, no mortgage, no building, nobody in jail."""
    state = a_game(4, edition=edition).state
    dealt = 8 if edition in TABLETOPS[1:] else 0
    assert sum(owner != BANK for owner in state.owners) == dealt
    assert state.levels == [0] * 40
    assert state.mortgaged_rounds == [0] * 40
    assert state.jail_tries == [NONE] * 4
    assert state.release_cards == [()] * 4
    assert (state.round, state.ended) == (1, "")
