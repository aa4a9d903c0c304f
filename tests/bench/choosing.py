"""The cheapest choice that keeps a game going: what a seat of the load generator does when it is asked."""

from __future__ import annotations

from magnate.game.v1 import command_pb2, decision_pb2

#: from the most to the least wanted; a name that is not legal is passed over
_ORDER = ("roll", "end_turn", "refuse_trade", "pass", "decline", "pay", "declare_bankruptcy")
#: of so many purchases and of so many questions for a bid one is taken
_BUY_EVERY, _BID_EVERY = 2, 5


def choose(decision: decision_pb2.Decision, command_id: str) -> command_pb2.Command | None:
    """The command of the first seat that is asked; None if nothing can be answered."""
    if not decision.legal_actions:
        return None
    seat = decision.legal_actions[0].seat
    legal = {str(action.WhichOneof("action")): action for action in decision.legal_actions if action.seat == seat}
    command = command_pb2.Command(command_id=command_id, seat=seat, decision_id=decision.decision_id)
    if "buy" in legal and decision.decision_id % _BUY_EVERY == 0:
        command.buy.SetInParent()
    elif "bid" in legal and decision.decision_id % _BID_EVERY == 0:
        _bid(command, legal["bid"])
    elif "sell_to_bank" in legal:
        command.sell_to_bank.cell = legal["sell_to_bank"].sell_to_bank.choices[0].cell
    elif "sell_buildings" in legal and decision.kind == decision_pb2.DECISION_KIND_PAYMENT:
        choice = legal["sell_buildings"].sell_buildings.choices[0]
        command.sell_buildings.cells.append(choice.cell)
        command.sell_buildings.to_level = choice.to_level
    else:
        name = next((name for name in _ORDER if name in legal), None)
        if name is None:
            return None
        getattr(command, name).SetInParent()
    return command


def _bid(command: command_pb2.Command, action: decision_pb2.LegalAction) -> None:
    amount = action.bid.amount
    if amount.least <= amount.greatest:
        command.bid.amount = amount.least
    else:
        setattr(command, "pass", command_pb2.Pass())
