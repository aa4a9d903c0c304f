"""What becomes of a bankrupt's cash, deeds and cards (docs/rules/parameters.md, «Bankruptcy»)."""

from typing import Literal

from services.rules.domain.edition import Edition
from services.rules.domain.events import BuildingsSold, DeedMoved, DeedRedeemed, MoneyMoved, ReleaseCardMoved
from services.rules.domain.moves.money import charge, estate_shares, pay_taxed, raisable, refund
from services.rules.domain.moves.mortgages import transfer_fee
from services.rules.domain.parameters import ToPlayer
from services.rules.domain.parties import BANK, NONE
from services.rules.domain.play import Play
from services.rules.domain.state import Claim, EstateFrame, State

BankruptReason = Literal["declared", "insolvent", "leaving"]


def pass_on(play: Play, seat: int, claims: tuple[Claim, ...], tax_rate: int, *, last: bool) -> None:
    """Gives the estate to the creditors, or to the bank where no seat is one.

    `tax_rate` is that of the debt; `last`: this bankruptcy ends the game by its limit.
    """
    edition = play.edition
    if not any([claim.payee >= 0 for claim in claims]):
        _to_bank(play, seat)
        return
    way = edition.estate_to_player.last if last else edition.estate_to_player.usual
    heir = claims[0].payee if len(claims) == 1 else NONE
    _pay_creditors(play, seat, claims, tax_rate, way)
    if heir != NONE and way in ("as_is", "transfer"):
        _deeds_to(play, seat, heir)
        _cards_to(play, seat, heir if way == "transfer" or edition.trade_cards else BANK)
    else:
        _rest_to_bank(play, seat)
        ally = _inheriting_ally(play, seat) if way in ("as_is", "transfer") else NONE
        if ally != NONE:
            _deeds_to(play, seat, ally)
        else:
            _deeds_to_bank(play, seat)
        _cards_to(play, seat, BANK)


def _to_bank(play: Play, seat: int) -> None:
    """Cash to the bank; deeds to it too, or to an ally in play as they stand (BRA-BANK-10, TAB-BANK-02, -06)."""
    _rest_to_bank(play, seat)
    ally = _inheriting_ally(play, seat)
    if ally != NONE:
        _deeds_to(play, seat, ally)
    else:
        _deeds_to_bank(play, seat)
    _cards_to(play, seat, BANK)


def _inheriting_ally(play: Play, seat: int) -> int:
    """An ally in play that takes the deeds which no single creditor gets, as the edition says (BRA-BANK-04, -09)."""
    state = play.state
    seats = state.config.seats
    if not play.edition.estate_to_bank.ally:
        return NONE
    for other, setup in enumerate(seats):
        if other != seat and state.in_play[other] and setup.team == seats[seat].team:
            return other
    return NONE


def _pay_creditors(play: Play, seat: int, claims: tuple[Claim, ...], tax_rate: int, way: ToPlayer) -> None:
    """Cash to those it is owed to: all of it, up to the sum, or the bank pays for the bankrupt."""
    edition, state = play.edition, play.state
    if way == "bank_pays":
        for claim in claims:
            if claim.payee != BANK:
                play.emit(MoneyMoved(BANK, claim.payee, claim.amount, "estate"))
        return
    if way == "liquidate":
        _liquidate(play, seat)
    elif way == "transfer":
        _sell_all_buildings(play, seat)
    cash = state.cash[seat]
    total = sum([claim.amount for claim in claims])
    whole = way == "cash" or (way == "transfer" and len(claims) == 1)
    pot = cash if whole else min(cash, total)
    for share in estate_shares(pot, claims, seat):
        if share.amount:
            pay_taxed(play, seat, share, "estate", rate=tax_rate)
    if edition.estate_to_player.usual != "cash":
        _rest_to_bank(play, seat)


def _liquidate(play: Play, seat: int) -> None:
    """The bank pays exactly raisable for everything (MET-BANK-02, -05)."""
    gain = raisable(play.edition, play.state, seat) - play.state.cash[seat]
    if gain:
        play.emit(MoneyMoved(BANK, seat, gain, "liquidation"))


def _sell_all_buildings(play: Play, seat: int) -> None:
    """Every building at its refund (TAB-BANK-03)."""
    state = play.state
    for cell, level in enumerate(state.levels[:]):
        if level and state.owners[cell] == seat:
            play.emit(MoneyMoved(BANK, seat, refund(play.edition, cell) * level, "building_sale", cell))
            play.emit(BuildingsSold(cell, level, 0))


def _rest_to_bank(play: Play, seat: int) -> None:
    cash = play.state.cash[seat]
    if cash:
        play.emit(MoneyMoved(seat, BANK, cash, "estate"))


def _deeds_of(state: State, seat: int) -> list[int]:
    return [cell for cell, owner in enumerate(state.owners) if owner == seat]


def _deeds_to_bank(play: Play, seat: int) -> None:
    for cell in _deeds_of(play.state, seat):
        play.emit(DeedMoved(cell, seat, BANK, "estate"))


def _deeds_to(play: Play, seat: int, heir: int) -> None:
    for cell in _deeds_of(play.state, seat):
        play.emit(DeedMoved(cell, seat, heir, "estate"))


def _cards_to(play: Play, seat: int, heir: int) -> None:
    """Held release cards; where drawn ones stay in their decks they just vanish (IND-BANK-03)."""
    if play.edition.release_card == "out":
        for deck in play.state.release_cards[seat]:
            play.emit(ReleaseCardMoved(deck, seat, heir))


def charge_heirs(play: Play) -> None:
    """The fees of inherited mortgages are one debt to the bank, due at once (TAB-BANK-04)."""
    top = play.state.agenda[-1] if play.state.agenda else None
    if isinstance(top, EstateFrame):
        fees = sum([transfer_fee(play.edition, cell) for cell in top.cells])
        charge(play, top.seat, (Claim(BANK, fees),), "transfer_fee")


def estate_cost(edition: Edition, cell: int) -> int:
    """What redeeming an inherited deed at once costs: the mortgage value alone, the fee being paid (TAB-BANK-04)."""
    return edition.board.half_price[cell]


def redeem_inherited(play: Play, seat: int, cell: int) -> None:
    """Pays the mortgage value and frees the deed."""
    play.emit(MoneyMoved(seat, BANK, estate_cost(play.edition, cell), "redemption", cell))
    play.emit(DeedRedeemed(cell))
