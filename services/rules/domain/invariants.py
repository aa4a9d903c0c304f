"""What holds in every state and across every event (IND-INV-01 to -14): for tests and for checking a log.

Nothing here is needed to play; every finding is a fault of the rules' code. A finding is a sentence for people that
begins with the statement's id.
"""

from collections.abc import Callable, Iterator

from services.rules.domain.board import CELL_COUNT
from services.rules.domain.edition import Edition
from services.rules.domain.events import BuildingDestroyed, DeedMoved, Event, MoneyMoved
from services.rules.domain.folds.turn import DOUBLES_TO_JAIL, JAIL_TRIES
from services.rules.domain.moves.auction import greatest_of, reach_of
from services.rules.domain.parties import BANK, JACKPOT, NONE
from services.rules.domain.state import (
    AuctionFrame,
    MoneyReason,
    PaymentFrame,
    RollFrame,
    State,
    TradeFrame,
)

#: decisions that ask a set of seats
OF_SEVERAL = ("gap", "building_claim", "open_lot", "paused")

NO_GROUPS: frozenset[str] = frozenset()

_IN, _OUT, _ACROSS = "bank to seat", "seat to bank", "seat to seat"

#: which ways money may go for each reason (IND-INV-01)
WAYS: dict[MoneyReason, tuple[str, ...]] = {
    "start_cash": (_IN,),
    "salary": (_IN,),
    "landing_bonus": (_IN,),
    "purchase": (_OUT,),
    "auction": (_OUT,),
    "own_auction": (_ACROSS,),
    "trade": (_ACROSS,),
    "rent": (_ACROSS, _OUT),
    "tax": (_OUT,),
    "card": (_IN, _OUT, _ACROSS),
    "fine": (_OUT,),
    "build": (_OUT,),
    "building_sale": (_IN,),
    "bank_sale": (_IN,),
    "estate": (_OUT, _ACROSS),
}


def broken(edition: Edition, state: State, spoiled: frozenset[str] = NO_GROUPS) -> list[str]:
    """What does not hold in a resting state; empty when all is well.

    `spoiled`: keys of the groups out of which the bank once took a deed although they had buildings (see `spoils`);
    there IND-INV-06 and -07 allow what they forbid elsewhere.
    """
    found: list[str] = []
    for check in CHECKS:
        found.extend(check(edition, state))
    found.extend(_groups(edition, state, spoiled))
    return found


def broken_step(edition: Edition, before: State, event: Event, after: State) -> list[str]:
    """What an event did to cash that it may not (IND-INV-01, -02, -03), and to a deck (IND-INV-10)."""
    found = [f"IND-INV-03: cash {after.cash}"] if any(cash < 0 for cash in after.cash) else []
    expected = before.cash[:] or [0] * len(after.cash)
    jackpot = before.jackpot
    if isinstance(event, MoneyMoved):
        if event.payer >= 0:
            expected[event.payer] -= event.amount
        if event.payee >= 0:
            expected[event.payee] += event.amount
        jackpot += event.amount * ((event.payee == JACKPOT) - (event.payer == JACKPOT))
        if event.amount <= 0 or not _goes(edition, event):
            found.append(f"IND-INV-01: {event}")
    if after.jackpot != jackpot:
        found.append(f"IND-INV-02: the jackpot went from {before.jackpot} to {after.jackpot} by {event}")
    if after.cash != expected:
        found.append(f"IND-INV-02: cash went from {before.cash} to {after.cash} by {event}")
    if edition.release_card == "stays":
        for deck, order in after.decks.items():
            old = before.decks.get(deck)
            if old and order not in (old, old[1:] + old[:1]):
                found.append(f"IND-INV-10: deck {deck} went from {old} to {order}")
    return found


def _goes(edition: Edition, event: MoneyMoved) -> bool:
    """Whether money may go this way for its reason; the bank may pay for a bankrupt where it says so (TAB-BANK-07)."""
    way = _way(event)
    if event.reason == "estate" and edition.estate_to_player.usual == "bank_pays":
        return way != _ACROSS
    return way in WAYS.get(event.reason, (way,))


def _way(event: MoneyMoved) -> str:
    if event.payer >= 0:
        return _ACROSS if event.payee >= 0 else _OUT
    return _IN


def spoils(edition: Edition, before: State, event: Event) -> str | None:
    """The group that an event makes an exception of IND-INV-06 and -07: the bank takes a deed of a built group, or a
    card destroys a building where levels are even (BRA-CARD-11)."""
    if isinstance(event, BuildingDestroyed):
        return edition.board.group[event.cell]
    if isinstance(event, DeedMoved) and event.reason == "bank_sale":
        cells = edition.board.group_of_cell[event.cell]
        if edition.board.is_street[event.cell] and any(before.levels[cell] for cell in cells):
            return edition.board.group[event.cell]
    return None


def _cash(edition: Edition, state: State) -> Iterator[str]:
    for seat, cash in enumerate(state.cash):
        if cash.__class__ is not int or cash < 0:
            yield f"IND-INV-03: seat {seat} has cash {cash!r}"


def _pieces(edition: Edition, state: State) -> Iterator[str]:
    if edition.supply is None:
        return
    top = edition.houses_under_hotel + 1
    houses = sum(level for level in state.levels if level < top) + state.supply_houses
    hotels = state.levels.count(top) + state.supply_hotels
    if (houses, hotels) != (edition.supply.houses, edition.supply.hotels):
        yield f"IND-INV-04: {houses} branches and {hotels} holdings on board and in the supply"
    if state.supply_houses < 0 or state.supply_hotels < 0:
        yield f"IND-INV-04: supply {state.supply_houses}, {state.supply_hotels}"


def _owners(edition: Edition, state: State) -> Iterator[str]:
    board = edition.board
    for cell in range(CELL_COUNT):
        owner, level = state.owners[cell], state.levels[cell]
        if owner != BANK and not (board.is_deed[cell] and 0 <= owner < len(state.in_play) and state.in_play[owner]):
            yield f"IND-INV-05: cell {cell} belongs to {owner}"
        if level and (owner == BANK or not board.is_street[cell]):
            yield f"IND-INV-06: level {level} on cell {cell}"
        if state.mortgaged_rounds[cell] and (owner == BANK or edition.mortgage is None):
            yield f"IND-MORT-01: cell {cell} is mortgaged"
        if not 0 <= level <= edition.houses_under_hotel + 1:
            yield f"IND-INV-06: level {level} on cell {cell}"


def _groups(edition: Edition, state: State, spoiled: frozenset[str]) -> Iterator[str]:
    board = edition.board
    for key, cells in board.group_cells.items():
        levels = [state.levels[cell] for cell in cells]
        if not any(levels) or key in spoiled:
            continue
        if edition.build_even and max(levels) - min(levels) > 1:
            yield f"IND-INV-06: levels {levels} in {key}"
        if len({state.owners[cell] for cell in cells}) > 1:
            yield f"IND-INV-07: {key} has buildings and several owners"


def _actor(edition: Edition, state: State) -> Iterator[str]:
    for kind in (AuctionFrame, TradeFrame, PaymentFrame):
        if sum(isinstance(frame, kind) for frame in state.agenda) > 1:
            yield f"IND-INV-08: more than one {kind.__name__}"
    if state.ended:
        if state.decision is not None or state.deadlines:
            yield "IND-INV-08: the game is over and something is asked"
        return
    decision = state.decision
    if decision is None or not decision.seats or (decision.kind not in OF_SEVERAL and len(decision.seats) != 1):
        yield f"IND-INV-08: not exactly one actor: {decision}"
        return
    for seat in decision.seats:
        if not state.in_play[seat] and decision.kind not in OF_SEVERAL:
            yield f"IND-INV-08, -12: seat {seat} is out and asked"
    if decision.deadline_id and all(item.id != decision.deadline_id for item in state.deadlines):
        yield f"IND-INV-08: the decision names deadline {decision.deadline_id}, which is not in force"


def _debts_and_bids(edition: Edition, state: State) -> Iterator[str]:
    for frame in state.agenda:
        if isinstance(frame, PaymentFrame) and edition.payment_confirm is None and frame is state.agenda[-1]:
            if state.cash[frame.payer] >= frame.total:
                yield f"IND-INV-09: seat {frame.payer} could pay {frame.total}"
        elif isinstance(frame, AuctionFrame) and frame.kind != "open_lot":
            yield from _auction(edition, state, frame)


def _auction(edition: Edition, state: State, frame: AuctionFrame) -> Iterator[str]:
    least = frame.opening
    if frame.leader != NONE:
        least = frame.amount + edition.bid_increment
        if frame.amount > greatest_of(edition, state, frame, frame.leader):
            yield f"IND-INV-14: the bid {frame.amount} is above what the bidder has"
        if edition.bid_rule == "exact" and (frame.amount - frame.opening) % edition.bid_increment:
            yield f"IND-INV-14: {frame.amount} is no price after {frame.opening}"
        if frame.amount < frame.opening:
            yield f"IND-INV-14: {frame.amount} is below {frame.opening}"
    if frame.asked == NONE or frame.asked in frame.passed or frame.asked == frame.leader:
        yield f"IND-INV-09: seat {frame.asked} is asked in the auction"
    elif reach_of(edition, state, frame, frame.asked) < least:
        yield f"IND-INV-09: seat {frame.asked} cannot pay the next price {least}"


def _decks(edition: Edition, state: State) -> Iterator[str]:
    for deck, cards in edition.decks.items():
        order = state.decks[deck]
        if edition.release_card == "stays" and order and sorted(order) != list(range(len(cards))):
            yield f"IND-INV-10: deck {deck} is {order}"
    for seat, held in enumerate(state.release_cards):
        if any(deck not in edition.decks for deck in held):
            yield f"IND-INV-10: seat {seat} holds {held}"


def _jail(edition: Edition, state: State) -> Iterator[str]:
    fee_owed = any(isinstance(frame, RollFrame) and frame.stage in ("fine", "fine_due") for frame in state.agenda)
    for seat, tries in enumerate(state.jail_tries):
        most = JAIL_TRIES if fee_owed and seat == state.turn_seat else JAIL_TRIES - 1
        if tries != NONE and (state.position[seat] != edition.board.jail_cell or not 0 <= tries <= most):
            yield f"IND-INV-11: seat {seat} on cell {state.position[seat]} has {tries} tries"
    if not 0 <= state.doubles < DOUBLES_TO_JAIL:
        yield f"IND-INV-11: {state.doubles} doubles"


def _out(edition: Edition, state: State) -> Iterator[str]:
    for seat, in_play in enumerate(state.in_play):
        if not in_play and (state.cash[seat] or state.release_cards[seat] or seat in state.owners):
            yield f"IND-INV-12: seat {seat} is out and owns something"


CHECKS: tuple[Callable[[Edition, State], Iterator[str]], ...] = (
    _cash,
    _pieces,
    _owners,
    _actor,
    _debts_and_bids,
    _decks,
    _jail,
    _out,
)
