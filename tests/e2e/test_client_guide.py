"""The programs of docs/client-guide.md run as they stand there, against a site like that of `magnate up`."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

from services.site.embedded import Settings, running

GUIDE = Path(__file__).parents[2] / "docs" / "client-guide.md"
_BLOCK = re.compile(r"```python\n# example: (\w+)\n(.*?)```", re.DOTALL)
_PORT = "127.0.0.1:7400"


def programs() -> dict[str, str]:
    """The programs of the page by their names."""
    return dict(_BLOCK.findall(GUIDE.read_text()))


def test_the_first_example_is_about_ten_lines() -> None:
    """The page promises ten lines: what the program does, without imports and frame."""
    body = programs()["watch"].split("async def main():\n")[1].split("\n\n")[0]
    assert len(body.splitlines()) <= 11


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("watch", r"^11 \w+$"),
        ("play", r"^did roll \d+$"),
        ("countdown", r"^deadline \d+: (7[0-4]\.\d|75\.0) s$"),
    ],
)
async def test_the_programs_run(tmp_path: Path, name: str, expected: str) -> None:
    """Each prints what it says, for as long as it is let."""
    program = programs()[name]
    assert _PORT in program
    settings = Settings.load({"MAGNATE_SHUTDOWN_GRACE_MS": "1000"}).private()
    lines: list[str] = []
    async with running(settings, tmp_path) as site:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            program.replace(_PORT, site.address),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            async with asyncio.timeout(60):
                while len(lines) < 30 and (line := await process.stdout.readline()):
                    lines.append(line.decode().strip())
        finally:
            if process.returncode is None:
                process.kill()
            said = (await process.stderr.read()).decode()
            await process.wait()
    assert len(lines) == 30, said
    assert [line for line in lines if re.match(expected, line)]
