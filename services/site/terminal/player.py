"""A person at a table: follows the game, shows it, and answers the decisions that ask him."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Sequence

import grpc
from magnate.game.v1 import command_pb2, update_pb2
from magnate.gateway.v1 import gateway_service_pb2 as pb

from services.kit.errors import ServiceError
from services.rules.codec.messages import write_command
from services.rules.domain.commands import Action, Command
from services.rules.domain.state import Decision
from services.site.terminal.auto_move import DELAY_MS, AutoMove
from services.site.terminal.board import HEIGHT, LEAST_COLUMNS, LEAST_LINES, MIDDLE, draw_board
from services.site.terminal.console import ClosedError, Console
from services.site.terminal.gateway import Follower, Guest
from services.site.terminal.journal import Journal
from services.site.terminal.menu import Menu
from services.site.terminal.names import Names
from services.site.terminal.position import OutOfStepError, Position, position_of
from services.site.terminal.standings import property_lines, standings
from services.site.terminal.time_left import TimeLeft
from services.site.terminal.time_news import TimeNews

_JOURNAL_LINES = 40
#: refusals after which the next decision is already on its way
_OVER = frozenset({"stale_decision", "not_asked", "game_over", "seat_out"})
#: room for everything that a picture may hold
_EVERYTHING = 200


class Player:
    """One seat of one table on one console."""

    def __init__(self, guest: Guest, table_id: str, seat: int, names: Names, console: Console) -> None:
        self._guest = guest
        self._table_id = table_id
        self._seat = seat
        self._names = names
        self._texts = names.texts
        self._console = console
        self._journal = Journal(names)
        self._told: deque[str] = deque(maxlen=_JOURNAL_LINES)
        self._auto = AutoMove()
        self._time = TimeLeft()
        self._news = TimeNews(names.texts)
        self._position: Position | None = None
        self._dialog: asyncio.Task[None] | None = None
        self._asked = -1
        #: what is to be said when the game is over
        self.ending: list[str] = []
        self._follower = Follower(guest, table_id, on_connection=self._connection)

    async def run(self) -> bool:
        """Plays until the game is over (True) or the player leaves (False). Raises ServiceError."""
        self._console.picture(self._picture)
        following = asyncio.create_task(self._follow())
        ticking = asyncio.create_task(self._tick())
        try:
            while True:
                waiting = {following, *([self._dialog] if self._dialog is not None else [])}
                # The dialog is replaced with each decision, so it is looked at again and again.
                done, _ = await asyncio.wait(waiting, timeout=0.1, return_when=asyncio.FIRST_COMPLETED)
                if following in done:
                    following.result()
                    return True
                if self._dialog is not None and self._dialog in done:
                    dialog, self._dialog = self._dialog, None
                    dialog.result()
        except ClosedError:
            return False
        finally:
            self._end_dialog()
            for task in (following, ticking):
                task.cancel()
            await asyncio.gather(following, ticking, return_exceptions=True)

    # ---- following ----------------------------------------------------------------------------------------------

    async def _follow(self) -> None:
        async for message in self._follower.messages():
            self._note(message)
            if self._position is not None and self._position.view.ended:
                self._end_dialog()
                self._tell_end(self._position)
                return

    def _note(self, message: pb.WatchResponse) -> None:
        try:
            if message.HasField("snapshot"):
                self._position = position_of(message.snapshot)
                self._time.heard(message.snapshot.play_time_ms)
            elif message.HasField("update"):
                self._note_update(message.update)
        except OutOfStepError as error:
            if message.HasField("snapshot"):
                raise ServiceError(grpc.StatusCode.FAILED_PRECONDITION, "unknown_content", str(error)) from None
            self._follower.ask_snapshot()
            return
        if message.HasField("table"):
            self._names.seat_all(message.table.seats)
            self._time.table(message.table.held_ms, paused=message.table.paused)
        elif message.HasField("opened"):
            self._time.opened(message.opened.heartbeat_ms)
        elif message.HasField("heartbeat"):
            self._note_time(message.heartbeat)
        self._console.picture(self._picture)
        self._ask()

    def _note_time(self, beat: pb.Heartbeat) -> None:
        self._time.heard(beat.play_time_ms, running=beat.running)
        for line in self._news.heard(beat):
            self._console.notice(line)

    def _note_update(self, update: update_pb2.Update) -> None:
        for event in update.events:
            line = self._journal.line(event)
            if line:
                self._told.append(line)
                self._console.journal(line)
        if self._position is not None:
            self._position = self._position.after(update)

    def _connection(self, up: bool) -> None:
        self._console.notice(self._texts.say("words", "connection_back" if up else "connection_lost"))

    # ---- showing ------------------------------------------------------------------------------------------------

    def _picture(self, room: int) -> Sequence[str]:
        """The board with the standings and the journal in its middle, or these alone where it does not fit."""
        position, told = self._position, list(self._told)
        if position is None:
            return told[-room:]
        paint, columns = self._console.paint, self._console.columns
        now = standings(position, self._names, paint)
        middle = [*now, "", *told[-max(1, MIDDLE - 1 - len(now)) :]]
        board: list[str] = []
        if room >= HEIGHT:
            board = draw_board(
                position.edition, position.view, self._names, columns=columns, middle=middle, paint=paint
            )
        if not board:
            return [*now, *told[-max(1, room - len(now)) :]][:room]
        own = property_lines(position, self._names, self._seat)
        return [*board, *own[: room - len(board)]]

    async def _tick(self) -> None:
        """Counts down what a deadline leaves."""
        while True:
            await asyncio.sleep(1.0)
            if self._console.draws and not self._auto_is_planned():
                self._console.status(self._waiting())

    def _waiting(self) -> str:
        decision = self._position.view.decision if self._position is not None else None
        if decision is None or self._position is None:
            return ""
        seats = ", ".join(self._names.seat(seat) for seat in decision.seats)
        left = self._time.left_s(self._position.view, decision)
        shown = "" if left is None else f" ({self._texts.say('words', 'time_left', seconds=left)})"
        stands = f" [{self._news.why}]" if self._news.why else ""
        return self._texts.say("words", "waiting_for", seat=seats) + shown + stands

    def _auto_is_planned(self) -> bool:
        position = self._position
        decision = position.view.decision if position is not None else None
        if position is None or decision is None:
            return False
        return self._auto.plan(decision.id, decision.kind, position.options, self._seat) is not None

    def _tell_end(self, position: Position) -> None:
        self._console.status("")
        for place in position.view.places:
            seat = self._names.seat(place.seat)
            self.ending.append(self._texts.say("menu", "place", place=place.place, seat=seat, amount=place.net_worth))
        firsts = [self._names.seat(place.seat) for place in position.view.places if place.place == 1]
        self.ending.append(self._texts.say("menu", "winner", seat=", ".join(firsts)))

    # ---- answering ----------------------------------------------------------------------------------------------

    def _ask(self) -> None:
        """Begins the dialog about the open decision, unless it is going on already."""
        position = self._position
        decision = position.view.decision if position is not None else None
        if position is None or decision is None:
            return
        is_own = any(option.seat == self._seat for option in position.options)
        asked = decision.id if is_own else 0
        if asked == self._asked:
            return
        self._end_dialog()
        self._asked = asked
        if is_own:
            self._dialog = asyncio.create_task(self._answer(position, decision))
        elif self._console.draws:
            self._dialog = asyncio.create_task(self._idle())

    def _end_dialog(self) -> None:
        if self._dialog is not None:
            self._dialog.cancel()
            self._dialog = None

    async def _idle(self) -> None:
        """While others are asked, words are heard all the same."""
        while True:
            self._word(await self._console.ask([self._keys()], ""))

    async def _answer(self, position: Position, decision: Decision) -> None:
        while True:
            action = self._auto.plan(decision.id, decision.kind, position.options, self._seat)
            if action is not None and await self._taken_over(action):
                self._auto.press(decision.id)
                self._console.status("")
                self._console.notice(self._texts.say("menu", "auto_kept"))
                continue
            if action is None:
                menu = Menu(self._console, self._names, position, self._seat, self._word)
                action = await menu.choose(self._heading(position, decision))
            if action is not None and await self._submit(decision, action):
                return

    async def _taken_over(self, action: Action) -> bool:
        """Shows what auto-move is about to do; True when a key is pressed meanwhile [IND-AUTO-09]."""
        kind = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in type(action).__name__)
        label = self._texts.say("actions", kind.lstrip("_"), deck="")
        self._console.status(self._texts.say("menu", "auto_planned", seconds=DELAY_MS / 1000, action=label))
        return await self._console.pressed(DELAY_MS / 1000)

    def _heading(self, position: Position, decision: Decision) -> list[str]:
        cell = self._names.cell(position.view.position[self._seat])
        asked = self._texts.say("decisions", decision.kind, cell=cell)
        lines = [self._texts.say("menu", "title", seat=self._names.seat(self._seat), decision=asked), self._keys()]
        if not self._console.draws:
            lines[:0] = ["", *standings(position, self._names, self._console.paint)]
        return lines

    def _keys(self) -> str:
        auto = self._texts.say("menu", "on" if self._auto.on else "off")
        return self._console.paint.dim(self._texts.say("menu", "keys", auto=auto))

    def _word(self, word: str) -> bool:
        """What a letter asks for; True when the dialog is to begin anew."""
        position = self._position
        if word == "q":
            raise ClosedError
        if word == "a":
            self._console.notice(self._texts.say("menu", "auto_on" if self._auto.toggle() else "auto_off"))
            return True
        if word == "?":
            self._console.notice(self._texts.say("menu", "help"))
        elif word == "b" and self._console.draws:
            room = {"columns": LEAST_COLUMNS, "lines": LEAST_LINES}
            self._console.notice(self._texts.say("menu", "board_room", **room))
        elif word == "b" and position is not None:
            for line in self._picture(_EVERYTHING):
                self._console.notice(line)
        elif word == "p" and position is not None:
            for line in property_lines(position, self._names, self._seat):
                self._console.notice(line)
        else:
            self._console.notice(self._texts.say("menu", "bad_choice"))
        return False

    async def _submit(self, decision: Decision, action: Action) -> bool:
        """Sends an action; False when it is to be chosen anew."""
        self._console.status("")
        command = write_command(Command(self._seat, decision.id, action), f"play.{secrets.token_hex(8)}")
        try:
            await self._guest.submit(self._table_id, command_pb2.Command.FromString(command))
        except ServiceError as error:
            if error.code is grpc.StatusCode.UNAUTHENTICATED:
                raise
            if error.reason == "table_stopped":
                self._console.notice(self._texts.say("menu", "stopped"))
            else:
                self._console.notice(self._texts.say("menu", "refused", message=error.message or error.reason))
            # What was refused once is not for auto-move to repeat.
            self._auto.press(decision.id)
            return error.reason in _OVER
        return True
