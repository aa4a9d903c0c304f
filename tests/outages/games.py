"""Games of people on a site of virtual time, brought to the decision that a test wants."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from random import Random
from typing import Any

from magnate.game.v1 import command_pb2, decision_pb2, event_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_service

from services.rules.codec.messages import read_decision, write_command
from services.rules.domain.commands import Action, Basket, Command, OfferTrade
from services.rules.domain.options import Option
from tests.outages.screens import Guest, Screen
from tests.outages.whole_site import WholeSite
from tests.support.play import random_action
from tests.support.positions import CATALOGUE

#: what goes on with a game that has no other wish: nobody gives up
PLAY = (
    "roll",
    "buy",
    "decline",
    "pass",
    "pay",
    "end_turn",
    "refuse_trade",
    "choose_move",
    "choose_cell",
    "choose_building",
    "close_gap",
    "claim_buildings",
    "choose_estate",
    "decline_bet",
    "sell_buildings",
    "mortgage",
    "declare_bankruptcy",
)
_numbers = itertools.count(1)


@dataclass
class Game:
    """A running game; `guests` in the order of their seats, the first of them with a screen open."""

    site: WholeSite
    edition: str
    table_id: str
    guests: list[Guest]
    screen: Screen
    draw: Random = field(default_factory=lambda: Random(3))

    async def updates(self) -> list[update_pb2.Update]:
        """The log."""
        request = table_service.ReadUpdatesRequest(table_id=self.table_id, page_size=1000)
        answer = await self.site.table.ReadUpdates(request)
        return [update_pb2.Update.FromString(raw) for raw in answer.updates]

    async def last(self) -> update_pb2.Update:
        """The newest update."""
        return (await self.updates())[-1]

    def command(self, decision: decision_pb2.Decision, *wishes: str) -> command_pb2.Command:
        """What the first asked seat answers: the first of the wishes that is legal, then what goes on with the game."""
        known, options = read_decision(decision)
        mine = {option.kind: option for option in options if option.seat == known.seats[0] and _is_open(option)}
        name = next((name for name in (*wishes, *PLAY) if name in mine), next(iter(mine)))
        chosen = Command(known.seats[0], known.id, self._action(mine[name]))
        return command_pb2.Command.FromString(write_command(chosen, f"c{next(_numbers)}"))

    def _action(self, option: Option) -> Action:
        trade = option.trade
        if trade is None or not trade.free_shape:
            return random_action(self.draw, [option])
        cell = trade.get_cells[0]
        return OfferTrade(trade.to, Basket(CATALOGUE.get(self.edition).board.price[cell]), Basket(cells=(cell,)))

    async def submit(self, command: command_pb2.Command, by: Guest | None = None) -> pb.SubmitResponse:
        """Gives a command in the name of whoever holds its seat."""
        guest = by or self.guests[command.seat]
        answer: pb.SubmitResponse = await guest.ask(pb.SubmitRequest(table_id=self.table_id, command=command))
        return answer

    async def play(self, *wishes: str) -> pb.SubmitResponse:
        """One command."""
        return await self.submit(self.command((await self.last()).decision, *wishes))

    async def do(self, seat: int, **action: Any) -> pb.SubmitResponse:
        """A seat's own command, beside what others are asked."""
        decision_id = (await self.last()).decision.decision_id
        return await self.submit(
            command_pb2.Command(command_id=f"c{next(_numbers)}", seat=seat, decision_id=decision_id, **action)
        )

    async def until(self, kind: decision_pb2.DeadlineKind.ValueType, *wishes: str) -> decision_pb2.Deadline:
        """Plays on until a deadline of this kind is in force."""
        for _ in range(400):
            found = [item for item in (await self.last()).deadlines if item.kind == kind]
            if found:
                return found[0]
            await self.play(*wishes)
        raise AssertionError("no such deadline came")

    async def ended(self, deadline: decision_pb2.Deadline) -> int:
        """How often the log has the end of this deadline."""
        wanted = deadline.deadline_id
        return sum(update.command.expire.deadline_id == wanted for update in await self.updates())

    def expired_ms(self, deadline: decision_pb2.Deadline) -> int:
        """When the table first said yes to the end of this deadline, in virtual time."""
        key = (self.table_id, deadline.deadline_id)
        return next(item.at_ms for item in self.site.expired if (item.table_id, item.deadline_id) == key)


def _is_open(option: Option) -> bool:
    """Whether there is something to choose; a deal of free shape wants a deed of the other."""
    return option.trade is None or not option.trade.free_shape or bool(option.trade.get_cells)


async def begin(
    site: WholeSite, edition: str, people: int = 3, *, bots: int = 0, seed: int = 1, **overrides: Any
) -> Game:
    """A game of so many people and bots that has just begun."""
    guests = [await site.guest(f"Guest {number}") for number in range(people)]
    changes = [event_pb2.Override(parameter=name, value=str(value)) for name, value in overrides.items()]
    wish = table_pb2.TableSettings(edition=edition, seats=people + bots, spectators=True, overrides=changes)
    request = pb.CreateTableRequest(settings=wish, command_id=f"t{next(_numbers)}", fixed_seed=f"{seed:064x}")
    table_id = (await guests[0].ask(request)).table.table_id
    for guest in guests[1:]:
        await guest.ask(pb.JoinTableRequest(table_id=table_id))
    if bots:
        await guests[0].ask(pb.AddBotsRequest(table_id=table_id, count=bots))
    await guests[0].ask(pb.StartGameRequest(table_id=table_id))
    return Game(site, edition, table_id, guests, guests[0].open(table_id))
