"""The codec: every value of the rules has its message, and survives the way there and back."""

import re
import time
from pathlib import Path
from typing import Any, get_args

import pytest
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import given, settings
from magnate.game.v1 import command_pb2, decision_pb2, event_pb2, refusal_pb2, update_pb2

from services.rules.codec import messages, refusals, wire
from services.rules.codec.twins import Twins, enum_numbers
from services.rules.domain import commands as c
from services.rules.domain import events as e
from services.rules.domain import options as o
from services.rules.domain import state as s
from services.rules.domain.refusals import Reason, Refusal
from tests.rules.values import values

EVENT_CLASSES = get_args(e.Event)
ACTION_CLASSES = get_args(c.Action)


def snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def test_every_event_and_every_action_has_its_message() -> None:
    bodies = {field.name for field in event_pb2.Event.DESCRIPTOR.oneofs_by_name["body"].fields}
    actions = {field.name for field in command_pb2.Command.DESCRIPTOR.oneofs_by_name["action"].fields}
    legal = {field.name for field in decision_pb2.LegalAction.DESCRIPTOR.oneofs_by_name["action"].fields}
    assert bodies == {snake(kind.__name__) for kind in EVENT_CLASSES}
    assert actions == {snake(kind.__name__) for kind in ACTION_CLASSES}
    assert legal == set(get_args(o.OptionKind)) == actions - {"expire", "withdraw"}


def test_the_words_of_an_enum_are_its_names_without_their_prefix() -> None:
    assert enum_numbers(event_pb2.ReleaseHow.DESCRIPTOR) == {"fine": 1, "card": 2, "double": 3, "forced_fine": 4}


def test_a_class_that_lacks_a_field_of_its_message_is_found_out() -> None:
    with pytest.raises(TypeError, match=r"no attribute for \['legal_actions'\]"):
        Twins().pair(s.Decision, decision_pb2.Decision)
    with pytest.raises(TypeError, match="has no field cell"):
        Twins().pair(e.DeedRedeemed, event_pb2.Jailed)
    with pytest.raises(TypeError, match="stand on one side only"):
        Twins().pair(e.Jailed, event_pb2.Leaving)


@pytest.mark.parametrize("kind", EVENT_CLASSES, ids=lambda kind: kind.__name__)
def test_an_event_survives_the_way_there_and_back(kind: Any) -> None:
    @given(values(kind))
    @settings(max_examples=15, deadline=None)
    def check(event: Any) -> None:
        data = messages.write_event(7, event)
        message = event_pb2.Event.FromString(data)
        assert message.seq == 7
        assert message.WhichOneof("body") == snake(kind.__name__)
        assert messages.read_event(message) == event
        assert message.SerializeToString(deterministic=True) == data

    check()


@pytest.mark.parametrize("kind", ACTION_CLASSES, ids=lambda kind: kind.__name__)
def test_a_command_survives_the_way_there_and_back(kind: Any) -> None:
    @given(values(kind))
    @settings(max_examples=15, deadline=None)
    def check(action: Any) -> None:
        service = isinstance(action, messages.SERVICE_ACTIONS)
        command = c.Command(-1, 0, action) if service else c.Command(3, 41, action)
        data = messages.write_command(command, "id-1")
        message = command_pb2.Command.FromString(data)
        assert message.command_id == "id-1"
        assert messages.read_command(message) == command
        assert message.SerializeToString(deterministic=True) == data

    check()


#: what an option of a kind holds beside its seat
_FILLED: dict[str, tuple[str, Any]] = {
    "BuildingChoices": ("buildings", tuple[o.BuildingChoice, ...]),
    "DeedChoices": ("deeds", tuple[o.DeedChoice, ...]),
    "AuctionLotChoices": ("lots", tuple[o.LotChoice, ...]),
    "BidChoice": ("range", o.AmountRange),
    "TradeChoice": ("trade", o.TradeChoice),
}


def filled(kind: Any) -> tuple[str, Any] | None:
    """The attribute that an option of this kind fills, with its type."""
    field: Any = decision_pb2.LegalAction.DESCRIPTOR.fields_by_name[kind]
    plain = {FieldDescriptor.TYPE_INT32: ("amount", int), FieldDescriptor.TYPE_STRING: ("deck", str)}
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        return _FILLED[field.message_type.name]
    return plain.get(field.type)


@pytest.mark.parametrize("kind", get_args(o.OptionKind))
def test_an_option_survives_the_way_there_and_back(kind: Any) -> None:
    attribute = filled(kind)

    @given(values(attribute[1] if attribute else bool))
    @settings(max_examples=15, deadline=None)
    def check(value: Any) -> None:
        option = o.Option(2, kind, **({attribute[0]: value} if attribute else {}))
        data = messages.write_option(option)
        message = decision_pb2.LegalAction.FromString(data)
        assert message.WhichOneof("action") == kind
        assert messages.read_option(message) == option
        assert message.SerializeToString(deterministic=True) == data

    check()


def test_none_has_a_message_where_the_contract_wants_one() -> None:
    lot = decision_pb2.AuctionLotChoice.FromString(messages.TWINS[o.LotChoice].write(o.LotChoice(5, None)))
    assert (lot.opening.least, lot.opening.greatest) == (0, 0)
    bound = messages.TWINS[o.TradeBound].to_message(o.TradeBound(5, -1, None))
    assert bound.cash.least > bound.cash.greatest
    assert bound.HasField("get_cell")
    assert not bound.HasField("give_cell")


@pytest.mark.parametrize("type_name", ["UINT32", "UINT64", "INT32", "INT64", "SINT32"])
def test_a_number_that_a_field_cannot_hold_is_refused(type_name: str) -> None:
    kind = getattr(FieldDescriptor, f"TYPE_{type_name}")
    least, greatest = wire.RANGES[kind]
    numbers = wire.Numbers(1, kind)
    assert len(numbers[greatest]) <= 11
    for outside in (least - 1, greatest + 1):
        with pytest.raises(ValueError, match="is not in"):
            numbers[outside]


@pytest.mark.parametrize(
    "message",
    [
        command_pb2.Command(command_id="a", seat=1),
        command_pb2.Command(choose_move=command_pb2.ChooseMove()),
        command_pb2.Command(choose_move=command_pb2.ChooseMove(option=99)),  # type: ignore[arg-type]
    ],
    ids=["no action", "option not set", "option of a later version"],
)
def test_a_command_that_says_nothing_known_is_an_error(message: command_pb2.Command) -> None:
    with pytest.raises(messages.CodecError):
        messages.read_command(message)


def test_withheld_bodies_are_put_in_place_by_number() -> None:
    seed, turn = e.SeedDrawn("script", b"s", (1, 2)), e.TurnStarted(0, 1, False)
    public = [event_pb2.Event(seq=4), event_pb2.Event.FromString(messages.write_event(5, turn))]
    secret = event_pb2.Event.FromString(messages.write_event(4, seed))
    assert messages.read_events(public, [secret]) == (seed, turn)
    with pytest.raises(messages.CodecError, match="event 4"):
        messages.read_events(public)


def a_typical_update() -> dict[str, Any]:
    """Six events and a manage decision with offers to three partners."""
    trades = [
        o.Option(0, "offer_trade", trade=o.TradeChoice(
            to, (1, 3, 6, 8, 9), (11, 13, 14), o.AmountRange(0, 900), tuple(o.DeedChoice(n, 90) for n in (11, 13, 14)),
            1200,
        ))
        for to in (1, 2, 3)
    ]  # fmt: skip
    state = s.State()
    state.decision = s.Decision(812, "manage", (0,), 77)
    state.deadlines = (s.Deadline(77, "turn", 300_000, 812_345),)
    return {
        "table_id": "0123456789abcdef",
        "first_seq": 4011,
        "play_time_ms": 812_345,
        "command": messages.write_command(c.Command(0, 811, c.Buy()), "c-9f8e7d6c"),
        "events": [
            e.DecisionClosed(811, "answered"),
            e.MoneyMoved(0, -1, 220, "purchase", 15),
            e.DeedMoved(15, -1, 0, "purchase"),
            e.DeadlineLifted(76),
            e.DeadlineSet(s.Deadline(77, "turn", 300_000, 812_345)),
            e.DecisionOpened(812, "manage", (0,), 77),
        ],
        "options": [
            o.Option(0, "end_turn"),
            o.Option(0, "build", buildings=(o.BuildingChoice(15, 1, 100),)),
            o.Option(0, "open_auction", lots=tuple(o.LotChoice(n, o.AmountRange(110, 900, 10)) for n in (11, 13, 14))),
            *trades,
        ],
        "state": state,
        "state_hash": bytes(range(8)),
        "hash_version": 1,
    }


def test_an_update_is_what_the_library_would_write() -> None:
    parts = a_typical_update()
    data = messages.write_update(**parts)
    message = update_pb2.Update.FromString(data)
    assert message.SerializeToString(deterministic=True) == data
    assert (message.first_seq, message.last_seq, message.play_time_ms) == (4011, 4016, 812_345)
    assert message.command.command_id == "c-9f8e7d6c"
    assert messages.read_events(message.events) == tuple(parts["events"])
    assert messages.read_decision(message.decision) == (parts["state"].decision, tuple(parts["options"]))
    assert [messages.TWINS[s.Deadline].read(item) for item in message.deadlines] == list(parts["state"].deadlines)
    assert (message.state_hash, message.state_hash_version, message.game_over) == (bytes(range(8)), 1, False)


def test_an_update_withholds_the_bodies_of_secret_events() -> None:
    secrets = [e.SeedDrawn("hmac-sha256-v1", b"secret-seed-123", ()), e.DeckShuffled("market", (2, 0, 1), 3)]
    data = messages.write_update(**{**a_typical_update(), "events": [*secrets, e.TurnStarted(0, 1, False)]})
    events = update_pb2.Update.FromString(data).events
    assert [(event.seq, event.WhichOneof("body")) for event in events] == [
        (4011, None),
        (4012, None),
        (4013, "turn_started"),
    ]
    assert b"secret-seed" not in data


def test_a_typical_update_is_written_in_well_under_100_microseconds() -> None:
    parts = a_typical_update()
    messages.write_update(**parts)
    best = min(_seconds(parts) for _ in range(5))
    assert best < 100e-6, f"{best * 1e6:.0f} µs"


def _seconds(parts: dict[str, Any]) -> float:
    began = time.perf_counter()
    for _ in range(200):
        messages.write_update(**parts)
    return (time.perf_counter() - began) / 200


def test_each_reason_has_the_status_that_the_contract_names() -> None:
    text = (Path(__file__).parents[2] / "proto/magnate/game/v1/refusal.proto").read_text(encoding="utf-8")
    named = {reason: status for status, reason in re.findall(r"\[([A-Z_]+)\]\n  REFUSAL_REASON_([A-Z_]+) =", text)}
    assert set(named) == {value.name.removeprefix("REFUSAL_REASON_") for value in reasons()}
    for reason in get_args(Reason):
        assert refusals.status_of(reason).name == named[reason.upper()], reason
    for reason in refusals.SERVICE_STATUSES:
        assert refusals.status_of(reason).name == named[reason.upper()], reason


def reasons() -> list[Any]:
    """All values of the enum but the one that says nothing."""
    return list(refusal_pb2.RefusalReason.DESCRIPTOR.values[1:])


def test_a_refusal_says_all_that_the_rules_say() -> None:
    refusal = Refusal("bid_not_exact", "bid_price", "IND-AUC-06", "the next price is 120", {"least": 120})
    message = refusals.refusal_message(refusal)
    assert message == refusal_pb2.Refusal(
        reason=refusal_pb2.REFUSAL_REASON_BID_NOT_EXACT,
        statement="IND-AUC-06",
        message="the next price is 120",
        fields={"least": "120"},
    )
    error = refusals.refusal_error(refusal)
    assert (error.code.name, error.reason, dict(error.metadata)) == (
        "FAILED_PRECONDITION",
        "bid_not_exact",
        {"least": "120", "statement": "IND-AUC-06"},
    )
    assert error.find_detail(refusal_pb2.Refusal) == message
