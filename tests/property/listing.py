"""Whether an action is among the listed options, read from the options alone; and actions at and beyond bounds."""

from collections.abc import Iterator
from random import Random

from services.rules.domain import commands as c
from services.rules.domain.commands import Action, Basket
from services.rules.domain.options import AmountRange, Option, OptionKind
from services.rules.domain.parties import NONE

#: actions without parameters, by the kind of option that lists them
PLAIN: dict[Action, OptionKind] = {
    c.Roll(): "roll",
    c.PayFine(): "pay_fine",
    c.UseReleaseCard(): "use_release_card",
    c.Buy(): "buy",
    c.Decline(): "decline",
    c.Pass(): "pass",
    c.AcceptTrade(): "accept_trade",
    c.RefuseTrade(): "refuse_trade",
    c.DeclareBankruptcy(): "declare_bankruptcy",
    c.EndTurn(): "end_turn",
}


def listed(options: tuple[Option, ...], action: Action) -> bool:
    """Whether the options allow exactly this action."""
    return any(_fits(option, action) for option in options)


def _fits(option: Option, action: Action) -> bool:
    if action in PLAIN:
        return option.kind == PLAIN[action]
    match action:
        case c.Bid(amount):
            return option.kind == "bid" and option.range is not None and option.range.holds(amount)
        case c.OpenAuction(cell, opening):
            return option.kind == "open_auction" and any(
                lot.cell == cell and lot.opening is not None and lot.opening.holds(opening) for lot in option.lots
            )
        case c.Build(cells):
            return option.kind == "build" and cells in [(choice.cell,) for choice in option.buildings]
        case c.SellBuildings(cells, to_level):
            return option.kind == "sell_buildings" and any(
                cells == (choice.cell,) and to_level == choice.to_level for choice in option.buildings
            )
        case c.SellToBank(cell):
            return option.kind == "sell_to_bank" and cell in [deed.cell for deed in option.deeds]
        case c.OfferTrade():
            return option.kind == "offer_trade" and _offered(option, action)
    return False


def _offered(option: Option, action: c.OfferTrade) -> bool:
    trade, give, get = option.trade, action.give, action.get
    if trade is None or action.to != trade.to or action.redeem or give.release_cards or get.release_cards:
        return False
    if not get.cells:
        price = trade.sale_range(give.cells[0]) if len(give.cells) == 1 and give.cash == 0 else None
        return price is not None and price.holds(get.cash)
    if len(get.cells) != 1 or len(give.cells) > 1 or get.cash:
        return False
    cash = trade.exchange_range(get.cells[0], give.cells[0] if give.cells else NONE)
    return cash is not None and cash.holds(give.cash)


def at_bounds(option: Option) -> Iterator[Action]:
    """Every choice of an option, with the least and the greatest amount of each."""
    yield from (action for action, kind in PLAIN.items() if option.kind == kind)
    if option.kind == "bid" and option.range is not None:
        yield from (c.Bid(amount) for amount in _ends(option.range))
    elif option.kind == "open_auction":
        for lot in option.lots:
            assert lot.opening is not None
            yield from (c.OpenAuction(lot.cell, amount) for amount in _ends(lot.opening))
    elif option.kind == "build":
        yield from (c.Build((choice.cell,)) for choice in option.buildings)
    elif option.kind == "sell_buildings":
        yield from (c.SellBuildings((choice.cell,), choice.to_level) for choice in option.buildings)
    elif option.kind == "sell_to_bank":
        yield from (c.SellToBank(deed.cell) for deed in option.deeds)
    elif option.kind == "offer_trade":
        yield from _offers_at_bounds(option)


def _offers_at_bounds(option: Option) -> Iterator[Action]:
    trade = option.trade
    assert trade is not None
    for get_cell in trade.get_cells:
        for give_cell in (NONE, *trade.give_cells):
            cash = trade.exchange_range(get_cell, give_cell)
            for amount in _ends(cash):
                give = Basket(amount, () if give_cell == NONE else (give_cell,))
                yield c.OfferTrade(trade.to, give, Basket(cells=(get_cell,)))
    for sale in trade.sales:
        for amount in _ends(trade.sale_range(sale.cell)):
            yield c.OfferTrade(trade.to, Basket(cells=(sale.cell,)), Basket(amount))


def _ends(amounts: AmountRange | None) -> tuple[int, ...]:
    if amounts is None:
        return ()
    greatest = amounts.greatest - (amounts.greatest - amounts.least) % amounts.step
    assert amounts.least <= greatest, f"an empty range: {amounts}"
    return tuple(sorted({amounts.least, greatest}))


def perturbed(rng: Random, action: Action) -> Action:
    """An action a little beside the given one; it may still be legal."""
    shift = rng.choice((-10, -1, 1, 10))
    match action:
        case c.Bid(amount):
            return c.Bid(amount + shift)
        case c.OpenAuction(cell, opening):
            return rng.choice((c.OpenAuction(cell, opening + shift), c.OpenAuction(_beside(rng, cell), opening)))
        case c.Build(cells):
            return c.Build(rng.choice(((_beside(rng, cells[0]),), (*cells, *cells), ())))
        case c.SellBuildings(cells, to_level):
            return rng.choice(
                (c.SellBuildings(cells, to_level + rng.choice((-1, 1))), c.SellBuildings((_beside(rng, cells[0]),), 0))
            )
        case c.SellToBank(cell):
            return c.SellToBank(_beside(rng, cell))
        case c.OfferTrade(to, give, get):
            return c.OfferTrade(*_beside_offer(rng, to, give, get))
        case c.UseReleaseCard():
            return c.UseReleaseCard(rng.choice(("market", "support", "x")))
        case _:
            return any_action(rng)


def _beside_offer(rng: Random, to: int, give: Basket, get: Basket) -> tuple[int, Basket, Basket]:
    change = rng.randrange(6)
    if change == 0:
        return to + rng.choice((-1, 1)), give, get
    if change == 1:
        return to, Basket(give.cash + rng.choice((-10, -1, 1, 10)), give.cells), get
    if change == 2:
        return to, give, Basket(get.cash + rng.choice((-10, -1, 1, 10)), get.cells)
    if change == 3:
        return to, Basket(give.cash, give.cells, ("market",)), get
    if change == 4:
        return to, give, Basket(get.cash, tuple(_beside(rng, cell) for cell in get.cells))
    return to, get, give


def _beside(rng: Random, cell: int) -> int:
    return cell + rng.choice((-3, -2, -1, 1, 2, 3, 100))


def any_action(rng: Random) -> Action:
    """Any action of any kind with any parameters near the possible ones."""
    cell, other, money = rng.randint(-1, 40), rng.randint(-1, 40), rng.randint(-20, 1200)
    cells = rng.choice(((), (other,), (cell, other)))
    made: tuple[Action, ...] = (
        *PLAIN,
        c.AcceptTrade((cell,)),
        c.Bid(money),
        c.OpenAuction(cell, money),
        c.Build((cell,)),
        c.SellBuildings((cell,), rng.randint(-1, 5)),
        c.SellToBank(cell),
        c.OfferTrade(rng.randint(-1, 6), Basket(money, cells), Basket(rng.choice((0, 0, money)), (cell,))),
        c.OfferTrade(rng.randint(-1, 6), Basket(0, (cell,)), Basket(money)),
        c.Mortgage(cell),
        c.Redeem(cell),
        c.Surrender(),
        c.OfferSettlement(Basket(money)),
        c.Pay(),
        c.ChooseMove("sum"),
        c.ChooseCell(cell),
        c.PlaceBet((1, 2)),
        c.ChooseBuilding(cell),
        c.ChooseEstate(()),
        c.AskGap(),
        c.CloseGap(),
        c.ClaimBuildings(cells),
        c.ClaimRent(0, cell),
        c.AskPause(),
        c.VotePause(yes=True),
        c.ConfirmReturn(),
    )
    return rng.choice(made)
