"""Value classes and their messages: the codecs of a pair are made from the class's fields and the descriptor.

No field and no enum value is named twice. A field pairs with the attribute of its name (`id` with the first field,
`..._id`); a Literal's words are the names of the enum's values in lower case without their prefix; NONE stands for an
absent optional number. A class and a message that do not fit each other fail when this is imported.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from services.rules.codec import wire
from services.rules.domain.parties import NONE

# Descriptors' types say that a field may lack what fields of its kind always have.
Field = Any


class CodecError(Exception):
    """A message that says nothing the rules know: a wish without action, an enum value of a later version."""


class Twin:
    """The codecs of one pair: `write(value) -> bytes` of the message, `read(message) -> value`."""

    __slots__ = ("message", "read", "value", "write")

    def __init__(
        self, value: type, message: type[Message], write: Callable[[Any], bytes], read: Callable[[Any], Any]
    ) -> None:
        self.value = value
        self.message = message
        self.write = write
        self.read = read

    def to_message(self, value: Any) -> Any:
        """The message of a value, where bytes will not do."""
        return self.message.FromString(self.write(value))


def enum_numbers(enum: EnumDescriptor) -> dict[str, int]:
    """The numbers of an enum by the words that the domain uses."""
    prefix = re.sub(r"(?<!^)([A-Z])", r"_\1", enum.name).upper() + "_"
    return {value.name.removeprefix(prefix).lower(): value.number for value in enum.values if value.number}


def literal_numbers(hint: Any, enum: EnumDescriptor) -> dict[str, int]:
    """The numbers of a Literal's words; the empty word is 0. Raises TypeError if the words are not the enum's."""
    words, numbers = _words(hint), enum_numbers(enum)
    if words - {""} != set(numbers):
        raise TypeError(f"{enum.full_name}: {sorted((words - {''}) ^ set(numbers))} stand on one side only")
    return {"": 0, **numbers} if "" in words else numbers


def _words(hint: Any) -> set[str]:
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return {word for part in get_args(hint) for word in _words(part)}


class Twins:
    """All pairs, found by their class."""

    def __init__(self) -> None:
        self._by_class: dict[type, Twin] = {}

    def __getitem__(self, value: type) -> Twin:
        return self._by_class[value]

    def pair(
        self, value: type, message: type[Message], *, beside: Iterable[str] = (), none: Mapping[str, Any] | None = None
    ) -> Twin:
        """Makes the codecs of a pair whose inner pairs exist already.

        `beside` names fields of the message that the class has not got; `none` gives what stands for None where the
        message always has a value.
        """
        attributes = _attributes(value, message.DESCRIPTOR, set(beside))
        maker = _Maker(self, none or {})
        # In the order of the numbers, as protobuf itself writes them; read in the order of the class.
        writes = [maker.write(name, hint, field) for name, hint, field in sorted(attributes, key=_number)]
        reads = [maker.read(name, hint, field) for name, hint, field in attributes]
        maker.names["Value"] = value
        write = maker.function("write", "v", _joined(writes))
        read = maker.function("read", "m", f"Value({', '.join(reads)})")
        twin = self._by_class[value] = Twin(value, message, write, read)
        return twin

    def pairs(self, union: Any, owner: type[Message], oneof: str) -> dict[str, Twin]:
        """Makes the codecs of all classes of a union, by their name in a oneof that has exactly them."""
        fields_of_one: Any = owner.DESCRIPTOR.oneofs_by_name[oneof].fields
        by_message = {field.message_type.name: field for field in fields_of_one}
        by_class = {value.__name__: value for value in get_args(union)}
        if set(by_message) != set(by_class):
            raise TypeError(f"{owner.DESCRIPTOR.full_name}: {set(by_message) ^ set(by_class)} stand on one side only")
        return {
            field.name: self._by_class.get(by_class[name])
            or self.pair(by_class[name], GetMessageClass(field.message_type))
            for name, field in by_message.items()
        }


_Attribute = tuple[str, Any, Field]


def _number(attribute: _Attribute) -> int:
    return int(attribute[2].number)


def _attributes(value: type, descriptor: Any, beside: set[str]) -> list[_Attribute]:
    """The attributes of a class with their types and the fields that they pair with."""
    hints = get_type_hints(value)
    first = descriptor.fields[0].name if descriptor.fields else ""
    found = []
    for attribute in fields(value):
        name = first if attribute.name == "id" and first.endswith("_id") else attribute.name
        if name not in descriptor.fields_by_name:
            raise TypeError(f"{descriptor.full_name} has no field {name}")
        found.append((attribute.name, hints[attribute.name], descriptor.fields_by_name[name]))
    left = {field.name for field in descriptor.fields} - {field.name for _, _, field in found} - beside
    if left:
        raise TypeError(f"{value.__name__} has no attribute for {sorted(left)} of {descriptor.full_name}")
    return found


def _joined(parts: list[str]) -> str:
    if not parts:
        return "b''"
    return " + ".join(parts) if len(parts) < 4 else f"b''.join(({', '.join(parts)}))"


class _Maker:
    """Writes the expressions for the fields of one pair, and keeps what they refer to."""

    def __init__(self, twins: Twins, none: Mapping[str, Any]) -> None:
        self._twins = twins
        self._none = none
        self.names: dict[str, Any] = {"delimited": wire.delimited}

    def function(self, name: str, argument: str, expression: str) -> Callable[[Any], Any]:
        """The compiled function of an expression, which is made of names of the contracts and the classes alone."""
        exec(f"def {name}({argument}): return {expression}", self.names)
        return self.names[name]  # type: ignore[no-any-return]

    def _keep(self, thing: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = thing
        return name

    def write(self, name: str, hint: Any, field: Field) -> str:
        """Bytes of the field from the attribute of `v`."""
        source = f"v.{name}"
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            return self._write_message(name, hint, field)
        if field.is_repeated:
            if field.type == FieldDescriptor.TYPE_STRING:
                texts = self._keep(wire.Texts(field.number, explicit=True))
                return f"b''.join([{texts}[i] for i in {source}])"
            return f"{self._keep(wire.Packed(field.number, field.type))}[{source}]"
        if field.type == FieldDescriptor.TYPE_ENUM:
            table = wire.Numbers(field.number, field.type)
            words = literal_numbers(hint, field.enum_type)
            return f"{self._keep({word: table[number] for word, number in words.items()})}[{source}]"
        if field.type == FieldDescriptor.TYPE_BOOL:
            return f"{self._keep((b'', wire.tag(field.number, wire.VARINT) + wire.varint(1)))}[{source}]"
        if field.type == FieldDescriptor.TYPE_STRING:
            return f"{self._keep(wire.Texts(field.number))}[{source}]"
        if field.type == FieldDescriptor.TYPE_BYTES:
            start = self._keep(wire.tag(field.number, wire.LENGTH_DELIMITED))
            return f"({source} and delimited({start}, {source}))"
        absent = NONE if field.has_presence else 0
        return f"{self._keep(wire.Numbers(field.number, field.type, absent=absent))}[{source}]"

    def _write_message(self, name: str, hint: Any, field: Field) -> str:
        source = f"v.{name}"
        start = self._keep(wire.tag(field.number, wire.LENGTH_DELIMITED))
        if field.is_repeated:
            item = self._write_item(get_args(hint)[0], field)
            return f"b''.join([delimited({start}, {item}(i)) for i in {source}])"
        inner, optional = _without_none(hint)
        write = self._keep(self._twins[inner].write)
        if name in self._none:
            default = self._keep(self._none[name])
            return f"delimited({start}, {write}({source} or {default}))"
        written = f"delimited({start}, {write}({source}))"
        return f"(b'' if {source} is None else {written})" if optional else written

    def _write_item(self, hint: Any, field: Field) -> str:
        if get_origin(hint) is not tuple:
            return self._keep(self._twins[hint].write)
        # A pair of texts stands for a message of two text fields.
        first, second = (wire.Texts(inner.number) for inner in field.message_type.fields)
        return self._keep(lambda pair: first[pair[0]] + second[pair[1]])

    def read(self, name: str, hint: Any, field: Field) -> str:
        """The attribute's value from the field of `m`."""
        source = f"m.{field.name}"
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            return self._read_message(name, hint, field)
        if field.is_repeated:
            return f"tuple({source})"
        if field.type == FieldDescriptor.TYPE_ENUM:
            words = {number: word for word, number in literal_numbers(hint, field.enum_type).items()}
            return f"{self._keep(_Words(field, words))}[{source}]"
        if field.has_presence:
            return f"({source} if m.HasField({field.name!r}) else {NONE})"
        return source

    def _read_message(self, name: str, hint: Any, field: Field) -> str:
        source = f"m.{field.name}"
        if field.is_repeated:
            item = get_args(hint)[0]
            if get_origin(item) is tuple:
                first, second = (inner.name for inner in field.message_type.fields)
                return f"tuple([(i.{first}, i.{second}) for i in {source}])"
            return f"tuple([{self._keep(self._twins[item].read)}(i) for i in {source}])"
        inner, optional = _without_none(hint)
        read = self._keep(self._twins[inner].read)
        if name in self._none:
            return f"{self._keep(_none_for(self._none[name]))}({read}({source}))"
        return f"({read}({source}) if m.HasField({field.name!r}) else None)" if optional else f"{read}({source})"


def _without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (Union, UnionType):
        (inner,) = (part for part in get_args(hint) if part is not NoneType)
        return inner, True
    return hint, False


def _none_for(stands_for_none: Any) -> Callable[[Any], Any]:
    return lambda value: None if value == stands_for_none else value


class _Words(dict[int, str]):
    """The words of an enum by number."""

    def __init__(self, field: Field, words: Mapping[int, str]) -> None:
        super().__init__(words)
        self._field = field.full_name

    def __missing__(self, number: int) -> str:
        raise CodecError(f"{self._field} is {number}")
