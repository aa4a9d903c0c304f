"""The board and the cards of an edition, laid out for fast reading by cell index.

A board is a ring of 40 cells, numbered 0..39. Every per-cell attribute of `Board` is a tuple with one entry for each
cell, so that the rules read a fact by one index operation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

CELL_COUNT = 40

Language = Literal["en", "uk", "ru"]

CellKind = Literal["start", "property", "transport", "utility", "tax", "card", "jail", "goto_jail", "free", "casino"]

Effect = Literal[
    "gain",
    "pay",
    "collect_each",
    "pay_each",
    "pay_per_building",
    "move_to",
    "move_nearest",
    "move_by",
    "random_trip",
    "goto_jail",
    "release_card",
    "destroy_building",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """One text in the three languages of the project."""

    en: str
    uk: str
    ru: str

    def in_language(self, language: Language) -> str:
        """The text in `language`."""
        if language == "uk":
            return self.uk
        return self.ru if language == "ru" else self.en


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group of deeds: the streets of one colour, the transports, or the utilities."""

    key: str
    #: `#rrggbb`
    colour: str
    names: Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One card. Its index in the edition's deck is its id there; the decks stand in file order, unshuffled.

    `amount` is units, cells (`move_by`), a multiple of the rent (`move_nearest`, 0: ordinary rent) or a count;
    `amount2` is units for each hotel (`pay_per_building`; None: `amount` holds for every level);
    `target` is a cell's key (`move_to`), a cell kind (`move_nearest`), else a note for people or empty.
    """

    key: str
    #: the deck that the card is played from (a deck made of several file decks has one name)
    deck: str
    #: position in its deck of the file, from 1
    order: int
    effect: Effect
    amount: int
    amount2: int | None
    target: str
    texts: Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """The 40 cells. Tuples are indexed by cell; amounts are whole units, 0 where a cell has none."""

    #: name of the board's data, e.g. `industry`
    name: str
    kind: tuple[CellKind, ...]
    #: key of the deed's group, empty for cells that nobody can own
    group: tuple[str, ...]
    #: unique key of the cell
    key: tuple[str, ...]
    names: tuple[Names, ...]
    price: tuple[int, ...]
    #: half the price, exact: the loader refuses odd prices where a rule needs the half
    half_price: tuple[int, ...]
    #: price of every level, the hotel's too
    build_cost: tuple[int, ...]
    #: street: rent at level 0..5; transport: rent with 1, 2, .. owned; utility: dice multiplier with 1, 2 owned
    rents: tuple[tuple[int, ...], ...]
    #: tax, or the salary on the start cell
    amount: tuple[int, ...]
    #: deck of a card cell, else empty
    deck_of: tuple[str, ...]
    is_deed: tuple[bool, ...]
    is_street: tuple[bool, ...]
    #: cells that can be owned, ascending
    deeds: tuple[int, ...]
    #: deeds of kind property, ascending
    streets: tuple[int, ...]
    transports: tuple[int, ...]
    utilities: tuple[int, ...]
    start_cell: int
    jail_cell: int
    cell_of_key: Mapping[str, int]
    #: group key -> its cells, ascending
    group_cells: Mapping[str, tuple[int, ...]]
    #: the groups of streets in board order, each with its cells ascending
    street_groups: tuple[tuple[int, ...], ...]
    #: cell -> all cells of its group (itself included), empty for cells that nobody can own
    group_of_cell: tuple[tuple[int, ...], ...]
    #: group key -> colour and names, in board order
    groups: Mapping[str, Group]

    def __hash__(self) -> int:
        return hash((self.name, self.price))

    def has_street(self, cell: int) -> bool:
        """Whether this is the number of a street."""
        return 0 <= cell < CELL_COUNT and self.is_street[cell]

    def has_deed(self, cell: int) -> bool:
        """Whether this is the number of a cell that can be owned."""
        return 0 <= cell < CELL_COUNT and self.is_deed[cell]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell as the data file has it; `build_board` turns 40 of them into a `Board`."""

    index: int
    kind: CellKind
    #: group of a deed, deck of a card cell, else empty
    group: str
    key: str
    price: int
    build_cost: int
    rents: tuple[int, ...]
    amount: int
    names: Names


DEED_KINDS: frozenset[CellKind] = frozenset({"property", "transport", "utility"})


def build_board(*, name: str, cells: tuple[Cell, ...], groups: tuple[Group, ...]) -> Board:
    """Index 40 cells, given in order of their index; the caller has checked that they are coherent."""
    group_cells: dict[str, tuple[int, ...]] = {}
    for cell in cells:
        if cell.kind in DEED_KINDS:
            group_cells[cell.group] = (*group_cells.get(cell.group, ()), cell.index)
    by_key = {group.key: group for group in groups}

    def of_kind(kind: CellKind) -> tuple[int, ...]:
        return tuple(cell.index for cell in cells if cell.kind == kind)

    return Board(
        name=name,
        kind=tuple(cell.kind for cell in cells),
        group=tuple(cell.group if cell.kind in DEED_KINDS else "" for cell in cells),
        key=tuple(cell.key for cell in cells),
        names=tuple(cell.names for cell in cells),
        price=tuple(cell.price for cell in cells),
        half_price=tuple(cell.price // 2 for cell in cells),
        build_cost=tuple(cell.build_cost for cell in cells),
        rents=tuple(cell.rents for cell in cells),
        amount=tuple(cell.amount for cell in cells),
        deck_of=tuple(cell.group if cell.kind == "card" else "" for cell in cells),
        is_deed=tuple(cell.kind in DEED_KINDS for cell in cells),
        is_street=tuple(cell.kind == "property" for cell in cells),
        deeds=tuple(cell.index for cell in cells if cell.kind in DEED_KINDS),
        streets=of_kind("property"),
        transports=of_kind("transport"),
        utilities=of_kind("utility"),
        start_cell=of_kind("start")[0],
        jail_cell=of_kind("jail")[0],
        cell_of_key={cell.key: cell.index for cell in cells},
        street_groups=tuple(found for found in group_cells.values() if cells[found[0]].kind == "property"),
        group_cells=group_cells,
        group_of_cell=tuple(group_cells[cell.group] if cell.kind in DEED_KINDS else () for cell in cells),
        groups={key: by_key[key] for key in group_cells},
    )
