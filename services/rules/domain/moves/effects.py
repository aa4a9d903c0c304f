"""What cards do: the closed list of effects of docs/rules/parameters.md, 3.7."""

from collections.abc import Callable

from services.rules.domain import chance
from services.rules.domain.board import CELL_COUNT, Card
from services.rules.domain.events import CardDrawn, DeckShuffled, Jailed, MoneyMoved, ReleaseCardMoved, TripRemembered
from services.rules.domain.folds.seats import clockwise
from services.rules.domain.moves.money import charge, tax_of
from services.rules.domain.moves.walking import jump, step_back, walk_to
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play
from services.rules.domain.state import Claim, CollectFrame, State


def draw_card(play: Play, seat: int, deck: str) -> None:
    """Draws the top card, which acts at once (IND-CARD-01); a second random trip in one roll is skipped for the next
    card (IND-CARD-10, -13)."""
    cards = play.edition.decks[deck]
    for _ in cards:
        if not play.state.decks[deck]:
            _shuffle_again(play, deck)
        number = play.state.decks[deck][0]
        card = cards[number]
        if card.effect == "random_trip" and play.state.trip_taken:
            play.emit(CardDrawn(seat, deck, number, True))
        else:
            play.emit(CardDrawn(seat, deck, number))
            EFFECTS[card.effect](play, seat, card)
            return


def _shuffle_again(play: Play, deck: str) -> None:
    """The used cards become a new deck when a card must be drawn and none is left (BRA-CARD-02, -08)."""
    state = play.state
    used = state.discards[deck]
    order = chance.shuffled(state.config, state.draws, len(used))
    play.emit(DeckShuffled(deck, tuple([used[index] for index in order]), len(used) - 1))


def _name(card: Card) -> str:
    return f"{card.deck}/{card.key}"


def gain(play: Play, seat: int, card: Card) -> None:
    """From the bank (IND-CARD-17), less the tax where that is taken from what cards bring (TAB-TAX-13)."""
    tax = card.amount * tax_of(play.edition, play, "card") // 100
    play.emit(MoneyMoved(BANK, seat, card.amount - tax, "card", NONE, _name(card)))


def pay(play: Play, seat: int, card: Card) -> None:
    """To the bank (IND-CARD-17)."""
    charge(play, seat, (Claim(BANK, card.amount),), "card", NONE, _name(card))


def pay_each(play: Play, seat: int, card: Card) -> None:
    """One payment to all rivals together: all or nobody (IND-CARD-18)."""
    claims = tuple(Claim(rival, card.amount) for rival in clockwise(play.state, seat))
    charge(play, seat, claims, "card", NONE, _name(card))


def collect_each(play: Play, seat: int, card: Card) -> None:
    """The payers stand in the agenda since the card was drawn; see run_collect."""


def run_collect(play: Play, frame: CollectFrame) -> None:
    """The next payer pays, or becomes a debtor while the others wait (IND-CARD-19); the bank collects in place of a
    drawer who is out (IND-DEBT-24, BRA-DEBT-07)."""
    payee = frame.seat if play.state.in_play[frame.seat] else BANK
    charge(play, frame.payers[0], (Claim(payee, frame.amount),), "card", NONE, frame.card)


def pay_per_building(play: Play, seat: int, card: Card) -> None:
    """For each house, and for each hotel as one hotel (IND-CARD-20)."""
    state, edition = play.state, play.edition
    amount = building_levy(state, seat, card, edition.houses_under_hotel + 1)
    if amount:
        charge(play, seat, (Claim(BANK, amount),), "card", NONE, _name(card))


def building_levy(state: State, seat: int, card: Card, top: int) -> int:
    """Units due for the buildings of a seat; without a second amount, the first one holds for every level."""
    amount = 0
    for cell, level in enumerate(state.levels):
        if level and state.owners[cell] == seat:
            if card.amount2 is not None and level == top:
                amount += card.amount2
            else:
                amount += card.amount * level
    return amount


def move_to(play: Play, seat: int, card: Card) -> None:
    """Forward to a cell (IND-CARD-06, -15)."""
    walk_to(play, seat, play.edition.board.cell_of_key[card.target])


def move_nearest(play: Play, seat: int, card: Card) -> None:
    """Forward to the nearest cell of a kind, beginning with the next one (IND-CARD-11, -14)."""
    cell = play.state.position[seat]
    there = [other for other, kind in enumerate(play.edition.board.kind) if kind == card.target]
    walk_to(play, seat, min(there, key=lambda other: (other - cell - 1) % CELL_COUNT))


def move_by(play: Play, seat: int, card: Card) -> None:
    """Back by some cells; forward where the amount is positive."""
    if card.amount < 0:
        step_back(play, seat, -card.amount)
    else:
        walk_to(play, seat, (play.state.position[seat] + card.amount) % CELL_COUNT)


def random_trip(play: Play, seat: int, card: Card) -> None:
    """Uniform over all cells but the present and the remembered one (IND-CARD-07, -12)."""
    state = play.state
    excluded = (state.position[seat], state.trip_memory)
    cells = [cell for cell in range(CELL_COUNT) if cell not in excluded]
    cell = cells[chance.draw(state.config, state.draws, len(cells))]
    play.emit(TripRemembered(cell))
    jump(play, seat, cell, "trip")


def goto_jail(play: Play, seat: int, card: Card) -> None:
    """To jail, without salary (IND-JAIL-01, -02)."""
    play.emit(Jailed(seat, "card"))


def release_card(play: Play, seat: int, card: Card) -> None:
    """The drawer keeps a release (IND-CARD-04, -05)."""
    play.emit(ReleaseCardMoved(card.deck, BANK, seat))


def destroy_building(play: Play, seat: int, card: Card) -> None:
    """The drawer chooses, see demolition.py; without a building of an opponent nothing happens (BRA-CARD-11)."""


EFFECTS: dict[str, Callable[[Play, int, Card], None]] = {
    "gain": gain,
    "pay": pay,
    "pay_each": pay_each,
    "collect_each": collect_each,
    "pay_per_building": pay_per_building,
    "move_to": move_to,
    "move_nearest": move_nearest,
    "move_by": move_by,
    "random_trip": random_trip,
    "goto_jail": goto_jail,
    "release_card": release_card,
    "destroy_building": destroy_building,
}
