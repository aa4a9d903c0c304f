"""The embedded site in a process of its own, without limits on calls: `python -m tests.bench.site FOLDER`.

Prints `{"address": ...}` when it is up. With `--profile FILE` the profile of its loop's thread is written at the end.
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


async def serve(folder: Path) -> None:
    """Runs until SIGTERM."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    loaded = Settings.load(os.environ)
    settings = replace(loaded.private(), bots=loaded.bots)
    settings.site.configure_logs("site")
    async with running(settings, folder) as site:
        print(json.dumps({"address": site.address}), flush=True)
        await ended.wait()


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
    profile.runcall(run, serve(arguments.folder))
    profile.dump_stats(arguments.profile)


if __name__ == "__main__":
    main()
