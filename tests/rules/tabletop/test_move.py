"""Movement (TAB-MOVE)."""

from dataclasses import replace

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import CardDrawn, Jailed, TokenMoved
from services.rules.domain.parties import BANK, NONE
from tests.rules.tabletop.tables import FIVE, a_table, online, rent_tax, tabletop


@pytest.mark.parametrize("edition", FIVE)
def test_cell_39_is_followed_by_cell_0(edition: str) -> None:
    """TAB-MOVE-01: the ring of 40."""
    game = a_table(edition).owning(0, 1, 3).at(0, 38).turn_of(0).roll(0, 1, 2)
    assert game.position(0) == 1
    game = a_table(edition).owning(0, 39).at(0, 36).turn_of(0).roll(0, 1, 2)
    assert game.position(0) == 39


@pytest.mark.parametrize("dice", [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)])
def test_each_step_is_one_cell(dice: tuple[int, int]) -> None:
    """TAB-MOVE-02: no cell is jumped over or counted twice."""
    game = tabletop().owning(0, *tabletop().edition.board.deeds).at(0, 20).turn_of(0).roll(0, *dice)
    (moved,) = game.events_of(TokenMoved)[:1]
    assert (moved.from_cell, moved.to_cell) == (20, 20 + sum(dice))


@pytest.mark.parametrize(("edition", "salary"), [(one, 200) for one in FIVE[:4]] + [("rent-tax", 2000)])
def test_the_salary(edition: str, salary: int) -> None:
    """TAB-MOVE-03: for stopping on Start and for passing it; not for stopping on the cell before it."""
    paid = (BANK, 0, salary, "salary")
    assert a_table(edition).at(0, 37).turn_of(0).roll(0, 1, 2).money() == [paid]
    assert a_table(edition).owning(0, 1, 3).at(0, 38).turn_of(0).roll(0, 1, 2).money() == [paid]
    assert a_table(edition).owning(0, 39).at(0, 36).turn_of(0).roll(0, 1, 2).money() == []


def test_the_salary_twice_in_a_turn() -> None:
    """TAB-MOVE-04: past Start to a card cell, and a card to Start; paid before what the cell demands."""
    game = tabletop().top_cards("chest", "to_start_2").at(0, 35).turn_of(0).roll(0, 3, 4)
    assert game.money() == [(BANK, 0, 200, "salary")] * 2
    assert (game.position(0), game.cash(0)) == (0, 1900)
    game = rent_tax().top_cards("chance", "to_start").at(0, 35).turn_of(0).roll(0, 3, 4)
    assert game.money() == [(BANK, 0, 2000, "salary")] * 2


def test_a_card_that_crosses_start_pays() -> None:
    """TAB-MOVE-05: Lilac Street lies behind Start seen from 22, but not from 7; going to jail crosses nothing."""
    game = tabletop().owning(0, 11).top_cards("chance", "to_lilac_street").at(0, 19).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(BANK, 0, 200, "salary")]
    assert game.position(0) == 11
    game = tabletop().owning(0, 11).top_cards("chance", "to_lilac_street").at(0, 4).turn_of(0).roll(0, 1, 2)
    assert game.money() == []
    game = tabletop().top_cards("chance", "to_jail_a").at(0, 33).turn_of(0).roll(0, 1, 2)
    assert (game.money(), game.position(0)) == ([], 10)


def test_steps_back_pay_nothing() -> None:
    """TAB-MOVE-06: not past Start, and not onto it."""
    game = rent_tax().owning(0, 39).top_cards("chance", "three_back").at(0, 39).turn_of(0).roll(0, 1, 2)
    assert game.position(0) == 39
    assert game.money() == [(BANK, 0, 2000, "salary")]
    assert [moved.cause for moved in game.events_of(TokenMoved)] == ["dice", "card_back"]
    game = rent_tax().top_cards("chance", "three_back").at(0, 39)
    cards = [replace(card, amount=-2) if card.key == "three_back" else card for card in game.edition.decks["chance"]]
    game.edition = replace(game.edition, decks={"chance": tuple(cards)})
    game.turn_of(0).roll(0, 1, 2)
    assert game.position(0) == 0
    assert game.money() == [(BANK, 0, 2000, "salary")]


@pytest.mark.parametrize("edition", FIVE)
def test_nothing_happens_on_the_rest_stop(edition: str) -> None:
    """TAB-MOVE-07: no pot of taxes either."""
    game = a_table(edition).at(0, 17).at(1, 35).turn_of(1).roll(1, 1, 2)
    if game.decision == ("payment", 1):
        game.do(1, c.Pay())
    assert game.cash(1) < game.edition.start_cash
    game.turn_of(0).roll(0, 1, 2)
    assert (game.position(0), game.money()) == (20, [])
    assert game.cash(0) == game.edition.start_cash


def test_business_goes_on_at_the_rest_stop() -> None:
    """TAB-MOVE-08: rent is collected, houses are built, deals are made."""
    game = tabletop().owning_group(0, "navy").owning(0, 6).at(0, 17).turn_of(0).roll(0, 1, 2)
    game.do(0, c.Build((37,))).do(0, c.OfferTrade(1, c.Basket(cells=(6,)), c.Basket(100))).do(1, c.AcceptTrade())
    assert game.money() == [(1, 0, 100, "trade")]
    game.end_turn(0).at(1, 36).roll(1, 1, 2)
    assert game.money() == [(1, 0, 100, "rent")]


@pytest.mark.parametrize("edition", FIVE)
def test_stopping_at_the_jail_is_a_visit(edition: str) -> None:
    """TAB-MOVE-09, TAB-JAIL-08: no fine, and the next turn is a normal one."""
    game = a_table(edition, 2).at(0, 7).turn_of(0).roll(0, 1, 2)
    assert (game.position(0), game.jail_tries(0), game.money()) == (10, NONE, [])
    game.owning(0, *game.edition.board.deeds).turn_of(0).roll(0, 1, 3)
    assert game.position(0) == 14


def test_a_cell_reached_by_card_is_settled() -> None:
    """TAB-MOVE-10: a purchase, a rent, a tax; each link of a chain before the next."""
    game = tabletop().top_cards("chance", "to_grand_terrace").at(0, 4).turn_of(0).roll(0, 1, 2)
    assert game.decision == ("purchase", 0)
    assert game.do(0, c.Buy()).money() == [(0, BANK, 400, "purchase")]
    game = tabletop().top_cards("chance", "three_back").at(0, 4).turn_of(0).roll(0, 1, 2)
    assert game.money() == [(0, BANK, 200, "tax")]
    game = tabletop().top_cards("chance", "three_back").top_cards("chest", "clinic").at(0, 33).turn_of(0)
    game.roll(0, 1, 2)
    assert [(drawn.deck, drawn.card) for drawn in game.events_of(CardDrawn)] == [("chance", 10), ("chest", 10)]
    assert game.money() == [(0, BANK, 100, "card")]
    assert game.position(0) == 33


def test_chains_on_the_board_of_rent_tax() -> None:
    """TAB-MOVE-10: three back lead from 2 to 39 without salary, and from 33 to Police."""
    game = rent_tax().top_cards("chance", "three_back").at(0, 30).turn_of(0).roll(0, 1, 2)
    assert game.events_of(Jailed) == [Jailed(0, "cell")]
    game = rent_tax().owning(1, 39).top_cards("chance", "three_back").at(0, 39).turn_of(0).roll(0, 1, 2)
    assert game.decision == ("payment", 0)
    assert game.do(0, c.Pay()).money() == [(0, 1, 500, "rent")]


def test_online_nothing_is_asked_after_a_card() -> None:
    """TAB-MOVE-10, TAB-TURN-08: the turn passes when the last link is settled."""
    game = online().top_cards("chance", "three_back").top_cards("chest", "old_bonds").at(0, 33).turn_of(0)
    assert game.roll(0, 1, 2).decision == ("roll", 1)
