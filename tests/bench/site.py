"""The embedded site in a process of its own, without limits on calls: `python -m tests.bench.site FOLDER`.

Prints `{"address": ...}` when it is up. With `--profile FILE` the profile of its loop's thread, from SIGUSR1 on, is
written at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from services.kit.server import run
from services.site.embedded import Settings, running


async def serve(folder: Path, profile: cProfile.Profile | None = None) -> None:
    """Runs until SIGTERM; the profile begins with SIGUSR1."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    if profile is not None:
        loop.add_signal_handler(signal.SIGUSR1, profile.enable)
    loaded = Settings.load(os.environ)
    settings = replace(loaded.private(), bots=loaded.bots)
    settings.site.configure_logs("site")
    async with running(settings, folder) as site:
        print(json.dumps({"address": site.address}), flush=True)
        await ended.wait()
        if profile is not None:
            profile.disable()


def main() -> None:
    """Reads its arguments and serves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--profile", type=Path)
    arguments = parser.parse_args()
    if arguments.profile is None:
        run(serve(arguments.folder))
        return
    # CPU time of this thread: what others do on the machine does not show.
    profile = cProfile.Profile(time.thread_time)
    run(serve(arguments.folder, profile))
    profile.dump_stats(arguments.profile)


if __name__ == "__main__":
    main()
