"""What is measured of the tables."""

from __future__ import annotations

from services.kit.telemetry import Telemetry, observable_value


class Instruments:
    """See `ports.Meter`."""

    def __init__(self, telemetry: Telemetry) -> None:
        meter = telemetry.meter_of("table")
        self._waiting = 0
        self._lag_s = 0.0
        self._stopped = {"broken": 0, "operator": 0}
        self._commands = meter.create_counter("magnate_table_commands_total", description="commands done, by kind")
        self._commit_seconds = meter.create_histogram(
            "magnate_table_commit_seconds", unit="s", description="time from a decided command to its commit"
        )
        self._answer_seconds = meter.create_histogram(
            "magnate_table_answer_seconds",
            unit="s",
            description="time from a seat's command to its answer, of any kind",
        )
        self._refusals = meter.create_counter("magnate_table_refusals_total", description="commands refused, by reason")
        self._races = meter.create_counter(
            "magnate_table_races_total", description="tries of a command on a state that was no longer the newest"
        )
        self._states = meter.create_counter(
            "magnate_table_states_sent_total", description="states sent to the rules by value"
        )
        self._fallbacks = meter.create_counter(
            "magnate_table_bot_fallbacks_total", description="turns of bots played by the table itself"
        )
        # Shown from the start: to whoever watches, a series that is born with its first fault has not risen.
        self._fallbacks.add(0)
        self._published = meter.create_counter(
            "magnate_table_published_messages_total", description="messages brought to the event stream"
        )
        self._archived = meter.create_counter(
            "magnate_table_archived_games_total", description="games whose log was packed away"
        )
        self._forgotten = meter.create_counter(
            "magnate_table_forgotten_games_total", description="archived games that were deleted"
        )
        self._abandoned = meter.create_counter(
            "magnate_table_abandoned_games_total", description="running games that expired because nobody played them"
        )
        meter.create_observable_gauge(
            "magnate_table_stopped_tables",
            [lambda _: [observable_value(count, {"cause": cause}) for cause, count in self._stopped.items()]],
            description="tables that stand still: `broken` stopped themselves, `operator` was stopped",
        )
        meter.create_observable_gauge(
            "magnate_table_outbox_messages",
            [lambda _: [observable_value(self._waiting)]],
            description="committed messages that wait for the event stream",
        )
        meter.create_observable_gauge(
            "magnate_table_outbox_lag_seconds",
            [lambda _: [observable_value(self._lag_s)]],
            unit="s",
            description="how long the oldest of them has waited",
        )

    def command_done(self, kind: str, commit_s: float) -> None:
        self._commands.add(1, {"kind": kind})
        self._commit_seconds.record(commit_s)

    def command_answered(self, took_s: float) -> None:
        self._answer_seconds.record(took_s)

    def command_refused(self, reason: str) -> None:
        self._refusals.add(1, {"reason": reason})

    def raced(self) -> None:
        self._races.add(1)

    def state_sent(self) -> None:
        self._states.add(1)

    def fallback_played(self) -> None:
        self._fallbacks.add(1)

    def archived(self) -> None:
        self._archived.add(1)

    def forgotten(self, games: int) -> None:
        self._forgotten.add(games)

    def abandoned(self) -> None:
        self._abandoned.add(1)

    def stopped(self, *, broken: int, by_operator: int) -> None:
        self._stopped = {"broken": broken, "operator": by_operator}

    def published(self, messages: int) -> None:
        self._published.add(messages)

    def outbox_waits(self, messages: int, lag_s: float) -> None:
        self._waiting = messages
        self._lag_s = lag_s
