"""Everybody's cash, property and cell in one line for each round, counted from the public events alone."""

from __future__ import annotations

from collections import Counter

from magnate.game.v1 import event_pb2

from services.site.terminal.names import Names


class Scores:
    """Follows the events of a game from the first one on."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._cash: Counter[int] = Counter()
        self._deeds: dict[int, int] = {}
        self._levels: Counter[int] = Counter()
        self._out: set[int] = set()
        self._seats = 0
        self._round = 0

    def note(self, event: event_pb2.Event) -> str:
        """Takes an event in; the line of the standings when a round begins, else nothing."""
        kind = event.WhichOneof("body")
        if kind == "game_started":
            self._seats = len(event.game_started.seats)
        elif kind == "money_moved":
            self._cash[event.money_moved.payer] -= event.money_moved.amount
            self._cash[event.money_moved.payee] += event.money_moved.amount
        elif kind == "deed_moved":
            self._deeds[event.deed_moved.cell] = event.deed_moved.to_party
        elif kind == "deed_dealt":
            self._deeds[event.deed_dealt.cell] = event.deed_dealt.seat
        elif kind == "building_built":
            self._levels[event.building_built.cell] = event.building_built.level
        elif kind == "buildings_sold":
            self._levels[event.buildings_sold.cell] = event.buildings_sold.to_level
        elif kind == "building_destroyed":
            self._levels[event.building_destroyed.cell] = event.building_destroyed.level
        elif kind == "seat_out":
            self._out.add(event.seat_out.seat)
        elif kind == "turn_started" and event.turn_started.round > self._round:
            self._round = event.turn_started.round
            return self.line()
        return ""

    def line(self) -> str:
        """The standings: for each seat its cash, and its deeds + levels built."""
        texts = self._names.texts
        parts = [texts.say("words", "round", round=self._round)]
        for seat in range(self._seats):
            name = self._names.seat(seat)
            if seat in self._out:
                parts.append(f"{name}: {texts.say('words', 'out')}")
                continue
            deeds = [cell for cell, owner in self._deeds.items() if owner == seat]
            levels = sum(self._levels[cell] for cell in deeds)
            parts.append(f"{name}: {self._cash[seat]} ({len(deeds)}{f'+{levels}' if levels else ''})")
        return f"─── {' │ '.join(parts)}"
