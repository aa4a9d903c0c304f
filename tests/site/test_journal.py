"""The journal: what happened, in three languages."""

from __future__ import annotations

import pytest
from magnate.game.v1 import command_pb2
from magnate.game.v1 import event_pb2 as pb

from services.site.terminal.journal import Journal
from services.site.terminal.scores import Scores
from tests.site.examples import names_in

RENT = pb.MoneyMoved(payer=0, payee=1, amount=30, reason=pb.MONEY_REASON_RENT, cell=1)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "Ada → Bot #2: 30, rent for «Bread Stall»"),
        ("uk", "Ada → Bot #2: 30, рента за «Хлібна ятка»"),
        ("ru", "Ada → Bot #2: 30, рента за «Хлебный ларёк»"),
    ],
)
def test_a_movement_of_money_names_payer_payee_amount_reason_and_cell(language: str, expected: str) -> None:
    """IND-UI-19: one entry with payer, payee, amount, reason and cell or card."""
    assert Journal(names_in(language)).line(pb.Event(seq=5, money_moved=RENT)) == expected


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            pb.Event(money_moved=pb.MoneyMoved(payer=-1, payee=2, amount=200, reason=pb.MONEY_REASON_SALARY)),
            "the bank → Bot #3: 200, salary",
        ),
        (
            pb.Event(dice_rolled=pb.DiceRolled(seat=0, purpose=pb.ROLL_PURPOSE_MOVE, dice=[3, 4])),
            "Ada rolls 3 + 4.",
        ),
        (
            pb.Event(dice_rolled=pb.DiceRolled(seat=0, purpose=pb.ROLL_PURPOSE_MOVE, dice=[3, 4], third=2)),
            "Ada rolls 3 + 4 and 2.",
        ),
        (pb.Event(turn_started=pb.TurnStarted(seat=0, round=3)), "Round 3: Ada is on turn."),
        (
            pb.Event(turn_started=pb.TurnStarted(seat=0, round=3, extra=True)),
            "Ada has another roll for a double.",
        ),
        (
            pb.Event(card_drawn=pb.CardDrawn(seat=1, deck="market", card=6)),
            "Bot #2 draws: Your deposits pay dividends: collect 150.",
        ),
        (
            pb.Event(jailed=pb.Jailed(seat=0, reason=pb.JAIL_REASON_DOUBLES)),
            "Ada goes to «Tax Inspection»: the third double in a row.",
        ),
        (
            pb.Event(
                trade_offered=pb.TradeOffered(
                    from_seat=0,
                    to_seat=1,
                    give=command_pb2.Basket(cash=50, cells=[1]),
                    get=command_pb2.Basket(cells=[3]),
                )
            ),
            "Ada offers Bot #2: gives 50, «Bread Stall»; gets «Flour Mill».",
        ),
        (
            pb.Event(
                payment_due=pb.PaymentDue(
                    payer=0,
                    claims=[pb.Claim(payee=1, amount=20), pb.Claim(payee=2, amount=22)],
                    reason=pb.MONEY_REASON_CARD,
                )
            ),
            "Ada owes 42 (card).",
        ),
        (
            pb.Event(
                game_ended=pb.GameEnded(
                    reason=pb.END_REASON_LAST_LEFT,
                    places=[pb.Place(seat=2, place=1), pb.Place(seat=0, place=2)],
                    server_seed="aa",
                )
            ),
            "The game is over: Bot #3 is the last one left and wins. Seed: aa",
        ),
        (pb.Event(deadline_lifted=pb.DeadlineLifted(deadline_id=3)), ""),
        (pb.Event(seq=2), ""),
    ],
)
def test_what_happened_is_told(event: pb.Event, expected: str) -> None:
    """One line for what is worth reading, nothing for the rest and for what is withheld."""
    assert Journal(names_in("en")).line(event) == expected


def test_the_standings_are_told_once_in_a_round() -> None:
    """Cash, deeds and levels of every seat, counted from the public events."""
    scores = Scores(names_in("en"))
    begun = [
        pb.Event(game_started=pb.GameStarted(seats=[pb.SeatSetup()] * 3)),
        *(pb.Event(money_moved=pb.MoneyMoved(payer=-1, payee=seat, amount=1500)) for seat in range(3)),
    ]
    assert [scores.note(event) for event in begun] == ["", "", "", ""]
    assert (
        scores.note(pb.Event(turn_started=pb.TurnStarted(seat=0, round=1)))
        == "─── Round 1 │ Ada: 1500 (0) │ Bot #2: 1500 (0) │ Bot #3: 1500 (0)"
    )
    later = [
        pb.Event(turn_started=pb.TurnStarted(seat=1, round=1)),
        pb.Event(money_moved=pb.MoneyMoved(payer=1, payee=-1, amount=60)),
        pb.Event(deed_moved=pb.DeedMoved(cell=1, from_party=-1, to_party=1)),
        pb.Event(building_built=pb.BuildingBuilt(cell=1, level=2)),
        pb.Event(seat_out=pb.SeatOut(seat=2)),
    ]
    assert [scores.note(event) for event in later] == [""] * 5
    assert (
        scores.note(pb.Event(turn_started=pb.TurnStarted(seat=0, round=2)))
        == "─── Round 2 │ Ada: 1500 (0) │ Bot #2: 1440 (1+2) │ Bot #3: out"
    )
