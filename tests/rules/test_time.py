"""Deadlines: how long they are, for whom they run, and what their expiry does."""

from dataclasses import replace

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import AuctionClosed, BidderPassed, DeadlineLifted, DeadlineSet, MoneyMoved
from services.rules.domain.moves.asking import budget_ms
from services.rules.domain.parameters import PaymentClock
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import DeadlineKind, Seating
from tests.support.scenario import Game, a_game


def declined(seats: int = 3, seating: Seating = "people", grace_ms: int = 0) -> Game:
    """Seat 0 has declined cell 3 (price 60, first bid 45) and is asked first."""
    return a_game(seats, seating, grace_ms=grace_ms).turn_of(0).roll(0, 1, 2).do(0, c.Decline())


def situations() -> dict[str, Game]:
    """Each decision that has the five minutes."""
    return {
        "roll": a_game(3).turn_of(0),
        "inspection": a_game(3).in_jail(0).turn_of(0),
        "purchase": a_game(3).turn_of(0).roll(0, 1, 2),
        "manage": a_game(3).managing(0),
        "debt": a_game(3).with_cash(0, 10).owing(0, 50),
    }


@pytest.mark.parametrize("name", list(situations()))
def test_a_player_has_five_minutes_for_his_decision(name: str) -> None:
    """IND-TIME-01, IND-TIME-12: 300 seconds for a roll, a purchase, a debt, the inspection, and ending the turn."""
    game = situations()[name]
    kind = "payment" if name == "debt" else "turn"
    assert game.deadline == (kind, 300_000)


@pytest.mark.parametrize("name", list(situations()))
def test_whoever_misses_his_time_is_out(name: str) -> None:
    """IND-TIME-05, IND-TIME-06, IND-BANK-02: nothing is rolled, bought, bid or paid for him."""
    game = situations()[name].expire()
    assert game.now_ms == 300_000
    assert game.state.in_play == [False, True, True]
    assert {event.reason for event in game.events_of(MoneyMoved)} == {"estate"}
    assert not {"DiceRolled", "AuctionOpened", "TokenMoved", "BuildingsSold"} & set(game.event_names())
    assert game.decision == ("roll", 1)


def test_each_kind_of_deadline_has_a_budget_of_its_own() -> None:
    """IND-TIME-12, IND-TIME-01, IND-TIME-07, IND-TIME-08: milliseconds of the edition's seconds."""
    edition = replace(a_game(2).edition, turn_s=1, bid_s=3, lot_s=4, answer_s=5)
    edition = replace(edition, payment_s=PaymentClock(seconds=2, covered="own"))
    kinds: tuple[DeadlineKind, ...] = ("turn", "payment", "bid", "lot", "answer")
    assert [budget_ms(edition, kind) for kind in kinds] == [1000, 2000, 3000, 4000, 5000]


def test_the_time_runs_for_the_one_who_must_act() -> None:
    """IND-TIME-02: one deadline, and it belongs to the open decision."""
    game = a_game(3).turn_of(0).roll(0, 4, 6)
    for seat in (1, 2, 0):
        game.end_turn((seat + 2) % 3)
        assert len(game.state.deadlines) == 1
        assert game.decision == ("roll", seat)
        assert game.deadline == ("turn", 300_000)
        game.wait(1000).roll(seat, 4, 6)


def test_each_own_action_starts_the_time_again_in_full() -> None:
    """IND-TIME-03, IND-TIME-14: whatever was left, also after collapsing a building."""
    game = a_game(3).owning_group(0, "bakery", 1, 1, 1).turn_of(0)
    game.wait(299_999).do(0, c.SellBuildings((1,), 0))
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 300_000))
    game.wait(299_999).roll(0, 4, 6)
    assert game.deadline == ("turn", 300_000)
    game.wait(299_999).end_turn(0)
    assert game.deadline == ("turn", 300_000)


def test_a_refused_action_does_not_restart_the_time() -> None:
    """IND-TIME-14: only accepted actions count."""
    game = a_game(3).turn_of(0).wait(100_000)
    game.refused(0, c.EndTurn(), "wrong_decision", "IND-PHASE-01")
    assert game.deadline == ("turn", 200_000)


def test_the_full_time_comes_back_after_an_answer_of_another() -> None:
    """IND-TIME-14: each time a player becomes the actor of a decision."""
    game = a_game(3).owning(1, 5).managing(0).wait(250_000)
    game.do(0, c.OfferTrade(1, Basket(10), Basket(0, (5,)))).wait(59_000).do(1, c.RefuseTrade())
    assert game.deadline == ("turn", 300_000)


def test_an_action_is_in_time_strictly_before_the_deadline() -> None:
    """IND-TIME-15: the moment itself is too late."""
    game = a_game(3).turn_of(0).wait(300_000)
    game.refused(0, c.Roll(), "stale_deadline", "IND-TIME-15", {"late_ms": 0})
    game.wait(5).refused(0, c.Roll(), "stale_deadline", "IND-TIME-15", {"late_ms": 5})
    game = a_game(3).turn_of(0).wait(299_999).roll(0, 4, 6)
    assert game.decision == ("manage", 0)


def test_the_grace_belongs_to_the_deadline() -> None:
    """IND-TIME-15, IND-TIME-16: half a second more for the network; the expiry waits for it too."""
    game = a_game(3, grace_ms=500).turn_of(0)
    assert game.deadline == ("turn", 300_000)
    game.wait(300_499)
    refusal = game.refused(-1, c.Expire(game.state.deadlines[0].id), "not_due", "IND-TIME-16", {"left_ms": 1})
    assert refusal.rule == "expiry"
    game.wait(1).refused(0, c.Roll(), "stale_deadline", "IND-TIME-15", {"late_ms": 0})
    game.expire("turn")
    assert game.now_ms == 300_500
    a_game(3, grace_ms=500).turn_of(0).wait(300_499).roll(0, 4, 6)


def test_an_expiry_before_its_moment_is_ignored() -> None:
    """IND-TIME-16: there is play time left."""
    game = a_game(3).turn_of(0).wait(299_999)
    game.refused(-1, c.Expire(game.state.deadlines[0].id), "not_due", "IND-TIME-16", {"left_ms": 1})


def test_an_expiry_of_a_deadline_that_was_met_is_ignored() -> None:
    """IND-TIME-16: met, replaced or moved; a late one must not hit the next decision."""
    game = a_game(3).turn_of(0)
    old = game.state.deadlines[0].id
    game.roll(0, 4, 6).wait(400_000)
    game.refused(-1, c.Expire(old), "stale_deadline", "IND-TIME-16", {"deadline": old})
    game.refused(-1, c.Expire(0), "stale_deadline", "IND-TIME-16")
    game.refused(-1, c.Expire(99), "stale_deadline", "IND-TIME-16")
    game.expire("turn")
    game.refused(-1, c.Expire(old + 1), "stale_deadline", "IND-TIME-16")


def test_every_deadline_has_an_id_of_its_own() -> None:
    """IND-TIME-16: never used twice."""
    game = a_game(3).turn_of(0)
    seen = [game.state.deadlines[0].id]
    for seat in (0, 1, 2):
        game.roll(seat, 4, 6)
        seen += [event.deadline.id for event in game.events_of(DeadlineSet)]
        game.end_turn(seat)
        seen += [event.deadline.id for event in game.events_of(DeadlineSet)]
    assert len(set(seen)) == len(seen) == 7


def test_a_lot_without_a_bid_waits_sixty_seconds_in_all() -> None:
    """IND-TIME-08, IND-TIME-10, IND-TIME-13, IND-AUC-14: a pass does not restart it."""
    game = declined()
    assert game.deadline == ("lot", 60_000)
    game.wait(40_000).do(0, c.Pass())
    assert (game.decision, game.deadline) == (("auction_bid", 1), ("lot", 20_000))
    assert [deadline.kind for deadline in game.state.deadlines] == ["lot"]
    game.wait(19_999).do(1, c.Pass())
    assert game.deadline == ("lot", 1)
    game.expire("lot")
    assert game.now_ms == 60_000
    assert [(event.winner, event.outcome) for event in game.events_of(AuctionClosed)] == [(NONE, "cancelled")]
    assert (game.owner(3), game.state.in_play, game.money()) == (BANK, [True, True, True], [])
    assert game.decision == ("manage", 0)
    assert game.deadline == ("turn", 300_000)


def test_the_lot_is_cancelled_though_others_were_not_asked() -> None:
    """IND-TIME-13, IND-TIME-08: when the one who is asked lets it pass."""
    game = declined().expire("lot")
    assert game.events_of(BidderPassed) == []
    assert game.events_of(AuctionClosed)[0].outcome == "cancelled"


def test_the_first_bid_lifts_the_limit_of_the_lot() -> None:
    """IND-TIME-09, IND-TIME-12: from then on each has 60 seconds for his turn in the auction."""
    game = declined().wait(59_000)
    lot = game.state.deadlines[0].id
    game.do(0, c.Bid(45))
    assert game.events_of(DeadlineLifted) == [DeadlineLifted(lot)]
    assert game.deadline == ("bid", 60_000)
    game.wait(59_000).do(1, c.Bid(55))
    assert (game.decision, game.deadline) == (("auction_bid", 2), ("bid", 60_000))
    assert [deadline.kind for deadline in game.state.deadlines] == ["bid"]


def test_silence_in_an_auction_is_a_pass() -> None:
    """IND-TIME-07, IND-INV-17: no money is spent by the silent one, and he is not out."""
    game = declined(4).do(0, c.Bid(45)).expire("bid")
    assert game.events_of(BidderPassed) == [BidderPassed(1, "time")]
    assert (game.decision, game.money()) == (("auction_bid", 2), [])
    assert game.deadline == ("bid", 60_000)
    game.do(2, c.Pass()).expire("bid")
    assert game.money() == [(0, BANK, 45, "auction")]
    assert (game.owner(3), game.state.in_play) == (0, [True] * 4)


def test_a_bid_must_come_before_its_deadline() -> None:
    """IND-TIME-07, IND-TIME-15: within 60 seconds, the lot's before the first bid and the own after it."""
    game = declined().wait(60_000)
    game.refused(0, c.Bid(45), "stale_deadline", "IND-TIME-15", {"late_ms": 0})
    game = declined().wait(59_999).do(0, c.Bid(45)).wait(60_000)
    game.refused(1, c.Bid(55), "stale_deadline", "IND-TIME-15", {"late_ms": 0})
    game.expire("bid")
    assert game.decision == ("auction_bid", 2)


def test_an_answer_must_come_within_sixty_seconds() -> None:
    """IND-TIME-07, IND-TIME-12, IND-TRADE-16: silence means refusal."""
    game = a_game(3).owning(1, 5).managing(0).do(0, c.OfferTrade(1, Basket(10), Basket(0, (5,))))
    assert game.deadline == ("answer", 60_000)
    game.wait(60_000).refused(1, c.AcceptTrade(), "stale_deadline", "IND-TIME-15", {"late_ms": 0})
    game.expire("answer")
    assert (game.owner(5), game.money(), game.state.in_play) == (1, [], [True, True, True])


def test_at_bot_tables_only_the_lot_has_a_deadline() -> None:
    """IND-TIME-12, IND-TIME-10, IND-TRADE-21: the others stand in the online section."""
    game = a_game(3, "solo").owning(1, 5).turn_of(0)
    assert game.state.deadlines == ()
    game.roll(0, 1, 2)
    assert game.state.deadlines == ()
    game.do(0, c.Decline())
    assert game.deadline == ("lot", 60_000)
    game.do(0, c.Bid(45))
    assert game.state.deadlines == ()
    game.do(1, c.Pass()).do(2, c.Pass())
    assert game.state.deadlines == ()
    game.do(0, c.OfferTrade(1, Basket(10), Basket(0, (5,))))
    assert game.state.deadlines == ()
    game = a_game(3, "solo").with_cash(0, 10).owing(0, 50)
    assert game.state.deadlines == ()


def test_a_lot_at_a_bot_table_is_cancelled_after_sixty_seconds() -> None:
    """IND-TIME-10: the limit holds for every auction."""
    game = declined(3, "solo").wait(30_000).do(0, c.Pass()).expire("lot")
    assert (game.now_ms, game.decision, game.owner(3)) == (60_000, ("manage", 0), BANK)
    game = a_game(3, "solo").owning(0, 5).managing(0).do(0, c.OpenAuction(5, 100)).expire("lot")
    assert (game.now_ms, game.decision, game.owner(5)) == (60_000, ("manage", 0), 0)


def test_an_automatic_pass_uses_no_time() -> None:
    """IND-TIME-21, IND-AUC-09: it happens in the step that asks, and is no silence."""
    game = a_game(3).with_cash(1, 54).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).do(0, c.Bid(45))
    assert game.events_of(BidderPassed) == [BidderPassed(1, "no_money")]
    assert (game.decision, game.deadline) == (("auction_bid", 2), ("bid", 60_000))


def test_taking_what_is_due_and_covered_is_no_choice() -> None:
    """IND-TIME-22, IND-TIME-06, IND-DEBT-02: rent, tax and a covered debt are taken, nothing is sold for a player."""
    game = a_game(3).owning(1, 3).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(0, 1, 6, "rent")]
    game = (
        a_game(3).owning(1, 39).owning_group(0, "bakery", 1, 0, 0).with_cash(0, 60).at(0, 36).turn_of(0).roll(0, 1, 2)
    )
    assert game.decision == ("payment", 0)
    assert game.level(1) == 1
    game.expire("payment")
    assert [event.reason for event in game.events_of(MoneyMoved)] == ["estate"]


def test_a_missed_roll_of_a_double_loses_it() -> None:
    """IND-TIME-05, IND-TURN-10: the turn passes on at once."""
    game = a_game(3).turn_of(0).roll(0, 5, 5).end_turn(0)
    assert game.decision == ("roll", 0)
    game.expire("turn")
    assert game.decision == ("roll", 1)
