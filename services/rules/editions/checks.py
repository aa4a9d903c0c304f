"""What must fit together in an edition whose single values are all well formed."""

from collections.abc import Iterator
from typing import Any

from services.rules.domain.board import DEED_KINDS
from services.rules.editions.board_files import BoardRows
from services.rules.editions.problems import Problem

#: parameter and what is wrong with it
Fault = tuple[str, str]
Values = dict[str, Any]


def parameter_faults(values: Values) -> Iterator[Fault]:
    """Faults between parameters; `values` are the typed values at tables of one seating."""
    yield from _pair_faults(values)
    yield from _auction_faults(values)
    yield from _seat_faults(values)
    if values["on_timeout"] == "default" and values["timeout_roll"] is None:
        yield "timeout_roll", "is needed where on_timeout is default"
    if values["turn_reserve_s"] >= values["turn_s"]:
        yield "turn_reserve_s", f"must be below turn_s, {values['turn_s']}"
    if values["bankruptcy_limit"] is None:
        for name in ("estate_to_player", "estate_to_bank"):
            if values[name].last != values[name].usual:
                yield name, "last needs a bankruptcy_limit"
    if values["teams"] is None and values["estate_to_bank"].ally:
        yield "estate_to_bank", "ally needs teams"


def _pair_faults(values: Values) -> Iterator[Fault]:
    """Parameters that are set together or not at all, and those that need another one."""
    together = (
        ("rent_tax_clock", "rent_tax_curve"),
        ("rent_tax_clock", "rent_tax_on"),
        ("own_auction", "own_auction_opening"),
        ("own_auction", "own_auction_in"),
        ("supply", "supply_short"),
        ("mortgage", "redeem_cost"),
        ("mortgage", "trade_mortgaged"),
    )
    for first, second in together:
        if bool(values[first]) != bool(values[second]):
            yield second, f"must be set exactly where {first} is"
    needs = (
        ("rent_tax_start", "rent_tax_clock"),
        ("mortgage_rounds", "mortgage"),
        ("mortgage_lapse", "mortgage"),
        ("mortgage_transfer_fee", "mortgage"),
    )
    for name, needed in needs:
        if values[name] is not None and values[needed] is None:
            yield name, f"needs {needed}"
    if values["mortgage_rounds"] is not None and values["mortgage_lapse"] is None:
        yield "mortgage_lapse", "is needed where mortgage_rounds is set"
    if values["third_die_from_round"] is not None and values["triple_extra_roll"] is None:
        yield "triple_extra_roll", "is needed where the third die is thrown"
    if values["deal_deeds"] and values["deal_price"] is None:
        yield "deal_price", "is needed where deeds are dealt"


def _auction_faults(values: Values) -> Iterator[Fault]:
    if values["own_auction"] == "mortgaged":
        opening = values["own_auction_opening"]
        if values["redeem_cost"] is None:
            yield "own_auction", "mortgaged needs mortgage"
        elif opening == "seller" or (opening.percent or 0) < values["redeem_cost"]:
            yield "own_auction_opening", f"must be at least redeem_cost, {values['redeem_cost']} percent"
    if values["first_asked"] == "decliner" and not values["decliner_bids"]:
        yield "first_asked", "the decliner does not bid"
    doubled = values["trade_in"].full & values["trade_in"].sale
    if doubled:
        yield "trade_in", f"{', '.join(sorted(doubled))} is both full and sale"


def _seat_faults(values: Values) -> Iterator[Fault]:
    teams = values["teams"]
    if teams is not None:
        seats = sum(len(team) for team in teams)
        if (values["seats"].least, values["seats"].most) != (seats, seats):
            yield "teams", f"seat {seats}, but seats is {values['seats'].least} to {values['seats'].most}"
    if values["first_player"] == "person" and set(values["seating"]) & {"people", "bots"}:
        yield "first_player", "person is only for tables with one person or mixed ones"


def board_faults(values: Values, cells: BoardRows) -> Iterator[Fault | Problem]:
    """Faults between the parameters and the cells."""
    deeds = [cell for cell in cells.cells if cell.kind in DEED_KINDS]
    if values["deal_deeds"] * values["seats"].most > len(deeds):
        yield "deal_deeds", f"the board has only {len(deeds)} deeds"
    if (values["casino"] is None) == any(cell.kind == "casino" for cell in cells.cells):
        yield "casino", "must be set exactly where the board has a casino"
    if (values["utility_dice"] is None) == any(cell.kind == "utility" for cell in cells.cells):
        yield "utility_dice", "must be set exactly where the board has utilities"
    for cell in cells.cells:
        line = cells.lines[cell.key]
        if cell.kind == "start" and cell.amount != values["salary"]:
            yield Problem(cells.file, line, "amount", f"{cell.amount} is not the salary, {values['salary']}")
        if cell.price % 2 and (values["mortgage"] or values["sell_to_bank"] or values["own_auction"]):
            yield Problem(cells.file, line, "price", f"{cell.price} has no whole half")
        if cell.build_cost * values["building_refund"] % 100:
            reason = f"{values['building_refund']}% of {cell.build_cost} is not whole"
            yield Problem(cells.file, line, "build_cost", reason)


def deck_faults(values: Values, decks: dict[str, tuple[str, ...]], cells: BoardRows, cards: BoardRows) -> Iterator[Any]:
    """Faults between the decks (name -> decks of the cards file), the cells and the cards."""
    drawn = {cell.group: cell for cell in reversed(cells.cells) if cell.kind == "card"}
    for deck, cell in drawn.items():
        if deck not in decks:
            yield Problem(cells.file, cells.lines[cell.key], "group", f"deck {deck} is not among the decks")
    in_file = {card.deck for card in cards.cards}
    for name, parts in decks.items():
        if name not in drawn:
            yield "decks", f"no cell draws from {name}"
        for part in parts:
            if part not in in_file:
                yield "decks", f"{cards.file} has no deck {part}"
    used = {part for parts in decks.values() for part in parts}
    has_release = any(card.effect == "release_card" and card.deck in used for card in cards.cards)
    if has_release != (values["release_card"] is not None):
        yield "release_card", "must be set exactly where a deck has release cards"
