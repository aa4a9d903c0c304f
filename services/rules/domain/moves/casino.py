"""The casino, and the card that destroys a building (BRA-MOVE-11 to -20, BRA-CARD-11)."""

from services.rules.domain import chance
from services.rules.domain.commands import ChooseBuilding, Command, PlaceBet
from services.rules.domain.edition import Edition
from services.rules.domain.events import BetDeclined, BuildingDestroyed, CasinoPlayed, MoneyMoved
from services.rules.domain.folds.turn import enemy_buildings
from services.rules.domain.moves.asking import ask, close
from services.rules.domain.options import BuildingChoice
from services.rules.domain.parties import BANK, JACKPOT, NONE
from services.rules.domain.play import Play, refuse
from services.rules.domain.refusals import Refusal
from services.rules.domain.state import DemolitionFrame, State

FACES = 6
MOST_NUMBERS = 3


def place_bet(play: Play, command: Command) -> Refusal | None:
    """Stake, jackpot fed, die, win, then the draw for the jackpot (BRA-MOVE-12 to -17, -20)."""
    edition, state, seat = play.edition, play.state, command.seat
    casino, action = edition.casino, command.action
    numbers = action.numbers if isinstance(action, PlaceBet) else ()
    if casino is None:
        return refuse(edition, "wrong_decision", "window_casino", "there is no casino in this edition")
    fits = 1 <= len(numbers) <= MOST_NUMBERS and len(set(numbers)) == len(numbers)
    if not fits or not all(1 <= number <= FACES for number in numbers):
        return refuse(edition, "bad_choice", "window_casino", "one to three different numbers from 1 to 6")
    if state.cash[seat] < casino.stake:
        return refuse(edition, "not_enough_cash", "casino_cash", "the stake needs cash", {"least": casino.stake})
    close(play)
    config, draws = state.config, state.draws
    die = chance.draw(config, draws, FACES) + 1
    drawn = chance.draw(config, draws + 1, casino.jackpot_one_in) + 1
    cell = state.position[seat]
    play.emit(MoneyMoved(seat, BANK, casino.stake, "stake", cell))
    play.emit(MoneyMoved(BANK, JACKPOT, casino.to_jackpot, "jackpot", cell))
    play.emit(CasinoPlayed(seat, numbers, die, drawn))
    if die in numbers:
        play.emit(MoneyMoved(BANK, seat, casino.stake * FACES // len(numbers), "casino_win", cell))
    if drawn == 1:
        play.emit(MoneyMoved(JACKPOT, seat, state.jackpot, "jackpot", cell))
    return None


def decline_bet(play: Play, command: Command) -> Refusal | None:
    """Passes on (BRA-MOVE-18)."""
    close(play)
    play.emit(BetDeclined(command.seat))
    return None


def run_demolition(play: Play, frame: DemolitionFrame) -> None:
    """The drawer chooses a building of an opponent."""
    ask(play, "demolition_choice", frame.seat, "turn")


def demolition_choices(state: State, seat: int) -> tuple[BuildingChoice, ...]:
    """Buildings that may be destroyed, each by one level."""
    return tuple([BuildingChoice(cell, state.levels[cell] - 1, 0) for cell in enemy_buildings(state, seat)])


def choose_building(play: Play, command: Command) -> Refusal | None:
    """One level falls, and nobody is paid."""
    action = command.action
    cell = action.cell if isinstance(action, ChooseBuilding) else NONE
    if cell not in enemy_buildings(play.state, command.seat):
        return refuse(play.edition, "bad_choice", "window_demolition", "no building of an opponent", {"cell": cell})
    close(play)
    destroy(play, cell)
    return None


def destroy(play: Play, cell: int) -> None:
    """Takes one level off."""
    play.emit(BuildingDestroyed(cell, play.state.levels[cell] - 1))


def default_building(edition: Edition, state: State, seat: int) -> int:
    """The highest level, of equals the highest price, of equals the lowest cell (BRA-AUTO-05)."""
    price = edition.board.price
    return min(enemy_buildings(state, seat), key=lambda cell: (-state.levels[cell], -price[cell], cell))
