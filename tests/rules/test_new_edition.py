"""A new edition, or a new version of one, is a data file: nothing else is added, and running games do not notice."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from services.rules.domain.commands import Command, Expire
from services.rules.domain.decide import advance
from services.rules.domain.digest import state_hash
from services.rules.domain.edition import Edition
from services.rules.domain.events import AuctionOpened, Event
from services.rules.domain.evolve import fold
from services.rules.domain.invariants import broken
from services.rules.domain.legal import legal_actions
from services.rules.domain.new_game import Setup, begin
from services.rules.domain.refusals import Refusal
from services.rules.domain.replay import Entry, replay
from services.rules.domain.state import Seating, SeatSetup, State
from services.rules.editions.loader import EDITIONS, Catalogue, load_catalogue
from tests.rules.edition_files import copy, write
from tests.support.play import random_command

#: variants from all families on the board with the casino: the third die from the first round, houses that run out and
#: are claimed, hotels after three houses, estates under the hammer, mortgages that lapse, rent that must be claimed
THIRTEENTH = """
id = "fair"
version = 1
base = "brands.toml"

[names]
en = "Fair"
uk = "Ярмарок"
ru = "Ярмарка"

[parameters]
seating = ["mixed", "bots"]
seats = { least = 2, most = 5 }
start_cash = 9000
first_player = "high_roll"
deal_deeds = 3
deal_price = 50
manage_after = "last_roll"
third_die_from_round = 1
triple_extra_roll = true
salary_end_minute = "never"
decliner_bids = true
opening_bid = { percent = 75 }
bid_rule = "exact"
own_auction = "mortgaged"
own_auction_opening = { percent = 60 }
own_auction_in = ["manage", "payment"]
rent_tax_clock = "round"
rent_tax_start = 5
rent_tax_curve = { shape = "line", points = [[0, 10], [20, 80]] }
rent_tax_on = ["rent", "cards"]
build_in = ["roll", "manage", "gap"]
build_limit = "none"
houses_under_hotel = 3
supply = { houses = 10, hotels = 3 }
supply_short = "claim_auction"
building_refund = 50
sale_unit = "hotel_group"
raise_in = "any"
mortgage = "street"
mortgage_transfer_fee = 10
trade_balance = { percent = 25 }
trade_mortgaged = "yes"
trade_cards = true
payment_confirm = "none"
payment_s = { seconds = 40, covered = "own" }
settlement = true
insolvent_at_once = "never"
estate_to_player = { usual = "transfer", last = "as_is" }
estate_to_bank = { usual = "auction", last = "none" }
bankruptcy_limit = 3
round_limit = 60
turn_clock = "per_decision"
rated = "never"
xp = "none"
auction_style = "open_cry_paid"
rent_claim = "on_demand"
overrides = { start_cash = { least = 1000, most = 90000, step = 1000 } }
"""
#: what the listing of a free deal cannot tell: prices, and what each side has left for fees
BEYOND_THE_LISTING = {"unbalanced", "not_enough_cash"}
ENDS = ("surrender", "declare_bankruptcy")
COMMANDS = 800


@dataclass(slots=True)
class Game:
    """A game of random commands, with the clock running out now and then."""

    edition: Edition
    seed: int
    state: State = field(init=False)
    entries: list[Entry] = field(init=False)
    rng: Random = field(init=False)
    now_ms: int = 0

    def __post_init__(self) -> None:
        self.rng = Random(self.seed)
        seats = tuple(SeatSetup("bot" if seat == 3 else "person", seat) for seat in range(4))
        begun = begin(self.edition, Setup("mixed", seats, self.rng.randbytes(32)), 0)
        self.state = begun.state
        self.entries = [Entry(None, 0, begun.events)]

    def play(self, count: int) -> Iterator[tuple[Command, State, tuple[Event, ...]]]:
        """Up to `count` accepted commands, with the state before and the events of each."""
        done = 0
        while done < count and not self.state.ended:
            command, before = self._command(), self.state
            result = advance(self.edition, before, command, self.now_ms)
            if isinstance(result, Refusal):
                assert result.reason in BEYOND_THE_LISTING, (self.seed, command, result)
                continue
            self.state = result.state
            self.entries.append(Entry(command, self.now_ms, result.events))
            done += 1
            yield command, before, result.events

    def _command(self) -> Command:
        """Any listed command but leaving, which would soon end every game; or time is up."""
        options = [option for option in legal_actions(self.edition, self.state, self.now_ms) if option.kind not in ENDS]
        if self.state.deadlines and (not options or self.rng.random() < 0.02):
            deadline = min(self.state.deadlines, key=lambda one: one.due_at_ms)
            self.now_ms = max(self.now_ms, deadline.due_at_ms)
            return Command(-1, 0, Expire(deadline.id))
        left_ms = [deadline.due_at_ms - self.now_ms for deadline in self.state.deadlines]
        self.now_ms += self.rng.randrange(max(1, min([4_000, *left_ms])))
        return random_command(self.rng, self.state, options, self.edition)


@pytest.fixture(scope="module")
def fair(tmp_path_factory: pytest.TempPathFactory) -> Catalogue:
    """The program's editions with one more, made of one file."""
    folder = tmp_path_factory.mktemp("editions")
    copy(folder, *sorted(path.name for path in EDITIONS.glob("*.toml")))
    write(folder, name="fair.toml", text=THIRTEENTH)
    return load_catalogue(folder)


def test_one_file_makes_a_thirteenth_edition(fair: Catalogue) -> None:
    assert len(fair.newest()) == len(load_catalogue().newest()) + 1 == 13
    edition = fair.get("fair").at("mixed")
    assert (edition.supply_short, edition.third_die_from_round, edition.jail_fine) == ("claim_auction", 1, 500)
    assert edition.at("mixed").board.kind[20] == "casino"


@pytest.mark.parametrize("seed", range(6))
def test_the_thirteenth_edition_is_played_by_the_same_code(fair: Catalogue, seed: int) -> None:
    """Some hundred commands: nothing breaks, folding and replaying give the same game."""
    game = Game(fair.get("fair").at("mixed"), seed)
    for command, before, events in game.play(COMMANDS):
        assert broken(game.edition, game.state) == [], (seed, command)
        assert fold(game.edition, before, events) == game.state, (seed, command)
        if game.state.decision is not None and game.state.decision.kind == "paused":
            assert {deadline.kind for deadline in game.state.deadlines} <= {"pause_max", "countdown"}
    result = replay(lambda name, version, seating: fair.get(name, version).at(seating), game.entries)
    assert (result.same, result.explanation) == (True, "every event came out the same")
    assert state_hash(result.state) == state_hash(game.state)


def test_the_thirteenth_edition_uses_what_it_combines(fair: Catalogue) -> None:
    """Over some games, its own mixture of variants is seen at work."""
    seen: set[str] = set()
    for seed in range(10):
        game = Game(fair.get("fair").at("mixed"), seed)
        seen |= {type(event).__name__ for event in game.entries[0].events}
        for _, before, events in game.play(COMMANDS):
            seen |= {type(event).__name__ for event in events}
            seen |= {event.kind for event in events if isinstance(event, AuctionOpened)}
            if before.decision is not None:
                seen.add(before.decision.kind)
    assert {"open_lot", "own", "manage", "gap", "teleport_choice", "bus_choice", "casino_bet", "paused"} <= seen
    assert {"DeedDealt", "RentClaimable", "DeedMortgaged", "TradeClosed"} <= seen


def test_a_game_keeps_the_version_that_it_began_with(tmp_path: Path) -> None:
    """The data changes while a game runs: it goes on, ends and replays by the old numbers; new games have the new."""
    copy(tmp_path, "metro.toml")
    old = load_catalogue(tmp_path)
    game = Game(old.get("metro").at("mixed"), 5)
    assert len(list(game.play(100))) == 100
    text = (tmp_path / "metro.toml").read_text(encoding="utf-8")
    for before, after in (("version = 1", "version = 2"), ("jail_fine = 500", "jail_fine = 700"), ("75", "60")):
        assert before in text
        text = text.replace(before, after)
    write(tmp_path, name="metro-2.toml", text=text)
    catalogue = load_catalogue(tmp_path)

    def find(name: str, version: int, seating: Seating) -> Edition:
        return catalogue.get(name, version).at(seating)

    game.edition = find("metro", game.state.config.version, "mixed")
    assert (game.edition.jail_fine, catalogue.get("metro").version, catalogue.get("metro").jail_fine) == (500, 2, 700)
    for _ in game.play(20_000):
        pass
    assert game.state.ended
    result = replay(find, game.entries)
    assert (result.same, result.state) == (True, game.state), result.explanation
    fresh = Game(catalogue.get("metro").at("mixed"), 5)
    assert (fresh.state.config.version, fresh.state.deadlines[0].budget_ms) == (2, 60_000)
    assert game.entries[0].events[0] != fresh.entries[0].events[0]
