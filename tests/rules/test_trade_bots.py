"""Offers to bots and by bots: what is remembered of a refusal."""

import pytest

from services.bots.domain.roster import LEVELS, STANDARD
from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.legal import legal_actions
from services.rules.domain.options import AmountRange, TradeBound, TradeChoice
from services.rules.domain.parties import NONE
from services.rules.domain.view import view
from tests.support.scenario import Game, a_game


def wants(to: int, cell: int, cash: int = 0, give: int = NONE) -> c.OfferTrade:
    """An exchange: a cell of the partner for money, an own cell, or both."""
    return c.OfferTrade(to, Basket(cash, () if give == NONE else (give,)), Basket(cells=(cell,)))


def sells(to: int, cell: int, price: int) -> c.OfferTrade:
    """A sale of an own cell."""
    return c.OfferTrade(to, Basket(cells=(cell,)), Basket(price))


def against_bots(turn: int = 0) -> Game:
    """Person 0 has 1 and 18; bot 1 has 3 and 5; bot 2 has 6. `turn` manages."""
    return a_game(3, "solo").owning(0, 1, 18).owning(1, 3, 5).owning(2, 6).managing(turn)


def refused_by_bot(offer: c.OfferTrade) -> Game:
    """After a bot has refused the person's offer."""
    return against_bots().do(0, offer).do(offer.to, c.RefuseTrade())


def trade_with(game: Game, to: int) -> TradeChoice:
    """What may be offered to a partner."""
    (found,) = [item.trade for item in game.options("offer_trade") if item.trade is not None and item.trade.to == to]
    return found


def test_a_bot_is_asked_and_answers_at_once() -> None:
    """IND-TRADE-10: no deadline runs, and the bot has an answer."""
    game = against_bots().do(0, wants(1, 3, 10))
    assert game.decision == ("trade_answer", 1)
    assert game.state.deadlines == ()
    options = legal_actions(game.edition, game.state)
    answer = LEVELS[STANDARD].bot.choose(game.edition, view(game.state), options, 1, 7)
    assert isinstance(answer, c.AcceptTrade | c.RefuseTrade)


def test_a_refusal_by_a_bot_does_not_use_up_the_trade() -> None:
    """IND-TRADE-12: one may try again, with another bot or for other cells."""
    game = refused_by_bot(wants(1, 3, 100))
    game.do(0, wants(1, 5, 10)).do(1, c.RefuseTrade()).do(0, sells(2, 1, 30)).do(2, c.RefuseTrade())
    game.do(0, wants(1, 3, 200))
    assert game.decision == ("trade_answer", 1)


def test_a_deal_uses_up_the_trade() -> None:
    """IND-TRADE-17: at a bot table only refusals are exempted."""
    game = refused_by_bot(wants(1, 3, 100)).do(0, wants(1, 3, 110)).do(1, c.AcceptTrade())
    assert not game.options("offer_trade")
    game.refused(0, wants(2, 6, 500), "trade_limit_used", "IND-TRADE-01")


def test_a_repeated_offer_pays_a_bot_ten_more() -> None:
    """IND-TRADE-11, IND-TRADE-18, IND-BOT-04: at least 10, for the same cells."""
    game = refused_by_bot(wants(1, 3, 100))
    assert trade_with(game, 1).bounds == (TradeBound(3, NONE, AmountRange(110, 1500)),)
    for cash in (1, 99, 100, 109):
        game.refused(0, wants(1, 3, cash), "not_better_enough", "IND-TRADE-18", {"least": 110})
    game.do(0, wants(1, 3, 110)).do(1, c.RefuseTrade())
    game.refused(0, wants(1, 3, 119), "not_better_enough", "IND-TRADE-18", {"least": 120})
    game.do(0, wants(1, 3, 120))


def test_a_repeated_sale_asks_ten_less_of_a_bot() -> None:
    """IND-TRADE-18: «10 better» compares money, here 10 less asked."""
    game = refused_by_bot(sells(1, 18, 130))
    assert trade_with(game, 1).bounds == (TradeBound(NONE, 18, AmountRange(100, 120)),)
    game.refused(0, sells(1, 18, 121), "not_better_enough", "IND-TRADE-18", {"least": -120})
    game.refused(0, sells(1, 18, 131), "not_better_enough", "IND-TRADE-18", {"least": -120})
    game.do(0, sells(1, 18, 120)).do(1, c.RefuseTrade()).do(0, sells(1, 18, 110)).do(1, c.RefuseTrade())
    game.do(0, sells(1, 18, 100)).do(1, c.RefuseTrade())
    assert trade_with(game, 1).bounds == (TradeBound(NONE, 18, None),)
    game.refused(0, sells(1, 18, 100), "not_better_enough", "IND-TRADE-18", {"least": -90})


def test_a_bare_exchange_that_was_refused_needs_money() -> None:
    """IND-TRADE-18: an exchange of the same two cells."""
    game = refused_by_bot(wants(1, 3, 0, give=1))
    game.refused(0, wants(1, 3, 9, give=1), "not_better_enough", "IND-TRADE-18", {"least": 10})
    assert trade_with(game, 1).exchange_range(3, 1) == AmountRange(10, 1500)
    game.do(0, wants(1, 3, 10, give=1))


@pytest.mark.parametrize(
    "offer",
    [
        wants(1, 3, 1, give=1),
        wants(1, 3, 0, give=18),
        wants(1, 5, 1),
        wants(2, 6, 1),
        sells(1, 1, 30),
        sells(2, 18, 100),
    ],
)
def test_other_cells_or_another_bot_are_another_offer(offer: c.OfferTrade) -> None:
    """IND-TRADE-18: the same cells are the same cell taken and the same cell given."""
    game = refused_by_bot(wants(1, 3, 100)).do(0, offer)
    assert game.decision == ("trade_answer", offer.to)


def test_every_proposer_is_remembered_on_his_own() -> None:
    """IND-TRADE-18: the same proposer; bots that ask bots are bound as well."""
    game = refused_by_bot(wants(1, 3, 100)).managing(2)
    game.do(2, wants(1, 3, 50)).do(1, c.RefuseTrade())
    assert game.state.counters[("game", "offer", (0, 1, 3, NONE))] == 100
    assert game.state.counters[("game", "offer", (2, 1, 3, NONE))] == 50
    game.end_turn(2).roll(0, 4, 6).end_turn(0).managing(2)
    game.state.counters.pop(("turn", "offer_made", (2,)), None)
    game.refused(2, wants(1, 3, 59), "not_better_enough", "IND-TRADE-18", {"least": 60})
    game.do(2, wants(1, 3, 60))


def test_the_memory_lasts_until_a_cell_changes_its_owner() -> None:
    """IND-TRADE-18: not until the end of the turn."""
    game = refused_by_bot(wants(1, 3, 100)).end_turn(0).managing(1).end_turn(1).managing(2).end_turn(2)
    game.roll(0, 4, 6)
    game.refused(0, wants(1, 3, 109), "not_better_enough", "IND-TRADE-18", {"least": 110})
    game.do(0, wants(1, 3, 110)).do(1, c.AcceptTrade()).end_turn(0).managing(1)
    game.do(1, wants(0, 3, 1)).do(0, c.AcceptTrade()).end_turn(1).managing(0)
    assert trade_with(game, 1).bounds == ()
    game.do(0, wants(1, 3, 1))


def test_a_given_cell_that_changes_its_owner_ends_the_memory_too() -> None:
    """IND-TRADE-18: until one of these cells changes owner."""
    game = refused_by_bot(wants(1, 3, 20, give=1)).do(0, wants(1, 5, 20, give=1)).do(1, c.RefuseTrade())
    game.do(0, wants(1, 3, 20)).do(1, c.RefuseTrade()).do(0, sells(2, 1, 30)).do(2, c.AcceptTrade())
    assert game.state.counters == {("game", "offer", (0, 1, 3, NONE)): 20, ("turn", "trade", (0,)): 1, **_offers(game)}


def _offers(game: Game) -> dict[tuple[str, str, tuple[int, ...]], int]:
    return {key: count for key, count in game.state.counters.items() if key[1] == "offer_made"}


def test_a_bot_proposes_to_the_person() -> None:
    """IND-TRADE-13, IND-TRADE-21: the person has no deadline to answer."""
    game = against_bots(turn=1).do(1, wants(0, 1, 90))
    assert game.decision == ("trade_answer", 0)
    assert game.deadline is None
    game.do(0, c.AcceptTrade())
    assert game.money() == [(1, 0, 90, "trade")]
    assert game.owner(1) == 1


def silent(turn_round: int, offer: c.OfferTrade | None = None) -> Game:
    """Bot 1 was refused in round 4 by the person (usually: cell 1 wanted), and manages in another round."""
    game = against_bots(turn=1).in_round(4).do(1, offer or wants(0, 1, 90)).do(0, c.RefuseTrade()).end_turn(1)
    return game.in_round(turn_round).managing(1)


@pytest.mark.parametrize("turn_round", [5, 6, 7, 8, 9])
def test_a_refused_bot_keeps_silent_for_five_rounds(turn_round: int) -> None:
    """IND-TRADE-14, IND-TRADE-19, IND-BOT-03: in rounds r + 1 to r + 5, however the offer is dressed."""
    game = silent(turn_round)
    assert trade_with(game, 0).get_cells == (18,)
    for offer in (wants(0, 1, 90), wants(0, 1, 1200), wants(0, 1, 10, give=3)):
        game.refused(1, offer, "ask_later", "IND-TRADE-19", {"cell": 1})


def test_the_sixth_round_ends_the_silence() -> None:
    """IND-TRADE-14, IND-TRADE-19: from round r + 6 it may."""
    game = silent(10)
    assert trade_with(game, 0).get_cells == (1, 18)
    game.do(1, wants(0, 1, 90))
    assert game.decision == ("trade_answer", 0)


def test_a_refused_sale_is_not_offered_again() -> None:
    """IND-TRADE-19: a cell offered in «Sell» is named no more, neither for sale nor in exchange."""
    game = silent(9, sells(0, 3, 80))
    choice = trade_with(game, 0)
    assert (choice.give_cells, [deed.cell for deed in choice.sales]) == ((5,), [5])
    game.refused(1, sells(0, 3, 40), "ask_later", "IND-TRADE-19", {"cell": 3})
    game.refused(1, wants(0, 1, 0, give=3), "ask_later", "IND-TRADE-19", {"cell": 3})
    game.do(1, sells(0, 5, 100))
    silent(10, sells(0, 3, 80)).do(1, sells(0, 3, 80))


def test_the_silence_is_about_the_named_cell_this_bot_and_the_person() -> None:
    """IND-TRADE-19: what was given in exchange, other bots and other partners are not bound."""
    game = silent(5, wants(0, 1, 0, give=3))
    game.do(1, wants(0, 18, 0, give=3))
    game = silent(5).managing(2).do(2, wants(0, 1, 90))
    assert game.decision == ("trade_answer", 0)
    game = silent(5, sells(0, 3, 80)).do(1, sells(2, 3, 80))
    assert game.decision == ("trade_answer", 2)


def test_a_person_is_not_silenced() -> None:
    """IND-TRADE-14, IND-TRADE-19: only bots keep away from refused cells."""
    game = refused_by_bot(wants(1, 3, 100))
    assert all(key[1] != "silence" for key in game.state.counters)
    game.do(0, wants(1, 3, 0, give=1))


def test_a_bot_proposes_once_in_a_turn() -> None:
    """IND-TRADE-20: to the person or to another bot, whatever the answer."""
    game = against_bots(turn=1).do(1, wants(2, 6, 10)).do(2, c.RefuseTrade())
    assert not game.options("offer_trade")
    game.refused(1, wants(0, 1, 90), "trade_limit_used", "IND-TRADE-20")
    game = against_bots(turn=1).extra_roll_owed().do(1, wants(0, 1, 90)).do(0, c.RefuseTrade())
    game.refused(1, wants(2, 6, 10), "trade_limit_used", "IND-TRADE-20")
    game.end_turn(1).roll(1, 4, 6).do(1, wants(2, 6, 10))
    assert game.decision == ("trade_answer", 2)


def test_a_bot_that_was_refused_by_a_bot_must_offer_more() -> None:
    """IND-TRADE-18, IND-TRADE-20: under the same rules."""
    game = against_bots(turn=1).do(1, wants(2, 6, 30)).do(2, c.RefuseTrade()).end_turn(1).managing(1)
    game.refused(1, wants(2, 6, 39), "not_better_enough", "IND-TRADE-18", {"least": 40})
    game.do(1, wants(2, 6, 40))
