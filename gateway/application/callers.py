"""Who calls, in which contract version, and whether he calls too often."""

from __future__ import annotations

import time
from dataclasses import dataclass

from gateway.application import refusals
from gateway.domain.addresses import LOCAL, address_of
from gateway.domain.contract_version import (
    CONTRACT_KEY,
    CONTRACT_VERSION,
    OLDEST_CONTRACT_VERSION,
    is_served,
    parse_version,
)
from gateway.domain.rates import Rates
from services.kit.calls import Call

_BEARER = "bearer "
_MAX_TOKEN_CHARS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class CallLimits:
    """Calls each second on average and at once, for a session and for an address; 0 each second limits nothing."""

    session_per_second: float = 200.0
    session_burst: float = 400.0
    address_per_second: float = 2000.0
    address_burst: float = 4000.0
    trusted_hops: int = 0


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the token as given (empty: none), and the address."""

    token: str
    address: str


class Callers:
    """Lets callers in."""

    def __init__(self, limits: CallLimits) -> None:
        self._hops = limits.trusted_hops
        self._sessions = Rates(per_second=limits.session_per_second, burst=limits.session_burst)
        self._addresses = Rates(per_second=limits.address_per_second, burst=limits.address_burst)

    def admit(self, call: Call) -> Caller:
        """The caller with a token of a session; whether it is in force only the table service knows.

        FAILED_PRECONDITION contract_version, UNAUTHENTICATED no_session, RESOURCE_EXHAUSTED overloaded.
        """
        caller = self.admit_anybody(call)
        if not caller.token:
            raise refusals.no_session()
        wait_ms = self._sessions.take(caller.token, time.monotonic())
        if wait_ms:
            raise refusals.overloaded("this session calls too often", wait_ms)
        return caller

    def admit_anybody(self, call: Call) -> Caller:
        """The caller, with or without a token: for calls that need no session."""
        check_version(call)
        metadata = call.metadata
        address = address_of(call.peer, metadata.get("x-forwarded-for", ""), trusted_hops=self._hops)
        if address != LOCAL:
            wait_ms = self._addresses.take(address, time.monotonic())
            if wait_ms:
                raise refusals.overloaded("this address calls too often", wait_ms)
        return Caller(_token_of(metadata.get("authorization", "")), address)


def check_version(call: Call) -> None:
    """FAILED_PRECONDITION contract_version for a client that is too old or too new."""
    spoken = call.metadata.get(CONTRACT_KEY)
    if spoken is None or spoken == CONTRACT_VERSION:
        return
    version = parse_version(spoken)
    if version is None:
        raise refusals.malformed(CONTRACT_KEY, "a contract version looks like 1.0")
    if not is_served(version):
        raise refusals.contract_version(spoken, current=CONTRACT_VERSION, oldest=OLDEST_CONTRACT_VERSION)


def _token_of(header: str) -> str:
    """The token of an `authorization` header; empty for anything but a bearer's token of a sane length."""
    if header[: len(_BEARER)].lower() != _BEARER:
        return ""
    token = header[len(_BEARER) :].strip()
    return token if 0 < len(token) <= _MAX_TOKEN_CHARS and token.isascii() else ""
