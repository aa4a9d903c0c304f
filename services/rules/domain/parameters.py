"""The types of an edition's parameters: variant names and small records of numbers.

Everywhere None stands for «never», «none» or «does not apply».
"""

from dataclasses import dataclass
from typing import Literal

Seating = Literal["people", "mixed", "solo", "bots"]

#: A moment in which a command may be legal: `roll` (before any roll), `first_roll` (before the turn's first roll
#: only), `purchase`, `choice` (bus and teleport), `manage`, `payment` (the own one, in anybody's turn), `gap`.
Window = Literal["roll", "first_roll", "purchase", "choice", "manage", "payment", "gap"]

FirstPlayer = Literal["draw", "person", "high_roll"]
ManageAfter = Literal["every_roll", "last_roll", "never"]
FirstAsked = Literal["decliner", "next"]
BidRule = Literal["exact", "at_least"]
BidLimit = Literal["cash", "raisable"]
OwnAuction = Literal["bare", "mortgaged"]
BareScope = Literal["street", "group"]
UtilityDice = Literal["last", "card_new", "new"]
RentTaxClock = Literal["round", "minute"]
RentTaxOn = Literal["rent", "cards"]
BuildWhere = Literal["group", "token"]
BuildLimit = Literal["visit", "street_turn", "group_turn"]
SupplyShort = Literal["refuse", "claim_auction"]
SaleUnit = Literal["level", "cell", "hotel_group"]
RaiseIn = Literal["own", "any"]
MortgageLapse = Literal["unowned", "auction"]
TradeShape = Literal["single", "free"]
TradeCounts = Literal["offers", "deals"]
TradeMortgaged = Literal["no", "yes", "allies"]
DeckCycle = Literal["file_order", "shuffle_once", "reshuffle"]
ReleaseCard = Literal["stays", "out"]
PaymentConfirm = Literal["all", "rent_tax"]
InsolventAtOnce = Literal["net_worth", "raisable"]
GiveUp = Literal["debt", "always"]
ToPlayer = Literal["cash", "liquidate", "as_is", "transfer", "bank_pays"]
ToBank = Literal["unowned", "auction", "none"]
OnTimeout = Literal["eliminate", "default"]
TimeoutRoll = Literal["roll", "skip"]
TurnClock = Literal["per_action", "per_segment", "per_decision"]
AuctionStyle = Literal["in_turn", "open_cry_paid"]
RentClaim = Literal["auto", "on_demand"]
CurveShape = Literal["step", "line"]
DebtTradeCounts = Literal["offers", "refused"]
CoveredClock = Literal["own", "turn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRange:
    """Least and most seats of a table."""

    least: int
    most: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """Least first bid: `percent` of the price (rounded up), or `units`; exactly one of the two is set."""

    percent: int | None = None
    units: int | None = None

    def of_price(self, price: int) -> int:
        """The least first bid for a deed of `price`, in units."""
        if self.percent is not None:
            return -(-price * self.percent // 100)
        return self.units or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RentTaxCurve:
    """Percent of tax by offset (rounds or minutes) from the start of the tax.

    Between points `step` holds the last point, `line` is the straight line rounded down; flat after the last point.
    """

    shape: CurveShape
    #: (offset, percent), offsets ascending from 0
    points: tuple[tuple[int, int], ...]

    def percent_at(self, offset: int) -> int:
        """The rate in percent at `offset` from the start; 0 before it."""
        rate = 0
        for index, (at, percent) in enumerate(self.points):
            if offset < at:
                if self.shape == "line" and index > 0:
                    from_at, from_percent = self.points[index - 1]
                    return from_percent + (percent - from_percent) * (offset - from_at) // (at - from_at)
                return rate
            rate = percent
        return rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """Pieces in the bank at the start."""

    houses: int
    hotels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeIn:
    """Windows in which offers are legal: any offer, or only the sale of an own deed for cash."""

    full: frozenset[Window]
    sale: frozenset[Window]


@dataclass(frozen=True, slots=True, kw_only=True)
class DebtTradeLimit:
    """Bound on offers in one debt: `offers` made outside the own turn, or `refused` sales in any debt."""

    count: int
    counts: DebtTradeCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class BotOffers:
    """A bot's offers per turn, and the rounds in which it does not name a refused deed to that person again."""

    per_turn: int
    silent_rounds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TradeBalance:
    """Least value of the smaller side, percent of the larger; `allies`: the same between allies."""

    percent: int
    allies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Casino:
    """Stake and what the bank adds to the jackpot for each bet, in units; chance `1/jackpot_one_in`."""

    stake: int
    to_jackpot: int
    jackpot_one_in: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EstateToPlayer:
    """What happens to an estate owed to players; `last`: at the bankruptcy that ends the game by its limit."""

    usual: ToPlayer
    last: ToPlayer


@dataclass(frozen=True, slots=True, kw_only=True)
class EstateToBank:
    """What happens to an estate owed to the bank; `ally`: an ally in play gets it as it is, before `usual`."""

    usual: ToBank
    last: ToBank
    ally: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentClock:
    """Budget of a payment in seconds; `covered` payments run on it too (`own`) or on the `turn` clock."""

    seconds: int
    covered: CoveredClock


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Pause by consent, in seconds: the vote, the countdown, the longest pause, until the seat may ask again."""

    vote_s: int
    countdown_s: int
    longest_s: int
    again_s: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """What makes a game count for the rating."""

    no_bots: bool
    least_rounds: int
    least_minutes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Xp:
    """Experience points for the winner and for each other seat, and when they are given.

    `deed_card`: the winner also gets a deed card; `leavers`: points of who surrendered or was struck out.
    """

    winner: int
    others: int
    leavers: int
    only_rated: bool
    only_people: bool
    from_round: int
    deed_card: bool


#: None stands for «never» and «none»
OverrideValue = int | bool | str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """One parameter that a table may change: a range of whole numbers, or a list of choices.

    `choices` is empty for a range; `never`: None is allowed too, beside the range.
    """

    parameter: str
    least: int | None
    most: int | None
    step: int
    never: bool
    choices: tuple[OverrideValue, ...]
