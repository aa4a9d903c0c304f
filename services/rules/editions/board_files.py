"""Reading the cells and cards of a board from their CSV files, with every fault by line and column."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import get_args

from services.rules.domain.board import CELL_COUNT, DEED_KINDS, Card, Cell, CellKind, Effect, Names
from services.rules.editions.problems import Problem

LANGUAGES = ("en", "uk", "ru")
RENT_COLUMNS = tuple(f"rent{level}" for level in range(6))
CELL_COLUMNS = (
    *("index", "kind", "group", "key", "price", "build_cost"),
    *RENT_COLUMNS,
    *("amount", "name_en", "name_uk", "name_ru"),
)
CARD_COLUMNS = (
    *("deck", "order", "key", "effect", "amount", "amount2", "target"),
    *("text_en", "text_uk", "text_ru"),
)
KEY = re.compile(r"[a-z][a-z0-9_]*")

#: kind -> the columns that it fills beside index, kind, key and names
_FILLED: dict[str, frozenset[str]] = {
    "start": frozenset({"amount"}),
    "property": frozenset({"group", "price", "build_cost", *RENT_COLUMNS}),
    "transport": frozenset({"group", "price", "rent0"}),
    "utility": frozenset({"group", "price", "rent0"}),
    "tax": frozenset({"amount"}),
    "card": frozenset({"group"}),
}
#: kind -> the columns that it may fill besides
_OPTIONAL: dict[str, frozenset[str]] = {
    "transport": frozenset(RENT_COLUMNS),
    "utility": frozenset(RENT_COLUMNS),
}
#: effects with a fixed `target` note; `move_to` and `move_nearest` are checked against the board
_TARGET_NOTES = {
    "collect_each": "others",
    "pay_each": "others",
    "pay_per_building": "own_buildings",
    "random_trip": "random",
    "goto_jail": "jail",
    "destroy_building": "opponent_building",
}
_UNITS = frozenset({"gain", "pay", "collect_each", "pay_each", "pay_per_building"})


@dataclass(frozen=True, slots=True)
class BoardRows:
    """The cells or cards of one file, with the line of each."""

    file: str
    cells: tuple[Cell, ...]
    cards: tuple[Card, ...]
    lines: dict[str, int]


class _Row:
    """One line of a CSV file; faults go to `problems` and the value becomes a harmless stand-in."""

    def __init__(self, *, file: str, line: int, values: dict[str, str], problems: list[Problem]) -> None:
        self.file, self.line, self._values, self._problems = file, line, values, problems

    def fault(self, column: str, reason: str) -> None:
        """Report a fault of this line."""
        self._problems.append(Problem(self.file, self.line, column, reason))

    def text(self, column: str) -> str:
        """The raw value, empty where the column is."""
        return self._values[column]

    def whole(self, column: str, *, least: int, most: int = 1_000_000) -> int:
        """A whole number in range; 0 for an empty column."""
        text = self._values[column]
        if not text:
            return 0
        if not re.fullmatch(r"-?[0-9]+", text):
            self.fault(column, f"is no whole number: {text!r}")
            return 0
        number = int(text)
        if not least <= number <= most:
            self.fault(column, f"{number} is not within {least} to {most}")
        return number

    def texts(self, prefix: str) -> Names:
        """The three languages of a name or text; none may be empty."""
        for language in LANGUAGES:
            if not self.text(f"{prefix}_{language}"):
                self.fault(f"{prefix}_{language}", "is empty")
        en, uk, ru = (self.text(f"{prefix}_{language}") for language in LANGUAGES)
        return Names(en=en, uk=uk, ru=ru)

    def key(self) -> str:
        """The `key` column: a word of lower case letters, digits and underscores."""
        text = self.text("key")
        if not KEY.fullmatch(text):
            self.fault("key", f"is no key (a-z, 0-9, _): {text!r}")
        return text


def _rows(path: Path, columns: tuple[str, ...], problems: list[Problem]) -> Iterator[_Row]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problems.append(Problem(path.name, 1, "file", f"cannot be read: {error}"))
        return
    reader = csv.reader(text.splitlines())
    header = next(reader, [])
    if tuple(header) != columns:
        problems.append(Problem(path.name, 1, "file", f"the columns must be {','.join(columns)}"))
        return
    for values in reader:
        line = reader.line_num
        if len(values) != len(columns):
            problems.append(Problem(path.name, line, "file", f"{len(values)} columns instead of {len(columns)}"))
            continue
        yield _Row(file=path.name, line=line, values=dict(zip(columns, values, strict=True)), problems=problems)


def read_cells(path: Path, problems: list[Problem]) -> BoardRows:
    """The cells of `path`; faults are added to `problems`, and then the cells must not be used."""
    cells: list[Cell] = []
    lines: dict[str, int] = {}
    for row in _rows(path, CELL_COLUMNS, problems):
        cell = _read_cell(row, index=len(cells))
        if cell.key in lines:
            row.fault("key", f"{cell.key} stands on line {lines[cell.key]} already")
        lines.setdefault(cell.key, row.line)
        cells.append(cell)
    rows = BoardRows(file=path.name, cells=tuple(cells), cards=(), lines=lines)
    if cells:
        problems.extend(_board_problems(rows))
    return rows


def _read_cell(row: _Row, *, index: int) -> Cell:
    kind = row.text("kind")
    if row.text("index") != str(index):
        row.fault("index", f"must be {index}, is {row.text('index')!r}")
    if kind not in get_args(CellKind):
        row.fault("kind", f"unknown kind {kind!r}; one of {', '.join(get_args(CellKind))}")
    else:
        _check_filled(row, kind)
    rents = tuple(row.whole(column, least=1) for column in RENT_COLUMNS if row.text(column))
    if any(later < sooner for sooner, later in pairwise(rents)):
        row.fault("rent0", "rents must not fall")
    return Cell(
        index=index,
        kind=kind,  # type: ignore[arg-type]  # an unknown kind has been reported
        group=row.text("group"),
        key=row.key(),
        price=row.whole("price", least=1),
        build_cost=row.whole("build_cost", least=1),
        rents=rents,
        amount=row.whole("amount", least=1),
        names=row.texts("name"),
    )


def _check_filled(row: _Row, kind: str) -> None:
    filled = _FILLED.get(kind, frozenset())
    allowed = filled | _OPTIONAL.get(kind, frozenset())
    for column in ("group", "price", "build_cost", *RENT_COLUMNS, "amount"):
        if column in filled and not row.text(column):
            row.fault(column, f"is empty for kind {kind}")
        if column not in allowed and row.text(column):
            row.fault(column, f"must be empty for kind {kind}")


def _board_problems(rows: BoardRows) -> Iterator[Problem]:
    """Faults of the board as a whole: its size, its corners, its groups."""
    cells = rows.cells
    if len(cells) != CELL_COUNT:
        yield Problem(rows.file, len(cells) + 1, "file", f"{len(cells)} cells instead of {CELL_COUNT}")
    kinds = Counter(cell.kind for cell in cells)
    for kind in ("start", "jail"):
        if kinds[kind] != 1:
            yield Problem(rows.file, 1, "kind", f"{kinds[kind]} cells of kind {kind} instead of one")
    if cells[0].kind != "start":
        yield Problem(rows.file, rows.lines[cells[0].key], "kind", "cell 0 must be of kind start")
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.kind in DEED_KINDS:
            groups.setdefault(cell.group, []).append(cell)
    for members in groups.values():
        yield from _group_problems(rows, members)


def _group_problems(rows: BoardRows, members: list[Cell]) -> Iterator[Problem]:
    first = members[0]
    for cell in members:
        line = rows.lines[cell.key]
        if cell.kind != first.kind:
            yield Problem(rows.file, line, "group", f"{cell.group} mixes {first.kind} and {cell.kind}")
        elif cell.build_cost != first.build_cost:
            yield Problem(rows.file, line, "build_cost", f"differs within group {cell.group}")
        if cell.kind in ("transport", "utility") and len(cell.rents) != len(members):
            reason = f"{len(cell.rents)} rents for a group of {len(members)}"
            yield Problem(rows.file, line, "rent0", reason)
    if first.kind == "property" and len(members) < 2:
        yield Problem(rows.file, rows.lines[first.key], "group", f"{first.group} has one street only")


def read_cards(path: Path, cells: BoardRows, problems: list[Problem]) -> BoardRows:
    """The cards of `path`, checked against the board; faults are added to `problems`."""
    cards: list[Card] = []
    lines: dict[str, int] = {}
    last_order: dict[str, int] = {}
    for row in _rows(path, CARD_COLUMNS, problems):
        card = _read_card(row, cells)
        if card.key in lines:
            row.fault("key", f"{card.key} stands on line {lines[card.key]} already")
        if card.order <= last_order.get(card.deck, 0):
            row.fault("order", f"must rise within deck {card.deck}")
        last_order[card.deck] = card.order
        lines.setdefault(card.key, row.line)
        cards.append(card)
    return BoardRows(file=path.name, cells=(), cards=tuple(cards), lines=lines)


def _read_card(row: _Row, cells: BoardRows) -> Card:
    effect = row.text("effect")
    if not KEY.fullmatch(row.text("deck")):
        row.fault("deck", f"is no key (a-z, 0-9, _): {row.text('deck')!r}")
    if effect not in get_args(Effect):
        row.fault("effect", f"unknown effect {effect!r}; one of {', '.join(get_args(Effect))}")
    else:
        _check_card_amounts(row, effect)
        _check_target(row, effect, cells)
    return Card(
        key=row.key(),
        deck=row.text("deck"),
        order=row.whole("order", least=1, most=99),
        effect=effect,  # type: ignore[arg-type]  # an unknown effect has been reported
        amount=row.whole("amount", least=1 - CELL_COUNT),
        amount2=row.whole("amount2", least=1) if row.text("amount2") else None,
        target=row.text("target"),
        texts=row.texts("text"),
    )


def _check_card_amounts(row: _Row, effect: str) -> None:
    amount = row.whole("amount", least=1 - CELL_COUNT)
    if effect in _UNITS and amount < 1:
        row.fault("amount", f"{effect} needs an amount of at least 1")
    if effect == "move_by" and (amount == 0 or abs(amount) >= CELL_COUNT):
        row.fault("amount", f"move_by needs 1 to {CELL_COUNT - 1} cells, ahead or back")
    if effect in ("release_card", "destroy_building") and amount != 1:
        row.fault("amount", f"{effect} needs the amount 1")
    if effect == "move_nearest" and row.text("amount") and amount < 1:
        row.fault("amount", "a multiple of the rent is at least 1")
    if effect in ("move_to", "random_trip", "goto_jail") and row.text("amount"):
        row.fault("amount", f"must be empty for {effect}")
    if effect != "pay_per_building" and row.text("amount2"):
        row.fault("amount2", f"must be empty for {effect}")


def _check_target(row: _Row, effect: str, cells: BoardRows) -> None:
    target = row.text("target")
    if effect == "move_to":
        if target not in cells.lines:
            row.fault("target", f"no cell of {cells.file} has the key {target!r}")
    elif effect == "move_nearest":
        if target not in {cell.kind for cell in cells.cells}:
            row.fault("target", f"no cell of {cells.file} is of kind {target!r}")
    elif target != _TARGET_NOTES.get(effect, ""):
        row.fault("target", f"must be {_TARGET_NOTES.get(effect, '')!r} for {effect}, is {target!r}")
