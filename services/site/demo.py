"""`magnate demo`: a whole game of bots through the gateway's real port, told in the terminal, exported and replayed."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from magnate.game.v1 import update_pb2
from magnate.table.v1 import table_pb2

from services.site.embedded import Settings, running
from services.site.errors import CommandError
from services.site.terminal.gateway import Follower, Guest
from services.site.terminal.journal import Journal
from services.site.terminal.names import Names
from services.site.terminal.scores import Scores
from services.site.terminal.texts import load_texts

#: the game of this seed ends within a few hundred commands
DEFAULT_SEED = 7
_REPLAY_LIMIT_S = 300
_STILL_LIMIT_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """What to play. `limit`: commands after which a game that has not ended is stopped."""

    edition: str = "industry"
    seed: int = DEFAULT_SEED
    seats: int = 4
    limit: int = 20_000
    quiet: bool = False
    language: str = "en"
    output: Path | None = None


@dataclass(slots=True)
class DemoGame:
    """A game played so far."""

    commands: int = 0
    events: int = 0
    winner_seat: int | None = None


def seed_of(number: int) -> str:
    """The server's seed for a number that people can type: 32 bytes, big-endian, hexadecimal."""
    return (number % 2**256).to_bytes(32, "big").hex()


async def run_demo(settings: Settings, options: DemoOptions, say: Callable[[str], None]) -> bool:
    """Plays, exports and replays; `say` gets every line. True when there is a winner and the replay agrees.
    Raises CommandError, StartError, ServiceError."""
    if options.output is not None and not options.output.absolute().parent.is_dir():
        raise CommandError(f"there is no folder for {options.output}; make it, or name another file", status=2)
    with tempfile.TemporaryDirectory(prefix="magnate-demo-") as name:
        folder = Path(name)
        async with running(settings.private(), folder) as site:
            say(f"demo: the site is up, gateway at {site.address}")
            guest = Guest(site.address)
            try:
                game, file = await _play_and_export(guest, options, folder, say)
            finally:
                await guest.close()
        if game.winner_seat is None:
            say(f"demo: stopped after {game.commands} commands without a winner; see --limit and --seed")
            replay_ok = False
        else:
            kept = "--output keeps them" if options.output is None else f"kept in {file}"
            say(f"demo: exported {file.stat().st_size} bytes ({kept}); replaying them in a fresh process")
            replay_ok = await _replay(file, say)
    # Nothing comes after this line: programs read it.
    say(
        json.dumps(
            {
                "edition": options.edition,
                "seed": options.seed,
                "commands": game.commands,
                "events": game.events,
                "winner_seat": game.winner_seat,
                "replay_ok": replay_ok,
            }
        )
    )
    return game.winner_seat is not None and replay_ok


async def _play_and_export(
    guest: Guest, options: DemoOptions, folder: Path, say: Callable[[str], None]
) -> tuple[DemoGame, Path]:
    await guest.begin("Spectator")
    known = [edition.edition for edition in (await guest.info()).editions]
    if options.edition not in known:
        raise CommandError(f"there is no edition {options.edition}; try one of: {', '.join(known)}", status=2)
    edition = await guest.edition(options.edition)
    created = await guest.create_table(
        table_pb2.TableSettings(edition=options.edition, seats=options.seats, spectators=True, unlisted=True),
        spectate=True,
        fixed_seed=seed_of(options.seed),
    )
    table_id = created.table.table_id
    await guest.add_bots(table_id, options.seats)
    table = await guest.start_game(table_id)
    names = Names(load_texts(options.language), edition, table.seats)
    game = await _watch(guest, table_id, names, options, say)
    file = options.output or folder / f"{options.edition}-{options.seed}.mgl"
    if game.winner_seat is not None:
        try:
            with file.open("wb") as exported:
                async for piece in guest.export(table_id):
                    exported.write(piece)
        except OSError as error:
            raise CommandError(f"cannot write {file}: {error.strerror}; name another file with --output") from None
    return game, file


async def _watch(
    guest: Guest, table_id: str, names: Names, options: DemoOptions, say: Callable[[str], None]
) -> DemoGame:
    game, journal, scores = DemoGame(), Journal(names), Scores(names)
    loop = asyncio.get_running_loop()
    moved_s = loop.time()
    async for message in Follower(guest, table_id, after_seq=0).messages():
        if not message.HasField("update"):
            if loop.time() - moved_s > _STILL_LIMIT_S:
                raise CommandError(f"the game has stood still for {_STILL_LIMIT_S} s after event {game.events}")
            continue
        moved_s, update = loop.time(), message.update
        # The first update is the start of the game, which nobody commanded.
        game.commands += update.HasField("command")
        game.events = update.last_seq
        game.winner_seat = _winner(update)
        for event in update.events:
            line = scores.note(event)
            if line and not options.quiet:
                say(line)
            text = journal.line(event)
            if text and not options.quiet:
                say(f"{event.seq:>6} {text}")
        if update.game_over or game.commands >= options.limit:
            break
    return game


def _winner(update: update_pb2.Update) -> int | None:
    for event in update.events:
        if event.HasField("game_ended"):
            return next((place.seat for place in event.game_ended.places if place.place == 1), None)
    return None


async def _replay(file: Path, say: Callable[[str], None]) -> bool:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "services.site", "replay", str(file)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        async with asyncio.timeout(_REPLAY_LIMIT_S):
            output, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        say("demo: the replay took too long and was stopped")
        return False
    for line in output.decode(errors="replace").splitlines():
        say(line)
    return process.returncode == 0
