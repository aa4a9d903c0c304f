"""Puts a handler on a grpc.aio server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, cast

import grpc
from google.protobuf.message import DecodeError, Message

from services.kit.calls.call import Call
from services.kit.calls.channel import Channel
from services.kit.calls.contract import Method
from services.kit.calls.dispatch import Dispatcher
from services.kit.calls.guard import OPERATOR
from services.kit.calls.remote import serialise
from services.kit.errors import ServiceError, short_text, trailers

Context = Any


def serve(server: grpc.aio.Server, dispatcher: Dispatcher, *, certified: bool = False) -> None:
    """Registers all methods of the dispatcher's contract; before the server starts. `certified`: the port demands a
    certificate of everyone, which says who calls."""
    handlers = {
        method.name: _handler_of(dispatcher, method, certified) for method in dispatcher.contract.methods.values()
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(dispatcher.contract.name, handlers),))


def _handler_of(dispatcher: Dispatcher, method: Method, certified: bool) -> Any:
    kinds = {
        (False, False): grpc.unary_unary_rpc_method_handler,
        (False, True): grpc.unary_stream_rpc_method_handler,
        (True, False): grpc.stream_unary_rpc_method_handler,
        (True, True): grpc.stream_stream_rpc_method_handler,
    }
    make = cast(Callable[..., Any], kinds[method.client_streaming, method.server_streaming])
    runner = _stream_runner if method.server_streaming else _unary_runner
    run = runner(dispatcher, method, certified)
    # Requests are parsed in the runners: what gRPC does with one that does not parse is a stack in the log.
    return make(run, request_deserializer=None, response_serializer=serialise)


def _unary_runner(dispatcher: Dispatcher, method: Method, certified: bool) -> Callable[[Any, Context], Any]:
    async def run(request: Any, context: Context) -> object:
        requests: _Requests | None = None
        try:
            call = _call_of(dispatcher, method, context)
            if certified:
                _note_certificate(call, context)
            if dispatcher.answer_metadata:
                context.set_trailing_metadata(dispatcher.answer_metadata)
            if method.client_streaming:
                requests = _Requests(context, method, call.draining)
                return await dispatcher.unary(method, requests.channel, call)
            return await dispatcher.unary(method, _parse(request, method), call)
        except ServiceError as error:
            return await _abort(context, error, dispatcher)
        finally:
            if requests is not None:
                requests.stop()

    return run


def _stream_runner(dispatcher: Dispatcher, method: Method, certified: bool) -> Callable[[Any, Context], Any]:
    async def run(request: Any, context: Context) -> None:
        requests: _Requests | None = None
        call: Call | None = None
        try:
            call = _call_of(dispatcher, method, context)
            if certified:
                _note_certificate(call, context)
            if dispatcher.answer_metadata:
                context.set_trailing_metadata(dispatcher.answer_metadata)
            if method.client_streaming:
                # Sent at once: a client with nothing to ask yet learns by it that the stream stands.
                await context.send_initial_metadata(())
                requests = _Requests(context, method, call.draining)
                request = requests.channel
            else:
                request = _parse(request, method)
            async with aclosing(cast(Any, dispatcher.stream(method, request, call))) as answers:
                async for answer in answers:
                    await context.write(answer)
        except asyncio.CancelledError:
            if call is None or call.ended_with is None:
                raise
            # Without a status the caller would wait for ever, once he reads on.
            await _abort(context, call.ended_with, dispatcher)
        except ServiceError as error:
            await _abort(context, error, dispatcher)
        finally:
            if requests is not None:
                requests.stop()

    return run


async def _abort(context: Context, error: ServiceError, dispatcher: Dispatcher) -> object:
    return await context.abort(error.code, short_text(error), (*trailers(error), *dispatcher.answer_metadata))


class _Requests:
    """Reads a client's stream into a channel, which ends with the stream or when the server drains."""

    def __init__(self, context: Context, method: Method, draining: asyncio.Event) -> None:
        self.channel: Channel[Message] = Channel()
        self._tasks = [
            asyncio.create_task(self._pump(context, method)),
            asyncio.create_task(self._end_when(draining)),
        ]

    async def _pump(self, context: Context, method: Method) -> None:
        try:
            while (request := await context.read()) is not grpc.aio.EOF:
                await self.channel.put(_parse(request, method))
            self.channel.close()
        except ServiceError as error:
            self.channel.close(error)
        except (grpc.aio.UsageError, grpc.aio.InternalError, asyncio.InvalidStateError):
            # The call is over on the other side; its handler is being cancelled.
            self.channel.close()

    async def _end_when(self, draining: asyncio.Event) -> None:
        await draining.wait()
        self.channel.close()

    def stop(self) -> None:
        for task in self._tasks:
            task.cancel()


def _call_of(dispatcher: Dispatcher, method: Method, context: Context) -> Call:
    left_s = context.time_remaining()
    return Call(
        method=method.path,
        peer=context.peer(),
        metadata={key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)},
        deadline_s=None if left_s is None else asyncio.get_running_loop().time() + left_s,
        draining=dispatcher.gate.draining,
    )


def _note_certificate(call: Call, context: Context) -> None:
    shown = context.auth_context()
    call.names = frozenset(name.decode("ascii", "replace") for name in shown.get("peer_dns", ()))
    if OPERATOR in call.names:
        call.operator = b"".join(shown.get("x509_common_name", ())).decode("utf-8", "replace")[:64]


def _parse(request: bytes, method: Method) -> Message:
    try:
        return method.request_class.FromString(request)
    except DecodeError:
        raise ServiceError(
            grpc.StatusCode.INVALID_ARGUMENT,
            "malformed",
            f"the request is no {method.request_class.DESCRIPTOR.full_name}",
        ) from None
