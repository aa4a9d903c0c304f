"""Finding money for a debt: what is least useful for the cash that it brings goes first (IND-BOT-10).

Steps of one kind are ranked by what they cost beyond what they bring. A lot goes to auction before it is offered to a
rival, and to the bank last, as the rules have it.
"""

from services.bots.domain.bargains import after_tax, fees, is_good, owed_to, worth_on_paper
from services.bots.domain.building import rent_step
from services.bots.domain.dealing import sale_price
from services.bots.domain.holdings import gain_of, group_worths, loss_of, options_of, owned_of, swap_gain
from services.rules.domain.commands import (
    Action,
    Basket,
    DeclareBankruptcy,
    Mortgage,
    OfferSettlement,
    OfferTrade,
    OpenAuction,
    Pay,
    SellBuildings,
    SellToBank,
)
from services.rules.domain.edition import Edition
from services.rules.domain.options import Option
from services.rules.domain.state import PaymentFrame, State

#: (cost in percent of what it brings, order among equals, action)
Step = tuple[int, int, Action]


def settle(edition: Edition, state: State, options: tuple[Option, ...], seat: int) -> Action | None:
    """Pays, or takes the next step toward paying; gives up only when no step is left.

    Where a seat may give up only over a sum out of its reach, selling everything would not save it: then rivals may
    still pay more for a deed than the bank, or the creditor may take something for the whole.
    """
    if options_of(options, seat, "pay"):
        return Pay()
    may_give_up = bool(options_of(options, seat, "declare_bankruptcy"))
    if may_give_up and edition.give_up == "always":
        steps = _rival_sales(edition, state, options, seat)
        return _settlement(edition, state, options, seat) or (_cheapest(steps) if steps else DeclareBankruptcy())
    steps = [
        *_building_sales(edition, state, options, seat),
        *_mortgages(edition, state, options, seat),
        *_auctions(edition, state, options, seat),
    ]
    steps = steps or _rival_sales(edition, state, options, seat) or _bank_sales(edition, state, options, seat)
    if steps:
        return _cheapest(steps)
    return DeclareBankruptcy() if may_give_up else None


def _cheapest(steps: list[Step]) -> Action:
    return min(steps, key=lambda step: step[:2])[2]


def _cost(worth: int, brings: int) -> int:
    return 100 * (worth - brings) // max(1, brings)


def _building_sales(edition: Edition, state: State, options: tuple[Option, ...], seat: int) -> list[Step]:
    """A building is worth the rent that goes with it, once."""
    return [
        (
            _cost(rent_step(edition, choice.cell, choice.to_level, state.levels[choice.cell]), choice.amount),
            choice.cell,
            SellBuildings((choice.cell,), choice.to_level),
        )
        for option in options_of(options, seat, "sell_buildings")
        for choice in option.buildings
    ]


def _mortgages(edition: Edition, state: State, options: tuple[Option, ...], seat: int) -> list[Step]:
    """A mortgage costs the use of the deed: little for a lone one, the group's bonus for one of a whole group."""
    worths = group_worths(edition)
    steps: list[Step] = []
    for option in options_of(options, seat, "mortgage"):
        for deed in option.deeds:
            group = worths[deed.cell]
            if group is None:
                continue
            whole = owned_of(state, group.cells, seat) == len(group.cells)
            use = group.bonus[-1] // len(group.cells) if whole else edition.board.price[deed.cell] // 4
            steps.append((100 * use // max(1, deed.amount), deed.cell, Mortgage(deed.cell)))
    return steps


def _auctions(edition: Edition, state: State, options: tuple[Option, ...], seat: int) -> list[Step]:
    """Lots open at their least; rivals who want one bid it up."""
    steps: list[Step] = []
    for option in options_of(options, seat, "open_auction"):
        for lot in option.lots:
            opening = lot.opening.least if lot.opening is not None else 0
            brings = max(opening, edition.board.half_price[lot.cell])
            cost = _cost(loss_of(edition, state, seat, lot.cell), brings)
            steps.append((cost, lot.cell, OpenAuction(lot.cell, opening)))
    return steps


def _rival_sales(edition: Edition, state: State, options: tuple[Option, ...], seat: int) -> list[Step]:
    """Sales that the rival would agree to, by his own reckoning, for more than the bank lends."""
    steps: list[Step] = []
    for option in options_of(options, seat, "offer_trade"):
        choice = option.trade
        if choice is None:
            continue
        for cell in choice.give_cells if choice.free_shape else [sale.cell for sale in choice.sales]:
            price = sale_price(edition, state, choice, seat, cell)
            if price is not None and (not choice.free_shape or price > lent_for(edition, state, cell)):
                cost = _cost(loss_of(edition, state, seat, cell), price)
                steps.append((cost, cell, OfferTrade(choice.to, Basket(0, (cell,)), Basket(price))))
    return steps


def lent_for(edition: Edition, state: State, cell: int) -> int:
    """What the bank still lends for a deed."""
    return 0 if state.mortgaged_rounds[cell] else edition.board.half_price[cell]


def _settlement(edition: Edition, state: State, options: tuple[Option, ...], seat: int) -> Action | None:
    """All cash, and the deeds that the creditor likes best until he agrees by his own reckoning; once in a debt."""
    option = next(iter(options_of(options, seat, "offer_settlement")), None)
    offered = any([what in ("trade", "offers") and keys == (seat,) for _, what, keys in state.counters])
    if option is None or option.trade is None or offered:
        return None
    choice, cash = option.trade, state.cash[seat]
    owed = owed_to(edition, state, choice.to)
    debt = next((frame for frame in reversed(state.agenda) if isinstance(frame, PaymentFrame)), None)
    if debt is None:
        return None
    due, received = debt.total, after_tax(cash, debt)
    liked = sorted(choice.give_cells, key=lambda cell: (-gain_of(edition, state, choice.to, cell), cell))
    for count in range(1, len(liked)):
        cells = tuple(sorted(liked[:count]))
        paper = cash + sum([worth_on_paper(edition, state, cell) for cell in cells])
        sides = sorted((paper, due))
        fee = fees(edition, state, cells)
        if sides[0] * 100 < sides[1] * choice.balance_percent or state.cash[choice.to] + received < fee:
            continue
        gain = swap_gain(edition, state, choice.to, cells, ()) + received - owed - fee
        if is_good(gain, owed - cash - sum([loss_of(edition, state, seat, cell) for cell in cells])):
            return OfferSettlement(Basket(cash, cells))
    return None


def _bank_sales(edition: Edition, state: State, options: tuple[Option, ...], seat: int) -> list[Step]:
    return [
        (_cost(loss_of(edition, state, seat, deed.cell), deed.amount), deed.cell, SellToBank(deed.cell))
        for option in options_of(options, seat, "sell_to_bank")
        for deed in option.deeds
    ]
