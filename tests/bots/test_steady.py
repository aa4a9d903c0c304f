"""The standard bot on built positions."""

from __future__ import annotations

import pytest

from services.rules.domain.commands import (
    AcceptTrade,
    Basket,
    Bid,
    Build,
    Buy,
    DeclareBankruptcy,
    Decline,
    EndTurn,
    OfferTrade,
    OpenAuction,
    Pass,
    PayFine,
    RefuseTrade,
    Roll,
    SellBuildings,
    SellToBank,
    UseReleaseCard,
)
from services.rules.domain.legal import legal_actions
from tests.bots.choosing import BOT, choose, let_play
from tests.support.scenario import Game, a_game


def cell(game: Game, key: str) -> int:
    return game.cell(key)


def sold_out(game: Game, *, but: tuple[str, ...] = ()) -> Game:
    """Every group not named goes round the seats one deed each, so that nobody lacks just one."""
    seats = len(game.state.cash)
    for group, cells in game.edition.board.group_cells.items():
        if group not in but:
            for index, deed in enumerate(cells):
                game.owning(index % seats, deed)
    return game


def test_buys_what_leaves_a_reserve() -> None:
    """A purchase that leaves cash for the rents ahead is made."""
    assert choose(a_game(seats=3, seating="bots").landing(0, "foundry")) == Buy()


def test_declines_what_would_leave_nothing_for_the_rents_ahead() -> None:
    """The same deed is declined when dear rents lie ahead of a thin purse."""
    game = a_game(seats=3, seating="bots").with_cash(0, 330).owning_group(1, "it", 3, 3, 3)
    assert choose(game.landing(0, "foundry")) == Decline()


def test_pays_more_for_a_whole_group() -> None:
    """The deed that completes a group is worth emptying the purse."""
    game = a_game(seats=3, seating="bots").with_cash(0, 345).owning(0, "machine_tool_plant", "shipyard")
    game.owning_group(1, "it", 0, 0, 0)
    assert choose(game.landing(0, "foundry")) == Buy()


@pytest.mark.parametrize(("bidder_owns", "price_paid"), [((), False), (("machine_tool_plant", "shipyard"), True)])
def test_bids_by_valuation(bidder_owns: tuple[str, ...], price_paid: bool) -> None:
    """IND-BOT-02: bids in auctions; above the price only for what completes a group."""
    game = a_game(seats=2, seating="bots").owning(1, *bidder_owns).cash_of_all(2000, 2000)
    game.landing(0, "foundry").do(0, Decline())
    while (decision := game.decision) is not None and decision[0] == "auction_bid":
        seat, option = decision[1], game.option("bid")
        assert option.range is not None
        # Seat 0 bids against it up to 500.
        forced = Bid(option.range.least) if option.range.least <= 500 else Pass()
        game.do(seat, choose(game) if seat == 1 else forced)
    assert (game.owner("foundry") == 1) is price_paid


def test_bids_for_property_of_others() -> None:
    """IND-BOT-02: a rival's own property put up for its bank price finds a bidder."""
    game = a_game(seats=2, seating="bots").owning(0, "foundry").managing(0)
    game.do(0, OpenAuction(cell(game, "foundry"), 150))
    assert let_play(game) == Bid(150)
    assert game.owner("foundry") == 1


def test_does_not_bid_beyond_its_purse() -> None:
    """IND-BOT-02: dear rents ahead hold a bidder back."""
    game = a_game(seats=2, seating="bots").owning(0, "foundry").with_cash(1, 200).owning_group(0, "bakery", 5, 5, 5)
    game.managing(0).do(0, OpenAuction(cell(game, "foundry"), 150))
    assert choose(game) == Pass()


def test_builds_under_its_token() -> None:
    """IND-BOT-06: bots build too, where their token stands in a whole group."""
    game = a_game(seats=2, seating="bots").owning_group(0, "it").at(0, "game_studio").managing(0)
    assert let_play(game) == Build((cell(game, "game_studio"),))
    assert game.level("game_studio") == 1
    assert choose(game) == EndTurn()


def test_does_not_build_its_last_money_away() -> None:
    """IND-BOT-06: the reserve comes before building."""
    game = a_game(seats=2, seating="bots").owning_group(0, "it").at(0, "robotics_lab").with_cash(0, 210)
    assert choose(game.owning_group(1, "bakery", 4, 4, 4).managing(0)) == EndTurn()


def test_keeps_the_last_branch_for_the_dearer_group() -> None:
    """IND-BOT-12: when the supply is short, a cheap group stops growing."""
    game = a_game(seats=2, seating="bots").owning_group(0, "bakery").owning_group(0, "it").at(0, "bread_stall")
    game.branches_left(1, 1).managing(0)
    assert "build" in game.option_kinds()
    assert choose(game) == EndTurn()


def test_builds_the_cheap_group_while_there_are_branches() -> None:
    """IND-BOT-12: nothing is held back while the supply is not short."""
    game = a_game(seats=2, seating="bots").owning_group(0, "bakery").owning_group(0, "it").at(0, "bread_stall")
    assert choose(game.managing(0)) == Build((cell(game, "bread_stall"),))


def test_collapses_a_cheap_branch_for_a_dear_street() -> None:
    """IND-BOT-12: collapses cheap branches to go on building dear ones."""
    game = a_game(seats=2, seating="bots").owning_group(0, "bakery", 1, 1, 0).owning_group(0, "it", 2, 2, 2)
    game.at(0, "data_centre").branches_left(0, 1).managing(0)
    assert let_play(game) == SellBuildings((cell(game, "bread_stall"),), 0)
    assert let_play(game) == Build((cell(game, "data_centre"),))
    assert (game.level("data_centre"), game.level("bread_stall"), game.supply[0]) == (3, 0, 0)


def test_collapses_nothing_after_building_in_this_visit() -> None:
    """IND-BOT-12: no branch is given up when the visit's build is used."""
    game = a_game(seats=2, seating="bots").owning_group(0, "bakery", 1, 1, 0).owning_group(0, "it", 2, 2, 2)
    game.at(0, "data_centre").branches_left(0, 1).counted("visit", "build", (0,)).managing(0)
    assert choose(game) == EndTurn()


def test_a_debt_takes_the_least_useful_first() -> None:
    """IND-BOT-10: a lone deed goes to auction before the branches that earn."""
    game = a_game(seats=2, seating="bots").owning_group(0, "it", 3, 3, 3).owning(0, "bread_stall").with_cash(0, 10)
    game.owing(0, 35)
    assert choose(game) == OpenAuction(cell(game, "bread_stall"), 30)


def test_a_debt_goes_on_to_the_bank_when_nobody_buys() -> None:
    """IND-BOT-10: after an auction without a buyer the bank takes the deed, at no less than its price."""
    game = a_game(seats=2, seating="bots").owning(0, "bread_stall").cash_of_all(10, 0).owing(0, 35)
    assert let_play(game) == OpenAuction(cell(game, "bread_stall"), 30)
    assert game.decision == ("payment", 0)
    assert let_play(game) == SellToBank(cell(game, "bread_stall"))
    assert game.cash(0) == 5


def test_gives_up_only_at_the_very_end() -> None:
    """IND-BOT-10: a debtor who cannot save himself still sells everything before he gives up."""
    game = a_game(seats=3, seating="bots").owning_group(0, "bakery", 2, 1, 1).owning(0, "power_grid")
    game.cash_of_all(10, 0, 0).owing(0, 5000)
    done = []
    while game.decision == ("payment", 0):
        done.append(let_play(game))
    assert done[-1] == DeclareBankruptcy()
    assert DeclareBankruptcy() not in done[:-1]
    assert sum(isinstance(action, SellBuildings) for action in done) == 4
    assert sum(isinstance(action, SellToBank) for action in done) == 4
    assert not game.state.in_play[0]


@pytest.mark.parametrize("seating", ["solo", "bots"])
@pytest.mark.parametrize(("price", "answer"), [(1500, RefuseTrade()), (300, AcceptTrade())])
def test_values_an_offer_the_same_whoever_makes_it(seating: str, price: int, answer: object) -> None:
    """IND-BOT-11, IND-BOT-01: person or bot, the same offer gets the same answer, at once."""
    game = a_game(seats=2, seating=seating).cash_of_all(1500, 2000)  # type: ignore[arg-type]
    game.owning(0, "foundry").owning(1, "shipyard").managing(0)
    game.do(0, OfferTrade(1, Basket(0, (cell(game, "foundry"),)), Basket(price)))
    assert let_play(game) == answer


def test_refuses_to_complete_a_rivals_group_cheaply() -> None:
    """IND-BOT-11: the partner's gain counts against an offer: the price alone buys no whole group."""
    game = a_game(seats=2, seating="bots").owning(0, "foundry", "shipyard").owning(1, "machine_tool_plant").managing(0)
    game.do(0, OfferTrade(1, Basket(320), Basket(0, (cell(game, "machine_tool_plant"),))))
    assert choose(game) == RefuseTrade()


def test_proposes_a_fair_price_for_the_last_deed_of_a_group() -> None:
    """IND-BOT-03: proposes a deal that completes a group, above the price, which an equal partner accepts."""
    game = a_game(seats=2, seating="bots").owning(0, "foundry", "shipyard").owning(1, "machine_tool_plant")
    game.cash_of_all(2500, 1500).managing(0)
    offer = let_play(game)
    assert isinstance(offer, OfferTrade)
    assert (offer.to, offer.get.cells) == (1, (cell(game, "machine_tool_plant"),))
    assert offer.give.cash > 300
    assert game.decision == ("trade_answer", 1)
    assert let_play(game) == AcceptTrade()
    assert game.owner("machine_tool_plant") == 0


def test_swaps_deeds_that_complete_both_groups() -> None:
    """IND-BOT-03: an exchange in which each completes a group needs little money."""
    game = a_game(seats=2, seating="bots").owning(0, "foundry", "shipyard", "game_studio")
    game.owning(1, "machine_tool_plant", "data_centre", "robotics_lab").cash_of_all(300, 300).managing(0)
    offer = let_play(game)
    assert isinstance(offer, OfferTrade)
    assert offer.give.cells == (cell(game, "game_studio"),)
    assert let_play(game) == AcceptTrade()


def test_proposes_once_a_turn() -> None:
    """IND-BOT-03: after the answer the turn goes on without another offer."""
    game = a_game(seats=2, seating="solo").owning(1, "foundry", "shipyard").owning(0, "machine_tool_plant")
    game.cash_of_all(1500, 2500).managing(1)
    assert isinstance(let_play(game), OfferTrade)
    game.do(0, RefuseTrade())
    assert not isinstance(choose(game), OfferTrade)


def test_gathers_scattered_groups() -> None:
    """IND-BOT-03: where every group is scattered, somebody begins to gather one, or no game would end."""
    game = sold_out(a_game(seats=3, seating="bots")).cash_of_all(5000, 5000, 5000).managing(0)
    offer = let_play(game)
    assert isinstance(offer, OfferTrade)
    assert let_play(game) == AcceptTrade()


def test_leaves_jail_early() -> None:
    """Early there is much to buy: the card, or the fine, comes before the attempt."""
    game = a_game(seats=2, seating="bots").in_jail(0).holding_release_cards(0, "market").turn_of(0)
    assert isinstance(choose(game), UseReleaseCard)
    assert choose(a_game(seats=2, seating="bots").in_jail(0).turn_of(0)) == PayFine()


def test_stays_in_jail_late() -> None:
    """Late a seat without a group to build on is safer inside."""
    game = sold_out(a_game(seats=2, seating="bots"), but=("textile", "hospitality"))
    game.owning_group(1, "textile", 3, 3, 3).owning_group(1, "hospitality", 3, 3, 3)
    game.in_jail(0).holding_release_cards(0, "market").turn_of(0)
    assert choose(game) == Roll()


def test_chooses_the_same_from_the_same() -> None:
    """IND-BOT-07, -08: the choice depends on what is seen and on the bot's own seed alone."""
    game = a_game(seats=2, seating="bots").landing(0, "foundry")
    game.do(0, Decline())
    again = a_game(seats=2, seating="bots").top_cards("market", "dividends").upcoming_dice((6, 6))
    again.landing(0, "foundry").do(0, Decline())
    assert [choose(game, seed) for seed in range(30)] == [choose(again, seed) for seed in range(30)]


def test_a_seat_that_is_not_asked_has_no_choice() -> None:
    """IND-BOT-09: only the actor acts."""
    game = a_game(seats=2, seating="bots").turn_of(0)
    with pytest.raises(ValueError, match="seat 1 is not asked"):
        BOT.choose(game.edition, game.state, legal_actions(game.edition, game.state), 1, 0)
