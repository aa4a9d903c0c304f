"""`magnate play`: a person against bots, at a site of its own or at a gateway somewhere."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import grpc
from magnate.table.v1 import table_pb2

from services.kit.calls import TlsError, TlsFiles
from services.kit.errors import ServiceError
from services.site.demo import seed_of
from services.site.embedded import Settings, running
from services.site.errors import CommandError
from services.site.terminal.console import Console, PlainConsole, is_terminal
from services.site.terminal.gateway import Guest
from services.site.terminal.names import Names
from services.site.terminal.player import Player
from services.site.terminal.screen import Screen
from services.site.terminal.texts import Texts, load_texts

_KEY = "play.json"
_SITE = "play"
#: a pause in which a person can read what a bot has done
_PACE_MS = 700
_MOST_NAME_CHARS = 32


@dataclass(frozen=True, slots=True)
class Door:
    """The way to a gateway; `connect` empty: to that of a site of its own.

    `tls`: the connection is encrypted; `tls_ca` names a PEM file of authorities instead of those that gRPC knows,
    `tls_name` the name in the certificate if it is not the host's."""

    connect: str = ""
    tls: bool = False
    tls_ca: str = ""
    tls_name: str = ""

    def check(self) -> None:
        """Raises CommandError for a file that is no use."""
        try:
            TlsFiles(authorities=self.tls_ca).check()
        except TlsError as error:
            raise CommandError(f"--tls-ca: {error}", status=2) from None

    def guest(self, address: str) -> Guest:
        """A client that goes this way to an address."""
        return Guest(address, TlsFiles(authorities=self.tls_ca), self.tls_name) if self.tls else Guest(address)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayOptions:
    """How to play. `pace_ms` None: slow for people, at once for scripts."""

    language: str = "en"
    edition: str = "industry"
    bots: int = 3
    name: str = ""
    seed: int | None = None
    door: Door = Door()
    resume: bool = False
    pace_ms: int | None = None
    plain: bool = False


@dataclass(frozen=True, slots=True)
class KeptGame:
    """The key to a game that goes on: who has it can play it."""

    door: Door
    token: str
    table_id: str


async def run_play(settings: Settings, folder: Path, options: PlayOptions) -> int:
    """Plays on this terminal; the exit status. Raises CommandError, StartError, ServiceError."""
    is_plain = options.plain or not is_terminal()
    pace_ms = options.pace_ms if options.pace_ms is not None else (0 if is_plain else _PACE_MS)
    async with _gateway(settings.private(think_ms=pace_ms), folder, options) as address:
        try:
            with _console(is_plain) as console:
                lines = await play(console, address, folder, options)
        except asyncio.CancelledError:
            # Ctrl-C: the way to go on is of use now too.
            if (folder / _KEY).exists():
                print(load_texts(options.language).say("menu", "kept"), flush=True)
            raise
        # After the screen has been given back, so that it stays to be read.
        for line in lines:
            print(line, flush=True)
    return 0


async def play(console: Console, address: str, folder: Path, options: PlayOptions) -> list[str]:
    """Plays at a gateway until the game ends or the player leaves; what is to be said after that."""
    texts = load_texts(options.language)
    kept = _read_key(folder) if options.resume else None
    door = options.door if kept is None else kept.door
    guest = door.guest(address)
    try:
        if kept is not None:
            table, seat = await _go_on(guest, kept)
        else:
            table, seat = await _begin(guest, options)
        _write_key(folder, KeptGame(door, guest.token, table.table_id))
        edition = await guest.edition(table.settings.edition, table.settings.edition_version)
        names = Names(texts, edition, table.seats)
        _greet(console, texts, names, address, table, resumed=kept is not None)
        player = Player(guest, table.table_id, seat, names, console)
        if not await player.run():
            return [texts.say("menu", "kept")]
        (folder / _KEY).unlink(missing_ok=True)
        return player.ending
    finally:
        await guest.close()


@asynccontextmanager
async def _gateway(settings: Settings, folder: Path, options: PlayOptions) -> AsyncIterator[str]:
    """The address to play at; a site of its own lives as long as it is needed."""
    door = _read_key(folder).door if options.resume else options.door
    address = door.connect
    if address:
        door.check()
        if options.seed is not None:
            raise CommandError("--seed chooses the game of a site of its own only; leave out --connect", status=2)
        yield address
        return
    if door.tls:
        raise CommandError("--tls is for a gateway that is up already; name it with --connect", status=2)
    async with running(settings, folder / _SITE) as site:
        yield site.address


@contextmanager
def _console(is_plain: bool) -> Iterator[Console]:
    if is_plain:
        console = PlainConsole(sys.stdout, echo=not sys.stdin.isatty())
        console.read_from(sys.stdin)
        yield console
    else:
        with Screen().opened() as screen:
            yield screen


async def _begin(guest: Guest, options: PlayOptions) -> tuple[table_pb2.Table, int]:
    """A new table with bots; the person sits in the seat that the answer names."""
    try:
        await guest.begin(
            options.name.strip()[:_MOST_NAME_CHARS] or load_texts(options.language).say("words", "player")
        )
        known = [edition.edition for edition in (await guest.info()).editions]
    except ServiceError as error:
        if error.code is not grpc.StatusCode.UNAVAILABLE:
            raise
        cause = f" ({error.message})" if guest.is_encrypted else ""
        raise CommandError(
            f"no gateway answers at {guest.address}{cause}; is it up, and is the address right?"
        ) from None
    if options.edition not in known:
        raise CommandError(f"there is no edition {options.edition}; try one of: {', '.join(known)}", status=2)
    created = await guest.create_table(
        table_pb2.TableSettings(edition=options.edition, seats=options.bots + 1, unlisted=True),
        fixed_seed="" if options.seed is None else seed_of(options.seed),
    )
    table_id = created.table.table_id
    await guest.add_bots(table_id, options.bots)
    table = await guest.start_game(table_id)
    return table, (await guest.describe_table(table_id)).own_seat


async def _go_on(guest: Guest, kept: KeptGame) -> tuple[table_pb2.Table, int]:
    try:
        await guest.resume(kept.token)
        described = await guest.describe_table(kept.table_id)
    except ServiceError as error:
        if error.code not in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.NOT_FOUND):
            raise
        raise CommandError("the kept game is gone; begin a new one with: magnate play") from None
    if not described.HasField("own_seat"):
        raise CommandError("somebody else holds your seat now; begin a new game with: magnate play")
    return described.table, described.own_seat


def _greet(
    console: Console, texts: Texts, names: Names, address: str, table: table_pb2.Table, *, resumed: bool
) -> None:
    bots = sum(1 for seat in table.seats if seat.bot_level)
    console.notice(texts.say("menu", "welcome", edition=names.edition_name, bots=bots, address=address))
    if resumed:
        console.notice(texts.say("menu", "going_on", table=table.table_id))
    console.notice(texts.say("menu", "seed_hash", hash=table.seed_hash))


def _read_key(folder: Path) -> KeptGame:
    try:
        kept = json.loads((folder / _KEY).read_text(encoding="utf-8"))
        token, table_id = kept.pop("token"), kept.pop("table_id")
        return KeptGame(Door(**kept), token, table_id)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        raise CommandError(f"there is no kept game in {folder}; begin one with: magnate play") from None


def _write_key(folder: Path, kept: KeptGame) -> None:
    """Keeps the key where only its owner can read it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / _KEY
    file.touch(mode=0o600)
    content = {"token": kept.token, "table_id": kept.table_id, **asdict(kept.door)}
    file.write_text(json.dumps(content), encoding="utf-8")
