"""A person at a table of bots, through the gateway's real port, on a console without a terminal."""

from __future__ import annotations

import asyncio
import io
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from services.site.embedded import Settings, running
from services.site.playing import PlayOptions, play
from services.site.terminal.console import ClosedError, PlainConsole
from services.site.terminal.paint import Paint
from services.site.terminal.texts import LANGUAGES, load_texts
from tests.support.servers import free_port

_BOUNDS = re.compile(r"\d+")


def _settings() -> Settings:
    return Settings.load({"MAGNATE_SHUTDOWN_GRACE_MS": "1000"}).private()


class Person:
    """Gives some first answers; then takes the first choice, or the least amount, so many times; then leaves."""

    draws = False
    columns = 100
    paint = Paint(on=False)

    def __init__(self, answers: int, *first: str) -> None:
        self._left = answers
        self._first = list(first)
        self.journals: list[str] = []
        self.notices: list[str] = []
        self.statuses: list[str] = []
        self.asked: list[list[str]] = []

    def picture(self, make: Callable[[int], Sequence[str]]) -> None:
        """Made each time, as a screen would."""
        make(60)

    def journal(self, line: str) -> None:
        self.journals.append(line)

    def notice(self, line: str) -> None:
        self.notices.append(line)

    def status(self, line: str) -> None:
        self.statuses.append(line)

    async def ask(self, lines: Sequence[str], prompt: str) -> str:
        self.asked.append([*lines, prompt])
        if self._first:
            return self._first.pop(0)
        if not self._left:
            raise ClosedError
        self._left -= 1
        return "1" if lines else _BOUNDS.findall(prompt)[0]

    async def pressed(self, within_s: float) -> bool:
        await asyncio.sleep(min(within_s, 0.01))
        return False


@pytest.mark.parametrize("language", LANGUAGES)
async def test_turns_are_played_in_each_language(tmp_path: Path, language: str) -> None:
    """Choices, headings, journal, board and property: everything comes out of the language's texts."""
    person, texts = Person(25, "b", "p", "?"), load_texts(language)
    async with running(_settings(), tmp_path) as site:
        ending = await play(person, site.address, tmp_path, PlayOptions(language=language, bots=2, seed=3))
    assert ending == [texts.say("menu", "kept")]
    name = texts.say("words", "player")
    shown = [line for lines in person.asked for line in lines]
    assert f"{name}: {texts.say('decisions', 'roll')}" in shown
    assert f"  1  {texts.say('actions', 'roll')}" in shown
    assert texts.say("menu", "help") in person.notices
    assert any(line.startswith("┌") for line in person.notices)
    assert f"{texts.say('words', 'own')}: {texts.say('words', 'free_cash')} 1500" in person.notices
    bought = texts.say(
        "journal", "money_moved.purchase", payer=name, payee=texts.say("words", "bank"), amount=0, cell=""
    ).split(": 0,")[0]
    assert any(line.startswith(bought) for line in person.journals)
    # More than one turn, and the bots' ones between them.
    assert any("Bot 2" in line for line in person.journals)
    assert shown.count(f"  1  {texts.say('actions', 'end_turn')}") > 1


async def test_auto_move_rolls_and_ends_turns_and_leaves_the_rest(tmp_path: Path) -> None:
    """IND-AUTO-01, IND-AUTO-05, IND-AUTO-11: off at first; once on, only what it does not touch is asked."""
    person = Person(3, "a")
    async with running(_settings(), tmp_path) as site:
        await play(person, site.address, tmp_path, PlayOptions(bots=2, seed=3))
    assert "a auto-move (off)" in person.asked[0][-3]
    assert "Auto-move is on: it rolls and ends turns for you." in person.notices
    later = [line for lines in person.asked[1:] for line in lines]
    assert "  1  Roll the dice" not in later
    assert "  1  End the turn" not in later
    planned = [line for line in person.statuses if line]
    assert "Auto-move in 1.5 s: Roll the dice. Any key keeps this decision for you." in planned
    assert "Auto-move in 1.5 s: End the turn. Any key keeps this decision for you." in planned


async def test_a_key_keeps_the_present_decision(tmp_path: Path) -> None:
    """IND-AUTO-06, IND-AUTO-09: a line that comes within the delay cancels what is planned for this decision only."""
    output = io.StringIO()
    console = PlainConsole(output)
    async with running(_settings(), tmp_path) as site:
        task = asyncio.create_task(play(console, site.address, tmp_path, PlayOptions(bots=2, seed=3)))

        async def shows(text: str) -> None:
            async with asyncio.timeout(30):
                while text not in output.getvalue():
                    await asyncio.sleep(0.01)

        await shows("Number of your choice")
        console.feed("a")
        await shows("Auto-move in 1.5 s: Roll the dice")
        console.feed("")
        await shows("This decision is yours")
        assert "Player rolls" not in output.getvalue()
        console.feed("1")
        await shows("Player rolls")
        console.feed("1")
        await shows("Auto-move in 1.5 s: End the turn")
        console.feed(None)
        assert await task == [load_texts("en").say("menu", "kept")]


async def test_a_kept_game_goes_on_at_another_start(tmp_path: Path) -> None:
    """The key in the data folder opens the seat again; auto-move is off once more (IND-AUTO-11)."""
    first, second = Person(6, "a"), Person(2)
    async with running(_settings(), tmp_path / "site") as site:
        await play(first, site.address, tmp_path, PlayOptions(bots=1, seed=3))
    assert (tmp_path / "play.json").stat().st_mode & 0o077 == 0
    async with running(_settings(), tmp_path / "site") as site:
        ending = await play(second, site.address, tmp_path, PlayOptions(resume=True))
    assert ending == [load_texts("en").say("menu", "kept")]
    assert any(line.startswith("Going on with table") for line in second.notices)
    assert any("a auto-move (off)" in line for line in second.asked[0])


class Patient(Person):
    """Stops answering while the site is away."""

    def __init__(self, answers: int) -> None:
        super().__init__(answers)
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.enough = asyncio.Event()

    async def ask(self, lines: Sequence[str], prompt: str) -> str:
        if len(self.asked) == 5:
            self.enough.set()
            self.may_answer.clear()
        await self.may_answer.wait()
        return await super().ask(lines, prompt)


async def test_a_lost_connection_comes_back_without_gap_or_repeat(tmp_path: Path) -> None:
    """The site goes away in the middle and comes back on the same port; the game goes on where it was."""
    settings = _settings()
    settings = replace(settings, gateway=replace(settings.gateway, port=free_port()))
    person = Patient(30)
    async with running(settings, tmp_path / "site") as site:
        task = asyncio.create_task(play(person, site.address, tmp_path, PlayOptions(bots=2, seed=3)))
        async with asyncio.timeout(60):
            await person.enough.wait()
    told = list(person.journals)
    person.may_answer.set()
    async with running(settings, tmp_path / "site"):
        async with asyncio.timeout(120):
            assert await task == [load_texts("en").say("menu", "kept")]
    assert "The connection is lost; trying again ..." in person.notices
    assert "The connection is back." in person.notices
    assert len(person.journals) > len(told)
    starts = [line for line in person.journals if line.startswith("Round")]
    assert len(starts) == len(set(starts))


async def test_a_pipe_can_play(tmp_path: Path) -> None:
    """`magnate play` as a program between two pipes, and at a gateway that is up already."""
    async with running(_settings(), tmp_path / "site") as site:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "services.site", "play", "--connect", site.address, "--bots", "1", "--lang", "uk"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "MAGNATE_DATA_FOLDER": str(tmp_path)},
        )
        async with asyncio.timeout(60):
            output, failure = await process.communicate(b"p\n1\n?\n")
    assert failure == b""
    assert process.returncode == 0
    said = output.decode()
    assert "Гравець кидає" in said
    assert said.rstrip().endswith("Гру збережено. Продовжити: magnate play --continue")
