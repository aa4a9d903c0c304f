"""Decides commands: finds the state, asks the core, keeps what came out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from services.kit.logs import get_log
from services.rules.application.instruments import Instruments
from services.rules.application.new_games import make_setup, real_changes
from services.rules.application.states import Known, StateName, States
from services.rules.domain import invariants
from services.rules.domain.commands import Command
from services.rules.domain.decide import advance
from services.rules.domain.digest import state_hash
from services.rules.domain.edition import Edition
from services.rules.domain.events import Event
from services.rules.domain.evolve import UnknownEventError, fold
from services.rules.domain.legal import legal_actions
from services.rules.domain.new_game import SetupError, begin
from services.rules.domain.options import Option
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import SeatSetup, State
from services.rules.editions.ports import Editions, Overrides, of_game

_log = get_log(__name__)


class BrokenInvariantError(Exception):
    """The core's code is at fault: what it decided cannot be. Nothing of it may be committed."""


class WrongStateError(Exception):
    """The state that came with a call is not the one that it names, or cannot be read by this version."""


class BrokenStateError(WrongStateError):
    """What its keeper has stored of a state cannot have come out of its commands, or is no state at all."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A state as its keeper has it: a snapshot and the events since."""

    snapshot: State
    tail: Sequence[Event]


#: reads the stored state that came with a call; None if none did
Load = Callable[[], Stored | None]


@dataclass(frozen=True, slots=True)
class Decided:
    """What the core made of a command: its events from `first_seq` on, the state after them, and the stamp."""

    first_seq: int
    events: tuple[Event, ...]
    state: State
    play_time_ms: int


@dataclass(frozen=True, slots=True)
class Judged:
    """What was decided: the events from number `first_seq` on, the state after them, and what may be done now.

    `before` is the state that it was decided on, None at the beginning of a game.
    """

    first_seq: int
    events: tuple[Event, ...]
    state: State
    state_hash: bytes
    options: tuple[Option, ...]
    edition: Edition
    before: Known | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTable:
    """A table whose game is to begin; version 0 is the newest."""

    table_id: str
    edition: str
    version: int
    overrides: Overrides
    seats: tuple[SeatSetup, ...]
    server_seed: bytes
    grace_ms: int
    play_time_ms: int


class Judge:
    """The rules at work. `check_every`: of so many commands one has its state checked against the invariants."""

    def __init__(self, editions: Editions, *, kept_states: int, check_every: int, instruments: Instruments) -> None:
        self._editions = editions
        self._states = States(kept_states)
        self._check_every = check_every
        self._until_check = check_every
        self._instruments = instruments
        instruments.watch(kept_states=lambda: len(self._states))

    def begin(self, table: NewTable) -> Judged | Refusal:
        """The beginning of a game. Raises UnknownEditionError, OverrideError."""
        edition = self._editions.get(table.edition, table.version)
        setup = make_setup(
            edition,
            table.seats,
            overrides=table.overrides,
            server_seed=table.server_seed,
            grace_ms=table.grace_ms,
        )
        if isinstance(setup, Refusal):
            return setup
        flat = self._editions.flat(edition.id, edition.version, setup.seating, setup.overrides)
        base = self._editions.flat(edition.id, edition.version, setup.seating, ())
        setup = replace(setup, overrides=real_changes(base, flat, setup.overrides))
        try:
            began = begin(flat, setup, table.play_time_ms)
        except SetupError as error:
            return Refusal("bad_choice", "", "", str(error), {})
        self._check(flat, began.state, table.table_id)
        decided = Decided(1, began.events, began.state, table.play_time_ms)
        return _judged(flat, decided, None)

    def apply(self, name: StateName, load: Load, command: Command, play_time_ms: int) -> Judged | Refusal | None:
        """What a command does on the state named; None: the state is not here and did not come with the call.

        Raises WrongStateError, UnknownEditionError, BrokenInvariantError. What comes out is for `keep`.
        """
        known = self.find(name, load)
        if known is None:
            return None
        result = advance(known.edition, known.state, command, play_time_ms)
        if isinstance(result, Refusal):
            self._instruments.refused(result.reason)
            return result
        self._until_check -= 1
        if self._until_check <= 0:
            self._until_check = self._check_every
            self._check_kept(known.edition, result.state, name.table_id)
        self._instruments.accepted()
        decided = Decided(name.seq + 1, result.events, result.state, play_time_ms)
        return _judged(known.edition, decided, known)

    def keep(self, table_id: str, judged: Judged, update_digest: bytes) -> None:
        """Keeps what was decided, by the digest of the update that tells it."""
        known = Known(judged.state, judged.edition, judged.state_hash, update_digest)
        self._states.keep(table_id, known, before=judged.before)

    def find(self, name: StateName, load: Load) -> Known | None:
        """The state named, from here or from the call. Raises WrongStateError, UnknownEditionError."""
        known = self._states.find(name)
        if known is None:
            stored = load()
            if stored is None:
                self._instruments.state_missing()
                return None
            known = self._restore(name, stored)
            self._states.keep(name.table_id, known)
        return known

    def options(self, known: Known) -> tuple[Option, ...]:
        """What may be done in a state."""
        return legal_actions(known.edition, known.state)

    def _restore(self, name: StateName, stored: Stored) -> Known:
        edition = of_game(self._editions, stored.snapshot.config)
        try:
            state = fold(edition, stored.snapshot, stored.tail) if stored.tail else stored.snapshot
        except (UnknownEventError, KeyError, IndexError, ValueError) as error:
            raise BrokenStateError(f"the events since the snapshot cannot be folded: {error!r}") from error
        digest = state_hash(state)
        if state.seq != name.seq:
            raise BrokenStateError(f"the state given ends at {state.seq}, not at {name.seq}")
        if name.state_hash and digest != name.state_hash:
            raise BrokenStateError(f"the state given has the hash {digest.hex()}, not {name.state_hash.hex()}")
        return Known(state, edition, digest, name.update_digest)

    def _check_kept(self, edition: Edition, state: State, table_id: str) -> None:
        """What a broken state came out of may be broken too: the next command brings it along anew."""
        try:
            self._check(edition, state, table_id)
        except BrokenInvariantError:
            self._states.forget(table_id)
            raise

    def _check(self, edition: Edition, state: State, table_id: str) -> None:
        # Which groups a bank sale has left uneven is history, which a state alone does not tell (IND-INV-06, -07).
        broken = invariants.broken(edition, state, spoiled=frozenset(edition.board.group_cells))
        if broken:
            self._instruments.broken()
            _log.error("invariant_broken", table_id=table_id, seq=state.seq, broken="; ".join(broken))
            raise BrokenInvariantError("; ".join(broken))


def _judged(edition: Edition, decided: Decided, before: Known | None) -> Judged:
    state = decided.state
    options = legal_actions(edition, state, decided.play_time_ms)
    return Judged(decided.first_seq, decided.events, state, state_hash(state), options, edition, before)
