"""What a seat may do now, with its bounds: every command within the bounds is accepted, every other one refused."""

from typing import Literal

from services.rules.domain.parties import NONE
from services.rules.domain.values import value

OptionKind = Literal[
    "roll",
    "pay_fine",
    "use_release_card",
    "choose_move",
    "choose_cell",
    "buy",
    "decline",
    "place_bet",
    "choose_building",
    "bid",
    "pass",
    "open_auction",
    "build",
    "sell_buildings",
    "mortgage",
    "redeem",
    "offer_trade",
    "offer_settlement",
    "accept_trade",
    "refuse_trade",
    "pay",
    "sell_to_bank",
    "declare_bankruptcy",
    "choose_estate",
    "end_turn",
    "ask_gap",
    "close_gap",
    "claim_buildings",
    "claim_rent",
    "surrender",
    "ask_pause",
    "vote_pause",
    "confirm_return",
]


@value
class AmountRange:
    """Amounts `least` + n * `step` up to `greatest`, in units."""

    least: int
    greatest: int
    step: int = 1

    def holds(self, amount: int) -> bool:
        """Whether the amount is among them."""
        return self.least <= amount <= self.greatest and (amount - self.least) % self.step == 0


@value
class BuildingChoice:
    """A street, its level after the step, and the units paid (build) or received (sale)."""

    cell: int
    to_level: int
    amount: int


@value
class DeedChoice:
    """A deed and the units that it costs or brings."""

    cell: int
    amount: int


@value
class LotChoice:
    """A deed that may be put up, with the openings allowed (None: the seller names none)."""

    cell: int
    opening: AmountRange | None


@value
class TradeBound:
    """Money for one pair of deeds (NONE: none on that side) that was refused before; None: none is legal."""

    get_cell: int
    give_cell: int
    cash: AmountRange | None


@value
class TradeChoice:
    """What may be offered to one partner; see TradeChoice in the contracts."""

    to: int
    get_cells: tuple[int, ...]
    give_cells: tuple[int, ...]
    exchange_cash: AmountRange | None
    sales: tuple[DeedChoice, ...]
    sale_cash_greatest: int
    bounds: tuple[TradeBound, ...] = ()
    free_shape: bool = False
    balance_percent: int = 0
    give_release_cards: tuple[str, ...] = ()
    get_release_cards: tuple[str, ...] = ()
    transfer_fee_percent: int = 0
    redeem_percent: int = 0
    gifts: bool = False

    def bound(self, get_cell: int, give_cell: int) -> TradeBound | None:
        """The narrower bound of a pair, if it has one."""
        for bound in self.bounds:
            if bound.get_cell == get_cell and bound.give_cell == give_cell:
                return bound
        return None

    def exchange_range(self, get_cell: int, give_cell: int = NONE) -> AmountRange | None:
        """Money that may go with an exchange of these deeds; None: not legal."""
        if self.exchange_cash is None or get_cell not in self.get_cells:
            return None
        if give_cell != NONE and give_cell not in self.give_cells:
            return None
        bound = self.bound(get_cell, give_cell)
        if bound is not None:
            return bound.cash
        least = self.exchange_cash.least if give_cell != NONE else max(1, self.exchange_cash.least)
        return AmountRange(least, self.exchange_cash.greatest) if least <= self.exchange_cash.greatest else None

    def sale_range(self, give_cell: int) -> AmountRange | None:
        """Prices that may be asked for a deed; None: not legal."""
        for sale in self.sales:
            if sale.cell == give_cell:
                bound = self.bound(NONE, give_cell)
                return bound.cash if bound is not None else AmountRange(sale.amount, self.sale_cash_greatest)
        return None


@value
class Option:
    """One legal command of a seat. Only the fields that its kind needs are set."""

    seat: int
    kind: OptionKind
    #: units to pay: fine, price, stake, payment
    amount: int = 0
    deck: str = ""
    range: AmountRange | None = None
    buildings: tuple[BuildingChoice, ...] = ()
    deeds: tuple[DeedChoice, ...] = ()
    lots: tuple[LotChoice, ...] = ()
    trade: TradeChoice | None = None
