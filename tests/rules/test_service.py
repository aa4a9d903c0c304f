"""The rules service, called in the same process and over gRPC alike."""

import hashlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from google.rpc import status_pb2
from magnate.game.v1 import event_pb2, refusal_pb2, update_pb2
from magnate.rules.v1 import rules_service_pb2 as pb

from services.kit.calls import RemoteClient, open_channel
from services.kit.errors import ServiceError, from_status
from services.rules.codec import messages, states
from services.rules.domain import invariants
from services.rules.domain.commands import Command, EndTurn, Roll
from services.rules.domain.state import SeatSetup, State
from services.rules.main import DESCRIPTOR, build
from services.rules.settings import RulesSettings
from tests.support.play import random_command

TABLE = "table-1"


@dataclass
class Played:
    """A game so far, as its table would keep it."""

    first: pb.Applied
    last: pb.Applied
    entries: list[pb.LogEntry]
    play_time_ms: int = 1_000

    def source(self, *, by_value: bool = False) -> pb.StateSource:
        source = pb.StateSource(
            table_id=TABLE,
            seq=self.last.seq,
            state_hash=self.last.state_hash,
            update_digest=hashlib.sha256(self.last.update).digest()[:8],
        )
        if by_value:
            source.snapshot = self.first.snapshot
            for entry in self.entries[1:]:
                source.tail.extend(event for event in full_events(entry))
        return source

    def keep(self, applied: pb.Applied) -> None:
        self.last = applied
        self.entries.append(pb.LogEntry(update=update_pb2.Update.FromString(applied.update), secrets=applied.secrets))


def full_events(entry: pb.LogEntry) -> list[event_pb2.Event]:
    bodies = {secret.seq: secret for secret in entry.secrets}
    return [bodies.get(event.seq, event) for event in entry.update.events]


@pytest.fixture(params=["local", "grpc"])
async def new_client(request: pytest.FixtureRequest) -> AsyncIterator[Callable[..., Awaitable[Any]]]:
    """Makes clients, each of a rules service of its own."""
    async with AsyncExitStack() as stack:

        async def make(**settings: Any) -> Any:
            service = build(RulesSettings(**settings))
            remote = request.param == "grpc"
            await service.start(0 if remote else None)
            stack.push_async_callback(service.stop)
            if not remote:
                return service.local(DESCRIPTOR)
            channel = await stack.enter_async_context(open_channel(f"127.0.0.1:{service.port}"))
            return RemoteClient(DESCRIPTOR, channel)

        yield make


@pytest.fixture
async def client(new_client: Callable[..., Awaitable[Any]]) -> Any:
    return await new_client(check_every=1)


def new_game_request(seats: int = 3, **changes: Any) -> pb.NewGameRequest:
    request = pb.NewGameRequest(
        table_id=TABLE,
        edition="industry",
        seats=[messages.TWINS[SeatSetup].to_message(SeatSetup("person", 0, "0A")) for _ in range(seats)],
        server_seed=bytes(range(32)),
        play_time_ms=1_000,
        grace_ms=500,
    )
    for name, value in changes.items():
        setattr(request, name, value)
    return request


async def begun(client: Any, **changes: Any) -> Played:
    response = await client.NewGame(new_game_request(**changes))
    assert response.version == 1
    played = Played(response.applied, response.applied, [])
    played.keep(response.applied)
    return played


async def play(client: Any, played: Played, *, commands: int, seed: int = 5) -> None:
    """Plays commands drawn from what each update lists."""
    rng = random.Random(seed)
    for number in range(commands):
        if played.last.HasField("ended"):
            return
        decision, options = messages.read_decision(played.entries[-1].update.decision)
        state = State()
        state.decision = decision
        command = random_command(rng, state, options)
        played.play_time_ms += rng.randint(0, 900)
        response = await client.Apply(apply_request(played, command, command_id=f"c{number}"))
        assert response.WhichOneof("outcome") == "applied", response
        played.keep(response.applied)


def apply_request(played: Played, command: Command, *, command_id: str = "c", **options: Any) -> pb.ApplyRequest:
    request = pb.ApplyRequest(
        state=options.pop("state", None) or played.source(), play_time_ms=played.play_time_ms, **options
    )
    request.command.MergeFromString(messages.write_command(command, command_id))
    return request


async def test_a_game_is_played_by_what_its_updates_list(client: Any) -> None:
    played = await begun(client)
    await play(client, played, commands=150)
    assert len(played.entries) == 151
    updates = [entry.update for entry in played.entries]
    assert [update.first_seq for update in updates[1:]] == [update.last_seq + 1 for update in updates[:-1]]
    assert updates[0].first_seq == 1
    for update, entry in zip(updates, played.entries, strict=True):
        assert [event.seq for event in update.events] == list(range(update.first_seq, update.last_seq + 1))
        assert [event.seq for event in update.events if event.WhichOneof("body") is None] == [
            secret.seq for secret in entry.secrets
        ]
    assert [secret.WhichOneof("body") for secret in played.entries[0].secrets] == [
        "seed_drawn",
        "deck_shuffled",
        "deck_shuffled",
    ]
    assert updates[7].command.command_id == "c6"


async def test_what_a_call_says_beside_its_update_is_what_the_update_says(client: Any) -> None:
    played = await begun(client)
    await play(client, played, commands=40)
    update, applied = played.entries[-1].update, played.last
    assert (applied.seq, applied.state_hash) == (update.last_seq, update.state_hash)
    assert list(applied.asked) == list(update.decision.seats)
    assert applied.decision_id == update.decision.decision_id > 0
    assert list(applied.deadlines) == list(update.deadlines)
    assert (update.state_hash_version, update.play_time_ms) == (1, played.play_time_ms)


async def test_view_legal_actions_and_replay_agree_with_the_updates(client: Any) -> None:
    played = await begun(client)
    await play(client, played, commands=120)
    update = played.entries[-1].update
    legal = await client.LegalActions(pb.LegalActionsRequest(state=played.source()))
    assert legal.decision == update.decision
    seen = (await client.View(pb.ViewRequest(state=played.source()))).snapshot
    assert seen.decision == update.decision
    assert (seen.seq, seen.view.seq, seen.state_hash) == (update.last_seq, update.last_seq, update.state_hash)
    replayed = await client.Replay(pb.ReplayRequest(entries=played.entries))
    assert (replayed.same, replayed.first_difference, replayed.chance_verified) == (True, 0, True)
    assert replayed.view == seen.view


async def test_a_log_without_its_secrets_is_folded_only(client: Any) -> None:
    played = await begun(client)
    await play(client, played, commands=60)
    seen = (await client.View(pb.ViewRequest(state=played.source()))).snapshot
    public = [pb.LogEntry(update=entry.update) for entry in played.entries]
    replayed = await client.Replay(pb.ReplayRequest(entries=public))
    assert (replayed.same, replayed.chance_verified) == (True, False)
    assert replayed.view == seen.view


async def test_replay_names_the_first_event_that_was_changed(client: Any) -> None:
    played = await begun(client)
    await play(client, played, commands=30)
    index, event = next(
        (index, event)
        for index, entry in enumerate(played.entries)
        for event in entry.update.events
        if event.WhichOneof("body") == "dice_rolled"
    )
    event.dice_rolled.dice[0] = event.dice_rolled.dice[0] % 6 + 1
    replayed = await client.Replay(pb.ReplayRequest(entries=played.entries))
    assert (replayed.same, replayed.first_difference) == (False, event.seq)
    assert index > 0
    assert "DiceRolled" in replayed.explanation


@pytest.mark.parametrize("what", ["state_hash", "legal_actions", "deadlines", "table_id", "last_seq"])
async def test_replay_checks_what_stands_beside_the_events_too(client: Any, what: str) -> None:
    played = await begun(client)
    await play(client, played, commands=10)
    update = played.entries[5].update
    seq = update.last_seq
    if what == "legal_actions":
        del update.decision.legal_actions[0]
    elif what == "deadlines":
        update.deadlines[0].budget_ms += 1
    else:
        setattr(update, what, {"state_hash": b"01234567", "table_id": "x", "last_seq": seq + 1}[what])
    replayed = await client.Replay(pb.ReplayRequest(entries=played.entries))
    assert (replayed.same, replayed.first_difference) == (False, seq)
    assert "beside its events" in replayed.explanation


async def test_replay_checks_the_last_state_hash_of_a_log_without_secrets(client: Any) -> None:
    played = await begun(client)
    update = played.entries[-1].update
    update.state_hash = b"01234567"
    replayed = await client.Replay(pb.ReplayRequest(entries=[pb.LogEntry(update=update)]))
    assert (replayed.same, replayed.first_difference) == (False, played.last.seq)
    assert "state hash" in replayed.explanation


async def test_a_log_of_a_later_version_is_refused(client: Any) -> None:
    played = await begun(client)
    # Field 900 of Event is none that this version knows.
    played.entries[-1].update.events[-1].ClearField("body")
    played.entries[-1].update.events[-1].MergeFromString(b"\xa2\x38\x00")
    with pytest.raises(ServiceError) as failed:
        await client.Replay(pb.ReplayRequest(entries=played.entries))
    assert (failed.value.code, failed.value.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "unknown_content")


async def test_a_refused_command_changes_nothing(client: Any) -> None:
    played = await begun(client)
    seat, decision_id = played.last.asked[0], played.last.decision_id
    for command, reason, status in (
        (Command(seat, decision_id, EndTurn()), "WRONG_DECISION", "IND"),
        (Command((seat + 1) % 3, decision_id, Roll()), "NOT_ASKED", "IND"),
        (Command(seat, decision_id + 1, Roll()), "STALE_DECISION", "IND"),
    ):
        response = await client.Apply(apply_request(played, command))
        assert response.WhichOneof("outcome") == "refusal"
        assert refusal_pb2.RefusalReason.Name(response.refusal.reason) == f"REFUSAL_REASON_{reason}"
        assert response.refusal.statement.startswith(status)
        assert response.refusal.message
    legal = await client.LegalActions(pb.LegalActionsRequest(state=played.source()))
    assert legal.decision == played.entries[0].update.decision
    await play(client, played, commands=1)


async def test_a_command_that_asks_for_nothing_is_refused_as_malformed(client: Any) -> None:
    played = await begun(client)
    request = apply_request(played, Command(0, 1, Roll()))
    request.command.ClearField("action")
    response = await client.Apply(request)
    assert response.refusal.reason == refusal_pb2.REFUSAL_REASON_MALFORMED


async def test_a_state_that_is_not_here_is_asked_for_and_then_used(new_client: Any) -> None:
    first, second = await new_client(), await new_client()
    played = await begun(first)
    await play(first, played, commands=50)
    command = Command(played.last.asked[0], played.last.decision_id + 9, Roll())
    assert (await second.Apply(apply_request(played, command))).WhichOneof("outcome") == "state_needed"
    assert (await second.LegalActions(pb.LegalActionsRequest(state=played.source()))).state_needed
    assert (await second.View(pb.ViewRequest(state=played.source()))).state_needed
    brought = apply_request(played, command, state=played.source(by_value=True))
    assert (await second.Apply(brought)).WhichOneof("outcome") == "refusal"
    await play(second, played, commands=50)


async def test_the_state_before_is_still_here_when_a_commit_has_failed(client: Any) -> None:
    played = await begun(client)
    await play(client, played, commands=20)
    request = apply_request(played, Command(played.last.asked[0], played.last.decision_id, Roll()))
    source = played.source()
    await play(client, played, commands=1)
    request.state.CopyFrom(source)
    assert (await client.Apply(request)).WhichOneof("outcome") != "state_needed"


async def test_a_state_that_was_decided_and_not_committed_is_not_taken_for_the_committed_one(new_client: Any) -> None:
    """Given one command decided here at one time, in vain, and there at another, with the same view after both, when
    the next command comes here for the committed state, then that state is asked for, and decides as it does there."""
    here, there = await new_client(), await new_client()
    played = await begun(here)
    source = played.source(by_value=True)
    command = Command(played.last.asked[0], played.last.decision_id, Roll())
    played.play_time_ms = 5_000
    in_vain = (await here.Apply(apply_request(played, command, state=source))).applied
    played.play_time_ms = 7_000
    committed = (await there.Apply(apply_request(played, command, state=source))).applied
    assert (in_vain.seq, in_vain.state_hash) == (committed.seq, committed.state_hash)
    assert in_vain.update != committed.update
    played.keep(committed)
    asked, options = messages.read_decision(played.entries[-1].update.decision)
    state = State()
    state.decision = asked
    following = random_command(random.Random(1), state, options)
    played.play_time_ms = 9_000
    assert (await here.Apply(apply_request(played, following))).WhichOneof("outcome") == "state_needed"
    brought = await here.Apply(apply_request(played, following, state=played.source(by_value=True)))
    assert brought.applied.update == (await there.Apply(apply_request(played, following))).applied.update


async def test_a_snapshot_is_given_when_it_is_wanted(client: Any) -> None:
    played = await begun(client)
    assert states.read_state(played.first.snapshot).seq == played.first.seq
    command = Command(played.last.asked[0], played.last.decision_id, Roll())
    source = played.source()
    without = (await client.Apply(apply_request(played, command, state=source))).applied
    assert without.snapshot == b""
    applied = (await client.Apply(apply_request(played, command, state=source, want_snapshot=True))).applied
    assert applied.update == without.update
    state = states.read_state(applied.snapshot)
    assert (state.seq, states.write_state(state)) == (applied.seq, applied.snapshot)


async def test_a_state_that_is_not_the_one_named_is_refused(new_client: Any) -> None:
    first, second = await new_client(), await new_client()
    played = await begun(first)
    await play(first, played, commands=10)
    command = Command(0, 1, Roll())
    for spoil in ("seq", "state_hash", "snapshot"):
        request = apply_request(played, command, state=played.source(by_value=True))
        setattr(request.state, spoil, {"seq": 3, "state_hash": b"x" * 8, "snapshot": b"\x08\x63"}[spoil])
        with pytest.raises(ServiceError) as failed:
            await second.Apply(request)
        assert (failed.value.code, failed.value.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "unknown_content")


async def test_two_services_give_byte_identical_updates(new_client: Any) -> None:
    logs = []
    for _ in range(2):
        client = await new_client()
        played = await begun(client)
        await play(client, played, commands=100, seed=9)
        logs.append([entry.SerializeToString(deterministic=True) for entry in played.entries])
    assert logs[0] == logs[1]


async def test_a_stream_answers_each_command_of_a_message(client: Any) -> None:
    played = await begun(client)
    seat, decision_id = played.last.asked[0], played.last.decision_id
    source = played.source()
    requests = [
        apply_request(played, Command(seat, decision_id, Roll()), state=source),
        apply_request(played, Command(seat, decision_id, EndTurn()), state=source),
        apply_request(played, Command(seat, decision_id, Roll()), state=pb.StateSource(table_id="other", seq=3)),
        apply_request(
            played,
            Command(seat, decision_id, Roll()),
            state=pb.StateSource(table_id="other", seq=3, snapshot=b"\xff"),
        ),
    ]
    items = [pb.ApplyStreamRequest.Item(call_id=70 + n, request=request) for n, request in enumerate(requests)]
    items.append(pb.ApplyStreamRequest.Item(call_id=74, probe=pb.ProbeRequest()))

    async def sent() -> AsyncIterator[pb.ApplyStreamRequest]:
        yield pb.ApplyStreamRequest(items=items)
        yield pb.ApplyStreamRequest(items=items[:1])

    responses = []
    async with client.ApplyStream(sent()) as answers:
        async for answer in answers:
            responses.append(answer)
    first, second = responses
    assert [item.call_id for item in first.items] == [70, 71, 72, 73, 74]
    assert first.items[4].WhichOneof("result") == "probe"
    outcomes = [item.response.WhichOneof("outcome") for item in first.items[:4]]
    assert outcomes == ["applied", "refusal", "state_needed", None]
    assert from_status(status_pb2.Status.FromString(first.items[3].status)).reason == "unknown_content"
    assert second.items[0].response.applied.update == first.items[0].response.applied.update


@pytest.mark.parametrize(
    ("changes", "code", "reason"),
    [
        ({"edition": "chess"}, grpc.StatusCode.NOT_FOUND, "no_edition"),
        ({"version": 99}, grpc.StatusCode.NOT_FOUND, "no_edition"),
        ({"seats": 1}, grpc.StatusCode.INVALID_ARGUMENT, "bad_choice"),
        ({"seats": 7}, grpc.StatusCode.INVALID_ARGUMENT, "bad_choice"),
        ({"server_seed": b"short"}, grpc.StatusCode.INVALID_ARGUMENT, "malformed"),
    ],
)
async def test_a_game_that_cannot_begin_is_refused(
    client: Any, changes: dict[str, Any], code: grpc.StatusCode, reason: str
) -> None:
    with pytest.raises(ServiceError) as failed:
        await client.NewGame(new_game_request(**changes))
    assert (failed.value.code, failed.value.reason) == (code, reason)


async def test_industry_allows_no_overrides(client: Any) -> None:
    request = new_game_request()
    request.overrides.add(parameter="start_cash", value="2000")
    with pytest.raises(ServiceError) as failed:
        await client.NewGame(request)
    assert (failed.value.code, failed.value.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "override_out_of_range")
    assert failed.value.metadata["parameter"] == "start_cash"


async def test_a_log_with_a_long_override_is_read(client: Any) -> None:
    """A table of an older release may have one: what a caller may wish now is no limit on what was played."""
    value = " " * 64_000 + "6000"
    request = new_game_request(edition="brands")
    request.overrides.add(parameter="start_cash", value=value)
    applied = (await client.NewGame(request)).applied
    played = Played(applied, applied, [])
    played.keep(applied)
    await play(client, played, commands=10)
    started = played.entries[0].update.events[0].game_started
    assert [(override.parameter, override.value) for override in started.overrides] == [("start_cash", value)]
    replayed = await client.Replay(pb.ReplayRequest(entries=played.entries))
    assert (replayed.same, replayed.chance_verified) == (True, True)
    legal = await client.LegalActions(pb.LegalActionsRequest(state=played.source(by_value=True)))
    assert legal.decision == played.entries[-1].update.decision


async def test_an_invalid_nonce_or_a_seating_that_the_edition_lacks_is_refused(client: Any) -> None:
    nonce, seating = new_game_request(), new_game_request()
    nonce.seats[1].nonce = "xyz"
    seating.seats[0].kind = event_pb2.SEAT_KIND_BOT
    for request, reason in ((nonce, "malformed"), (seating, "bad_choice")):
        with pytest.raises(ServiceError) as failed:
            await client.NewGame(request)
        assert (failed.value.code, failed.value.reason) == (grpc.StatusCode.INVALID_ARGUMENT, reason)


@pytest.mark.parametrize(("people", "seating"), [(3, "PEOPLE"), (1, "SOLO"), (0, "BOTS")])
async def test_the_seating_follows_from_the_seats(client: Any, people: int, seating: str) -> None:
    request = new_game_request()
    for seat in request.seats[people:]:
        seat.kind = event_pb2.SEAT_KIND_BOT
    applied = (await client.NewGame(request)).applied
    started = update_pb2.Update.FromString(applied.update).events[0].game_started
    assert event_pb2.Seating.Name(started.seating) == f"SEATING_{seating}"
    assert [seat.team for seat in started.seats] == [0, 1, 2]
    assert {seat.nonce for seat in started.seats} == {"0a"}


async def test_describe_lists_editions_and_shows_one_in_full(client: Any) -> None:
    listed = (await client.Describe(pb.DescribeRequest())).editions
    industry = next(edition for edition in listed if edition.edition == "industry")
    assert (industry.version, industry.seats_least, industry.seats_most) == (1, 2, 6)
    assert (industry.name.en, industry.name.uk, industry.name.ru) == ("Industry", "Індустрія", "Индустрия")
    assert not industry.cells
    (full,) = (await client.Describe(pb.DescribeRequest(edition="industry"))).editions
    assert [cell.index for cell in full.cells] == list(range(40))
    assert all(cell.name.en and cell.name.uk and cell.name.ru for cell in full.cells)
    assert {card.deck for card in full.cards} == {"market", "support"}
    assert {cell for group in full.groups for cell in group.cells} == {
        cell.index for cell in full.cells if cell.price > 0
    }
    parameters = {parameter.name: parameter.value for parameter in full.parameters}
    assert parameters["start_cash"] == "1500"
    assert parameters["supply"] == '{"hotels": 12, "houses": 32}'
    assert parameters["mortgage"] == "null"
    assert parameters["board"] == '"industry"'
    assert parameters["own_auction_in"] == '["manage", "payment"]'
    assert parameters["at.solo.first_player"] == '"person"'
    with pytest.raises(ServiceError) as failed:
        await client.Describe(pb.DescribeRequest(edition="chess"))
    assert (failed.value.code, failed.value.reason) == (grpc.StatusCode.NOT_FOUND, "no_edition")


async def test_a_broken_invariant_fails_the_command_and_keeps_nothing(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = await begun(client)
    request = apply_request(played, Command(played.last.asked[0], played.last.decision_id, Roll()))
    with monkeypatch.context() as patched:
        patched.setattr(invariants, "broken", lambda *_, **__: ["IND-INV-03: seat 0 has -1"])
        with pytest.raises(ServiceError) as failed:
            await client.Apply(request)
    assert (failed.value.code, failed.value.reason) == (grpc.StatusCode.INTERNAL, "internal")
    assert "IND-INV" not in failed.value.message
    assert failed.value.metadata["fault"] == "invariant"
    # What it came out of is not trusted either: it has to come along once more.
    assert (await client.Apply(request)).WhichOneof("outcome") == "state_needed"
    request.state.CopyFrom(played.source(by_value=True))
    assert (await client.Apply(request)).WhichOneof("outcome") == "applied"


async def test_the_probe_is_answered(client: Any) -> None:
    assert await client.Probe(pb.ProbeRequest()) == pb.ProbeResponse()
