"""Work that stands for all who ask for it at the same time."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.rounds import Rounds


class HeldWork:
    """Notes what it is given, and hangs until it is let go; `fails`: with an error then."""

    def __init__(self) -> None:
        self.given: list[int] = []
        self.let_go = asyncio.Event()
        self.fails = False

    def let_only_those_go(self) -> None:
        """Rounds that have begun; those that come hang."""
        self.let_go.set()
        self.let_go = asyncio.Event()

    async def __call__(self, item: int) -> None:
        self.given.append(item)
        await self.let_go.wait()
        if self.fails:
            raise OSError(f"round of {item}")


async def _join(rounds: Rounds[int], items: range) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(rounds.join(item)) for item in items]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def test_what_waits_is_one_round() -> None:
    """Given two rounds that hang, when fifty more come, then one round with the newest of them stands for all."""
    work = HeldWork()
    rounds = Rounds[int](work, most=2)
    first = await _join(rounds, range(1))
    second = await _join(rounds, range(1, 2))
    rest = await _join(rounds, range(2, 52))
    assert work.given == [0, 1]
    work.let_go.set()
    await asyncio.gather(*first, *second, *rest)
    assert work.given == [0, 1, 51]


async def test_a_round_stands_only_for_those_who_were_there_when_it_began() -> None:
    work = HeldWork()
    rounds = Rounds[int](work, most=1)
    (first,) = await _join(rounds, range(1))
    (late,) = await _join(rounds, range(1, 2))
    work.let_only_those_go()
    await first
    await asyncio.sleep(0)
    assert (work.given, late.done()) == ([0, 1], False)
    work.let_go.set()
    await late


async def test_a_failure_is_told_to_all_of_its_round_and_to_nobody_else() -> None:
    work = HeldWork()
    rounds = Rounds[int](work, most=1)
    (first,) = await _join(rounds, range(1))
    rest = await _join(rounds, range(1, 4))
    work.fails = True
    work.let_go.set()
    heard = await asyncio.gather(first, *rest, return_exceptions=True)
    assert [str(error) for error in heard] == ["round of 0", *["round of 3"] * 3]
    work.fails = False
    await rounds.join(9)
    assert work.given == [0, 3, 9]


async def test_who_goes_away_takes_nobody_with_him() -> None:
    """Given three who wait for the same round, when one of them gives up, then the others have it all the same."""
    work = HeldWork()
    rounds = Rounds[int](work, most=1)
    first, *rest = [*await _join(rounds, range(1)), *await _join(rounds, range(1, 4))]
    for gone in (first, rest[1]):
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
    work.let_go.set()
    await asyncio.gather(rest[0], rest[2])
    assert work.given == [0, 3]


async def test_who_comes_when_a_round_has_just_ended_begins_the_next_one() -> None:
    """Given work that is done at once, when who was in the last round asks again at once, then he is not forgotten."""
    work = HeldWork()
    work.let_go.set()
    rounds = Rounds[int](work, most=1)
    async with asyncio.timeout(5):
        for item in range(3):
            await rounds.join(item)
    assert work.given == [0, 1, 2]
