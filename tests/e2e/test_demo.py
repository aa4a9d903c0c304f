"""Whole games of bots through the gateway's real port, as `magnate demo` plays them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from services.site.demo import DEFAULT_SEED, DemoOptions, run_demo
from services.site.embedded import Settings
from tests.support.amount import amount


async def _demo(options: DemoOptions) -> tuple[bool, list[str], dict[str, Any]]:
    """Success, every line but the last, and what the last one holds."""
    lines: list[str] = []
    success = await run_demo(Settings.load({}), options, lines.append)
    return success, lines[:-1], json.loads(lines[-1])


async def test_a_whole_game_is_played_exported_and_replayed(tmp_path: Path) -> None:
    """The default game has a winner; the journal is complete; the file comes out the same in a fresh process."""
    file = tmp_path / "game.mgl"
    success, lines, result = await _demo(DemoOptions(output=file))
    assert success
    assert list(result) == ["edition", "seed", "commands", "events", "winner_seat", "replay_ok"]
    assert (result["edition"], result["seed"], result["replay_ok"]) == ("industry", DEFAULT_SEED, True)
    entries = [json.loads(line)["update"] for line in file.read_text().splitlines()[1:]]
    assert result["commands"] == sum("command" in entry for entry in entries)
    assert result["events"] == int(entries[-1]["last_seq"])
    places = entries[-1]["events"][-1]["game_ended"]["places"]
    assert [place.get("seat", 0) for place in places if place["place"] == 1] == [result["winner_seat"]]
    # One line for each movement of money, and one standing for each round.
    money = [event for entry in entries for event in entry["events"] if "money_moved" in event]
    assert len([line for line in lines if re.match(r" *\d+ [^:«]+ → [^:«]+: \d+, ", line)]) == len(money)
    rounds = {int(match[1]) for line in lines if (match := re.match(r"─── Round (\d+) │", line))}
    assert rounds == set(range(1, max(rounds) + 1))
    assert any("wins" in line for line in lines)


async def test_one_seed_is_one_game() -> None:
    """The same commands and events again, whatever the table is called."""
    first = await _demo(DemoOptions(seed=5, seats=2, quiet=True))
    second = await _demo(DemoOptions(seed=5, seats=2, quiet=True))
    assert first[2] == second[2]
    assert (await _demo(DemoOptions(seed=4, seats=2, quiet=True)))[2] != first[2]


async def test_a_limit_stops_a_game_and_says_so() -> None:
    """No winner, no success, and what could be done."""
    success, lines, result = await _demo(DemoOptions(limit=40, quiet=True))
    assert not success
    assert lines[-1] == "demo: stopped after 40 commands without a winner; see --limit and --seed"
    assert (result["commands"], result["winner_seat"], result["replay_ok"]) == (40, None, False)


@pytest.mark.parametrize(("language", "word"), [("uk", "зарплата"), ("ru", "зарплата"), ("en", "salary")])
async def test_the_game_is_told_in_each_language(language: str, word: str) -> None:
    """The journal follows the language, names of cells included."""
    _, lines, _ = await _demo(DemoOptions(seed=5, seats=2, language=language, limit=amount(150, 20_000)))
    assert any(word in line for line in lines)


@pytest.mark.parametrize(("limit", "status"), [("10", 1), ("20000", 0)])
def test_the_exit_status_tells_success(limit: str, status: int) -> None:
    """As a program, with the result as the last line of stdout."""
    done = subprocess.run(
        [sys.executable, "-m", "services.site", "demo", "--seed", "5", "--seats", "2", "--quiet", "--limit", limit],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == status
    assert json.loads(done.stdout.splitlines()[-1])["replay_ok"] is (status == 0)
    assert done.stderr == ""
