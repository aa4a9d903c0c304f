"""The casino (BRA-MOVE-11 to -20)."""

import pytest

from services.rules.domain import chance
from services.rules.domain import commands as c
from services.rules.domain.events import BetDeclined, CasinoPlayed
from services.rules.domain.parties import BANK, JACKPOT
from tests.rules.brands.games import BRANDS, CASINO, FAST, M1, brands, drawing, every_mode
from tests.support.scenario import Game


def at_the_casino(edition: str = BRANDS, *, cash: int = 5000, jackpot: int = 0) -> Game:
    """Seat 0 has just landed on the Casino."""
    game = brands(edition).with_cash(0, cash)
    game.state.jackpot = jackpot
    return game.landing(0, CASINO)


def bet(game: Game, *numbers: int, die: int, draw: int = 20) -> Game:
    """Seat 0 bets; the die and the draw of 1 to 20 show these."""
    return game.upcoming_draws(die - 1, draw - 1).do(0, c.PlaceBet(numbers))


@every_mode
def test_landing_opens_a_bet(edition: str) -> None:
    """BRA-MOVE-11: by dice, or sent by a card."""
    game = brands(edition).at(0, 13).turn_of(0).roll(0, 3, 4)
    assert game.decision == ("casino_bet", 0)
    game = drawing("lucky_evening", edition).roll(0, 3, 4)
    assert (game.position(0), game.decision) == (CASINO, ("casino_bet", 0))


@every_mode
def test_stake_and_numbers(edition: str) -> None:
    """BRA-MOVE-12: 1 to 3 numbers from 1 to 6, and 1000."""
    game = at_the_casino(edition)
    assert game.option("place_bet").amount == 1000
    unfit: tuple[tuple[int, ...], ...] = ((), (1, 2, 3, 4), (0,), (7,), (1, 7), (-1,))
    for picked in unfit:
        game.refused(0, c.PlaceBet(picked), "bad_choice", "BRA-MOVE-12")
    fitting: tuple[tuple[int, ...], ...] = ((1,), (6,), (1, 6), (2, 3, 4))
    for numbers in fitting:
        played = bet(at_the_casino(edition), *numbers, die=5)
        assert played.money()[0] == (0, BANK, 1000, "stake")
        assert played.events_of(CasinoPlayed) == [CasinoPlayed(0, numbers, 5, 20)]


@pytest.mark.parametrize(("numbers", "win"), [((4,), 6000), ((4, 1), 3000), ((6, 5, 4), 2000)])
@every_mode
def test_the_win(edition: str, numbers: tuple[int, ...], win: int) -> None:
    """BRA-MOVE-13, BRA-MOVE-14: 1000 x 6 / K from the bank; the stake is not returned on top."""
    game = bet(at_the_casino(edition), *numbers, die=4)
    assert game.money() == [
        (0, BANK, 1000, "stake"),
        (BANK, JACKPOT, 500, "jackpot"),
        (BANK, 0, win, "casino_win"),
    ]
    assert game.cash(0) == 5000 - 1000 + win
    game = bet(at_the_casino(edition), *numbers, die=2)
    assert game.cash(0) == 4000


@pytest.mark.parametrize("draw", [1, 2, 20])
@pytest.mark.parametrize("die", [3, 4])
def test_the_jackpot(die: int, draw: int) -> None:
    """BRA-MOVE-15, BRA-MOVE-17: with a chance of 1 in 20 the whole jackpot, whatever the die shows."""
    game = bet(at_the_casino(jackpot=2500), 4, die=die, draw=draw)
    won = 3000 if draw == 1 else 0
    assert game.cash(0) == 4000 + (6000 if die == 4 else 0) + won
    assert game.state.jackpot == (0 if draw == 1 else 3000)
    if draw == 1:
        assert game.money()[-1] == (JACKPOT, 0, 3000, "jackpot")


def test_chances_of_die_and_draw() -> None:
    """BRA-MOVE-13, BRA-MOVE-15: one die, and one of 20."""
    game = at_the_casino().upcoming_draws(0, 20)
    with pytest.raises(chance.ChanceError, match="a draw out of 20"):
        game.do(0, c.PlaceBet((1,)))
    game = at_the_casino().upcoming_draws(6, 0)
    with pytest.raises(chance.ChanceError, match="a draw out of 6"):
        game.do(0, c.PlaceBet((1,)))


def test_every_bet_feeds_the_jackpot() -> None:
    """BRA-MOVE-16: 500 paid by the bank, not taken from the stake; it stays for the next bet."""
    game = bet(at_the_casino(), 1, die=2)
    assert (game.state.jackpot, game.cash(0)) == (500, 4000)
    game.landing(1, CASINO).upcoming_draws(1, 19).do(1, c.PlaceBet((1,)))
    assert game.state.jackpot == 1000
    assert game.money() == [(1, BANK, 1000, "stake"), (BANK, JACKPOT, 500, "jackpot")]


def test_the_order_of_a_bet() -> None:
    """BRA-MOVE-17: stake, 500 into the jackpot, die, win, draw; so the very first bet can win 500."""
    game = bet(at_the_casino(), 6, die=6, draw=1)
    assert game.event_names()[:6] == [
        "DecisionClosed",
        "MoneyMoved",
        "MoneyMoved",
        "CasinoPlayed",
        "MoneyMoved",
        "MoneyMoved",
    ]
    assert [(amount, reason) for _, _, amount, reason in game.money()] == [
        (1000, "stake"),
        (500, "jackpot"),
        (6000, "casino_win"),
        (500, "jackpot"),
    ]
    assert game.state.jackpot == 0


@every_mode
def test_declining(edition: str) -> None:
    """BRA-MOVE-18: nothing is paid, and the turn goes on."""
    game = at_the_casino(edition).do(0, c.Decline())
    assert game.events_of(BetDeclined) == [BetDeclined(0)]
    assert (game.money(), game.state.jackpot, game.decision) == ([], 0, ("roll", 1))


def test_declining_ends_only_the_casino() -> None:
    """BRA-MOVE-19: M1 or an extra throw still follows; one bet for each landing."""
    game = brands(FAST).in_round(8).at(0, 17).turn_of(0).roll(0, 1, 2, third=M1).do(0, c.Decline())
    assert (game.position(0), game.decision) == (21, ("purchase", 0))
    game = brands().at(0, 18).turn_of(0).roll(0, 1, 1).do(0, c.Decline())
    assert game.decision == ("roll", 0)
    game = bet(at_the_casino(), 1, die=1)
    assert game.decision == ("roll", 1)


@every_mode
def test_a_bet_needs_cash_and_different_numbers(edition: str) -> None:
    """BRA-MOVE-20: nothing is sold or mortgaged for it."""
    game = at_the_casino(edition, cash=999).owning(0, 39)
    game.refused(0, c.PlaceBet((1,)), "not_enough_cash", "BRA-MOVE-20", {"least": 1000})
    assert game.option_kinds() == {"decline", "surrender", "ask_pause"}
    game.refused(0, c.Mortgage(39), "wrong_decision", "BRA-MOVE-12")
    game = at_the_casino(edition, cash=1000)
    game.refused(0, c.PlaceBet((3, 3)), "bad_choice", "BRA-MOVE-12")
    game.refused(0, c.PlaceBet((1, 2, 1)), "bad_choice", "BRA-MOVE-12")
    assert bet(game, 2, die=1).cash(0) == 0
