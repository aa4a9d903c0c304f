"""What happened: one class for each event of docs/rules/parameters.md, 3.5. Parties are seats, BANK or JACKPOT."""

from typing import Literal

from services.rules.domain.commands import Basket
from services.rules.domain.parties import NONE
from services.rules.domain.state import (
    AuctionKind,
    Claim,
    Deadline,
    DecisionKind,
    EndReason,
    LeaveReason,
    MoneyReason,
    Place,
    Seating,
    SeatSetup,
)
from services.rules.domain.values import value


@value
class GameStarted:
    """The first event of every game. `seed_hash` is hexadecimal; times in milliseconds of play time."""

    edition: str
    version: int
    overrides: tuple[tuple[str, str], ...]
    seating: Seating
    seats: tuple[SeatSetup, ...]
    seed_hash: str
    grace_ms: int
    started_at_ms: int


@value
class SeedDrawn:
    """The server's seed; secret until the game ends. `script` holds the values drawn instead, in tests."""

    algorithm: str
    server_seed: bytes
    script: tuple[int, ...] = ()


@value
class FirstPlayerChosen:
    """Who starts; `draws`: values it took from the generator."""

    seat: int
    draws: int


@value
class DeckShuffled:
    """A deck's order, top first, by card number; secret."""

    deck: str
    order: tuple[int, ...]
    draws: int


@value
class DeedDealt:
    """A deed dealt at the start."""

    seat: int
    cell: int


@value
class GameEnded:
    """The end; `server_seed` hexadecimal."""

    reason: EndReason
    places: tuple[Place, ...]
    server_seed: str


@value
class TurnStarted:
    """A turn began; `extra`: for a roll owed for a double."""

    seat: int
    round: int
    extra: bool


@value
class TurnEnded:
    """A turn ended."""

    seat: int
    reason: Literal["done", "out", "time"]


@value
class GapAsked:
    """A seat asked for a gap."""

    seat: int


@value
class GapClosed:
    """A seat is done with a gap."""

    seat: int


@value
class DiceRolled:
    """Dice fell; `third` 0: not thrown."""

    seat: int
    purpose: Literal["first_player", "move", "jail", "utility"]
    dice: tuple[int, ...]
    third: int = 0


@value
class MoveChosen:
    """A choice in the middle of a move."""

    seat: int
    option: Literal["", "first", "second", "sum"]
    cell: int = NONE


@value
class TokenMoved:
    """A token arrived on a cell; `passed_start`: going forward."""

    seat: int
    from_cell: int
    to_cell: int
    cause: Literal["dice", "card", "card_back", "trip", "jump", "teleport"]
    passed_start: bool


@value
class Jailed:
    """A seat went to jail."""

    seat: int
    reason: Literal["doubles", "cell", "card"]


@value
class JailTryFailed:
    """A try to leave jail failed; `tries` so far in this stay."""

    seat: int
    tries: int


@value
class Released:
    """A seat left jail."""

    seat: int
    how: Literal["fine", "card", "double", "forced_fine"]


@value
class CardDrawn:
    """A card was drawn, by number in its deck's file order."""

    seat: int
    deck: str
    card: int
    skipped: bool = False


@value
class ReleaseCardMoved:
    """A release card changed hands; BANK stands for its deck."""

    deck: str
    from_party: int
    to_party: int


@value
class TripRemembered:
    """A random trip's destination."""

    cell: int


@value
class BuildingDestroyed:
    """A card destroyed a building; `level` is left."""

    cell: int
    level: int


@value
class DeedMoved:
    """A deed changed hands."""

    cell: int
    from_party: int
    to_party: int
    reason: Literal["purchase", "auction", "trade", "settlement", "estate", "lapse", "bank_sale"]


@value
class DeedMortgaged:
    """A deed was mortgaged."""

    cell: int
    round: int


@value
class DeedRedeemed:
    """A deed was redeemed."""

    cell: int


@value
class MortgageReminded:
    """An owner was reminded of a mortgage."""

    cell: int
    rounds_left: int


@value
class BuildingBuilt:
    """One level was built; `level` reached."""

    cell: int
    level: int


@value
class BuildingsSold:
    """Buildings were sold."""

    cell: int
    from_level: int
    to_level: int


@value
class AuctionOpened:
    """An auction began; `bidders` in the order of asking."""

    auction_id: int
    kind: AuctionKind
    cell: int
    seller: int
    bidders: tuple[int, ...]
    opening: int


@value
class BidderAsked:
    """A bidder was asked; `least` bid in units."""

    seat: int
    least: int


@value
class BidPlaced:
    """A bid stands."""

    seat: int
    amount: int


@value
class BidderPassed:
    """A bidder is out of this auction."""

    seat: int
    reason: Literal["choice", "time", "no_money", "leaving"]


@value
class AuctionClosed:
    """An auction ended; `winner` NONE without a sale."""

    auction_id: int
    winner: int
    amount: int
    outcome: Literal["sold", "no_bid", "cancelled"]


@value
class ClaimsOpened:
    """Scarce buildings may be claimed; `cells`: what the orderer claims."""

    hotels: bool
    stock: int
    seats: tuple[int, ...]
    orderer: int = NONE
    cells: tuple[int, ...] = ()


@value
class BuildingsClaimed:
    """A seat claimed scarce buildings."""

    seat: int
    cells: tuple[int, ...]


@value
class ClaimsClosed:
    """The claims ended; `locked`: the orderer orders no more of this kind until the next turn."""

    placed: int
    lapsed: int
    locked: bool = False


@value
class TradeOffered:
    """An offer waits for its partner."""

    trade_id: int
    from_seat: int
    to_seat: int
    give: Basket
    get: Basket
    redeem: tuple[int, ...] = ()
    settles: bool = False


@value
class TradeClosed:
    """An offer is closed."""

    trade_id: int
    outcome: Literal["accepted", "refused", "expired", "void"]
    redeemed: tuple[int, ...] = ()


@value
class PaymentDue:
    """A payment waits; `card` as deck/key."""

    payment_id: int
    payer: int
    claims: tuple[Claim, ...]
    reason: MoneyReason
    cell: int = NONE
    card: str = ""
    tax_rate: int = 0


@value
class PaymentClosed:
    """A payment is closed."""

    payment_id: int
    outcome: Literal["paid", "settled", "bankrupt"]


@value
class RentClaimable:
    """Rent may be claimed; `rate` of tax in percent."""

    visitor: int
    cell: int
    amount: int
    owner: int = NONE
    rate: int = 0


@value
class RentClaimClosed:
    """A rent claim is closed."""

    visitor: int
    cell: int
    claimed: bool


@value
class Leaving:
    """A seat is leaving."""

    seat: int
    reason: LeaveReason


@value
class Bankrupt:
    """A seat is bankrupt; `toward` BANK also for several creditors."""

    seat: int
    toward: int
    reason: Literal["declared", "insolvent", "leaving"]


@value
class SeatOut:
    """A seat is out of the game."""

    seat: int
    place: int


@value
class CasinoPlayed:
    """A casino game was played."""

    seat: int
    numbers: tuple[int, ...]
    die: int
    jackpot_draw: int


@value
class BetDeclined:
    """A casino game was declined."""

    seat: int


@value
class DecisionOpened:
    """A decision waits for its answer; `deadline_id` 0: none."""

    decision_id: int
    kind: DecisionKind
    seats: tuple[int, ...]
    deadline_id: int


@value
class DecisionClosed:
    """A decision is closed."""

    decision_id: int
    outcome: Literal["answered", "default", "void"]


@value
class DeadlineSet:
    """A deadline runs from now on."""

    deadline: Deadline


@value
class DeadlineStopped:
    """A deadline's clock stands."""

    deadline_id: int
    left_ms: int


@value
class DeadlineLifted:
    """A deadline no longer limits anything."""

    deadline_id: int


@value
class StrikeCounted:
    """A strike for a missed deadline."""

    seat: int
    count: int


@value
class StrikesCleared:
    """A seat's strikes are forgotten."""

    seat: int


@value
class PauseAsked:
    """A pause was asked for; `at_ms` of play time."""

    seat: int
    at_ms: int


@value
class PauseVoted:
    """A vote on a pause; `at_ms` of play time."""

    seat: int
    yes: bool
    at_ms: int


@value
class PauseStarted:
    """The game is paused; `at_ms` of play time."""

    at_ms: int


@value
class ReturnConfirmed:
    """A seat is back."""

    seat: int


@value
class PauseEnded:
    """The game goes on."""

    paused_ms: int


@value
class MoneyMoved:
    """Money moved, in units above 0: the only event that changes cash. `card` as deck/key."""

    payer: int
    payee: int
    amount: int
    reason: MoneyReason
    cell: int = NONE
    card: str = ""


Event = (
    GameStarted
    | SeedDrawn
    | FirstPlayerChosen
    | DeckShuffled
    | DeedDealt
    | GameEnded
    | TurnStarted
    | TurnEnded
    | GapAsked
    | GapClosed
    | DiceRolled
    | MoveChosen
    | TokenMoved
    | Jailed
    | JailTryFailed
    | Released
    | CardDrawn
    | ReleaseCardMoved
    | TripRemembered
    | BuildingDestroyed
    | DeedMoved
    | DeedMortgaged
    | DeedRedeemed
    | MortgageReminded
    | BuildingBuilt
    | BuildingsSold
    | AuctionOpened
    | BidderAsked
    | BidPlaced
    | BidderPassed
    | AuctionClosed
    | ClaimsOpened
    | BuildingsClaimed
    | ClaimsClosed
    | TradeOffered
    | TradeClosed
    | PaymentDue
    | PaymentClosed
    | RentClaimable
    | RentClaimClosed
    | Leaving
    | Bankrupt
    | SeatOut
    | CasinoPlayed
    | BetDeclined
    | DecisionOpened
    | DecisionClosed
    | DeadlineSet
    | DeadlineStopped
    | DeadlineLifted
    | StrikeCounted
    | StrikesCleared
    | PauseAsked
    | PauseVoted
    | PauseStarted
    | ReturnConfirmed
    | PauseEnded
    | MoneyMoved
)

#: events whose bodies go out only when the game is over
SECRET_EVENTS: tuple[type[Event], ...] = (SeedDrawn, DeckShuffled)
