"""What the cell reached demands (IND-MOVE-07)."""

from services.rules.domain import chance
from services.rules.domain.events import DiceRolled, Jailed, RentClaimable
from services.rules.domain.moves.asking import ask
from services.rules.domain.moves.effects import draw_card
from services.rules.domain.moves.money import charge, tax_of
from services.rules.domain.moves.rent import rent_due
from services.rules.domain.parties import BANK
from services.rules.domain.play import Play
from services.rules.domain.state import Claim, RollFrame


def land(play: Play, frame: RollFrame) -> bool:
    """Applies the cell; true if the turn goes on at once, false if something was opened or the token moved on."""
    state, board = play.state, play.edition.board
    seat = frame.seat
    cell = state.position[seat]
    kind = board.kind[cell]
    if board.is_deed[cell]:
        if state.owners[cell] == BANK:
            ask(play, "purchase", seat, "turn")
            return False
        _pay_visit(play, frame, cell)
    elif kind == "card":
        draw_card(play, seat, board.deck_of[cell])
        return False
    elif kind == "tax":
        charge(play, seat, (Claim(BANK, board.amount[cell]),), "tax", cell)
    elif kind == "goto_jail":
        play.emit(Jailed(seat, "cell"))
        return False
    elif kind == "casino":
        ask(play, "casino_bet", seat, "turn")
        return False
    return state.decision is None and state.agenda[-1].__class__ is RollFrame


def _pay_visit(play: Play, frame: RollFrame, cell: int) -> None:
    """Rent to the owner: at once, or when the owner claims it (TAB-RENT-11)."""
    edition, state, seat = play.edition, play.state, frame.seat
    owner = state.owners[cell]
    seats = state.config.seats
    if owner == seat or seats[owner].team == seats[seat].team or state.mortgaged_rounds[cell]:
        return
    multiple = _card_multiple(play, frame)
    if edition.board.kind[cell] == "utility" and _rolls_anew(play, frame, multiple):
        play.emit(DiceRolled(seat, "utility", chance.two_dice(state.config, state.draws)))
    amount = rent_due(edition, state, cell, multiple)
    if not amount:
        return
    if edition.rent_claim == "on_demand":
        play.emit(RentClaimable(seat, cell, amount, owner, tax_of(edition, play, "rent")))
    else:
        charge(play, seat, (Claim(owner, amount),), "rent", cell)


def _card_multiple(play: Play, frame: RollFrame) -> int:
    """The number that a card sets for the rent at its target; 0 if it sets none (TAB-CARD-05)."""
    deck, _, key = frame.card.partition("/")
    cards = play.edition.decks.get(deck, ())
    return sum([card.amount for card in cards if card.key == key and card.effect == "move_nearest"])


def _rolls_anew(play: Play, frame: RollFrame, multiple: int) -> bool:
    """Whether the dice are rolled for the rent of a utility (TAB-RENT-09, -10)."""
    rule = play.edition.utility_dice
    return rule == "new" or (rule == "card_new" and bool(frame.card)) or bool(multiple)
