"""The rules' values as messages of magnate.game.v1 and back: commands, events, decisions, legal actions, deadlines.

Writers give bytes of a message; readers take a message. A message that the rules do not know raises CodecError.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from magnate.game.v1 import command_pb2, decision_pb2, event_pb2, update_pb2

from services.rules.codec import wire
from services.rules.codec.twins import CodecError, Twins
from services.rules.domain import commands as c
from services.rules.domain import events as e
from services.rules.domain import options as o
from services.rules.domain import state as s
from services.rules.domain.parties import NONE

__all__ = [
    "TWINS",
    "CodecError",
    "read_command",
    "read_decision",
    "read_event",
    "read_events",
    "read_option",
    "write_command",
    "write_decision",
    "write_event",
    "write_option",
    "write_update",
]

TWINS = Twins()
TWINS.pair(c.Basket, command_pb2.Basket)
TWINS.pair(s.SeatSetup, event_pb2.SeatSetup)
TWINS.pair(s.Deadline, decision_pb2.Deadline)
TWINS.pair(s.Claim, event_pb2.Claim)
TWINS.pair(s.Place, event_pb2.Place)
TWINS.pair(o.AmountRange, decision_pb2.AmountRange)
TWINS.pair(o.BuildingChoice, decision_pb2.BuildingChoice)
TWINS.pair(o.DeedChoice, decision_pb2.DeedChoice)
TWINS.pair(o.LotChoice, decision_pb2.AuctionLotChoice, none={"opening": o.AmountRange(0, 0)})
TWINS.pair(o.TradeBound, decision_pb2.TradeBound, none={"cash": o.AmountRange(1, 0)})
TWINS.pair(o.TradeChoice, decision_pb2.TradeChoice)
_DECISION = TWINS.pair(s.Decision, decision_pb2.Decision, beside=["legal_actions"])
_DEADLINE = TWINS[s.Deadline]

_ACTIONS = TWINS.pairs(c.Action, command_pb2.Command, "action")
_EVENTS = TWINS.pairs(e.Event, event_pb2.Event, "body")


def _start(message: Any, field: str) -> bytes:
    """What stands before a field that holds bytes, a text or a message."""
    return wire.tag(message.DESCRIPTOR.fields_by_name[field].number, wire.LENGTH_DELIMITED)


def _numbers(message: Any, field: str) -> wire.Numbers:
    descriptor = message.DESCRIPTOR.fields_by_name[field]
    return wire.Numbers(descriptor.number, descriptor.type)


# ---- commands


#: what the services ask for in the name of nobody
SERVICE_ACTIONS = (c.Expire, c.Withdraw)

_ACTION_STARTS = {twin.value: _start(command_pb2.Command, name) for name, twin in _ACTIONS.items()}
_COMMAND_ID = wire.tag(command_pb2.Command.COMMAND_ID_FIELD_NUMBER, wire.LENGTH_DELIMITED)
_COMMAND_SEAT = _numbers(command_pb2.Command, "seat")
_COMMAND_DECISION = _numbers(command_pb2.Command, "decision_id")


def read_command(message: command_pb2.Command) -> c.Command:
    """The command that a message asks for; those of the services have no seat and no decision."""
    name = message.WhichOneof("action")
    if name is None:
        raise CodecError("a command without an action")
    action = _ACTIONS[name].read(getattr(message, name))
    if isinstance(action, SERVICE_ACTIONS):
        return c.Command(NONE, 0, action)
    return c.Command(message.seat, message.decision_id, action)


def write_command(command: c.Command, command_id: str) -> bytes:
    """A Command message."""
    action = command.action
    parts = [wire.delimited(_COMMAND_ID, command_id.encode())] if command_id else []
    if command.seat != NONE:
        parts += [_COMMAND_SEAT[command.seat], _COMMAND_DECISION[command.decision_id]]
    parts.append(wire.delimited(_ACTION_STARTS[action.__class__], TWINS[action.__class__].write(action)))
    return b"".join(parts)


# ---- events


_SEQ = wire.tag(event_pb2.Event.SEQ_FIELD_NUMBER, wire.VARINT)
_EVENT_WRITERS: dict[type, tuple[bytes, Callable[[Any], bytes]]] = {
    twin.value: (_start(event_pb2.Event, name), twin.write) for name, twin in _EVENTS.items()
}


def write_event(seq: int, event: e.Event) -> bytes:
    """An Event message, with its body also where that is secret."""
    start, write = _EVENT_WRITERS[event.__class__]
    body = write(event)
    return _SEQ + wire.LENGTHS[seq] + start + wire.LENGTHS[len(body)] + body


def read_event(message: event_pb2.Event) -> e.Event:
    """The event of a message that has its body."""
    name = message.WhichOneof("body")
    if name is None:
        raise CodecError(f"event {message.seq} has no body that the rules know")
    event: e.Event = _EVENTS[name].read(getattr(message, name))
    return event


def read_events(messages: Iterable[event_pb2.Event], secrets: Iterable[event_pb2.Event] = ()) -> tuple[e.Event, ...]:
    """Events in their order, with the withheld bodies of some put in place by number."""
    bodies = {secret.seq: secret for secret in secrets}
    return tuple([read_event(bodies.get(message.seq, message)) for message in messages])


# ---- decisions


def _option_writers() -> dict[str, Callable[[o.Option], bytes]]:
    return {field.name: _option_writer(field) for field in _OPTION_FIELDS}


def _option_writer(field: Any) -> Callable[[o.Option], bytes]:
    if field.type == FieldDescriptor.TYPE_BOOL:
        written = wire.tag(field.number, wire.VARINT) + wire.varint(1)
        return lambda option: written
    if field.type == FieldDescriptor.TYPE_INT32:
        amounts = wire.Numbers(field.number, field.type, absent=None)
        return lambda option: amounts[option.amount]
    if field.type == FieldDescriptor.TYPE_STRING:
        texts = wire.Texts(field.number, explicit=True)
        return lambda option: texts[option.deck]
    start = wire.tag(field.number, wire.LENGTH_DELIMITED)
    write = _PAYLOADS[field.message_type.name][1]
    return lambda option: wire.delimited(start, write(option))


def _list_writer(attribute: str, choice: type) -> Callable[[o.Option], bytes]:
    """Writes the message whose only field holds the choices."""
    start, write = wire.tag(1, wire.LENGTH_DELIMITED), TWINS[choice].write
    return lambda option: b"".join([wire.delimited(start, write(item)) for item in getattr(option, attribute)])


def _choices(choice: type) -> Callable[[Any], Any]:
    read = TWINS[choice].read
    return lambda message: tuple([read(item) for item in message.choices])


_BID_AMOUNT = _start(decision_pb2.BidChoice, "amount")
#: what an option of this message's kind holds: its attribute, its writer, its reader
_PAYLOADS: dict[str, tuple[str, Callable[[o.Option], bytes], Callable[[Any], Any]]] = {
    "BuildingChoices": ("buildings", _list_writer("buildings", o.BuildingChoice), _choices(o.BuildingChoice)),
    "DeedChoices": ("deeds", _list_writer("deeds", o.DeedChoice), _choices(o.DeedChoice)),
    "AuctionLotChoices": ("lots", _list_writer("lots", o.LotChoice), _choices(o.LotChoice)),
    "BidChoice": (
        "range",
        lambda option: wire.delimited(_BID_AMOUNT, TWINS[o.AmountRange].write(option.range)),
        lambda message: TWINS[o.AmountRange].read(message.amount),
    ),
    "TradeChoice": ("trade", lambda option: TWINS[o.TradeChoice].write(option.trade), TWINS[o.TradeChoice].read),
}
_OPTION_FIELDS: tuple[Any, ...] = tuple(decision_pb2.LegalAction.DESCRIPTOR.oneofs_by_name["action"].fields)
_OPTION_SEAT = _numbers(decision_pb2.LegalAction, "seat")
_OPTION_WRITERS = _option_writers()
_OPTION_BY_NAME = {field.name: field for field in _OPTION_FIELDS}
_LEGAL_ACTION = _start(decision_pb2.Decision, "legal_actions")


def write_option(option: o.Option) -> bytes:
    """A LegalAction message."""
    return _OPTION_SEAT[option.seat] + _OPTION_WRITERS[option.kind](option)


def read_option(message: decision_pb2.LegalAction) -> o.Option:
    """The option of a LegalAction message."""
    name: Any = message.WhichOneof("action")
    if name is None:
        raise CodecError("a legal action of a kind that the rules do not know")
    field, payload = _OPTION_BY_NAME[name], getattr(message, name)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return o.Option(message.seat, name)
    if field.type == FieldDescriptor.TYPE_INT32:
        return o.Option(message.seat, name, amount=payload)
    if field.type == FieldDescriptor.TYPE_STRING:
        return o.Option(message.seat, name, deck=payload)
    attribute, _, read = _PAYLOADS[field.message_type.name]
    option = o.Option(message.seat, name)
    return o.Option(**{**_fields_of(option), attribute: read(payload)})


def _fields_of(option: o.Option) -> dict[str, Any]:
    return {name: getattr(option, name) for name in o.Option.__slots__}  # type: ignore[attr-defined]


def write_decision(decision: s.Decision, options: Iterable[o.Option]) -> bytes:
    """A Decision message with its legal actions."""
    parts = [_DECISION.write(decision)]
    for option in options:
        body = write_option(option)
        parts.append(_LEGAL_ACTION + wire.LENGTHS[len(body)] + body)
    return b"".join(parts)


def read_decision(message: decision_pb2.Decision) -> tuple[s.Decision, tuple[o.Option, ...]]:
    """A decision with its legal actions."""
    return _DECISION.read(message), tuple([read_option(item) for item in message.legal_actions])


# ---- updates


_UPDATE_TABLE = _start(update_pb2.Update, "table_id")
_UPDATE_COMMAND = _start(update_pb2.Update, "command")
_UPDATE_EVENT = _start(update_pb2.Update, "events")
_UPDATE_DECISION = _start(update_pb2.Update, "decision")
_UPDATE_DEADLINE = _start(update_pb2.Update, "deadlines")
_UPDATE_HASH = _start(update_pb2.Update, "state_hash")
_UPDATE_FIRST = _numbers(update_pb2.Update, "first_seq")
_UPDATE_LAST = _numbers(update_pb2.Update, "last_seq")
_UPDATE_PLAY_TIME = _numbers(update_pb2.Update, "play_time_ms")
_UPDATE_HASH_VERSION = _numbers(update_pb2.Update, "state_hash_version")
_UPDATE_OVER = wire.tag(update_pb2.Update.GAME_OVER_FIELD_NUMBER, wire.VARINT) + wire.varint(1)


def write_update(
    *,
    table_id: str,
    first_seq: int,
    play_time_ms: int,
    command: bytes,
    events: Sequence[e.Event],
    options: Iterable[o.Option],
    state: s.State,
    state_hash: bytes,
    hash_version: int,
) -> bytes:
    """A public Update message: secret events keep their number and lose their body.

    `command` is a Command message, empty for the start of a game; `state` the one after the events.
    """
    parts = [
        wire.delimited(_UPDATE_TABLE, table_id.encode()),
        _UPDATE_FIRST[first_seq],
        _UPDATE_LAST[first_seq + len(events) - 1],
        _UPDATE_PLAY_TIME[play_time_ms],
    ]
    if command:
        parts.append(wire.delimited(_UPDATE_COMMAND, command))
    for seq, event in enumerate(events, first_seq):
        body = _SEQ + wire.LENGTHS[seq] if isinstance(event, e.SECRET_EVENTS) else write_event(seq, event)
        parts.append(_UPDATE_EVENT + wire.LENGTHS[len(body)] + body)
    if state.decision is not None:
        parts.append(wire.delimited(_UPDATE_DECISION, write_decision(state.decision, options)))
    parts += [wire.delimited(_UPDATE_DEADLINE, _DEADLINE.write(deadline)) for deadline in state.deadlines]
    parts += [wire.delimited(_UPDATE_HASH, state_hash), _UPDATE_HASH_VERSION[hash_version]]
    if state.ended:
        parts.append(_UPDATE_OVER)
    return b"".join(parts)
