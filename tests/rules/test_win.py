"""The end of a game and its places."""

from services.rules.domain import commands as c
from services.rules.domain.chance import seed_hash
from services.rules.domain.events import GameEnded, MoneyMoved
from services.rules.domain.parties import BANK
from services.rules.domain.state import Place
from tests.support.scenario import Game, a_game


def ended(game: Game) -> str:
    """Why the game is over; empty while it runs."""
    return game.state.ended


def places(game: Game) -> list[tuple[int, int]]:
    """(seat, place), best first."""
    return [(place.seat, place.place) for place in game.state.places]


def test_the_last_player_left_wins() -> None:
    """IND-WIN-01, IND-WIN-03, IND-WIN-06: two out, one left."""
    game = a_game(3).with_cash(0, 10).owing(0, 50, 1).do(0, c.DeclareBankruptcy())
    assert ended(game) == ""
    game.withdraw(1)
    assert ended(game) == "last_left"
    assert places(game) == [(2, 1), (1, 2), (0, 3)]
    (event,) = game.events_of(GameEnded)
    assert event.reason == "last_left"
    assert game.events[-1] is event


def test_an_online_game_of_two_ends_with_one_bankruptcy() -> None:
    """IND-WIN-03: fewer than two are left."""
    game = a_game(2).turn_of(0).expire("turn")
    assert ended(game) == "last_left"
    assert places(game) == [(1, 1), (0, 2)]


def test_the_end_comes_before_anything_else() -> None:
    """IND-WIN-04, IND-CARD-19: pending payments are not made, and nothing is legal."""
    game = a_game(3).top_cards("support", "tender_won").cash_of_all(500, 500, 10).at(1, 12).turn_of(1).out(0)
    game.state.cash[0] = 0
    game.roll(1, 1, 2).do(2, c.DeclareBankruptcy())
    assert game.money() == [(2, 1, 10, "estate")]
    assert ended(game) == "last_left"
    assert (game.decision, game.state.deadlines, game.state.agenda, game.option_kinds()) == (None, (), [], set())
    game.refused(1, c.EndTurn(), "game_over", "IND-PHASE-08")


def test_the_game_goes_on_while_two_are_left() -> None:
    """IND-WIN-04, IND-WIN-03: the end is checked after every elimination, and two are enough to play."""
    game = a_game(3).turn_of(0).expire("turn")
    assert ended(game) == ""
    assert game.decision == ("roll", 1)


def test_the_end_reveals_the_seed() -> None:
    """IND-WIN-04, IND-SETUP-15: so that everybody can check the chance."""
    game = a_game(2).turn_of(0).expire("turn")
    (event,) = game.events_of(GameEnded)
    assert seed_hash(bytes.fromhex(event.server_seed)) == game.state.config.seed_hash


def test_at_a_bot_table_the_persons_bankruptcy_ends_the_game() -> None:
    """IND-WIN-02, IND-WIN-05: the bots do not play on."""
    game = a_game(4, "solo").with_cash(0, 10).owing(0, 50, 2).do(0, c.DeclareBankruptcy())
    assert ended(game) == "last_person_out"
    assert game.money() == [(0, 2, 10, "estate")]
    assert places(game)[-1] == (0, 4)


def test_a_bots_bankruptcy_does_not_end_a_bot_table() -> None:
    """IND-WIN-02, IND-WIN-01: not before the person is the last."""
    game = a_game(3, "solo").with_cash(1, 10).owing(1, 50).do(1, c.DeclareBankruptcy())
    assert ended(game) == ""
    game.with_cash(2, 10).owing(2, 50).do(2, c.DeclareBankruptcy())
    assert ended(game) == "last_left"
    assert places(game) == [(0, 1), (2, 2), (1, 3)]


def test_a_game_of_bots_alone_is_played_to_the_last() -> None:
    """IND-WIN-05: demonstrations and tests."""
    game = a_game(3, "bots").with_cash(0, 10).owing(0, 50).do(0, c.DeclareBankruptcy())
    assert ended(game) == ""
    game.with_cash(1, 10).owing(1, 50).do(1, c.DeclareBankruptcy())
    assert (ended(game), places(game)) == ("last_left", [(2, 1), (1, 2), (0, 3)])


def ended_with(*cash: int, owned: dict[int, tuple[int, ...]] | None = None) -> Game:
    """A bot table ends when the bots have this cash, and some deeds."""
    game = a_game(len(cash) + 1, "solo").cash_of_all(0, *cash)
    for seat, cells in (owned or {}).items():
        game.owning(seat, *cells)
    return game


def test_bots_are_placed_by_net_worth() -> None:
    """IND-WIN-05, IND-WIN-06: cash, the price of every business, the build cost of every level."""
    game = ended_with(1000, 1000, 1000, owned={2: (5,), 3: (12,)}).owing(0, 50).do(0, c.DeclareBankruptcy())
    assert game.state.places == (
        Place(2, 1, 1200),
        Place(3, 2, 1150),
        Place(1, 3, 1000),
        Place(0, 4, 0),
    )


def test_every_level_counts_its_build_cost() -> None:
    """IND-WIN-05: a holding counts five."""
    game = ended_with(1000, 1000).owning_group(1, "bakery", 5, 4, 4).owing(0, 50).do(0, c.DeclareBankruptcy())
    assert game.state.places == (Place(1, 1, 1000 + 60 + 60 + 80 + 13 * 50), Place(2, 2, 1000), Place(0, 3, 0))


def test_of_equals_the_lower_seat_comes_first() -> None:
    """IND-WIN-05."""
    game = ended_with(1000, 1200, 1000, owned={1: (5,)}).owing(0, 50).do(0, c.DeclareBankruptcy())
    assert places(game) == [(1, 1), (2, 2), (3, 3), (0, 4)]


def test_the_others_come_in_the_reverse_order_of_going_out() -> None:
    """IND-WIN-06: bots that went out before the person stand behind him."""
    game = ended_with(900, 800, 700, 600).out(3, 1).owing(0, 50).do(0, c.DeclareBankruptcy())
    assert places(game) == [(2, 1), (4, 2), (0, 3), (1, 4), (3, 5)]


def test_the_estate_is_paid_before_the_places_are_counted() -> None:
    """IND-WIN-04, IND-BANK-04: the creditor's money counts for him."""
    game = ended_with(1000, 1000).with_cash(0, 40).owing(0, 50, 2).do(0, c.DeclareBankruptcy())
    assert game.events_of(MoneyMoved)[0] == MoneyMoved(0, 2, 40, "estate")
    assert game.state.places == (Place(2, 1, 1040), Place(1, 2, 1000), Place(0, 3, 0))
    assert game.owner(5) == BANK
