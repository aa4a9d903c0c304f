"""Finding money for a debt: what is least useful for the cash that it brings goes first (IND-BOT-10).

Steps of one kind are ranked by what they cost beyond what they bring. A lot goes to auction before it is offered to a
rival, and to the bank last, as the rules have it.
"""

from services.bots.domain.building import rent_step
from services.bots.domain.dealing import sale_price
from services.bots.domain.holdings import group_worths, loss_of, options_of, owned_of
from services.rules.domain.commands import (
    Action,
    Basket,
    DeclareBankruptcy,
    Mortgage,
    OfferTrade,
    OpenAuction,
    Pay,
    SellBuildings,
    SellToBank,
)
from services.rules.domain.edition import Edition
from services.rules.domain.options import Option
from services.rules.domain.state import State

#: (cost in percent of what it brings, order among equals, action)
Step = tuple[int, int, Action]


def settle(edition: Edition, state: State, options: tuple[Option, ...], seat: int) -> Action:
    """Pays, or takes the next step toward paying; gives up only when no step is left."""
    if options_of(options, seat, "pay"):
        return Pay()
    steps = [
        *_building_sales(edition, state, options, seat),
        *_mortgages(edition, state, options, seat),
        *_auctions(edition, state, options, seat),
    ]
    steps = steps or _rival_sales(edition, state, options, seat) or _bank_sales(edition, state, options, seat)
    if steps:
        return min(steps, key=lambda step: step[:2])[2]
    return DeclareBankruptcy()


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
    """Sales that the rival would agree to, by his own reckoning."""
    steps: list[Step] = []
    for option in options_of(options, seat, "offer_trade"):
        if option.trade is None:
            continue
        for sale in option.trade.sales:
            price = sale_price(edition, state, option.trade, seat, sale.cell)
            if price is not None:
                cost = _cost(loss_of(edition, state, seat, sale.cell), price)
                steps.append((cost, sale.cell, OfferTrade(option.trade.to, Basket(0, (sale.cell,)), Basket(price))))
    return steps


def _bank_sales(edition: Edition, state: State, options: tuple[Option, ...], seat: int) -> list[Step]:
    return [
        (_cost(loss_of(edition, state, seat, deed.cell), deed.amount), deed.cell, SellToBank(deed.cell))
        for option in options_of(options, seat, "sell_to_bank")
        for deed in option.deeds
    ]
