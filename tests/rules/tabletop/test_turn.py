"""Turns and dice (TAB-TURN, TAB-DICE)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.decide import advance
from services.rules.domain.events import DiceRolled, Event, Jailed, TokenMoved, TurnEnded, TurnStarted
from services.rules.domain.evolve import fold
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import SeatSetup, State
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, online, rent_tax, tabletop
from tests.support.positions import CATALOGUE, SEED


@pytest.mark.parametrize("edition", FIVE)
@pytest.mark.parametrize("dice", [(1, 2), (6, 5), (3, 4)])
def test_the_token_moves_by_the_sum(edition: str, dice: tuple[int, int]) -> None:
    """TAB-TURN-01, TAB-MOVE-02: forward, one cell for each pip."""
    game = a_table(edition).owning(0, *a_table(edition).edition.board.deeds).at(0, 8).turn_of(0).roll(0, *dice)
    (moved,) = game.events_of(TokenMoved)
    assert moved == TokenMoved(0, 8, 8 + sum(dice), "dice", False)
    assert game.position(0) == 8 + sum(dice)


def test_what_a_cell_may_lead_to() -> None:
    """TAB-TURN-02: buying, rent, tax, card, jail, rest, salary."""
    assert tabletop().at(0, 36).turn_of(0).roll(0, 1, 2).decision == ("purchase", 0)
    assert tabletop().at(0, 36).owning(1, 39).turn_of(0).roll(0, 1, 2).money() == [(0, 1, 50, "rent")]
    assert tabletop().at(0, 1).turn_of(0).roll(0, 1, 2).money() == [(0, BANK, 200, "tax")]
    card = tabletop().at(0, 4).top_cards("chance", "deposit_interest").turn_of(0).roll(0, 1, 2)
    assert card.money() == [(BANK, 0, 50, "card")]
    assert tabletop().at(0, 27).turn_of(0).roll(0, 1, 2).events_of(Jailed) == [Jailed(0, "cell")]
    assert tabletop().at(0, 17).turn_of(0).roll(0, 1, 2).money() == []
    assert tabletop().at(0, 37).turn_of(0).roll(0, 1, 2).money() == [(BANK, 0, 200, "salary")]


@pytest.mark.parametrize("edition", FIVE)
def test_tokens_share_a_cell(edition: str) -> None:
    """TAB-TURN-03: any number."""
    game = a_table(edition, 8)
    for seat in range(1, 8):
        game.at(seat, 20)
    game.at(0, 17).turn_of(0).roll(0, 1, 2)
    assert game.state.position == [20] * 8
    assert game.money() == []


@pytest.mark.parametrize("edition", FIVE)
def test_a_double_rolls_again_after_its_cell(edition: str) -> None:
    """TAB-TURN-04: the cell first, then the same seat rolls; the right is always used."""
    game = a_table(edition).at(0, 35).turn_of(0).roll(0, 1, 1)
    assert game.decision == ("purchase", 0)
    game.do(0, c.Buy())
    assert game.decision == ("roll", 0)
    assert game.state.doubles == 1
    game.refused(0, c.EndTurn(), "wrong_decision", "TAB-TURN-01")
    game.roll(0, 1, 2)
    assert game.state.doubles == 0
    assert game.decision in (("manage", 0), ("roll", 1), ("purchase", 0))


def test_the_extra_roll_lapses_in_jail_and_in_bankruptcy() -> None:
    """TAB-TURN-04, -06: it is gone with the turn."""
    game = tabletop().at(0, 28).turn_of(0).roll(0, 1, 1)
    assert game.events_of(Jailed) == [Jailed(0, "cell")]
    assert (game.decision, game.state.extra_owed) == (("roll", 1), False)
    game = tabletop().at(0, 2).with_cash(0, 10).turn_of(0).roll(0, 1, 1).do(0, c.DeclareBankruptcy())
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize("edition", FIVE)
def test_the_third_double_in_a_row_jails_at_once(edition: str) -> None:
    """TAB-TURN-05, -06, TAB-JAIL-01: the roll moves nothing, pays no salary and settles no cell; the turn is over."""
    game = a_table(edition).at(0, 38).doubles(2).turn_of(0).doubles(2).roll(0, 2, 2)
    assert game.events_of(TokenMoved) == []
    assert game.money() == []
    assert game.events_of(Jailed) == [Jailed(0, "doubles")]
    assert (game.position(0), game.jail_tries(0)) == (10, 0)
    assert game.decision == ("roll", 1)
    assert game.events_of(TurnEnded) == [TurnEnded(0, "done")]


def test_three_doubles_from_the_first_roll_on() -> None:
    """TAB-TURN-05, TAB-DICE-04: the first two move, the third jails."""
    game = tabletop().owning(0, *tabletop().edition.board.deeds).at(0, 1).turn_of(0)
    game.roll(0, 2, 2).roll(0, 3, 3)
    assert (game.position(0), game.decision) == (11, ("roll", 0))
    game.roll(0, 1, 1)
    assert (game.position(0), game.decision) == (10, ("roll", 1))


def test_two_doubles_do_not_jail() -> None:
    """TAB-TURN-05: the third roll that is no double is an ordinary one."""
    game = tabletop().owning(0, *tabletop().edition.board.deeds).at(0, 1).turn_of(0)
    game.roll(0, 2, 2).roll(0, 3, 3).roll(0, 1, 2)
    assert (game.position(0), game.decision) == (14, ("manage", 0))


@pytest.mark.parametrize("edition", TABLETOPS)
def test_the_end_of_a_turn(edition: str) -> None:
    """TAB-TURN-07: after the last roll one may still build, sell, mortgage, redeem and deal; then `end_turn`."""
    game = a_table(edition).owning_group(0, "navy", 1, 1).owning(0, 5, 15).mortgaged(15).at(0, 17).turn_of(0)
    game.roll(0, 1, 2)
    assert game.decision == ("manage", 0)
    assert game.deadline == ("turn", 90_000)
    own = {option.kind for option in game.own_options(0)}
    assert own == {"end_turn", "build", "redeem", "sell_buildings", "mortgage", "offer_trade", "surrender"}
    game.end_turn(0)
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize("edition", TABLETOPS)
def test_no_end_after_a_double(edition: str) -> None:
    """TAB-TURN-07, TAB-PHASE-01: the same actions are open before the next roll."""
    game = a_table(edition).owning_group(0, "navy", 1, 1).owning(0, 5, 15).mortgaged(15).at(0, 18).turn_of(0)
    game.roll(0, 1, 1)
    assert game.decision == ("roll", 0)
    own = {option.kind for option in game.own_options(0)}
    assert own == {"roll", "build", "redeem", "sell_buildings", "mortgage", "offer_trade", "surrender"}


def test_the_end_of_a_turn_closes_by_its_deadline() -> None:
    """TAB-TURN-07: time does what `end_turn` does."""
    game = tabletop().managing(0).expire("turn")
    assert game.events_of(TurnEnded) == [TurnEnded(0, "done")]
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize("edition", ["online-classic", "rent-tax"])
def test_turns_that_pass_by_themselves(edition: str) -> None:
    """TAB-TURN-08: no decision at the end of a turn."""
    game = a_table(edition).at(0, 17).turn_of(0).roll(0, 1, 2)
    assert game.events_of(TurnEnded) == [TurnEnded(0, "done")]
    assert game.decision == ("roll", 1)
    game = a_table(edition).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Buy())
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize("edition", FIVE)
def test_bankrupt_seats_are_skipped(edition: str) -> None:
    """TAB-TURN-09: the next solvent seat in seat order."""
    game = a_table(edition, 5).out(1, 2).at(0, 17).turn_of(0).roll(0, 1, 2)
    if game.decision == ("manage", 0):
        game.end_turn(0)
    assert game.decision == ("roll", 3)
    assert game.events_of(TurnStarted) == [TurnStarted(3, 1, False)]


@pytest.mark.parametrize("edition", FIVE)
def test_two_dice_with_six_sides(edition: str) -> None:
    """TAB-DICE-01: every move is by two, in rent-tax too; all 36 results come up."""
    flat = CATALOGUE.get(edition).at("mixed")
    seats = tuple(SeatSetup("person", seat) for seat in range(2))
    thrown = set()
    for number in range(40):
        begun = begin(flat, Setup("mixed", seats, bytes([number]) * 16), 0)
        rolls = [event for event in begun.events if isinstance(event, DiceRolled)]
        thrown |= {die for event in rolls for die in event.dice}
        assert all((len(event.dice), event.third) == (2, 0) for event in rolls)
        moved = advance(flat, begun.state, command_of(begun.state, c.Roll()), 0)
        assert not isinstance(moved, Refusal)
        (roll,) = [event for event in moved.events if isinstance(event, DiceRolled) and event.purpose == "move"]
        assert (len(roll.dice), roll.third) == (2, 0)
        thrown |= set(roll.dice)
    assert thrown == {1, 2, 3, 4, 5, 6}


def command_of(state: State, action: c.Action) -> c.Command:
    """The command of who is asked."""
    assert state.decision is not None
    return c.Command(state.decision.seats[0], state.decision.id, action)


def played(edition: str, rounds: int) -> tuple[State, list[Event]]:
    """A game of people who buy what they can and roll, by the seeded generator."""
    flat = CATALOGUE.get(edition).at("mixed")
    begun = begin(flat, Setup("mixed", tuple(SeatSetup("person", seat) for seat in range(3)), SEED), 0)
    state, events = begun.state, list(begun.events)
    choices: dict[str, c.Action] = {
        "roll": c.Roll(),
        "purchase": c.Buy(),
        "manage": c.EndTurn(),
        "auction_bid": c.Pass(),
        "payment": c.Pay(),
    }
    for _ in range(rounds):
        assert state.decision is not None
        result = advance(flat, state, command_of(state, choices[state.decision.kind]), 0)
        if isinstance(result, Refusal):
            result = advance(flat, state, command_of(state, c.Decline()), 0)
        assert not isinstance(result, Refusal)
        state, events = result.state, events + list(result.events)
    return state, events


@pytest.mark.parametrize("edition", FIVE)
def test_the_seed_and_the_commands_or_the_log_alone_reproduce_the_game(edition: str) -> None:
    """TAB-DICE-02, TAB-INV-14: shuffles, the roll for the first player, dealt deeds and dice are in the log."""
    flat = CATALOGUE.get(edition).at("mixed")
    state, events = played(edition, 30)
    again, same = played(edition, 30)
    assert (state, events) == (again, same)
    assert fold(flat, State(), events) == state
    assert state.draws > 15


def test_a_roll_for_rent_is_no_double() -> None:
    """TAB-DICE-03: neither an extra roll nor part of three."""
    game = tabletop().owning(1, 12).top_cards("chance", "nearest_utility").at(0, 4).turn_of(0)
    game.roll(0, 1, 2, 4, 4)
    assert [(roll.purpose, roll.dice) for roll in game.events_of(DiceRolled)] == [("move", (1, 2)), ("utility", (5, 5))]
    assert (game.decision, game.state.doubles) == (("manage", 0), 0)
    game = online().owning(1, 12).at(0, 10).doubles(1).turn_of(0).doubles(1).roll(0, 1, 1, 2, 2)
    assert game.decision == ("roll", 0)
    assert game.state.doubles == 2


def test_the_roll_for_the_first_player_is_no_double() -> None:
    """TAB-DICE-03: the first player begins with two equal dice, and has no double yet."""
    game = tabletop()
    assert game.state.doubles == 0
    assert game.owning(0, 3).roll(0, 1, 2).decision == ("manage", 0)


@pytest.mark.parametrize("edition", FIVE)
def test_the_count_of_doubles_begins_anew_in_each_turn(edition: str) -> None:
    """TAB-DICE-04: two doubles of an earlier turn do not count."""
    game = a_table(edition, 2).doubles(2).at(0, 18).turn_of(0).doubles(2).roll(0, 1, 2)
    if game.decision == ("purchase", 0):
        game.do(0, c.Buy())
    if game.decision == ("manage", 0):
        game.end_turn(0)
    assert (game.decision, game.state.doubles) == (("roll", 1), 0)
    game.at(1, 18).roll(1, 1, 1)
    assert game.jail_tries(1) == NONE
    assert game.state.doubles == 1


def test_in_rent_tax_doubles_roll_again() -> None:
    """TAB-TURN-04, TAB-DICE-01: the text speaks of doubles."""
    assert rent_tax().at(0, 18).turn_of(0).roll(0, 1, 1).decision == ("roll", 0)
