"""The address of a caller, out of what transports and proxies say."""

from __future__ import annotations

from urllib.parse import unquote

LOCAL = "local"


def address_of(peer: str, forwarded_for: str = "", *, trusted_hops: int = 0) -> str:
    """The caller's host, without a port, at most 64 characters.

    `peer` is as gRPC writes it: `ipv4:10.0.0.7:4711`, `ipv6:[::1]:4711`, `unix:...`. Behind `trusted_hops` proxies
    of one's own the address is the one that the outermost of them has appended to `x-forwarded-for`; what stands
    before it could be written by anybody.
    """
    if trusted_hops > 0 and forwarded_for:
        hops = [part.strip() for part in forwarded_for.split(",")]
        if len(hops) >= trusted_hops and hops[-trusted_hops]:
            return hops[-trusted_hops][:64]
    kind, separator, rest = unquote(peer).partition(":")
    if not separator or kind not in ("ipv4", "ipv6"):
        return LOCAL
    host = rest.rpartition(":")[0] or rest
    return host.strip("[]")[:64]
