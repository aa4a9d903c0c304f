"""What nobody may know while a game runs, searched in every byte that the site sends, writes and publishes."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import sys
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import redis
from magnate.gateway.v1 import gateway_service_pb2 as pb
from magnate.table.v1 import table_service_pb2 as table_pb

from services.kit.calls import RemoteClient, open_channel
from tests.support.http import request
from tests.support.site_clients import Guest, Visitors
from tests.support.sites import LiveSite

_TABLE = table_pb.DESCRIPTOR.services_by_name["TableService"]


def _forms(secret: bytes) -> Iterator[bytes]:
    """A secret as it may stand somewhere: raw, hexadecimal, or base64 at any alignment."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for shift in range(3):
            # What stands before and after it spoils the first and the last characters.
            yield encode(b"\0" * shift + secret)[4:-4]


def _order_forms(order: list[int]) -> Iterator[bytes]:
    """The order of a deck as it may stand somewhere: packed numbers, or a list as text."""
    yield from _forms(bytes(order))
    for gap in (",", ", "):
        yield gap.join(map(str, order)).encode()


async def _metrics(site: LiveSite) -> bytes:
    pages = [await request("GET", f"http://127.0.0.1:{port}/metrics") for port in site.metrics_ports.values()]
    return b"".join(page.body for page in pages)


def _published(site: LiveSite) -> bytes:
    """All that lies in Redis."""
    if site.redis is None:
        return b""
    found = b""
    with redis.Redis(port=site.redis.port) as client:
        for key in client.scan_iter():
            for _, fields in client.xrange(key) if client.type(key) == b"stream" else ():
                found += b"".join(name + value for name, value in fields.items())
    return found


async def _between_services(site: LiveSite, table_id: str) -> bytes:
    """What the table service tells other services about a running game."""
    if site.is_embedded:
        return b""
    async with open_channel(site.table_address) as channel:
        table: Any = RemoteClient(_TABLE, channel)
        updates = await table.ReadUpdates(table_pb.ReadUpdatesRequest(table_id=table_id), raw=True)
        snapshot = await table.GetSnapshot(table_pb.GetSnapshotRequest(table_id=table_id), raw=True)
        return bytes(updates + snapshot)


def _secrets_of(exported: bytes) -> tuple[bytes, list[list[int]]]:
    """The server's seed and the orders of the decks out of the file of a finished game."""
    entries = [json.loads(line) for line in exported.splitlines()[1:]]
    seed = next(
        event["game_ended"]["server_seed"] for event in entries[-1]["update"]["events"] if "game_ended" in event
    )
    orders = [
        event["deck_shuffled"]["order"]
        for entry in entries
        for event in entry.get("secrets", [])
        if "deck_shuffled" in event
    ]
    return bytes.fromhex(seed), [[int(card) for card in order] for order in orders]


async def _play_and_listen(site: LiveSite, visitors: Visitors) -> tuple[list[Guest], str, bytes, bytes]:
    """A game of two to its end: the clients, the table, all that was heard while it ran, and its file afterwards."""
    people = await visitors.people(2)
    watcher = await visitors.guest("Watcher")
    clients = [*people.guests, watcher]
    running: list[bytes] = []
    async with (
        people.guests[0].watching(people.table_id, 0) as playing,
        watcher.watching(people.table_id) as watching,
    ):
        await watching.snapshot()
        for _ in range(3):
            await people.play(playing, 4)
            await watcher.log(people.table_id)
            running.append(await watcher.export(people.table_id))
        running += [await _metrics(site), _published(site), await _between_services(site, people.table_id), site.logs()]
        await people.ruin(playing)
        last = playing.frames[-1]
    # The last update reveals the seed, and only that.
    running += [part for guest in clients for part in guest.heard if part != last]
    return clients, people.table_id, b"\n".join(running), await people.guests[1].export(people.table_id)


async def _replay(file: Path) -> tuple[int | None, str]:
    """Exit status of `magnate replay`, and what it says."""
    replay = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.site", "replay", str(file)), stdout=PIPE, stderr=STDOUT
    )
    said, _ = await replay.communicate()
    return replay.returncode, said.decode()


async def test_nothing_secret_while_the_game_runs(site: LiveSite, visitors: Visitors, tmp_path: Path) -> None:
    """No seed, order of a deck, token or seat secret in streams, views, logs, metrics or what services publish and
    tell each other; the file of the finished game has the seed and the orders, and replays."""
    clients, table_id, heard, exported = await _play_and_listen(site, visitors)
    assert len(heard) > 50_000
    seed, orders = _secrets_of(exported)
    table = (await clients[0].ask(pb.DescribeTableRequest(table_id=table_id))).table
    assert hashlib.sha256(seed).hexdigest() == table.seed_hash
    assert len(orders) == 2
    for form in _forms(seed):
        assert form not in heard
    for order in orders:
        assert len(order) == 10
        for form in _order_forms(order):
            assert form not in heard
    secrets = [secret for guest in clients for secret in guest.secrets]
    assert len(secrets) == 5
    everything = heard + exported + site.logs() + await _metrics(site) + _published(site)
    for secret in secrets:
        for part in {secret, secret.rsplit(".", 1)[-1]}:
            for form in _forms(part.encode()):
                assert form not in everything
    # The seed is not written down anywhere even when it is known to the players.
    for form in _forms(seed):
        assert form not in site.logs()
    file = tmp_path / f"{table_id}.mgl"
    file.write_bytes(exported)
    status, said = await _replay(file)
    assert status == 0, said
    assert "dice and cards drawn anew" in said


async def test_a_running_game_is_exported_without_its_secrets(visitors: Visitors, tmp_path: Path) -> None:
    """The file replays as far as it goes, and says that chance could not be checked."""
    people = await visitors.people(2)
    async with people.guests[0].watching(people.table_id, 0) as watcher:
        await people.play(watcher, 6)
    exported = await people.guests[0].export(people.table_id)
    header, *lines = [json.loads(line) for line in exported.splitlines()]
    assert (header["finished"], len(lines)) == (False, 7)
    assert not any("secrets" in line for line in lines)
    file = tmp_path / "running.mgl"
    file.write_bytes(exported)
    status, said = await _replay(file)
    assert status == 0, said
    assert "dice and cards drawn anew" not in said


async def test_the_hash_of_the_seed_was_published_first(visitors: Visitors) -> None:
    """When the table was created, and the first event says it again, with the nonces of the seats."""
    host, guest = await visitors.guests(2)
    table = await visitors.table(host, seats=2)
    await guest.ask(pb.JoinTableRequest(table_id=table.table_id, nonce="beef"))
    started = (await host.ask(pb.StartGameRequest(table_id=table.table_id))).table
    assert started.seed_hash == table.seed_hash
    async with guest.watching(table.table_id, 0) as watcher:
        first = (await watcher.update()).events[0].game_started
    assert (first.seed_hash, [seat.nonce for seat in first.seats]) == (table.seed_hash, ["", "beef"])
