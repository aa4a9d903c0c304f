"""Lets in those whom the contract names as callers of a method, and nobody else."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

import grpc

from services.kit.calls.call import Call
from services.kit.calls.contract import Method
from services.kit.errors import ServiceError
from services.kit.logs import get_log

#: anybody, who need not show who he is
CLIENT = "client"
CLOCK = "clock"
OPERATOR = "operator"

_log = get_log(__name__)
# These show who they are by a token where there are no certificates; the other services are then told apart by the
# network alone.
_ALWAYS_SHOWN = frozenset({CLOCK, OPERATOR})
_HEADER = "authorization"
_BEARER = "Bearer "
_MAX_TOKEN_CHARS = 256
_LOG_PERIOD_S = 1.0
_NAMED_DIGEST = re.compile(r"([A-Za-z0-9][A-Za-z0-9._@-]{0,63}):([0-9a-fA-F]{64})")


@dataclass(frozen=True, slots=True)
class Proof:
    """The SHA-256 of a token that shows its bearer to be `name`, and for an operator which person."""

    name: str
    digest: bytes
    person: str = ""


def clock_proofs(tokens: str) -> list[Proof]:
    """Proofs of the clock from its tokens, commas between them; empty lets nobody pass as the clock."""
    return [Proof(CLOCK, _digest(token)) for token in _parts(tokens)]


def operator_proofs(named: str) -> list[Proof]:
    """Proofs of operators from `NAME:SHA-256 in hex`, commas between them. Raises ValueError for anything else."""
    proofs = []
    for part in _parts(named):
        found = _NAMED_DIGEST.fullmatch(part)
        if found is None:
            raise ValueError("an operator is NAME:SHA-256, the digest in 64 hexadecimal digits")
        proofs.append(Proof(OPERATOR, bytes.fromhex(found[2]), found[1]))
    return proofs


def bearer(tokens: str) -> dict[str, str]:
    """The metadata by which a caller shows the first of its tokens; nothing without one."""
    first = next(iter(_parts(tokens)), "")
    return {_HEADER: _BEARER + first} if first else {}


class Guard:
    """Who a caller is follows from his certificate, from the composition of one process, or from a token.

    A certificate says more than a token: who has shown one is not taken for the clock because he knows its token, for
    every gateway does. An operator's token counts everywhere.
    """

    def __init__(self, proofs: Iterable[Proof] = ()) -> None:
        self._proofs = tuple(proofs)
        self._refused: dict[str, tuple[float, int]] = {}

    def admit(self, method: Method, call: Call) -> None:
        """Notes in the call which operator it is. PERMISSION_DENIED not_allowed; nothing has happened then."""
        only = method.callers
        if only is None or CLIENT in only:
            return
        if call.names is not None and not call.names.isdisjoint(only):
            if OPERATOR in call.names & only:
                call.operator = call.operator or OPERATOR
            return
        proof = self._proof_of(only, call)
        if proof is not None:
            call.operator = proof.person
            return
        if call.names is None and not only <= _ALWAYS_SHOWN:
            return
        self._tell(method, call)
        allowed = ", ".join(sorted(only)) or "nobody"
        raise ServiceError(
            grpc.StatusCode.PERMISSION_DENIED,
            "not_allowed",
            f"{method.name} is for {allowed} only, and the caller has not shown to be that",
            {"method": method.path, "allowed": allowed},
        )

    def _proof_of(self, only: frozenset[str], call: Call) -> Proof | None:
        header = call.metadata.get(_HEADER, "")
        token = header[len(_BEARER) :].strip()
        if header[: len(_BEARER)].lower() != _BEARER.lower() or not 0 < len(token) <= _MAX_TOKEN_CHARS:
            return None
        digest = _digest(token)
        for proof in self._proofs:
            counts = proof.name in only and (call.names is None or proof.name == OPERATOR)
            if counts and hmac.compare_digest(proof.digest, digest):
                return proof
        return None

    def _tell(self, method: Method, call: Call) -> None:
        """One line a second for each method at most, whoever knocks how often."""
        now_s = time.monotonic()
        last_s, untold = self._refused.get(method.path, (now_s - _LOG_PERIOD_S, 0))
        if now_s - last_s < _LOG_PERIOD_S:
            self._refused[method.path] = (last_s, untold + 1)
            return
        self._refused[method.path] = (now_s, 0)
        _log.warning(
            "caller_refused",
            method=method.path,
            peer=call.peer,
            names="unknown" if call.names is None else ",".join(sorted(call.names)),
            allowed=",".join(sorted(method.callers or ())),
            refused_before=untold,
        )


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
