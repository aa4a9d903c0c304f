"""Moving and the salary (BRA-MOVE-01 to -10)."""

from services.rules.domain import commands as c
from services.rules.domain.events import CardDrawn, TokenMoved
from services.rules.domain.parties import BANK
from tests.rules.brands.games import (
    BRANDS,
    BRAWL,
    BUS,
    FAST,
    INCOME_TAX,
    JAIL,
    LUXURY_TAX,
    M1,
    START,
    TEAMS,
    TURN_MS,
    brands,
    drawing,
    every_mode,
    in_minute,
)
from tests.support.scenario import Payment

SALARY: Payment = (BANK, 0, 2000, "salary")
BONUS: Payment = (BANK, 0, 1000, "landing_bonus")
#: first game minute without salary
SALARY_ENDS = {BRANDS: 46, FAST: 30, BRAWL: 30, TEAMS: 46}


@every_mode
def test_clockwise(edition: str) -> None:
    """BRA-MOVE-01: from cell to cell upwards, and from 39 to 0."""
    game = brands(edition).at(0, 1).turn_of(0).roll(0, 4, 5)
    assert game.events_of(TokenMoved) == [TokenMoved(0, 1, 10, "dice", False)]
    game = brands(edition).at(0, 39).turn_of(0).roll(0, 1, 2)
    assert game.events_of(TokenMoved) == [TokenMoved(0, 39, 2, "dice", True)]


@every_mode
def test_salary_for_passing_start(edition: str) -> None:
    """BRA-MOVE-02: 2000 each time."""
    game = brands(edition).at(0, 38).turn_of(0).roll(0, 1, 2)
    assert game.money() == [SALARY]
    game = brands(edition).at(0, 36).owning(0, 39).turn_of(0).roll(0, 1, 2)
    assert game.money() == []


@every_mode
def test_bonus_for_landing_on_start(edition: str) -> None:
    """BRA-MOVE-03: 3000 in all, and nothing to decide there."""
    game = brands(edition).at(0, 37).turn_of(0).roll(0, 1, 2)
    assert game.money() == [SALARY, BONUS]
    assert game.decision == ("roll", 1)


def test_start_by_a_card() -> None:
    """BRA-MOVE-04, BRA-MOVE-10: a card that goes to Start passes it and lands on it; one that passes pays 2000."""
    game = drawing("new_season").roll(0, 3, 4)
    assert (game.position(0), game.money()) == (START, [SALARY, BONUS])
    game = brands().top_cards("chance", "lucky_evening").at(0, 30).turn_of(0).roll(0, 1, 2)
    assert (game.position(0), game.money()) == (20, [SALARY])


def test_start_by_the_third_die() -> None:
    """BRA-MOVE-04: a triple that chooses Start pays both; M1 pays for passing."""
    game = brands(FAST).in_round(8).at(0, 30).turn_of(0).roll(0, 1, 1, third=1).do(0, c.ChooseCell(START))
    assert game.money() == [SALARY, BONUS]
    game = brands(FAST).in_round(8).owning(0, 35, 37, 39).at(0, 33).turn_of(0).roll(0, 1, 4, third=M1)
    game.do(0, c.Pay())
    assert (game.position(0), game.money()) == (1, [(0, BANK, 1000, "tax"), SALARY])


def test_steps_back_and_ways_to_jail_pay_nothing() -> None:
    """BRA-MOVE-04: 3 cells back over Start or onto it, and going to jail."""
    game = brands().top_cards("chance", "lost_tender").turn_of(0).at(0, 39).roll(0, 1, 2)
    assert (game.position(0), game.money()) == (39, [SALARY])
    assert game.events_of(TokenMoved)[1] == TokenMoved(0, 2, 39, "card_back", False)
    game = brands().top_cards("chance", "false_advertising").at(0, 30).turn_of(0).roll(0, 1, 2)
    assert (game.position(0), game.money()) == (JAIL, [])


@every_mode
def test_the_salary_stops(edition: str) -> None:
    """BRA-MOVE-05, BRA-MOVE-06: paid while the clock is below 45:00, in the fast modes below 29:00, and not after."""
    minute = SALARY_ENDS[edition]
    for ms, payments in ((-1, [SALARY, BONUS]), (0, []), (60_000, [])):
        game = in_minute(brands(edition), minute, ms=ms).at(0, 37).turn_of(0).roll(0, 1, 2)
        assert game.money() == payments
    assert {edition: (minute - 1) for edition, minute in SALARY_ENDS.items()} == {
        BRANDS: 45,
        FAST: 29,
        BRAWL: 29,
        TEAMS: 45,
    }


def test_a_custom_table_without_salary() -> None:
    """BRA-MOVE-06: minute 1 begins with a clock of 0:00."""
    game = brands(overrides={"salary_end_minute": 1}).at(0, 37).turn_of(0).roll(0, 1, 2)
    assert game.money() == []
    game = in_minute(brands(overrides={"salary_end_minute": 2}), 1, ms=59_999).at(0, 37).turn_of(0).roll(0, 1, 2)
    assert game.money() == [SALARY, BONUS]


def test_the_minute_is_that_of_the_entry() -> None:
    """BRA-MOVE-07: of the command, or of the expired deadline, that set the move off, throughout."""
    game = in_minute(brands(), 46, ms=-60_000).at(0, 37).turn_of(0).roll(0, 1, 2, after_ms=59_999)
    assert game.money() == [SALARY, BONUS]
    game = in_minute(brands(), 46, ms=-60_000).at(0, 37).turn_of(0).roll(0, 1, 2, after_ms=60_000)
    assert game.money() == []
    early = in_minute(brands(), 46, ms=-TURN_MS[BRANDS] - 1).at(0, 37).turn_of(0).upcoming_dice((1, 2)).expire()
    assert (early.now_ms, early.money()) == (45 * 60_000 - 1, [SALARY, BONUS])
    late = in_minute(brands(), 46, ms=-TURN_MS[BRANDS]).at(0, 37).turn_of(0).upcoming_dice((1, 2)).expire()
    assert (late.now_ms, late.money()) == (45 * 60_000, [])
    # One entry has one minute: the card's move is judged like the throw's.
    game = in_minute(brands(), 46, ms=-1).top_cards("chance", "new_season").at(0, 39).turn_of(0).roll(0, 1, 2)
    assert game.money() == [SALARY, SALARY, BONUS]


@every_mode
def test_an_unowned_property(edition: str) -> None:
    """BRA-MOVE-08: bought at the price or declined, and then auctioned."""
    game = brands(edition).landing(0, 39)
    assert game.option_kinds() >= {"buy", "decline"}
    assert game.option("buy").amount == 4000
    assert brands(edition).landing(0, 39).do(0, c.Buy()).owner(39) == 0
    assert brands(edition).landing(0, 39).do(0, c.Decline()).decision == ("auction_bid", 1)


@every_mode
def test_what_other_cells_demand(edition: str) -> None:
    """BRA-MOVE-09: rent on an opponent's, nothing on one's own or mortgaged one, as a visitor and on Start; taxes."""
    game = brands(edition).owning(1, 39).landing(0, 39)
    assert (game.decision, game.option("pay").amount) == (("payment", 0), 500)
    for quiet in (
        brands(edition).owning(0, 39).landing(0, 39),
        brands(edition).owning(1, 39).mortgaged(39).landing(0, 39),
        brands(edition).landing(0, JAIL),
        brands(edition).landing(0, START),
    ):
        assert (quiet.decision, quiet.money()) == (("roll", 1), [])
    for cell, amount in ((INCOME_TAX, 2000), (LUXURY_TAX, 1000)):
        game = brands(edition).landing(0, cell)
        assert (game.decision, game.option("pay").amount) == (("payment", 0), amount)
        assert game.do(0, c.Pay()).money() == [(0, BANK, amount, "tax")]


def test_an_allys_property() -> None:
    """BRA-MOVE-09: nothing to decide there."""
    game = brands(TEAMS).owning(2, 39).landing(0, 39)
    assert (game.decision, game.money()) == (("roll", 1), [])


def test_a_cell_is_resolved_alike_however_it_was_reached() -> None:
    """BRA-MOVE-10: by a card, M1 or a triple, at the ordinary rent."""
    by_card = drawing("loan_meeting").owning(1, 15).roll(0, 3, 4)
    assert (by_card.position(0), by_card.option("pay").amount) == (15, 250)
    by_card = drawing("plant_visit").owning(1, 12).roll(0, 3, 4)
    assert (by_card.position(0), by_card.option("pay").amount) == (12, 280)
    by_jump = brands(FAST).in_round(8).owning(0, *brands(FAST).edition.board.deeds).owning(1, 15, 25)
    by_jump.at(0, 7).turn_of(0).roll(0, 1, 2, third=M1)
    assert (by_jump.position(0), by_jump.option("pay").amount) == (15, 500)
    by_triple = brands(FAST).in_round(8).owning(1, 12, 28).turn_of(0).roll(0, 3, 3, third=3).do(0, c.ChooseCell(28))
    assert by_triple.option("pay").amount == 600
    again = brands(FAST).in_round(8).top_cards("chance", "small_refund").turn_of(0).roll(0, 1, 5, third=1)
    assert len(again.events_of(CardDrawn)) == 1
    bus = brands(FAST).in_round(8).owning(1, 12).at(0, 7).turn_of(0).roll(0, 5, 1, third=BUS)
    assert bus.do(0, c.ChooseMove("first")).option("pay").amount == 240
