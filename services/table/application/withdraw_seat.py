"""Takes a seat out of a running game by an operator's word."""

from __future__ import annotations

from magnate.game.v1 import command_pb2

from services.table.application.audit import AuditEntry
from services.table.application.commands import Commands, Done, Order
from services.table.application.lobby import key_of
from services.table.application.submit import RESERVED


class WithdrawSeat:
    """The command's id follows from the seat, so that however often it is asked for it is done once."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    async def run(self, table_id: str, seat: int, entry: AuditEntry) -> Done:
        """ServiceError as the rules refuse. RefusalError `no_table`."""
        key = key_of(table_id)
        command = command_pb2.Command(command_id=f"{RESERVED}withdraw:{seat}", withdraw=command_pb2.Withdraw(seat=seat))
        return await self._commands.do(Order(key, command, self._commands.stamp(key), lambda _: None, audit=entry))
