"""Bankruptcy and surrender (MET-BANK)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import Bankrupt, DeedMoved, PaymentClosed, SeatOut, TradeClosed, TurnEnded
from services.rules.domain.parties import BANK
from tests.rules.metro.games import METRO, SPEED, both, drawing, metro, offer
from tests.support.scenario import Game


def owing_rent(cash: int, edition: str = METRO, seats: int = 3) -> Game:
    """Seat 0 has landed on the street 39 of seat 1, level 1 of a whole group: 2000 of rent; it has little cash."""
    return metro(seats, edition).owning_group(1, "blue", 1, 1).with_cash(0, cash).at(0, 36).turn_of(0)


@both
def test_bankruptcy_is_offered_only_out_of_reach(edition: str) -> None:
    """MET-BANK-01, MET-BANK-05: raisable below the sum of 2000; one unit decides."""
    # 1000 for the station, 300 for each brown street and 250 for the building there
    game = owing_rent(150, edition).owning(0, 5).owning_group(0, "brown", 1, 0).roll(0, 1, 2)
    game.refused(0, c.DeclareBankruptcy(), "within_reach", "MET-BANK-01")
    assert not game.options("declare_bankruptcy")
    game = owing_rent(149, edition).owning(0, 5).owning_group(0, "brown", 1, 0).roll(0, 1, 2)
    assert game.options("declare_bankruptcy")
    game.do(0, c.DeclareBankruptcy())
    assert game.events_of(Bankrupt) == [Bankrupt(0, 1, "declared")]


@both
def test_everything_is_liquidated_and_goes_to_the_creditor(edition: str) -> None:
    """MET-BANK-02, MET-BANK-05, MET-BANK-04: exactly raisable; the fields return bare, unmortgaged and unowned."""
    game = owing_rent(100, edition).owning(0, 5, 12).mortgaged(12).owning_group(0, "brown", 0, 1)
    # 100 + 1000 + 300 + 300 + 250
    game.building(1, 0).roll(0, 1, 2).do(0, c.DeclareBankruptcy())
    assert game.money() == [(BANK, 0, 1850, "liquidation"), (0, 1, 1950, "estate")]
    assert [move.cell for move in game.events_of(DeedMoved)] == [1, 3, 5, 12]
    assert {(move.from_party, move.to_party) for move in game.events_of(DeedMoved)} == {(0, BANK)}
    assert [game.owner(cell) for cell in (1, 3, 5, 12)] == [BANK] * 4
    assert (game.level(3), game.state.mortgaged_rounds[12]) == (0, 0)
    assert (game.cash(0), game.cash(1), game.state.in_play) == (0, 16950, [False, True, True])


def test_the_fields_can_be_bought_by_others() -> None:
    """MET-BANK-04: and the bankrupt is out of the game."""
    game = owing_rent(100).owning(0, 5).roll(0, 1, 2).do(0, c.DeclareBankruptcy())
    game.refused(0, c.Roll(), "seat_out", "MET-BANK-04")
    game.at(1, 1).roll(1, 1, 3)
    assert game.decision == ("purchase", 1)


@pytest.mark.parametrize(
    ("cash", "shares"),
    [(300, [(1, 100), (2, 100), (3, 100)]), (301, [(1, 101), (2, 100), (3, 100)]), (2, [(1, 1), (2, 1)])],
)
def test_creditors_share_in_proportion(cash: int, shares: list[tuple[int, int]]) -> None:
    """MET-BANK-03, MET-BANK-06: floor(proceeds × claim / claims), left-over units from the debtor's neighbour on."""
    game = drawing("round_of_tea", 4).with_cash(0, cash).roll(0, 3, 4).do(0, c.DeclareBankruptcy())
    assert game.money() == [(0, seat, amount, "estate") for seat, amount in shares]


def test_units_left_over_begin_with_the_neighbour() -> None:
    """MET-BANK-06: in seat order round the table; a claim that passed to the bank comes last."""
    game = drawing("round_of_tea", 4, METRO, 2).with_cash(2, 302).roll(2, 3, 4).do(2, c.DeclareBankruptcy())
    assert game.money() == [(2, 3, 101, "estate"), (2, 0, 101, "estate"), (2, 1, 100, "estate")]
    game = drawing("round_of_tea", 4, METRO, 2).with_cash(2, 302).roll(2, 3, 4).do(3, c.Surrender())
    game.do(2, c.DeclareBankruptcy())
    assert game.money() == [(2, 0, 101, "estate"), (2, 1, 101, "estate"), (2, BANK, 100, "estate")]


@both
def test_a_bankrupt_toward_the_bank(edition: str) -> None:
    """MET-BANK-02, MET-BANK-04: all cash to the bank; nothing needs to be liquidated for it."""
    game = metro(3, edition).with_cash(0, 700).owning(0, 5).at(0, 1).turn_of(0).roll(0, 1, 2)
    game.do(0, c.DeclareBankruptcy())
    assert game.money() == [(0, BANK, 700, "estate")]
    assert game.owner(5) == BANK


def test_the_debtor_need_not_take_it() -> None:
    """MET-BANK-07: a trade may still save him until the time is up."""
    game = owing_rent(100).owning(0, 5).roll(0, 1, 2)
    assert game.options("declare_bankruptcy")
    game.wait(74_000).do(0, offer(2, 0, (5,), cash=2500)).do(2, c.AcceptTrade())
    assert not game.options("declare_bankruptcy")
    game.do(0, c.Pay())
    assert game.state.in_play == [True, True, True]


@both
def test_what_a_rent_creditor_receives_is_taxed(edition: str) -> None:
    """MET-BANK-08: the amount received, not the amount owed; creditors of a card get all of it."""
    half = 150 if edition == METRO else 70
    game = owing_rent(801, edition).in_round(half).landing(0, 39).do(0, c.DeclareBankruptcy())
    assert game.money() == [(0, 1, 401, "estate"), (0, BANK, 400, "rent_tax")]
    game = drawing("round_of_tea", 3, edition).in_round(half).with_cash(0, 400).landing(0, 7)
    game.do(0, c.DeclareBankruptcy())
    assert game.money() == [(0, 1, 200, "estate"), (0, 2, 200, "estate")]


def in_phase(kind: str, edition: str) -> Game:
    """Three players; seat 0 is in turn, and the game waits in this phase."""
    game = metro(3, edition)
    if kind == "trade_answer":
        return game.owning(0, 5).turn_of(0).do(0, offer(1, 0, (5,), cash=2000))
    if kind == "payment":
        return game.at(0, 1).turn_of(0).roll(0, 1, 2)
    game.turn_of(0)
    if kind == "roll":
        return game
    game.roll(0, 1, 2)
    return game if kind == "purchase" else game.do(0, c.Decline())


@both
@pytest.mark.parametrize("kind", ["roll", "purchase", "payment", "trade_answer", "auction_bid"])
def test_surrender_is_legal_in_every_phase_for_everybody(edition: str, kind: str) -> None:
    """MET-BANK-09: in one's own turn and in others'; in an auction it takes effect after it."""
    for seat in range(3):
        game = in_phase(kind, edition)
        assert game.decision is not None
        assert game.decision[0] == kind
        assert [option.seat for option in game.options("surrender")] == [0, 1, 2]
        game.do(seat, c.Surrender())
        assert game.state.in_play[seat] == (kind == "auction_bid")
        if kind == "auction_bid":
            game.refused(seat, c.Surrender(), "seat_out", "MET-BANK-04")


@pytest.mark.parametrize("kind", ["bus_choice", "teleport_choice"])
def test_surrender_in_the_choices_of_the_third_die(kind: str) -> None:
    """MET-BANK-09: too; the move is not made."""
    dice, third = ((1, 2), 4) if kind == "bus_choice" else ((2, 2), 2)
    game = metro(3, SPEED).in_round(7).turn_of(0).roll(0, *dice, third=third)
    assert game.decision == (kind, 0)
    game.do(0, c.Surrender())
    assert (game.position(0), game.decision) == (0, ("roll", 1))


def test_a_surrender_pays_open_creditors_and_leaves_the_rest_to_the_bank() -> None:
    """MET-BANK-09: up to their claims."""
    game = owing_rent(5000).owning(0, 5).roll(0, 1, 2).do(0, c.Surrender())
    assert (game.cash(0), game.cash(1), game.owner(5)) == (0, 17000, BANK)
    assert sum(payment[2] for payment in game.money() if payment[1] == BANK) == 3000
    assert game.decision == ("roll", 1)
    game = owing_rent(100).owning(0, 5).roll(0, 1, 2).do(0, c.Surrender())
    assert (game.cash(0), game.cash(1)) == (0, 16100)
    game = metro(3).owning(0, 5).turn_of(0).do(0, c.Surrender())
    assert game.money() == [(0, BANK, 15000, "estate")]
    assert game.events_of(Bankrupt) == [Bankrupt(0, BANK, "leaving")]


def test_a_surrender_with_a_debt_that_must_be_raised() -> None:
    """MET-BANK-09: the creditor gets the whole claim if raisable covers it, here 1000 in cash and 1000 for field 5."""
    game = owing_rent(1000).owning(0, 5).roll(0, 1, 2).do(0, c.Surrender())
    assert (game.cash(0), game.cash(1), game.owner(5)) == (0, 17000, BANK)


@pytest.mark.parametrize("leaver", [0, 1, 2])
def test_an_open_offer_is_void_when_somebody_goes_out(leaver: int) -> None:
    """MET-BANK-10: anybody's."""
    game = metro(3).owning(0, 5).turn_of(0).do(0, offer(1, 0, (5,), cash=2000)).do(leaver, c.Surrender())
    assert game.events_of(TradeClosed) == [TradeClosed(1, "void")]
    assert game.decision == ("roll", 1 if leaver == 0 else 0)
    assert game.owner(5) == (BANK if leaver == 0 else 0)


def test_the_turn_of_a_leaver_ends_at_once() -> None:
    """MET-BANK-10: whatever is still due of it."""
    game = metro(3).turn_of(0).roll(0, 3, 3).do(0, c.Surrender())
    assert game.events_of(TurnEnded) == [TurnEnded(0, "out")]
    assert (game.decision, game.owner(6)) == (("roll", 1), BANK)


def test_a_payment_of_others_is_finished_first() -> None:
    """MET-BANK-10: it is already open."""
    game = drawing("yard_concert", 3).roll(0, 3, 4).wait(1_000).do(0, c.Surrender())
    assert game.events_of(SeatOut) == [SeatOut(0, 3)]
    assert not game.events_of(TurnEnded)
    assert (game.decision, game.deadline) == (("payment", 1), ("payment", 74_000))
    game.do(1, c.Pay())
    assert game.events_of(PaymentClosed) == [PaymentClosed(1, "paid")]
    game.do(2, c.Pay())
    assert game.events_of(TurnEnded) == [TurnEnded(0, "out")]
    assert game.decision == ("roll", 1)


def test_others_leave_without_ending_the_turn() -> None:
    """MET-BANK-10: only the leaver's own turn ends."""
    game = metro(3).turn_of(0).roll(0, 1, 2).do(2, c.Surrender())
    assert game.decision == ("purchase", 0)
    game.do(0, c.Buy())
    assert game.decision == ("roll", 1)
