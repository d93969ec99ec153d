"""Calls of tools for ourselves: the command line, the desktop and programs go the way of an AI client's call.

Above it: the API. Below it: ToolCalls. The caller cannot be asked anything, and works on a project only where the call names one.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tooltray.calls.tool_call import ToolCalls
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.projects.projects import Projects
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Head
from tooltray.server_files.server_files import ServerFiles
from tooltray.sessions.caller import OwnCaller
from tooltray.sessions.exchange import Exchange
from tooltray.snapshots.calls import MCPToolResponse
from tooltray.upstream.held_calls import HeldCalls

OWN_CLIENT_NAME = "tooltray"  # calls of the command line and the desktop, in the records


class OwnCalls:
    """Belongs to the engine's loop."""

    def __init__(
        self, *, tools: ToolManager, calls: ToolCalls, projects: Projects, files: ServerFiles, caller: OwnCaller, held: HeldCalls
    ) -> None:
        self._tools, self._calls, self._projects, self._files = tools, calls, projects, files
        self._caller, self._held = caller, held

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        project: str | None = None,
        on_record: Callable[[MCPToolResponse], None] | None = None,
    ) -> Envelope:
        """Calls a tool by the name that AI clients see.

        Args:
            project: the folder of the project for which a server that waits for one answers.
            on_record: gets the record of the call.

        Raises:
            TooltrayError: the folder may be no project.
        """
        caller = self._caller if project is None else await self._in_project(project)
        request = Envelope(method="tools/call", params=dump({"name": name, "arguments": dict(arguments)}))
        await self._tools.listing(None)
        exchange = Exchange(request, Head(name=name), caller, self._held, None, OWN_CLIENT_NAME)
        return await self._calls.call(exchange, on_record=on_record)

    async def _in_project(self, project: str) -> OwnCaller:
        caller = self._caller.in_project(await self._projects.named(project))
        await self._files.before_listing(caller)
        await self._projects.before_listing(caller, None)
        return caller
