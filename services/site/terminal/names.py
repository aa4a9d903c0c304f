"""What things are called: cells, cards and groups as the edition names them, seats as their holders do."""

from __future__ import annotations

from collections.abc import Iterable

from magnate.game.v1 import edition_pb2
from magnate.table.v1 import table_pb2

from services.site.terminal.texts import Texts

BANK = -1
JACKPOT = -2


class Names:
    """Names in one language for one table."""

    def __init__(self, texts: Texts, edition: edition_pb2.Edition, seats: Iterable[table_pb2.Seat] = ()) -> None:
        self.texts = texts
        self.edition = edition
        self._groups = {group.key: group for group in edition.groups}
        self._cards = {(card.deck, card.card): card for card in edition.cards}
        self._card_keys = {f"{card.deck}/{card.key}": card for card in edition.cards}
        self._jail = next((cell.index for cell in edition.cells if cell.kind == edition_pb2.CELL_KIND_JAIL), 0)
        self._seats: list[str] = []
        self.seat_all(seats)

    def seat_all(self, seats: Iterable[table_pb2.Seat]) -> None:
        """Takes the names of the seats as they are now; equal names get their number."""
        given = [seat.name or f"#{number + 1}" for number, seat in enumerate(seats)]
        self._seats = [name if given.count(name) == 1 else f"{name} #{number + 1}" for number, name in enumerate(given)]

    @property
    def edition_name(self) -> str:
        """The edition."""
        return self.text(self.edition.name)

    def text(self, text: edition_pb2.Text) -> str:
        """A text of the edition in this language."""
        return str(getattr(text, self.texts.language)) or text.en

    def seat(self, number: int) -> str:
        """A seat."""
        return self._seats[number] if 0 <= number < len(self._seats) else f"#{number + 1}"

    def party(self, number: int) -> str:
        """A seat, the bank or the jackpot."""
        if number == BANK:
            return self.texts.say("words", "bank")
        return self.texts.say("words", "jackpot") if number == JACKPOT else self.seat(number)

    def bare_cell(self, index: int) -> str:
        """A cell without quotation marks."""
        return self.text(self.edition.cells[index].name) if index < len(self.edition.cells) else str(index)

    def cell(self, index: int) -> str:
        """A cell."""
        return f"«{self.bare_cell(index)}»"

    @property
    def jail(self) -> str:
        """The cell that holds the jailed."""
        return self.cell(self._jail)

    def card(self, deck: str, number: int) -> str:
        """The text of a card by its number in a deck."""
        card = self._cards.get((deck, number))
        return self.text(card.text) if card is not None else f"{deck} {number}"

    def card_of_key(self, key: str) -> str:
        """The text of a card by deck/key."""
        card = self._card_keys.get(key)
        return self.text(card.text) if card is not None else key

    def colour(self, index: int) -> str:
        """The colour of a cell's group as #rrggbb, empty for a cell without one."""
        group = self._groups.get(self.edition.cells[index].group)
        return group.colour if group is not None else ""

    def basket(self, cash: int, cells: Iterable[int], cards: Iterable[str] = ()) -> str:
        """What one side of a deal gives."""
        parts = [str(cash)] if cash else []
        parts += [self.cell(cell) for cell in cells]
        parts += list(cards)
        return ", ".join(parts) or self.texts.say("words", "nothing")
