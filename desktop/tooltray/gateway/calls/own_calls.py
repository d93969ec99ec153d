"""Calls of tools for the command line, the desktop and programs, handled like an AI client's call. The caller cannot be asked anything,
unless the user watches the call, and works on a project only where the call names one.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec.structs import replace

from tooltray.catalogue.formats.contents import failed
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.foundation.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.gateway.calls.stage import ERROR
from tooltray.gateway.calls.tool_call import ToolCalls
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Head, Meta
from tooltray.protocol.sessions.caller import Caller, OwnCaller, Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.sources.projects.projects import Projects

UNREADABLE = "The tool's result is nested too deeply to be read."
OWN_CLIENT_NAME = "tooltray"  # calls of the command line and the desktop, in the records
Watched = tuple[str, Callable[[OwnCaller], Caller]]
"""The progress token of a call that the user watches, and a function that makes the caller to ask and notify instead of our own."""


def error_message(reply: Envelope) -> str:
    """Returns the message of a reply that is an error."""
    return str(envelope.load(reply.error).get("message", ""))


def result_of(reply: Envelope) -> dict[str, Any]:
    """Returns the result of a successful reply."""
    try:
        result: dict[str, Any] = envelope.load(reply.result)
    except ValueError:
        return failed(UNREADABLE)
    return result


class OwnCalls:
    """The calls of the command line, the desktop and programs. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        tools: ToolManager,
        calls: ToolCalls,
        projects: Projects,
        look_at_project: Callable[[Session], Awaitable[None]],
        caller: OwnCaller,
        held: HeldCalls,
    ) -> None:
        """
        Args:
            look_at_project: waits, bounded, until the servers of a session's own project are known.
        """
        self._tools, self._calls, self._projects, self._look_at_project = tools, calls, projects, look_at_project
        self._caller, self._held = caller, held

    async def call(self, name: str, arguments: Mapping[str, Any], *, project: str | None = None) -> Envelope:
        """Calls a tool by the name that AI clients see; returns the reply as it came. See `run`."""
        return (await self._call(MCPToolCall("", name, arguments), project))[0]

    async def run(
        self, call: MCPToolCall, *, project: str | None = None, watched: Watched | None = None, is_models: bool = False
    ) -> MCPToolResponse:
        """Returns the record of a call with its result; the result of a call that failed is an error with the reason.

        Args:
            call: its `name` as AI clients see the tool.
            project: the folder of the project for which a server that waits for one answers.
            watched: the caller that is asked and notified meanwhile; None without one.
            is_models: a model reads the result.

        Raises:
            TooltrayError: the folder may be no project.
        """
        started_at = time.perf_counter()
        reply, record = await self._call(call, project, watched, is_models=is_models)
        result = failed(error_message(reply)) if reply.error else result_of(reply)
        if record is None:  # it went nowhere
            duration_s = time.perf_counter() - started_at
            sent, got = (len(bytes(dump(each))) for each in (dict(call.arguments), result))
            record = MCPToolResponse(call.name, call.server, OWN_CLIENT_NAME, ERROR, duration_s, sent, got, call.id)
        return replace(record, result=result)

    async def _call(
        self, call: MCPToolCall, project: str | None, watched: Watched | None = None, *, is_models: bool = False
    ) -> tuple[Envelope, MCPToolResponse | None]:
        own = self._caller if project is None else await self._in_project(project)
        own = own.for_model() if is_models else own
        params: dict[str, Any] = {"name": call.name, "arguments": dict(call.arguments)}
        caller: Caller = own
        head = Head(name=call.name)
        if watched:
            token, stand_in = watched
            params["_meta"] = {"progressToken": token}
            head, caller = Head(name=call.name, meta=Meta(progress_token=dump(token))), stand_in(own)
        request = Envelope(method="tools/call", params=dump(params))
        await self._tools.listing(None)
        exchange = Exchange(request, head, caller, self._held, None, OWN_CLIENT_NAME)
        exchange.course.id = call.id
        return await self._calls.call(exchange), exchange.course.record

    def server_of(self, name: str) -> str:
        """Returns the server whose tool has this name; empty where that is not known."""
        target = self._tools.target(name, None)
        return target[0] if target else ""

    async def _in_project(self, project: str) -> OwnCaller:
        caller = self._caller.in_project(await self._projects.named(project))
        await self._look_at_project(caller)
        await self._projects.before_listing(caller, None)
        return caller
