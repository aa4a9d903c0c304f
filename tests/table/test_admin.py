"""What operators do to tables and players, and what the audit log says of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import grpc
import pytest
import sqlalchemy as sa
from magnate.admin.v1 import admin_service_pb2 as pb
from magnate.game.v1 import command_pb2, event_pb2
from magnate.table.v1 import table_pb2
from magnate.table.v1 import table_service_pb2 as table_pb
from sqlalchemy.exc import SQLAlchemyError

from services.kit.calls import Contract, Dispatcher, Guard, LocalClient, bearer, operator_proofs
from services.kit.errors import ServiceError
from services.rules.codec.states import read_state, write_state
from services.table.adapters.schema import audit_log, game_log, game_snapshots, seats, sessions
from services.table.adapters.store import SqlStore
from services.table.application.lobby import key_of
from services.table.main import ADMIN
from tests.support.site_of_tables import HandClock, Tables, open_tables, real_rules, refusal

TOKEN = "the operator's token"
OPERATORS = f"ada:{hashlib.sha256(TOKEN.encode()).hexdigest()}"
HOUR_MS = 3_600_000
#: what says nothing new of the store
ON_SQLITE = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
ON_POSTGRES = pytest.mark.parametrize("store_url", ["postgres"], indirect=True)


class Operator:
    """Calls the admin service of a replica, with a token or without one."""

    def __init__(self, tables: Tables, token: str = TOKEN) -> None:
        admin = tables.application.admin
        dispatcher = Dispatcher(
            Contract.of(ADMIN), admin, guard=Guard(operator_proofs(OPERATORS)), on_refused=admin.refused
        )
        self._client = LocalClient(ADMIN, dispatcher)
        self._metadata = bearer(token)

    async def ask(self, request: Any) -> Any:
        name = type(request).__name__.removesuffix("Request")
        return await getattr(self._client, name)(request, metadata=self._metadata)

    async def stop(self, table_id: str, reason: str = "it looks odd") -> Any:
        return await self.ask(pb.StopTableRequest(table_id=table_id, reason=reason))

    async def release(self, table_id: str, reason: str = "it is well") -> Any:
        return await self.ask(pb.ReleaseTableRequest(table_id=table_id, reason=reason))

    async def inspect(self, table_id: str, *, check: bool = False) -> Any:
        return await self.ask(pb.InspectTableRequest(table_id=table_id, check=check))

    async def audit(self, table_id: str = "") -> list[tuple[str, str, str, str]]:
        """Who, what, why and the outcome of each entry, oldest first; those of one millisecond in the order of what."""
        answer = await self.ask(pb.ListAuditRequest(table_id=table_id))
        entries = sorted(answer.entries, key=lambda entry: entry.at_unix_ms)
        return [
            (entry.who, pb.AuditAction.Name(entry.action).removeprefix("AUDIT_ACTION_"), entry.reason, entry.outcome)
            for entry in entries
        ]


async def _run(tables: Tables, work: Callable[[sa.Connection], Any]) -> Any:
    assert isinstance(tables.store, SqlStore)
    return await tables.store._database.write(work)


async def _change(tables: Tables, statement: Any) -> None:
    await _run(tables, lambda connection: connection.execute(statement).rowcount)


async def _next(tables: Tables, table_id: str, tokens: list[str], name: str) -> str:
    """The reason with which the next command is refused."""
    command = await tables.next_command(table_id, name)
    return await refusal(tables.submit(tokens[command.seat], table_id, command))


async def test_a_stopped_table_stands_still_and_the_others_go_on(tables: Tables) -> None:
    """Given a stop, then nobody gets anything done, watchers are told, deadlines keep what is left, and the operator's
    release gives the time back."""
    await tables.listen()
    table_id, tokens = await tables.running(2)
    other, other_tokens = await tables.running(2)
    operator = Operator(tables)
    deadline = (await tables.last(table_id)).deadlines[0]
    tables.clock.pass_ms(5_000)
    before = await tables.updates(table_id)
    stopped = (await operator.stop(table_id)).table
    assert (stopped.stopped, stopped.paused) == (True, True)
    assert await _next(tables, other, other_tokens, "others") == "done"
    tables.clock.pass_ms(HOUR_MS)
    assert await _next(tables, table_id, tokens, "stopped") == "table_stopped"
    expire = table_pb.ExpireDeadlineRequest(table_id=table_id, deadline_id=deadline.deadline_id)
    assert await refusal(tables.client.ExpireDeadline(expire)) == "table_stopped"
    assert await tables.updates(table_id) == before
    listed = (await tables.client.ListDeadlines(table_pb.ListDeadlinesRequest())).tables
    assert [item.table_id for item in listed] == [other]
    await tables.settle()
    told = [message.table for message in tables.heard if message.table.table_id == table_id]
    assert told[-1].stopped
    released = (await operator.release(table_id)).table
    assert (released.stopped, released.paused, released.held_ms) == (False, False, HOUR_MS)
    assert await refusal(tables.client.ExpireDeadline(expire)) == "not_due"
    assert await _next(tables, table_id, tokens, "released") == "done"
    await tables.settle()
    told = [message.table for message in tables.heard if message.table.table_id == table_id]
    assert (told[-1].stopped, told[-1].held_ms) == (False, HOUR_MS)
    assert [entry for entry in await operator.audit(table_id) if entry[1] != "LIST_AUDIT"] == [
        ("ada", "STOP_TABLE", "it looks odd", "done"),
        ("ada", "RELEASE_TABLE", "it is well", "done"),
    ]
    # The other table has had no part in the stop, and its turn is long over.
    expired = (await tables.last(other)).deadlines[0].deadline_id
    over = table_pb.ExpireDeadlineRequest(table_id=other, deadline_id=expired)
    assert await refusal(tables.client.ExpireDeadline(over)) == "done"


@ON_SQLITE
async def test_again_changes_nothing_and_is_written_down(tables: Tables) -> None:
    table_id, _ = await tables.running(2)
    operator = Operator(tables)
    await operator.release(table_id, "too early")
    tables.clock.pass_ms(1)
    first = (await operator.stop(table_id)).table
    tables.clock.pass_ms(1)
    assert (await operator.stop(table_id, "again")).table == first
    assert await operator.audit(table_id) == [
        ("ada", "RELEASE_TABLE", "too early", "nothing"),
        ("ada", "STOP_TABLE", "it looks odd", "done"),
        ("ada", "STOP_TABLE", "again", "nothing"),
    ]


@ON_SQLITE
async def test_only_a_running_table_is_stopped(tables: Tables) -> None:
    token = await tables.session()
    lobby = (await tables.table(token)).table.table_id
    operator = Operator(tables)
    for table_id, reason in ((lobby, "not_started"), ("nosuchtable", "no_table"), ("no table's id", "no_table")):
        assert await refusal(operator.stop(table_id)) == reason
        tables.clock.pass_ms(1)
    assert [entry[3] for entry in await operator.audit()] == ["not_started", "no_table", "no_table"]


@ON_SQLITE
async def test_a_persons_pause_outlives_the_stop(tables: Tables) -> None:
    """IND-PHASE-11: he cannot end a stop by ending his pause; after the release his pause goes on."""
    token = await tables.session()
    table_id = (await tables.table(token, seats=2)).table.table_id
    await tables.client.AddBots(table_pb.AddBotsRequest(session_token=token, table_id=table_id, count=1))
    await tables.client.StartGame(table_pb.StartGameRequest(session_token=token, table_id=table_id))
    pause = table_pb.PauseTableRequest(session_token=token, table_id=table_id)
    resume = table_pb.ResumeTableRequest(session_token=token, table_id=table_id)
    operator = Operator(tables)
    await tables.client.PauseTable(pause)
    tables.clock.pass_ms(1_000)
    await operator.stop(table_id)
    tables.clock.pass_ms(2_000)
    for call in (tables.client.PauseTable(pause), tables.client.ResumeTable(resume)):
        assert await refusal(call) == "table_stopped"
    released = (await operator.release(table_id)).table
    assert (released.stopped, released.paused, released.held_ms) == (False, True, 0)
    tables.clock.pass_ms(4_000)
    resumed = (await tables.client.ResumeTable(resume)).table
    assert (resumed.paused, resumed.held_ms) == (False, 7_000)


@ON_POSTGRES
async def test_another_replica_keeps_to_the_stop(store_url: str) -> None:
    one, other = await open_tables(store_url), await open_tables(store_url)
    table_id, tokens = await one.running(2)
    assert await _next(other, table_id, tokens, "hot") == "done"
    await Operator(one).stop(table_id)
    assert await _next(other, table_id, tokens, "stopped") == "table_stopped"
    await Operator(one).release(table_id)
    assert await _next(other, table_id, tokens, "stopped") == "done"
    await other.close()
    await one.close()


async def test_another_replica_keeps_to_the_time_of_a_stop_that_it_did_not_see(store_url: str) -> None:
    """Given a stop and a release over one replica, then an answer over another one, which knew the table before, is in
    time, and stamped with the time of the table."""
    one = await open_tables(store_url)
    other = await open_tables(store_url, clock=one.clock)
    table_id, tokens = await one.running(2)
    one.clock.pass_ms(1_000)
    assert await _next(other, table_id, tokens, "hot") == "done"
    before_ms = (await one.last(table_id)).play_time_ms
    await Operator(one).stop(table_id)
    one.clock.pass_ms(HOUR_MS)
    await Operator(one).release(table_id)
    one.clock.pass_ms(2_000)
    assert await _next(other, table_id, tokens, "released") == "done"
    assert (await one.last(table_id)).play_time_ms == before_ms + 2_000
    await other.close()
    await one.close()


async def test_a_release_tells_the_clock_when_deadlines_are_due_now(tables: Tables) -> None:
    """Given a release, then the last update comes again with how far the table is behind its shard, and so does each
    one after it."""
    await tables.listen()
    table_id, tokens = await tables.running(2)
    await Operator(tables).stop(table_id)
    tables.clock.pass_ms(HOUR_MS)
    await Operator(tables).release(table_id)
    assert await _next(tables, table_id, tokens, "released") == "done"
    await tables.settle()
    first, again, after = [message for message in tables.heard if message.HasField("update")]
    assert again.update == first.update
    assert [message.held_ms for message in (first, again, after)] == [0, HOUR_MS, HOUR_MS]
    assert {message.grace_ms for message in (first, again, after)} == {500}


async def _broken_log(tables: Tables, table_id: str) -> None:
    """Another event in the newest command, as if a disk had forgotten a bit."""
    update = await tables.last(table_id)
    update.events[0].CopyFrom(event_pb2.Event(seq=update.events[0].seq, turn_started=event_pb2.TurnStarted(seat=1)))
    where = sa.and_(game_log.c.table_id == table_id, game_log.c.last_seq == update.last_seq)
    await _change(tables, sa.update(game_log).where(where).values(update_bytes=update.SerializeToString()))


async def _broken_snapshot(tables: Tables, table_id: str) -> None:
    where = game_snapshots.c.table_id == table_id
    await _change(tables, sa.update(game_snapshots).where(where).values(snapshot=b"\xff\xff no snapshot"))


async def _no_snapshot(tables: Tables, table_id: str) -> None:
    await _change(tables, sa.delete(game_snapshots).where(game_snapshots.c.table_id == table_id))


async def _lost_card(tables: Tables, table_id: str) -> None:
    """A deck without its first card: no part of the view, so that only an invariant tells (IND-INV-10)."""
    where = game_snapshots.c.table_id == table_id
    query = sa.select(game_snapshots.c.snapshot).where(where)
    state = read_state(await _run(tables, lambda connection: connection.execute(query).scalar()))
    deck = next(iter(state.decks))
    state.decks[deck] = state.decks[deck][1:]
    await _change(tables, sa.update(game_snapshots).where(where).values(snapshot=write_state(state)))


@pytest.mark.parametrize("spoil", [_broken_snapshot, _no_snapshot, _lost_card])
async def test_a_broken_state_stops_its_table_and_is_made_anew(store_url: str, spoil: Any) -> None:
    """IND-INV-10: given a stored state that is broken, when it is needed, then the table stops itself, alone, and says
    so; its log is whole, so that a release makes the state anew and the game goes on."""
    before = await open_tables(store_url)
    table_id, tokens = await before.running(2)
    other, other_tokens = await before.running(2)
    await before.play(table_id, tokens, 3)
    await spoil(before, table_id)
    await before.close()
    tables = await open_tables(store_url, rules=real_rules(check_every=1))
    await tables.listen()
    assert await _next(tables, table_id, tokens, "broken") == "table_stopped"
    assert await _next(tables, other, other_tokens, "others") == "done"
    await tables.settle()
    assert [message.table.stopped for message in tables.heard if message.table.table_id == table_id] == [True]
    operator = Operator(tables)
    seen = await operator.inspect(table_id, check=True)
    assert (seen.table.stopped, seen.broken, seen.check.same) == (True, True, True)
    assert seen.stop_reason
    (stop,) = [entry for entry in seen.recent if entry.action == pb.AUDIT_ACTION_STOP_TABLE]
    assert (stop.who, stop.reason, stop.outcome) == ("table", seen.stop_reason, "done")
    assert await tables.store.count_stopped() == (1, 0)
    await operator.release(table_id)
    assert await tables.store.count_stopped() == (0, 0)
    assert await _next(tables, table_id, tokens, "broken") == "done"
    await tables.close()


@ON_POSTGRES
async def test_a_log_that_differs_stays_stopped(store_url: str) -> None:
    """Given an event of the log that was changed, then the table stops itself, and no release lets it go on."""
    before = await open_tables(store_url)
    table_id, tokens = await before.running(2)
    await before.play(table_id, tokens, 3)
    await _broken_log(before, table_id)
    await before.close()
    tables = await open_tables(store_url)
    expected = (await tables.last(table_id)).first_seq
    operator = Operator(tables)
    assert await _next(tables, table_id, tokens, "broken") == "table_stopped"
    tables.clock.pass_ms(1)
    with pytest.raises(ServiceError) as refused:
        await operator.release(table_id)
    assert (refused.value.reason, refused.value.metadata["first_difference"]) == ("table_stopped", str(expected))
    tables.clock.pass_ms(1)
    seen = await operator.inspect(table_id, check=True)
    assert (seen.check.same, seen.check.first_difference, seen.check.explanation) == (False, expected, "it differs")
    assert seen.table.stopped
    assert (await operator.audit(table_id))[:2] == [
        ("table", "STOP_TABLE", seen.stop_reason, "done"),
        ("ada", "RELEASE_TABLE", "it is well", "table_stopped"),
    ]
    await tables.close()


@ON_POSTGRES
@pytest.mark.parametrize("finder", ["command", "clock"])
async def test_an_update_that_cannot_be_read_holds_up_nobody_else(store_url: str, finder: str) -> None:
    """Given bytes in the log that are no update, then whoever comes upon them first, a player or the clock, has the
    table stopped, and the others' deadlines and bots are listed as ever."""
    before = await open_tables(store_url)
    table_id, tokens = await before.running(2)
    other, _ = await before.running(2)
    command = await before.next_command(table_id, "c")
    last_seq = (await before.last(table_id)).last_seq
    where = sa.and_(game_log.c.table_id == table_id, game_log.c.last_seq == last_seq)
    await _change(before, sa.update(game_log).where(where).values(update_bytes=b"\xff\xff\xff"))
    await before.close()
    tables = await open_tables(store_url)
    if finder == "command":
        assert await refusal(tables.submit(tokens[command.seat], table_id, command)) == "table_stopped"
    listed = (await tables.client.ListDeadlines(table_pb.ListDeadlinesRequest())).tables
    assert [item.table_id for item in listed] == [other]
    await tables.application.bots.scan()
    operator = Operator(tables)
    seen = await operator.inspect(table_id, check=True)
    assert (seen.broken, seen.stop_reason) == (True, "the last update cannot be read")
    assert (seen.check.same, seen.check.first_difference) == (False, 1)
    assert await refusal(operator.release(table_id)) == "table_stopped"
    await tables.close()


class _FailingRules:
    """The rules as they are, but for commands, at which they fail."""

    def __init__(self, rules: Any, error: ServiceError) -> None:
        self._rules = rules
        self._error = error

    async def apply(self, request: Any) -> Any:
        raise self._error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rules, name)


@ON_SQLITE
@pytest.mark.parametrize(
    ("fields", "is_expiry", "expected"),
    [
        ({"fault": "invariant"}, False, "table_stopped"),
        ({}, True, "table_stopped"),
        ({}, False, "internal"),
    ],
)
async def test_what_the_rules_fail_at(store_url: str, fields: dict[str, str], is_expiry: bool, expected: str) -> None:
    """A broken invariant stops the table, and so does an expiry that cannot be decided; a player's command at which the
    rules merely fail is not done, and the game goes on."""
    before = await open_tables(store_url)
    table_id, tokens = await before.running(2)
    deadline = (await before.last(table_id)).deadlines[0]
    await before.close()
    error = ServiceError(grpc.StatusCode.INTERNAL, "internal", "the rules are at fault", fields)
    rules: Any = _FailingRules(real_rules(), error)
    tables = await open_tables(store_url, rules=rules, clock=HandClock(play=HOUR_MS))
    if is_expiry:
        expire = table_pb.ExpireDeadlineRequest(table_id=table_id, deadline_id=deadline.deadline_id)
        assert await refusal(tables.client.ExpireDeadline(expire)) == expected
    else:
        assert await _next(tables, table_id, tokens, "fails") == expected
    assert (await Operator(tables).inspect(table_id)).broken == (expected == "table_stopped")
    await tables.close()


@ON_SQLITE
async def test_inspection_tells_where_a_table_stands_and_no_secret(tables: Tables) -> None:
    table_id, tokens = await tables.running(2)
    await tables.play(table_id, tokens, 4)
    tables.clock.pass_ms(700)
    seen = await Operator(tables).inspect(table_id, check=True)
    last = await tables.last(table_id)
    assert seen.table.status == table_pb2.TABLE_STATUS_RUNNING
    assert [seat.name for seat in seen.table.seats] == ["Player 0", "Player 1"]
    assert (seen.table.last_seq, seen.state_hash, seen.play_time_ms) == (last.last_seq, last.state_hash, 0)
    assert seen.shard_play_time_ms == 700
    assert list(seen.deadlines) == list(last.deadlines)
    assert (seen.decision_id, list(seen.asked)) == (last.decision.decision_id, list(last.decision.seats))
    assert seen.snapshot_seq > 0
    assert (seen.check.same, seen.check.commands, seen.check.explanation) == (True, 5, "")
    stored = await tables.store.load_table(key_of(table_id))
    assert stored is not None
    assert stored.server_seed not in seen.SerializeToString()
    assert all(seat.secret_hash not in seen.SerializeToString() for seat in stored.seats)


async def test_a_seat_is_withdrawn_by_the_rules(tables: Tables) -> None:
    """The seat leaves as LEAVE_REASON_WITHDRAWN and the others play on; again it changes nothing."""
    table_id, tokens = await tables.running(3, seats=3)
    operator = Operator(tables)
    request = pb.WithdrawSeatRequest(table_id=table_id, seat=1, reason="abuse")
    done = await operator.ask(request)
    last = await tables.last(table_id)
    assert done.last_seq == last.last_seq
    (left,) = [event.leaving for event in last.events if event.HasField("leaving")]
    assert (left.seat, left.reason) == (1, event_pb2.LEAVE_REASON_WITHDRAWN)
    tables.clock.pass_ms(1)
    assert (await operator.ask(request)).last_seq == done.last_seq
    assert await tables.last(table_id) == last
    assert await refusal(tables.submit(tokens[1], table_id, _roll(1))) != "done"
    await tables.play(table_id, tokens, 2)
    tables.clock.pass_ms(1)
    bad = pb.WithdrawSeatRequest(table_id=table_id, seat=7, reason="no such")
    assert await refusal(operator.ask(bad)) == "bad_choice"
    assert await operator.audit(table_id) == [
        ("ada", "WITHDRAW_SEAT", "abuse", "done"),
        ("ada", "WITHDRAW_SEAT", "abuse", "nothing"),
        ("ada", "WITHDRAW_SEAT", "no such", "bad_choice"),
    ]


def _roll(seat: int) -> command_pb2.Command:
    return command_pb2.Command(command_id="roll", seat=seat, roll=command_pb2.Roll())


@ON_POSTGRES
async def test_the_last_but_one_that_is_withdrawn_ends_the_game(tables: Tables) -> None:
    """The game is over, and the entry is written with its last command."""
    table_id, _ = await tables.running(2)
    operator = Operator(tables)
    await operator.ask(pb.WithdrawSeatRequest(table_id=table_id, seat=0, reason="abuse"))
    tables.clock.pass_ms(1)
    assert (await operator.inspect(table_id)).table.status == table_pb2.TABLE_STATUS_FINISHED
    tables.clock.pass_ms(1)
    again = pb.WithdrawSeatRequest(table_id=table_id, seat=1, reason="too late")
    assert await refusal(operator.ask(again)) == "game_over"
    assert [entry[3] for entry in await operator.audit(table_id)] == ["done", "done", "game_over"]


@ON_SQLITE
@pytest.mark.parametrize("token", [0, 1, None])
async def test_nobody_withdraws_a_seat_through_submit(tables: Tables, token: int | None) -> None:
    """Neither its own player nor another one, nor a service without a token."""
    table_id, tokens = await tables.running(2)
    before = await tables.updates(table_id)
    for seat in (0, 1):
        command = command_pb2.Command(command_id="w", seat=seat, withdraw=command_pb2.Withdraw(seat=seat))
        by = "" if token is None else tokens[token]
        assert await refusal(tables.submit(by, table_id, command)) == "not_allowed"
    assert await tables.updates(table_id) == before


async def _table_of(tables: Tables, host: str, others: list[str], *, start: bool) -> str:
    table_id: str = (await tables.table(host, seats=1 + len(others))).table.table_id
    for token in others:
        await tables.client.JoinTable(table_pb.JoinTableRequest(session_token=token, table_id=table_id))
    if start:
        await tables.client.StartGame(table_pb.StartGameRequest(session_token=host, table_id=table_id))
    return table_id


async def test_a_player_is_deleted(tables: Tables) -> None:
    """Given seats in a lobby, a running game and a finished one, then nothing names him any more, his token is void,
    his games went on or stayed, and their logs replay."""
    ada, bob, eve = [await tables.session(name) for name in ("Ada Lovelace", "Bob", "Eve")]
    session_id = (await tables.client.GetSession(table_pb.GetSessionRequest(session_token=ada))).session.session_id
    lobby = await _table_of(tables, ada, [bob], start=False)
    running = await _table_of(tables, ada, [bob, eve], start=True)
    finished = await _table_of(tables, bob, [ada], start=True)
    operator = Operator(tables)
    await operator.ask(pb.WithdrawSeatRequest(table_id=finished, seat=0, reason="to the end"))
    tables.clock.pass_ms(1)
    deleted = await operator.ask(pb.DeletePlayerRequest(session_id=session_id, reason="asked for it"))
    assert (deleted.withdrawn, deleted.left, deleted.renamed) == (1, 1, 2)
    get = table_pb.GetSessionRequest(session_token=ada)
    assert await refusal(tables.client.GetSession(get)) == "no_session"
    for table_id, expected in ((lobby, ["Bob"]), (running, ["Deleted player", "Bob", "Eve"])):
        table = (await operator.inspect(table_id)).table
        assert [seat.name for seat in table.seats] == expected
        assert session_id.encode() not in table.SerializeToString()
    assert (await operator.inspect(running, check=True)).check.same
    assert (await operator.inspect(finished, check=True)).check.same
    await tables.play(running, ["", bob, eve], 3)
    for column in (seats.c.session_id, sessions.c.session_id, seats.c.name):
        wanted = "Ada Lovelace" if column is seats.c.name else session_id
        assert await _count(tables, column == wanted) == 0
    tables.clock.pass_ms(1)
    again = pb.DeletePlayerRequest(session_id=session_id, reason="once more")
    assert await refusal(operator.ask(again)) == "no_session"
    about = [entry for entry in await operator.audit() if entry[1] in ("DELETE_PLAYER", "WITHDRAW_SEAT")]
    assert sorted(about[1:3]) == [
        ("ada", "DELETE_PLAYER", "asked for it", "done"),
        ("ada", "WITHDRAW_SEAT", "asked for it", "done"),
    ]
    assert about[3:] == [("ada", "DELETE_PLAYER", "once more", "no_session")]


async def _count(tables: Tables, where: sa.ColumnElement[bool]) -> int:
    query = sa.select(sa.func.count()).where(where)
    return int(await _run(tables, lambda connection: connection.execute(query).scalar()))


@ON_SQLITE
async def test_nobody_takes_a_deleted_players_seat(tables: Tables) -> None:
    """Its secret opens nothing any more; a stopped table keeps the seat where it is."""
    host, guest, stranger = [await tables.session(name) for name in ("Host", "Guest", "Stranger")]
    table_id = (await tables.table(host, seats=2)).table.table_id
    joined = await tables.client.JoinTable(table_pb.JoinTableRequest(session_token=guest, table_id=table_id))
    await tables.client.StartGame(table_pb.StartGameRequest(session_token=host, table_id=table_id))
    session = (await tables.client.GetSession(table_pb.GetSessionRequest(session_token=guest))).session
    operator = Operator(tables)
    await operator.stop(table_id)
    deleted = await operator.ask(pb.DeletePlayerRequest(session_id=session.session_id, reason="asked for it"))
    assert (deleted.withdrawn, deleted.renamed) == (0, 1)
    for secret in (joined.seat_secret, "-"):
        reclaim = table_pb.ReclaimSeatRequest(
            session_token=stranger, table_id=table_id, seat=joined.seat, seat_secret=secret
        )
        assert await refusal(tables.client.ReclaimSeat(reclaim)) == "wrong_secret"


@ON_SQLITE
async def test_who_is_no_operator_changes_nothing_and_is_written_down(tables: Tables) -> None:
    table_id, tokens = await tables.running(2)
    for token in ("", "guessed", tokens[0]):
        stranger = Operator(tables, token)
        for request in (
            pb.StopTableRequest(table_id=table_id, reason="mischief"),
            pb.WithdrawSeatRequest(table_id=table_id, seat=0, reason="mischief"),
            pb.ReleaseTableRequest(table_id=table_id, reason="mischief"),
            pb.DeletePlayerRequest(session_id="a" * 16, reason="mischief"),
            pb.InspectTableRequest(table_id=table_id),
            pb.ListAuditRequest(table_id=table_id),
        ):
            assert await refusal(stranger.ask(request)) == "not_allowed"
    assert await _next(tables, table_id, tokens, "goes-on") == "done"
    entries = await Operator(tables).audit(table_id)
    assert len(entries) == 3 * 5
    assert {(who, outcome) for who, _, _, outcome in entries} == {("", "not_allowed")}


async def test_what_does_not_fit_is_written_down_as_far_as_it_fits(tables: Tables) -> None:
    operator = Operator(tables)
    for request in (
        pb.StopTableRequest(table_id="t" * 70, reason="r" * 900),
        pb.StopTableRequest(table_id="t\0t", reason="r"),
        pb.WithdrawSeatRequest(table_id="t", seat=4_000_000_000, reason="r"),
        pb.StopTableRequest(table_id="t", reason=""),
    ):
        assert await refusal(operator.ask(request)) == "malformed"
    assert [entry[3] for entry in await operator.audit()] == ["malformed"] * 4


async def test_the_audit_log_is_paged_and_only_grows(tables: Tables) -> None:
    """Also for somebody with the service's own way to the database."""
    table_id, _ = await tables.running(2)
    operator = Operator(tables)
    for number in range(5):
        tables.clock.pass_ms(1)
        await operator.stop(table_id, f"reason {number}")
    found, token = [], ""
    while True:
        tables.clock.pass_ms(1)
        page = await operator.ask(pb.ListAuditRequest(table_id=table_id, page_size=2, page_token=token))
        found += [entry.reason for entry in page.entries]
        token = page.next_page_token
        if not token:
            break
    assert [reason for reason in found if reason] == [f"reason {number}" for number in (4, 3, 2, 1, 0)]
    for statement in (sa.update(audit_log).values(who="nobody"), sa.delete(audit_log)):
        with pytest.raises((ServiceError, SQLAlchemyError)):
            await _change(tables, statement)
    assert ("ada", "STOP_TABLE", "reason 0", "done") in await operator.audit(table_id)
