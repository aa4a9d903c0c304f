"""The commands of the program `magnate`."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from services.kit import logs
from services.kit.errors import ServiceError
from services.kit.server import StartError, run
from services.kit.settings import SettingsError, known_settings, render_table
from services.site.administering import AdminOptions, administer
from services.site.alone import ALONE, run_alone
from services.site.arguments import parser
from services.site.cluster.command import run_distributed
from services.site.demo import DemoOptions, run_demo
from services.site.embedded import Settings
from services.site.errors import CommandError, in_words
from services.site.migrating import migrate
from services.site.playing import Door, PlayOptions, run_play
from services.site.replaying import replay_file
from services.site.restoring import begin_history
from services.site.settings import AdminSettings, ClockCommandSettings, SiteSettings
from services.site.timekeeping import ClockOptions, keep_time
from services.site.upping import run_site
from services.table.settings import TableSettings

_INTERRUPTED = 130
_TERMINATED = 143

T = TypeVar("T")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit status. What goes wrong is one line on stderr."""
    chosen = parser().parse_args(arguments)
    try:
        return _COMMANDS[chosen.command](chosen, os.environ)
    except CommandError as error:
        return _failed(str(error), error.status)
    except SettingsError as error:
        return _failed(f"{error}; see: magnate settings", 2)
    except StartError as error:
        return _failed(str(error), 1)
    except ServiceError as error:
        return _failed(in_words(error), 1)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except asyncio.CancelledError:
        return _TERMINATED
    except BrokenPipeError:
        # Whoever read our lines has gone; there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _up(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    if chosen.part in ALONE:
        if chosen.distributed:
            raise CommandError("--distributed starts every service; it goes without a name", status=2)
        return run_alone(chosen.part)
    if chosen.distributed:
        return run(run_distributed(environ, chosen.replicas, _say))
    settings = Settings.load(environ)
    settings.site.configure_logs("site")
    return run(run_site(settings, SiteSettings.load(environ), _say))


def _demo(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    settings = Settings.load(environ)
    _quiet_logs(environ)
    options = DemoOptions(
        edition=chosen.edition,
        seed=chosen.seed,
        seats=chosen.seats,
        limit=chosen.limit,
        quiet=chosen.quiet,
        language=chosen.lang or SiteSettings.load(environ).language,
        output=chosen.output,
    )
    return 0 if run(_until_told(run_demo(settings, options, _say))) else 1


def _play(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    settings, site_settings = Settings.load(environ), SiteSettings.load(environ)
    _quiet_logs(environ)
    options = PlayOptions(
        language=chosen.lang or site_settings.language,
        edition=chosen.edition,
        bots=chosen.bots,
        name=chosen.name,
        seed=chosen.seed,
        door=Door(chosen.connect, bool(chosen.tls or chosen.tls_ca or chosen.tls_name), chosen.tls_ca, chosen.tls_name),
        resume=chosen.resume,
        pace_ms=chosen.pace,
        plain=chosen.plain,
    )
    return run(_until_told(run_play(settings, site_settings.folder(), options)))


def _replay(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    file: Path = chosen.file
    verdict = replay_file(file)
    if not verdict.same:
        _say(f"replay: {file} differs at event {verdict.seq}: {verdict.explanation}")
        return 1
    checked = "dice and cards drawn anew" if verdict.chance_verified else verdict.explanation
    winner = "no winner yet" if verdict.winner_seat is None else f"winner: seat {verdict.winner_seat}"
    _say(f"replay: {verdict.commands} commands and {verdict.events} events came out the same; {checked}; {winner}")
    return 0


def _migrate(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    settings = TableSettings.load(environ)
    settings.configure_logs("migrate")
    run(_until_told(migrate(SiteSettings.load(environ).migrate_database_url or settings.database_url, _say)))
    return 0


def _admin(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    settings = AdminSettings.load(environ)
    _quiet_logs(environ)
    given = {name: value for name, value in vars(chosen).items() if name != "command"}
    run(_until_told(administer(settings, AdminOptions(**given), _say)))
    return 0


def _restored(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    settings = TableSettings.load(environ)
    settings.configure_logs("restored")
    run(_until_told(begin_history(SiteSettings.load(environ).migrate_database_url or settings.database_url, _say)))
    return 0


def _clock(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    settings = ClockCommandSettings.load(environ)
    _quiet_logs(environ)
    given = {name: value for name, value in vars(chosen).items() if name != "command"}
    run(_until_told(keep_time(settings, ClockOptions(**given), _say)))
    return 0


def _settings(chosen: argparse.Namespace, environ: Mapping[str, str]) -> int:
    _say(render_table(kind for kind in known_settings() if kind.__module__.split(".")[0] in {"services", "gateway"}))
    return 0


async def _until_told(work: Coroutine[Any, Any, T]) -> T:
    """The work, cancelled by SIGTERM, so that whatever it has opened or made is put away."""
    task = asyncio.current_task()
    if task is not None and sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await work


def _quiet_logs(environ: Mapping[str, str]) -> None:
    """The terminal belongs to the game: logs only when something is wrong, unless somebody asked for more."""
    level = environ.get("MAGNATE_LOG_LEVEL", "").strip() or "error"
    logs.configure(service="site", level=level)


def _say(line: str) -> None:
    print(line, flush=True)


def _failed(message: str, status: int) -> int:
    print(f"magnate: {message}", file=sys.stderr)
    return status


_COMMANDS = {
    "up": _up,
    "demo": _demo,
    "play": _play,
    "replay": _replay,
    "migrate": _migrate,
    "admin": _admin,
    "restored": _restored,
    "clock": _clock,
    "settings": _settings,
}
