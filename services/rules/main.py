"""Puts the rules together, for a process of their own or one shared with other services."""

from functools import lru_cache

from magnate.rules.v1 import rules_service_pb2

from services.kit.server import Service
from services.kit.telemetry import Telemetry
from services.rules.adapters.grpc_server import RulesHandler
from services.rules.application.instruments import Instruments
from services.rules.application.judge import Judge
from services.rules.editions.loader import EDITIONS, Catalogue, load_catalogue
from services.rules.editions.shelf import EditionShelf
from services.rules.settings import RulesSettings

DESCRIPTOR = rules_service_pb2.DESCRIPTOR.services_by_name["RulesService"]


@lru_cache(maxsize=1)
def shipped_editions() -> Catalogue:
    """The editions that come with the program. Raises EditionError for a bad file."""
    return load_catalogue(EDITIONS)


def build_handler(
    settings: RulesSettings, *, telemetry: Telemetry | None = None, catalogue: Catalogue | None = None
) -> RulesHandler:
    """The handler alone. Raises EditionError for a bad edition file."""
    editions = EditionShelf(catalogue or shipped_editions())
    judge = Judge(
        editions,
        kept_states=settings.kept_states,
        check_every=settings.check_every,
        instruments=Instruments(telemetry or Telemetry.off()),
    )
    return RulesHandler(judge, editions)


def build(
    settings: RulesSettings, *, telemetry: Telemetry | None = None, catalogue: Catalogue | None = None
) -> Service:
    """The rules as a service that is not started yet; `local(DESCRIPTOR)` of it is a client.

    Raises EditionError for a bad edition file.
    """
    telemetry = telemetry or Telemetry.off()
    service = Service("rules", settings, telemetry=telemetry)
    service.add_handler(DESCRIPTOR, build_handler(settings, telemetry=telemetry, catalogue=catalogue))
    return service
