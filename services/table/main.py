"""Puts the table service together, for a process of its own or one shared with other services."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from magnate.admin.v1 import admin_service_pb2
from magnate.table.v1 import table_service_pb2

from services.kit.admission import Admission
from services.kit.calls import Replicas
from services.kit.server import Service
from services.kit.streams import EventStream
from services.kit.telemetry import Telemetry
from services.table.adapters.admin_handler import AdminHandler, AdminUseCases
from services.table.adapters.databases import Database
from services.table.adapters.handler import TableHandler, UseCases
from services.table.adapters.instruments import Instruments
from services.table.adapters.play_time import ClockClient, ClockPlayTime
from services.table.adapters.publisher import StreamPublisher
from services.table.adapters.rules_calls import Applier, RulesCalls, RulesClient
from services.table.adapters.store import SqlStore, open_database
from services.table.adapters.system import SystemChance, SystemWall
from services.table.application.add_bots import AddBots
from services.table.application.archiver import Archiver
from services.table.application.bot_watch import BotWatch
from services.table.application.commands import Commands
from services.table.application.create_session import CreateSession
from services.table.application.create_table import CreateTable
from services.table.application.delete_player import DeletePlayer
from services.table.application.describe_table import DescribeTable
from services.table.application.editions import Editions
from services.table.application.end_session import EndSession
from services.table.application.expire_deadline import ExpireDeadline
from services.table.application.export_table import ExportTable
from services.table.application.get_snapshot import GetSnapshot
from services.table.application.going_on import GoingOn
from services.table.application.histories import Histories
from services.table.application.hot_tables import HotTables
from services.table.application.inspect_table import InspectTable
from services.table.application.join_table import JoinTable
from services.table.application.leave_table import LeaveTable
from services.table.application.limits import Limiter
from services.table.application.list_deadlines import ListBotTurns, ListDeadlines
from services.table.application.list_tables import ListMyTables, ListTables
from services.table.application.lobby import Lobby
from services.table.application.options import Options
from services.table.application.outbox import Outbox
from services.table.application.pause_table import PauseTable
from services.table.application.ports import Chance, Meter, PlayTime, Publisher, Rules, Store, Wall
from services.table.application.probe import Probe
from services.table.application.read_updates import ReadUpdates, Watching
from services.table.application.reclaim_seat import ReclaimSeat
from services.table.application.redeciding import Redeciding
from services.table.application.renew_session import RenewSession
from services.table.application.sessions import Sessions
from services.table.application.start_game import StartGame
from services.table.application.stop_table import StopTable
from services.table.application.submit import Submit
from services.table.application.sweep import Sweeper
from services.table.application.touch_presence import TouchPresence
from services.table.application.withdraw_seat import WithdrawSeat
from services.table.settings import TableSettings

DESCRIPTOR = table_service_pb2.DESCRIPTOR.services_by_name["TableService"]
ADMIN = admin_service_pb2.DESCRIPTOR.services_by_name["AdminService"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Everything that the use cases reach outside for."""

    store: Store
    rules: Rules
    play_time: PlayTime
    publisher: Publisher
    wall: Wall
    chance: Chance
    meter: Meter


@dataclass(frozen=True, slots=True)
class Application:
    """The use cases, and what works in the background."""

    handler: TableHandler
    admin: AdminHandler
    stop_table: StopTable
    outbox: Outbox
    bots: BotWatch
    commands: Commands
    sweeper: Sweeper
    archiver: Archiver
    histories: Histories


def compose(outside: Outside, options: Options) -> Application:
    """The use cases over whatever is outside."""
    store, wall, chance = outside.store, outside.wall, outside.chance
    outbox = Outbox(store, outside.publisher, wall, outside.meter, options)
    bots = BotWatch(store, outbox, wall, outside.meter, options)
    sessions = Sessions(store, wall, options)
    lobby = Lobby(store, outbox, options)
    watching = Watching(lobby, sessions)
    hot_tables = HotTables(store, options.hot_tables)
    redeciding = Redeciding(store, outside.rules)
    going_on = GoingOn(store, outbox, bots)
    stop_table = StopTable(
        store=store,
        play_time=outside.play_time,
        lobby=lobby,
        redeciding=redeciding,
        hot_tables=hot_tables,
        outbox=outbox,
        bots=bots,
        going_on=going_on,
        wall=wall,
        chance=chance,
        meter=outside.meter,
        options=options,
    )
    commands = Commands(
        store=store,
        rules=outside.rules,
        play_time=outside.play_time,
        hot_tables=hot_tables,
        outbox=outbox,
        bots=bots,
        stopping=stop_table,
        wall=wall,
        meter=outside.meter,
        options=options,
    )
    use_cases = UseCases(
        sessions=sessions,
        create_session=CreateSession(
            store, wall, chance, Limiter(options.sessions_per_address, "new sessions for this address", wall), options
        ),
        renew_session=RenewSession(store, wall, chance, sessions, options),
        end_session=EndSession(store, sessions),
        create_table=CreateTable(
            store=store,
            lobby=lobby,
            rules=outside.rules,
            editions=Editions(outside.rules, wall),
            sessions=sessions,
            outbox=outbox,
            wall=wall,
            chance=chance,
            limiter=Limiter(options.tables_per_session, "new tables for this session", wall),
            options=options,
        ),
        describe_table=DescribeTable(lobby, sessions),
        list_tables=ListTables(store, sessions),
        list_my_tables=ListMyTables(store, sessions),
        join_table=JoinTable(lobby, sessions, wall, chance),
        leave_table=LeaveTable(lobby, sessions),
        reclaim_seat=ReclaimSeat(lobby, sessions, hot_tables, wall, chance),
        add_bots=AddBots(lobby, sessions, wall, options),
        start_game=StartGame(
            store=store,
            rules=outside.rules,
            play_time=outside.play_time,
            lobby=lobby,
            sessions=sessions,
            hot_tables=hot_tables,
            outbox=outbox,
            bots=bots,
            wall=wall,
            options=options,
        ),
        pause_table=PauseTable(
            play_time=outside.play_time,
            lobby=lobby,
            sessions=sessions,
            hot_tables=hot_tables,
            bots=bots,
            going_on=going_on,
        ),
        submit=Submit(
            commands,
            sessions,
            Limiter(options.submits_per_session, "commands for this session", wall),
            Admission(target_ms=options.submit_target_ms),
            wall,
            outside.meter,
        ),
        expire_deadline=ExpireDeadline(commands),
        read_updates=ReadUpdates(store, watching),
        get_snapshot=GetSnapshot(store, outside.rules, outside.play_time, watching),
        export_table=ExportTable(store, watching),
        touch_presence=TouchPresence(store, outbox, wall),
        list_deadlines=ListDeadlines(store, stop_table),
        list_bot_turns=ListBotTurns(store),
        probe=Probe(store, outside.rules, outside.play_time, outbox, wall),
    )
    sweeper = Sweeper(store, lobby, outbox, wall, options)
    archiver = Archiver(
        store=store,
        hot_tables=hot_tables,
        outbox=outbox,
        play_time=outside.play_time,
        wall=wall,
        meter=outside.meter,
        options=options,
    )
    withdraw_seat = WithdrawSeat(commands)
    admin_cases = AdminUseCases(
        inspect_table=InspectTable(store, outside.play_time, redeciding),
        stop_table=stop_table,
        withdraw_seat=withdraw_seat,
        delete_player=DeletePlayer(
            store=store,
            lobby=lobby,
            sessions=sessions,
            withdraw_seat=withdraw_seat,
            hot_tables=hot_tables,
            outbox=outbox,
            chance=chance,
        ),
    )
    admin = AdminHandler(admin_cases, store, wall, chance)
    histories = Histories(store, hot_tables, outbox, bots)
    return Application(TableHandler(use_cases), admin, stop_table, outbox, bots, commands, sweeper, archiver, histories)


async def build(
    settings: TableSettings,
    *,
    rules_client: RulesClient,
    clocks: Replicas[ClockClient],
    stream: EventStream,
    applier: Applier | None = None,
    rules_probe: Callable[[], Awaitable[None]] | None = None,
    database: Database | None = None,
    wall: Wall | None = None,
    chance: Chance | None = None,
    telemetry: Telemetry | None = None,
) -> Service:
    """The table service, connected to its store and not started yet; `local(DESCRIPTOR)` of it is a client.

    `applier` carries commands to the rules in batches, and `rules_probe` probes on the same way; without them they go
    over the client. `clocks` are looked for
    once the service has started. The service closes its store; clients and stream belong to the caller. ServiceError
    `unreachable` when there is no store.
    """
    telemetry = telemetry or Telemetry.off()
    wall = wall or SystemWall()
    store = SqlStore(database or open_database(settings.database_url), wall)
    await store.start()
    play_time = ClockPlayTime(clocks, wall)
    outside = Outside(
        store=store,
        rules=RulesCalls(rules_client, applier, rules_probe),
        play_time=play_time,
        publisher=StreamPublisher(stream),
        wall=wall,
        chance=chance or SystemChance(),
        meter=Instruments(telemetry),
    )
    application = compose(outside, settings.options())
    service = Service("table", settings, telemetry=telemetry)
    service.add_handler(DESCRIPTOR, application.handler)
    service.add_handler(ADMIN, application.admin, on_refused=application.admin.refused)
    service.add_check("store", store.ping)
    service.add_check("event_stream", stream.met)
    service.add_background("play_time", play_time.run)
    service.add_background("outbox", application.outbox.run)
    service.add_background("outbox_upkeep", application.outbox.run_upkeep)
    service.add_background("bots", lambda: application.bots.run(application.commands))
    service.add_background("sweep", application.sweeper.run)
    service.add_background("archive", application.archiver.run)
    service.add_background("stops", application.stop_table.run)
    service.add_background("histories", application.histories.run)
    service.add_finisher(application.outbox.finish)
    service.add_closer(store.close)
    return service
