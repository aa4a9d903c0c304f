"""How much play time a deadline leaves, as a client counts it down between two signs of life."""

from __future__ import annotations

import time
from collections.abc import Callable

from services.rules.domain.state import Decision, State


class TimeLeft:
    """Play time extrapolated from the last reading while the server says that it advances, and is heard."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._play_time_ms = 0
        self._running = True
        self._heard_s = 0.0
        self._silence_ms = float("inf")
        self._held_ms = 0
        self._paused = False

    def opened(self, heartbeat_ms: int) -> None:
        """A watch has begun: who is not heard for so long may have gone, and time with him."""
        self._silence_ms = heartbeat_ms

    def heard(self, play_time_ms: int, *, running: bool | None = None) -> None:
        """A reading of the server; `running` None where it does not say whether time goes on after it."""
        if running is not None:
            self._running = running
        self._play_time_ms, self._heard_s = play_time_ms, self._now_s()

    def table(self, held_ms: int, *, paused: bool) -> None:
        """The table is so far behind its shard, and may stand still by itself."""
        self._held_ms, self._paused = held_ms, paused

    def left_s(self, view: State, decision: Decision) -> int | None:
        """Whole seconds left for a decision; None for one without a deadline, and while the table stands still."""
        deadline = next((found for found in view.deadlines if found.id == decision.deadline_id), None)
        if deadline is None or self._paused:
            return None
        passed_ms = min((self._now_s() - self._heard_s) * 1000, self._silence_ms) if self._running else 0
        due_ms = deadline.opened_at_ms + deadline.budget_ms + self._held_ms
        return max(0, int(due_ms - self._play_time_ms - passed_ms) // 1000)
