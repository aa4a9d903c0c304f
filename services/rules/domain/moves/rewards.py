"""Places, experience and ratings at the end of a game (IND-WIN-05, -06, MET-WIN, BRA-WIN, TAB-WIN)."""

from services.rules.domain import chance
from services.rules.domain.edition import Edition
from services.rules.domain.moves.money import net_worth
from services.rules.domain.moves.timing import MINUTE_MS, game_ms
from services.rules.domain.parties import NONE
from services.rules.domain.play import Play
from services.rules.domain.rating import new_ratings
from services.rules.domain.state import Place, State


def final_places(play: Play) -> tuple[Place, ...]:
    """Those in play by net worth (the lower seat first), then the others, the latest out first (IND-WIN-06).

    A team shares its place (BRA-WIN-02, -04).
    """
    edition, state = play.edition, play.state
    worth = [net_worth(edition, state, seat) for seat in range(len(state.in_play))]
    order = _ranked(state, worth)
    counted = is_rated(edition, state, play.play_time_ms)
    ratings = new_ratings([state.config.seats[seat].rating for seat, _ in order], [place for _, place in order])
    return tuple(
        [
            Place(
                seat,
                place,
                worth[seat],
                _xp(play, seat, place, counted=counted),
                ratings[index] if counted else 0,
                _deed_card(play, seat, place),
            )
            for index, (seat, place) in enumerate(order)
        ]
    )


def _ranked(state: State, worth: list[int]) -> list[tuple[int, int]]:
    """(seat, place), winners first (IND-WIN-06, MET-WIN-03, BRA-WIN-02, -04, TAB-WIN-02)."""
    seats = state.config.seats
    teams: dict[int, list[int]] = {}
    for seat, setup in enumerate(seats):
        teams.setdefault(setup.team, []).append(seat)

    def key(members: list[int]) -> tuple[bool, int, int]:
        out = not any([state.in_play[seat] for seat in members])
        merit = (
            max([state.out_order.index(seat) for seat in members]) if out else sum([worth[seat] for seat in members])
        )
        return out, -merit, min(members)

    ranked = sorted(teams.values(), key=key)
    return [(seat, place) for place, members in enumerate(ranked, start=1) for seat in members]


def is_rated(edition: Edition, state: State, play_time_ms: int) -> bool:
    """Whether the game counts: no bots, long enough, and no changed table (BRA-WIN-06, -07, -10)."""
    rated = edition.rated
    if rated is None or state.config.overrides:
        return False
    return _long_enough(edition, state, play_time_ms)


def _long_enough(edition: Edition, state: State, play_time_ms: int) -> bool:
    """Rounds and minutes that make a game count, without bots (BRA-WIN-06, -07, -10)."""
    rated = edition.rated
    if rated is None:
        return False
    bots = any([setup.kind == "bot" for setup in state.config.seats])
    return (
        not (rated.no_bots and bots)
        and state.round >= rated.least_rounds
        and game_ms(state, play_time_ms) >= rated.least_minutes * MINUTE_MS
    )


def _xp(play: Play, seat: int, place: int, *, counted: bool) -> int:
    """Experience points; a changed table gives half (MET-WIN-07, -08, BRA-WIN-08, -10, -11)."""
    edition, state = play.edition, play.state
    xp = edition.xp
    if xp is None or state.round < xp.from_round:
        return 0
    if xp.only_people and state.config.seats[seat].kind != "person":
        return 0
    if xp.only_rated and not counted and not _changed_but_fit(play):
        return 0
    left = ("game", "left", (seat,)) in state.counters
    points = xp.winner if place == 1 else xp.leavers if left else xp.others
    return points // 2 if state.config.overrides else points


def _changed_but_fit(play: Play) -> bool:
    """A changed table of a rated edition counts for half its points (BRA-WIN-11)."""
    changed = bool(play.state.config.overrides)
    return changed and _long_enough(play.edition, play.state, play.play_time_ms)


def _deed_card(play: Play, seat: int, place: int) -> int:
    """The winner's collectible: one of his deeds, or of all where he has none (MET-WIN-07, -09)."""
    edition, state = play.edition, play.state
    xp = edition.xp
    if xp is None or not xp.deed_card or place != 1 or state.round < xp.from_round:
        return NONE
    if state.config.seats[seat].kind != "person":
        return NONE
    cells = [cell for cell in edition.board.deeds if state.owners[cell] == seat] or list(edition.board.deeds)
    return cells[chance.draw(state.config, state.draws, len(cells))]
