"""What always holds: money, pieces, owners, decks and the one actor, in plain cases.

The property tests check the same over thousands of random games.
"""

from collections.abc import Callable
from dataclasses import replace

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.decide import advance
from services.rules.domain.events import (
    BidPlaced,
    BuildingBuilt,
    CardDrawn,
    DeckShuffled,
    DeedMoved,
    MoneyMoved,
    TripRemembered,
)
from services.rules.domain.evolve import evolve, fold
from services.rules.domain.folds.deeds import auction_frame
from services.rules.domain.invariants import broken, broken_step
from services.rules.domain.legal import legal_actions
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.parties import BANK, JACKPOT
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import PaymentFrame, SeatSetup, State
from tests.support.scenario import Game, a_game


def landing(cell: int, *, seats: int = 3) -> Game:
    """Seat 0 is three cells before a cell and begins its turn."""
    return a_game(seats).at(0, (cell - 3) % 40).turn_of(0)


MONEY: dict[str, tuple[Callable[[], Game], list[tuple[int, int, int, str]], int]] = {
    "salary": (lambda: landing(0).roll(0, 1, 2), [(BANK, 0, 200, "salary")], 200),
    "purchase": (lambda: landing(39).roll(0, 1, 2).do(0, c.Buy()), [(0, BANK, 400, "purchase")], -400),
    "purchase auction": (
        lambda: landing(39).roll(0, 1, 2).do(0, c.Decline()).do(0, c.Bid(300)).do(1, c.Pass()).do(2, c.Pass()),
        [(0, BANK, 300, "auction")],
        -300,
    ),
    "own auction": (
        lambda: a_game(2).owning(0, 5).managing(0).do(0, c.OpenAuction(5, 120)).do(1, c.Bid(120)),
        [(1, 0, 120, "own_auction")],
        0,
    ),
    "exchange money": (
        lambda: (
            a_game(2).owning(1, 5).managing(0).do(0, c.OfferTrade(1, Basket(7), Basket(0, (5,)))).do(1, c.AcceptTrade())
        ),
        [(0, 1, 7, "trade")],
        0,
    ),
    "rent": (lambda: landing(39).owning(1, 39).roll(0, 1, 2), [(0, 1, 64, "rent")], 0),
    "excise duty": (lambda: landing(35).roll(0, 1, 2), [(0, BANK, 100, "tax")], -100),
    "card gain": (
        lambda: landing(7).top_cards("market", "dividends").roll(0, 1, 2),
        [(BANK, 0, 150, "card")],
        150,
    ),
    "50 to each": (
        lambda: landing(7).top_cards("market", "staff_party").roll(0, 1, 2),
        [(0, 1, 50, "card"), (0, 2, 50, "card")],
        0,
    ),
    "inspection fee": (lambda: a_game(2).in_jail(0).turn_of(0).do(0, c.PayFine()), [(0, BANK, 50, "fine")], -50),
    "build": (
        lambda: a_game(2).owning_group(0, "it").at(0, 39).managing(0).do(0, c.Build((39,))),
        [(0, BANK, 200, "build")],
        -200,
    ),
    "collapse": (
        lambda: a_game(2).owning_group(0, "it", 1, 0, 0).managing(0).do(0, c.SellBuildings((36,), 0)),
        [(BANK, 0, 100, "building_sale")],
        100,
    ),
    "estate": (lambda: a_game(3).turn_of(0).withdraw(0), [(0, BANK, 1500, "estate")], -1500),
}


@pytest.mark.parametrize("name", list(MONEY))
def test_each_money_event_changes_its_two_sides_alone(name: str) -> None:
    """IND-INV-01, IND-INV-02: by the same amount; the total changes as the table says."""
    make, money, change = MONEY[name]
    game = make()
    assert game.money() == money
    expected = [1500] * len(game.state.cash)
    for payer, payee, amount, _ in money:
        if payer >= 0:
            expected[payer] -= amount
        if payee >= 0:
            expected[payee] += amount
    assert game.state.cash == expected
    assert sum(game.state.cash) == 1500 * len(expected) + change
    assert game.state.jackpot == 0


def test_the_start_money_comes_from_the_bank() -> None:
    """IND-INV-01, IND-INV-02, IND-SETUP-08: 1500 for each."""
    assert a_game(4).money() == [(BANK, seat, 1500, "start_cash") for seat in range(4)]


def test_cash_is_never_below_zero() -> None:
    """IND-INV-03: what is not covered waits."""
    game = landing(39).owning(1, 39).with_cash(0, 63).roll(0, 1, 2)
    assert game.cash(0) == 63
    state = game.state.copy()
    state.cash[0] = -1
    assert any(line.startswith("IND-INV-03") for line in broken(game.edition, state))


def test_pieces_are_on_the_board_or_in_the_supply() -> None:
    """IND-INV-04: 32 branches and 12 holdings; a holding replaces four branches."""
    game = a_game(2).owning_group(0, "it", 4, 4, 4).at(0, 39).managing(0)
    assert game.supply == (20, 12)
    game.do(0, c.Build((39,)))
    assert game.supply == (24, 11)
    game.do(0, c.SellBuildings((39,), 4))
    assert game.supply == (20, 12)
    state = game.state.copy()
    state.supply_houses += 1
    assert any(line.startswith("IND-INV-04") for line in broken(game.edition, state))


def test_a_business_has_one_owner_in_play() -> None:
    """IND-INV-05, IND-INV-12: deeds of a player who goes out are free in the same step."""
    game = a_game(3).owning(0, 5, 39).turn_of(0).withdraw(0)
    assert set(game.state.owners) == {BANK}
    state = game.state.copy()
    state.owners[5] = 0
    found = broken(game.edition, state)
    assert {line[:10] for line in found} == {"IND-INV-05", "IND-INV-12"}


@pytest.mark.parametrize(("cell", "owner", "level"), [(0, 1, 0), (2, 1, 0), (1, BANK, 1), (5, 0, 1), (1, 0, 6)])
def test_owners_and_levels_where_none_can_be_are_found(cell: int, owner: int, level: int) -> None:
    """IND-INV-05, IND-INV-06: only businesses have owners, only owned enterprises have levels, up to 5."""
    game = a_game(2)
    state = game.state.copy()
    state.owners[cell], state.levels[cell] = owner, level
    assert broken(game.edition, state) != []


def test_levels_of_an_industry_differ_by_one_at_most() -> None:
    """IND-INV-06: by the rules of building and collapsing."""
    game = a_game(2).owning_group(0, "it", 1, 1, 0).at(0, 36).managing(0)
    assert not game.options("build")
    game.refused(0, c.Build((36,)), "uneven", "IND-BUILD-05", {"cell": 36})
    state = game.state.copy()
    state.levels[36] = 2
    state.supply_houses -= 1
    assert any(line.startswith("IND-INV-06") for line in broken(game.edition, state))


def test_an_industry_with_buildings_stays_in_one_hand() -> None:
    """IND-INV-07: no trade or own auction ever moves one of its cells."""
    game = a_game(2).owning_group(0, "it", 1, 0, 0).managing(0)
    assert not game.options("open_auction")
    assert not game.options("offer_trade")
    state = game.state.copy()
    state.owners[39] = 1
    assert any(line.startswith("IND-INV-07") for line in broken(game.edition, state))
    assert broken(game.edition, state, frozenset({"it"})) == []


def test_there_is_exactly_one_actor() -> None:
    """IND-INV-08, IND-INV-12: in play, with at most one debt."""
    game = a_game(3).with_cash(0, 0).owing(0, 50)
    assert game.decision == ("payment", 0)
    state = game.state.copy()
    frame = state.agenda[-1]
    assert isinstance(frame, PaymentFrame)
    state.agenda.append(replace(frame, id=frame.id + 1))
    assert any(line.startswith("IND-INV-08") for line in broken(game.edition, state))
    state = game.state.copy()
    state.decision = None
    assert any(line.startswith("IND-INV-08") for line in broken(game.edition, state))
    state = game.state.copy()
    state.in_play[0] = False
    assert any("-12" in line for line in broken(game.edition, state))


def test_no_covered_debt_and_no_asked_bidder_without_money_remain() -> None:
    """IND-INV-09: both are settled in the step in which they come about."""
    game = a_game(3).with_cash(0, 0).owing(0, 50)
    state = game.state.copy()
    state.cash[0] = 50
    assert any(line.startswith("IND-INV-09") for line in broken(game.edition, state))
    game = a_game(3).with_cash(1, 0).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).do(0, c.Bid(45))
    assert game.decision == ("auction_bid", 2)


def test_decks_only_turn_round() -> None:
    """IND-INV-10: after every draw a rotation of the first order."""
    game = landing(7).top_cards("market", "dividends", "contract_lost")
    first = game.state.decks["market"]
    game.roll(0, 1, 2)
    assert game.state.decks["market"] == (*first[1:], first[0])
    before, after = game.state, game.state.copy()
    after.decks["market"] = first[::-1]
    assert any("INV-10" in line for line in broken_step(game.edition, before, CardDrawn(0, "market", 6), after))


def test_who_is_in_inspection_stands_on_its_cell() -> None:
    """IND-INV-11: with 0 to 2 attempts, 3 only while the forced fee is owed."""
    game = a_game(2).with_cash(0, 0).in_jail(0, 2).turn_of(0).roll(0, 1, 2)
    assert (game.jail_tries(0), game.position(0), broken(game.edition, game.state)) == (3, 10, [])
    game = a_game(2).in_jail(0, 2).turn_of(0)
    for tries, position in ((3, 10), (1, 11)):
        state = game.state.copy()
        state.jail_tries[0], state.position[0] = tries, position
        assert any(line.startswith("IND-INV-11") for line in broken(game.edition, state))


def test_the_same_inputs_give_the_same_events() -> None:
    """IND-INV-13: byte for byte; another seed gives another game."""
    edition = a_game(2).edition
    seats = (SeatSetup("person", 0, "aa"), SeatSetup("person", 1, "bb"))
    one, other = (begin(edition, Setup("people", seats, bytes(16)), 5) for _ in range(2))
    assert one == other
    changed = begin(edition, Setup("people", seats, bytes(15) + b"x"), 5)
    assert [event for event in changed.events if isinstance(event, DeckShuffled)] != [
        event for event in one.events if isinstance(event, DeckShuffled)
    ]
    states = [one.state, other.state]
    for _ in range(30):
        options = legal_actions(edition, states[0])
        kinds = {option.kind: option for option in options}
        action = c.Roll() if "roll" in kinds else c.Decline() if "decline" in kinds else None
        decision = states[0].decision
        assert decision is not None
        final = action or (c.Pass() if "pass" in kinds else c.EndTurn())
        results = [advance(edition, state, c.Command(decision.seats[0], decision.id, final), 9) for state in states]
        assert results[0] == results[1]
        assert not any(isinstance(result, Refusal) for result in results)
        states = [result.state for result in results if not isinstance(result, Refusal)]
    assert fold(edition, State(), one.events) == one.state


def test_the_highest_bid_is_covered_and_prices_rise_by_ten() -> None:
    """IND-INV-14, IND-AUC-06: start, start + 10, start + 20."""
    game = a_game(2).with_cash(1, 320).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    bids = []
    for seat, amount in ((0, 300), (1, 310), (0, 320)):
        game.do(seat, c.Bid(amount))
        bids += [event.amount for event in game.events_of(BidPlaced)]
    assert bids == [300, 310, 320]
    assert game.money() == [(0, BANK, 320, "auction")]
    game = a_game(3).at(0, 36).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).do(0, c.Bid(300))
    for amount in (305, 1510, 290):
        state = game.state.copy()
        state.agenda[-1] = replace(auction_frame(state), amount=amount)
        assert any(line.startswith("IND-INV-14") for line in broken(game.edition, state))


def test_a_turn_holds_one_build_a_visit_one_trade_and_each_lot_once() -> None:
    """IND-INV-15: so that every turn ends."""
    game = a_game(2).owning_group(0, "it").owning(0, 5).at(0, 39).managing(0)
    game.do(0, c.Build((39,)))
    game.refused(0, c.Build((39,)), "build_limit_used", "IND-BUILD-03", {"cell": 39})
    game.do(0, c.OpenAuction(5, 100)).do(1, c.Pass())
    game.refused(0, c.OpenAuction(5, 100), "already_put_up", "IND-OWNAUC-19", {"cell": 5})
    game.do(0, c.OfferTrade(1, Basket(0, (5,)), Basket(100))).do(1, c.RefuseTrade())
    game.refused(0, c.OfferTrade(1, Basket(0, (5,)), Basket(100)), "trade_limit_used", "IND-TRADE-01")


def test_a_trip_never_repeats_the_last_destination() -> None:
    """IND-INV-16: of anybody; index 20 skips the remembered cell."""
    game = landing(7).top_cards("market", "unexpected_trip").trip_remembered(21).roll(0, 1, 2, 20)
    assert game.events_of(TripRemembered) == [TripRemembered(22)]
    assert game.state.trip_memory == 22


def test_a_timeout_moves_no_money_but_an_estate() -> None:
    """IND-INV-17: a lot, a bid and an answer run out without a unit moved."""
    game = a_game(3).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).expire("lot")
    assert game.money() == []
    game = a_game(3).turn_of(0).roll(0, 1, 2).do(0, c.Decline()).do(0, c.Bid(45)).expire("bid")
    assert game.money() == []
    game = a_game(3).owning(1, 5).managing(0).do(0, c.OfferTrade(1, Basket(7), Basket(0, (5,)))).expire("answer")
    assert game.money() == []
    assert [reason for *_, reason in a_game(3).turn_of(0).expire("turn").money()] == ["estate"]


def test_what_breaks_an_invariant_in_a_step_is_found() -> None:
    """IND-INV-01, IND-INV-02, IND-INV-03: the checks themselves are sharp."""
    game = a_game(2)
    state = game.state
    paid = evolve(game.edition, state, MoneyMoved(0, 1, 10, "rent", 1))
    assert broken_step(game.edition, state, MoneyMoved(0, 1, 10, "rent", 1), paid) == []
    assert broken_step(game.edition, state, MoneyMoved(0, 1, 11, "rent", 1), paid)[0].startswith("IND-INV-02")
    assert broken_step(game.edition, state, MoneyMoved(0, 1, 10, "salary"), paid)[0].startswith("IND-INV-01")
    assert broken_step(game.edition, state, MoneyMoved(0, 1, 0, "rent"), state)[0].startswith("IND-INV-01")
    assert broken_step(game.edition, state, BuildingBuilt(1, 1), paid)[0].startswith("IND-INV-02")
    poor = evolve(game.edition, state, MoneyMoved(0, 1, 1501, "rent", 1))
    assert any("INV-03" in line for line in broken_step(game.edition, state, MoneyMoved(0, 1, 1501, "rent", 1), poor))


def test_money_of_the_jackpot_is_counted_there() -> None:
    """IND-INV-01: where an edition has one, it is a side like any other."""
    game = a_game(2)
    staked = evolve(game.edition, game.state, MoneyMoved(0, JACKPOT, 30, "stake"))
    assert (staked.jackpot, staked.cash) == (30, [1470, 1500])
    fed = evolve(game.edition, staked, MoneyMoved(BANK, JACKPOT, 5, "stake"))
    assert (fed.jackpot, fed.cash) == (35, [1470, 1500])
    won = evolve(game.edition, fed, MoneyMoved(JACKPOT, 1, 35, "jackpot"))
    assert (won.jackpot, won.cash) == (0, [1470, 1535])
    paid = evolve(game.edition, won, MoneyMoved(0, BANK, 10, "card"))
    assert (paid.jackpot, paid.cash) == (0, [1460, 1535])


def test_an_event_does_not_touch_the_state_before() -> None:
    """IND-INV-13, IND-PHASE-12: a state is a value."""
    game = a_game(2)
    kept = game.state.copy()
    after = evolve(game.edition, game.state, DeedMoved(5, BANK, 1, "purchase"))
    assert after.owners[5] == 1
    assert after.seq == game.state.seq + 1
    assert game.state == kept
