"""Hypothesis strategies for the rules' value classes, made from their types."""

from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from services.rules.domain.options import AmountRange
from services.rules.domain.parties import NONE

_TEXT = st.text(alphabet="abcxyz-/0123456789", max_size=12)
_MONEY = st.integers(0, 2**31 - 1)

#: attributes whose values are narrower or wider than their type says
_SPECIAL: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("payer", "payee", "from_party", "to_party", "toward", "seller"), st.integers(-2, 7)),
    **dict.fromkeys(("net_worth", "xp"), st.integers(-(2**31), 2**31 - 1)),
    **dict.fromkeys(("auction_id", "trade_id", "payment_id", "id", "decision_id"), st.integers(0, 2**63)),
    **dict.fromkeys(("deadline_id", "lot_deadline_id"), st.integers(0, 2**63)),
    **dict.fromkeys(("budget_ms", "opened_at_ms", "left_ms", "paused_ms", "grace_ms"), st.integers(0, 2**62)),
    "started_at_ms": st.integers(0, 2**62),
}
#: attributes that NONE leaves open, by class
_OPEN = {
    "MoveChosen": {"cell"},
    "AuctionOpened": {"cell"},
    "PaymentDue": {"cell"},
    "PaymentFrame": {"cell"},
    "MoneyMoved": {"cell"},
    "AuctionClosed": {"winner"},
    "AuctionFrame": {"asked", "leader"},
    "TradeBound": {"get_cell", "give_cell"},
}
#: where a party can only be a seat
_SEATS_ONLY = {("PaymentDue", "payer"), ("PaymentFrame", "payer")}
#: what stands for None in the messages, so that no value may be equal to it
_NONE_RANGES = (AmountRange(0, 0), AmountRange(1, 0))


@cache
def values(kind: Any) -> st.SearchStrategy[Any]:
    """Any value of a type: a class made by `value`, a number, a text, a Literal, a tuple or a union of them."""
    if isinstance(kind, type) and is_dataclass(kind):
        made = st.builds(kind, **{item.name: _attribute(kind, item.name) for item in fields(kind)})
        return made.filter(lambda value: value not in _NONE_RANGES) if kind is AmountRange else made
    origin = get_origin(kind)
    if origin is Literal:
        return st.sampled_from(get_args(kind))
    if origin in (Union, UnionType):
        return st.one_of([values(part) for part in get_args(kind)])
    if origin is tuple:
        parts = get_args(kind)
        if parts[-1] is Ellipsis:
            return st.lists(values(parts[0]), max_size=4).map(tuple)
        return st.tuples(*[values(part) for part in parts])
    plain: dict[Any, st.SearchStrategy[Any]] = {
        int: _MONEY,
        bool: st.booleans(),
        str: _TEXT,
        bytes: st.binary(max_size=40),
        NoneType: st.none(),
    }
    return plain[kind]


def _attribute(kind: type, name: str) -> st.SearchStrategy[Any]:
    hint = get_type_hints(kind)[name]
    if name in _OPEN.get(kind.__name__, ()):
        return st.one_of(st.just(NONE), st.integers(0, 39))
    if hint is int and name in _SPECIAL and (kind.__name__, name) not in _SEATS_ONLY:
        return _SPECIAL[name]
    return values(hint)
