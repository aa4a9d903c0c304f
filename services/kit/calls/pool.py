"""The replicas of a service as one: each call goes to one that serves, and to another when that one does not answer."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from services.kit.calls.call import NO_METADATA
from services.kit.calls.contract import Contract, Method
from services.kit.calls.local import DEFAULT_TIMEOUT_MS
from services.kit.calls.stream import Stream
from services.kit.ending import end_tasks
from services.kit.errors import ServiceError
from services.kit.logs import get_log

T = TypeVar("T")

DRAINING = "draining"

_log = get_log(__name__)
_ATTEMPTS = 4
_FIRST_PAUSE_S = 0.02
_LAST_PAUSE_S = 0.5
_LOOK_S = 2.0
_RETIRE_S = 10.0
_SUSPECT_S = 3.0
_AGAIN_S = 0.3
# So long at most after a probe has got through follow those that waited for it.
_FOLLOW_S = 0.1
# Who is told to wait for longer does not wait for a way to open.
_CLOSED_WAY_MS = 1_000
# One that has so much more to do than the idlest is passed over, whatever table a call is about.
_SPARE_CALLS = 32


class Replicas(Protocol):
    """The replicas of a service, and how each says that it serves; see RemoteReplicas."""

    async def find(self) -> Collection[str]: ...

    def client(self, name: str) -> Any: ...

    def serving(self, name: str) -> Stream:
        """True or false as often as it changes; ends with ServiceError when the replica cannot be reached."""
        ...

    async def forget(self, name: str) -> None: ...


@dataclass(slots=True, eq=False)
class Member:
    """A replica: what it last said of itself, and what it has to do for us. `answers`: it said that it does not serve,
    and a probe that left after that came back all the same."""

    name: str
    client: Any
    serves: bool = False
    said_s: float = 0.0
    answers: bool = False
    open_calls: int = 0
    suspect_until_s: float = 0.0


@dataclass(slots=True, eq=False)
class _Pause:
    """A call that failed, and waits to be tried again."""

    since_s: float
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Pool:
    """Start it, call through `PoolClient` or `SpreadCaller`, close it.

    Where none serves, calls wait until one does; those that are to be tried again, for a while. A probe that gets
    through ends the waiting: how things are is known from it sooner than from what the replicas say of themselves.

    Who says that he does not serve, or has let a call wait in vain, is asked only when there is nobody better. A call
    with a key (a table) goes to the same replica as long as it serves, from whichever process: it knows the table.
    """

    def __init__(self, replicas: Replicas, *, what: str, attempt_ms: int = 1_000) -> None:
        """`what` is called, for the logs; after `attempt_ms`, then twice as long and so on, a call that may be repeated
        is tried elsewhere."""
        self._replicas = replicas
        self._what = what
        self._attempt_ms = attempt_ms
        self._members: dict[str, Member] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._retiring: set[asyncio.Task[None]] = set()
        self._parting: list[Callable[[Member], Awaitable[None]]] = []
        self._look: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._met = asyncio.Event()
        self._pausing: set[_Pause] = set()
        self._turn = 0

    @property
    def members(self) -> Mapping[str, Member]:
        """The replicas that are known now, by name."""
        return self._members

    async def met(self) -> None:
        """Returns once a replica has said that it serves; from then on at once, whatever becomes of it. For readiness:
        a process that cannot reach what it needs is not ready, one that loses it is no worse than the others are."""
        await self._met.wait()

    async def start(self) -> None:
        """Begins to look for replicas; calls wait until one serves."""
        if self._look is None:
            self._look = asyncio.create_task(self._keep_looking())

    async def close(self) -> None:
        """Closes what is open."""
        await end_tasks([task for task in (self._look, *self._watches.values(), *self._retiring) if task is not None])
        self._look = None
        for name in list(self._members):
            await self._replicas.forget(name)
        self._members.clear()

    async def attempt(
        self, ask: Callable[[Member, int], Awaitable[T]], *, bound_ms: int, repeatable: bool, key: str = ""
    ) -> T:
        """What `ask` gives, which is told a replica and the milliseconds that it has. UNAVAILABLE and a late answer
        are tried again elsewhere within the bound (0: none), a few times, when that is safe or nothing was begun."""
        clock = asyncio.get_running_loop().time
        ends_s = clock() + bound_ms / 1000 if bound_ms else float("inf")
        tried: set[str] = set()
        number = 1
        while True:
            member = await self._pick(key, tried, ends_s)
            left_ms = (ends_s - clock()) * 1000
            may_again = repeatable and number < _ATTEMPTS
            # Longer each time: where everything is slow, to ask anew all the time would be the end of it.
            limit_ms = min(left_ms, self._attempt_ms * 2 ** (number - 1) if may_again else left_ms)
            member.open_calls += 1
            try:
                answer = await ask(member, 0 if limit_ms == float("inf") else max(1, int(limit_ms)))
            except ServiceError as error:
                if not _is_silence(error):
                    member.suspect_until_s = 0.0
                    raise
                member.answers = False
                if error.code is grpc.StatusCode.DEADLINE_EXCEEDED:
                    member.suspect_until_s = clock() + _SUSPECT_S
                pause_s, rest = _pause_s(number, error), self._rest if _is_closed_way(error) else asyncio.sleep
                may_again = may_again or (error.reason == DRAINING and number < _ATTEMPTS)
                if not may_again or clock() + pause_s >= ends_s:
                    raise
                tried.add(member.name)
                number += 1
            else:
                member.suspect_until_s = 0.0
                return answer
            finally:
                member.open_calls -= 1
            await rest(pause_s)

    async def _rest(self, pause_s: float) -> None:
        """Until it is over, or a probe gets through."""
        clock = asyncio.get_running_loop().time
        ends_s = clock() + pause_s
        pause = _Pause(clock())
        self._pausing.add(pause)
        try:
            async with asyncio.timeout_at(ends_s):
                await pause.over.wait()
        except TimeoutError:
            return
        finally:
            self._pausing.discard(pause)
        # Not all at once.
        await asyncio.sleep(min(random.uniform(0.0, _FOLLOW_S), max(0.0, ends_s - clock())))

    def _got_through(self, member: Member, left_s: float) -> None:
        if not member.serves and left_s >= member.said_s:
            member.answers = True
            self._changed.set()
        for pause in self._pausing:
            if pause.since_s <= left_s:
                pause.over.set()

    def ways(self, most: int) -> list[Member]:
        """The replicas to which calls with a key go now, some to each: all that serve and have not let a call wait in
        vain of late; where there are none, all of the next best kind. At most so many; in turn where there are more."""
        now_s = asyncio.get_running_loop().time()
        kinds = {member: _kind(member, now_s) for member in self._members.values()}
        best = min(kinds.values(), default=None)
        found = [member for member, kind in kinds.items() if kind == best]
        if len(found) <= most:
            return found
        self._turn = (self._turn + most) % len(found)
        return (found + found)[self._turn : self._turn + most]

    async def ask(self, member: Member, ask: Callable[[Member, int], Awaitable[T]], *, bound_ms: int) -> T:
        """What `ask` gives of this replica and no other; as `attempt` otherwise. For whoever measures: where it comes
        back, calls that wait to be tried again go on."""
        left_s = asyncio.get_running_loop().time()
        member.open_calls += 1
        try:
            answer = await ask(member, bound_ms)
        except ServiceError as error:
            member.answers = False
            if error.code is grpc.StatusCode.DEADLINE_EXCEEDED:
                member.suspect_until_s = asyncio.get_running_loop().time() + _SUSPECT_S
            raise
        else:
            member.suspect_until_s = 0.0
            self._got_through(member, left_s)
            return answer
        finally:
            member.open_calls -= 1

    async def choose(self, *, within_s: float = 1.0) -> Member:
        """The replica for a stream."""
        return await self._pick("", (), asyncio.get_running_loop().time() + within_s)

    async def _pick(self, key: str, tried: Collection[str], ends_s: float) -> Member:
        """The best one; waits a moment for one that serves. UNAVAILABLE `unreachable` when there is none at all."""
        clock = asyncio.get_running_loop().time
        waits_until_s = min(ends_s, clock() + self._attempt_ms / 1000)
        while not any(member.serves or member.answers for member in self._members.values()):
            self._changed.clear()
            try:
                async with asyncio.timeout_at(waits_until_s):
                    await self._changed.wait()
            except TimeoutError:
                break
        members = self._members.values()
        if not members:
            raise ServiceError(
                grpc.StatusCode.UNAVAILABLE, "unreachable", f"no {self._what} service is known", retry_after_ms=500
            )
        now_s, most = clock(), min(member.open_calls for member in members) * 2 + _SPARE_CALLS

        def worth(member: Member) -> tuple[bool, bool, bool, bool, bool, float]:
            rank = _rank(key, member.name) if key else member.open_calls + random.random()
            is_closed = not (member.serves or member.answers)
            return is_closed, *_kind(member, now_s), member.name in tried, member.open_calls > most, rank

        return min(members, key=worth)

    def on_leaving(self, part: Callable[[Member], Awaitable[None]]) -> None:
        """`part` is called before the connection to a replica that is gone is closed."""
        self._parting.append(part)

    async def _keep_looking(self) -> None:
        while True:
            try:
                await self._look_once()
            except OSError as error:
                # A certificate may be missing for the moment in which it is replaced.
                _log.warning("look_failed", what=self._what, reason=str(error))
            except Exception as error:
                _log.exception("look_failed", error, what=self._what)
            await asyncio.sleep(_LOOK_S)

    async def _look_once(self) -> None:
        found = await self._replicas.find()
        # That nobody is found says more about the names than about the replicas.
        for name in [name for name in self._members if found and name not in found]:
            self._retire(name)
        for name in found:
            if name not in self._members and name not in self._watches:
                self._members[name] = member = Member(name, self._replicas.client(name))
                self._watches[name] = asyncio.create_task(self._watch(member))

    def _retire(self, name: str) -> None:
        task = asyncio.create_task(self._let_go(name, self._members.pop(name)))
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _let_go(self, name: str, member: Member) -> None:
        await asyncio.sleep(_RETIRE_S)
        await end_tasks([self._watches[name]])
        for part in self._parting:
            await part(member)
        await self._replicas.forget(name)
        # Now it may be taken up again under the same name.
        del self._watches[name]

    async def _watch(self, member: Member) -> None:
        while True:
            try:
                async with self._replicas.serving(member.name) as said:
                    async for serves in said:
                        self._note(member, serves=serves)
                        if not serves:
                            # It may be waiting for its last streams: this one is not to hold it up.
                            break
            except ServiceError as error:
                if error.code is grpc.StatusCode.UNIMPLEMENTED:
                    # It says nothing of itself: it serves as long as it answers.
                    self._note(member, serves=True)
                    return
                member.answers = False
            except OSError as error:
                _log.warning("watch_failed", what=self._what, replica=member.name, reason=str(error))
            except Exception as error:
                _log.exception("watch_failed", error, what=self._what, replica=member.name)
            self._note(member, serves=False)
            await asyncio.sleep(_AGAIN_S * random.uniform(0.5, 1.0))

    def _note(self, member: Member, *, serves: bool) -> None:
        if member.serves != serves:
            member.serves, member.answers = serves, False
            member.said_s = asyncio.get_running_loop().time()
            _log.info("replica_changed", what=self._what, replica=member.name, serves=serves)
        if serves:
            self._met.set()
            self._changed.set()


class PoolClient:
    """The same methods as LocalClient and RemoteClient, for a service with replicas.

    Those named in `repeatable` may be sent twice without harm: reads, and what carries an id that makes it one thing.
    They are tried at another replica when one does not answer; the others only when they were not begun. A stream is
    opened at one replica and ends with it.
    """

    def __init__(
        self,
        descriptor: ServiceDescriptor,
        pool: Pool,
        *,
        repeatable: Collection[str] = (),
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
    ) -> None:
        methods = Contract.of(descriptor).methods
        unknown = set(repeatable) - set(methods)
        if unknown:
            raise ValueError(f"{descriptor.full_name} has no methods {', '.join(sorted(unknown))}")
        for method in methods.values():
            call: Any = (
                _stream_caller(pool, method)
                if method.server_streaming
                else _unary_caller(pool, method, timeout_ms, repeatable=method.name in repeatable)
            )
            setattr(self, method.name, call)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the contract has no method {name}")


def _unary_caller(pool: Pool, method: Method, default_ms: int, *, repeatable: bool) -> Callable[..., Any]:
    async def call_unary(
        request: object, *, timeout_ms: int | None = None, metadata: Mapping[str, str] = NO_METADATA, raw: bool = False
    ) -> object:
        async def ask(member: Member, limit_ms: int) -> object:
            call = getattr(member.client, method.name)
            return await call(request, timeout_ms=limit_ms, metadata=metadata, raw=raw)

        bound_ms = default_ms if timeout_ms is None else timeout_ms
        return await pool.attempt(ask, bound_ms=bound_ms, repeatable=repeatable)

    return call_unary


def _stream_caller(pool: Pool, method: Method) -> Callable[..., Any]:
    def call_stream(request: object, **how: Any) -> _PooledStream:
        return _PooledStream(pool, lambda member: getattr(member.client, method.name)(request, **how))

    return call_stream


class _PooledStream:
    """A stream at a replica that is chosen when it is first read; see `Stream`."""

    def __init__(self, pool: Pool, open_at: Callable[[Member], Stream]) -> None:
        self._pool = pool
        self._open_at = open_at
        self._stream: Stream | None = None

    def __aiter__(self) -> _PooledStream:
        return self

    async def __anext__(self) -> object:
        return await (await self._opened()).__anext__()

    def cancel(self) -> None:
        if self._stream is not None:
            self._stream.cancel()

    async def connected(self) -> None:
        await (await self._opened()).connected()

    async def __aenter__(self) -> _PooledStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.cancel()

    async def _opened(self) -> Stream:
        if self._stream is None:
            self._stream = self._open_at(await self._pool.choose())
        return self._stream


def _kind(member: Member, now_s: float) -> tuple[bool, bool]:
    """Does not serve, is suspect: the lower, the better."""
    return not member.serves, member.suspect_until_s > now_s


def _is_silence(error: ServiceError) -> bool:
    return error.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED)


def _is_closed_way(error: ServiceError) -> bool:
    """Whether a probe that gets through shows that the call would, too."""
    return (error.retry_after_ms or 0) <= _CLOSED_WAY_MS


def _pause_s(number: int, error: ServiceError) -> float:
    """Longer with each attempt, by chance; as long as the other side wants when it says so."""
    least_s = (error.retry_after_ms or 0) / 1000 if error.reason != DRAINING else 0.0
    return max(least_s, min(_FIRST_PAUSE_S * 2.0**number, _LAST_PAUSE_S)) * random.uniform(0.5, 1.0)


def _rank(key: str, name: str) -> float:
    digest = hashlib.blake2b(f"{key} {name}".encode(), digest_size=6).digest()
    return float(int.from_bytes(digest, "big"))
