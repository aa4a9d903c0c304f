"""Step functions of the round and of game time, read in one place (docs/rules/parameters.md, section 4.6)."""

from services.rules.domain.edition import Edition
from services.rules.domain.state import PauseFrame, State

MINUTE_MS = 60_000


def game_ms(state: State, play_time_ms: int) -> int:
    """Play time since the first turn, without pauses, also the one that is on (TAB-TAX-15, BRA-TIME-11)."""
    top = state.agenda[-1] if state.agenda else None
    now_ms = top.since_ms if isinstance(top, PauseFrame) else play_time_ms
    return now_ms - state.config.started_at_ms - state.paused_ms


def game_minute(state: State, play_time_ms: int) -> int:
    """Minute n begins when n - 1 full minutes have passed (TAB-TAX-14, BRA-MOVE-06)."""
    return game_ms(state, play_time_ms) // MINUTE_MS + 1


def salary_is_paid(edition: Edition, state: State, play_time_ms: int) -> bool:
    """Whether Start still pays (BRA-MOVE-05, TAB-TAX-10)."""
    end = edition.salary_end_minute
    return end is None or game_minute(state, play_time_ms) < end


def tax_rate(edition: Edition, state: State, play_time_ms: int) -> int:
    """Percent that the bank keeps of a rent due now (MET-RENT-12, -13, BRA-RENT-12, BRA-TABLE-11, TAB-TAX-11)."""
    start, curve = edition.rent_tax_start, edition.rent_tax_curve
    if start is None or curve is None:
        return 0
    now = state.round if edition.rent_tax_clock == "round" else game_minute(state, play_time_ms)
    return curve.percent_at(now - start) if now >= start else 0


def third_die_is_thrown(edition: Edition, state: State) -> bool:
    """Whether a free token rolls the third die (MET-DICE-05, -06, BRA-DICE-05, -06)."""
    start = edition.third_die_from_round
    return start is not None and state.round >= start
