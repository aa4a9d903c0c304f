"""Checks a whole log: the events by deciding every command anew, then what else stands in its updates."""

from collections.abc import Iterable, Sequence

from google.protobuf.unknown_fields import UnknownFieldSet
from magnate.game.v1 import update_pb2
from magnate.rules.v1 import rules_service_pb2 as pb

from services.rules.codec import messages
from services.rules.codec.states import view_message
from services.rules.domain import digest
from services.rules.domain.edition import Edition
from services.rules.domain.events import Event, GameStarted
from services.rules.domain.evolve import fold
from services.rules.domain.legal import legal_actions
from services.rules.domain.replay import Entry, replay
from services.rules.domain.state import Seating, State
from services.rules.editions.ports import Editions, OverrideError, UnknownEditionError


def read_log(entries: Iterable[pb.LogEntry]) -> list[Entry]:
    """The entries as the rules know them; a body that is withheld is None. Raises CodecError for a later version's."""
    return [_read_entry(entry) for entry in entries]


def check_log(
    editions: Editions, entries: Sequence[pb.LogEntry], log: Sequence[Entry]
) -> tuple[pb.ReplayResponse, State]:
    """Replays a log; `log` is what `read_log` made of the entries. The result, and the state up to which it came."""

    started = log[0].events[0] if log and log[0].events else None
    overrides = started.overrides if isinstance(started, GameStarted) else ()

    def edition_of(edition_id: str, version: int, seating: Seating) -> Edition:
        try:
            return editions.flat(edition_id, version, seating, overrides)
        except (UnknownEditionError, OverrideError) as error:
            raise KeyError(str(error)) from error

    result = replay(edition_of, log)
    response = pb.ReplayResponse(
        same=result.same,
        first_difference=result.first_difference,
        explanation=result.explanation,
        view=view_message(result.state),
        chance_verified=result.chance_verified,
    )
    if result.same and entries:
        config = result.state.config
        difference = _difference(edition_of(config.edition, config.version, config.seating), entries, log, result.state)
        if difference is not None:
            response.same = False
            response.first_difference, response.explanation = difference
    return response, result.state


def _difference(
    edition: Edition, entries: Sequence[pb.LogEntry], log: Sequence[Entry], last: State
) -> tuple[int, str] | None:
    """The first update that says something else than its events: the number of its last event, and what it is."""
    if any(event is None for entry in log for event in entry.events):
        update = entries[-1].update
        if _is_comparable(update) and update.state_hash != digest.state_hash(last):
            return update.last_seq, "the state hash of the last update is not that of the state"
        return None
    state, table_id = State(), entries[0].update.table_id
    for logged, entry in zip(entries, log, strict=True):
        first_seq = state.seq + 1
        events = [event for event in entry.events if event is not None]
        state = fold(edition, state, events)
        if _is_comparable(logged.update):
            expected = _update_of(edition, table_id, first_seq, entry, events, state, logged.update)
            if expected != logged.update:
                return state.seq, f"the update up to event {state.seq} differs beside its events"
    return None


def _is_comparable(update: update_pb2.Update) -> bool:
    return update.state_hash_version == digest.STATE_HASH_VERSION


def _update_of(
    edition: Edition,
    table_id: str,
    first_seq: int,
    entry: Entry,
    events: Sequence[Event],
    state: State,
    logged: update_pb2.Update,
) -> update_pb2.Update:
    """The update that the service would give for an entry; the command's id is the only thing that it cannot know."""
    command = b"" if entry.command is None else messages.write_command(entry.command, logged.command.command_id)
    return update_pb2.Update.FromString(
        messages.write_update(
            table_id=table_id,
            first_seq=first_seq,
            play_time_ms=entry.play_time_ms,
            command=command,
            events=events,
            options=legal_actions(edition, state, entry.play_time_ms),
            state=state,
            state_hash=digest.state_hash(state),
            hash_version=digest.STATE_HASH_VERSION,
        )
    )


def _read_entry(entry: pb.LogEntry) -> Entry:
    update = entry.update
    bodies = {secret.seq: secret for secret in entry.secrets}
    events: list[Event | None] = []
    for message in update.events:
        body = bodies.get(message.seq, message)
        known = body.WhichOneof("body") is not None or len(UnknownFieldSet(body)) > 0
        events.append(messages.read_event(body) if known else None)
    command = messages.read_command(update.command) if update.HasField("command") else None
    return Entry(command, update.play_time_ms, tuple(events))
