"""Numbered choices, made from the legal actions of a decision and nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from services.rules.domain import commands as c
from services.rules.domain.options import AmountRange, BuildingChoice, Option, TradeChoice
from services.rules.domain.parties import NONE
from services.site.terminal.console import Console
from services.site.terminal.names import Names
from services.site.terminal.position import Position

T = TypeVar("T")
Entry = tuple[str, T]
Answer = c.Action | None

_FACES = range(1, 7)
_MOST_NUMBERS = 3
_MOST_DIGITS = 9


def number_of(text: str) -> int | None:
    """The number that somebody typed; None for anything else, and for more digits than any choice here has."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


class Menu:
    """The dialog about one decision of one seat. `on_word` hears what is no number; True ends the dialog."""

    def __init__(
        self, console: Console, names: Names, position: Position, seat: int, on_word: Callable[[str], bool]
    ) -> None:
        self._console = console
        self._names = names
        self._texts = names.texts
        self._position = position
        self._seat = seat
        self._on_word = on_word

    async def choose(self, heading: Sequence[str]) -> Answer:
        """The action chosen; None when the player went back, or a word ended the dialog. Raises ClosedError."""
        own = [option for option in self._position.options if option.seat == self._seat]
        entries = [(self._label(option), option) for option in own]
        option = await self._pick(heading, entries, back=False)
        return await self._complete(option) if option is not None else None

    def _label(self, option: Option) -> str:
        amount: object = option.amount
        if option.range is not None:
            amount = option.range.least
            if option.range.greatest > option.range.least:
                amount = f"{option.range.least}–{option.range.greatest}"
        to = self._names.seat(option.trade.to) if option.trade is not None else ""
        return self._texts.say("actions", option.kind, amount=amount, deck=option.deck, to=to)

    async def _complete(self, option: Option) -> Answer:
        """Asks for what an option leaves open."""
        plain = _PLAIN.get(option.kind)
        if plain is not None:
            return plain()
        if option.kind == "use_release_card":
            return c.UseReleaseCard(option.deck)
        ask: dict[str, Callable[[Option], Awaitable[Answer]]] = {
            "choose_move": self._choose_move,
            "choose_cell": self._choose_cell,
            "place_bet": self._place_bet,
            "choose_building": self._building,
            "bid": self._bid,
            "open_auction": self._open_auction,
            "build": self._building,
            "sell_buildings": self._sell_buildings,
            "mortgage": self._deed,
            "redeem": self._deed,
            "sell_to_bank": self._deed,
            "claim_rent": self._deed,
            "offer_trade": self._trade,
            "offer_settlement": self._settlement,
            "declare_bankruptcy": self._give_up,
            "surrender": self._give_up,
            "choose_estate": self._estate,
            "claim_buildings": self._building,
            "vote_pause": self._vote,
        }
        return await ask[option.kind](option)

    # ---- what options leave open --------------------------------------------------------------------------------

    async def _choose_move(self, option: Option) -> Answer:
        first = (self._texts.say("menu", "move_first"), c.ChooseMove("first"))
        second = (self._texts.say("menu", "move_second"), c.ChooseMove("second"))
        both = (self._texts.say("menu", "move_sum"), c.ChooseMove("sum"))
        return await self._pick(self._which(), [first, second, both])

    async def _choose_cell(self, option: Option) -> Answer:
        here = self._position.view.position[self._seat]
        cells = [cell.index for cell in self._names.edition.cells if cell.index != here]
        cell = await self._pick_cell(self._which(), cells)
        return None if cell is None else c.ChooseCell(cell)

    async def _place_bet(self, option: Option) -> Answer:
        text = await self._console.ask([], self._texts.say("menu", "numbers"))
        numbers = [number for word in text.split() if (number := number_of(word)) is not None]
        fits = 0 < len(numbers) <= _MOST_NUMBERS and len(set(numbers)) == len(numbers)
        if not fits or any(number not in _FACES for number in numbers):
            self._console.notice(self._texts.say("menu", "bad_choice"))
            return None
        return c.PlaceBet(tuple(sorted(numbers)))

    async def _bid(self, option: Option) -> Answer:
        amount = await self._amount(option.range)
        return None if amount is None else c.Bid(amount)

    async def _open_auction(self, option: Option) -> Answer:
        lot = await self._pick(self._which(), [(self._names.bare_cell(lot.cell), lot) for lot in option.lots])
        if lot is None:
            return None
        opening = 0 if lot.opening is None else await self._amount(lot.opening)
        return None if opening is None else c.OpenAuction(lot.cell, opening)

    async def _building(self, option: Option) -> Answer:
        entries = [
            (
                self._texts.say("menu", "build_choice", cell=self._bare(b.cell), level=b.to_level, amount=b.amount),
                b.cell,
            )
            for b in option.buildings
        ]
        cell = await self._pick(self._which(), entries)
        if cell is None:
            return None
        if option.kind == "build":
            return c.Build((cell,))
        return c.ClaimBuildings((cell,)) if option.kind == "claim_buildings" else c.ChooseBuilding(cell)

    async def _sell_buildings(self, option: Option) -> Answer:
        sold = await self._pick(
            self._which(), [(self._built("sale_choice", choice), choice) for choice in option.buildings]
        )
        return None if sold is None else c.SellBuildings((sold.cell,), sold.to_level)

    def _built(self, key: str, choice: BuildingChoice) -> str:
        return self._texts.say("menu", key, cell=self._bare(choice.cell), level=choice.to_level, amount=choice.amount)

    async def _deed(self, option: Option) -> Answer:
        entries = [
            (self._texts.say("menu", "deed_choice", cell=self._bare(deed.cell), amount=deed.amount), deed.cell)
            for deed in option.deeds
        ]
        cell = await self._pick(self._which(), entries)
        if cell is None:
            return None
        if option.kind == "claim_rent":
            places = enumerate(self._position.view.position)
            visitor = next((seat for seat, place in places if place == cell and seat != self._seat), None)
            return None if visitor is None else c.ClaimRent(visitor, cell)
        return _DEEDS[option.kind](cell)

    async def _estate(self, option: Option) -> Answer:
        everything = tuple(deed.cell for deed in option.deeds)
        entries = [
            (self._texts.say("menu", "all"), c.ChooseEstate(everything)),
            (self._texts.say("menu", "none"), c.ChooseEstate()),
        ]
        entries += [(self._bare(cell), c.ChooseEstate((cell,))) for cell in everything]
        return await self._pick(self._which(), entries)

    async def _give_up(self, option: Option) -> Answer:
        action: c.Action = c.Surrender() if option.kind == "surrender" else c.DeclareBankruptcy()
        entries: list[Entry[c.Action | None]] = [
            (self._texts.say("menu", "no"), None),
            (self._texts.say("menu", "yes"), action),
        ]
        return await self._pick([self._texts.say("menu", "sure")], entries, back=False)

    async def _vote(self, option: Option) -> Answer:
        yes, no = self._texts.say("menu", "yes"), self._texts.say("menu", "no")
        return await self._pick(self._which(), [(yes, c.VotePause(True)), (no, c.VotePause(False))])

    async def _trade(self, option: Option) -> Answer:
        trade = option.trade
        if trade is None:
            return None
        kinds = []
        if trade.exchange_cash is not None and trade.get_cells:
            kinds.append((self._texts.say("menu", "kind_exchange"), True))
        if trade.sales:
            kinds.append((self._texts.say("menu", "kind_sale"), False))
        exchange = kinds[0][1] if len(kinds) == 1 else await self._pick(self._which(), kinds)
        if exchange is None:
            return None
        return await self._exchange(trade) if exchange else await self._sale(trade)

    async def _exchange(self, trade: TradeChoice) -> Answer:
        get = await self._pick_cell([self._texts.say("menu", "get_cell")], trade.get_cells)
        if get is None:
            return None
        entries: list[Entry[int]] = [(self._bare(cell), cell) for cell in trade.give_cells]
        entries.append((self._texts.say("menu", "give_none"), NONE))
        fitting = [entry for entry in entries if trade.exchange_range(get, entry[1]) is not None]
        give = await self._pick([self._texts.say("menu", "give_cell")], fitting)
        if give is None:
            return None
        cash = await self._amount(trade.exchange_range(get, give))
        if cash is None:
            return None
        return c.OfferTrade(trade.to, c.Basket(cash, () if give == NONE else (give,)), c.Basket(0, (get,)))

    async def _sale(self, trade: TradeChoice) -> Answer:
        cells = [sale.cell for sale in trade.sales if trade.sale_range(sale.cell) is not None]
        cell = await self._pick_cell([self._texts.say("menu", "give_cell")], cells)
        price = None if cell is None else await self._amount(trade.sale_range(cell))
        if cell is None or price is None:
            return None
        return c.OfferTrade(trade.to, c.Basket(0, (cell,)), c.Basket(price))

    async def _settlement(self, option: Option) -> Answer:
        cells = option.trade.give_cells if option.trade is not None else ()
        cell = await self._pick_cell([self._texts.say("menu", "give_cell")], cells)
        return None if cell is None else c.OfferSettlement(c.Basket(0, (cell,)))

    # ---- questions ----------------------------------------------------------------------------------------------

    def _which(self) -> list[str]:
        return [self._texts.say("menu", "which")]

    def _bare(self, cell: int) -> str:
        return self._names.bare_cell(cell)

    async def _pick_cell(self, heading: Sequence[str], cells: Sequence[int]) -> int | None:
        return await self._pick(heading, [(self._bare(cell), cell) for cell in cells])

    async def _pick(self, heading: Sequence[str], entries: Sequence[Entry[T]], *, back: bool = True) -> T | None:
        """Asks until one of the entries is chosen; None for going back."""
        lines = [*heading, *(f"  {number}  {label}" for number, (label, _) in enumerate(entries, 1))]
        if back:
            lines.append(f"  0  {self._texts.say('menu', 'back')}")
        while True:
            text = await self._console.ask(lines, self._texts.say("menu", "prompt"))
            number = number_of(text)
            if number is not None and 1 <= number <= len(entries):
                return entries[number - 1][1]
            if back and text == "0":
                return None
            if text.isdecimal() or not self._is_word(text):
                self._console.notice(self._texts.say("menu", "bad_choice"))
            elif self._on_word(text):
                return None

    @staticmethod
    def _is_word(text: str) -> bool:
        return bool(text) and len(text) == 1

    async def _amount(self, bounds: AmountRange | None) -> int | None:
        """Asks for an amount within bounds; one that leaves no choice is taken as it is."""
        if bounds is None:
            return None
        if bounds.least == bounds.greatest:
            return bounds.least
        step = bounds.step if bounds.step > 1 else ""
        shown = {"least": bounds.least, "greatest": bounds.greatest, "step": step}
        while True:
            text = await self._console.ask([], self._texts.say("menu", "amount", **shown))
            number = number_of(text)
            if number is not None and bounds.holds(number):
                return number
            if not text.isdecimal() and self._is_word(text) and self._on_word(text):
                return None
            self._console.notice(self._texts.say("menu", "bad_amount", **shown))


_PLAIN: dict[str, Callable[[], c.Action]] = {
    "roll": c.Roll,
    "pay_fine": c.PayFine,
    "buy": c.Buy,
    "decline": c.Decline,
    "pass": c.Pass,
    "accept_trade": c.AcceptTrade,
    "refuse_trade": c.RefuseTrade,
    "pay": c.Pay,
    "end_turn": c.EndTurn,
    "ask_gap": c.AskGap,
    "close_gap": c.CloseGap,
    "ask_pause": c.AskPause,
    "confirm_return": c.ConfirmReturn,
}
_DEEDS: dict[str, Callable[[int], c.Action]] = {
    "mortgage": c.Mortgage,
    "redeem": c.Redeem,
    "sell_to_bank": c.SellToBank,
}
