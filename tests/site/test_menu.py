"""Numbered choices: what a person can choose is what the rules accept."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence

from services.rules.domain.commands import Action, Basket, Bid, Command, DeclareBankruptcy, OfferTrade
from services.rules.domain.decide import advance
from services.rules.domain.legal import legal_actions
from services.rules.domain.options import AmountRange, DeedChoice, Option, TradeBound, TradeChoice
from services.rules.domain.parties import NONE
from services.rules.domain.refusals import Refusal
from services.rules.domain.view import view
from services.site.terminal.menu import Menu
from services.site.terminal.paint import Paint
from services.site.terminal.position import Position
from tests.site.examples import names_in
from tests.support.amount import amount
from tests.support.bot_games import flat_edition, new_bot_game

_BOUNDS = re.compile(r"from (\d+) to (\d+)(?: in steps of (\d+))?")


class RandomPerson:
    """A console at which somebody types whatever the dialog allows, and now and then what it does not."""

    draws = False
    columns = 100
    paint = Paint(on=False)

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.notices: list[str] = []

    def picture(self, make: Callable[[int], Sequence[str]]) -> None:
        """Not looked at."""

    def journal(self, line: str) -> None:
        """Not read."""

    def notice(self, line: str) -> None:
        """Kept."""
        self.notices.append(line)

    def status(self, line: str) -> None:
        """Not read."""

    async def ask(self, lines: Sequence[str], prompt: str) -> str:
        """A number of the list, an amount within the bounds, or nonsense."""
        if self._random.random() < 0.1:
            return self._random.choice(["", "99999999", "-1", "zzz", "²", "0 1"])
        bounds = _BOUNDS.search(prompt)
        if bounds is not None:
            least, greatest, step = int(bounds[1]), int(bounds[2]), int(bounds[3] or 1)
            return str(self._random.randrange(least, greatest + 1, step))
        numbers = [line.split()[0] for line in lines if re.match(r"  \d+  ", line)]
        return self._random.choice(numbers)

    async def pressed(self, within_s: float) -> bool:
        """Never."""
        return False


async def test_everything_that_can_be_chosen_is_accepted() -> None:
    """Whole stretches of games played through the menus alone: no choice is refused, all kinds are met."""
    edition, names = flat_edition(), names_in("en")
    chosen: Counter[str] = Counter()
    for seed in range(amount(6, 60)):
        state, person = new_bot_game(edition, seats=3, seed=seed), RandomPerson(seed)
        for _ in range(400):
            decision = state.decision
            if decision is None:
                break
            seat, options = decision.seats[0], legal_actions(edition, state)
            menu = Menu(person, names, Position(edition, view(state), options), seat, lambda word: False)
            action: Action | None = await menu.choose(["?"])
            if action is None:
                continue
            result = advance(edition, state, Command(seat, decision.id, action), 0)
            assert not isinstance(result, Refusal), (action, result)
            chosen[type(action).__name__] += 1
            state = result.state
    assert set(chosen) >= {
        *("Roll", "Buy", "Decline", "Bid", "Pass", "EndTurn", "OpenAuction", "OfferTrade"),
        *("AcceptTrade", "RefuseTrade", "DeclareBankruptcy"),
    }


class Typist(RandomPerson):
    """A console at which given lines are typed."""

    def __init__(self, *lines: str) -> None:
        super().__init__(0)
        self._lines = list(lines)
        self.shown: list[str] = []

    async def ask(self, lines: Sequence[str], prompt: str) -> str:
        """The next line."""
        self.shown += [*lines, prompt]
        return self._lines.pop(0)


def _menu(person: Typist, *options: Option, language: str = "en") -> Menu:
    edition = flat_edition()
    state = view(new_bot_game(edition, seats=3, seed=1))
    return Menu(person, names_in(language), Position(edition, state, options), 0, lambda word: word == "q")


async def test_only_the_own_legal_actions_are_shown() -> None:
    """What others may do is not in the list."""
    person = Typist("1")
    await _menu(person, Option(1, "roll"), Option(0, "decline"), Option(0, "buy", amount=60)).choose(["Title"])
    assert person.shown == ["Title", "  1  Decline", "  2  Buy for 60", "Number of your choice: "]


async def test_an_amount_is_asked_within_its_bounds() -> None:
    """A wrong amount is asked for again, and says what is allowed."""
    person = Typist("1", "105", "131", "110")
    option = Option(0, "bid", range=AmountRange(100, 130, 10))
    assert await _menu(person, option).choose([]) == Bid(110)
    assert person.notices == ["A whole number from 100 to 130 in steps of 10, please."] * 2


async def test_a_single_amount_is_not_asked() -> None:
    """Where the rules leave no choice, the label has the amount."""
    person = Typist("1")
    assert await _menu(person, Option(0, "bid", range=AmountRange(100, 100, 10))).choose([]) == Bid(100)
    assert person.shown[0] == "  1  Bid 100"


async def test_a_word_ends_the_dialog_and_zero_goes_back() -> None:
    """Both leave the decision open."""
    assert await _menu(Typist("q"), Option(0, "roll")).choose([]) is None
    lots = Option(0, "open_auction", lots=())
    assert await _menu(Typist("1", "0"), lots).choose([]) is None


def _trade() -> Option:
    """Ada may ask seat 1 for cell 3, giving cell 1 or 50 and more, or sell it cell 1."""
    trade = TradeChoice(
        to=1,
        get_cells=(3,),
        give_cells=(1,),
        exchange_cash=AmountRange(0, 500),
        sales=(DeedChoice(1, 60),),
        sale_cash_greatest=900,
        bounds=(TradeBound(3, NONE, AmountRange(50, 500)),),
    )
    return Option(0, "offer_trade", trade=trade)


async def test_an_exchange_is_put_together_within_its_bounds() -> None:
    """Deed wanted, deed given, money; what was refused before has a bound of its own (IND-TRADE-18)."""
    person = Typist("1", "1", "1", "2", "49", "50")
    chosen = await _menu(person, _trade()).choose([])
    assert chosen == OfferTrade(1, Basket(50), Basket(0, (3,)))
    assert person.notices == ["A whole number from 50 to 500, please."]
    chosen = await _menu(Typist("1", "1", "1", "1", "0"), _trade()).choose([])
    assert chosen == OfferTrade(1, Basket(0, (1,)), Basket(0, (3,)))


async def test_a_sale_is_put_together_within_its_bounds() -> None:
    """IND-TRADE-06: from the bank's price to what the partner has."""
    person = Typist("1", "2", "1", "59", "901", "900")
    assert await _menu(person, _trade()).choose([]) == OfferTrade(1, Basket(0, (1,)), Basket(900))
    assert person.notices == ["A whole number from 60 to 900, please."] * 2
    assert await _menu(Typist("1", "2", "0"), _trade()).choose([]) is None


async def test_giving_up_is_asked_twice() -> None:
    """The last word of a debt is not said by a slip."""
    option = Option(0, "declare_bankruptcy")
    assert await _menu(Typist("1", "1"), option).choose([]) is None
    assert await _menu(Typist("1", "2"), option).choose([]) == DeclareBankruptcy()
