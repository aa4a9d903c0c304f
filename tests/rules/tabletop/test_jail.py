"""Jail (TAB-JAIL)."""

import pytest

from services.rules.domain import commands as c
from services.rules.domain.commands import Basket
from services.rules.domain.events import Jailed, JailTryFailed, ReleaseCardMoved, Released
from services.rules.domain.parties import BANK, NONE
from tests.rules.tabletop.tables import FIVE, TABLETOPS, a_table, online, rent_tax, tabletop

FINES = [(one, 50) for one in FIVE[:4]] + [("rent-tax", 500)]
#: a free roll of 3 from the jail leads to a deed, 13, in all but rent-tax
WITH_CARDS = FIVE[:4]


@pytest.mark.parametrize("edition", FIVE)
def test_three_ways_to_jail(edition: str) -> None:
    """TAB-JAIL-01: the cell, a card, the third double."""
    card = "to_police" if edition == "rent-tax" else "to_jail_a"
    ways = [
        (a_table(edition).at(0, 27).turn_of(0).roll(0, 1, 2), "cell"),
        (a_table(edition).top_cards("chance", card).at(0, 19).turn_of(0).roll(0, 1, 2), "card"),
        (a_table(edition).turn_of(0).doubles(2).roll(0, 4, 4), "doubles"),
    ]
    for game, reason in ways:
        assert [(event.seat, event.reason) for event in game.events_of(Jailed)] == [(0, reason)]
        assert (game.position(0), game.jail_tries(0)) == (10, 0)


@pytest.mark.parametrize("edition", FIVE)
def test_no_salary_on_the_way_to_jail(edition: str) -> None:
    """TAB-JAIL-02: wherever the token stood."""
    for game in (
        a_table(edition).at(0, 27).turn_of(0).roll(0, 1, 2),
        a_table(edition).at(0, 36).turn_of(0).doubles(2).roll(0, 5, 5),
    ):
        assert game.money() == []
        assert game.cash(0) == game.edition.start_cash


@pytest.mark.parametrize("edition", FIVE)
def test_the_stay_begins_with_the_end_of_the_turn(edition: str) -> None:
    """TAB-JAIL-03, TAB-TURN-06: no more action in it; the next own turn begins in jail, and a way out precedes its
    move."""
    game = a_table(edition, 2).at(0, 27).turn_of(0).roll(0, 1, 2)
    assert game.decision == ("roll", 1)
    game.turn_of(0)
    kinds = {option.kind for option in game.own_options(0)}
    assert {"roll", "pay_fine"} <= kinds


@pytest.mark.parametrize(("edition", "fine"), FINES)
def test_the_fine(edition: str, fine: int) -> None:
    """TAB-JAIL-04: paid from cash to the bank before the roll; the same phase on the same deadline, then a normal
    roll."""
    game = a_table(edition).owning(0, 14).in_jail(0, 1).with_cash(0, fine).turn_of(0)
    assert game.option("pay_fine").amount == fine
    decision = game.state.decision
    game.wait(30_000).do(0, c.PayFine())
    assert game.money() == [(0, BANK, fine, "fine")]
    assert game.events_of(Released) == [Released(0, "fine")]
    assert (game.state.decision, game.deadline) == (decision, ("turn", 60_000))
    assert game.roll(0, 1, 3).position(0) == 14
    game = a_table(edition).in_jail(0).with_cash(0, fine - 1).turn_of(0)
    assert "pay_fine" not in game.option_kinds()
    game.refused(0, c.PayFine(), "not_enough_cash", "TAB-JAIL-04", {"least": fine})


@pytest.mark.parametrize("edition", WITH_CARDS)
def test_a_release_card(edition: str) -> None:
    """TAB-JAIL-04: one already held; it goes to the bottom of its deck, and the roll is a normal one."""
    game = a_table(edition).top_cards("chest", "release_pass_b").at(0, 14).turn_of(0).roll(0, 1, 2)
    assert game.state.release_cards[0] == ("chest",)
    game.owning(0, 13).in_jail(0, 2).turn_of(0).wait(10_000).do(0, c.UseReleaseCard("chest"))
    assert game.events_of(ReleaseCardMoved) == [ReleaseCardMoved("chest", 0, BANK)]
    assert game.events_of(Released) == [Released(0, "card")]
    assert game.cards("chest")[-1] == "release_pass_b"
    assert (game.decision, game.deadline) == (("roll", 0), ("turn", 80_000))
    assert game.roll(0, 1, 2).position(0) == 13


def test_only_a_held_card_and_only_in_jail() -> None:
    """TAB-JAIL-04: the card of another deck, none at all, and a free player are refused."""
    game = tabletop().in_jail(0).turn_of(0)
    game.refused(0, c.UseReleaseCard("chance"), "no_release_card", "TAB-JAIL-04")
    game.holding_release_cards(0, "chest")
    game.refused(0, c.UseReleaseCard("chance"), "no_release_card", "TAB-JAIL-04")
    free = tabletop().holding_release_cards(0, "chest").turn_of(0)
    free.refused(0, c.UseReleaseCard("chest"), "not_in_jail", "TAB-JAIL-04")
    free.refused(0, c.PayFine(), "not_in_jail", "TAB-JAIL-04")


def test_a_card_is_bought_and_used() -> None:
    """TAB-JAIL-04, TAB-TRADE-10: at an agreed price, in the own turn, from another player."""
    game = tabletop().holding_release_cards(1, "chance").in_jail(0, 1).turn_of(0)
    game.state.decks["chance"] = tuple(card for card in game.state.decks["chance"] if card != 9)
    game.do(0, c.OfferTrade(1, Basket(30), Basket(release_cards=("chance",)))).do(1, c.AcceptTrade())
    assert game.money() == [(0, 1, 30, "trade")]
    game.do(0, c.UseReleaseCard("chance"))
    assert (game.jail_tries(0), game.state.release_cards) == (NONE, [(), (), ()])
    assert game.cards("chance")[-1] == "release_pass_a"


@pytest.mark.parametrize("edition", FIVE)
def test_the_double_after_fine_or_card_counts_as_the_first(edition: str) -> None:
    """TAB-JAIL-04: it moves, counts, and gives the extra roll; also before the third try."""
    game = a_table(edition).owning(0, 14).in_jail(0, 2).turn_of(0).do(0, c.PayFine()).roll(0, 2, 2)
    assert (game.position(0), game.state.doubles, game.decision) == (14, 1, ("roll", 0))


@pytest.mark.parametrize("edition", FIVE)
def test_a_double_frees(edition: str) -> None:
    """TAB-JAIL-05: it moves by its sum, free of charge, and gives no extra roll."""
    game = a_table(edition).owning(0, 14).in_jail(0, 1).turn_of(0).roll(0, 2, 2)
    assert game.events_of(Released) == [Released(0, "double")]
    assert (game.position(0), game.jail_tries(0), game.money()) == (14, NONE, [])
    assert game.decision == (("manage", 0) if edition in TABLETOPS else ("roll", 1))
    assert game.state.doubles == 0


@pytest.mark.parametrize("edition", FIVE)
@pytest.mark.parametrize("tries", [0, 1])
def test_a_failed_try(edition: str, tries: int) -> None:
    """TAB-JAIL-05: the first and the second leave the prisoner where he is; TT has the end of the turn."""
    game = a_table(edition).in_jail(0, tries).turn_of(0).roll(0, 1, 2)
    assert game.events_of(JailTryFailed) == [JailTryFailed(0, tries + 1)]
    assert (game.position(0), game.jail_tries(0), game.money()) == (10, tries + 1, [])
    assert game.decision == (("manage", 0) if edition in TABLETOPS else ("roll", 1))


@pytest.mark.parametrize(("edition", "fine"), FINES)
def test_the_third_failed_try(edition: str, fine: int) -> None:
    """TAB-JAIL-06: the fine is due at once and the token moves by that roll; there is no fourth."""
    game = a_table(edition).owning(0, 14).in_jail(0, 2).turn_of(0).roll(0, 1, 3)
    if edition == "rent-tax":
        assert (game.decision, game.position(0)) == (("payment", 0), 10)
        game.do(0, c.Pay())
    assert game.money() == [(0, BANK, fine, "fine")]
    assert game.events_of(Released) == [Released(0, "forced_fine")]
    assert (game.position(0), game.jail_tries(0)) == (14, NONE)
    names = game.event_names()
    assert names.index("MoneyMoved") < names.index("Released") < names.index("TokenMoved")


def test_no_card_after_the_third_roll_and_a_fine_that_is_short() -> None:
    """TAB-JAIL-06, TAB-DEBT-01: a debt to the bank, then the move."""
    game = tabletop().owning(0, 14, 5).holding_release_cards(0, "chest").with_cash(0, 49).in_jail(0, 2).turn_of(0)
    game.roll(0, 1, 3)
    assert (game.decision, game.position(0)) == (("payment", 0), 10)
    game.refused(0, c.UseReleaseCard("chest"), "wrong_decision", "TAB-DEBT-03")
    game.do(0, c.Mortgage(5))
    assert game.money() == [(BANK, 0, 100, "mortgage"), (0, BANK, 50, "fine")]
    assert (game.position(0), game.decision, game.cash(0)) == (14, ("manage", 0), 99)


def test_three_missed_turns_in_a_row() -> None:
    """TAB-JAIL-05, -06: the tries of one stay are counted over its turns."""
    game = tabletop(2).owning(0, 13).owning(1, 3, 6, 9).in_jail(0).turn_of(0).roll(0, 1, 2).end_turn(0)
    game.roll(1, 1, 2).end_turn(1).roll(0, 1, 2).end_turn(0)
    assert game.jail_tries(0) == 2
    game.roll(1, 1, 2).end_turn(1).roll(0, 1, 2)
    assert game.money() == [(0, BANK, 50, "fine")]
    assert (game.position(0), game.decision) == (13, ("manage", 0))


@pytest.mark.parametrize("edition", FIVE)
def test_a_prisoner_collects_rent(edition: str) -> None:
    """TAB-JAIL-07, TAB-RENT-12: on deeds that are not mortgaged."""
    for mortgaged in (False, True):
        game = a_table(edition).owning(1, 39).in_jail(1).at(0, 36)
        if mortgaged:
            game.mortgaged(39)
        game.turn_of(0).roll(0, 1, 2)
        if game.decision == ("payment", 0):
            game.do(0, c.Pay())
        rent = game.edition.board.rents[39][0]
        assert game.money() == ([] if mortgaged else [(0, 1, rent, "rent")])


def test_a_prisoner_does_business() -> None:
    """TAB-JAIL-07: bids, deals, builds, sells and mortgages."""
    game = tabletop().owning_group(1, "navy").owning(1, 5).in_jail(1).at(0, 34).turn_of(0).roll(0, 1, 1)
    game = tabletop().in_jail(1).owning_group(1, "navy").owning(1, 5).at(0, 32).turn_of(0).roll(0, 1, 2)
    game.do(0, c.Decline()).do(1, c.Bid(30)).do(2, c.Pass()).do(0, c.Pass())
    assert game.owner(35) == 1
    game.turn_of(1).do(1, c.Build((37,))).do(1, c.SellBuildings((37,), 0)).do(1, c.Mortgage(5))
    game.do(1, c.OfferTrade(0, Basket(cells=(35,)), Basket(10))).do(0, c.AcceptTrade())
    assert game.owner(35) == 0


def test_rent_tax_has_no_card() -> None:
    """TAB-JAIL-04, TAB-CARD-07: money or a double only."""
    game = rent_tax().in_jail(0).turn_of(0)
    assert {option.kind for option in game.own_options(0)} == {"roll", "pay_fine", "offer_trade", "surrender"}
    game.refused(0, c.UseReleaseCard("chance"), "no_release_card", "TAB-CARD-07")


def test_online_a_card_may_be_bought_before_the_roll() -> None:
    """TAB-JAIL-04: as in the tabletop game."""
    game = online().holding_release_cards(1, "chest").in_jail(0).turn_of(0)
    game.do(0, c.OfferTrade(1, Basket(10), Basket(release_cards=("chest",)))).do(1, c.AcceptTrade())
    game.do(0, c.UseReleaseCard("chest"))
    assert game.jail_tries(0) == NONE
