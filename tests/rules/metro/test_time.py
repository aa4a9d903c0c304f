"""Clocks (MET-TIME-01 to -06, -17)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import DeadlineSet, DeadlineStopped
from services.rules.domain.state import DeadlineKind
from tests.rules.metro.games import METRO, SPEED, both, drawing, metro, offer
from tests.support.scenario import Game

TURN_MS = {METRO: 75_000, SPEED: 45_000}


def clock_kinds(game: Game) -> list[DeadlineKind]:
    """Which deadlines are in force."""
    return [deadline.kind for deadline in game.state.deadlines]


def landed(edition: str = METRO, seats: int = 3) -> Game:
    """Seat 0 has thrown 1 and 2 after 10 seconds of its turn and may buy cell 3."""
    return metro(seats, edition).turn_of(0).roll(0, 1, 2, after_ms=10_000)


@both
def test_a_turn_has_75_or_45_seconds(edition: str) -> None:
    """MET-TIME-01: exactly, free or in jail."""
    assert metro(2, edition).deadline == ("turn", TURN_MS[edition])
    assert metro(2, edition).in_jail(0).turn_of(0).deadline == ("turn", TURN_MS[edition])


@both
def test_the_clock_is_shared_by_the_decisions_of_a_segment(edition: str) -> None:
    """MET-TIME-02: it goes on from the throw to the purchase, and selling or mortgaging does not restart it."""
    game = metro(2, edition).owning(0, 5).turn_of(0).do(0, c.Mortgage(5), after_ms=5_000)
    assert game.deadline == ("turn", TURN_MS[edition] - 5_000)
    game.roll(0, 1, 2, after_ms=10_000)
    assert (game.decision, game.deadline) == (("purchase", 0), ("turn", TURN_MS[edition] - 15_000))
    assert not game.events_of(DeadlineSet)


@both
def test_an_extra_throw_has_a_full_clock(edition: str) -> None:
    """MET-TIME-02: of its own."""
    game = metro(2, edition).turn_of(0).roll(0, 3, 3, after_ms=30_000).do(0, c.Buy(), after_ms=9_000)
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[edition]))
    assert clock_kinds(game) == ["turn"]


@both
def test_an_extra_throw_has_a_full_clock_after_a_payment_too(edition: str) -> None:
    """MET-TIME-02, MET-TIME-03: what was left when the payment opened belongs to the old segment."""
    game = metro(2, edition).owning(1, 6).turn_of(0).roll(0, 3, 3, after_ms=40_000).do(0, c.Pay())
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[edition]))


@both
def test_the_turn_clock_stands_in_an_auction(edition: str) -> None:
    """MET-TIME-03: and then goes on with exactly what was left; only the step's clock runs."""
    game = metro(2, edition).in_round(7).at(0, 10).turn_of(0)
    game.roll(0, 1, 2, third=5 * (edition == SPEED), after_ms=10_000).do(0, c.Decline(), after_ms=7_000)
    assert clock_kinds(game) == ["bid"]
    assert [event.left_ms for event in game.events_of(DeadlineStopped)] == [TURN_MS[edition] - 17_000]
    game.expire("bid").expire("bid")
    if edition == SPEED:
        # the X move leads to another purchase of the same segment
        assert (game.decision, game.deadline) == (("purchase", 0), ("turn", 45_000 - 17_000))
    else:
        assert (game.decision, game.deadline) == (("roll", 1), ("turn", 75_000))


@both
def test_the_turn_clock_stands_during_an_offer(edition: str) -> None:
    """MET-TIME-03: the partner's 30 seconds are not the maker's."""
    game = metro(2, edition).owning(1, 5).turn_of(0).do(0, offer(1, 2000, cells=(5,)), after_ms=12_345)
    assert (clock_kinds(game), game.deadline) == (["answer"], ("answer", 30_000))
    game.do(1, c.RefuseTrade(), after_ms=29_999)
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", TURN_MS[edition] - 12_345))


def test_the_turn_clock_stands_during_payments() -> None:
    """MET-TIME-03: the player's own, and those of others."""
    game = metro(2, SPEED).in_round(7).owning(1, 3).turn_of(0).roll(0, 1, 2, third=5, after_ms=20_000)
    assert (game.decision, clock_kinds(game)) == (("payment", 0), ["payment"])
    game.do(0, c.Pay(), after_ms=70_000)
    # the X move
    assert (game.decision, game.deadline) == (("purchase", 0), ("turn", 25_000))
    game = drawing("yard_concert", 3, SPEED).in_round(7).turn_of(0).roll(0, 1, 3, third=3, after_ms=20_000)
    assert (game.decision, clock_kinds(game)) == (("payment", 1), ["payment"])


def test_the_turn_clock_goes_on_after_payments_of_others() -> None:
    """MET-TIME-03: with exactly what was left."""
    game = metro(3, SPEED).in_round(7).top_cards("chance", "yard_concert").at(0, 2).turn_of(0)
    game.roll(0, 2, 3, third=5, after_ms=20_000).do(1, c.Pay(), after_ms=74_000).do(2, c.Pay(), after_ms=74_000)
    # the X move leads from 7 to 8
    assert (game.position(0), game.decision, game.deadline) == (8, ("purchase", 0), ("turn", 25_000))


@both
def test_a_payment_has_75_seconds(edition: str) -> None:
    """MET-TIME-04, MET-TIME-05: in both modes, however little of the turn was left."""
    game = metro(2, edition).owning(1, 3).turn_of(0).roll(0, 1, 2, after_ms=TURN_MS[edition] - 1)
    assert game.deadline == ("payment", 75_000)


def test_the_payment_clock_does_not_restart() -> None:
    """MET-TIME-05: selling and mortgaging go on its time; an offer stops it, and then it goes on with what was left."""
    game = metro(2).owning(1, 39).owning(0, 5).owning_group(0, "brown", 1, 0).at(0, 36).turn_of(0).roll(0, 1, 2)
    game.do(0, c.Mortgage(5), after_ms=10_000)
    assert game.deadline == ("payment", 65_000)
    game.do(0, c.SellBuildings((1,), 0), after_ms=10_000)
    assert game.deadline == ("payment", 55_000)
    game.do(0, offer(1, 0, (1,), cash=600), after_ms=5_000)
    assert (clock_kinds(game), game.deadline) == (["answer"], ("answer", 30_000))
    game.do(1, c.RefuseTrade(), after_ms=25_000)
    assert (game.decision, game.deadline) == (("payment", 0), ("payment", 50_000))
    game.expire("payment")
    assert game.now_ms == 10_000 + 10_000 + 5_000 + 25_000 + 50_000


def test_each_payer_of_a_card_has_a_clock_of_his_own() -> None:
    """MET-TIME-05: nothing is carried over from the payer before."""
    game = drawing("yard_concert", 3).roll(0, 3, 4).do(1, c.Pay(), after_ms=60_000)
    assert (game.decision, game.deadline) == (("payment", 2), ("payment", 75_000))


@both
def test_at_zero_it_is_too_late(edition: str) -> None:
    """MET-TIME-01, MET-TIME-06: the last millisecond is the one before."""
    game = metro(2, edition).turn_of(0).wait(TURN_MS[edition])
    game.refused(0, c.Roll(), "stale_deadline", "MET-TIME-12", {"late_ms": 0})
    game = metro(2, edition).turn_of(0).roll(0, 1, 2, after_ms=TURN_MS[edition] - 1)
    assert game.decision == ("purchase", 0)


@both
def test_an_expiry_before_its_time_changes_nothing(edition: str) -> None:
    """MET-TIME-01: one millisecond is left."""
    game = metro(2, edition).turn_of(0).wait(TURN_MS[edition] - 1)
    game.refused(-1, c.Expire(game.state.deadlines[0].id), "not_due", "MET-TIME-13", {"left_ms": 1})


@both
def test_time_up_skips_the_turn_or_plays_the_decision(edition: str) -> None:
    """MET-TIME-06: a throw is skipped, a purchase declined, a payment paid."""
    game = metro(2, edition).turn_of(0).expire("turn")
    assert (game.decision, game.position(0)) == (("roll", 1), 0)
    game = landed(edition).expire("turn")
    assert game.decision == ("auction_bid", 1)
    game = metro(2, edition).owning(1, 3).turn_of(0).roll(0, 1, 2).expire("payment")
    assert (game.money(), game.decision) == ([(0, 1, 40, "rent")], ("roll", 1))


def test_a_command_for_a_closed_decision_is_refused() -> None:
    """MET-TIME-12: without effect."""
    game = metro(2).turn_of(0)
    assert game.state.decision is not None
    old = game.state.decision.id
    game.roll(0, 1, 2)
    game.refused(0, c.Roll(), "stale_decision", "MET-TIME-12", decision_id=old)
    game.refused(0, c.Roll(), "stale_decision", "MET-TIME-12", decision_id=old + 2)


@both
@pytest.mark.parametrize("action", [c.AskPause(), c.VotePause(True), c.ConfirmReturn()])
def test_there_is_no_pause_by_agreement(edition: str, action: c.Action) -> None:
    """MET-TIME-17: nobody can ask for one, vote on it, or end it."""
    game = metro(2, edition).turn_of(0)
    assert not {"ask_pause", "vote_pause", "confirm_return"} & game.option_kinds()
    game.refused(0, action, "wrong_decision", "MET-TURN-01")


def test_an_offer_made_within_the_grace_leaves_nothing() -> None:
    """MET-TIME-03: the clock goes on with exactly what was left, here 0: the turn is skipped after the answer."""
    game = metro(2, grace_ms=500).owning(1, 5).turn_of(0).do(0, offer(1, 2000, cells=(5,)), after_ms=75_400)
    assert [event.left_ms for event in game.events_of(DeadlineStopped)] == [0]
    game.do(1, c.RefuseTrade())
    assert game.decision == ("roll", 1)
