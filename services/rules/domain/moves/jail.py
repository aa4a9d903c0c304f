"""Leaving jail before the roll (IND-JAIL-04, -11, -12)."""

from services.rules.domain.commands import Command, UseReleaseCard
from services.rules.domain.events import MoneyMoved, ReleaseCardMoved, Released
from services.rules.domain.moves.asking import stay_or_close
from services.rules.domain.parties import BANK
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal


def pay_fine(play: Play, command: Command) -> Refusal | None:
    """Pays the fine from cash; never makes a debt (IND-JAIL-11)."""
    edition, state, seat = play.edition, play.state, command.seat
    if state.jail_tries[seat] < 0:
        return refuse(edition, "not_in_jail", "fine_jailed", "the seat is free")
    if state.cash[seat] < edition.jail_fine:
        return refuse(edition, "not_enough_cash", "fine_cash", "the fine needs cash", {"least": edition.jail_fine})
    stay_or_close(play)
    play.emit(MoneyMoved(seat, BANK, edition.jail_fine, "fine", edition.board.jail_cell))
    play.emit(Released(seat, "fine"))
    return None


def use_release_card(play: Play, command: Command) -> Refusal | None:
    """Uses a held card (IND-JAIL-04); which one does not matter where drawn cards stay in their decks."""
    edition, state, seat = play.edition, play.state, command.seat
    action = command.action
    held = state.release_cards[seat]
    deck = action.deck if isinstance(action, UseReleaseCard) else ""
    if state.jail_tries[seat] < 0:
        return refuse(edition, "not_in_jail", "fine_jailed", "the seat is free")
    if not held:
        return refuse(edition, "no_release_card", "release_card", "the seat holds no release card")
    if edition.release_card == "stays":
        if deck:
            return refuse(edition, "bad_choice", "release_card", "release cards have no deck in this edition")
        deck = held[0]
    elif deck not in held:
        return refuse(edition, "no_release_card", "release_card", "the seat holds no release card of this deck")
    stay_or_close(play)
    play.emit(ReleaseCardMoved(deck, seat, BANK))
    play.emit(Released(seat, "card"))
    return None
