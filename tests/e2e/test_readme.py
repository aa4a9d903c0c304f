"""What the README promises: its program runs as it stands, its links and commands exist."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from services.site.arguments import parser
from services.site.embedded import Settings, running

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
_PORT = "127.0.0.1:7400"


async def test_the_client_in_ten_lines_runs(tmp_path: Path) -> None:
    """It watches a game of four bots from the first event on, without a gap."""
    program = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    calls = [line for line in program.splitlines() if line and not line.startswith(("import", "from"))]
    assert len(calls) <= 10
    assert _PORT in program
    lines: list[str] = []
    async with running(Settings.load({"MAGNATE_SHUTDOWN_GRACE_MS": "1000"}).private(), tmp_path) as site:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-u", "-c", program.replace(_PORT, site.address)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert process.stdout is not None
        try:
            async with asyncio.timeout(60):
                while len(lines) < 50 and (line := await process.stdout.readline()):
                    lines.append(line.decode().strip())
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()
    assert lines[0] == "1 game_started"
    assert [int(line.split()[0]) for line in lines] == list(range(1, 51))


def test_the_links_lead_somewhere() -> None:
    """Every file that is linked is there."""
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_the_commands_exist() -> None:
    """Every `magnate` line is one that the program understands, every `make` line a target."""
    blocks = "\n".join(re.findall(r"```sh\n(.*?)```", README, re.DOTALL))
    commands = re.findall(r"^\.venv/bin/magnate ([^#\n]+)", blocks, re.MULTILINE)
    assert len(commands) == 9
    for command in commands:
        parser().parse_args(command.split())
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"^make (\w+)", blocks, re.MULTILINE)
    assert targets == ["play", "demo"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
