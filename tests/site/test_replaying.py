"""`magnate replay`: an exported game comes out the same, a changed one is found out."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from services.site.__main__ import main
from services.site.errors import CommandError
from services.site.replaying import Verdict, replay_file
from tests.support.amount import amount

#: where in a line a roll, a drawn card or the command stands
_PLACES = (
    re.compile(rb'"dice_rolled":\{[^}]*\}'),
    re.compile(rb'"card_drawn":\{[^}]*\}'),
    re.compile(rb'"command":\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}'),
)
Line = dict[str, Any]


def _chained(values: Iterable[Line]) -> bytes:
    """Lines with fresh digests, as one would write them who wants a change to pass."""
    chain, lines = "", []
    for value in values:
        bare = {key: item for key, item in value.items() if key != "chain"}
        body = json.dumps(bare, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
        chain = hashlib.sha256((chain + body).encode()).hexdigest()
        lines.append(json.dumps({**bare, "chain": chain}, ensure_ascii=False, separators=(",", ":"), sort_keys=True))
    return "".join(f"{line}\n" for line in lines).encode()


def _verdict(file: Path) -> tuple[bool, int]:
    """Whether all is the same, and the event that a failure names."""
    try:
        verdict = replay_file(file)
    except CommandError as error:
        named = re.search(r"event (\d+)", str(error))
        return error.status != 1, int(named[1]) if named else 0
    return verdict.same, verdict.seq


def test_an_exported_game_comes_out_the_same(exported_game: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every command is decided anew; dice and cards are drawn from the revealed seed."""
    verdict = replay_file(exported_game)
    last = json.loads(exported_game.read_text().splitlines()[-1])["update"]
    assert verdict == Verdict(
        same=True,
        seq=0,
        explanation="every event came out the same",
        commands=len(exported_game.read_text().splitlines()) - 2,
        events=int(last["last_seq"]),
        winner_seat=verdict.winner_seat,
        chance_verified=True,
    )
    assert verdict.winner_seat in (0, 1)
    assert main(["replay", str(exported_game)]) == 0
    assert "came out the same; dice and cards drawn anew; winner: seat" in capsys.readouterr().out


def test_any_changed_byte_of_a_roll_a_card_or_a_command_is_found(exported_game: Path, tmp_path: Path) -> None:
    """One byte is replaced by another one: the exit status is 1 and the event of its command is named."""
    rng, lines, changed = random.Random(3), exported_game.read_bytes().splitlines(keepends=True), tmp_path / "changed"
    spots = [
        (number, match.start(), match.end())
        for number, line in enumerate(lines)
        for place in _PLACES
        for match in place.finditer(line)
    ]
    for _ in range(amount(25, 1_000)):
        number, start, end = rng.choice(spots)
        at = rng.randrange(start, end)
        other = rng.choice([byte for byte in range(256) if byte != lines[number][at]])
        line = lines[number][:at] + bytes([other]) + lines[number][at + 1 :]
        changed.write_bytes(b"".join([*lines[:number], line, *lines[number + 1 :]]))
        same, seq = _verdict(changed)
        first = int(json.loads(lines[number])["update"]["first_seq"])
        assert not same, (lines[number], line)
        # A line that breaks in two, or ends early, is found where the next one should begin.
        assert first <= seq <= int(json.loads(lines[number])["update"]["last_seq"]) + 1, line


def _events(values: list[Line], kind: str) -> list[Line]:
    return [event[kind] for value in values[1:] for event in value["update"]["events"] if kind in event]


def _roll_another(values: list[Line], rng: random.Random) -> None:
    dice = rng.choice(_events(values, "dice_rolled"))["dice"]
    at = rng.randrange(2)
    dice[at] = dice[at] % 6 + 1


def _draw_another(values: list[Line], rng: random.Random) -> None:
    card = rng.choice(_events(values, "card_drawn"))
    card["card"] = (card.get("card", 0) + 1) % 10


def _ask_as_another(values: list[Line], rng: random.Random) -> None:
    command = rng.choice(values[2:])["update"]["command"]
    command["seat"] = 1 - command.get("seat", 0)


def _ask_something_else(values: list[Line], rng: random.Random) -> None:
    buys = [value["update"]["command"] for value in values[2:] if "buy" in value["update"]["command"]]
    command = rng.choice(buys)
    del command["buy"]
    command["decline"] = {}


def _answer_another_decision(values: list[Line], rng: random.Random) -> None:
    command = rng.choice(values[2:])["update"]["command"]
    command["decision_id"] = str(int(command["decision_id"]) + 1)


def _move_more_money(values: list[Line], rng: random.Random) -> None:
    rng.choice(_events(values, "money_moved"))["amount"] += 1


def _leave_a_command_out(values: list[Line], rng: random.Random) -> None:
    del values[rng.randrange(2, len(values) - 1)]


def _stop_early(values: list[Line], rng: random.Random) -> None:
    del values[-1]


@pytest.mark.parametrize(
    "change",
    [
        *(_roll_another, _draw_another, _ask_as_another, _ask_something_else, _answer_another_decision),
        *(_move_more_money, _leave_a_command_out, _stop_early),
    ],
)
def test_a_forger_who_writes_the_digests_anew_is_found_by_the_rules(
    exported_game: Path, tmp_path: Path, change: Callable[[list[Line], random.Random], None]
) -> None:
    """The digests only find damage; what happened is decided anew."""
    for seed in range(amount(2, 50)):
        values = [json.loads(line) for line in exported_game.read_text().splitlines()]
        forged = tmp_path / "forged"
        forged.write_bytes(_chained(values))
        change(values, random.Random(seed))
        forged.write_bytes(_chained(values))
        same, seq = _verdict(forged)
        assert not same
        assert seq > 0


def test_the_digests_of_this_test_are_those_of_the_export(exported_game: Path) -> None:
    """Else the forger above would prove nothing."""
    values = [json.loads(line) for line in exported_game.read_text().splitlines()]
    assert _chained(values) == exported_game.read_bytes()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty; a log begins with a header line"),
        (b"{}\n", "line 1 is not the header of a magnate-log file"),
        (b"[1]\n", "line 1 is not a JSON object"),
        (b"\xff\xfe\n", "line 1 is not JSON"),
        (b"not json\n", "line 1 is not JSON"),
        (b"[" * 100_000 + b"\n", "line 1 is not JSON"),
        (b'{"format":"magnate-log","version":9}\n', "version 9 of the file is not known here; this program reads 1"),
        (b'{"format":"magnate-log","version":1}\n', "line 1: the header has no edition"),
        (b'{"format":"magnate-log"', "line 1 is cut off"),
    ],
)
def test_what_is_no_log_is_said_to_be_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, expected: str
) -> None:
    """One line that names the line of the file; exit status 1."""
    file = tmp_path / "no.mgl"
    file.write_bytes(content)
    assert main(["replay", str(file)]) == 1
    said = capsys.readouterr().err
    assert expected in said
    assert said.count("\n") == 1


def test_a_bad_line_is_named_with_its_event(
    exported_game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Malformed JSON in the middle."""
    lines = exported_game.read_bytes().splitlines(keepends=True)
    first = json.loads(lines[9])["update"]["first_seq"]
    file = tmp_path / "bad.mgl"
    file.write_bytes(b"".join([*lines[:9], lines[9][:40] + b"\n", *lines[10:]]))
    assert main(["replay", str(file)]) == 1
    assert f"event {first}: line 10 is not JSON" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit status 2: nothing was checked."""
    assert main(["replay", str(tmp_path / "none.mgl")]) == 2
    assert "No such file" in capsys.readouterr().err


def test_the_log_of_a_running_game_is_folded_and_its_digests_are_checked(
    exported_game: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the seed dice and cards cannot be drawn anew, and the program says so."""
    values = [json.loads(line) for line in exported_game.read_text().splitlines()[:200]]
    values[0]["finished"] = False
    for value in values[1:]:
        value.pop("secrets", None)
    file = tmp_path / "running.mgl"
    file.write_bytes(_chained(values))
    assert main(["replay", str(file)]) == 0
    said = capsys.readouterr().out
    assert "dice and cards can be checked when the game is over; no winner yet" in said
    lines = file.read_bytes().splitlines(keepends=True)
    number = next(number for number, line in enumerate(lines) if number > 1 and b'"card_drawn"' in line)
    changed = lines[number].replace(b'"deck":"', b'"dekk":"', 1)
    for other in (changed, re.sub(rb'"command_id":"b', b'"command_id":"c', lines[number])):
        file.write_bytes(b"".join([*lines[:number], other, *lines[number + 1 :]]))
        assert main(["replay", str(file)]) == 1
        output = capsys.readouterr()
        assert f"event {json.loads(lines[number])['update']['first_seq']}" in output.out + output.err
