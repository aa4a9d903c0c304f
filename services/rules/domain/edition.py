"""An edition: a named, versioned set of rules as data.

`Edition` holds every parameter of docs/rules/parameters.md under its own name, with the board and the decks ready
for the rules to read. None stands for «never», «none» or «does not apply»; amounts are whole units of play money,
`_s` are seconds of play time, percentages are whole. Statement ids stand in brackets
(I = IND-, M = MET-, B = BRA-, T = TAB-).

An edition may give a parameter another value at tables of one seating; `Edition.at(seating)` gives the flat edition
of a table, which is what the rules work with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from services.rules.domain import parameters as p
from services.rules.domain.board import Board, Card, Names


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatingValue:
    """The value of one parameter at tables of one seating."""

    seating: p.Seating
    parameter: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Edition:
    """All rules of one edition in one version.

    Compared and hashed by identity: what the rules keep for an edition is looked up several times in each command, and
    the loader gives one object for each file, `resolve` one for each seating.
    """

    #: name of the edition, stable for ever
    id: str
    #: from 1; a running table keeps the version it began with
    version: int
    names: Names
    #: values that differ at tables of some seating; empty in the flat edition of a table
    by_seating: tuple[SeatingValue, ...]
    #: rule of rulebook.py -> statement of the ledger that it stands for
    statements: Mapping[str, str]

    # Setup and turn
    #: the cells [I SETUP-04; M SETUP-01 -07; B SETUP-01 -03; T SETUP-02 -16]
    board: Board
    #: deck name -> its cards in file order; a card's index is its id [I CARD-02; M SETUP-06; B CARD-01 -06; T SETUP-02]
    decks: Mapping[str, tuple[Card, ...]]
    #: least and most seats [I SETUP-09 -10 TABLE-02; M TABLE-02; B SETUP-05 -06; T SETUP-01]
    seats: p.SeatRange
    #: seatings a table may have; exactly one when flat [I SETUP-10 TABLE-02 TIME-12; M BOT-01; B BOT-01; T TABLE-02]
    seating: tuple[p.Seating, ...]
    #: seats of each team, None: each seat alone [B SETUP-05 -07]
    teams: tuple[tuple[int, ...], ...] | None
    #: units [I SETUP-08; M SETUP-09; B SETUP-04; T SETUP-03]
    start_cash: int
    #: who moves first [I SETUP-09 -13; M SETUP-10 -11; B SETUP-10; T SETUP-07]
    first_player: p.FirstPlayer
    #: deeds dealt to each seat [B SETUP-08 -09; T SETUP-12]
    deal_deeds: int
    #: percent of the price paid for a dealt deed [B SETUP-09; T SETUP-13]
    deal_price: int | None
    #: when decision `manage` follows a roll [I TURN-02 -04 -06 DICE-05; M TURN-02; B TURN-01; T TURN-06 -07 -08]
    manage_after: p.ManageAfter

    # Third die
    #: first round with the third die [M DICE-05 -06; B DICE-05 -06 TABLE-11]
    third_die_from_round: int | None
    #: a triple rolls again [M DICE-17; B DICE-16]
    triple_extra_roll: bool | None

    # Movement, salary
    #: units for passing or reaching start [I MOVE-02; M MOVE-02; B MOVE-02; T MOVE-03]
    salary: int
    #: units added for landing exactly on start [B MOVE-03]
    start_landing_bonus: int
    #: first game minute without salary and bonus [B MOVE-05 -06; T TAX-10 -14]
    salary_end_minute: int | None

    # Auction of a declined deed
    #: who declined takes part [I AUC-02; M AUC-02; B AUC-02; T AUC-02 -03 -04]
    decliner_bids: bool
    #: who is asked first [I AUC-03; M AUC-01 -02; B AUC-08; T AUC-04]
    first_asked: p.FirstAsked
    #: least first bid [I AUC-05; M AUC-04; B AUC-03; T AUC-05]
    opening_bid: p.Opening
    #: units [I AUC-06; M AUC-04; B AUC-03; T AUC-06]
    bid_increment: int
    #: opening and increment are met exactly or at least [I AUC-05 -06 -19; M AUC-09; B AUC-09; T AUC-05 -06]
    bid_rule: p.BidRule
    #: what a bid may not exceed [I AUC-08; M AUC-07; B AUC-10 -11; T AUC-07]
    bid_limit: p.BidLimit

    # Own auction
    #: which own deeds may be auctioned [I OWNAUC-01 -02; M OWNAUC-01; B OWNAUC-01]
    own_auction: p.OwnAuction | None
    #: `seller`: he names bank value + 10 n; or percent of the price [I OWNAUC-07 -08 -10; B OWNAUC-02]
    own_auction_opening: Literal["seller"] | p.Opening | None
    #: windows; `manage` only while this turn's trade is unused [I OWNAUC-04 -05 -06 -17; B OWNAUC-02]
    own_auction_in: frozenset[p.Window]

    # Rent
    #: what must be unbuilt for double base rent [I RENT-03; M RENT-04 -05; B RENT-03 -04; T RENT-04 -05 -06]
    double_rent_bare: p.BareScope
    #: which roll counts at a utility [I RENT-07; M RENT-09; B RENT-06; T RENT-09 -10]
    utility_dice: p.UtilityDice | None
    #: an owner in jail takes rent [I RENT-08; M RENT-16; B RENT-07 JAIL-05; T RENT-12]
    jailed_owner_rent: bool

    # Rent tax
    #: what `rent_tax_start` counts [M RENT-11; B RENT-09; T TAX-11 -14]
    rent_tax_clock: p.RentTaxClock | None
    #: first round or game minute with the tax [M RENT-12; B RENT-10; T TAX-11]
    rent_tax_start: int | None
    #: percent by offset from the start [M RENT-12 -13; B RENT-11 -12; T TAX-11]
    rent_tax_curve: p.RentTaxCurve | None
    #: what is taxed [M RENT-14 -15; B RENT-13 -14; T TAX-12 -13]
    rent_tax_on: frozenset[p.RentTaxOn]

    # Building
    #: windows of `build` and `redeem` [I BUILD-11; M TURN-03 -04 MORT-05; B TURN-02 BUILD-08 -09; T BUILD-04 -17 -20]
    build_in: frozenset[p.Window]
    #: any street of an own group, or the one under the own token [I BUILD-03; M BUILD-01; B BUILD-01; T BUILD-01]
    build_where: p.BuildWhere
    #: one step per … [I BUILD-03 -04 -13; M BUILD-04 -05 -08; B BUILD-05 -06 -09; T BUILD-06 -20]
    build_limit: p.BuildLimit | None
    #: build on a lowest street, sell from a highest [I BUILD-05 -15; M BUILD-03 -11; B BUILD-03 -11; T BUILD-05 -14]
    build_even: bool
    #: levels 1 to this are houses, the next one is a hotel [I BUILD-06; M BUILD-02; B BUILD-01; T BUILD-07 -09 -22]
    houses_under_hotel: int
    #: pieces in the bank, None: no limit [I BUILD-07; M SETUP-13; B SETUP-12; T BUILD-10]
    supply: p.Supply | None
    #: what happens when pieces are too few for all [I BUILD-08; T BUILD-11 -12 -24 -30]
    supply_short: p.SupplyShort | None
    #: percent of the build cost per level sold [I BUILD-14; M BUILD-10; B BUILD-10; T BUILD-13 -16 -25 -30]
    building_refund: int
    #: what one sale takes down [I BUILD-16 -17; M BUILD-10; B BUILD-11; T BUILD-14 -15 -16 -25 -26 -30]
    sale_unit: p.SaleUnit

    # Raising cash, mortgage
    #: who may sell buildings and mortgage, and when [I BUILD-18; M TURN-04 DEBT-03; B TURN-02; T AUC-07 BUILD-14]
    raise_in: p.RaiseIn
    #: what must be unbuilt before a mortgage, None: no mortgages [I MORT-01; M MORT-01 -02; B MORT-01; T MORT-02 -03]
    mortgage: p.BareScope | None
    #: percent of the price, rounded up [M MORT-03 -04; B MORT-04; T MORT-05 -06]
    redeem_cost: int | None
    #: rounds until a mortgage lapses [M MORT-06 -07 -08; B MORT-05 -06 -07]
    mortgage_rounds: int | None
    #: where a lapsed deed goes [M MORT-06 -09; B MORT-05 -08]
    mortgage_lapse: p.MortgageLapse | None
    #: percent of the price, rounded up, due from the receiver of a mortgaged deed [B MORT-09; T TRADE-06 BANK-04]
    mortgage_transfer_fee: int | None

    # Trade
    #: windows of offers [I TRADE-01 -08 DEBT-26; M TRADE-02 -03; B TRADE-01; T TRADE-09 -10 -11]
    trade_in: p.TradeIn
    #: what an offer may hold [I TRADE-04 -06 -07; M TRADE-04; B TRADE-02; T TRADE-02]
    trade_shape: p.TradeShape
    #: trades per seat and turn [I TRADE-01; M TRADE-09; B TRADE-08 -11; T TRADE-12]
    trade_limit: int
    #: what counts toward `trade_limit` [I TRADE-12 -15 -17; M TRADE-09; B TRADE-11; T TRADE-12]
    trade_counts: p.TradeCounts
    #: bound on offers in one debt [I DEBT-20; M TRADE-09; B TRADE-11; T TRADE-12]
    debt_trade_limit: p.DebtTradeLimit | None
    #: units that a repeated offer of the same deeds must be better by: to a bot; in a debt to anyone
    #: [I TRADE-11 -18 DEBT-20]
    repeat_offer_step: int
    #: limits of a bot's offers [I TRADE-14 -19 -20]
    bot_offers: p.BotOffers | None
    #: least share of the smaller side [M TRADE-05 -06; B TRADE-06 -07 -09; T TRADE-14]
    trade_balance: p.TradeBalance
    #: mortgaged deeds are tradable [M TRADE-04; B TRADE-05; T TRADE-06 -07]
    trade_mortgaged: p.TradeMortgaged | None
    #: release cards are tradable [I TRADE-03; B TRADE-04; T TRADE-02 CARD-04]
    trade_cards: bool | None

    # Cards, jail, casino
    #: how decks are shuffled [I CARD-02 -03; M CARD-01 SETUP-15; B CARD-02 -08; T SETUP-06 CARD-03]
    deck_cycle: p.DeckCycle
    #: a drawn release card stays in its deck or is out of it [I CARD-04 -05; M JAIL-12; B CARD-08; T CARD-04 -07]
    release_card: p.ReleaseCard | None
    #: units [I JAIL-04 -06; M JAIL-04 -05; B JAIL-02 -03; T JAIL-04 -06]
    jail_fine: int
    #: stake, jackpot share and chance [B MOVE-11 -12 -13 -15 -16 -17]
    casino: p.Casino | None

    # Payment and debt
    #: covered payments that wait for `pay`, None: none [I RENT-09 DEBT-02 -04; M DEBT-01 -05 -06; B DEBT-04; T DEBT-01]
    payment_confirm: p.PaymentConfirm | None
    #: a debtor may sell a deed to the bank for bank value [I DEBT-10 -11 -12 -16 -17 -18; T MORT-10]
    sell_to_bank: bool
    #: a sole creditor may accept something for the whole debt [I DEBT-26; T DEBT-05]
    settlement: bool
    #: bankrupt without a decision if the sum exceeds … [B BANK-06; T DEBT-04]
    insolvent_at_once: p.InsolventAtOnce | None
    #: when a seat may give up [I DEBT-14 -25 TABLE-14; M BANK-01 -07 -09; B BANK-05 -11; T DEBT-04 BANK-09]
    give_up: p.GiveUp

    # Bankruptcy
    #: the estate toward players [I BANK-01 -04 -05; M BANK-02 to -06; B BANK-02 -07 -08 -09; T DEBT-06 BANK-03 to -07]
    estate_to_player: p.EstateToPlayer
    #: the estate toward the bank [I BANK-01 -07; M BANK-04 -05; B BANK-03 -04 -10; T BANK-02 -05 -06]
    estate_to_bank: p.EstateToBank

    # End
    #: the game ends after this round [I SETUP-07; M WIN-02 -04; B WIN-03]
    round_limit: int | None
    #: the game ends at this bankruptcy [T WIN-02 -03]
    bankruptcy_limit: int | None
    #: the game ends with the turn that reaches this game minute [T SETUP-15 WIN-05]
    time_limit_min: int | None

    # Time-outs
    #: what a missed decision does [I TIME-05 -06 BANK-02 -06; M TIME-06 to -10; B TIME-05 -06 -07 -13; T TIME-05 -06]
    on_timeout: p.OnTimeout
    #: default of a missed roll [M AUTO-01 TIME-11; B AUTO-01; T TIME-06]
    timeout_roll: p.TimeoutRoll | None

    # Clock
    #: how the `turn` deadline runs [I TIME-03 -14 DEBT-19; M TIME-02 -03; B TIME-03; T TIME-03 PHASE-02]
    turn_clock: p.TurnClock
    #: seconds for roll, purchase, choices, casino, `manage` [I TIME-01; M TIME-01; B TIME-01 -02; T TIME-01 -02]
    turn_s: int
    #: seconds of `turn_s` that clients do not show [B TIME-01 -02 UI-03]
    turn_reserve_s: int
    #: seconds for a payment [I TIME-01; M TIME-04 -05; B DEBT-01 -04 TIME-04; T TIME-01]
    payment_s: p.PaymentClock
    #: seconds for each asking of a bidder [I TIME-09; M AUC-06; B AUC-05; T TIME-02]
    bid_s: int
    #: seconds for a whole lot until its first bid [I AUC-14 OWNAUC-16 TIME-08 -10 -13]
    lot_s: int | None
    #: seconds for an answer, a claim, an estate choice, a gap [I TRADE-16; M TRADE-08; B TRADE-10; T TIME-01 -02]
    answer_s: int
    #: pause by consent [M TIME-17; B TIME-08 -09 -10 -12]
    pause: p.Pause | None

    # Rating, overrides
    #: what makes a game rated, None: never [B WIN-06 -07 -09]
    rated: p.Rated | None
    #: experience points, None: none [M WIN-07 -08 -09; B WIN-06 -08]
    xp: p.Xp | None
    #: parameters that a table may change [I TABLE-21; M TABLE-08; B TABLE-06 -08; T TABLE-02 AUC-20 RENT-11]
    overrides: tuple[p.Override, ...]
    #: how declined deeds are auctioned [T AUC-20 -21]
    auction_style: p.AuctionStyle
    #: rent is taken at once, or when its owner claims it [T RENT-11]
    rent_claim: p.RentClaim

    def at(self, seating: p.Seating) -> "Edition":
        """The flat edition of a table with this seating; see `resolve`."""
        return resolve(self, seating)


@lru_cache(maxsize=256)
def resolve(edition: Edition, seating: p.Seating) -> Edition:
    """The edition with the values of one seating put in place: `seating` holds it alone, `by_seating` is empty.

    The same arguments give the same object, so that tables share it; a flat edition is given back as it is.
    Raises ValueError if tables of the edition cannot have this seating.
    """
    if seating not in edition.seating:
        allowed = ", ".join(edition.seating)
        raise ValueError(f"edition {edition.id} has no {seating} tables (seatings: {allowed})")
    if edition.seating == (seating,) and not edition.by_seating:
        return edition
    values = {item.parameter: item.value for item in edition.by_seating if item.seating == seating}
    return replace(edition, **{**values, "seating": (seating,), "by_seating": ()})
