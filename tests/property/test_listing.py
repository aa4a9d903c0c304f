"""What a decision lists is exactly what the rules accept, and a refusal changes nothing."""

from collections.abc import Iterator
from random import Random

import pytest

from services.rules.domain import commands as c
from services.rules.domain.decide import ANSWERS, advance
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import State
from tests.property.games import FLAGSHIP, MOODS, TABLES, RandomGame, Step
from tests.property.listing import any_action, at_bounds, listed, perturbed
from tests.support.amount import amount
from tests.support.play import Seen, action_of

GAMES = amount(12, 600)
#: for each of the other tables, and each mood
OTHER_GAMES = amount(1, 200)
CANDIDATES = 6
CASES = [(table, mood) for table in TABLES for mood in range(len(MOODS))]
Table = tuple[str, bool]


class Judge:
    """Tries commands on a state without going on from it."""

    def __init__(self, game: RandomGame, step: Step, rng: Random) -> None:
        assert step.before.decision is not None
        self.game, self.step, self.rng = game, step, rng
        self.decision = step.before.decision
        self.now_ms = step.play_time_ms
        self.seen = Seen(game.edition, step.before)
        #: who gave the command; most candidates are tried in its name
        self.seat = step.command.seat

    def answer(self, command: c.Command) -> Refusal | None:
        """The refusal of a command, None if it is accepted; the state given stays as it was either way."""
        state, kept = self.step.before, self.step.before.copy()
        result = advance(self.game.edition, state, command, self.now_ms)
        assert state == kept, f"{command} changed the state: {state.differences(kept)}"
        if isinstance(result, Refusal):
            assert result.statement == self.game.edition.statements[result.rule]
            return result
        assert result.state.seq == state.seq + len(result.events)
        return None

    def action(self, action: c.Action) -> Refusal | None:
        """As answer, for an action of the seat that gave the command."""
        return self.answer(c.Command(self.seat, self.decision.id, action))

    def is_listed(self, action: c.Action) -> bool:
        """Whether the options hold the action for that seat."""
        return listed(self.seen, self.step.options, self.seat, action)


def judges(table: Table, mood: int, most_steps: int) -> Iterator[tuple[Judge, Step]]:
    """Judges of states all over some random games; expired deadlines are no answers of a seat."""
    edition_id, custom = table
    games = GAMES if table == (FLAGSHIP, False) else OTHER_GAMES
    for seed in range(games):
        game = RandomGame(seed * 7 + mood, MOODS[mood], edition_id, custom)
        for step in game.steps(most_steps):
            if not isinstance(step.command.action, c.Expire | c.Withdraw) and game.rng.random() < 0.3:
                yield Judge(game, step, Random(seed)), step


@pytest.mark.parametrize(("table", "mood"), CASES)
def test_every_listed_action_is_accepted_at_its_bounds(table: Table, mood: int) -> None:
    """IND-PHASE-01, -02, -03, -04, -05, -06, -07: all that the phases' tables allow, with the least and the greatest
    amounts; of every seat that may say something, asked or not."""
    tried: set[str] = set()
    for judge, step in judges(table, mood, 200):
        for option in judge.rng.sample(step.options, min(len(step.options), 12)):
            judge.seat = option.seat
            actions = list(at_bounds(judge.seen, option))
            drawn = action_of(judge.rng, option, judge.seen)
            assert actions or (option.trade is not None and option.trade.free_shape), f"{option} lists nothing"
            candidates = judge.rng.sample(actions, min(len(actions), CANDIDATES))
            for action in [*candidates, drawn] if drawn is not None else candidates:
                assert judge.is_listed(action), f"{action}, {option}"
                refusal = judge.action(action)
                assert refusal is None, f"{action}: {refusal}"
                tried.add(option.kind)
    assert len(tried) >= (12 if table == (FLAGSHIP, False) else 5)


@pytest.mark.parametrize(("table", "mood"), CASES)
def test_everything_else_is_refused_and_changes_nothing(table: Table, mood: int) -> None:
    """IND-PHASE-10: whatever is not listed is refused; and whatever is listed is accepted."""
    refused: set[str] = set()
    for judge, step in judges(table, mood, 200):
        drawn = [action_of(judge.rng, judge.rng.choice(step.options), judge.seen) for _ in range(CANDIDATES)]
        near = [perturbed(judge.rng, action) for action in drawn if action is not None]
        far = [any_action(judge.rng) for _ in range(CANDIDATES)]
        for action in (*near, *far):
            refusal = judge.action(action)
            assert (refusal is None) == judge.is_listed(action), f"{action}: {refusal}, {step.options}"
            refused |= {refusal.reason} if refusal is not None else set()
    assert len(refused) >= (15 if table == (FLAGSHIP, False) else 2)


@pytest.mark.parametrize(("table", "mood"), CASES)
def test_only_the_asked_seat_answers_the_open_decision(table: Table, mood: int) -> None:
    """IND-PHASE-10, IND-INV-08, IND-INV-12: neither another seat, nor a seat that is out, nor an older decision."""
    for judge, step in judges(table, mood, 120):
        state, decision, action = step.before, judge.decision, step.command.action
        if action.__class__ not in ANSWERS:
            continue  # standing rights answer nothing
        for seat in range(-1, len(state.in_play) + 1):
            refusal = judge.answer(c.Command(seat, decision.id, action))
            assert refusal is None or seat != judge.seat
            if refusal is not None and seat not in decision.seats:
                assert refusal.reason in _seat_reasons(state, seat)
            assert (refusal is None) <= (seat in decision.seats)
        for other in (decision.id - 1, decision.id + 1, 0):
            refusal = judge.answer(c.Command(judge.seat, other, action))
            assert refusal is not None
            assert refusal.reason == "stale_decision"


def _seat_reasons(state: State, seat: int) -> set[str]:
    if not 0 <= seat < len(state.in_play):
        return {"bad_choice"}
    if not state.in_play[seat] or state.leaving[seat]:
        return {"seat_out"}
    return {"not_asked", "excluded_bidder", "already_leading"}


@pytest.mark.parametrize(("table", "mood"), CASES)
def test_only_a_due_deadline_in_force_expires(table: Table, mood: int) -> None:
    """IND-TIME-15, -16: at its moment and with the grace, not before; no other deadline, and none twice."""
    for judge, step in judges(table, mood, 120):
        state = step.before
        running = {deadline.id: deadline.due_at_ms + state.config.grace_ms for deadline in state.deadlines}
        for deadline_id in {*running, 0, state.next_deadline, state.next_deadline - 1, state.next_deadline - 2}:
            for now_ms in (step.play_time_ms, running.get(deadline_id, 0) - 1, running.get(deadline_id, 10**9)):
                judge.now_ms = now_ms
                refusal = judge.answer(c.Command(-1, 0, c.Expire(deadline_id)))
                due = deadline_id in running and now_ms >= running[deadline_id]
                assert (refusal is None) == due
                if refusal is not None:
                    assert refusal.reason == ("not_due" if deadline_id in running else "stale_deadline")


@pytest.mark.parametrize(("table", "mood"), CASES)
def test_an_answer_counts_until_its_deadline(table: Table, mood: int) -> None:
    """IND-TIME-15: strictly before the deadline, the grace included."""
    for judge, step in judges(table, mood, 120):
        state, deadline_id = step.before, judge.decision.deadline_id
        if step.command.action.__class__ not in ANSWERS:
            continue  # standing rights have no deadline
        for deadline in state.deadlines:
            if deadline.id == deadline_id:
                end_ms = deadline.due_at_ms + state.config.grace_ms
                judge.now_ms = end_ms - 1
                assert judge.action(step.command.action) is None
                judge.now_ms = end_ms
                refusal = judge.action(step.command.action)
                assert refusal is not None
                assert refusal.reason == "stale_deadline"


@pytest.mark.parametrize("table", TABLES)
def test_any_seat_can_be_withdrawn_at_any_moment(table: Table) -> None:
    """IND-INV-08: a withdrawal is taken once for a seat in play, and the game goes on or is over."""
    for judge, step in judges(table, 4, 120):
        for seat, playing in enumerate(step.before.in_play):
            refusal = judge.answer(c.Command(-1, 0, c.Withdraw(seat)))
            assert (refusal is None) == (playing and not step.before.leaving[seat])
