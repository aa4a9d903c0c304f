"""Random games of the ledger's editions, from rich and from poor positions, with time-outs and leavers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from services.rules.domain import commands as c
from services.rules.domain.chance import HMAC_SHA256
from services.rules.domain.decide import advance
from services.rules.domain.edition import Edition
from services.rules.domain.events import Event
from services.rules.domain.legal import legal_actions
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import SeatKind, State
from tests.rules.tabletop.tables import MINUTE_MS, TABLETOPS, a_table
from tests.support.play import Seen, action_of
from tests.support.scenario import Game

STEPS = 350
SEEDS = range(4)


@dataclass(frozen=True, slots=True)
class Step:
    """An accepted command and what it did."""

    edition: Edition
    before: State
    command: c.Command
    play_time_ms: int
    events: tuple[Event, ...]
    after: State


def start(edition: str, seed: int) -> Game:
    """A position with deeds in many hands, some groups whole and built; cash from little to much."""
    rng = Random(seed)
    options: dict[str, object] = {}
    if edition != "online-classic" and seed % 2:
        options["auction_style"] = "open_cry_paid"
    if edition in TABLETOPS and seed % 3 == 1:
        options["rent_claim"] = "on_demand"
    seats = rng.randint(3, 6)
    person: SeatKind = "person"
    game = a_table(edition, seats, kinds=(*[person] * (seats - 1), "bot"), overrides=options)
    board = game.edition.board
    for key, cells in board.group_cells.items():
        owner = rng.randrange(seats)
        if rng.random() < 0.5:
            most = min(3, game.supply[0] // len(cells)) if board.is_street[cells[0]] else 0
            levels = [rng.randint(0, most)] * len(cells)
            game.owning_group(owner, key, *levels)
        else:
            game.owning(owner, *[cell for cell in cells if rng.random() < 0.4])
    few = rng.random() < 0.5
    game.cash_of_all(*[rng.randrange(30, 400 if few else 2000) * game.edition.start_cash // 1500 for _ in range(seats)])
    game.state.config = replace(game.state.config, algorithm=HMAC_SHA256, game_seed=rng.randbytes(32))
    return game.wait(rng.choice((0, 0, 44, 61, 106)) * MINUTE_MS).turn_of(rng.randrange(seats))


def _command(rng: Random, game: Game) -> c.Command:
    state = game.state
    if state.deadlines and rng.random() < 0.06:
        deadline = rng.choice(state.deadlines)
        game.now_ms = max(game.now_ms, deadline.due_at_ms)
        return c.Command(-1, 0, c.Expire(deadline.id))
    left_ms = [deadline.due_at_ms - game.now_ms for deadline in state.deadlines]
    game.now_ms += rng.randrange(min([8_000, *left_ms]))
    options = legal_actions(game.edition, state)
    while True:
        option = rng.choice(options)
        if option.kind == "surrender" and rng.random() < 0.99:
            continue
        action = action_of(rng, option, Seen(game.edition, state))
        if action is not None:
            decision_id = state.decision.id if state.decision is not None else 0
            return c.Command(option.seat, decision_id, action)


@cache
def steps_of(edition: str, seed: int) -> tuple[Step, ...]:
    """The steps of one random game."""
    return tuple(_play(edition, seed))


def _play(edition: str, seed: int) -> Iterator[Step]:
    rng, game = Random(1000 + seed), start(edition, seed)
    for _ in range(STEPS):
        if game.state.ended:
            return
        command, before = _command(rng, game), game.state
        result = advance(game.edition, before, command, game.now_ms)
        assert not isinstance(result, Refusal), f"{edition} {seed}: {command}: {result}"
        game.state = result.state
        yield Step(game.edition, before, command, game.now_ms, result.events, result.state)
