"""What the program itself can be told through the environment; each service has settings of its own beside these."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from services.kit.settings import Settings, setting
from services.kit.tls_settings import TlsSettings
from services.site.terminal.texts import LANGUAGES


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSettings(Settings):
    """Settings of the program."""

    data_folder: str = setting(
        "MAGNATE_DATA_FOLDER", "~/.magnate", "folder of the embedded site, with its database and the key to a kept game"
    )
    language: str = setting("MAGNATE_LANG", "en", "language of the terminal client", choices=LANGUAGES)

    migrate_database_url: str = setting(
        "MAGNATE_MIGRATE_DATABASE_URL",
        "",
        "database of `magnate migrate` and `restored`, with the role that owns the tables; empty: MAGNATE_DATABASE_URL",
        secret=True,
    )

    def folder(self) -> Path:
        """The data folder as a path."""
        return Path(self.data_folder).expanduser()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockCommandSettings(TlsSettings):
    """What `magnate clock` can be told through the environment."""

    clock_address: str = setting("MAGNATE_CLOCK_ADDRESS", "127.0.0.1:7430", "where the clock service is")
    operator_token: str = setting(
        "MAGNATE_OPERATOR_TOKEN",
        "",
        "an operator's token; empty: it is asked for, or a certificate is shown",
        secret=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminSettings(TlsSettings):
    """What `magnate admin` can be told through the environment."""

    table_address: str = setting("MAGNATE_TABLE_ADDRESS", "127.0.0.1:7420", "where the table service is")
    operator_token: str = setting(
        "MAGNATE_OPERATOR_TOKEN",
        "",
        "an operator's token; empty: it is asked for, or a certificate is shown",
        secret=True,
    )
