"""The journal: events as lines for people, from one template for each type of event and each reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from magnate.game.v1 import command_pb2, event_pb2

from services.site.terminal.names import Names

#: the field whose value chooses among the templates of an event's type
_CHOOSERS = ("reason", "purpose", "cause", "how", "outcome", "kind")
_FLAGS = ("extra", "skipped", "settles", "claimed", "yes")
_SEAT_FIELDS = frozenset({"seat", "from_seat", "to_seat", "winner", "visitor"})
_PARTY_FIELDS = frozenset({"payer", "payee", "from_party", "to_party", "seller", "toward"})
_CELL_FIELDS = frozenset({"cell", "from_cell", "to_cell"})
_EMPTY_AT_ZERO = frozenset({"third", "place", "opening"})

Body = Any
Namer = Callable[[Names, Body, str], str]


def enum_word(field: FieldDescriptor, value: int) -> str:
    """The value of an enum as a lower-case word without its prefix."""
    enum = field.enum_type
    if enum is None or value not in enum.values_by_number:
        return ""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return str(enum.values_by_number[value].name.removeprefix(prefix).lower())


def template_key(kind: str, body: Body) -> str:
    """The key of an event's template: its type, and what chooses among several."""
    fields = body.DESCRIPTOR.fields_by_name
    for flag in _FLAGS:
        if flag in fields and getattr(body, flag):
            return f"{kind}.{flag}"
    for name in _CHOOSERS:
        if name in fields and fields[name].enum_type is not None:
            return f"{kind}.{enum_word(fields[name], getattr(body, name))}"
    return kind


class Journal:
    """Tells the events of one table in one language."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def line(self, event: event_pb2.Event) -> str:
        """The line of an event; empty for one that has nothing to tell, or that is withheld."""
        kind = event.WhichOneof("body")
        if kind is None:
            return ""
        body = getattr(event, kind)
        texts = self._names.texts
        key = template_key(kind, body)
        template = texts.find("journal", key)
        if template is None:
            key, template = kind, texts.find("journal", kind)
        if not template:
            return ""
        return texts.say("journal", key, **self._fields(kind, body))

    def _fields(self, kind: str, body: Body) -> dict[str, object]:
        names = self._names
        fields: dict[str, object] = {"jail": names.jail}
        for field in body.DESCRIPTOR.fields:
            name = field.name
            if field.has_presence and not body.HasField(name):
                fields[name] = ""
                continue
            value = getattr(body, name)
            if field.enum_type is not None:
                fields[name] = _enum_text(names, field, value)
            else:
                fields[name] = _text(names, name, value)
        fields.update(_extras(names, kind, body))
        return fields


def _text(names: Names, name: str, value: Any) -> object:
    if name in _SEAT_FIELDS:
        return names.seat(value)
    if name in _PARTY_FIELDS:
        return names.party(value)
    if name in _CELL_FIELDS:
        return names.cell(value)
    if name == "dice":
        return " + ".join(str(die) for die in value)
    if name == "numbers":
        return ", ".join(str(number) for number in value)
    if name == "cells":
        return ", ".join(names.cell(cell) for cell in value)
    if isinstance(value, command_pb2.Basket):
        return names.basket(value.cash, value.cells, value.release_cards)
    return "" if name in _EMPTY_AT_ZERO and not value else value


def _enum_text(names: Names, field: FieldDescriptor, value: int) -> str:
    word = enum_word(field, value)
    if field.enum_type is not None and field.enum_type.name == "MoneyReason" and word:
        return names.texts.say("reasons", word)
    if field.enum_type is not None and field.enum_type.name == "MoveOption" and word:
        return names.texts.say("menu", f"move_{word}")
    return word


def _extras(names: Names, kind: str, body: Body) -> dict[str, object]:
    """Fields that a template may want beside those of the message."""
    if kind == "game_started":
        return {"count": len(body.seats)}
    if kind == "card_drawn":
        return {"card": names.card(body.deck, body.card)}
    if kind == "game_ended":
        firsts = [place.seat for place in body.places if place.place == 1]
        return {"winner": ", ".join(names.seat(seat) for seat in firsts)}
    if kind == "payment_due":
        return {"amount": sum(claim.amount for claim in body.claims)}
    return {}
