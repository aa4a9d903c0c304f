"""How games of metro, brands and the tabletop editions begin (MET-SETUP, BRA-SETUP, TAB-SETUP)."""

from collections import Counter
from typing import TypeVar

import pytest

from services.rules.domain import chance
from services.rules.domain import commands as c
from services.rules.domain.decide import advance
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    DeckShuffled,
    DeedDealt,
    DiceRolled,
    Event,
    FirstPlayerChosen,
    MoneyMoved,
    TokenMoved,
    TurnStarted,
)
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Advance
from services.rules.domain.state import SeatKind, SeatSetup, State
from services.rules.domain.view import state_from_view, view
from services.rules.editions.loader import load_catalogue

CATALOGUE = load_catalogue()
MIXED_IDS = [edition.id for edition in CATALOGUE.newest() if "mixed" in edition.seating]
TABLETOP_IDS = ["tabletop", "tabletop-short", "tabletop-timed", "online-classic", "rent-tax"]

E = TypeVar("E", bound=Event)


def edition_of(edition_id: str) -> Edition:
    return CATALOGUE.get(edition_id).at("mixed")


def seats_of(edition: Edition, count: int, kind: SeatKind = "person") -> tuple[SeatSetup, ...]:
    """`count` seats (within what the edition seats), in the teams of the edition."""
    count = max(edition.seats.least, min(count, edition.seats.most))
    return tuple(SeatSetup(kind, seat % 2 if edition.teams else seat) for seat in range(count))


def scripted(edition_id: str, count: int, *draws: int) -> Advance:
    """A new game whose draws are given."""
    edition = edition_of(edition_id)
    setup = Setup("mixed", seats_of(edition, count), bytes(32), algorithm=chance.SCRIPT, script=draws)
    return begin(edition, setup, 0)


def seeded(edition_id: str, count: int, seed: int = 1, kind: SeatKind = "person") -> Advance:
    edition = edition_of(edition_id)
    return begin(edition, Setup("mixed", seats_of(edition, count, kind), seed.to_bytes(32, "big")), 0)


def of(kind: type[E], events: tuple[Event, ...]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def as_filed(size: int) -> tuple[int, ...]:
    """Draws of a shuffle that leaves `size` things in their order."""
    return tuple(range(size - 1, 0, -1))


def roll(edition: Edition, state: State, now_ms: int = 0) -> Advance:
    assert state.decision is not None
    result = advance(edition, state, c.Command(state.decision.seats[0], state.decision.id, c.Roll()), now_ms)
    assert isinstance(result, Advance)
    return result


@pytest.mark.parametrize("edition_id", ["metro", "metro-speed"])
def test_metro_everybody_starts_on_cell_0_and_goes_up(edition_id: str) -> None:
    """MET-SETUP-08: from 0 by rising number, and from 39 to 0."""
    begun = scripted(edition_id, 3, 0, 2, 4, 2, 4)
    assert begun.state.position == [0, 0, 0]
    first = roll(edition_of(edition_id), begun.state)
    moved = of(TokenMoved, first.events)
    assert (moved[0].from_cell, moved[0].to_cell, first.state.position[0]) == (0, 8, 8)
    state = scripted(edition_id, 3, 0, 2, 4).state
    state.position[0] = 35
    assert roll(edition_of(edition_id), state).state.position[0] == (35 + 8) % 40


@pytest.mark.parametrize("edition_id", ["metro", "metro-speed", "brands", "brands-fast", "brands-teams"])
def test_the_first_player_is_drawn_from_all_seats(edition_id: str) -> None:
    """MET-SETUP-10, -11 and BRA-SETUP-10: each seat with the same chance, bots too; turns then go by seat."""
    edition = edition_of(edition_id)
    count = len(seats_of(edition, 4))
    starters = Counter(seeded(edition_id, 4, seed, "bot").state.first_seat for seed in range(200))
    assert set(starters) == set(range(count))
    assert min(starters.values()) > 25
    begun = seeded(edition_id, 4)
    assert of(FirstPlayerChosen, begun.events) == [FirstPlayerChosen(begun.state.first_seat, 1)]
    assert of(TurnStarted, begun.events) == [TurnStarted(begun.state.first_seat, 1, False)]


def next_turns(edition_id: str, first: int, leaver: int = NONE) -> list[tuple[int, int]]:
    """(seat, round) of the first turns at a table of three in which time runs out without a roll, or with one."""
    edition = edition_of(edition_id)
    shuffle = as_filed(20) if edition.deck_cycle != "file_order" else ()
    state = scripted(edition_id, 3, first, *shuffle, *[0, 2] * 30).state
    found = [(state.turn_seat, state.round)]
    now_ms = 0
    while len(found) < 7:
        for seat in range(3):
            state.position[seat], state.strikes[seat] = 16, 0
            state.owners[20] = BANK
        if leaver != NONE and len(found) == 2 and state.in_play[leaver]:
            result = advance(edition, state, c.Command(leaver, 0, c.Surrender()), now_ms)
        else:
            assert state.decision is not None
            decision = state.decision
            action: c.Action = c.Roll() if decision.kind == "roll" else c.Decline()
            result = advance(edition, state, c.Command(decision.seats[0], decision.id, action), now_ms)
        assert isinstance(result, Advance), result
        found += [(event.seat, event.round) for event in of(TurnStarted, result.events)]
        state = result.state
    return found


@pytest.mark.parametrize("edition_id", ["metro", "brands"])
def test_a_round_is_one_lap_of_turns(edition_id: str) -> None:
    """MET-SETUP-12 and BRA-SETUP-11: places count from the first player and do not shift when somebody leaves."""
    assert next_turns(edition_id, 1) == [(1, 1), (2, 1), (0, 1), (1, 2), (2, 2), (0, 2), (1, 3)]
    assert next_turns(edition_id, 1, leaver=1) == [(1, 1), (2, 1), (0, 1), (2, 2), (0, 2), (2, 3), (0, 3)]


def test_metro_draws_the_first_player_and_dice_only() -> None:
    """MET-SETUP-14: one draw for the first player, then white 1, white 2 (and the third); each stands in its event."""
    begun = scripted("metro", 2, 1, 4, 0)
    assert begun.state.draws == 1
    rolled = roll(edition_of("metro"), begun.state)
    assert [(event.dice, event.third) for event in of(DiceRolled, rolled.events)] == [((5, 1), 0)]
    assert rolled.state.draws == 3
    begun = scripted("metro-speed", 2, 0, 4, 0, 1)
    begun.state.round = 7
    rolled = roll(edition_of("metro-speed"), begun.state)
    assert [(event.dice, event.third) for event in of(DiceRolled, rolled.events)] == [((5, 1), 2)]
    assert rolled.state.draws == 4


def test_the_deck_of_metro_starts_at_card_1() -> None:
    """MET-SETUP-15: never shuffled, so that everybody knows its order from the edition; a look ahead uses it."""
    for seed in range(3):
        begun = seeded("metro", 2, seed)
        assert of(DeckShuffled, begun.events) == []
        assert begun.state.decks == {"chance": tuple(range(16))}
        assert state_from_view(edition_of("metro"), view(begun.state), bytes(8)).decks == begun.state.decks
    assert edition_of("metro").decks["chance"][0].key == "ripe_deposit"


def test_the_board_of_the_brawl_is_dealt_out() -> None:
    """BRA-SETUP-08, -09: singly in turn order from the first player, 9 to each, free of charge; one stays unowned."""
    edition = edition_of("brands-brawl")
    order = as_filed(28)
    begun = scripted("brands-brawl", 3, 2, *as_filed(21), *order)
    dealt = of(DeedDealt, begun.events)
    assert [event.seat for event in dealt] == [2, 0, 1] * 9
    assert [event.cell for event in dealt] == list(edition.board.deeds[:27])
    assert begun.state.owners[39] == BANK
    assert begun.state.cash == [25000] * 3
    assert Counter(begun.state.owners[cell] for cell in edition.board.deeds) == {0: 9, 1: 9, 2: 9, BANK: 1}


def test_draws_of_brands_come_in_the_stated_order() -> None:
    """BRA-SETUP-13: first player, decks, deal; white 1, white 2; each outcome is in the event that used it."""
    begun = scripted("brands-brawl", 3, 0, *as_filed(21), *as_filed(28), 5, 3)
    kinds = [type(event) for event in begun.events if isinstance(event, FirstPlayerChosen | DeckShuffled | DeedDealt)]
    assert kinds[:3] == [FirstPlayerChosen, DeckShuffled, DeckShuffled]
    assert (kinds[3:], begun.state.draws) == ([DeedDealt] * 27, 1 + 20 + 27)
    rolled = roll(edition_of("brands-brawl"), begun.state)
    assert [event.dice for event in of(DiceRolled, rolled.events)] == [(6, 4)]
    assert begun.state.jackpot == 0


@pytest.mark.parametrize("edition_id", MIXED_IDS)
def test_money_of_the_start_is_one_sum_for_each(edition_id: str) -> None:
    """MET-SETUP-09, BRA-SETUP-04, TAB-SETUP-03, -04: one whole number, moved once, no notes."""
    begun = seeded(edition_id, 4)
    count = len(begun.state.cash)
    paid = [event for event in of(MoneyMoved, begun.events) if event.reason == "start_cash"]
    start = edition_of(edition_id).start_cash
    assert paid == [MoneyMoved(BANK, seat, start, "start_cash") for seat in range(count)]


@pytest.mark.parametrize("edition_id", TABLETOP_IDS)
def test_tokens_start_on_cell_0(edition_id: str) -> None:
    """TAB-SETUP-05: every seat has a token of its own, and all stand on Start."""
    begun = seeded(edition_id, 8)
    assert begun.state.position == [0] * 8


@pytest.mark.parametrize("edition_id", TABLETOP_IDS)
def test_each_deck_is_shuffled_apart(edition_id: str) -> None:
    """TAB-SETUP-06: every deck by itself, whole; the order of a deck is secret."""
    begun = seeded(edition_id, 3)
    shuffles = [event for event in of(DeckShuffled, begun.events) if event.deck != "deeds"]
    assert [event.deck for event in shuffles] == list(edition_of(edition_id).decks)
    assert all(sorted(event.order) == list(range(16)) for event in shuffles)
    assert len({event.order for event in shuffles} | {tuple(range(16))}) == len(shuffles) + 1
    assert all(order != begun.state.decks[deck] for deck, order in view(begun.state).decks.items())


def test_the_highest_roll_begins() -> None:
    """TAB-SETUP-07: all roll; those who tie at the top roll again among themselves; the next seat follows."""
    shuffles = (*as_filed(16), *as_filed(16))
    begun = scripted("tabletop", 3, *shuffles, 5, 2, 0, 0, 3, 4, 1, 1, 2, 1)
    rolls = [(event.seat, event.purpose, event.dice) for event in of(DiceRolled, begun.events)]
    assert rolls == [
        (0, "first_player", (6, 3)),
        (1, "first_player", (1, 1)),
        (2, "first_player", (4, 5)),
        (0, "first_player", (2, 2)),
        (2, "first_player", (3, 2)),
    ]
    assert (begun.state.first_seat, begun.state.turn_seat, begun.state.doubles) == (2, 2, 0)


@pytest.mark.parametrize("edition_id", TABLETOP_IDS)
@pytest.mark.parametrize("count", [2, 6, 8])
def test_the_server_is_the_banker(edition_id: str, count: int) -> None:
    """TAB-SETUP-08, -09, -10: no seat is the bank, which holds all deeds and pieces and has no cash to run out of."""
    begun = seeded(edition_id, count)
    state = begun.state
    assert BANK not in range(count)
    dealt = edition_of(edition_id).deal_deeds * count
    assert sum(owner == BANK for owner in state.owners) == 40 - dealt
    assert (state.supply_houses, state.supply_hotels) == (32, 12)
    assert len(state.cash) == count


def test_what_the_bank_holds_is_shown_to_all() -> None:
    """TAB-SETUP-11: deeds and pieces in the bank are in the view of everybody."""
    state = seeded("tabletop", 2).state
    seen = view(state)
    assert (seen.owners, seen.supply_houses, seen.supply_hotels) == (state.owners, 32, 12)


@pytest.mark.parametrize("edition_id", ["tabletop-short", "tabletop-timed"])
def test_two_deeds_are_dealt_and_paid_for(edition_id: str) -> None:
    """TAB-SETUP-12, -13: after the roll, singly from the first player, twice round, all 28 shuffled, at their price."""
    edition = edition_of(edition_id)
    begun = scripted(edition_id, 3, *as_filed(16), *as_filed(16), 0, 0, 5, 5, 1, 2, *as_filed(28))
    names = [type(event).__name__ for event in begun.events]
    assert names.index("FirstPlayerChosen") < names.index("DeedDealt")
    assert [event.deck for event in of(DeckShuffled, begun.events)] == ["chance", "chest", "deeds"]
    dealt = [(event.seat, event.cell) for event in of(DeedDealt, begun.events)]
    assert dealt == [(1, 1), (2, 3), (0, 5), (1, 6), (2, 8), (0, 9)]
    prices = [event for event in of(MoneyMoved, begun.events) if event.reason == "deal"]
    assert prices == [MoneyMoved(seat, BANK, edition.board.price[cell], "deal", cell) for seat, cell in dealt]
    assert begun.state.cash == [1500 - 200 - 120, 1500 - 60 - 100, 1500 - 60 - 100]


@pytest.mark.parametrize("edition_id", TABLETOP_IDS)
def test_nothing_is_owned_built_or_mortgaged_at_the_start(edition_id: str) -> None:
    """TAB-SETUP-17: nobody owns anything but what was dealt, and nobody is in jail."""
    state = seeded(edition_id, 4).state
    assert sum(owner != BANK for owner in state.owners) == edition_of(edition_id).deal_deeds * 4
    assert (state.levels, state.mortgaged_rounds) == ([0] * 40, [0] * 40)
    assert (state.jail_tries, state.release_cards) == ([NONE] * 4, [()] * 4)
