"""What a seat and the services may ask for: one class for each command of docs/rules/parameters.md, 3.2."""

from typing import Literal

from services.rules.domain.values import value


@value
class Basket:
    """What one side of a deal gives: cash in units, cells, and release cards by the name of their deck."""

    cash: int = 0
    cells: tuple[int, ...] = ()
    release_cards: tuple[str, ...] = ()


@value
class Roll:
    """Rolls the dice."""


@value
class PayFine:
    """Pays the jail fine before rolling."""


@value
class UseReleaseCard:
    """Uses a release card before rolling; `deck` only where held cards are out of their decks."""

    deck: str = ""


@value
class ChooseMove:
    """Chooses what a BUS face moves by."""

    option: Literal["first", "second", "sum"]


@value
class ChooseCell:
    """Chooses where a triple leads."""

    cell: int


@value
class Buy:
    """Buys the deed under the token."""


@value
class Decline:
    """Declines a purchase or a bet."""


@value
class PlaceBet:
    """Bets in the casino on one to three faces."""

    numbers: tuple[int, ...]


@value
class ChooseBuilding:
    """Chooses the building that a card destroys."""

    cell: int


@value
class Bid:
    """Bids an amount in units."""

    amount: int


@value
class Pass:
    """Leaves the auction."""


@value
class OpenAuction:
    """Puts an own deed up; `opening_bid` in units where the seller names it."""

    cell: int
    opening_bid: int = 0


@value
class Build:
    """Builds one level on each cell, in order."""

    cells: tuple[int, ...]


@value
class SellBuildings:
    """Sells each cell down to a level."""

    cells: tuple[int, ...]
    to_level: int


@value
class Mortgage:
    """Mortgages a deed."""

    cell: int


@value
class Redeem:
    """Redeems a deed."""

    cell: int


@value
class OfferTrade:
    """Offers a deal to a partner."""

    to: int
    give: Basket
    get: Basket
    redeem: tuple[int, ...] = ()


@value
class OfferSettlement:
    """Offers the creditor something for the whole debt."""

    give: Basket


@value
class AcceptTrade:
    """Accepts the open offer."""

    redeem: tuple[int, ...] = ()


@value
class RefuseTrade:
    """Refuses the open offer."""


@value
class Pay:
    """Pays what is due."""


@value
class SellToBank:
    """Sells a deed to the bank in a debt."""

    cell: int


@value
class DeclareBankruptcy:
    """Gives up in a debt."""


@value
class ChooseEstate:
    """Chooses which inherited mortgages to redeem."""

    redeem: tuple[int, ...] = ()


@value
class EndTurn:
    """Ends the turn."""


@value
class AskGap:
    """Asks for a gap between turns."""


@value
class CloseGap:
    """Ends one's own use of a gap."""


@value
class ClaimBuildings:
    """Claims scarce buildings."""

    cells: tuple[int, ...] = ()


@value
class ClaimRent:
    """Claims rent on demand."""

    visitor: int
    cell: int


@value
class Surrender:
    """Leaves the game."""


@value
class AskPause:
    """Asks for a pause."""


@value
class VotePause:
    """Votes on a pause."""

    yes: bool


@value
class ConfirmReturn:
    """Says that the seat is back."""


@value
class Expire:
    """Time is up: from the clock."""

    deadline_id: int


@value
class Withdraw:
    """A seat leaves: from the table."""

    seat: int


Action = (
    Roll
    | PayFine
    | UseReleaseCard
    | ChooseMove
    | ChooseCell
    | Buy
    | Decline
    | PlaceBet
    | ChooseBuilding
    | Bid
    | Pass
    | OpenAuction
    | Build
    | SellBuildings
    | Mortgage
    | Redeem
    | OfferTrade
    | OfferSettlement
    | AcceptTrade
    | RefuseTrade
    | Pay
    | SellToBank
    | DeclareBankruptcy
    | ChooseEstate
    | EndTurn
    | AskGap
    | CloseGap
    | ClaimBuildings
    | ClaimRent
    | Surrender
    | AskPause
    | VotePause
    | ConfirmReturn
    | Expire
    | Withdraw
)


@value
class Command:
    """An action, the seat that asks (-1: a service), and the decision that it answers (0: none)."""

    seat: int
    decision_id: int
    action: Action
