"""Editions as messages, for clients that show boards, cards and parameters."""

import json
from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from magnate.game.v1 import edition_pb2

from services.rules.codec.twins import enum_numbers
from services.rules.domain.board import Board, Card, Names
from services.rules.domain.edition import Edition

_CELL_KINDS = enum_numbers(edition_pb2.CellKind.DESCRIPTOR)
#: what an edition holds that is no parameter, or stands in fields of its own
_BESIDE = ("id", "version", "names", "by_seating", "board", "decks", "statements")


def summary_message(edition: Edition) -> edition_pb2.Edition:
    """An edition without cells, cards, groups and parameters."""
    return edition_pb2.Edition(
        edition=edition.id,
        version=edition.version,
        name=_text(edition.names),
        seats_least=edition.seats.least,
        seats_most=edition.seats.most,
    )


def edition_message(edition: Edition) -> edition_pb2.Edition:
    """An edition in full."""
    message = summary_message(edition)
    board = edition.board
    message.cells.extend(_cell(board, index) for index in range(len(board.kind)))
    for deck, cards in edition.decks.items():
        message.cards.extend(_card(deck, number, card) for number, card in enumerate(cards))
    message.groups.extend(
        edition_pb2.Group(key=key, colour=group.colour, name=_text(group.names), cells=board.group_cells[key])
        for key, group in board.groups.items()
    )
    message.parameters.extend(
        edition_pb2.Parameter(name=name, value=json.dumps(_plain(value), ensure_ascii=False, sort_keys=True))
        for name, value in _parameters(edition)
    )
    return message


def _parameters(edition: Edition) -> Iterator[tuple[str, Any]]:
    yield "board", edition.board.name
    yield "decks", tuple(edition.decks)
    for item in fields(edition):
        if item.name not in _BESIDE:
            yield item.name, getattr(edition, item.name)
    for special in edition.by_seating:
        yield f"at.{special.seating}.{special.parameter}", special.value


def _plain(value: Any) -> Any:
    """A parameter's value as JSON knows it: None is null, a record is an object, a set a sorted list."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    return value


def _text(names: Names) -> edition_pb2.Text:
    return edition_pb2.Text(en=names.en, uk=names.uk, ru=names.ru)


def _cell(board: Board, index: int) -> edition_pb2.Cell:
    return edition_pb2.Cell(
        index=index,
        kind=_CELL_KINDS[board.kind[index]],  # type: ignore[arg-type]
        group=board.group[index] or board.deck_of[index],
        key=board.key[index],
        price=board.price[index],
        build_cost=board.build_cost[index],
        rents=board.rents[index],
        amount=board.amount[index],
        name=_text(board.names[index]),
    )


def _card(deck: str, number: int, card: Card) -> edition_pb2.Card:
    return edition_pb2.Card(
        deck=deck,
        card=number,
        key=card.key,
        effect=card.effect,
        amount=card.amount,
        amount2=card.amount2,
        target=card.target,
        text=_text(card.texts),
    )
