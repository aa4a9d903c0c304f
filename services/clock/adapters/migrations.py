"""Where this service's revisions are."""

from __future__ import annotations

from pathlib import Path

VERSIONS = Path(__file__).parent / "versions"
VERSION_TABLE = "clock_alembic_version"
