"""Bots that do not answer: asked again, then played by the table with the choice that spends least [IND-BOT-09]."""

from __future__ import annotations

import pytest
from magnate.game.v1 import command_pb2 as cmd
from magnate.game.v1 import decision_pb2 as dec
from magnate.table.v1 import table_pb2

from services.table.application import bot_watch
from services.table.domain.fallback import least_spending
from tests.support.site_of_tables import Tables, open_tables


def _turns(tables: Tables) -> list[table_pb2.BotTurn]:
    return [message.bot_turn for message in tables.heard if message.HasField("bot_turn")]


async def _pass_time(tables: Tables, milliseconds: int) -> None:
    tables.clock.pass_ms(milliseconds)
    await tables.application.bots.play_due(tables.application.commands)
    await tables.settle()


async def test_a_silent_bot_is_asked_again_and_then_played(tables: Tables) -> None:
    """IND-BOT-09"""
    await tables.listen()
    table_id, _ = await tables.running_bots()
    await tables.settle()
    first = _turns(tables)
    await _pass_time(tables, 2_499)
    assert _turns(tables) == first
    await _pass_time(tables, 1)
    assert _turns(tables) == first * 2
    assert len(await tables.updates(table_id)) == 1
    await _pass_time(tables, 2_500)
    last = await tables.last(table_id)
    assert last.command.WhichOneof("action") == "roll"
    assert (last.command.seat, last.command.decision_id) == (first[0].seat, first[0].decision_id)
    assert last.command.command_id.startswith("magnate:bot:")
    assert _turns(tables)[-1].decision_id == last.decision.decision_id


async def test_a_bot_that_answers_is_left_alone(tables: Tables) -> None:
    table_id, _ = await tables.running_bots()
    for number in range(5):
        await _pass_time(tables, 4_900)
        await tables.play(table_id, [], 1, f"n{number}")
    assert not any(update.command.command_id.startswith("magnate:") for update in await tables.updates(table_id))


async def test_a_whole_game_goes_on_without_any_bots_service(tables: Tables) -> None:
    """IND-BOT-09: a person must never wait for a dead service."""
    table_id, _ = await tables.running_bots(3)
    for _ in range(200):
        await _pass_time(tables, 2_500)
    updates = await tables.updates(table_id)
    assert len(updates) > 90
    kinds = {update.command.WhichOneof("action") for update in updates[1:]}
    assert {"roll", "end_turn"} <= kinds
    assert not kinds & {"buy", "bid", "build", "offer_trade", "accept_trade"}


async def test_after_a_restart_silent_bots_are_found(store_url: str) -> None:
    first = await open_tables(store_url)
    table_id, _ = await first.running_bots()
    await first.close()
    second = await open_tables(store_url, clock=first.clock)
    second.clock.pass_ms(10_001)
    await second.application.bots.scan()
    for _ in range(2):
        await _pass_time(second, 2_500)
    assert len(await second.updates(table_id)) == 2
    await second.close()


async def test_silent_bots_are_looked_for_some_at_a_time(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look costs the same however many games there are; after the last one it begins anew."""
    monkeypatch.setattr(bot_watch, "_PAGE", 2)
    first = await open_tables(store_url)
    table_ids = [(await first.running_bots())[0] for _ in range(3)]
    await first.close()
    second = await open_tables(store_url, clock=first.clock)
    second.clock.pass_ms(10_001)
    assert [await second.application.bots.scan() for _ in range(3)] == [True, False, True]
    for _ in range(2):
        await _pass_time(second, 2_500)
    assert [len(await second.updates(table_id)) for table_id in table_ids] == [2, 2, 2]
    await second.close()


def _decision(*actions: dec.LegalAction) -> dec.Decision:
    return dec.Decision(decision_id=9, legal_actions=actions)


def _kinds(commands: list[cmd.Command]) -> list[str | None]:
    return [command.WhichOneof("action") for command in commands]


def test_free_answers_come_before_any_that_cost() -> None:
    """IND-BOT-09"""
    decision = _decision(
        dec.LegalAction(seat=1, buy=100),
        dec.LegalAction(seat=1, decline=True),
        dec.LegalAction(seat=1, pay_fine=50),
        dec.LegalAction(seat=0, roll=True),
    )
    (command,) = least_spending(decision, 1, "id")
    assert command == cmd.Command(command_id="id:0", seat=1, decision_id=9, decline=cmd.Decline())


def test_in_a_debt_buildings_go_first_then_auctions_then_the_bank_then_all() -> None:
    """IND-BOT-09: collapse, auction at the bank's price, bank sale, give up."""
    lots = dec.AuctionLotChoices(
        choices=[dec.AuctionLotChoice(cell=5, opening=dec.AmountRange(least=70, greatest=200, step=1))]
    )
    sales = dec.BuildingChoices(
        choices=[
            dec.BuildingChoice(cell=8, to_level=0, amount=90),
            dec.BuildingChoice(cell=9, to_level=1, amount=40),
        ]
    )
    decision = _decision(
        dec.LegalAction(declare_bankruptcy=True),
        dec.LegalAction(sell_to_bank=dec.DeedChoices(choices=[dec.DeedChoice(cell=3, amount=30)])),
        dec.LegalAction(open_auction=lots),
        dec.LegalAction(sell_buildings=sales),
        dec.LegalAction(surrender=True),
    )
    assert least_spending(decision, 0, "id") == [], "standing rights are not used outside a debt"
    decision.kind = dec.DECISION_KIND_PAYMENT
    commands = least_spending(decision, 0, "id")
    assert _kinds(commands) == [
        "sell_buildings",
        "sell_buildings",
        "open_auction",
        "sell_to_bank",
        "declare_bankruptcy",
    ]
    assert commands[0].sell_buildings == cmd.SellBuildings(cells=[9], to_level=1)
    assert commands[2].open_auction == cmd.OpenAuction(cell=5, opening_bid=70)
    assert commands[3].sell_to_bank == cmd.SellToBank(cell=3)
    assert [command.command_id for command in commands] == [f"id:{number}" for number in range(5)]


def test_a_bot_in_jail_rolls_for_the_double() -> None:
    """IND-BOT-09"""
    decision = _decision(dec.LegalAction(pay_fine=50), dec.LegalAction(use_release_card=""), dec.LegalAction(roll=True))
    assert _kinds(least_spending(decision, 0, "id")) == ["roll"]


def test_who_is_not_asked_has_nothing_to_choose() -> None:
    assert least_spending(_decision(dec.LegalAction(seat=2, roll=True)), 1, "id") == []
