"""The answers of a streaming call as its caller holds them."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol


class Stream(Protocol):
    """Iterate it for the answers; `cancel` (also from another task) ends it, and so does leaving `async with`.

    It ends with ServiceError when the call failed or was cancelled.
    """

    def __aiter__(self) -> Stream: ...

    async def __anext__(self) -> Any: ...

    def cancel(self) -> None: ...

    async def connected(self) -> None:
        """Waits until the server has the call, of a kind in which both sides stream; ServiceError if it never does."""

    async def __aenter__(self) -> Stream: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None: ...
