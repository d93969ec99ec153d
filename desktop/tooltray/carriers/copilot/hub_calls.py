"""Calls the API of a hub from the event loop of another program.

Each call has its own connection, which costs about a millisecond: the caller has nothing to close or to repair when the hub restarts, and
any event loop can be used.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

from tooltray.api.parts import Api, remote_parts
from tooltray.carriers.control.control_client import HubLost, HubSilent, control_endpoints, error_of, typed_result
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import as_json
from tooltray.foundation.programs import module_command
from tooltray.foundation.verbs import JsonObject
from tooltray.protocol.channels import MAX_SERVER_LINE_BYTES
from tooltray.protocol.dispatcher import CANCELLED

if sys.platform == "win32":
    from tooltray.carriers.control import local_windows as local
else:
    from tooltray.carriers.control import local_posix as local

CALL_ID = 1  # the id of the only call of a connection
MESSAGE_CHARACTERS = 500  # characters of the reason why no hub could be started
_NO_HUB = (FileNotFoundError, NotADirectoryError, ConnectionRefusedError)  # refused: a hub that was killed left its socket
Message = JsonObject
_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class HubCalls:
    """A caller of the hub's API, for any number of tasks in any event loop."""

    def __init__(self, home: Home, *, may_start: bool) -> None:
        """
        Args:
            may_start: whether to start a hub if none runs.
        """
        self._home, self._may_start = home, may_start

    def within(self, timeout_s: float) -> Api:
        """Returns the hub's API, whose verbs are called only with keywords. A cancelled call is cancelled in the hub, too.

        Each verb also raises HubLost if the hub ends before it replies, HubSilent if it does not reply in time, and TooltrayError if no hub
        runs.

        Args:
            timeout_s: seconds for one call with everything, including the start of a hub.
        """
        return Api(**remote_parts(partial(self._call, timeout_s)))

    async def _call(self, timeout_s: float, method: str, /, **params: object) -> Any:
        try:
            async with asyncio.timeout(timeout_s), self._connection() as (reader, writer):
                writer.write(_lines({"tooltray": 1, "role": "control"}, _message(method, as_json(params), id=CALL_ID)))
                try:
                    reply = await _reply(reader)
                except asyncio.CancelledError:
                    writer.write(_lines(_message(CANCELLED, {"requestId": CALL_ID})))
                    raise
        except TimeoutError:
            raise HubSilent(method, timeout_s) from None
        if "error" in reply:
            raise error_of(method, reply["error"])
        return typed_result(method, reply.get("result"))

    @contextlib.asynccontextmanager
    async def _connection(self) -> AsyncIterator[_Streams]:
        reader, writer = await self._connect()
        try:
            yield reader, writer
        finally:
            if writer.transport.get_write_buffer_size():  # a hub that does not read
                writer.transport.abort()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _connect(self) -> _Streams:
        streams = await self._open()
        if streams is None and self._may_start:
            await _start_hub(self._home)
            streams = await self._open()
        if streams is None:
            raise TooltrayError("Tooltray is not running", f"nothing listens at {self._home.control_socket}", "Start it: tooltray serve")
        return streams

    async def _open(self) -> _Streams | None:
        for path in control_endpoints(self._home):
            try:
                reader, writer = await local.open_streams(path, MAX_SERVER_LINE_BYTES)
            except _NO_HUB:
                continue
            except PermissionError:
                raise _of_another_user(path) from None
            except OSError as error:
                message = f"{path}: {error.strerror or error}"
                raise TooltrayError("Tooltray cannot be reached", message, "Find out which program has this file open") from error
            if local.is_ours(writer.get_extra_info(local.CHANNEL), path):
                return reader, writer
            writer.transport.abort()
            raise _of_another_user(path)
        return None


async def _start_hub(home: Home) -> None:
    """Starts a hub from a separate process: starting one changes the child handling of its process, which belongs to another program here.

    Raises:
        TooltrayError: no hub could be started; the error gives the reason.
    """
    process = await asyncio.create_subprocess_exec(
        *module_command("tooltray.cli.hubs", os.fspath(home.root)),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    if process.returncode:
        reason = output.decode(errors="replace").strip()[-MESSAGE_CHARACTERS:]
        raise TooltrayError("Tooltray is not running and could not be started", reason, "To see why, run in a terminal: tooltray serve")


async def _reply(reader: asyncio.StreamReader) -> Message:
    """Reads messages up to the reply.

    Raises:
        HubLost: the hub ended.
        TooltrayError: the data is not a valid reply.
    """
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            raise TooltrayError("Tooltray's response is too large", f"it has more than {MAX_SERVER_LINE_BYTES:,} bytes") from None
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise HubLost
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise TooltrayError("Tooltray sent an answer that cannot be read", line[:80].decode(errors="replace"))
        if message.get("id") in (CALL_ID, None) and "method" not in message:
            return message


def _of_another_user(path: Path) -> TooltrayError:
    return TooltrayError("Tooltray's socket belongs to another user", str(path), "Choose another folder with TOOLTRAY_HOME")


def _message(method: str, params: object, **members: object) -> Message:
    return {"jsonrpc": "2.0", **members, "method": method, "params": params}


def _lines(*messages: Message) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)
