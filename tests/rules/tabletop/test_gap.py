"""The pause between turns (TAB-BUILD-17, TAB-BUILD-04)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import AuctionOpened, DecisionClosed, GapAsked, GapClosed, TurnEnded
from services.rules.domain.parties import BANK
from tests.rules.tabletop.tables import TABLETOPS, a_table, online, rent_tax, tabletop
from tests.support.scenario import Game


def with_builders(edition: str = "tabletop", seats: int = 3) -> Game:
    """Seat 1 can build on the brown group, seat 2 can redeem the lake station."""
    return a_table(edition, seats).owning_group(1, "brown").owning(2, 5).mortgaged(5)


def kind(game: Game) -> str:
    return game.state.decision.kind if game.state.decision is not None else ""


@pytest.mark.parametrize("edition", TABLETOPS)
def test_a_gap_before_the_first_roll_opens_at_once(edition: str) -> None:
    """TAB-BUILD-17: 30 seconds for every solvent player; the clock of the player in turn stands."""
    game = with_builders(edition).turn_of(0).wait(20_000).do(1, c.AskGap())
    assert game.events_of(GapAsked) == [GapAsked(1)]
    assert (kind(game), game.asked_seats, game.deadline) == ("gap", (0, 1, 2), ("answer", 30_000))
    game.do(1, c.Build((1,)), after_ms=5_000).do(1, c.CloseGap(), after_ms=5_000)
    assert game.events_of(GapClosed) == [GapClosed(1)]
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 70_000))


@pytest.mark.parametrize("edition", TABLETOPS)
def test_later_it_opens_when_the_turn_ends(edition: str) -> None:
    """TAB-BUILD-17: after a roll, also before an extra one."""
    game = with_builders(edition).at(0, 18).turn_of(0).roll(0, 1, 1).do(1, c.AskGap())
    assert game.decision == ("roll", 0)
    game.at(0, 17).roll(0, 1, 2).end_turn(0)
    assert (kind(game), game.deadline) == ("gap", ("answer", 30_000))
    assert game.events_of(TurnEnded) == []
    game.do(1, c.CloseGap())
    assert game.events_of(TurnEnded) == [TurnEnded(0, "done")]
    assert game.decision == ("roll", 1)


def test_asked_for_in_the_end_of_a_turn() -> None:
    """TAB-BUILD-17: and when time closes it as well."""
    game = with_builders().managing(0).do(1, c.AskGap())
    assert game.decision == ("manage", 0)
    game.expire("turn")
    assert kind(game) == "gap"


def test_it_opens_after_a_turn_that_ends_in_jail() -> None:
    """TAB-BUILD-17: whatever ends the turn."""
    game = with_builders().at(0, 18).turn_of(0).roll(0, 1, 1).do(1, c.AskGap()).at(0, 27).roll(0, 1, 2)
    assert (game.jail_tries(0), kind(game)) == (0, "gap")
    game.expire("answer")
    assert game.decision == ("roll", 1)


def test_it_opens_after_the_turn_of_a_bankrupt() -> None:
    """TAB-BUILD-17: the estate is auctioned, the gap is held, and then the next player rolls."""
    game = with_builders(seats=4).owning(0, 39).managing(0).do(1, c.AskGap()).do(0, c.Surrender())
    assert game.events_of(AuctionOpened)[0].cell == 39
    for seat in (1, 2, 3):
        game.do(seat, c.Pass())
    assert (kind(game), game.asked_seats) == ("gap", (1, 2, 3))
    game.do(1, c.Build((1,))).do(1, c.CloseGap())
    assert game.events_of(TurnEnded) == [TurnEnded(0, "out")]
    assert game.decision == ("roll", 1)


def test_who_may_ask() -> None:
    """TAB-BUILD-17: not the player in turn, and only who could build or redeem something at that moment."""
    game = with_builders(seats=4).turn_of(0)
    assert [option.seat for option in game.options("ask_gap")] == [1, 2]
    game.refused(0, c.AskGap(), "wrong_decision", "TAB-BUILD-17")
    game.refused(3, c.AskGap(), "nothing_to_do", "TAB-BUILD-17")
    poor = with_builders().cash_of_all(1500, 49, 109).turn_of(0)
    poor.refused(1, c.AskGap(), "nothing_to_do", "TAB-BUILD-17")
    poor.refused(2, c.AskGap(), "nothing_to_do", "TAB-BUILD-17")
    poor.cash_of_all(1500, 50, 110).turn_of(0)
    assert [option.seat for option in poor.options("ask_gap")] == [1, 2]


def test_once_in_each_change_of_turn() -> None:
    """TAB-BUILD-17: a second request of the same seat is refused, another's is not; the next turn allows it again."""
    game = with_builders().managing(0).do(1, c.AskGap())
    game.refused(1, c.AskGap(), "already_asked", "TAB-BUILD-17")
    game.do(2, c.AskGap()).end_turn(0).do(1, c.CloseGap()).do(2, c.CloseGap())
    game.at(1, 17).roll(1, 1, 2).do(2, c.AskGap())
    assert game.events_of(GapAsked) == [GapAsked(2)]


def test_an_immediate_gap_is_the_only_one_of_its_asker() -> None:
    """TAB-BUILD-17."""
    game = with_builders().turn_of(0).do(1, c.AskGap()).do(1, c.CloseGap())
    game.refused(1, c.AskGap(), "already_asked", "TAB-BUILD-17")
    game.do(2, c.AskGap())
    assert kind(game) == "gap"


def test_only_in_the_own_phases_of_the_turn() -> None:
    """TAB-BUILD-17: `PRE_ROLL` and `END`; not while a purchase or an answer is open."""
    game = with_builders().at(0, 36).turn_of(0).roll(0, 1, 2)
    game.refused(1, c.AskGap(), "wrong_decision", "TAB-BUILD-17")
    game = with_builders().turn_of(0).do(0, c.OfferTrade(1, Basket(1), Basket(2)))
    game.refused(2, c.AskGap(), "wrong_decision", "TAB-BUILD-17")


def test_what_is_done_in_a_gap() -> None:
    """TAB-BUILD-17: every solvent player builds, redeems, sells and mortgages, in the order of the commands."""
    game = with_builders().owning(0, 15).mortgaged(15).owning(1, 25).turn_of(0).do(1, c.AskGap())
    game.do(0, c.Redeem(15)).do(1, c.Build((1, 3))).do(2, c.Redeem(5)).do(1, c.SellBuildings((1,), 0))
    game.do(2, c.Mortgage(5)).do(1, c.Build((1,)))
    assert (game.level(1), game.level(3)) == (1, 1)
    assert game.deadline == ("answer", 30_000)
    for action in (c.Roll(), c.OfferTrade(1, Basket(1), Basket(2)), c.EndTurn()):
        game.refused(0, action, "wrong_decision", "TAB-BUILD-17")


def test_it_closes_when_all_who_asked_are_done() -> None:
    """TAB-BUILD-17: those who did not ask have nothing to close."""
    game = with_builders().managing(0).do(1, c.AskGap()).do(2, c.AskGap()).end_turn(0)
    game.refused(0, c.CloseGap(), "not_asked", "TAB-BUILD-17")
    game.do(1, c.CloseGap(), after_ms=9_000)
    assert (kind(game), game.deadline) == ("gap", ("answer", 21_000))
    game.refused(1, c.CloseGap(), "not_asked", "TAB-BUILD-17")
    game.do(2, c.CloseGap())
    assert game.events_of(DecisionClosed)[0].outcome == "answered"
    assert game.decision == ("roll", 1)


def test_it_closes_by_time() -> None:
    """TAB-BUILD-17: after 30 seconds, and a command later than that is refused."""
    game = with_builders().managing(0).do(1, c.AskGap()).end_turn(0).wait(30_000)
    game.refused(1, c.Build((1,)), "stale_deadline", "TAB-TIME-04", {"late_ms": 0})
    game.expire("answer")
    assert game.events_of(GapClosed) == [GapClosed(1)]
    assert game.decision == ("roll", 1)


@pytest.mark.parametrize("asked", [("turn_of", 0), ("managing", 0)])
def test_an_asker_who_drops_out_is_not_waited_for(asked: tuple[str, int]) -> None:
    """TAB-BUILD-17, TAB-BANK-09: open or still to come, the gap of a bankrupt alone is none."""
    game = with_builders(seats=4)
    game = game.turn_of(0) if asked[0] == "turn_of" else game.managing(0)
    game.owning(BANK, 1, 3).owning_group(1, "navy").do(1, c.AskGap()).do(1, c.Surrender())
    for cell in (37, 39):
        assert game.events_of(AuctionOpened)[0].cell == cell
        game.do(2, c.Pass()).do(3, c.Pass()).do(0, c.Pass())
    assert game.decision == (("roll" if asked[0] == "turn_of" else "manage"), 0)
    if asked[0] == "managing":
        game.end_turn(0)
        assert game.decision == ("roll", 2)


def test_a_gap_outlives_one_of_its_askers_with_the_rest_of_its_time() -> None:
    """TAB-BUILD-17, TAB-PHASE-02: his estate is auctioned meanwhile."""
    game = with_builders(seats=4).managing(0).do(1, c.AskGap()).do(2, c.AskGap()).end_turn(0).wait(12_000)
    game.do(2, c.Surrender())
    assert game.events_of(AuctionOpened)[0].cell == 5
    for seat in (3, 0, 1):
        game.do(seat, c.Pass(), after_ms=1_000)
    assert (kind(game), game.deadline) == ("gap", ("answer", 18_000))
    assert game.do(1, c.CloseGap()).decision == ("roll", 1)


def test_without_a_request_there_is_no_pause() -> None:
    """TAB-BUILD-17: `end_turn` leads to the next roll."""
    assert with_builders().managing(0).end_turn(0).decision == ("roll", 1)


def test_no_gaps_elsewhere() -> None:
    """TAB-BUILD-30, TAB-BUILD-20: rent-tax and online-classic have none."""
    for game in (rent_tax().owning_group(1, "perfume"), online().owning_group(1, "brown")):
        game.turn_of(0)
        assert "ask_gap" not in game.option_kinds()
        game.refused(1, c.AskGap(), "not_asked", "TAB-PHASE-04")


def test_the_timed_game_waits_for_the_gap() -> None:
    """TAB-BUILD-17: a gap after the last turn is held as well; a turn is over when it closes."""
    game = tabletop().owning_group(1, "brown").managing(0).do(1, c.AskGap()).end_turn(0)
    assert game.state.turn_seat == 0
