"""What the table plays for a bot that does not answer: the choice that spends least [IND-BOT-09]."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from magnate.game.v1 import command_pb2 as cmd
from magnate.game.v1 import decision_pb2 as dec

Choice = TypeVar("Choice", dec.BuildingChoice, dec.DeedChoice)

# Free answers first, in the order of the statement; then those that editions with more decisions know.
_FREE = (
    "roll",
    "pass",
    "refuse_trade",
    "decline",
    "end_turn",
    "close_gap",
    "choose_estate",
    "claim_buildings",
    "vote_pause",
    "confirm_return",
    "choose_move",
    "choose_cell",
    "choose_building",
    "pay",
)
# In a debt: collapse, auction at the bank's price, bank sale, giving up.
_DEBT = ("sell_buildings", "open_auction", "sell_to_bank", "mortgage", "declare_bankruptcy")


def least_spending(decision: dec.Decision, seat: int, command_id: str) -> list[cmd.Command]:
    """Commands to try one after the other, the thriftiest first; empty if the decision asks nothing of the seat."""
    mine: dict[str, dec.LegalAction] = {}
    for action in decision.legal_actions:
        if action.seat == seat:
            mine[action.WhichOneof("action") or ""] = action
    # Standing rights to sell and mortgage stand beside other decisions too; only a debt is a reason to use them.
    names = (*_FREE, *_DEBT) if decision.kind == dec.DECISION_KIND_PAYMENT else _FREE
    commands = [command for name in names if name in mine for command in _commands(name, mine[name])]
    for number, command in enumerate(commands):
        command.command_id = f"{command_id}:{number}"
        command.seat = seat
        command.decision_id = decision.decision_id
    return commands


def _commands(name: str, action: dec.LegalAction) -> Iterator[cmd.Command]:
    if name in _CHOICES:
        yield from _CHOICES[name](action)
        return
    # The others have no choice inside, or their empty form takes nothing.
    command = cmd.Command()
    getattr(command, name).SetInParent()
    yield command


def _by_amount(choices: Iterable[Choice]) -> list[Choice]:
    return sorted(choices, key=lambda choice: (choice.amount, choice.cell))


def _move(_: dec.LegalAction) -> Iterator[cmd.Command]:
    yield cmd.Command(choose_move=cmd.ChooseMove(option=cmd.MOVE_OPTION_SUM))


def _cell(_: dec.LegalAction) -> Iterator[cmd.Command]:
    # Any cell but the present one, which the decision does not name: one of two is another.
    for cell in (0, 1):
        yield cmd.Command(choose_cell=cmd.ChooseCell(cell=cell))


def _building(action: dec.LegalAction) -> Iterator[cmd.Command]:
    for loss in _by_amount(action.choose_building.choices):
        yield cmd.Command(choose_building=cmd.ChooseBuilding(cell=loss.cell))


def _vote(_: dec.LegalAction) -> Iterator[cmd.Command]:
    yield cmd.Command(vote_pause=cmd.VotePause(yes=True))


def _sale(action: dec.LegalAction) -> Iterator[cmd.Command]:
    for sale in _by_amount(action.sell_buildings.choices):
        yield cmd.Command(sell_buildings=cmd.SellBuildings(cells=[sale.cell], to_level=sale.to_level))


def _auction(action: dec.LegalAction) -> Iterator[cmd.Command]:
    for lot in action.open_auction.choices:
        yield cmd.Command(open_auction=cmd.OpenAuction(cell=lot.cell, opening_bid=lot.opening.least))


def _bank_sale(action: dec.LegalAction) -> Iterator[cmd.Command]:
    for deed in _by_amount(action.sell_to_bank.choices):
        yield cmd.Command(sell_to_bank=cmd.SellToBank(cell=deed.cell))


def _mortgage(action: dec.LegalAction) -> Iterator[cmd.Command]:
    for deed in _by_amount(action.mortgage.choices):
        yield cmd.Command(mortgage=cmd.Mortgage(cell=deed.cell))


_CHOICES: dict[str, Callable[[dec.LegalAction], Iterator[cmd.Command]]] = {
    "choose_move": _move,
    "choose_cell": _cell,
    "choose_building": _building,
    "vote_pause": _vote,
    "sell_buildings": _sale,
    "open_auction": _auction,
    "sell_to_bank": _bank_sale,
    "mortgage": _mortgage,
}
