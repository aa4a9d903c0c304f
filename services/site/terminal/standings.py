"""What stands in the middle of the board and in the list of property: texts about a position."""

from __future__ import annotations

from services.rules.domain.options import Option
from services.rules.domain.parties import NONE
from services.rules.domain.state import AuctionFrame, PaymentFrame, State, TradeFrame
from services.site.terminal.board import TOKENS
from services.site.terminal.names import Names
from services.site.terminal.paint import Paint
from services.site.terminal.position import Position


def standings(position: Position, names: Names, paint: Paint) -> list[str]:
    """Round, every seat's cash and property, the bank's supply, and what is going on."""
    view = position.view
    lines = [names.texts.say("words", "round", round=view.round)]
    lines += [_seat_line(view, names, seat, paint) for seat in range(len(view.cash))]
    if position.edition.supply is not None:
        lines.append(names.texts.say("words", "supply", houses=view.supply_houses, hotels=view.supply_hotels))
    return lines + matters(position, names)


def _seat_line(view: State, names: Names, seat: int, paint: Paint) -> str:
    texts = names.texts
    deeds = [cell for cell, owner in enumerate(view.owners) if owner == seat]
    built = sum(view.levels[cell] for cell in deeds)
    mark = "►" if seat == view.turn_seat and not view.ended else " "
    if not view.in_play[seat]:
        state = texts.say("words", "out")
    else:
        state = f"{view.cash[seat]:>6}  {len(deeds)}{f'+{built}' if built else ''}"
        if view.jail_tries[seat] != NONE:
            state += f"  {names.jail}"
    return f"{mark} {paint.seat(TOKENS[seat], seat)} {names.seat(seat):<20.20} {state}"


def matters(position: Position, names: Names) -> list[str]:
    """The auction, debt or offer that is open, as IND-UI-20 and IND-UI-23 want them shown."""
    view, lines = position.view, []
    for frame in view.agenda:
        if isinstance(frame, AuctionFrame):
            lines.append(_auction(frame, position.options, names))
        elif isinstance(frame, PaymentFrame):
            lines.append(_debt(frame, view, names))
        elif isinstance(frame, TradeFrame):
            lines.append(_offer(frame, names))
    return lines


def _auction(frame: AuctionFrame, options: tuple[Option, ...], names: Names) -> str:
    least = next((option.range.least for option in options if option.kind == "bid" and option.range), "")
    return names.texts.say(
        "words",
        "auction",
        cell=names.cell(frame.cell),
        amount=frame.amount or frame.opening,
        leader=names.seat(frame.leader) if frame.leader != NONE else "",
        least=least,
        passed=", ".join(names.seat(seat) for seat in frame.passed),
    )


def _debt(frame: PaymentFrame, view: State, names: Names) -> str:
    owed, cash = sum(claim.amount for claim in frame.claims), view.cash[frame.payer]
    return names.texts.say(
        "words",
        "debt",
        payer=names.seat(frame.payer),
        amount=owed,
        payee=", ".join(names.party(claim.payee) for claim in frame.claims),
        reason=names.texts.say("reasons", frame.reason),
        cash=cash,
        missing=owed - cash if owed > cash else "",
    )


def _offer(frame: TradeFrame, names: Names) -> str:
    return names.texts.say(
        "words",
        "offer",
        from_seat=names.seat(frame.from_seat),
        to_seat=names.seat(frame.to_seat),
        give=names.basket(frame.give.cash, frame.give.cells, frame.give.release_cards),
        get=names.basket(frame.get.cash, frame.get.cells, frame.get.release_cards),
    )


def property_lines(position: Position, names: Names, seat: int) -> list[str]:
    """Cash and deeds of a seat, group by group."""
    view, texts = position.view, names.texts
    lines = [f"{texts.say('words', 'own')}: {texts.say('words', 'free_cash')} {view.cash[seat]}"]
    for group in names.edition.groups:
        owned = [cell for cell in group.cells if view.owners[cell] == seat]
        if not owned:
            continue
        deeds = []
        for cell in owned:
            notes = []
            if view.levels[cell]:
                notes.append(texts.say("words", "level", level=view.levels[cell]))
            if view.mortgaged_rounds[cell]:
                notes.append(texts.say("words", "mortgaged"))
            deeds.append(names.bare_cell(cell) + (f" ({', '.join(notes)})" if notes else ""))
        lines.append(f"  {names.text(group.name)} {len(owned)}/{len(group.cells)}: {', '.join(deeds)}")
    if view.release_cards[seat]:
        lines.append(f"  {texts.say('actions', 'use_release_card', deck='')} × {len(view.release_cards[seat])}")
    return lines
