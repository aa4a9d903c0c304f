"""Ends a deadline on behalf of the clock service."""

from __future__ import annotations

from magnate.game.v1 import command_pb2

from services.table.application.commands import Commands, Done, Order
from services.table.application.errors import from_refused
from services.table.application.lobby import key_of
from services.table.application.submit import RESERVED
from services.table.domain.refusals import RefusalError


class ExpireDeadline:
    """The command's id follows from the deadline, so that however often it comes it is done once."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    async def run(self, table_id: str, deadline_id: int) -> Done:
        """ServiceError `stale_deadline` or `not_due` by the rules."""
        try:
            key = key_of(table_id)
        except RefusalError as refused:
            raise from_refused(refused) from None
        command = command_pb2.Command(
            command_id=f"{RESERVED}expire:{deadline_id}", expire=command_pb2.Expire(deadline_id=deadline_id)
        )
        return await self._commands.do(Order(key, command, self._commands.stamp(key), lambda _: None))
