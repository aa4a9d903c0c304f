"""BotsService."""

from __future__ import annotations

import grpc
from magnate.bots.v1 import bots_service_pb2 as pb
from magnate.game.v1 import command_pb2, edition_pb2

from services.bots.adapters.rules_library import CodecError, RulesReader, encode_command
from services.bots.domain.roster import LEVELS, STANDARD, level_named
from services.kit.calls import Call
from services.kit.errors import ServiceError


class BotsHandler:
    """Tells the levels, and what a bot would do."""

    def __init__(self, reader: RulesReader) -> None:
        self._reader = reader

    async def ListLevels(self, request: pb.ListLevelsRequest, call: Call) -> pb.ListLevelsResponse:
        return pb.ListLevelsResponse(
            levels=[
                pb.Level(
                    level=level.name,
                    name=edition_pb2.Text(en=level.names.en, uk=level.names.uk, ru=level.names.ru),
                    standard=level.name == STANDARD,
                )
                for level in LEVELS.values()
            ]
        )

    async def Choose(self, request: pb.ChooseRequest, call: Call) -> pb.ChooseResponse:
        level = level_named(request.level)
        if level is None:
            raise _invalid("bad_choice", "there is no such level", "level")
        if not request.HasField("snapshot"):
            raise _invalid("malformed", "a snapshot is needed", "snapshot")
        try:
            position = self._reader.position(request.snapshot)
        except CodecError:
            raise _invalid("malformed", "the snapshot is none of a game known here", "snapshot") from None
        decision = position.view.decision
        if decision is None or not any(option.seat == request.seat for option in position.options):
            raise _not_asked(request.seat)
        try:
            action = level.bot.choose(position.edition, position.view, position.options, request.seat, request.seed)
            encoded = b"" if action is None else encode_command(request.seat, decision.id, action, "")
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            # A view that could not come from a game: its parts do not fit each other.
            raise _invalid("malformed", "the snapshot contradicts itself", "snapshot") from None
        command = command_pb2.Command.FromString(encoded) if encoded else None
        return pb.ChooseResponse(command=command)


def _invalid(reason: str, message: str, field: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.INVALID_ARGUMENT, reason, message, {"field": field})


def _not_asked(seat: int) -> ServiceError:
    return ServiceError(
        grpc.StatusCode.PERMISSION_DENIED, "not_asked", "the seat is not asked now", {"seat": str(seat)}
    )
