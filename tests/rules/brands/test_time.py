"""Turn clock, debt timers and missed turns (BRA-TIME-01 to -07, -13)."""

from services.rules.domain import commands as c
from services.rules.domain.events import (
    Bankrupt,
    DeadlineStopped,
    DecisionClosed,
    DiceRolled,
    Leaving,
    StrikeCounted,
    StrikesCleared,
)
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.rules.brands.games import (
    BRANDS,
    CASINO,
    FAST,
    INCOME_TAX,
    TURN_MS,
    brands,
    drawing,
    every_mode,
    offer,
    pass_turn,
)
from tests.support.scenario import Game


@every_mode
def test_the_turn_clock(edition: str) -> None:
    """BRA-TIME-01, BRA-TIME-02: 75 or 45 seconds, of which clients do not show 15."""
    game = brands(edition).turn_of(0)
    assert game.deadline == ("turn", TURN_MS[edition])
    assert game.edition.turn_reserve_s == 15
    game = brands(edition).at(0, 7).turn_of(0).roll(0, 1, 2, after_ms=TURN_MS[edition] - 1)
    assert game.decision == ("roll", 1)
    late = brands(edition).turn_of(0).wait(TURN_MS[edition])
    late.refused(0, c.Roll(), "stale_deadline", "BRA-TIME-14", {"late_ms": 0})


def test_one_clock_for_a_segment() -> None:
    """BRA-TIME-03: shared by all decisions of the turn player, full again with each `roll` phase."""
    game = brands(FAST).in_round(8).at(0, 36).turn_of(0).roll(0, 2, 3, third=4, after_ms=10_000)
    assert (game.decision, game.deadline) == (("bus_choice", 0), ("turn", 35_000))
    game.do(0, c.ChooseMove("second"), after_ms=5000)
    assert (game.decision, game.deadline) == (("purchase", 0), ("turn", 30_000))
    game.do(0, c.Buy(), after_ms=5000)
    assert (game.decision, game.deadline) == (("roll", 1), ("turn", 45_000))


def test_actions_that_leave_a_decision_open_do_not_restart_the_clock() -> None:
    """BRA-TIME-03: building, mortgaging, paying the fine."""
    game = brands().owning_group(0, "drinks").owning(0, 5).in_jail(0).turn_of(0)
    game.do(0, c.Build((6,)), after_ms=10_000).do(0, c.Mortgage(5), after_ms=10_000)
    game.do(0, c.PayFine(), after_ms=10_000)
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 45_000))


def test_the_clock_stands_during_phases_with_their_own() -> None:
    """BRA-TIME-03: in `trade`, `auction` and `debt`, then it goes on with exactly what was left."""
    game = brands().turn_of(0).do(0, offer(1, 100, for_cash=100), after_ms=5000)
    assert [event.left_ms for event in game.events_of(DeadlineStopped)] == [70_000]
    assert [item.kind for item in game.state.deadlines] == ["answer"]
    game.do(1, c.RefuseTrade(), after_ms=29_000)
    assert game.deadline == ("turn", 70_000)
    game = brands(FAST).in_round(8).at(0, 36).turn_of(0).roll(0, 1, 2, third=5, after_ms=5000)
    game.do(0, c.Decline(), after_ms=5000)
    assert [item.kind for item in game.state.deadlines] == ["bid"]
    game.expire().expire()
    assert (game.decision, game.deadline) == (("purchase", 0), ("turn", 35_000))
    game = brands(FAST).in_round(8).owning(0, 39).with_cash(0, 0).at(0, 1).turn_of(0)
    game.roll(0, 1, 2, third=5, after_ms=5000)
    assert [item.kind for item in game.state.deadlines] == ["payment"]
    game.do(0, c.Mortgage(39), after_ms=30_000).do(0, c.Pay(), after_ms=25_000)
    assert (game.decision, game.deadline) == (("purchase", 0), ("turn", 40_000))


def test_debts_of_others_leave_the_clock_standing() -> None:
    """BRA-TIME-03: a jump after them goes on with what was left."""
    game = brands(FAST).in_round(8).top_cards("chance", "licence_fees").with_cash(1, 0).owning(1, 39).at(0, 4)
    game.turn_of(0).roll(0, 1, 2, third=5, after_ms=5000)
    assert game.decision == ("payment", 1)
    game.do(1, c.Mortgage(39)).do(1, c.Pay(), after_ms=50_000)
    assert (game.decision, game.deadline) == (("purchase", 0), ("turn", 40_000))


def test_the_timer_of_a_debt_runs_from_its_opening() -> None:
    """BRA-TIME-04: selling and mortgaging do not restart it; an offer or an own auction stops it."""
    game = brands().owning_group(0, "drinks", 1, 1, 1).owning(0, 39).with_cash(0, 0).landing(0, INCOME_TAX)
    game.do(0, c.SellBuildings((6,), 0), after_ms=20_000).do(0, c.Mortgage(39), after_ms=20_000)
    assert game.deadline == ("payment", 20_000)
    game.do(0, offer(1, 100, for_cash=100), after_ms=5000).do(1, c.RefuseTrade(), after_ms=25_000)
    assert game.deadline == ("payment", 15_000)
    game.do(0, c.Pay(), after_ms=14_999)
    assert game.decision == ("roll", 1)


@every_mode
def test_time_acts_for_the_player(edition: str) -> None:
    """BRA-TIME-05: declines a purchase, pays what is owed, takes the default, and counts a missed turn."""
    game = brands(edition).landing(0, 39).expire()
    assert (game.decision, game.events_of(StrikeCounted)) == (("auction_bid", 1), [StrikeCounted(0, 1)])
    game = brands(edition).landing(0, INCOME_TAX).expire()
    assert (game.money(), game.events_of(StrikeCounted)) == ([(0, BANK, 2000, "tax")], [StrikeCounted(0, 1)])
    game = brands(edition).landing(0, CASINO).expire()
    assert (game.decision, game.events_of(StrikeCounted)) == (("roll", 1), [StrikeCounted(0, 1)])
    assert game.events_of(DecisionClosed)[0].outcome == "default"


@every_mode
def test_three_missed_turns_are_bankruptcy(edition: str) -> None:
    """BRA-TIME-06, BRA-TIME-13: automatic, instead of the default."""
    game = brands(edition, 4 if edition == "brands-teams" else 3)
    for count in (1, 2):
        game.at(0, 7).turn_of(0).upcoming_dice((1, 2)).expire()
        assert game.events_of(StrikeCounted) == [StrikeCounted(0, count)]
        assert game.decision == ("roll", 1)
    game.turn_of(0).expire()
    assert game.events_of(StrikeCounted) == [StrikeCounted(0, 3)]
    assert game.events_of(Leaving) == [Leaving(0, "strikes")]
    assert game.events_of(DiceRolled) == []
    assert (game.state.in_play[0], game.decision) == (False, ("roll", 1))


def test_missed_at_most_once_per_turn() -> None:
    """BRA-TIME-07: several defaults in one turn are one missed turn, debt timers included."""
    game = brands().owning(0, 37, 39).with_cash(0, 100).at(0, 1).turn_of(0).upcoming_dice((1, 2)).expire()
    assert (game.decision, game.state.strikes[0]) == (("payment", 0), 1)
    game.expire()
    assert (game.decision, game.state.strikes[0]) == (("roll", 1), 1)
    assert game.events_of(StrikeCounted) == []
    game = brands().at(0, 6).turn_of(0).upcoming_dice((2, 2)).expire()
    assert (game.decision, game.state.strikes[0]) == (("roll", 0), 1)
    game.at(0, 7).upcoming_dice((1, 2)).expire()
    assert (game.decision, game.state.strikes[0]) == (("roll", 1), 1)


def test_an_own_debt_timer_counts_in_the_own_turn_only() -> None:
    """BRA-TIME-07: not in other players' turns."""
    game = brands().owning(0, 37).with_cash(0, 500).landing(0, INCOME_TAX).expire("payment")
    assert game.state.strikes[0] == 1
    game = drawing("licence_fees").owning(1, 39).with_cash(1, 0).roll(0, 3, 4).expire("payment")
    assert (game.state.strikes[1], game.events_of(StrikeCounted)) == (0, [])


def test_what_is_no_missed_turn() -> None:
    """BRA-TIME-07: automatic passes, expired offers and votes."""
    game = brands().landing(0, 39).do(0, c.Decline()).expire("bid").expire("bid")
    assert game.state.strikes == [0, 0, 0]
    game = brands().turn_of(0).do(0, offer(1, 100, for_cash=100)).expire("answer")
    assert game.state.strikes == [0, 0, 0]
    game = brands().turn_of(0).do(0, c.AskPause()).expire("pause_vote")
    assert game.state.strikes == [0, 0, 0]


def test_a_command_clears_the_count() -> None:
    """BRA-TIME-07: any accepted game command, also in others' turns; a refused one does not."""
    game = brands().with_strikes(0, 2).turn_of(0).roll(0, 3, 4)
    assert (game.state.strikes[0], game.events_of(StrikesCleared)) == (0, [StrikesCleared(0)])
    game = brands().with_strikes(1, 2).landing(0, 39).do(0, c.Decline()).do(1, c.Pass())
    assert game.state.strikes[1] == 0
    game = brands().with_strikes(1, 2).turn_of(0).do(0, offer(1, 100, for_cash=100)).do(1, c.RefuseTrade())
    assert game.state.strikes[1] == 0
    game = brands().with_strikes(0, 2).turn_of(0)
    game.refused(0, c.Build((6,)), "not_owner", "BRA-BUILD-01")
    assert game.state.strikes[0] == 2


def test_votes_and_confirmations_are_no_game_commands() -> None:
    """BRA-TIME-07: they clear nothing."""
    game = brands().turn_of(0)
    for seat in range(3):
        game.with_strikes(seat, 2)
    game.do(0, c.AskPause()).do(1, c.VotePause(True)).do(2, c.VotePause(True))
    for seat in range(3):
        game.do(seat, c.ConfirmReturn())
    assert game.state.strikes == [2, 2, 2]
    game = brands().with_strikes(1, 2).turn_of(0).do(0, c.AskPause()).do(1, c.VotePause(False))
    assert game.state.strikes[1] == 2


def test_missed_turns_in_a_row() -> None:
    """BRA-TIME-06: a turn that is played in between starts the count anew."""
    game = brands().with_strikes(0, 2)
    pass_turn(game.turn_of(0), 0)
    game.at(0, 7).turn_of(0).upcoming_dice((1, 2)).expire()
    assert game.state.strikes[0] == 1


def test_the_third_missed_turn_with_an_open_payment() -> None:
    """BRA-TIME-13: it is first settled, so that creditors do not suffer."""
    game = brands().with_strikes(0, 2).owning(1, 39).owning(0, 37).with_cash(0, 600).landing(0, 39).expire()
    assert game.money() == [(0, 1, 500, "rent"), (0, BANK, 100, "estate")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]
    game = brands().with_strikes(0, 2).owning(1, 39).owning(0, 37).with_cash(0, 100).landing(0, 39).expire()
    assert game.money() == [(BANK, 0, 1750, "mortgage"), (0, 1, 500, "rent"), (0, BANK, 1350, "estate")]


def test_the_third_missed_turn_over_a_debt_out_of_reach() -> None:
    """BRA-TIME-13, BRA-AUTO-07: a bankruptcy over that payment."""
    game = brands().with_strikes(0, 2).owning(1, 39).owning(0, 1).with_cash(0, 100).landing(0, 39).expire()
    assert game.money() == [(0, 1, 100, "estate")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, 1, "leaving")]
    assert game.owner(1) == 1


def test_bots_miss_no_turns() -> None:
    """BRA-TIME-07: a bot's default comes without a count, however often."""
    game = brands(BRANDS, kinds=("bot", "person", "person")).turn_of(0)
    for _ in range(4):
        game.at(0, 7).turn_of(0).upcoming_dice((1, 2)).expire()
        assert game.events_of(StrikeCounted) == []
    assert game.state.in_play[0]


def debts_of(game: Game) -> tuple[Claim, ...]:
    frame = game.state.agenda[-1]
    return getattr(frame, "claims", ())


def test_a_struck_out_seat_owes_what_it_owed() -> None:
    """BRA-TIME-13, BRA-DEBT-07: while others' payments to it go to the bank."""
    game = drawing("licence_fees", BRANDS, 4).owning(1, 39).with_cash(1, 0).roll(0, 3, 4)
    assert debts_of(game) == (Claim(0, 500),)
    game.do(0, c.Surrender())
    assert debts_of(game) == (Claim(BANK, 500),)
