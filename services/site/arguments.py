"""The command line of `magnate`: its commands with help texts and examples."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from services.clock.domain.shards import ALL, read_shards
from services.site.alone import ALONE
from services.site.cluster.command import MAX_REPLICAS
from services.site.demo import DEFAULT_SEED
from services.site.terminal.texts import LANGUAGES

_ABOUT = """\
Magnate: an online property-trading board game.

  magnate up                  the whole site in this process; prints where to connect
  magnate demo                a whole game of four bots, exported and replayed
  magnate play                you against bots, in this terminal
  magnate replay game.mgl     check an exported game
  magnate admin inspect TABLE what an operator sees and does
"""
_UP = """\
Without a name: the whole site in one process, with SQLite and no other server. With a name: that service alone, with
Postgres, Redis and the other services where the settings say (magnate settings lists them).

With --distributed: a process for each replica of each service on this machine, over a Postgres and a Redis of its own.

  magnate up
  MAGNATE_GATEWAY_PORT=7500 magnate up
  MAGNATE_DATABASE_URL=postgresql://... magnate up table
  magnate up --distributed --replicas 3
"""
_DEMO = """\
Starts a site of its own on free ports, plays a game of bots through the gateway, tells it here as a watching client
sees it, exports it, and replays the file in a fresh process. The last line is one JSON object; the exit status is 0
when the game had a winner and the replay agreed.

  magnate demo
  magnate demo --seed 12 --seats 3
  magnate demo --quiet --output game.mgl
"""
_PLAY = """\
You against bots. Without --connect a site of its own is started for it, which keeps the game: go on with --continue.

  magnate play
  magnate play --lang uk --bots 2
  magnate play --connect 127.0.0.1:7400
  magnate play --connect play.example:443 --tls
  magnate play --continue
"""
_REPLAY = """\
Decides every command of an exported game anew and compares every event. The exit status is 0 when all are the same,
1 when one differs (the first is named) or the file is no whole log, 2 when the file cannot be opened.

  magnate demo --output game.mgl
  magnate replay game.mgl
"""
_MIGRATE = """\
Brings the tables of all services in the Postgres of MAGNATE_DATABASE_URL up to date, and says where they are. Services
do the same when they start; doing it before has no replica wait for it. Several at once wait for each other.

  MAGNATE_DATABASE_URL=postgresql://... magnate migrate
"""
_ADMIN = """\
Looks at tables and players of a distributed site and changes them, each time with an entry in the audit log. The table
service is where MAGNATE_TABLE_ADDRESS says. MAGNATE_OPERATOR_TOKEN says who calls (asked for where it is not set), or
an operator's certificate does (MAGNATE_TLS_CERT, MAGNATE_TLS_KEY, MAGNATE_TLS_CA).

  magnate admin inspect 7xk2... --check
  magnate admin stop 7xk2... --reason "the auction does not end"
  magnate admin release 7xk2... --reason "looked at, is well"
  magnate admin withdraw 7xk2... 2 --reason "abuse"
  magnate admin delete-player q3fz... --reason "asked for on 1 May"
  magnate admin audit --table 7xk2...
"""
_RESTORED = """\
To be run once on a database that was restored from a backup, before any service starts on it: clients and services then
know that what they saw after that backup is gone. Run on another database it does no harm: each client asks for one
snapshot. It needs the role that owns the tables: MAGNATE_MIGRATE_DATABASE_URL, or else MAGNATE_DATABASE_URL.

  MAGNATE_DATABASE_URL=postgresql://... magnate restored
"""
_CLOCK = """\
Shows the stretches in which play time stood still, and lets it stand still for maintenance: players are told before,
nobody can move in it, and everybody gets the time back. The clocks are where MAGNATE_CLOCK_ADDRESS says.
MAGNATE_OPERATOR_TOKEN says who calls (asked for where it is not set), or an operator's certificate does.

  magnate clock outages --limit 20
  magnate clock hold --in 300 --for 900 --reason "a new version"
  magnate clock holds
  magnate clock release
"""
_SETTINGS = """\
Prints the table of all variables of the environment, with their defaults and what is allowed.

  magnate settings
  magnate settings | grep PORT
"""


def parser() -> argparse.ArgumentParser:
    """The parser; its result has `command` and that command's arguments."""
    top = _described(argparse.ArgumentParser, prog="magnate", description=_ABOUT)
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, help_text: str, description: str) -> argparse.ArgumentParser:
        return _described(commands.add_parser, name, help=help_text, description=description)

    up = command("up", "start the whole site, or one service of it", _UP)
    up.add_argument("part", nargs="?", choices=("all", *ALONE), default="all", help="what to start (default: all)")
    up.add_argument("--distributed", action="store_true", help="replicas of every service, each a process")
    up.add_argument(
        "--replicas", type=_number(1, MAX_REPLICAS), default=2, help="replicas of each service (default: 2)"
    )
    _demo_arguments(command("demo", "play a whole game of bots", _DEMO))
    _play_arguments(command("play", "play against bots in this terminal", _PLAY))
    replay = command("replay", "check an exported game", _REPLAY)
    replay.add_argument("file", type=Path, help="file that was exported")
    command("migrate", "bring a Postgres up to date", _MIGRATE)
    _admin_arguments(command("admin", "look at tables and players, and change them", _ADMIN))
    command("restored", "begin another history of a restored database", _RESTORED)
    _clock_arguments(command("clock", "see outages, and let play time stand still for maintenance", _CLOCK))
    command("settings", "print the table of all settings", _SETTINGS)
    return top


def _admin_arguments(admin: argparse.ArgumentParser) -> None:
    actions = admin.add_subparsers(dest="what", metavar="ACTION", required=True)

    def action(name: str, help_text: str, subject: str = "", *, reason: bool = True) -> argparse.ArgumentParser:
        chosen = actions.add_parser(name, help=help_text)
        if subject:
            chosen.add_argument(f"{subject}_id", metavar=subject.upper(), help=f"id of the {subject}")
        if reason:
            chosen.add_argument("--reason", required=True, help="why, for the audit log")
        return chosen

    inspect = action("inspect", "show where a table stands, without its secrets", "table", reason=False)
    inspect.add_argument("--check", action="store_true", help="decide its log anew")
    action("stop", "let a running table stand still", "table")
    action("release", "let a stopped table go on, if its log is decided anew to the same end", "table")
    withdraw = action("withdraw", "take a seat out of a running game", "table")
    withdraw.add_argument("seat", metavar="SEAT", type=_number(0, 7), help="number of the seat")
    action("delete-player", "delete what is kept of a player", "session")
    audit = action("audit", "show the newest entries of the audit log", reason=False)
    audit.add_argument("--table", dest="table_id", metavar="TABLE", default="", help="only of this table")


def _clock_arguments(clock: argparse.ArgumentParser) -> None:
    actions = clock.add_subparsers(dest="what", metavar="ACTION", required=True)
    outages = actions.add_parser("outages", help="what did not count, newest first, and what lasts")
    outages.add_argument("--limit", type=_number(1, 100_000), default=50, help="at most so many (default: 50)")
    hold = actions.add_parser("hold", help="announce that play time will stand still")
    release = actions.add_parser("release", help="let play time go on, or take an announcement back")
    for chosen in (hold, release):
        chosen.add_argument("--shards", type=_shards, default=ALL, help="such as 0-31,40 (default: all)")
    hold.add_argument(
        "--in", dest="begins_in", type=_number(0, 604_800), default=60, help="seconds until it begins (default: 60)"
    )
    hold.add_argument(
        "--for", dest="lasts", type=_number(1, 86_400), default=600, help="seconds it lasts (default: 600)"
    )
    hold.add_argument("--reason", required=True, help="why, for players to read")
    actions.add_parser("holds", help="what is held, and what is announced")


def _shards(text: str) -> tuple[int, ...]:
    try:
        return read_shards(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _demo_arguments(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--edition", default="industry", help="edition to play (default: industry)")
    demo.add_argument(
        "--seed", type=_number(0, 2**256 - 1), default=DEFAULT_SEED, help=f"chooses the game (default: {DEFAULT_SEED})"
    )
    demo.add_argument("--seats", type=_number(2, 8), default=4, help="bots at the table (default: 4)")
    demo.add_argument(
        "--limit", type=_number(1, 10**9), default=20_000, help="commands after which to stop (default: 20000)"
    )
    demo.add_argument("--lang", choices=LANGUAGES, help="language of the journal (default: MAGNATE_LANG)")
    demo.add_argument("--output", type=Path, help="keep the exported game in this file")
    demo.add_argument("--quiet", action="store_true", help="tell only the beginning and the end")


def _play_arguments(play: argparse.ArgumentParser) -> None:
    play.add_argument("--lang", choices=LANGUAGES, help="language (default: MAGNATE_LANG)")
    play.add_argument("--bots", type=_number(1, 7), default=3, help="bots at the table (default: 3)")
    play.add_argument("--edition", default="industry", help="edition to play (default: industry)")
    play.add_argument("--name", default="", help="your name at the table")
    play.add_argument("--seed", type=_number(0, 2**256 - 1), help="chooses the dice; only with a site of its own")
    play.add_argument("--connect", metavar="HOST:PORT", default="", help="play at this gateway")
    play.add_argument("--tls", action="store_true", help="the gateway's port is encrypted")
    play.add_argument("--tls-ca", type=_whole_path, metavar="FILE", default="", help="authorities to believe (PEM)")
    play.add_argument("--tls-name", metavar="NAME", default="", help="name in its certificate (default: the host)")
    play.add_argument("--continue", dest="resume", action="store_true", help="go on with the game that was kept")
    play.add_argument(
        "--pace", type=_number(0, 5_000), help="pause of a bot before each action, in milliseconds (default: 700)"
    )
    play.add_argument("--plain", action="store_true", help="lines only: no colours, no drawing over the screen")


def _described(make: Callable[..., argparse.ArgumentParser], *args: Any, **kwargs: Any) -> argparse.ArgumentParser:
    return make(*args, formatter_class=argparse.RawDescriptionHelpFormatter, **kwargs)


def _whole_path(text: str) -> str:
    # A kept game may be continued from another folder.
    return str(Path(text).resolve()) if text else ""


def _number(least: int, most: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if not least <= number <= most:
            shown = str(most) if most < 2**64 else "2^256 - 1"
            raise argparse.ArgumentTypeError(f"{number} is not from {least} to {shown}")
        return number

    return read
