"""The first events of a game (IND-SETUP-08 to -15)."""

from services.rules.domain import chance
from services.rules.domain.agenda import run
from services.rules.domain.edition import Edition
from services.rules.domain.events import (
    DeckShuffled,
    DeedDealt,
    DiceRolled,
    Event,
    FirstPlayerChosen,
    GameStarted,
    MoneyMoved,
    SeedDrawn,
    TurnStarted,
)
from services.rules.domain.parties import BANK
from services.rules.domain.play import Advance, Play
from services.rules.domain.state import Seating, SeatSetup, State
from services.rules.domain.values import value


@value
class Setup:
    """What a table brings to a new game. `server_seed` 16 to 32 bytes; `script` replaces the draws in tests."""

    seating: Seating
    seats: tuple[SeatSetup, ...]
    server_seed: bytes
    grace_ms: int = 0
    overrides: tuple[tuple[str, str], ...] = ()
    algorithm: str = chance.HMAC_SHA256
    script: tuple[int, ...] = ()


#: name under which the deeds are shuffled where they are dealt
DEEDS = "deeds"


class SetupError(ValueError):
    """The seats do not fit the edition."""


def new_game(edition: Edition, setup: Setup, play_time_ms: int) -> tuple[Event, ...]:
    """The events that begin a game: it then waits for the first roll. `edition` is flat. Raises SetupError."""
    return begin(edition, setup, play_time_ms).events


def begin(edition: Edition, setup: Setup, play_time_ms: int) -> Advance:
    """As new_game, with the state after the events."""
    _check(edition, setup)
    play = Play(edition, State(), play_time_ms)
    play.emit(
        GameStarted(
            edition=edition.id,
            version=edition.version,
            overrides=setup.overrides,
            seating=setup.seating,
            seats=setup.seats,
            seed_hash=chance.seed_hash(setup.server_seed),
            grace_ms=setup.grace_ms,
            started_at_ms=play_time_ms,
        )
    )
    play.emit(SeedDrawn(setup.algorithm, setup.server_seed, setup.script))
    if edition.first_player == "high_roll":
        _shuffle(play)
        _choose_first(play)
    else:
        _choose_first(play)
        _shuffle(play)
    for seat in range(len(setup.seats)):
        play.emit(MoneyMoved(BANK, seat, edition.start_cash, "start_cash"))
    if edition.deal_deeds:
        _deal(play)
    play.emit(TurnStarted(play.state.first_seat, 1, False))
    run(play)
    return Advance(tuple(play.events), play.state)


def _check(edition: Edition, setup: Setup) -> None:
    count = len(setup.seats)
    if not edition.seats.least <= count <= edition.seats.most:
        raise SetupError(f"{edition.id} is played by {edition.seats.least} to {edition.seats.most} seats, not {count}")
    if edition.seating != (setup.seating,):
        raise SetupError(f"the edition was not made flat for {setup.seating} tables")
    kinds = [seat.kind for seat in setup.seats]
    people = kinds.count("person")
    fits = {
        "people": people == count,
        "solo": kinds[0] == "person" and people == 1,
        "bots": people == 0,
        "mixed": True,
    }
    if not fits[setup.seating]:
        raise SetupError(f"these seats are not those of a {setup.seating} table")


def _choose_first(play: Play) -> None:
    """Drawn, the person against bots, or the highest roll (IND-SETUP-09, -13, MET-SETUP-10, -11, TAB-SETUP-07)."""
    state = play.state
    rule = play.edition.first_player
    if rule == "person":
        kinds = [seat.kind for seat in state.config.seats]
        play.emit(FirstPlayerChosen(kinds.index("person"), 0))
    elif rule == "high_roll":
        play.emit(FirstPlayerChosen(_highest_roller(play), 0))
    else:
        seat = chance.draw(state.config, state.draws, len(state.in_play))
        play.emit(FirstPlayerChosen(seat, 1))


def _highest_roller(play: Play) -> int:
    """Everybody rolls; tied highest ones roll again among themselves (TAB-SETUP-07)."""
    state = play.state
    rollers = list(range(len(state.in_play)))
    while len(rollers) > 1:
        sums = {}
        for seat in rollers:
            dice = chance.two_dice(state.config, state.draws)
            play.emit(DiceRolled(seat, "first_player", dice))
            sums[seat] = sum(dice)
        best = max(sums.values())
        rollers = [seat for seat in rollers if sums[seat] == best]
    return rollers[0]


def _shuffle(play: Play) -> None:
    """Each deck once, in the order in which the edition names them (IND-CARD-03, IND-SETUP-15)."""
    state = play.state
    if play.edition.deck_cycle == "file_order":
        return
    for deck, cards in play.edition.decks.items():
        order = chance.shuffled(state.config, state.draws, len(cards))
        play.emit(DeckShuffled(deck, order, len(cards) - 1))


def _deal(play: Play) -> None:
    """Deeds are shuffled and dealt singly in turn order from the first player, and paid for (TAB-SETUP-12, -13,
    BRA-SETUP-08, -09)."""
    edition, state = play.edition, play.state
    deeds = edition.board.deeds
    order = chance.shuffled(state.config, state.draws, len(deeds))
    play.emit(DeckShuffled(DEEDS, order, len(deeds) - 1))
    count = len(state.in_play)
    for number in range(edition.deal_deeds * count):
        seat = (state.first_seat + number) % count
        cell = deeds[order[number]]
        play.emit(DeedDealt(seat, cell))
        price = edition.board.price[cell] * (edition.deal_price or 0) // 100
        if price:
            play.emit(MoneyMoved(seat, BANK, price, "deal", cell))
