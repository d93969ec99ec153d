"""A server of which a test decides everything: what it answers and when, what it says by itself, and how it ends.

`ScriptedServer` is the program; each of its running copies is a `Copy`, which is a transport: it is reached by the same bytes as a process.
"""

import asyncio
import itertools
import json
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from msgspec import Raw
from tests.fakes.heard import Record

from tooltray.protocol.channels import MAX_SERVER_LINE_BYTES
from tooltray.protocol.deadlines import DeadlineWheel
from tooltray.protocol.dispatcher import RawDispatcher
from tooltray.protocol.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, Envelope, dump, failure, success
from tooltray.protocol.eras import MODERN_VERSIONS
from tooltray.servers.transports.transport import ConnectionFailure

Handler = Callable[["Copy", Any], Awaitable[Any] | Any]
"""Takes the copy and the params; returns the result, or an Envelope with a result or an error."""


def tool(name: str, **members: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def text(value: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}]}


async def never(copy: "Copy", params: Any) -> Any:
    await asyncio.get_running_loop().create_future()


_pids = itertools.count(10_000_000)  # beyond those of real processes


@dataclass(frozen=True, eq=False)
class Asked:
    """One request or notification that came in."""

    copy: "Copy"
    method: str
    params: Any
    id: Any = None


class ScriptedServer:
    """What is set here counts for all copies, also those that run.

    Attributes:
        tools: what is listed, in one page.
        handlers: what answers a method, instead of what is usual.
        calls: what answers the call of a tool; others echo their argument `text`.
        asked: all requests, as they come in.
        told: all notifications.
        cancelled: the requests that the hub gave up.
        copies: all copies that were made, also those that have ended.
        fails_to_open: raised by the next copies' `open`.
        may_end: a copy that is told to end waits for this; set unless a test clears it.
    """

    def __init__(self, *tools: dict[str, Any], eras: tuple[str, ...] = ("legacy",)) -> None:
        self.tools, self.eras = list(tools), eras
        self.handlers: dict[str, Handler] = {}
        self.calls: dict[str, Handler] = {"hang": never}
        self.asked: Record[Asked] = Record()
        self.told: Record[Asked] = Record()
        self.cancelled: Record[Asked] = Record()
        self.copies: Record[Copy] = Record()
        self.closing: Record[Copy] = Record()
        self.fails_to_open: Exception | None = None
        self.may_end = asyncio.Event()
        self.may_end.set()

    def __call__(self, *, name: str, launch: Any = None, log: deque[str] | None = None, mask: Callable[[str], str] = str) -> "Copy":
        copy = Copy(self, name, launch, log if log is not None else deque(), mask)
        self.copies.add(copy)
        return copy

    @property
    def copy(self) -> "Copy":
        """The one made last."""
        return self.copies.all[-1]

    @property
    def running(self) -> list["Copy"]:
        return [copy for copy in self.copies.all if copy.is_open]

    def hold(self, method: str) -> asyncio.Event:
        """From now on requests of a method wait for the event that is returned."""
        go_on, usual = asyncio.Event(), self.handlers.get(method)

        async def answer(copy: "Copy", params: Any) -> Any:
            await go_on.wait()
            return await _settled((usual or copy.usual(method))(copy, params))

        self.handlers[method] = answer
        return go_on

    def count(self, method: str) -> int:
        return sum(asked.method == method for asked in self.asked.all)

    async def request(self, method: str, *, count: int = 1) -> Asked:
        """Waits for a request, for the `count`-th time."""
        return await self.asked.wait(lambda asked: asked.method == method, count=count)

    async def call(self, name: str, *, count: int = 1) -> Asked:
        """Waits for the call of a tool."""
        return await self.asked.wait(lambda asked: asked.method == "tools/call" and asked.params["name"] == name, count=count)


class Copy:
    """One running copy; satisfies Transport."""

    def __init__(self, server: ScriptedServer, name: str, launch: Any, log: deque[str], mask: Callable[[str], str]) -> None:
        self.server, self.name, self.launch, self._log, self._mask = server, name, launch, log, mask
        self.is_open = False
        self.may_end = server.may_end  # a test may give it one of its own
        self.pids: tuple[int, ...] = ()
        self.exit_code: int | None = None
        self.has_expired = False
        self.failure: ConnectionFailure | None = None
        self.output: Any = None
        self._hub: RawDispatcher | None = None
        self._far_end = RawDispatcher(
            name="scripted",
            deadlines=DeadlineWheel(),
            answer=self._answer,
            take_notification=self._take_notification,
            max_line_bytes=MAX_SERVER_LINE_BYTES,
        )

    async def open(self, dispatcher: RawDispatcher) -> None:
        if self.server.fails_to_open:
            raise self.server.fails_to_open
        self._hub = dispatcher
        self._far_end.attach(_Wire(dispatcher))
        dispatcher.attach(_Wire(self._far_end))
        self.is_open, self.pids = True, (next(_pids),)

    async def close(self) -> None:
        self.server.closing.add(self)
        await self.may_end.wait()
        self.is_open, self.pids = False, ()
        self.exit_code = 0 if self.exit_code is None else self.exit_code
        await self._far_end.close("the copy has ended")
        self.server.copies.look()

    # what a test makes it do

    def die(self, last_line: str = "out of cheese", *, exit_code: int = 1) -> None:
        """As a process that ends by itself."""
        assert self._hub is not None
        self._log.append(self._mask(last_line))
        self.exit_code, self.pids, self.is_open = exit_code, (), False
        self._far_end.connection_lost("died")
        self._hub.connection_lost(f"server '{self.name}' ended with exit code {exit_code}: {last_line}")

    def say(self, line: bytes) -> None:
        """Writes bytes to its stdout."""
        assert self._hub is not None
        self._hub.feed(line + b"\n")

    def notify(self, method: str, params: Any = None) -> None:
        self._far_end.send_notification(method, dump({} if params is None else params))

    async def ask(self, method: str, params: Any = None) -> Any:
        """A request to the hub; returns its result, or its error."""
        reply = await self._far_end.call(method, dump({} if params is None else params))
        return json.loads(bytes(reply.error or reply.result))

    # what it answers

    def usual(self, method: str) -> Handler:
        return {
            "initialize": _initialize,
            "server/discover": _discover,
            "ping": lambda copy, params: {},
            "tools/list": lambda copy, params: {"tools": copy.server.tools},
            "tools/call": _call,
        }.get(method, _unknown)

    async def _answer(self, request: Envelope) -> Envelope:
        asked = Asked(self, request.method, _loaded(request.params), _loaded(request.id))
        self.server.asked.add(asked)
        handler = self.server.handlers.get(request.method) or self.usual(request.method)
        try:
            reply = await _settled(handler(self, asked.params))
        except asyncio.CancelledError:
            self.server.cancelled.add(asked)
            raise
        return reply if isinstance(reply, Envelope) else success(reply)

    def _take_notification(self, message: Envelope) -> None:
        self.server.told.add(Asked(self, message.method, _loaded(message.params)))


class ScriptedBuiltIn:
    """The hub's own server, with one tool."""

    async def answer(self, request: Envelope) -> Envelope:
        replies: dict[str, Any] = {
            "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}},
            "tools/list": {"tools": [tool("list_servers")]},
            "tools/call": text("from the hub"),
        }
        return Envelope(result=dump(replies[request.method])) if request.method in replies else error(-32601, "Method not found")


class _Wire:
    """One direction; delivers in the loop's next turn, as a pipe would."""

    def __init__(self, target: RawDispatcher) -> None:
        self._target = target

    def write(self, data: bytes | memoryview) -> None:
        asyncio.get_running_loop().call_soon(self._target.feed, bytes(data))

    def close(self) -> None:
        pass


def raw(json_text: bytes) -> Envelope:
    """A result that no Python value stands for."""
    return Envelope(result=Raw(json_text))


def error(code: int, message: str, data: Any = None) -> Envelope:
    return failure(code, message, data)


async def _settled(value: Any) -> Any:
    return await value if asyncio.iscoroutine(value) else value


def _loaded(params: Raw) -> Any:
    return json.loads(bytes(params)) if params else {}


def _initialize(copy: Copy, params: Any) -> Any:
    if "legacy" not in copy.server.eras:
        return failure(METHOD_NOT_FOUND, "Method not found")
    info = {"name": "scripted", "version": "1"}
    return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": True}}, "serverInfo": info}


def _discover(copy: Copy, params: Any) -> Any:
    if "modern" not in copy.server.eras:
        return failure(METHOD_NOT_FOUND, "Method not found")
    return {"resultType": "complete", "supportedVersions": list(MODERN_VERSIONS), "capabilities": {"tools": {}}}


def _call(copy: Copy, params: Any) -> Any:
    if handler := copy.server.calls.get(params["name"]):
        return handler(copy, params)
    if params["name"] not in [each["name"] for each in copy.server.tools]:
        return failure(INVALID_PARAMS, f"Unknown tool: {params['name']}")
    return text(str(params.get("arguments", {}).get("text", "")))


def _unknown(copy: Copy, params: Any) -> Any:
    return failure(METHOD_NOT_FOUND, "Method not found")
