"""The schema of an edition file: how each parameter's raw TOML value is read into its typed value.

A reader takes a raw value and returns the typed one, or raises BadValueError with every fault of that value.
«Never» and «none» are written as those words and read as None.
"""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final, get_args

from services.rules.domain import parameters as p
from services.rules.editions.problems import BadValueError

Reader = Callable[[Any], Any]

MOST_UNITS = 10_000_000
MOST_SECONDS = 86_400
#: written for «does not apply» and «never»
ABSENT = ("none", "never")


def whole(least: int, most: int) -> Reader:
    """A whole number from `least` to `most`."""

    def read(raw: Any) -> int:
        if isinstance(raw, bool) or not isinstance(raw, int):
            raise BadValueError(("", f"must be a whole number, is {raw!r}"))
        if not least <= raw <= most:
            raise BadValueError(("", f"{raw} is not within {least} to {most}"))
        return raw

    return read


def flag(raw: Any) -> bool:
    """true or false."""
    if not isinstance(raw, bool):
        raise BadValueError(("", f"must be true or false, is {raw!r}"))
    return raw


def word(literal: Any) -> Reader:
    """One of the words of a Literal type."""
    words = get_args(literal)

    def read(raw: Any) -> str:
        if not isinstance(raw, str) or raw not in words:
            raise BadValueError(("", f"unknown word {raw!r}; one of {', '.join(words)}"))
        return raw

    return read


def optional(reader: Reader) -> Reader:
    """As `reader`, or None for the words none and never."""

    def read(raw: Any) -> Any:
        if isinstance(raw, str) and raw in ABSENT:
            return None
        try:
            return reader(raw)
        except BadValueError as error:
            faults = ((field, reason if field else f"{reason} (or none, never)") for field, reason in error.faults)
            raise BadValueError(*faults) from error

    return read


def words(literal: Any) -> Reader:
    """A list of different words of a Literal type, read as a frozenset."""
    one = word(literal)

    def read(raw: Any) -> frozenset[str]:
        if not isinstance(raw, list):
            raise BadValueError(("", f"must be a list of words, is {raw!r}"))
        values = _read_items(raw, one)
        if len(set(values)) != len(values):
            raise BadValueError(("", "names a word twice"))
        return frozenset(values)

    return read


def _read_items(raw: list[Any], reader: Reader) -> list[Any]:
    values, faults = [], []
    for index, item in enumerate(raw):
        try:
            values.append(reader(item))
        except BadValueError as error:
            faults += [(_join(str(index), field), reason) for field, reason in error.faults]
    if faults:
        raise BadValueError(*faults)
    return values


def _join(outer: str, inner: str) -> str:
    return f"{outer}.{inner}" if inner else outer


def record(
    build: Callable[..., Any], fields: Mapping[str, Reader], defaults: Mapping[str, Any] | None = None
) -> Reader:
    """A table with exactly these fields (those with a default may be left out), given to `build` by keyword."""
    filled = defaults or {}

    def read(raw: Any) -> Any:
        if not isinstance(raw, dict):
            raise BadValueError(("", f"must be a table of {', '.join(fields)}, is {raw!r}"))
        values = dict(filled)
        faults = [(name, "unknown key") for name in raw if name not in fields]
        faults += [(name, "is missing") for name in fields if name not in raw and name not in filled]
        for name, reader in fields.items():
            if name not in raw:
                continue
            try:
                values[name] = reader(raw[name])
            except BadValueError as error:
                faults += [(_join(name, field), reason) for field, reason in error.faults]
        if faults:
            raise BadValueError(*faults)
        return build(**values)

    return read


def _seat_range(*, least: int, most: int) -> p.SeatRange:
    if least > most:
        raise BadValueError(("", f"least {least} is above most {most}"))
    return p.SeatRange(least=least, most=most)


def _seatings(raw: Any) -> tuple[str, ...]:
    found: frozenset[str] = words(p.Seating)(raw)
    if not found:
        raise BadValueError(("", "names no seating"))
    return tuple(seating for seating in get_args(p.Seating) if seating in found)


def _teams(raw: Any) -> tuple[tuple[int, ...], ...]:
    seat = whole(0, 7)
    if not isinstance(raw, list) or not all(isinstance(team, list) and team for team in raw) or len(raw) < 2:
        raise BadValueError(("", f"must be a list of at least two lists of seats, is {raw!r}"))
    teams = tuple(tuple(_read_items(team, seat)) for team in raw)
    seats = sorted(seat for team in teams for seat in team)
    if seats != list(range(len(seats))):
        raise BadValueError(("", f"each seat from 0 must be in one team, is {seats}"))
    return teams


def _opening(*, percent: int | None, units: int | None) -> p.Opening:
    if (percent is None) == (units is None):
        raise BadValueError(("", "needs either percent or units"))
    return p.Opening(percent=percent, units=units)


_OPENING = record(
    _opening, {"percent": whole(1, 1000), "units": whole(1, MOST_UNITS)}, {"percent": None, "units": None}
)


def _own_opening(raw: Any) -> Any:
    return raw if raw == "seller" else _OPENING(raw)


def _curve(*, shape: str, points: tuple[tuple[int, int], ...]) -> p.RentTaxCurve:
    return p.RentTaxCurve(shape=shape, points=points)  # type: ignore[arg-type]  # `word` has checked the shape


def _points(raw: Any) -> tuple[tuple[int, int], ...]:
    if not isinstance(raw, list) or not raw or not all(isinstance(item, list) and len(item) == 2 for item in raw):
        raise BadValueError(("", f"must be a list of [offset, percent], is {raw!r}"))
    offset, percent = whole(0, 10_000), whole(0, 100)
    points = tuple((offset(at), percent(rate)) for at, rate in raw)
    if points[0][0] != 0 or any(later[0] <= sooner[0] for sooner, later in pairwise(points)):
        raise BadValueError(("", "offsets must rise from 0"))
    return points


def _balance(*, percent: int, allies: int | None) -> p.TradeBalance:
    return p.TradeBalance(percent=percent, allies=percent if allies is None else allies)


def _to_player(*, usual: Any, last: Any) -> p.EstateToPlayer:
    return p.EstateToPlayer(usual=usual, last=last or usual)


def _to_bank(*, usual: Any, last: Any, ally: bool) -> p.EstateToBank:
    return p.EstateToBank(usual=usual, last=last or usual, ally=ally)


def _any_table(raw: Any) -> Any:
    """Overrides are read with the other parameters' readers, see `read_overrides`."""
    if raw == "none":
        return {}
    if not isinstance(raw, dict):
        raise BadValueError(("", f"must be none or a table of parameters, is {raw!r}"))
    return raw


_UNITS: Final = whole(0, MOST_UNITS)
_SECONDS: Final = whole(1, MOST_SECONDS)
_PERCENT: Final = whole(0, 100)
_MINUTE: Final = whole(1, 100_000)
_WINDOWS: Final = words(p.Window)

#: every parameter but `board` and `decks`, which the loader reads from their own files
READERS: Final[Mapping[str, Reader]] = {
    "seats": record(_seat_range, {"least": whole(2, 8), "most": whole(2, 8)}),
    "seating": _seatings,
    "teams": optional(_teams),
    "start_cash": whole(1, MOST_UNITS),
    "first_player": word(p.FirstPlayer),
    "deal_deeds": whole(0, 40),
    "deal_price": optional(_PERCENT),
    "manage_after": word(p.ManageAfter),
    "third_die_from_round": optional(_MINUTE),
    "triple_extra_roll": optional(flag),
    "salary": _UNITS,
    "start_landing_bonus": _UNITS,
    "salary_end_minute": optional(_MINUTE),
    "decliner_bids": flag,
    "first_asked": word(p.FirstAsked),
    "opening_bid": _OPENING,
    "bid_increment": whole(1, MOST_UNITS),
    "bid_rule": word(p.BidRule),
    "bid_limit": word(p.BidLimit),
    "own_auction": optional(word(p.OwnAuction)),
    "own_auction_opening": optional(_own_opening),
    "own_auction_in": _WINDOWS,
    "double_rent_bare": word(p.BareScope),
    "utility_dice": optional(word(p.UtilityDice)),
    "jailed_owner_rent": flag,
    "rent_tax_clock": optional(word(p.RentTaxClock)),
    "rent_tax_start": optional(_MINUTE),
    "rent_tax_curve": optional(record(_curve, {"shape": word(p.CurveShape), "points": _points})),
    "rent_tax_on": words(p.RentTaxOn),
    "build_in": _WINDOWS,
    "build_where": word(p.BuildWhere),
    "build_limit": optional(word(p.BuildLimit)),
    "build_even": flag,
    "houses_under_hotel": whole(1, 4),
    "supply": optional(record(p.Supply, {"houses": whole(0, 999), "hotels": whole(0, 999)})),
    "supply_short": optional(word(p.SupplyShort)),
    "building_refund": _PERCENT,
    "sale_unit": word(p.SaleUnit),
    "raise_in": word(p.RaiseIn),
    "mortgage": optional(word(p.BareScope)),
    "redeem_cost": optional(whole(50, 200)),
    "mortgage_rounds": optional(whole(1, 1000)),
    "mortgage_lapse": optional(word(p.MortgageLapse)),
    "mortgage_transfer_fee": optional(_PERCENT),
    "trade_in": record(p.TradeIn, {"full": _WINDOWS, "sale": _WINDOWS}, {"sale": frozenset()}),
    "trade_shape": word(p.TradeShape),
    "trade_limit": whole(1, 100),
    "trade_counts": word(p.TradeCounts),
    "debt_trade_limit": optional(
        record(p.DebtTradeLimit, {"count": whole(1, 100), "counts": word(p.DebtTradeCounts)}, {"counts": "offers"})
    ),
    "repeat_offer_step": _UNITS,
    "bot_offers": optional(record(p.BotOffers, {"per_turn": whole(0, 100), "silent_rounds": whole(0, 1000)})),
    "trade_balance": record(_balance, {"percent": _PERCENT, "allies": _PERCENT}, {"allies": None}),
    "trade_mortgaged": optional(word(p.TradeMortgaged)),
    "trade_cards": optional(flag),
    "deck_cycle": word(p.DeckCycle),
    "release_card": optional(word(p.ReleaseCard)),
    "jail_fine": whole(1, MOST_UNITS),
    "casino": optional(
        record(
            p.Casino,
            {"stake": whole(1, MOST_UNITS), "to_jackpot": _UNITS, "jackpot_one_in": whole(1, 10_000)},
        )
    ),
    "payment_confirm": optional(word(p.PaymentConfirm)),
    "sell_to_bank": flag,
    "settlement": flag,
    "insolvent_at_once": optional(word(p.InsolventAtOnce)),
    "give_up": word(p.GiveUp),
    "estate_to_player": record(_to_player, {"usual": word(p.ToPlayer), "last": word(p.ToPlayer)}, {"last": None}),
    "estate_to_bank": record(
        _to_bank,
        {"usual": word(p.ToBank), "last": word(p.ToBank), "ally": flag},
        {"last": None, "ally": False},
    ),
    "round_limit": optional(_MINUTE),
    "bankruptcy_limit": optional(whole(1, 7)),
    "time_limit_min": optional(_MINUTE),
    "on_timeout": word(p.OnTimeout),
    "timeout_roll": optional(word(p.TimeoutRoll)),
    "turn_clock": word(p.TurnClock),
    "turn_s": _SECONDS,
    "turn_reserve_s": whole(0, MOST_SECONDS),
    "payment_s": record(p.PaymentClock, {"seconds": _SECONDS, "covered": word(p.CoveredClock)}),
    "bid_s": _SECONDS,
    "lot_s": optional(_SECONDS),
    "answer_s": _SECONDS,
    "pause": optional(record(p.Pause, dict.fromkeys(("vote_s", "countdown_s", "longest_s", "again_s"), _SECONDS))),
    "rated": optional(
        record(p.Rated, {"no_bots": flag, "least_rounds": whole(0, 1000), "least_minutes": whole(0, 1000)})
    ),
    "xp": optional(
        record(
            p.Xp,
            {
                "winner": _UNITS,
                "others": _UNITS,
                "leavers": _UNITS,
                "only_rated": flag,
                "only_people": flag,
                "from_round": whole(1, 1000),
                "deed_card": flag,
            },
            {"leavers": 0, "only_rated": False, "only_people": False, "from_round": 1, "deed_card": False},
        )
    ),
    "overrides": _any_table,
    "auction_style": word(p.AuctionStyle),
    "rent_claim": word(p.RentClaim),
}

PARAMETERS: Final = ("board", "decks", *READERS)

#: what cannot differ by the seating of a table, nor be changed by one
FIXED: Final = frozenset({"board", "decks", "seats", "seating", "teams", "overrides"})


def read_override(name: str, raw: Any) -> p.Override:
    """One entry of `overrides`: `least`, `most`, `step` and `never`, or `choices`. Raises BadValueError."""
    if name not in READERS or name in FIXED:
        raise BadValueError(("", "is no parameter that a table can change"))
    override: p.Override = record(
        lambda **fields: p.Override(parameter=name, **fields),
        {
            "least": READERS[name],
            "most": READERS[name],
            "step": whole(1, MOST_UNITS),
            "never": flag,
            "choices": _choices_of(READERS[name]),
        },
        {"least": None, "most": None, "step": 1, "never": False, "choices": ()},
    )(raw)
    bounds = (override.least, override.most)
    if override.choices and bounds == (None, None) and not override.never:
        return override
    if override.choices or not all(type(bound) is int for bound in bounds):
        raise BadValueError(("", "needs either whole numbers least and most, or a list of choices"))
    if (override.least or 0) > (override.most or 0):
        raise BadValueError(("", f"least {override.least} is above most {override.most}"))
    if override.never:
        _never_of(READERS[name])
    return override


def _choices_of(reader: Reader) -> Reader:
    def read(raw: Any) -> tuple[Any, ...]:
        if not isinstance(raw, list) or not raw:
            raise BadValueError(("", f"must be a list of values, is {raw!r}"))
        return tuple(_read_items(raw, reader))

    return read


def _never_of(reader: Reader) -> None:
    try:
        reader("never")
    except BadValueError as error:
        raise BadValueError(("never", "the parameter cannot be never")) from error
