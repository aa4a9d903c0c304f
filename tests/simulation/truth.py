"""What really happened in a schedule, as only the world knows it."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from magnate.clock.v1 import clock_service_pb2 as clock_pb
from magnate.gateway.v1 import gateway_service_pb2 as gateway_pb

from services.kit.errors import ServiceError
from services.table.domain.shards import SHARDS, shard_of
from tests.simulation.loop import Process
from tests.simulation.network import Client, Peer
from tests.simulation.site import CLOCK, CLOCK_TOKEN, SLOTS, Site

Span = tuple[float, float]
PROBE_EVERY_S = 0.1
ALWAYS = (0, SHARDS - 1)
_IN_A_ROW = 4
# A probe that takes longer was held up by an outage; it may still come back.
_QUICKLY_MS = 250
# A probe that was on its way when all went down may still come back so much later.
_UNDER_WAY_S = 0.03
_STALE_MS = 5


@dataclass(frozen=True, slots=True)
class Read:
    """A reading of a shard's play time as it left the clock, and the process that told it."""

    at_s: float
    play_time_ms: int
    running: bool
    valid_for_ms: int
    process: str
    epoch: int

    @property
    def is_exact(self) -> bool:
        """Whether all of it has surely passed. Who begins to listen between two probes is told a part of what will
        count if the next one comes back, and may reckon on for so much less."""
        return self.running and self.valid_for_ms >= CLOCK.probe_period_ms


@dataclass(slots=True)
class Truth:
    """Kept while a schedule runs; times are the world's, in seconds."""

    site: Site
    # By shard: of one of each half, which two clocks share, and of those that have a table, from then on.
    reads: dict[int, list[Read]] = field(default_factory=lambda: {shard: [] for shard in ALWAYS})
    down: dict[str, list[Span]] = field(default_factory=lambda: defaultdict(list))
    # From when to when, and how much later than usual what was under way may still arrive.
    unplayable: list[tuple[float, float, float]] = field(default_factory=list)
    slow_s: Callable[[], float] = lambda: 0.0
    probes: list[tuple[float, bool]] = field(default_factory=list)
    _epochs: dict[int, int] = field(default_factory=dict)
    _heard: object = None
    _down_since: dict[str, float] = field(default_factory=dict)
    _unplayable_since: tuple[float, float] | None = None
    _oracles: int = 0

    # ---- play time --------------------------------------------------------------------------------------------

    def heard(self, method: str, answer: object, peer: Peer) -> None:
        """An answer of a stream left its server."""
        if method != "WatchPlayTime":
            return
        parsed = clock_pb.WatchPlayTimeResponse.FromString(answer) if isinstance(answer, bytes) else answer
        assert isinstance(parsed, clock_pb.WatchPlayTimeResponse)
        first = parsed.play_times[0]
        # Several are told the same thing, and who begins to listen first hears what was read a while ago.
        key = (peer.process, first.read_at_unix_ms, first.play_time_ms, first.epoch)
        if key == self._heard or abs(self._unix_ms(peer.process) - first.read_at_unix_ms) > _STALE_MS:
            return
        self._heard = key
        for told in parsed.play_times:
            for shard in list(self.reads) if parsed.same_for_all else (told.shard,):
                if shard in self.reads:
                    self._read(shard, told, peer.process)

    def _unix_ms(self, process: Process) -> int:
        return process.context.copy().run(self.site.loop.unix_ms)

    def table_opened(self, table_id: str) -> None:
        """From now on the play time of its shard is of interest."""
        self.reads.setdefault(shard_of(table_id), [])

    def _read(self, shard: int, told: clock_pb.PlayTime, process: Process) -> None:
        if told.epoch < self._epochs.get(shard, 0):
            return
        self._epochs[shard] = told.epoch
        reads = self.reads[shard]
        valid_ms = told.valid_for_ms if told.running else 0
        read = Read(self.site.loop.now_s, told.play_time_ms, told.running, valid_ms, process.name, told.epoch)
        reads.append(read)
        before = reads[-2] if len(reads) > 1 else None
        if shard == 0 and (before is None or before.running != told.running or before.process != process.name):
            what = "runs" if told.running else "stands"
            self.site.loop.note(f"play time {what} at {told.play_time_ms} ms, epoch {told.epoch}, says {process.name}")

    def play_time_ms(self, shard: int, at_s: float) -> float:
        """Play time of a shard at a moment, by the last reading before it."""
        reads = self.reads[shard]
        index = bisect_right(reads, at_s, key=lambda read: read.at_s) - 1
        if index < 0:
            return 0.0
        last = reads[index]
        return last.play_time_ms + min((at_s - last.at_s) * 1000, last.valid_for_ms)

    # ---- what works -------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Something came or went: notes who is down, and whether anything can be played at all."""
        now_s, site = self.site.loop.now_s, self.site
        running = {slot for slot, process in site.processes.items() if process.runs}
        for slot, since_s in list(self._down_since.items()):
            if slot in running:
                self.down[slot].append((since_s, now_s))
                del self._down_since[slot]
        for slot in SLOTS:
            if slot not in running:
                self._down_since.setdefault(slot, now_s)
        playable = self._is_playable()
        if playable and self._unplayable_since is not None:
            begin_s, slow_s = self._unplayable_since
            self.unplayable.append((begin_s, now_s, slow_s))
            self._unplayable_since = None
        elif not playable and self._unplayable_since is None:
            self._unplayable_since = now_s, self.slow_s()

    def _is_playable(self) -> bool:
        site = self.site
        if site.server.is_away or site.broker.is_away:
            return False
        network = site.network
        if any(network.weather(link).is_cut for link in (("clock", "gateway"), ("gateway", "table"))):
            return False
        return all(
            any(peer.process.runs for peer in network.peers.get(kind, [])) for kind in ("table", "gateway", "clock")
        )

    def lost_s(self, from_s: float, to_s: float) -> float:
        """Time between two moments in which surely nothing could be played, in stretches that no clock may count."""
        lost = 0.0
        for begin_s, end_s, slow_s in self.unplayable:
            under_way_s = _UNDER_WAY_S + slow_s
            if end_s - begin_s > CLOCK.probe_longest_gap_ms / 1000 + under_way_s:
                lost += max(0.0, min(end_s, to_s) - max(begin_s + under_way_s, from_s))
        return lost

    # ---- probes of the world's own ----------------------------------------------------------------------------

    async def probe_for_ever(self, is_wanted: Callable[[], bool]) -> None:
        """Finds out in small steps whether a probe comes back, in disturbed times: (when it left, whether it did)."""
        client = Client(self.site.network, None, ("clock", "gateway"))
        while True:
            if is_wanted() or not all(returned for _, returned in self.probes[-_IN_A_ROW:]):
                self._oracles += 1
                asyncio.get_running_loop().create_task(self._probe(client, f"world-{self._oracles}"))
            await asyncio.sleep(PROBE_EVERY_S)

    async def _probe(self, client: Client, probe_id: str) -> None:
        sent_s = self.site.loop.now_s
        request = gateway_pb.ProbeRequest(probe_id=probe_id)
        try:
            await client.Probe(request, timeout_ms=_QUICKLY_MS, metadata={"authorization": f"Bearer {CLOCK_TOKEN}"})
        except ServiceError:
            self.probes.append((sent_s, False))
        else:
            self.probes.append((sent_s, True))
