"""Where the replicas of a service are: `host:port`, or several with commas between, or names that stand for several."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from services.kit.logs import get_log
from services.kit.settings import SettingsError

_log = get_log(__name__)
_SCHEME = "dns:///"
_LAST_PORT = 65_535


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """One place. `name` is the host as the setting names it, which a certificate is for; `host` may be its number."""

    host: str
    port: int
    name: str

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_addresses(text: str) -> tuple[Address, ...]:
    """The addresses of a setting, each once, in its order: `host:port`, `[ip6]:port` or `dns:///host:port`, with
    commas between. Raises SettingsError."""
    found = dict.fromkeys(_parse(part.strip()) for part in text.split(",") if part.strip())
    if not found:
        raise SettingsError(
            f"there is no address in {text[:80]!r}; allowed is host:port, or several with commas between"
        )
    return tuple(found)


async def resolve(addresses: Iterable[Address]) -> tuple[Address, ...]:
    """The same with numbers for hosts, in order and each once; names that stand for nobody now are left out."""
    found = await asyncio.gather(*(_resolve(address) for address in addresses))
    return tuple(sorted({address for some in found for address in some}))


def _parse(part: str) -> Address:
    host, colon, port = part.removeprefix(_SCHEME).rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        host = ""
    if not (host and colon and port.isascii() and port.isdecimal() and 0 < int(port) <= _LAST_PORT) or "/" in host:
        raise SettingsError(f"{part[:80]!r} is no address; allowed is host:port, or several with commas between")
    return Address(host, int(port), host)


async def _resolve(address: Address) -> list[Address]:
    loop = asyncio.get_running_loop()
    try:
        answers = await loop.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except OSError as error:
        _log.info("name_unknown", name=address.name, why=str(error))
        return []
    # Who has a number of each kind is there once all the same.
    kinds = {family for family, *_ in answers}
    kind = socket.AF_INET if socket.AF_INET in kinds else socket.AF_INET6
    return [Address(str(place[0]), address.port, address.name) for family, _, _, _, place in answers if family is kind]
