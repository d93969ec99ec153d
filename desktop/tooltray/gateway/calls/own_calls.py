"""Calls of tools for ourselves: the command line, the desktop and programs go the way of an AI client's call. The caller cannot be asked
anything, unless the user watches the call, and works on a project only where the call names one.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec.structs import replace

from tooltray.catalogue.formats.contents import failed
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.foundation.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.gateway.calls.tool_call import ToolCalls
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Head, Meta
from tooltray.protocol.sessions.caller import Caller, OwnCaller, Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.sources.projects.projects import Projects

UNREADABLE = "The tool's result is nested too deeply to be read."


class ModelCall:
    """One call, from its start; `add` takes its record."""

    def __init__(self, call: MCPToolCall, *, client: str) -> None:
        self._call, self._client = call, client
        self._started_at = time.perf_counter()
        self._record: MCPToolResponse | None = None

    def add(self, record: MCPToolResponse) -> None:
        self._record = record

    def response(self, reply: Envelope) -> MCPToolResponse:
        """Returns the record with the result in it; a call that went nowhere has no record, and is an error."""
        result = failed(error_message(reply)) if reply.error else result_of(reply)
        return replace(self._record or self._unrecorded(result), result=result)

    def _unrecorded(self, result: dict[str, Any]) -> MCPToolResponse:
        duration_s = time.perf_counter() - self._started_at
        arguments_size, size = (len(bytes(dump(each))) for each in (dict(self._call.arguments), result))
        return MCPToolResponse(self._call.name, self._call.server, self._client, "error", duration_s, arguments_size, size, self._call.id)


def error_message(reply: Envelope) -> str:
    """Returns the message of a reply that is an error."""
    return str(envelope.load(reply.error).get("message", ""))


def result_of(reply: Envelope) -> dict[str, Any]:
    """Returns the result of a reply that is no error."""
    try:
        result: dict[str, Any] = envelope.load(reply.result)
    except ValueError:
        return failed(UNREADABLE)
    return result


OWN_CLIENT_NAME = "tooltray"  # calls of the command line and the desktop, in the records

Watched = tuple[str, Callable[[OwnCaller], Caller]]
"""The progress token of a call that somebody watches, and what makes the caller that is asked and told in the place of our own."""


class OwnCalls:
    """Makes calls for the command line, the desktop and programs. Belongs to the engine's loop."""

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

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        id: str = "",
        project: str | None = None,
        on_record: Callable[[MCPToolResponse], None] | None = None,
        watched: Watched | None = None,
        is_models: bool = False,
    ) -> Envelope:
        """Calls a tool by the name that AI clients see.

        Args:
            id: by which the caller knows the call; empty: one is made.
            project: the folder of the project for which a server that waits for one answers.
            on_record: gets the record of the call.
            watched: the caller that is asked and notified meanwhile; None: there is none.
            is_models: a model reads what comes of it.

        Raises:
            TooltrayError: the folder may be no project.
        """
        own = self._caller if project is None else await self._in_project(project)
        own = own.for_model() if is_models else own
        params: dict[str, Any] = {"name": name, "arguments": dict(arguments)}
        caller: Caller = own
        head = Head(name=name)
        if watched:
            token, stand_in = watched
            params["_meta"] = {"progressToken": token}
            head, caller = Head(name=name, meta=Meta(progress_token=dump(token))), stand_in(own)
        request = Envelope(method="tools/call", params=dump(params))
        await self._tools.listing(None)
        exchange = Exchange(request, head, caller, self._held, None, OWN_CLIENT_NAME)
        exchange.course.id = id
        reply = await self._calls.call(exchange)
        if on_record and exchange.course.record:
            on_record(exchange.course.record)
        return reply

    def server_of(self, name: str) -> str:
        """Returns the server whose tool has this name; empty where that is not known."""
        target = self._tools.target(name, None)
        return target[0] if target else ""

    async def _in_project(self, project: str) -> OwnCaller:
        caller = self._caller.in_project(await self._projects.named(project))
        await self._look_at_project(caller)
        await self._projects.before_listing(caller, None)
        return caller
