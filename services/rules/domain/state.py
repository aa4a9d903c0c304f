"""The state of a game, and the small records it is made of.

One shape for all editions (docs/rules/parameters.md, section 4). A state is a value: outside the folds nobody
changes one. The folds change a private copy in place, because copying 40 cells for every event would be
most of a command's cost.
"""

from typing import Literal

from services.rules.domain.commands import Basket
from services.rules.domain.parties import NONE
from services.rules.domain.values import value

SeatKind = Literal["person", "bot"]
Seating = Literal["people", "mixed", "solo", "bots"]
DecisionKind = Literal[
    "roll",
    "bus_choice",
    "teleport_choice",
    "purchase",
    "casino_bet",
    "demolition_choice",
    "manage",
    "auction_bid",
    "open_lot",
    "payment",
    "trade_answer",
    "estate_choice",
    "gap",
    "building_claim",
    "pause_vote",
    "paused",
]
DeadlineKind = Literal["turn", "payment", "lot", "bid", "open_lot", "answer", "pause_vote", "pause_max", "countdown"]
MoneyReason = Literal[
    "start_cash",
    "deal",
    "salary",
    "landing_bonus",
    "purchase",
    "auction",
    "own_auction",
    "rent",
    "rent_tax",
    "tax",
    "card",
    "fine",
    "build",
    "building_sale",
    "mortgage",
    "redemption",
    "transfer_fee",
    "trade",
    "settlement",
    "bank_sale",
    "stake",
    "casino_win",
    "jackpot",
    "liquidation",
    "estate",
]
AuctionKind = Literal["declined", "own", "lapse", "estate", "shortage", "open_lot"]
LeaveReason = Literal["surrender", "strikes", "time", "withdrawn"]
EndReason = Literal["last_left", "last_person_out", "rounds", "time", "bankruptcies"]
TurnStage = Literal["roll", "manage", "end"]
RollStage = Literal["fallen", "fine", "fine_due", "move", "landing", "settled"]
PauseStage = Literal["vote", "paused", "countdown"]
CounterScope = Literal["visit", "turn", "debt", "game"]

#: (scope, what is counted, the seats and cells it is about)
CounterKey = tuple[str, str, tuple[int, ...]]


@value
class SeatSetup:
    """A seat as the rules see it. `nonce` is hexadecimal."""

    kind: SeatKind
    team: int
    nonce: str = ""
    #: Elo rating before the game, 0 where none is kept
    rating: int = 0


@value
class Deadline:
    """A budget of play time, in milliseconds; without the grace."""

    id: int
    kind: DeadlineKind
    budget_ms: int
    opened_at_ms: int

    @property
    def due_at_ms(self) -> int:
        """Play time at which clients show zero."""
        return self.opened_at_ms + self.budget_ms


@value
class Decision:
    """What the game waits for. `deadline_id` 0: no deadline."""

    id: int
    kind: DecisionKind
    seats: tuple[int, ...]
    deadline_id: int


@value
class Claim:
    """One creditor's part of a payment; `payee` is a seat or BANK."""

    payee: int
    amount: int


@value
class Place:
    """Place of a seat at the end, from 1; net worth in units; `rating` after the game, 0 if it did not count.

    `card`: cell of a collectible deed card, NONE for none.
    """

    seat: int
    place: int
    net_worth: int
    xp: int = 0
    rating: int = 0
    card: int = NONE


@value
class TurnFrame:
    """The turn, at the bottom of the agenda."""

    seat: int
    stage: TurnStage


@value
class RollFrame:
    """A roll that is being carried out.

    `dice`: what the token moves by, the chosen ones after a BUS; `third` 0 once it has done its work; `card`: the card
    that brought the token here, as deck/key.
    """

    seat: int
    dice: tuple[int, ...]
    third: int
    from_jail: bool
    stage: RollStage
    card: str = ""


@value
class CollectFrame:
    """A card that collects `amount` from each of `payers`, one after another."""

    seat: int
    amount: int
    card: str
    payers: tuple[int, ...]


@value
class PaymentFrame:
    """A payment that waits; paid whole or not at all."""

    id: int
    payer: int
    claims: tuple[Claim, ...]
    reason: MoneyReason
    cell: int
    card: str
    tax_rate: int
    #: has just fallen due: a sum out of all reach is bankruptcy at once
    fresh: bool = False

    @property
    def total(self) -> int:
        """Units due."""
        return sum(claim.amount for claim in self.claims)


@value
class AuctionFrame:
    """An open auction. `leader`, `asked` NONE: nobody yet; `seller` BANK or a seat."""

    id: int
    kind: AuctionKind
    cell: int
    seller: int
    bidders: tuple[int, ...]
    opening: int
    passed: tuple[int, ...] = ()
    asked: int = NONE
    leader: int = NONE
    amount: int = 0
    lot_deadline_id: int = 0


@value
class TradeFrame:
    """An open offer."""

    id: int
    from_seat: int
    to_seat: int
    give: Basket
    get: Basket
    redeem: tuple[int, ...]
    settles: bool


@value
class DemolitionFrame:
    """A card that lets its drawer destroy a building."""

    seat: int


@value
class LotsFrame:
    """Deeds of the bank still to be auctioned, in this order; `after`: the seat whose neighbour is asked first."""

    kind: AuctionKind
    cells: tuple[int, ...]
    after: int


@value
class GapFrame:
    """A pause between turns; `asked`: the seats that asked for it and have not closed it."""

    asked: tuple[int, ...]


@value
class BuildingClaim:
    """Streets on which a seat wants one piece each, in its order."""

    seat: int
    cells: tuple[int, ...]


@value
class ClaimsFrame:
    """Scarce buildings of one kind.

    `waiting`: seats that have not answered; `claims` in seat order from the orderer; `open`: claims are still taken.
    """

    orderer: int
    hotels: bool
    waiting: tuple[int, ...]
    claims: tuple[BuildingClaim, ...]
    open: bool = True


@value
class EstateFrame:
    """Inherited mortgages: the fees are paid, each is redeemed or kept."""

    seat: int
    cells: tuple[int, ...]


@value
class PauseFrame:
    """A pause by consent; `back`: the seats that have confirmed; `since_ms`: play time of its begin."""

    stage: PauseStage
    back: tuple[int, ...]
    since_ms: int


Frame = (
    TurnFrame
    | RollFrame
    | CollectFrame
    | PaymentFrame
    | AuctionFrame
    | TradeFrame
    | DemolitionFrame
    | LotsFrame
    | GapFrame
    | ClaimsFrame
    | EstateFrame
    | PauseFrame
)


@value
class RentClaim:
    """Rent that its owner may claim (`rent_claim` on demand); `rate` in percent was fixed at the visit."""

    visitor: int
    cell: int
    owner: int
    amount: int
    rate: int


@value
class PauseVote:
    """A vote on a pause beside the open decision."""

    asker: int
    yes: tuple[int, ...]
    #: 0 until it is set
    deadline_id: int = 0


@value
class Config:
    """What a game keeps from its start to its end. `server_seed` is secret, and empty in a view."""

    edition: str = ""
    version: int = 0
    overrides: tuple[tuple[str, str], ...] = ()
    seating: Seating = "people"
    seats: tuple[SeatSetup, ...] = ()
    seed_hash: str = ""
    grace_ms: int = 0
    started_at_ms: int = 0
    algorithm: str = ""
    server_seed: bytes = b""
    game_seed: bytes = b""
    script: tuple[int, ...] = ()


class State:
    """A whole game after some event. Lists are indexed by seat or by cell; see the comments."""

    __slots__ = (
        "agenda",
        "cash",
        "clocks",
        "config",
        "counters",
        "deadlines",
        "decision",
        "decks",
        "discards",
        "doubles",
        "draws",
        "ended",
        "extra_owed",
        "first_seat",
        "in_play",
        "jackpot",
        "jail_tries",
        "last_roll",
        "leaving",
        "levels",
        "mortgaged_rounds",
        "next_auction",
        "next_deadline",
        "next_decision",
        "next_payment",
        "next_trade",
        "out_order",
        "owners",
        "paused_ms",
        "places",
        "position",
        "release_cards",
        "rent_claims",
        "round",
        "seq",
        "strikes",
        "supply_hotels",
        "supply_houses",
        "trip_memory",
        "trip_taken",
        "turn_seat",
        "vote",
    )

    def __init__(self) -> None:
        self.config = Config()
        #: events folded so far
        self.seq = 0
        #: values drawn from the generator so far
        self.draws = 0
        self.first_seat = 0
        self.turn_seat = 0
        #: 0 before the first turn
        self.round = 0
        #: doubles in a row by the turn player
        self.doubles = 0
        self.extra_owed = False
        #: dice of the last roll, empty before the first
        self.last_roll: tuple[int, ...] = ()
        #: a random trip was made in this roll
        self.trip_taken = False
        #: last destination of a random trip, or NONE
        self.trip_memory = NONE
        # By seat.
        self.cash: list[int] = []
        self.position: list[int] = []
        self.in_play: list[bool] = []
        #: failed tries of the present stay, NONE when free
        self.jail_tries: list[int] = []
        #: decks of the cards held
        self.release_cards: list[tuple[str, ...]] = []
        self.strikes: list[int] = []
        #: why the seat leaves when the lot is closed, "" if it does not
        self.leaving: list[LeaveReason | Literal[""]] = []
        # By cell.
        #: seat, or BANK
        self.owners: list[int] = []
        self.levels: list[int] = []
        #: 0 if not mortgaged
        self.mortgaged_rounds: list[int] = []
        #: pieces in the bank; NONE without a limit
        self.supply_houses = NONE
        self.supply_hotels = NONE
        self.jackpot = 0
        #: deck -> cards by number, top first; secret; empty tuple where the order is not known
        self.decks: dict[str, tuple[int, ...]] = {}
        self.discards: dict[str, tuple[int, ...]] = {}
        #: what is going on; the last one runs, or waits for its decision
        self.agenda: list[Frame] = []
        self.counters: dict[CounterKey, int] = {}
        #: seats that are out, in the order of going out
        self.out_order: tuple[int, ...] = ()
        #: open claims of rent on demand
        self.rent_claims: tuple[RentClaim, ...] = ()
        self.paused_ms = 0
        self.vote: PauseVote | None = None
        #: what was left of a stopped deadline, in milliseconds, until its clock goes on
        self.clocks: dict[DeadlineKind, int] = {}
        self.decision: Decision | None = None
        #: in force, in order of opening
        self.deadlines: tuple[Deadline, ...] = ()
        self.next_decision = 1
        self.next_deadline = 1
        self.next_auction = 1
        self.next_trade = 1
        self.next_payment = 1
        self.ended: EndReason | Literal[""] = ""
        self.places: tuple[Place, ...] = ()

    def copy(self) -> "State":
        """A state that can be folded on without touching this one."""
        new = State.__new__(State)
        new.config = self.config
        new.seq = self.seq
        new.draws = self.draws
        new.first_seat = self.first_seat
        new.turn_seat = self.turn_seat
        new.round = self.round
        new.doubles = self.doubles
        new.extra_owed = self.extra_owed
        new.last_roll = self.last_roll
        new.trip_taken = self.trip_taken
        new.trip_memory = self.trip_memory
        new.cash = self.cash[:]
        new.position = self.position[:]
        new.in_play = self.in_play[:]
        new.jail_tries = self.jail_tries[:]
        new.release_cards = self.release_cards[:]
        new.strikes = self.strikes[:]
        new.leaving = self.leaving[:]
        new.owners = self.owners[:]
        new.levels = self.levels[:]
        new.mortgaged_rounds = self.mortgaged_rounds[:]
        new.supply_houses = self.supply_houses
        new.supply_hotels = self.supply_hotels
        new.jackpot = self.jackpot
        new.decks = self.decks.copy()
        new.discards = self.discards.copy()
        new.agenda = self.agenda[:]
        new.counters = self.counters.copy()
        new.out_order = self.out_order
        new.rent_claims = self.rent_claims
        new.paused_ms = self.paused_ms
        new.vote = self.vote
        new.clocks = self.clocks.copy()
        new.decision = self.decision
        new.deadlines = self.deadlines
        new.next_decision = self.next_decision
        new.next_deadline = self.next_deadline
        new.next_auction = self.next_auction
        new.next_trade = self.next_trade
        new.next_payment = self.next_payment
        new.ended = self.ended
        new.places = self.places
        return new

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in State.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def differences(self, other: "State") -> list[str]:
        """Names of the attributes that differ, with both values, for people."""
        return [
            f"{name}: {getattr(self, name)!r} != {getattr(other, name)!r}"
            for name in State.__slots__
            if getattr(self, name) != getattr(other, name)
        ]
