"""Pauses by consent (BRA-TIME-08 to -12)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import (
    DeadlineSet,
    DeadlineStopped,
    PauseAsked,
    PauseEnded,
    PauseStarted,
    PauseVoted,
    ReturnConfirmed,
    SeatOut,
)
from services.rules.domain.moves.timing import game_ms
from services.rules.domain.parties import BANK
from tests.rules.brands.games import (
    BRANDS,
    CASINO,
    FAST,
    INCOME_TAX,
    JAIL,
    MINUTE_MS,
    TURN_MS,
    brands,
    every_mode,
    in_minute,
    offer,
    pass_turn,
)
from tests.support.scenario import Game


def agree(game: Game, *others: int, asker: int = 0, after_ms: int = 0) -> Game:
    """A pause that the others agree to."""
    game.do(asker, c.AskPause(), after_ms=after_ms)
    for seat in others:
        game.do(seat, c.VotePause(True))
    return game


def resume(game: Game, *seats: int, after_ms: int = 0) -> Game:
    """All confirm, and the countdown runs out."""
    game.wait(after_ms)
    for seat in seats:
        game.do(seat, c.ConfirmReturn())
    return game.expire("countdown")


@every_mode
def test_all_must_agree(edition: str) -> None:
    """BRA-TIME-08, BRA-TIME-10: asking counts as agreeing, and the last yes starts the pause."""
    game = brands(edition).turn_of(0).do(1, c.AskPause())
    assert game.events_of(PauseAsked) == [PauseAsked(1, 0)]
    assert game.decision == ("roll", 0)
    others = [seat for seat in range(len(game.state.cash)) if seat != 1]
    for seat in others[:-1]:
        game.do(seat, c.VotePause(True))
        assert game.decision == ("roll", 0)
    game.do(others[-1], c.VotePause(True))
    assert game.events_of(PauseStarted) == [PauseStarted(0)]
    assert game.state.decision is not None
    assert (game.state.decision.kind, game.asked_seats) == ("paused", tuple(range(len(game.state.cash))))


@pytest.mark.parametrize("ms", [29_999, 30_000])
def test_30_seconds_to_agree(ms: int) -> None:
    """BRA-TIME-08: no answer is a no."""
    game = brands().turn_of(0).do(0, c.AskPause()).do(1, c.VotePause(True))
    (vote,) = [item for item in game.state.deadlines if item.kind == "pause_vote"]
    assert vote.budget_ms == 30_000
    if ms < 30_000:
        game.do(2, c.VotePause(True), after_ms=ms)
        assert game.decision == ("paused", 0)
    else:
        game.expire("pause_vote")
        assert (game.now_ms, game.state.vote, game.decision) == (30_000, None, ("roll", 0))
        assert game.events_of(PauseVoted) == [PauseVoted(2, False, 30_000)]


def test_a_single_no_ends_the_vote() -> None:
    """BRA-TIME-10: at once; those who have voted cannot vote again."""
    game = brands().turn_of(0).do(0, c.AskPause())
    game.refused(0, c.VotePause(True), "already_asked", "BRA-TIME-08")
    game.do(1, c.VotePause(False))
    assert (game.state.vote, game.decision) == (None, ("roll", 0))
    assert [item.kind for item in game.state.deadlines] == ["turn"]
    game.refused(2, c.VotePause(True), "wrong_decision", "BRA-TIME-08")


def test_clocks_run_on_during_the_vote() -> None:
    """BRA-TIME-10: they stop with the last yes, and the game can be played meanwhile."""
    game = brands().at(0, 7).turn_of(0).do(0, c.AskPause(), after_ms=10_000).do(1, c.VotePause(True), after_ms=10_000)
    assert game.deadline == ("turn", 55_000)
    game.roll(0, 1, 2, after_ms=5000)
    assert game.decision == ("roll", 1)
    game.do(2, c.VotePause(True), after_ms=4000)
    assert [event.left_ms for event in game.events_of(DeadlineStopped)] == [71_000]
    resume(game, 0, 1, 2, after_ms=100_000)
    assert (game.decision, game.deadline) == (("roll", 1), ("turn", 71_000))


@every_mode
def test_going_on(edition: str) -> None:
    """BRA-TIME-09, BRA-TIME-10: each confirms, then a countdown of 5 seconds; then exactly what was left."""
    game = brands(edition).turn_of(0)
    seats = range(len(game.state.cash))
    agree(game, *seats[1:], after_ms=12_345)
    for seat in reversed(seats):
        game.refused(seat, c.Roll(), "table_paused", "BRA-TIME-08")
        game.do(seat, c.ConfirmReturn(), after_ms=60_000)
        assert game.events_of(ReturnConfirmed) == [ReturnConfirmed(seat)]
    assert (game.decision, game.deadline) == (("paused", 0), ("countdown", 5000))
    game.expire("countdown")
    assert game.events_of(PauseEnded) == [PauseEnded(60_000 * len(seats) + 5000)]
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[edition] - 12_345))


def test_confirming_twice_or_too_early() -> None:
    """BRA-TIME-09: once each, and only in a pause."""
    game = brands().turn_of(0)
    game.refused(0, c.ConfirmReturn(), "wrong_decision", "BRA-TURN-01")
    agree(game, 1, 2).do(1, c.ConfirmReturn())
    game.refused(1, c.ConfirmReturn(), "already_asked", "BRA-TIME-08")
    assert {option.seat for option in game.options("confirm_return")} == {0, 2}
    game.do(0, c.ConfirmReturn()).do(2, c.ConfirmReturn())
    game.refused(0, c.ConfirmReturn(), "wrong_decision", "BRA-TIME-08")


def test_bots_agree_and_confirm_at_once() -> None:
    """BRA-TIME-10: only people are waited for."""
    game = brands(BRANDS, kinds=("person", "bot", "person", "bot")).turn_of(1).do(0, c.AskPause())
    assert game.events_of(PauseVoted) == [PauseVoted(1, True, 0), PauseVoted(3, True, 0)]
    game.do(2, c.VotePause(True))
    assert game.events_of(ReturnConfirmed) == [ReturnConfirmed(1), ReturnConfirmed(3)]
    game.do(2, c.ConfirmReturn()).do(0, c.ConfirmReturn()).expire("countdown")
    assert game.decision == ("roll", 1)


def paused_over(what: str) -> Game:
    """A game about to be paused 10 seconds into a phase."""
    game = brands(FAST).in_round(8)
    rich = game.owning(0, 37).owning(1, 34)
    made = {
        "purchase": lambda: rich.landing(0, 39),
        "casino": lambda: rich.landing(0, CASINO),
        "pay": lambda: rich.landing(0, INCOME_TAX),
        "debt": lambda: rich.with_cash(0, 1999).landing(0, INCOME_TAX),
        "bus": lambda: rich.turn_of(0).roll(0, 1, 2, third=4),
        "teleport": lambda: rich.turn_of(0).roll(0, 1, 1, third=1),
        "trade": lambda: rich.turn_of(0).do(0, offer(1, 0, (37,), for_cells=(34,))),
        "auction": lambda: rich.landing(0, 39).do(0, c.Decline()),
        "jail": lambda: rich.in_jail(0).turn_of(0),
    }
    return made[what]()


@pytest.mark.parametrize("what", ["purchase", "casino", "pay", "debt", "bus", "teleport", "trade", "auction", "jail"])
def test_every_phase_goes_on_as_it_was(what: str) -> None:
    """BRA-TIME-10: the same decision, with exactly what was left."""
    game = paused_over(what)
    assert game.deadline is not None
    decision, (kind, left_ms) = game.decision, game.deadline
    resume(agree(game, 1, 2, after_ms=10_000), 0, 1, 2, after_ms=20 * MINUTE_MS)
    assert (game.decision, game.deadline) == (decision, (kind, left_ms - 10_000))


def test_an_auction_goes_on_with_the_same_bidder() -> None:
    """BRA-TIME-10: after a bid, too; the next one has a full time of his own."""
    game = brands().landing(0, 39).do(0, c.Decline()).do(1, c.Bid(4000))
    resume(agree(game, 1, 2, after_ms=15_000), 0, 1, 2)
    assert (game.decision, game.deadline) == (("auction_bid", 2), ("bid", 5000))
    game.do(2, c.Bid(4100))
    assert (game.decision, game.deadline) == (("auction_bid", 1), ("bid", 20_000))


@every_mode
def test_the_game_clock(edition: str) -> None:
    """BRA-TIME-11: it starts with the first turn and stands from the last yes to the end of the countdown."""
    game = brands(edition).turn_of(0)
    seats = range(len(game.state.cash))
    assert game_ms(game.state, 0) == 0
    agree(game, *seats[1:], after_ms=30_000)
    assert game_ms(game.state, game.now_ms + 40_000) == 30_000
    resume(game, *seats, after_ms=10 * MINUTE_MS)
    assert (game.now_ms, game_ms(game.state, game.now_ms)) == (30_000 + 10 * MINUTE_MS + 5000, 30_000)


def test_a_pause_neither_ends_the_salary_nor_brings_on_the_tax() -> None:
    """BRA-TIME-11: their minutes are the game clock's."""
    game = in_minute(brands(), 45).at(0, 38).turn_of(0)
    resume(agree(game, 1, 2), 0, 1, 2, after_ms=20 * MINUTE_MS).roll(0, 1, 2)
    assert game.money() == [(BANK, 0, 2000, "salary")]
    game = in_minute(brands(), 60).owning(1, 39).at(0, 36).turn_of(0)
    resume(agree(game, 1, 2), 0, 1, 2, after_ms=20 * MINUTE_MS).roll(0, 1, 2).do(0, c.Pay())
    assert game.money() == [(0, 1, 500, "rent")]


def test_one_vote_at_a_time() -> None:
    """BRA-TIME-12: and none during a pause."""
    game = brands().turn_of(0).do(0, c.AskPause())
    game.refused(1, c.AskPause(), "already_asked", "BRA-TIME-08")
    game.do(1, c.VotePause(True)).do(2, c.VotePause(True))
    game.refused(1, c.AskPause(), "table_paused", "BRA-TIME-08")


@pytest.mark.parametrize(("ms", "legal"), [(119_999, False), (120_000, True)])
def test_asking_again(ms: int, legal: bool) -> None:
    """BRA-TIME-12: 120 seconds after the vote failed; others may ask at once."""
    game = brands().turn_of(0).do(0, c.AskPause()).do(1, c.VotePause(False), after_ms=10_000)
    game.wait(ms).turn_of(0)
    if legal:
        assert game.do(0, c.AskPause()).state.vote is not None
    else:
        game.refused(0, c.AskPause(), "ask_later", "BRA-TIME-12")
        assert game.do(2, c.AskPause()).state.vote is not None


def test_asking_again_after_a_pause() -> None:
    """BRA-TIME-12: only a failed vote makes one wait."""
    game = resume(agree(brands().turn_of(0), 1, 2), 0, 1, 2).do(0, c.AskPause())
    assert game.state.vote is not None


def test_surrender_during_a_pause() -> None:
    """BRA-TIME-12: possible; the others need not wait for the leaver, and the pause is no longer for it."""
    game = agree(brands().turn_of(0), 1, 2).do(1, c.Surrender(), after_ms=60_000)
    assert game.events_of(SeatOut) == [SeatOut(1, 3)]
    assert (game.decision, game.asked_seats, game.deadline) == (("paused", 0), (0, 2), ("pause_max", 29 * MINUTE_MS))
    resume(game, 0, 2)
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 75_000))
    game = agree(brands().turn_of(0), 1, 2).do(0, c.ConfirmReturn()).do(2, c.ConfirmReturn()).do(1, c.Surrender())
    assert game.deadline == ("countdown", 5000)
    game = agree(brands().turn_of(0), 1, 2).do(0, c.Surrender())
    assert resume(game, 1, 2).decision == ("roll", 1)


def test_surrender_when_the_longest_pause_is_just_over() -> None:
    """BRA-TIME-12, BRA-TIME-09: within the grace period no time is left to the others, and the countdown begins."""
    game = agree(brands(grace_ms=2000).turn_of(0), 1, 2).do(1, c.Surrender(), after_ms=30 * MINUTE_MS + 1000)
    assert [set_.deadline.budget_ms for set_ in game.events_of(DeadlineSet)] == [0, 5000]
    assert (game.asked_seats, game.deadline) == ((0, 2), ("countdown", 5000))


def test_surrender_of_an_asked_bidder_during_a_pause() -> None:
    """BRA-TIME-12, BRA-AUC-13: out after the auction; the next bidder has a full time."""
    game = agree(brands(BRANDS, 4).landing(0, 39).do(0, c.Decline()), 1, 2, 3, after_ms=15_000)
    game.do(1, c.Surrender())
    resume(game, 0, 2, 3)
    assert (game.decision, game.deadline) == (("auction_bid", 2), ("bid", 20_000))


def test_surrender_of_a_partner_during_a_pause() -> None:
    """BRA-TIME-12, BRA-BANK-12: the offer is void, and the next one has a full time to be answered."""
    game = agree(brands().turn_of(0).do(0, offer(1, 100, for_cash=100)), 1, 2, after_ms=20_000).do(1, c.Surrender())
    resume(game, 0, 2).do(0, offer(2, 100, for_cash=100))
    assert game.deadline == ("answer", 30_000)


def test_a_seat_that_leaves_during_a_vote() -> None:
    """BRA-TIME-08: all active players have agreed then."""
    game = brands().turn_of(0).do(0, c.AskPause()).do(1, c.VotePause(True)).do(2, c.Surrender())
    assert game.decision == ("paused", 0)


def test_the_longest_pause() -> None:
    """BRA-TIME-12: 30 minutes, then the countdown even without all confirmations."""
    game = agree(brands().turn_of(0), 1, 2, after_ms=5000)
    assert game.deadline == ("pause_max", 30 * MINUTE_MS)
    game.do(0, c.ConfirmReturn(), after_ms=MINUTE_MS).expire("pause_max")
    assert (game.decision, game.deadline) == (("paused", 0), ("countdown", 5000))
    game.expire("countdown")
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 70_000))
    assert game.events_of(PauseEnded) == [PauseEnded(30 * MINUTE_MS + 5000)]


def test_two_pauses() -> None:
    """BRA-TIME-11, BRA-TIME-12: a second one has all its time again."""
    game = agree(brands().turn_of(0), 1, 2).do(1, c.Surrender(), after_ms=MINUTE_MS)
    resume(game, 0, 2)
    agree(pass_turn(game, 0), 2)
    assert (game.position(0), game.deadline) == (JAIL, ("pause_max", 30 * MINUTE_MS))
    assert game.state.paused_ms == MINUTE_MS + 5000
