"""Calls between processes, with what can happen to them: late, overtaken, lost, repeated, cut off."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, cast

import grpc

from services.kit.calls import Channel, LocalClient, Stream
from services.kit.calls.call import NO_METADATA
from services.kit.errors import ServiceError
from tests.simulation.loop import NOBODY, Process, VirtualLoop
from tests.simulation.receipts import RECEIPT, Receipt

_DEFAULT_S = 5.0
_QUICK_S = (0.0002, 0.002)
_REFUSED_S = 0.001
# A call that may be done twice without harm by its contract.
_REPEATABLE = frozenset({"Submit", "ExpireDeadline", "ListDeadlines", "ReadUpdates", "SyncTime", "TouchPresence"})
_STREAMS = frozenset({"WatchPlayTime", "Watch"})

Link = tuple[str, str]


@dataclass(slots=True)
class Weather:
    """What happens on the way from one kind of process to another; `loss` and `repeat` are shares of the calls."""

    latency_s: tuple[float, float] = _QUICK_S
    loss: float = 0.0
    repeat: float = 0.0
    is_cut: bool = False


class Peer:
    """A replica that can be called: its process, and its handlers behind their gate. `connect` makes a client for
    callers of a kind."""

    def __init__(self, kind: str, process: Process, connect: Callable[[str], LocalClient]) -> None:
        self.kind = kind
        self.process = process
        self._connect = connect
        self._clients: dict[str, LocalClient] = {}

    def client(self, caller: str) -> LocalClient:
        """Its handlers as a caller of this kind reaches them."""
        if caller not in self._clients:
            self._clients[caller] = self._connect("" if caller == "person" else caller)
        return self._clients[caller]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is called, and with what."""

    name: str
    request: object
    metadata: Mapping[str, str]
    raw: bool = False


@dataclass(eq=False, slots=True)
class _Open:
    """A call or a stream under way."""

    link: Link
    caller: Process | None
    peer: Peer
    fail: Callable[[ServiceError], None]
    task: asyncio.Task[Any] | None = None
    ended: bool = False


class Network:
    """All links. `on_answer` sees each answer of a stream as it leaves its server."""

    def __init__(self, loop: VirtualLoop, rng: random.Random) -> None:
        self.loop = loop
        self.peers: dict[str, list[Peer]] = {}
        self.on_answer: Callable[[str, Any, Peer], None] = lambda method, answer, peer: None
        self._rng = rng
        self._weather: dict[Link, Weather] = {}
        self._open: dict[_Open, None] = {}

    def weather(self, link: Link) -> Weather:
        """Of one link; to be changed at will."""
        return self._weather.setdefault(link, Weather())

    def latency_s(self, link: Link) -> float:
        return self._rng.uniform(*self.weather(link).latency_s)

    def add(self, peer: Peer) -> None:
        self.peers.setdefault(peer.kind, []).append(peer)

    def died(self, process: Process) -> None:
        """Its connections are closed: who called it is told, what it called is given up."""
        for peers in self.peers.values():
            peers[:] = [peer for peer in peers if peer.process is not process]
        for call in list(self._open):
            if call.peer.process is process:
                self.later(call.link, call.fail, _unavailable(f"{process.name} is gone"))
            elif call.caller is process:
                self.give_up(call)

    def cut(self, link: Link) -> None:
        """Nothing passes; what is under way breaks."""
        self.weather(link).is_cut = True
        for call in list(self._open):
            if call.link == link:
                call.fail(_unavailable("the connection broke"))

    def choose(self, link: Link, wanted: str | None = None, *, strictly: bool = False) -> Peer | None:
        """A replica that can be reached: the one that is wanted if it is there, unless strictly another one."""
        peers = [] if self.weather(link).is_cut else self.peers.get(link[1], [])
        named = [peer for peer in peers if peer.process.name == wanted]
        if named or strictly:
            return named[0] if named else None
        return self._rng.choice(peers) if peers else None

    def later(self, link: Link, do: Callable[..., object], *args: Any) -> None:
        self.loop.call_later(self.latency_s(link), do, *args, context=NOBODY)

    def opened(self, call: _Open) -> None:
        self._open[call] = None

    def closed(self, call: _Open) -> None:
        call.ended = True
        self._open.pop(call, None)

    def give_up(self, call: _Open) -> None:
        """The caller does not want the answer any more: the server is told a little later."""
        self.closed(call)
        if call.task is not None and not call.task.done():
            self.later(call.link, self._cancel, call)

    def drawn(self, share: float) -> bool:
        return share > 0.0 and self._rng.random() < share

    def _cancel(self, call: _Open) -> None:
        if call.task is not None:
            self.loop.call_soon(call.task.cancel, context=call.peer.process.context)


class Client:
    """Has a method for each RPC of a kind of process, alike to RemoteClient's. `wanted` names the replica to prefer, or
    with `strictly` the only one; `asked` is the one that the last unary call went to."""

    def __init__(
        self,
        network: Network,
        caller: Process | None,
        link: Link,
        wanted: str | None = None,
        *,
        strictly: bool = False,
    ) -> None:
        self._network = network
        self._caller = caller
        self._link = link
        self._strictly = strictly
        self.wanted = wanted
        self.asked = ""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._stream_of(name) if name in _STREAMS else self._unary_of(name)

    def _unary_of(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def call(
            request: object,
            *,
            timeout_ms: int | None = None,
            metadata: Mapping[str, str] = NO_METADATA,
            raw: bool = False,
        ) -> Any:
            bound_s = _DEFAULT_S if timeout_ms is None else timeout_ms / 1000
            unary = _Unary(self._network, self._caller, self._link, _Asked(name, request, metadata))
            peer = self._network.choose(self._link, self.wanted, strictly=self._strictly)
            self.asked = "" if peer is None else peer.process.name
            return await unary.run(peer, bound_s)

        return call

    def _stream_of(self, name: str) -> Callable[..., SimStream]:
        def call(
            request: object,
            *,
            timeout_ms: int | None = None,
            metadata: Mapping[str, str] = NO_METADATA,
            raw: bool = False,
        ) -> SimStream:
            peer = self._network.choose(self._link, self.wanted, strictly=self._strictly)
            return SimStream(self._network, self._caller, self._link, _Asked(name, request, metadata, raw), peer)

        return call


class Replicas:
    """All replicas of a kind under the names of their slots; see `services.kit.calls.Replicas`."""

    def __init__(self, network: Network, caller: Process, link: Link, names: Sequence[str]) -> None:
        self._network = network
        self._caller = caller
        self._link = link
        self._names = names

    async def find(self) -> Collection[str]:
        return self._names

    def client(self, name: str) -> Any:
        return Client(self._network, self._caller, self._link, name, strictly=True)

    def serving(self, name: str) -> Stream:
        """True once, as long as the process lives and can be reached."""
        peer = self._network.choose(self._link, name, strictly=True)
        return Serving(self._network, self._caller, self._link, peer)

    async def forget(self, name: str) -> None:
        """Nothing is kept."""


class _Arriving:
    """The caller's end of a call with many answers; see `services.kit.calls.Stream`. Without a peer it fails."""

    def __init__(self, network: Network, caller: Process | None, link: Link, peer: Peer | None, size: int) -> None:
        self._network = network
        self._link = link
        self._answers: Channel[Any] = Channel(size=size)
        self._call: _Open | None = None
        if peer is None:
            network.later(link, self._answers.close, _unavailable(f"no {link[1]} can be reached"))
            return
        self._call = _Open(link, caller, peer, self._answers.close)
        network.opened(self._call)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return await self._answers.__anext__()

    def cancel(self) -> None:
        self._answers.close(ServiceError(grpc.StatusCode.CANCELLED, "cancelled", "the stream was cancelled"))
        if self._call is not None:
            self._network.give_up(self._call)

    async def connected(self) -> None:
        """At once."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        self.cancel()


class Serving(_Arriving):
    """What a replica says of itself; see `services.kit.calls.pool.Replicas`."""

    def __init__(self, network: Network, caller: Process, link: Link, peer: Peer | None) -> None:
        super().__init__(network, caller, link, peer, size=1)
        if peer is not None:
            # A frozen process says nothing before it goes on.
            network.loop.call_later(
                network.latency_s(link), network.later, link, self._answers.offer, True, context=peer.process.context
            )


class _Unary:
    """One call with one answer."""

    def __init__(self, network: Network, caller: Process | None, link: Link, asked: _Asked) -> None:
        self._network = network
        self._caller = caller
        self._link = link
        self._asked = asked
        self._answer: asyncio.Future[Any] = network.loop.create_future()
        self._bound_s = 0.0

    async def run(self, peer: Peer | None, bound_s: float) -> Any:
        net, link = self._network, self._link
        self._bound_s = bound_s
        if peer is None:
            await asyncio.sleep(_REFUSED_S)
            raise _unavailable(f"no {link[1]} can be reached")
        call = _Open(link, self._caller, peer, self._fail)
        net.opened(call)
        weather = net.weather(link)
        timer = net.loop.call_at(net.loop.time() + bound_s, self._fail, _too_late(self._asked.name))
        try:
            if net.drawn(weather.loss):
                self._lose(call)
            else:
                net.later(link, self._start, call, True)
            if weather.repeat and self._asked.name in _REPEATABLE and net.drawn(weather.repeat):
                net.later(link, self._start, _Open(link, self._caller, peer, lambda _: None), False)
            return await self._answer
        finally:
            timer.cancel()
            net.give_up(call)

    def _lose(self, call: _Open) -> None:
        """The request, or its answer; the caller learns of a broken connection, or nothing."""
        if self._network.drawn(0.5):
            self._network.later(self._link, self._start, call, False)
        if self._network.drawn(0.5):
            self._network.later(self._link, self._fail, _unavailable("the connection broke"))

    def _start(self, call: _Open, answers: bool) -> None:
        process = call.peer.process
        if process.is_dead or (answers and call.ended):
            return
        task = self._network.loop.spawn(process, self._serve(call.peer))
        call.task = task
        task.add_done_callback(self._served if answers else _ignore, context=NOBODY)

    async def _serve(self, peer: Peer) -> Any:
        RECEIPT.set(Receipt(self._asked.name, self._asked.request, self._network.loop.now_s, peer.process.name))
        ask = cast(Callable[..., Awaitable[Any]], getattr(peer.client(self._link[0]), self._asked.name))
        return await ask(
            self._asked.request, timeout_ms=max(1, int(self._bound_s * 1000)), metadata=self._asked.metadata
        )

    def _served(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._network.later(self._link, self._settle, task.result())
        elif isinstance(error, ServiceError):
            self._network.later(self._link, self._fail, error)
        else:
            self._network.loop.failures.append(f"{self._asked.name}: {error!r}")

    def _settle(self, result: Any) -> None:
        if not self._answer.done():
            self._answer.set_result(result)

    def _fail(self, error: ServiceError) -> None:
        if not self._answer.done():
            self._answer.set_exception(error)
            self._answer.exception()


class SimStream(_Arriving):
    """One call with many answers, which arrive in their order."""

    def __init__(self, network: Network, caller: Process | None, link: Link, asked: _Asked, peer: Peer | None) -> None:
        super().__init__(network, caller, link, peer, size=1_000_000)
        self._asked = asked
        self._arrives_s = 0.0
        self.peer = peer
        if self._call is not None:
            network.later(link, self._start, self._call)

    def _start(self, call: _Open) -> None:
        if call.peer.process.is_dead or call.ended:
            return
        call.task = self._network.loop.spawn(call.peer.process, self._pump(call.peer))
        call.task.add_done_callback(_ignore, context=NOBODY)

    async def _pump(self, peer: Peer) -> None:
        error: ServiceError | None = None
        try:
            ask = getattr(peer.client(self._link[0]), self._asked.name)
            async with ask(self._asked.request, metadata=self._asked.metadata, raw=self._asked.raw) as answers:
                async for answer in answers:
                    self._network.on_answer(self._asked.name, answer, peer)
                    self._deliver(self._answers.offer, answer)
        except ServiceError as failed:
            error = failed
        self._deliver(self._answers.close, error)

    def _deliver(self, take: Callable[..., object], item: Any) -> None:
        loop = self._network.loop
        self._arrives_s = max(self._arrives_s + 1e-6, loop.now_s + self._network.latency_s(self._link))
        loop.call_later(self._arrives_s - loop.now_s, take, item, context=NOBODY)


def _ignore(task: asyncio.Task[Any]) -> None:
    if not task.cancelled():
        task.exception()


def _unavailable(why: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.UNAVAILABLE, "unreachable", why, retry_after_ms=100)


def _too_late(name: str) -> ServiceError:
    return ServiceError(grpc.StatusCode.DEADLINE_EXCEEDED, "deadline_exceeded", f"{name}: no answer came in time")
