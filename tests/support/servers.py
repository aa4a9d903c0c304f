"""The private servers of a distributed site on one machine, as tests use them."""

from __future__ import annotations

from services.site.cluster.servers import LocalPostgres, LocalRedis, free_port, private_folder

__all__ = ["PostgresServer", "RedisServer", "free_port", "private_folder"]

RedisServer = LocalRedis


class PostgresServer(LocalPostgres):
    """Started when it is made."""

    def __init__(self) -> None:
        super().__init__()
        self.start()
