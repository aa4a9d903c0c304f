"""Decides a log anew and compares it event by event."""

from collections.abc import Callable, Sequence

from services.rules.domain import chance
from services.rules.domain.commands import Command
from services.rules.domain.decide import advance
from services.rules.domain.edition import Edition
from services.rules.domain.events import DeckShuffled, Event, GameStarted, SeedDrawn
from services.rules.domain.evolve import UnknownEventError, fold
from services.rules.domain.new_game import Setup, SetupError, begin
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import Seating, State
from services.rules.domain.values import value


@value
class Entry:
    """One command of a log with its stamp and events; the first entry has no command. None: a secret event's body."""

    command: Command | None
    play_time_ms: int
    events: tuple[Event | None, ...]


@value
class ReplayResult:
    """How a replay ended. `first_difference` is the number of the first event that differs, 0 if none."""

    same: bool
    first_difference: int
    explanation: str
    state: State
    chance_verified: bool

    def __hash__(self) -> int:
        return hash((self.same, self.first_difference))


#: gives the flat edition of a game; raises KeyError
Editions = Callable[[str, int, Seating], Edition]


def replay(editions: Editions, entries: Sequence[Entry]) -> ReplayResult:
    """Decides every command of the log again from its first event on.

    A log whose secrets are withheld (a running game) can only be folded: then `chance_verified` is False.
    """
    if not entries or not entries[0].events or not isinstance(entries[0].events[0], GameStarted):
        return _differs(1, "the log does not begin with game_started", State())
    started = entries[0].events[0]
    try:
        edition = editions(started.edition, started.version, started.seating)
    except (KeyError, ValueError) as error:
        return _differs(1, f"the log begins with an edition that is not known here: {error}", State())
    secret = next((event for event in entries[0].events if isinstance(event, SeedDrawn)), None)
    if secret is None:
        return _fold_only(edition, entries)
    return _decide_again(edition, started, secret, entries)


def _decide_again(edition: Edition, started: GameStarted, secret: SeedDrawn, entries: Sequence[Entry]) -> ReplayResult:
    setup = Setup(
        seating=started.seating,
        seats=started.seats,
        server_seed=secret.server_seed,
        grace_ms=started.grace_ms,
        overrides=started.overrides,
        algorithm=secret.algorithm,
        script=secret.script,
    )
    try:
        beginning = begin(edition, setup, entries[0].play_time_ms)
    except (SetupError, chance.ChanceError) as error:
        return _differs(1, f"the game cannot be begun: {error}", State())
    state = beginning.state
    difference = _compare(1, entries[0].events, beginning.events)
    if difference is not None:
        return _differs(*difference, state)
    for entry in entries[1:]:
        number = state.seq + 1
        if entry.command is None:
            return _differs(number, "a command is missing", state)
        result = advance(edition, state, entry.command, entry.play_time_ms)
        if isinstance(result, Refusal):
            return _differs(number, f"the command is refused: {result.reason} ({result.statement})", state)
        difference = _compare(number, entry.events, result.events)
        if difference is not None:
            return _differs(*difference, state)
        state = result.state
    return ReplayResult(True, 0, "every event came out the same", state, secret.algorithm == chance.HMAC_SHA256)


def _compare(number: int, logged: Sequence[Event | None], decided: Sequence[Event]) -> tuple[int, str] | None:
    """The first difference: its number and what it is."""
    for offset, (one, other) in enumerate(zip(logged, decided, strict=False)):
        if one is not None and one != other:
            return number + offset, f"the log says {one!r}, the rules say {other!r}"
    if len(logged) != len(decided):
        offset = min(len(logged), len(decided))
        return number + offset, f"the log has {len(logged)} events for this command, the rules make {len(decided)}"
    return None


def _fold_only(edition: Edition, entries: Sequence[Entry]) -> ReplayResult:
    """Without the seed the events are folded as they stand."""
    state = State()
    for entry in entries:
        number = state.seq + 1
        try:
            known = [event if event is not None else _placeholder(edition, state) for event in entry.events]
            state = fold(edition, state, known)
        except (UnknownEventError, KeyError, ValueError, IndexError) as error:
            return _differs(number, f"the events do not follow from each other: {error}", state)
    return ReplayResult(True, 0, "folded; dice and cards can be checked when the game is over", state, False)


def _placeholder(edition: Edition, state: State) -> Event:
    """A secret event without its body changes nothing that can be seen."""
    deck = next(iter(edition.decks))
    if state.seq == 1:
        return SeedDrawn("", b"", ())
    return DeckShuffled(deck, (), 0)


def _differs(number: int, explanation: str, state: State) -> ReplayResult:
    return ReplayResult(False, number, explanation, state, False)
