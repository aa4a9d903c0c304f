"""Structured logs: one line for each happening, JSON for machines, key=value on a terminal.

log = get_log(__name__).bind(shard=3)
log.info("outbox_relayed", items=12)
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Literal, TextIO

from opentelemetry import trace

LogFormat = Literal["auto", "json", "text"]

_FIELDS = "fields"
_MAX_VALUE_CHARS = 500
_call_fields: ContextVar[Mapping[str, object]] = ContextVar("call_fields", default=MappingProxyType({}))


class Log:
    """A named log with fields of its own. An event is one snake_case word, all else are fields."""

    __slots__ = ("_bound", "_logger")

    def __init__(self, logger: logging.Logger, bound: Mapping[str, object]) -> None:
        self._logger = logger
        self._bound = bound

    def bind(self, **fields: object) -> Log:
        """The same log with these fields on every line."""
        return Log(self._logger, {**self._bound, **fields})

    def debug(self, event: str, **fields: object) -> None:
        self._write(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: object) -> None:
        self._write(logging.INFO, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._write(logging.WARNING, event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._write(logging.ERROR, event, fields)

    def exception(self, event: str, error: BaseException, **fields: object) -> None:
        """An error of our own making, with its stack; never for what a client can cause at will."""
        self._write(logging.ERROR, event, fields, error)

    def _write(self, level: int, event: str, fields: Mapping[str, object], error: BaseException | None = None) -> None:
        if self._logger.isEnabledFor(level):
            merged = {**_call_fields.get(), **self._bound, **fields}
            self._logger.log(level, event, extra={_FIELDS: merged}, exc_info=error)


def get_log(name: str, **fields: object) -> Log:
    """The log of a module; its name is the field `logger`."""
    return Log(logging.getLogger(name), fields)


def bind_call(**fields: object) -> None:
    """Adds fields to every line that the present task writes from now on."""
    _call_fields.set({**_call_fields.get(), **fields})


def configure(
    *, service: str, level: str = "info", log_format: LogFormat = "auto", stream: TextIO | None = None
) -> None:
    """Sends the logs of this process to `stream` (stderr). `auto` writes text on a terminal and JSON elsewhere."""
    target = stream or sys.stderr
    as_text = log_format == "text" or (log_format == "auto" and target.isatty())
    handler = logging.StreamHandler(target)
    handler.setFormatter(_TextFormatter(service) if as_text else _JsonFormatter(service))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # These write a line, or a stack, for what any client can do to a port.
    for noisy in ("grpc", "grpc._cython.cygrpc", "uvicorn.error", "asyncio"):
        logging.getLogger(noisy).setLevel(max(logging.CRITICAL if noisy != "asyncio" else logging.ERROR, root.level))
    # It tells of its own plugins at every start.
    logging.getLogger("alembic").setLevel(max(logging.WARNING, root.level))


class _Formatter(logging.Formatter):
    def __init__(self, service: str) -> None:
        super().__init__()
        self._service = service

    def fields_of(self, record: logging.LogRecord) -> dict[str, object]:
        """The fields of a line in their order, without time, level and event."""
        fields: dict[str, object] = {"service": self._service}
        context = trace.get_current_span().get_span_context()
        if context.is_valid:
            fields["trace_id"] = f"{context.trace_id:032x}"
        fields["logger"] = record.name
        fields.update(getattr(record, _FIELDS, {}))
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and _is_of_a_store(record):
            fields["error"] = f"{type(error).__name__}: {error}"
        return fields

    def stack_of(self, record: logging.LogRecord) -> str:
        if not record.exc_info or record.exc_info[0] is None or _is_of_a_store(record):
            return ""
        return self.formatException(record.exc_info)


class _JsonFormatter(_Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": f"{self.formatTime(record, '%Y-%m-%dT%H:%M:%S')}.{int(record.msecs):03d}",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **{key: _plain(value) for key, value in self.fields_of(record).items()},
        }
        stack = self.stack_of(record)
        if stack:
            line["stack"] = stack
        return json.dumps(line, ensure_ascii=False)


class _TextFormatter(_Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = self.fields_of(record)
        head = f"{self.formatTime(record, '%H:%M:%S')} {record.levelname:<7} {fields.pop('service')}"
        del fields["logger"]
        pairs = " ".join(f"{key}={json.dumps(_plain(value), ensure_ascii=False)}" for key, value in fields.items())
        stack = self.stack_of(record)
        return f"{head} {record.getMessage()} {pairs}".rstrip() + (f"\n{stack}" if stack else "")


def _is_of_a_store(record: logging.LogRecord) -> bool:
    """A library tells that its server is away: nobody's mistake, for which one line is enough."""
    return record.name.split(".", maxsplit=1)[0] in ("asyncpg", "sqlalchemy", "redis")


def _plain(value: object) -> object:
    """A value that JSON knows; long text is cut, so that nobody fills the disk by sending much of it."""
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else str(value)
    return text if len(text) <= _MAX_VALUE_CHARS else text[:_MAX_VALUE_CHARS] + "..."
