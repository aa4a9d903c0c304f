"""The kept games: where they are, how they are written, and what a set of them has to show.

A file `<edition>/v<version>-<number>.log.gz` is a compressed `magnate.rules.v1.ReplayRequest` with the whole log of one
game. Its updates hold commands, play times and events alone; what else stands in an update follows from them.
"""

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

from magnate.game.v1 import update_pb2
from magnate.rules.v1 import rules_service_pb2 as rules_pb

from services.rules.codec import messages
from services.rules.domain import events as e
from services.rules.domain.board import Card
from services.rules.domain.edition import Edition
from services.rules.domain.replay import Entry
from services.rules.domain.state import EndReason

ROOT = Path(__file__).parent
#: kept games of each edition
GAMES = 12

#: a way in which a game can end, the effect of a card, or a card
Sight = tuple[str, str]


def log_files(edition_id: str) -> list[Path]:
    """The kept games of an edition, in order."""
    return sorted((ROOT / edition_id).glob("*.log.gz"))


def read_log_file(path: Path) -> list[rules_pb.LogEntry]:
    """The entries of a kept game."""
    return list(rules_pb.ReplayRequest.FromString(gzip.decompress(path.read_bytes())).entries)


def write_log_file(path: Path, entries: Iterable[Entry]) -> None:
    """Keeps a game; the same game gives the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    request = rules_pb.ReplayRequest(entries=_messages(entries))
    path.write_bytes(gzip.compress(request.SerializeToString(deterministic=True), mtime=0))


def _messages(entries: Iterable[Entry]) -> list[rules_pb.LogEntry]:
    logged: list[rules_pb.LogEntry] = []
    seq = 1
    for entry in entries:
        events = [event for event in entry.events if event is not None]
        update = update_pb2.Update(first_seq=seq, last_seq=seq + len(events) - 1, play_time_ms=entry.play_time_ms)
        if entry.command is not None:
            update.command.ParseFromString(messages.write_command(entry.command, ""))
        for event in events:
            update.events.add().ParseFromString(messages.write_event(seq, event))
            seq += 1
        logged.append(rules_pb.LogEntry(update=update))
    return logged


def possible_sights(edition: Edition) -> set[Sight]:
    """What a set of games of an edition has to show: every way to end, every card, every effect of a card."""
    sights: set[Sight] = {("end", end) for end in possible_ends(edition)}
    for deck, cards in edition.decks.items():
        for card in cards:
            sights |= {("effect", card.effect), ("card", f"{deck}/{card.key}")}
    return sights


def possible_ends(edition: Edition) -> set[EndReason]:
    """The ways in which its parameters let a game end (IND-WIN-01 to -05, MET-WIN-02, BRA-WIN-02, TAB-WIN-02, -05)."""
    ends: set[EndReason] = {"last_left"}
    if {"solo", "mixed"} & set(edition.seating):
        ends.add("last_person_out")
    if edition.round_limit is not None:
        ends.add("rounds")
    if edition.bankruptcy_limit is not None:
        ends.add("bankruptcies")
    if edition.time_limit_min is not None:
        ends.add("time")
    return ends


def sights_of(edition: Edition, entries: Sequence[Entry]) -> set[Sight]:
    """What one game shows."""
    seen: set[Sight] = set()
    for entry in entries:
        for event in entry.events:
            if isinstance(event, e.GameEnded):
                seen.add(("end", event.reason))
            elif isinstance(event, e.CardDrawn) and not event.skipped:
                card = _card(edition, event)
                seen |= {("effect", card.effect), ("card", f"{event.deck}/{card.key}")}
    return seen


def _card(edition: Edition, drawn: e.CardDrawn) -> Card:
    return edition.decks[drawn.deck][drawn.card]
