"""Why a command is refused."""

from collections.abc import Mapping
from typing import Literal

from services.rules.domain.values import value

Reason = Literal[
    "malformed",
    "unknown_cell",
    "bad_amount",
    "bad_choice",
    "override_out_of_range",
    "not_your_seat",
    "not_asked",
    "excluded_bidder",
    "stale_decision",
    "stale_deadline",
    "not_due",
    "wrong_decision",
    "seat_out",
    "table_paused",
    "game_over",
    "not_enough_cash",
    "within_reach",
    "auction_first",
    "no_player_creditor",
    "bid_too_low",
    "bid_not_exact",
    "bid_over_limit",
    "already_leading",
    "lot_not_allowed",
    "already_put_up",
    "opening_out_of_range",
    "group_incomplete",
    "group_mortgaged",
    "uneven",
    "no_supply",
    "top_level",
    "build_limit_used",
    "not_under_token",
    "nothing_built",
    "hotels_go_together",
    "kind_locked",
    "not_owner",
    "built",
    "already_mortgaged",
    "not_mortgaged",
    "not_in_jail",
    "no_release_card",
    "trade_limit_used",
    "deed_mortgaged",
    "unbalanced",
    "empty_side",
    "wrong_shape",
    "below_bank_value",
    "over_partner_cash",
    "not_better_enough",
    "card_not_tradable",
    "nothing_to_do",
    "already_asked",
    "ask_later",
]


@value
class Refusal:
    """A command that is not legal now; nothing has changed.

    `rule` names the rule broken (rulebook.py); `statement` is its id in the edition's ledger. `fields` are facts for
    programs, such as the least bid.
    """

    reason: Reason
    rule: str
    statement: str
    message: str
    fields: Mapping[str, int]
