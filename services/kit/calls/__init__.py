"""Calls between services: one handler class, reached directly or over gRPC, alike for its callers.

A handler is a plain class with an async method for each RPC, `async def Get(self, request, call)`; one that streams
is an async generator; where the client streams, `request` is an async iterator of messages. It raises ServiceError
for every failure that its contract names.
"""

from services.kit.calls.addresses import Address, parse_addresses, resolve
from services.kit.calls.call import Call
from services.kit.calls.channel import Channel
from services.kit.calls.contract import Contract, Method
from services.kit.calls.dispatch import Dispatcher, Gate, Limits, as_service_error, shutting_down
from services.kit.calls.guard import Guard, Proof, bearer, clock_proofs, operator_proofs
from services.kit.calls.local import LocalClient
from services.kit.calls.pool import DRAINING, Member, Pool, PoolClient
from services.kit.calls.remote import ChannelOptions, RemoteClient, open_channel
from services.kit.calls.replicas import Following, OneReplica, RemoteReplicas, Replicas, open_pool
from services.kit.calls.serving import serve
from services.kit.calls.stream import Stream
from services.kit.calls.tls import TlsError, TlsFiles, server_credentials

__all__ = [
    "DRAINING",
    "Address",
    "Call",
    "Channel",
    "ChannelOptions",
    "Contract",
    "Dispatcher",
    "Following",
    "Gate",
    "Guard",
    "Limits",
    "LocalClient",
    "Member",
    "Method",
    "OneReplica",
    "Pool",
    "PoolClient",
    "Proof",
    "RemoteClient",
    "RemoteReplicas",
    "Replicas",
    "Stream",
    "TlsError",
    "TlsFiles",
    "as_service_error",
    "bearer",
    "clock_proofs",
    "open_channel",
    "open_pool",
    "operator_proofs",
    "parse_addresses",
    "resolve",
    "serve",
    "server_credentials",
    "shutting_down",
]
