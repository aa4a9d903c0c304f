"""When a table's state is broken: what the rules say of it, or what cannot even be read."""

from __future__ import annotations

from typing import NoReturn

import grpc
from google.protobuf.message import DecodeError

from services.kit.errors import ServiceError
from services.table.domain.refusals import Reason, RefusalError

# Commands that no player chooses: where the rules fail at one of these, the game cannot go on.
_OF_THE_SITE = ("expire", "withdraw")


def fault_of(error: Exception, kind: str) -> str | None:
    """Why a table at which a command of this kind failed so is broken; None if it is not.

    The rules name the fault of a state: an invariant that broke, or what cannot have come out of its commands. Where
    they merely fail, a player's command is at fault first: it is not done, and others may be.
    """
    if isinstance(error, DecodeError):
        return "the last update cannot be read"
    if isinstance(error, RefusalError):
        return error.message if "fault" in error.fields else None
    if not isinstance(error, ServiceError):
        return None
    if "fault" in error.metadata:
        return f"{error.metadata['fault']}: {error.message}"
    if error.code is grpc.StatusCode.INTERNAL and kind in _OF_THE_SITE:
        return f"{kind} fails: {error.message}"
    return None


def refuse_stopped() -> NoReturn:
    """The refusal at a table that the site has stopped."""
    raise RefusalError(Reason.TABLE_STOPPED, "the site has stopped the table; an operator will look at it")
