"""Whatever a command or a log holds, the rules service answers, and a game stays as it was."""

import random
from typing import Any, get_args

from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st
from magnate.rules.v1 import rules_service_pb2 as pb

from services.kit.calls import Call, LocalClient
from services.kit.errors import ServiceError
from services.rules.adapters.grpc_server import RulesHandler
from services.rules.codec import messages
from services.rules.domain import commands as c
from services.rules.main import DESCRIPTOR, build_handler
from services.rules.settings import RulesSettings
from tests.rules.test_service import Played, apply_request, begun, play
from tests.rules.values import values
from tests.support.amount import amount


async def a_game(commands: int, seed: int) -> tuple[RulesHandler, Any, Played]:
    handler = build_handler(RulesSettings(check_every=1))
    client = LocalClient(DESCRIPTOR, handler)
    played = await begun(client)
    await play(client, played, commands=commands, seed=seed)
    return handler, client, played


async def answers(handler: RulesHandler, requests: list[pb.ApplyRequest]) -> set[str | None]:
    """How the handler itself answers, without the limits of the contract before it."""
    call = Call(method="Apply")
    return {(await handler.Apply(request, call)).WhichOneof("outcome") for request in requests}


async def test_any_command_is_applied_or_refused_and_a_refused_one_changes_nothing() -> None:
    for seed in range(amount(4, 40)):
        handler, client, played = await a_game(10 + 20 * seed, seed)
        if played.last.HasField("ended"):
            continue
        drawn = draw_actions()
        requests = [request for action in drawn if (request := written(played, action)) is not None]
        assert await answers(handler, requests) <= {"applied", "refusal"}
        legal = await client.LegalActions(pb.LegalActionsRequest(state=played.source()))
        assert legal.decision == played.entries[-1].update.decision


def draw_actions() -> list[c.Action]:
    """Actions of every kind with anything in their fields."""
    drawn: list[c.Action] = []

    @given(st.one_of([values(kind) for kind in get_args(c.Action)]))
    @settings(max_examples=60, deadline=None)
    def draw(action: c.Action) -> None:
        drawn.append(action)

    draw()
    return drawn


def written(played: Played, action: c.Action) -> pb.ApplyRequest | None:
    """The request for an action; None where no message can hold it."""
    service = isinstance(action, messages.SERVICE_ACTIONS)
    seat, decision_id = (-1, 0) if service else (played.last.asked[0], played.last.decision_id)
    try:
        return apply_request(played, c.Command(seat, decision_id, action))
    except ValueError:
        return None


async def test_a_log_with_any_bytes_changed_is_answered_and_a_change_of_substance_found() -> None:
    _, client, played = await a_game(25, 1)
    whole = pb.ReplayRequest(entries=played.entries)
    data, rng = whole.SerializeToString(), random.Random(1)
    found, reasons = 0, set[str]()
    for _ in range(amount(300, 5_000)):
        spoiled = bytearray(data)
        spoiled[rng.randrange(len(spoiled))] ^= 1 << rng.randrange(8)
        try:
            request = pb.ReplayRequest.FromString(bytes(spoiled))
        except DecodeError:
            continue
        try:
            replayed = await client.Replay(request)
        except ServiceError as error:
            reasons.add(error.reason)
            continue
        if not replayed.same:
            assert replayed.explanation
            found += 1
        else:
            assert [list(entry.update.events) for entry in request.entries] == [
                list(entry.update.events) for entry in whole.entries
            ]
    assert found > 50
    assert reasons <= {"unknown_content", "malformed", "bad_amount"}
