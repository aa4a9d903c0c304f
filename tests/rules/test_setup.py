"""How a game of the flagship edition begins (IND-SETUP)."""

from dataclasses import fields, replace

import pytest

from services.rules.domain import chance
from services.rules.domain import commands as c
from services.rules.domain.edition import Edition
from services.rules.domain.events import DeckShuffled, DiceRolled, FirstPlayerChosen, SeedDrawn, TripRemembered
from services.rules.domain.evolve import evolve
from services.rules.domain.new_game import Setup, SetupError, begin
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import Config, Seating, SeatKind, SeatSetup, State
from tests.support.positions import CATALOGUE, SEED, seat_kinds
from tests.support.scenario import a_game

INDUSTRY = CATALOGUE.get("industry")


def setup_of(seating: Seating, *kinds: SeatKind) -> Setup:
    """A table with these seats."""
    return Setup(seating, tuple(SeatSetup(kind, seat) for seat, kind in enumerate(kinds)), SEED)


def test_the_aim_is_to_be_the_last_who_is_not_bankrupt() -> None:
    """IND-SETUP-06: the game goes on while two are in play, and the last one wins."""
    game = a_game(3).with_cash(0, 0).owing(0, 100)
    game.do(0, c.DeclareBankruptcy())
    assert (game.state.ended, game.decision) == ("", ("roll", 1))
    game.with_cash(1, 0).owing(1, 100).do(1, c.DeclareBankruptcy())
    assert game.state.ended == "last_left"
    assert [(place.seat, place.place) for place in game.state.places] == [(2, 1), (1, 2), (0, 3)]


def test_neither_rounds_nor_time_end_a_game() -> None:
    """IND-SETUP-07: after 100,000 rounds and a year of play time the next player is asked as ever."""
    game = a_game(2, "solo").in_round(100_000).managing(1)
    game.wait(365 * 24 * 3600 * 1000).end_turn(1)
    assert (game.state.ended, game.decision, game.state.round) == ("", ("roll", 0), 100_001)


@pytest.mark.parametrize("seats", [2, 6])
def test_everybody_starts_with_1500(seats: int) -> None:
    """IND-SETUP-08: 1500 from the bank to each."""
    game = a_game(seats)
    assert game.money() == [(BANK, seat, 1500, "start_cash") for seat in range(seats)]
    assert game.state.cash == [1500] * seats


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_a_bot_table_seats_two_to_six_and_the_person_begins(seats: int) -> None:
    """IND-SETUP-09: from 2 to 6 players, the person moves first; IND-SETUP-10: 1 to 5 bots beside the person."""
    game = a_game(seats, "solo")
    assert [setup.kind for setup in game.state.config.seats] == ["person", *["bot"] * (seats - 1)]
    assert game.decision == ("roll", 0)
    assert game.events_of(FirstPlayerChosen) == [FirstPlayerChosen(0, 0)]


@pytest.mark.parametrize("seats", [1, 7])
def test_no_table_seats_one_or_seven(seats: int) -> None:
    """IND-SETUP-09: fewer than 2 or more than 6 are no table."""
    for seating in INDUSTRY.seating:
        with pytest.raises(SetupError):
            begin(INDUSTRY.at(seating), setup_of(seating, *seat_kinds(seating, seats)), 0)


def test_the_person_sits_in_seat_0_of_a_bot_table() -> None:
    """IND-SETUP-10: the person elsewhere, a second person or no person is refused."""
    kinds: tuple[tuple[SeatKind, ...], ...] = (("bot", "person"), ("person", "person"), ("bot", "bot"))
    for seats in kinds:
        with pytest.raises(SetupError):
            begin(INDUSTRY.at("solo"), setup_of("solo", *seats), 0)
    with pytest.raises(SetupError):
        begin(INDUSTRY.at("people"), setup_of("people", "person", "bot"), 0)
    with pytest.raises(SetupError):
        begin(INDUSTRY.at("bots"), setup_of("people", "person", "person"), 0)


def test_tables_of_bots_alone_and_mixed_tables() -> None:
    """IND-SETUP-10: a demonstration has bots in every seat; where an edition mixes them, any seats fit."""
    assert [setup.kind for setup in a_game(2, "bots").state.config.seats] == ["bot", "bot"]
    with pytest.raises(SetupError):
        begin(INDUSTRY.at("bots"), setup_of("bots", "person", "bot"), 0)
    mixed = replace(INDUSTRY.at("people"), seating=("mixed",))
    tables: tuple[tuple[SeatKind, ...], ...] = (
        ("person", "bot"),
        ("bot", "person"),
        ("person", "person"),
        ("bot", "bot"),
    )
    for kinds in tables:
        assert begin(mixed, setup_of("mixed", *kinds), 0).state.cash == [1500, 1500]


def test_difficulty_is_unknown_to_the_rules() -> None:
    """IND-SETUP-11: nothing in a game's set-up or rules knows a difficulty; money and cards are the same everywhere."""
    names = {field.name for kind in (Setup, SeatSetup, Config, Edition) for field in fields(kind)}
    assert not [name for name in names if "difficult" in name]
    tables = [INDUSTRY.at(seating) for seating in INDUSTRY.seating]
    common = ("board", "decks", "start_cash", "salary", "jail_fine", "opening_bid", "bid_increment", "supply")
    for name in common:
        assert all(getattr(table, name) == getattr(INDUSTRY, name) for table in tables)


def test_dice_and_cards_do_not_depend_on_who_sits_at_the_table() -> None:
    """IND-SETUP-11: the same seed shuffles and rolls the same for weak and strong bots, that is for any seats alike."""
    games = []
    for _ in range(2):
        begun = begin(INDUSTRY.at("solo"), setup_of("solo", "person", "bot"), 0)
        games.append([event for event in begun.events if isinstance(event, DeckShuffled)])
    assert games[0] == games[1] != []


def test_the_position_at_the_start() -> None:
    """IND-SETUP-12: all on Start without salary, all free at level 0, the whole supply, no cards, no trip."""
    game = a_game(4)
    state = game.state
    assert state.position == [0] * 4
    assert "salary" not in [reason for _, _, _, reason in game.money()]
    assert (state.owners, state.levels) == ([BANK] * 40, [0] * 40)
    assert game.supply == (32, 12)
    assert (state.release_cards, state.trip_memory, state.jail_tries) == ([()] * 4, NONE, [NONE] * 4)
    assert (state.in_play, state.round, state.doubles, state.extra_owed) == ([True] * 4, 1, 0, False)
    assert (state.strikes, state.leaving, state.mortgaged_rounds) == ([0] * 4, [""] * 4, [0] * 40)


def test_decks_have_no_order_before_they_are_shuffled() -> None:
    """IND-SETUP-12, -15: the first event leaves them open; who never shuffles keeps the order of the file."""
    setup = setup_of("people", "person", "person")
    first = begin(INDUSTRY.at("people"), setup, 0).events[0]
    assert evolve(INDUSTRY.at("people"), State(), first).decks == {"market": (), "support": ()}
    unshuffled = replace(INDUSTRY.at("people"), deck_cycle="file_order")
    assert evolve(unshuffled, State(), first).decks == {"market": tuple(range(10)), "support": tuple(range(10))}
    begun = begin(unshuffled, setup, 0)
    assert not [event for event in begun.events if isinstance(event, DeckShuffled)]
    assert begun.state.draws == 1


def test_the_starter_of_an_online_table_is_drawn_and_order_is_by_seat() -> None:
    """IND-SETUP-13: the drawn seat starts, the journal says so, then ascending seats, wrapping round."""
    game = a_game(4, first=2)
    assert game.events_of(FirstPlayerChosen) == [FirstPlayerChosen(2, 1)]
    order = []
    for _ in range(5):
        assert game.decision is not None
        order.append(game.decision[1])
        game.managing(order[-1]).end_turn(order[-1])
    assert order == [2, 3, 0, 1, 2]


def test_every_seat_can_be_drawn_to_start() -> None:
    """IND-SETUP-13: over some seeds each seat of an online table starts, and the rolls wait for it."""
    starters = set()
    for number in range(40):
        setup = replace(setup_of("people", "person", "person", "person"), server_seed=number.to_bytes(32, "big"))
        state = begin(INDUSTRY.at("people"), setup, 0).state
        assert state.decision is not None
        assert state.decision.seats == (state.first_seat,)
        starters.add(state.first_seat)
    assert starters == {0, 1, 2}


def test_money_is_whole_and_never_below_0() -> None:
    """IND-SETUP-14: the odd first bid of 113 is whole; paying the last unit leaves 0; lacking one leaves all."""
    game = a_game(2).with_cash(0, 113).landing(0, "power_grid").do(0, c.Decline())
    game.do(0, c.Bid(113)).do(1, c.Pass())
    assert (game.cash(0), type(game.cash(0))) == (0, int)
    game = a_game(2).with_cash(0, 99).landing(0, "excise_duty")
    assert (game.cash(0), game.decision) == (99, ("payment", 0))


def test_the_bank_never_runs_out() -> None:
    """IND-SETUP-14: whatever the players hold, the bank pays."""
    game = a_game(2).cash_of_all(10**9, 10**9).at(0, 38).turn_of(0)
    game.roll(0, 1, 1)
    assert game.cash(0) == 10**9 + 200


def shuffled(draws: list[int]) -> tuple[int, ...]:
    """Numbers 0..9 shuffled as the statement says: for i = 9 down to 1, item i with item draw."""
    items = list(range(10))
    for i, drawn in zip(range(9, 0, -1), draws, strict=True):
        items[i], items[drawn] = items[drawn], items[i]
    return tuple(items)


def test_draws_come_in_the_stated_order() -> None:
    """IND-SETUP-15: starter, market, support, at each roll die 1 then die 2, then the index of a random trip."""
    market, support = [0, 5, 2, 6, 1, 3, 0, 2, 0], [8, 7, 0, 0, 5, 1, 3, 1, 1]
    script = (1, *market, *support, 4, 2, 38)
    setup = replace(setup_of("people", "person", "person", "person"), algorithm=chance.SCRIPT, script=script)
    begun = begin(INDUSTRY.at("people"), setup, 0)
    assert [event for event in begun.events if isinstance(event, FirstPlayerChosen)] == [FirstPlayerChosen(1, 1)]
    assert [event for event in begun.events if isinstance(event, DeckShuffled)] == [
        DeckShuffled("market", shuffled(market), 9),
        DeckShuffled("support", shuffled(support), 9),
    ]
    assert begun.state.draws == 19
    game = a_game(3, first=1)
    game.state = begun.state
    game.at(1, 39).top_cards("market", "unexpected_trip")
    game.do(1, c.Roll())
    assert [event.dice for event in game.events_of(DiceRolled)] == [(5, 3)]
    # from 7, 38 is the last of the 39 candidates 0..6, 8..39
    assert game.events_of(TripRemembered) == [TripRemembered(39)]
    assert game.state.draws == 22


def test_a_bot_table_draws_no_starter() -> None:
    """IND-SETUP-15: the starting seat is drawn online only."""
    assert (a_game(3, "solo").state.draws, a_game(3, "people").state.draws) == (18, 19)


@pytest.mark.parametrize(("value", "die"), [(0, 1), (5, 6)])
def test_a_die_is_a_draw_out_of_six(value: int, die: int) -> None:
    """IND-SETUP-15: values 0..5 are dice 1..6, and 6 is no value of a die."""
    game = a_game(2).upcoming_draws(value, 1)
    game.do(0, c.Roll())
    assert game.events_of(DiceRolled)[0].dice == (die, 2)
    with pytest.raises(chance.ChanceError):
        a_game(2).upcoming_draws(6, 1).do(0, c.Roll())
    with pytest.raises(chance.ChanceError):
        a_game(2).upcoming_draws(1, 6).do(0, c.Roll())


def test_a_starter_is_a_draw_out_of_the_seats() -> None:
    """IND-SETUP-15: with three seats the values are 0..2."""
    with pytest.raises(chance.ChanceError):
        a_game(3, first=3)


def hmac_config(seed: bytes = SEED) -> Config:
    """A configuration with the real generator."""
    return Config(algorithm=chance.HMAC_SHA256, game_seed=seed)


def first_number(number: int, attempt: int) -> int:
    """The generator's 64 bits, computed independently."""
    import hashlib
    import hmac

    digest = hmac.new(SEED, f"{number}:{attempt}".encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big")


def test_the_generator_is_named_in_the_state_and_its_values_are_fixed() -> None:
    """IND-SETUP-16: the algorithm's name stands in the state and gives the same values for ever."""
    state = begin(INDUSTRY.at("people"), setup_of("people", "person", "person"), 0).state
    assert state.config.algorithm == "hmac-sha256-v1"
    config = hmac_config()
    assert [chance.draw(config, number, 6) for number in range(12)] == [
        first_number(number, 0) % 6 for number in range(12)
    ]
    drawn = {chance.draw(config, number, 6) for number in range(200)}
    assert drawn == set(range(6))


def test_uniform_choice_rejects_the_biased_rest() -> None:
    """IND-SETUP-16: numbers from the last multiple of n on are drawn again, as one draw."""
    n = 2**63 + 1
    config = hmac_config()
    rejected = 0
    for number in range(40):
        attempt = 0
        while first_number(number, attempt) >= n:
            attempt += 1
        rejected += attempt
        assert chance.draw(config, number, n) == first_number(number, attempt)
    assert rejected > 10


def test_the_bound_of_rejection_itself_is_rejected() -> None:
    """IND-SETUP-16: a number equal to the last multiple of n belongs to the rest, and is drawn again."""
    config = hmac_config()
    number = next(number for number in range(40) if first_number(number, 0) > 2**63)
    n = first_number(number, 0)
    attempt = next(attempt for attempt in range(1, 40) if first_number(number, attempt) < n)
    assert chance.draw(config, number, n) == first_number(number, attempt)


def test_a_script_replaces_the_generator() -> None:
    """IND-SETUP-16: scripted values are used one after another; a script that runs out says so."""
    config = Config(algorithm=chance.SCRIPT, script=(3, 0))
    assert [chance.draw(config, number, 4) for number in (0, 1)] == [3, 0]
    with pytest.raises(chance.ChanceError, match="has 2 values, draw 3 was asked for"):
        chance.draw(config, 2, 4)
    with pytest.raises(chance.ChanceError):
        chance.draw(config, 0, 3)
    with pytest.raises(chance.ChanceError):
        chance.draw(replace(config, algorithm="dice"), 0, 4)


def test_the_seed_goes_into_the_log_before_anything_is_drawn() -> None:
    """IND-SETUP-15: all randomness comes from the one generator in the state."""
    begun = begin(INDUSTRY.at("people"), setup_of("people", "person", "person"), 0)
    assert begun.events[1] == SeedDrawn("hmac-sha256-v1", SEED)
    assert begun.state.config.game_seed == chance.game_seed(SEED, ["", ""])
    assert State().draws == 0
