"""Looks after tables that have been silent, for the event stream may lose anything."""

from __future__ import annotations

import asyncio

from gateway.application.hub import Hub


async def reconcile_for_ever(hub: Hub) -> None:
    """Compares each silent table about once in the hub's reconcile time."""
    while True:
        await asyncio.sleep(hub.limits.reconcile_ms / 1000 / 2)
        hub.reconcile()
