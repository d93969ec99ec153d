"""Serves an object of the `mcp` SDK 2.3 over memory streams. Only this module imports the SDK, and it is imported in a server's own thread.

The SDK behaves as on stdio, also in the choice of the era. This module turns lines into messages and messages into lines, so that Tooltray
gets bytes as from any other server.
"""

import inspect
import logging
from collections.abc import Callable, Sequence
from typing import Any

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCResponse, jsonrpc_message_adapter

from tooltray.protocol.channels import MAX_SERVER_LINE_BYTES, LineBuffer
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_REQUEST, dump, failure, find_id, reply_parts
from tooltray.servers.transports.inmemory.streams import FromServer, ToServer

logger = logging.getLogger(__name__)


class NoServer(TypeError):
    """The error of an entry point that gives something other than a server."""


def made(found: object, args: Sequence[str]) -> "Server[Any]":
    """Returns the server of an entry point: the object itself, or the result of calling it with the arguments.

    Raises:
        NoServer: the entry point gives no server, or takes no arguments.
        Exception: whatever the callable raises.
    """
    if isinstance(found, MCPServer | Server):
        if args:
            raise NoServer("its entry point is a server, not a callable, so it takes no arguments")
        return _lowlevel(found)
    if not callable(found):
        raise NoServer(f"its entry point gives a {_kind(found)}, not a server of the mcp SDK 2.3")
    if not _takes_arguments(found) and args:
        raise NoServer("its entry point takes no arguments")
    given = found(list(args)) if _takes_arguments(found) else found()
    if inspect.iscoroutine(given):
        given.close()
        raise NoServer("its entry point is an asynchronous function; it has to return the server itself")
    if not isinstance(given, MCPServer | Server):
        raise NoServer(f"its entry point returns a {_kind(given)}, not a server of the mcp SDK 2.3")
    return _lowlevel(given)


def _takes_arguments(factory: Callable[..., object]) -> bool:
    """Reports whether a callable takes arguments; many callables that are made for other purposes build their server without."""
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (ValueError, TypeError):  # a callable in C
        return True
    return any(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD, each.VAR_POSITIONAL) for each in parameters)


def _lowlevel(server: "MCPServer[Any] | Server[Any]") -> "Server[Any]":
    # WORKAROUND: MCPServer has no public name for it; the SDK's own in-memory client takes the same one (mcp/client/_memory.py)
    return server._lowlevel_server if isinstance(server, MCPServer) else server


def _kind(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


async def serve(server: "Server[Any]", source: ToServer, sink: FromServer) -> None:
    """Serves one connection until Tooltray or the server ends it.

    Raises:
        BaseException: whatever the server raises.
    """
    source.attach()
    sink.attach()
    # without a buffer, as the SDK has it on stdio: the queues to Tooltray have a limit in bytes
    to_sdk, read = anyio.create_memory_object_stream[SessionMessage | Exception]()
    write, from_sdk = anyio.create_memory_object_stream[SessionMessage]()
    async with to_sdk, read, write, from_sdk, anyio.create_task_group() as reading:
        reading.start_soon(_read, source, to_sdk, sink)
        async with anyio.create_task_group() as writing:  # ends when Tooltray has all that the server wrote
            writing.start_soon(_write, from_sdk, sink)
            async with write:
                await server.run(read, write, server.create_initialization_options())
        reading.cancel_scope.cancel()


async def _read(source: ToServer, to_sdk: ObjectSendStream[SessionMessage | Exception], sink: FromServer) -> None:
    lines = LineBuffer(on_oversized=lambda beginning, size: None, max_line_bytes=MAX_SERVER_LINE_BYTES)
    async with to_sdk:
        while chunk := await source.take():
            for line in lines.feed(chunk):
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError as error:  # the SDK takes less than all JSON: no lone surrogates, no depth beyond 200
                    await _refuse(line, str(error), sink)
                    continue
                try:
                    await to_sdk.send(SessionMessage(message))
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):  # the server has ended; its output is still being sent
                    return


async def _refuse(line: bytes | bytearray, reason: str, sink: FromServer) -> None:
    """Answers a request that the server will never see, so that no caller waits for it."""
    if b'"method"' in line and (id := find_id(line)):
        words = f"the server cannot read this request: {reason.splitlines()[-1][:200]}"
        await sink.send(b"".join(reply_parts(id, failure(INVALID_REQUEST, words))))


async def _write(from_sdk: ObjectReceiveStream[SessionMessage], sink: FromServer) -> None:
    async with from_sdk:
        async for each in from_sdk:
            if line := _line(each.message):
                await sink.send(line)


def _line(message: JSONRPCMessage) -> bytes:
    """Returns a message as a line. If JSON cannot carry it (a lone surrogate), a reply becomes an error, and any other is left out."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError as error:
        logger.error("a message that JSON cannot carry was not sent: %s", error)  # to the server's own log
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            return b"".join(reply_parts(dump(message.id), failure(INTERNAL_ERROR, f"the server's reply is not JSON: {error}")))
        return b""
