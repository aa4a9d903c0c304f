"""Folds of turns, dice, movement, jail and cards."""

from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    CardDrawn,
    DiceRolled,
    Jailed,
    JailTryFailed,
    ReleaseCardMoved,
    Released,
    TokenMoved,
    TripRemembered,
    TurnEnded,
    TurnStarted,
)
from services.rules.domain.folds.seats import clockwise
from services.rules.domain.parties import NONE
from services.rules.domain.state import CollectFrame, RollFrame, RollStage, State, TurnFrame

JAIL_TRIES = 3
DOUBLES_TO_JAIL = 3


def forget(state: State, scope: str) -> None:
    """Empties the counters of a scope that has ended."""
    counters = state.counters
    if counters:
        stale = [key for key in counters if key[0] == scope]
        for key in stale:
            del counters[key]


def set_roll_stage(state: State, stage: RollStage) -> None:
    """Moves the roll on top of the agenda to a stage."""
    top = state.agenda[-1]
    if top.__class__ is RollFrame:
        state.agenda[-1] = RollFrame(top.seat, top.dice, top.third, top.from_jail, stage)


def turn_started(edition: Edition, state: State, event: TurnStarted) -> None:
    """IND-TURN-06, -07: fresh allowances; the count of doubles goes on only into an extra turn."""
    if not event.extra:
        state.doubles = 0
    state.extra_owed = False
    state.turn_seat = event.seat
    state.round = event.round
    state.agenda = [TurnFrame(event.seat, "roll")]
    forget(state, "turn")


def turn_ended(edition: Edition, state: State, event: TurnEnded) -> None:
    """The agenda is empty between turns."""
    state.agenda = []


def dice_rolled(edition: Edition, state: State, event: DiceRolled) -> None:
    """IND-DICE-02, -04: doubles count only when a free token rolls."""
    dice = event.dice
    state.last_roll = dice
    state.draws += 3 if event.third else 2
    if event.purpose == "utility":
        return
    from_jail = event.purpose == "jail"
    state.trip_taken = False
    double = not from_jail and dice[0] == dice[1]
    state.doubles = state.doubles + 1 if double else 0
    state.extra_owed = double and state.doubles < DOUBLES_TO_JAIL
    state.agenda.append(RollFrame(event.seat, dice, event.third, from_jail, "fallen"))


def token_moved(edition: Edition, state: State, event: TokenMoved) -> None:
    """IND-MOVE-06: every arrival is a new visit."""
    state.position[event.seat] = event.to_cell
    state.counters.pop(("visit", "build", (event.seat,)), None)
    set_roll_stage(state, "landing")


def jailed(edition: Edition, state: State, event: Jailed) -> None:
    """IND-DICE-05: the extra roll is lost; the seat stays in its turn."""
    seat = event.seat
    state.position[seat] = edition.board.jail_cell
    state.jail_tries[seat] = 0
    state.counters.pop(("visit", "build", (seat,)), None)
    state.extra_owed = False
    state.doubles = 0
    state.agenda = [TurnFrame(seat, "manage")]


def jail_try_failed(edition: Edition, state: State, event: JailTryFailed) -> None:
    """IND-JAIL-08, -10: after the last try the fine comes before the move."""
    state.jail_tries[event.seat] = event.tries
    if event.tries < JAIL_TRIES:
        state.agenda = [TurnFrame(event.seat, "manage")]
    else:
        set_roll_stage(state, "fine")


def released(edition: Edition, state: State, event: Released) -> None:
    """IND-JAIL-12: tries and doubles are forgotten; a roll that freed goes on with its move."""
    state.jail_tries[event.seat] = NONE
    state.doubles = 0
    set_roll_stage(state, "move")


def card_drawn(edition: Edition, state: State, event: CardDrawn) -> None:
    """IND-CARD-03, -05: the top card goes to the bottom; a collecting card lists its payers (IND-CARD-19)."""
    deck = state.decks[event.deck]
    card = edition.decks[event.deck][event.card]
    if deck:
        if card.effect == "release_card" and edition.release_card == "out" and not event.skipped:
            state.decks[event.deck] = deck[1:]
        else:
            state.decks[event.deck] = (*deck[1:], deck[0])
    set_roll_stage(state, "settled")
    if card.effect == "collect_each" and not event.skipped:
        payers = clockwise(state, event.seat)
        state.agenda.append(CollectFrame(event.seat, card.amount, f"{event.deck}/{card.key}", payers))


def release_card_moved(edition: Edition, state: State, event: ReleaseCardMoved) -> None:
    """Held cards are counted by deck (IND-CARD-05)."""
    if event.from_party >= 0:
        held = list(state.release_cards[event.from_party])
        held.remove(event.deck)
        state.release_cards[event.from_party] = tuple(held)
    if event.to_party >= 0:
        state.release_cards[event.to_party] = tuple(sorted((*state.release_cards[event.to_party], event.deck)))


def trip_remembered(edition: Edition, state: State, event: TripRemembered) -> None:
    """IND-CARD-12: remembered for the whole table."""
    state.trip_memory = event.cell
    state.trip_taken = True
    state.draws += 1
