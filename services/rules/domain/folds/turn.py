"""Folds of turns, dice, movement, jail and cards."""

from services.rules.domain.board import Card
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    BetDeclined,
    CardDrawn,
    CasinoPlayed,
    DiceRolled,
    Jailed,
    JailTryFailed,
    MoveChosen,
    ReleaseCardMoved,
    Released,
    TokenMoved,
    TripRemembered,
    TurnEnded,
    TurnStarted,
)
from services.rules.domain.folds.seats import clockwise
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.state import CollectFrame, DemolitionFrame, RollFrame, RollStage, State, TurnFrame

JAIL_TRIES = 3
DOUBLES_TO_JAIL = 3
#: the third die shows 1 to this, or a face of its own
THIRD_NUMBERS = 3
#: movements by a card
CARD_CAUSES = ("card", "card_back", "trip")


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
        state.agenda[-1] = RollFrame(top.seat, top.dice, top.third, top.from_jail, stage, top.card)


def turn_started(edition: Edition, state: State, event: TurnStarted) -> None:
    """IND-TURN-06, -07: fresh allowances; the count of doubles goes on only into an extra turn."""
    if not event.extra:
        state.doubles = 0
    state.extra_owed = False
    state.turn_seat = event.seat
    state.round = event.round
    state.agenda = [TurnFrame(event.seat, "roll")]
    state.clocks.pop("turn", None)
    forget(state, "turn")


def turn_ended(edition: Edition, state: State, event: TurnEnded) -> None:
    """The agenda is empty between turns; turns that ended without a roll are counted (MET-TIME-11)."""
    state.agenda = []
    if edition.timeout_roll == "skip":
        key = ("game", "unrolled", (event.seat,))
        if event.reason == "time" and ("turn", "rolled", (event.seat,)) not in state.counters:
            state.counters[key] = state.counters.get(key, 0) + 1
        else:
            state.counters.pop(key, None)


def dice_rolled(edition: Edition, state: State, event: DiceRolled) -> None:
    """IND-DICE-02, -04: doubles count only when a free token rolls."""
    dice = event.dice
    state.draws += 3 if event.third else 2
    if event.purpose == "first_player":
        return
    state.last_roll = dice
    if event.purpose == "utility":
        return
    from_jail = event.purpose == "jail"
    state.trip_taken = False
    if edition.timeout_roll == "skip" or "gap" in edition.build_in or "first_roll" in edition.trade_in.full:
        state.counters[("turn", "rolled", (event.seat,))] = 1
    if is_triple(dice, event.third):
        state.doubles = 0
        state.extra_owed = bool(edition.triple_extra_roll)
    else:
        double = not from_jail and dice[0] == dice[1]
        state.doubles = state.doubles + 1 if double else 0
        state.extra_owed = double and state.doubles < DOUBLES_TO_JAIL
    if state.rent_claims:
        _lapse_claims(state, event.seat)
    state.agenda.append(RollFrame(event.seat, dice, event.third, from_jail, "fallen"))


def is_triple(dice: tuple[int, ...], third: int) -> bool:
    """Three equal numbers; no double, and their count begins anew (MET-DICE-17, -18, BRA-DICE-15)."""
    return third <= THIRD_NUMBERS and third == dice[0] == dice[1]


def _lapse_claims(state: State, roller: int) -> None:
    """A claim of rent lapses when the seat after the visitor rolls (TAB-RENT-11)."""
    state.rent_claims = tuple([claim for claim in state.rent_claims if claim.visitor == roller])


def move_chosen(edition: Edition, state: State, event: MoveChosen) -> None:
    """What a BUS face moves by, or that a triple walks; a chosen cell is told by the movement (MET-DICE-10)."""
    top = state.agenda[-1]
    if isinstance(top, RollFrame) and event.option:
        dice = {"first": top.dice[:1], "second": top.dice[1:], "sum": top.dice}[event.option]
        state.agenda[-1] = RollFrame(top.seat, dice, top.third, top.from_jail, "move", top.card)


def token_moved(edition: Edition, state: State, event: TokenMoved) -> None:
    """IND-MOVE-06: every arrival is a new visit."""
    state.position[event.seat] = event.to_cell
    state.counters.pop(("visit", "build", (event.seat,)), None)
    top = state.agenda[-1]
    if isinstance(top, RollFrame):
        third = 0 if event.cause in ("jump", "teleport") else top.third
        card = top.card if event.cause in CARD_CAUSES else ""
        state.agenda[-1] = RollFrame(top.seat, top.dice, third, top.from_jail, "landing", card)


def jailed(edition: Edition, state: State, event: Jailed) -> None:
    """IND-DICE-05: the extra roll is lost; the seat stays in its turn."""
    seat = event.seat
    state.position[seat] = edition.board.jail_cell
    state.jail_tries[seat] = 0
    state.counters.pop(("visit", "build", (seat,)), None)
    state.extra_owed = False
    state.doubles = 0
    state.agenda = [TurnFrame(seat, "manage" if edition.manage_after == "every_roll" else "end")]


def jail_try_failed(edition: Edition, state: State, event: JailTryFailed) -> None:
    """IND-JAIL-08, -10: after the last try the fine comes before the move."""
    state.jail_tries[event.seat] = event.tries
    if event.tries < JAIL_TRIES:
        state.agenda = [TurnFrame(event.seat, "end" if edition.manage_after == "never" else "manage")]
    else:
        set_roll_stage(state, "fine")


def released(edition: Edition, state: State, event: Released) -> None:
    """IND-JAIL-12: tries and doubles are forgotten; a roll that freed goes on with its move."""
    state.jail_tries[event.seat] = NONE
    state.doubles = 0
    set_roll_stage(state, "move")


def card_drawn(edition: Edition, state: State, event: CardDrawn) -> None:
    """IND-CARD-03, -05: the top card goes to the bottom; a collecting card lists its payers (IND-CARD-19)."""
    card = edition.decks[event.deck][event.card]
    if state.decks[event.deck]:
        _put_away(edition, state, event, card)
    top = state.agenda[-1]
    if isinstance(top, RollFrame):
        name = f"{event.deck}/{card.key}"
        state.agenda[-1] = RollFrame(top.seat, top.dice, top.third, top.from_jail, "settled", name)
    if card.effect == "destroy_building" and enemy_buildings(state, event.seat):
        state.agenda.append(DemolitionFrame(event.seat))
    if card.effect == "collect_each" and not event.skipped:
        payers = clockwise(state, event.seat)
        state.agenda.append(CollectFrame(event.seat, card.amount, f"{event.deck}/{card.key}", payers))


def _put_away(edition: Edition, state: State, event: CardDrawn, card: Card) -> None:
    """A card is kept, laid aside until the deck is used up, or goes to the bottom (BRA-CARD-08, TAB-CARD-03, -04)."""
    first, *rest = state.decks[event.deck]
    if card.effect == "release_card" and edition.release_card == "out" and not event.skipped:
        state.decks[event.deck] = tuple(rest)
    elif edition.deck_cycle == "reshuffle":
        state.discards[event.deck] = (*state.discards[event.deck], first)
        state.decks[event.deck] = tuple(rest)
    else:
        state.decks[event.deck] = (*rest, first)


def enemy_buildings(state: State, seat: int) -> list[int]:
    """Cells of opponents that carry a building (BRA-CARD-11)."""
    seats = state.config.seats
    return [
        cell for cell, level in enumerate(state.levels) if level and seats[state.owners[cell]].team != seats[seat].team
    ]


def release_card_moved(edition: Edition, state: State, event: ReleaseCardMoved) -> None:
    """Held cards are counted by deck (IND-CARD-05); one given up goes back where it was kept out of its deck."""
    if event.from_party >= 0:
        held = list(state.release_cards[event.from_party])
        held.remove(event.deck)
        state.release_cards[event.from_party] = tuple(held)
        if event.to_party == BANK and edition.release_card == "out":
            _give_back(edition, state, event.deck)
    if event.to_party >= 0:
        state.release_cards[event.to_party] = tuple(sorted((*state.release_cards[event.to_party], event.deck)))


def _give_back(edition: Edition, state: State, deck: str) -> None:
    """To the bottom of the deck, or among the used cards where those are shuffled (TAB-CARD-04, BRA-CARD-08)."""
    cards = edition.decks[deck]
    outside = [
        number
        for number, card in enumerate(cards)
        if card.effect == "release_card" and number not in state.decks[deck] and number not in state.discards[deck]
    ]
    if not outside or not (state.decks[deck] or state.discards[deck]):
        return
    if edition.deck_cycle == "reshuffle":
        state.discards[deck] = (*state.discards[deck], outside[0])
    else:
        state.decks[deck] = (*state.decks[deck], outside[0])


def casino_played(edition: Edition, state: State, event: CasinoPlayed) -> None:
    """One bet for each landing (BRA-MOVE-19)."""
    state.draws += 2
    set_roll_stage(state, "settled")


def bet_declined(edition: Edition, state: State, event: BetDeclined) -> None:
    """Declining ends only the casino (BRA-MOVE-19)."""
    set_roll_stage(state, "settled")


def trip_remembered(edition: Edition, state: State, event: TripRemembered) -> None:
    """IND-CARD-12: remembered for the whole table."""
    state.trip_memory = event.cell
    state.trip_taken = True
    state.draws += 1
