"""The Chance deck (MET-CARD)."""

from dataclasses import replace

import pytest

from services.rules.domain import commands as c
from services.rules.domain.events import CardDrawn, Jailed, PaymentDue, TokenMoved
from services.rules.domain.parties import BANK
from services.rules.domain.state import Claim
from tests.rules.metro.games import CARDS, both, drawing, metro


@both
def test_cards_come_in_a_fixed_order_again_and_again(edition: str) -> None:
    """MET-CARD-01: the 16 of the file, then the first again."""
    game = metro(2, edition)
    drawn = []
    for number in range(18):
        game.cash_of_all(15000, 15000).at(0, 0).turn_of(0)
        game.state.jail_tries[0] = -1
        game.roll(0, 3, 4)
        (card,) = game.events_of(CardDrawn)
        drawn.append(card.card)
        assert game.state.decks["chance"][0] == (number + 1) % 16
    assert drawn == [*range(16), 0, 1]


@both
@pytest.mark.parametrize(("card", "amount"), [("ripe_deposit", 1500), ("found_umbrella", 1000), ("town_lottery", 2000)])
def test_cards_that_pay(edition: str, card: str, amount: int) -> None:
    """MET-CARD-02, MET-CARD-07: 1000 to 2000 from the bank, at once."""
    game = drawing(card, 2, edition).roll(0, 3, 4)
    assert (game.money(), game.decision) == ([(BANK, 0, amount, "card")], ("roll", 1))


@both
@pytest.mark.parametrize(("card", "amount"), [("flooded_cellar", 500), ("broken_window", 1500), ("fallen_crane", 2500)])
def test_cards_that_charge(edition: str, card: str, amount: int) -> None:
    """MET-CARD-02, MET-CARD-07, MET-DEBT-01: 500 to 2500 to the bank, through the payment pause."""
    game = drawing(card, 2, edition).roll(0, 3, 4)
    assert game.events_of(PaymentDue) == [PaymentDue(1, 0, (Claim(BANK, amount),), "card", -1, f"chance/{card}")]
    game.do(0, c.Pay())
    assert game.money() == [(0, BANK, amount, "card")]


@both
def test_200_from_every_opponent(edition: str) -> None:
    """MET-CARD-03, MET-CARD-07, MET-CARD-08: only from those active at the moment of drawing."""
    game = metro(4, edition).out(2).top_cards("chance", "yard_concert").turn_of(0).roll(0, 3, 4)
    assert game.decision == ("payment", 1)
    game.do(1, c.Pay())
    assert (game.money(), game.decision) == ([(1, 0, 200, "card")], ("payment", 3))
    game.do(3, c.Pay())
    assert (game.money(), game.decision) == ([(3, 0, 200, "card")], ("roll", 1))
    assert game.cash(0) == 15400


@both
def test_250_to_every_opponent(edition: str) -> None:
    """MET-CARD-03, MET-CARD-07, MET-CARD-08: one payment to all of them."""
    game = metro(4, edition).out(2).top_cards("chance", "round_of_tea").turn_of(0).roll(0, 3, 4)
    assert game.events_of(PaymentDue)[0].claims == (Claim(1, 250), Claim(3, 250))
    game.do(0, c.Pay())
    assert game.money() == [(0, 1, 250, "card"), (0, 3, 250, "card")]


@both
@pytest.mark.parametrize(("levels", "amount"), [((1, 0), 250), ((1, 1), 500), ((5, 4), 2250), ((5, 5), 2500)])
def test_repairs_of_250_for_each_building(edition: str, levels: tuple[int, int], amount: int) -> None:
    """MET-CARD-04, MET-CARD-08: each level counts, a full street as 5; others' buildings do not."""
    game = drawing("leaking_roofs", 2, edition).owning_group(0, "blue", *levels).owning_group(1, "brown", 3, 3)
    game.roll(0, 3, 4)
    assert game.events_of(PaymentDue)[0].claims == (Claim(BANK, amount),)


@both
def test_repairs_without_buildings_ask_for_nothing(edition: str) -> None:
    """MET-CARD-09, MET-DEBT-06: no pause."""
    game = drawing("leaking_roofs", 2, edition).owning(0, 39).roll(0, 3, 4)
    assert (game.events_of(PaymentDue), game.decision) == ([], ("roll", 1))


@both
@pytest.mark.parametrize(
    ("card", "start", "cell", "passed"),
    [
        ("morning_bell", 0, 0, True),
        ("masked_parade", 0, 24, False),
        ("masked_parade", 26, 24, True),
        ("star_gazing", 0, 39, False),
        ("star_gazing", 29, 39, False),
        ("last_coach", 0, 15, False),
        ("last_coach", 10, 25, False),
        ("last_coach", 15, 25, False),
        ("last_coach", 26, 35, False),
        ("last_coach", 29, 5, True),
        ("meter_reading", 0, 12, False),
        ("meter_reading", 15, 28, False),
        ("meter_reading", 26, 12, True),
    ],
)
def test_cards_that_move_forward(edition: str, card: str, start: int, cell: int, passed: bool) -> None:
    """MET-CARD-05, MET-CARD-08: always clockwise; passing Start pays 2000."""
    game = drawing(card, 2, edition).at(0, start)
    game.roll(0, 3, 4)
    assert game.events_of(TokenMoved)[1] == TokenMoved(0, start + 7, cell, "card", passed)
    assert game.money() == ([(BANK, 0, 2000, "salary")] if passed else [])


@both
@pytest.mark.parametrize(("start", "cell"), [(0, 5), (10, 15), (15, 20), (26, 31), (29, 34)])
def test_two_cells_back(edition: str, start: int, cell: int) -> None:
    """MET-CARD-05, MET-CARD-07, MET-CARD-08: and the reached cell is resolved."""
    game = drawing("forgotten_gloves", 2, edition).at(0, start).roll(0, 3, 4)
    assert game.events_of(TokenMoved)[1] == TokenMoved(0, start + 7, cell, "card_back", False)
    assert game.decision == (("roll", 1) if cell == 20 else ("purchase", 0))


@both
def test_a_card_may_send_to_jail(edition: str) -> None:
    """MET-CARD-06, MET-CARD-07, MET-JAIL-01."""
    game = drawing("wrong_turnstile", 2, edition).roll(0, 3, 4)
    assert game.events_of(Jailed) == [Jailed(0, "card")]
    assert (game.position(0), game.decision) == (10, ("roll", 1))


@both
def test_the_cards_of_the_file(edition: str) -> None:
    """MET-CARD-07: all 16 with their effects and amounts."""
    cards = metro(2, edition).edition.decks["chance"]
    assert [(card.effect, card.amount, card.target) for card in cards] == [
        ("gain", 1500, ""),
        ("move_to", 0, "paper_masks_square"),
        ("pay", 500, ""),
        ("move_nearest", 0, "transport"),
        ("collect_each", 200, "others"),
        ("goto_jail", 0, "jail"),
        ("gain", 1000, ""),
        ("move_by", -2, ""),
        ("pay_per_building", 250, "own_buildings"),
        ("pay", 1500, ""),
        ("move_to", 0, "start"),
        ("pay_each", 250, "others"),
        ("gain", 2000, ""),
        ("move_nearest", 0, "utility"),
        ("pay", 2500, ""),
        ("move_to", 0, "ninth_star_esplanade"),
    ]
    assert [card.key for card in cards] == list(CARDS)


def test_a_card_onto_a_chance_cell_draws_again() -> None:
    """MET-CARD-09: no card of the file does so, but one that did would lead to the next card."""
    game = metro(2)
    cards = game.edition.decks["chance"]
    assert all(card.target not in ("card", *(f"chance_{number}" for number in range(1, 7))) for card in cards)
    board = game.edition.board
    assert all(board.kind[cell - 2] != "card" for cell, kind in enumerate(board.kind) if kind == "card")
    leading = (replace(cards[1], target="chance_6"), *cards[2:])
    game.edition = replace(game.edition, decks={"chance": (cards[0], *leading)})
    game.top_cards("chance", "masked_parade", "ripe_deposit").turn_of(0).roll(0, 3, 4)
    assert [event.card for event in game.events_of(CardDrawn)] == [1, 0]
    assert (game.position(0), game.money()) == (36, [(BANK, 0, 1500, "card")])
