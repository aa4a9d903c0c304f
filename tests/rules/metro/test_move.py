"""Moving and landing (MET-MOVE), buying (MET-BUY), taxes (MET-TAX)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import AuctionOpened, CardDrawn, DeedMoved, Jailed, PaymentDue, TokenMoved
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.rules.metro.games import SPEED, X, both, drawing, metro


@both
@pytest.mark.parametrize(("start", "dice", "paid"), [(37, (1, 2), 2000), (38, (3, 5), 2000), (30, (4, 5), 0)])
def test_start_pays_2000_once(edition: str, start: int, dice: tuple[int, int], paid: int) -> None:
    """MET-MOVE-01, MET-MOVE-02: passing or landing, clockwise; just before it nothing."""
    game = metro(2, edition).owning(0, 6, 39).at(0, start).turn_of(0).roll(0, *dice)
    assert game.position(0) == (start + sum(dice)) % 40
    assert game.money() == ([(BANK, 0, paid, "salary")] if paid else [])


def test_start_pays_each_time() -> None:
    """MET-MOVE-02: by dice and again by a card in the same landing."""
    game = drawing("morning_bell").at(0, 35).roll(0, 3, 4)
    assert game.events_of(TokenMoved) == [TokenMoved(0, 35, 2, "dice", True), TokenMoved(0, 2, 0, "card", True)]
    assert game.money() == [(BANK, 0, 2000, "salary"), (BANK, 0, 2000, "salary")]


def test_a_step_back_pays_nothing() -> None:
    """MET-MOVE-03: not even where it ends on Start."""
    game = drawing("forgotten_gloves").at(0, 39).roll(0, 1, 2)
    assert game.events_of(TokenMoved) == [TokenMoved(0, 39, 2, "dice", True), TokenMoved(0, 2, 0, "card_back", False)]
    assert game.money() == [(BANK, 0, 2000, "salary")]


def test_a_move_to_jail_pays_nothing() -> None:
    """MET-MOVE-03, MET-JAIL-07: from cell 33 to 10 no Start bonus."""
    game = drawing("wrong_turnstile").at(0, 26).roll(0, 3, 4)
    assert (game.position(0), game.money()) == (10, [])


@both
def test_an_unowned_field_is_bought_or_declined(edition: str) -> None:
    """MET-MOVE-04, MET-BUY-01, MET-BUY-02: at the printed price, at once, unmortgaged and bare."""
    game = metro(2, edition).at(0, 30).turn_of(0).roll(0, 4, 5)
    assert (game.decision, game.option("buy").amount) == (("purchase", 0), 4000)
    game.do(0, c.Buy())
    assert game.money() == [(0, BANK, 4000, "purchase")]
    assert game.events_of(DeedMoved) == [DeedMoved(39, BANK, 0, "purchase")]
    assert (game.owner(39), game.level(39), game.state.mortgaged_rounds[39]) == (0, 0, 0)
    assert not game.events_of(PaymentDue)


@both
def test_a_declined_field_is_auctioned(edition: str) -> None:
    """MET-MOVE-04, MET-BUY-03: to all, never simply passed by."""
    game = metro(3, edition).turn_of(0).roll(0, 1, 2).do(0, c.Decline())
    assert game.events_of(AuctionOpened) == [AuctionOpened(1, "declined", 3, BANK, (1, 2, 0), 600)]


@pytest.mark.parametrize("cash", [600, 601])
def test_buying_needs_the_price_in_cash(cash: int) -> None:
    """MET-BUY-04: exactly the price suffices; it is debited at once."""
    game = metro(2).with_cash(0, cash).turn_of(0).roll(0, 1, 2).do(0, c.Buy())
    assert (game.cash(0), game.decision) == (cash - 600, ("roll", 1))


def test_one_unit_too_little_may_be_raised_first() -> None:
    """MET-BUY-04: the player may sell or mortgage in the same phase."""
    game = metro(2).with_cash(0, 599).owning(0, 1).turn_of(0).roll(0, 1, 2)
    game.refused(0, c.Buy(), "not_enough_cash", "MET-BUY-04", {"least": 600})
    assert not game.options("buy")
    game.do(0, c.Mortgage(1)).do(0, c.Buy())
    assert game.cash(0) == 599 + 300 - 600


@both
def test_rent_is_due_on_an_opponents_field(edition: str) -> None:
    """MET-MOVE-05: and nothing on a mortgaged one."""
    game = metro(2, edition).owning(1, 3).turn_of(0).roll(0, 1, 2)
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(1, 40),), "rent", 3)]
    game = metro(2, edition).owning(1, 3).mortgaged(3).turn_of(0).roll(0, 1, 2)
    assert (game.decision, game.money()) == (("roll", 1), [])


@pytest.mark.parametrize(("start", "cell"), [(0, 3), (37, 0), (7, 10), (17, 20)])
def test_where_nothing_happens(start: int, cell: int) -> None:
    """MET-MOVE-06, MET-JAIL-11: one's own field, Start, a visit to the jail, Free Parking."""
    game = metro(2).owning(0, 3).at(0, start).turn_of(0).roll(0, 1, 2)
    assert (game.position(0), game.decision) == (cell, ("roll", 1))
    assert game.jail_tries(0) == -1
    assert {payment[3] for payment in game.money()} <= {"salary"}


@both
@pytest.mark.parametrize(("start", "cell", "tax"), [(1, 4, 2000), (35, 38, 1000)])
def test_taxes_go_to_the_bank_through_a_payment(edition: str, start: int, cell: int, tax: int) -> None:
    """MET-MOVE-07, MET-TAX-01: income tax 2000, luxury tax 1000."""
    game = metro(2, edition).at(0, start).turn_of(0).roll(0, 1, 2)
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(BANK, tax),), "tax", cell)]
    assert (game.money(), game.decision) == ([], ("payment", 0))
    game.do(0, c.Pay())
    assert game.money() == [(0, BANK, tax, "tax")]


def test_go_to_jail_sends_there_at_once() -> None:
    """MET-MOVE-07, MET-JAIL-01: from cell 30 to cell 10."""
    game = metro(2).at(0, 27).turn_of(0).roll(0, 1, 2)
    assert game.events_of(Jailed) == [Jailed(0, "cell")]
    assert (game.position(0), game.jail_tries(0)) == (10, 0)


@both
@pytest.mark.parametrize("cell", [2, 7, 17, 22, 33, 36])
def test_a_chance_cell_draws_the_next_card(edition: str, cell: int) -> None:
    """MET-MOVE-08: which is applied."""
    game = metro(2, edition).at(0, cell - 3 if cell > 2 else 39).turn_of(0).roll(0, 1, 2)
    assert game.events_of(CardDrawn) == [CardDrawn(0, "chance", 0)]
    assert (BANK, 0, 1500, "card") in game.money()


def test_a_cell_is_resolved_alike_however_it_was_reached() -> None:
    """MET-MOVE-09: the ordinary rent by a card and by X, and a purchase where it is unowned."""
    game = drawing("last_coach").owning(1, 15).roll(0, 3, 4)
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(1, 250),), "rent", 15)]
    assert drawing("last_coach").roll(0, 3, 4).decision == ("purchase", 0)
    game = metro(2, SPEED).in_round(7)
    game.owning(0, *game.edition.board.deeds).owning(1, 24).at(0, 17).turn_of(0).roll(0, 1, 2, third=X)
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(1, 200),), "rent", 24)]
    game = metro(2, SPEED).in_round(7).owning(1, 24).turn_of(0).roll(0, 2, 2, third=2).do(0, c.ChooseCell(24))
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(1, 200),), "rent", 24)]
