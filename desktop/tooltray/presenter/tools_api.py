"""Verbs of McpPresenter about tools, by the names that AI clients see, and calls of them for ourselves. Mixed into it.

Below it: the managers of tools and prompts, and ToolCalls: what is called here goes the way of an AI client's call, for a caller that
cannot be asked anything.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Raw

from tooltray.approvals.approvals import Approvals
from tooltray.calls import model_calls
from tooltray.calls.model_calls import ModelCall
from tooltray.calls.tool_call import ToolCalls
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.entries.proposals import Proposals
from tooltray.errors import TooltrayError
from tooltray.projects.projects import Projects
from tooltray.protocol import envelope
from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Head
from tooltray.server_files.server_files import ServerFiles
from tooltray.sessions.exchange import Exchange
from tooltray.sessions.own_caller import OwnCaller
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.snapshots.tools import ToolSnapshot
from tooltray.upstream.held_calls import HeldCalls

OWN_CLIENT_NAME = "tooltray"  # calls of the command line and the desktop, in the records


class ToolVerbs(ABC):
    _config: McpConfHelper
    _files: ServerFiles
    _proposals: Proposals
    _projects: Projects
    _approvals: Approvals
    _tools: ToolManager
    _prompts: PromptManager
    _calls: ToolCalls
    _caller: OwnCaller
    _own_calls: HeldCalls

    @abstractmethod
    def _check_server(self, server: str | None) -> None: ...

    @abstractmethod
    def _check_is_in_settings(self, name: str) -> None: ...

    async def get_all_tool_definitions(self, server: str | None = None) -> list[dict[str, Any]]:
        """The definitions that AI clients see, with the names that they see.

        Raises:
            TooltrayError: there is no such server.
        """
        self._check_server(server)
        return [envelope.load(route.published(name)) for name, route in await self._tools.published(server)]

    async def get_tools(self, server: str | None = None) -> list[ToolSnapshot]:
        """All tools known, also those switched off.

        Raises:
            TooltrayError: there is no such server.
        """
        if server and self._proposals.is_new(server):
            return []
        self._check_server(server)
        return self._approvals.with_held(await self._tools.snapshots(server))

    async def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        """Offers a tool to AI clients or no longer. `tool`: the server's own name for it.

        Raises:
            TooltrayError: there is no such server in the settings.
        """
        self._check_is_in_settings(server)
        disabled = self._config.settings.mcp_servers[server].disabled_tools
        others = [each for each in disabled if each != tool]
        await self._config.change_server(server, disabled_tools=others if enabled else [*others, tool])

    async def call_tool(self, name: str, arguments: Mapping[str, Any], project: str | None = None) -> dict[str, Any]:
        """Calls a tool by the name that AI clients see, and returns the result object.

        Args:
            project: the folder of the project for which a server that waits for one answers; one that is allowed.

        Raises:
            TooltrayError: there is no such tool, it is not approved, its server failed, or the folder may be no project.
        """
        caller = self._caller
        if project is not None:
            caller = caller.in_project(await self._projects.named(project))
            await self._files.before_listing(caller)
            await self._projects.before_listing(caller, None)
        reply = await self._call(name, arguments, caller=caller)
        if reply.error:
            raise TooltrayError(f"'{name}' could not be called", model_calls.error_message(reply))
        return model_calls.result_of(reply)

    async def run_tool_call(self, call: MCPToolCall) -> MCPToolResponse:
        """Carries out a tool call of a model. What fails is a response too, which the model can read.

        Args:
            call: as one of the formats gave it; its `name` as AI clients see the tool.
        """
        made = ModelCall(call, client=OWN_CLIENT_NAME)
        return made.response(await self._call(call.name, call.arguments, on_record=made.add))

    def tool_schema(self, name: str, server: str | None) -> Raw | None:
        """The schema of a tool's arguments, by the name that AI clients see; None if there is no such tool."""
        return self._tools.published_schema(name, server)

    async def reset_tool_names(self) -> None:
        """Forgets the published names; AI clients may then know tools by other names."""
        await self._tools.forget_names()
        await self._prompts.forget_names()

    async def _call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        caller: OwnCaller | None = None,
        on_record: Callable[[MCPToolResponse], None] | None = None,
    ) -> Envelope:
        """A call of a tool for ourselves, by the name that AI clients see."""
        request = Envelope(method="tools/call", params=dump({"name": name, "arguments": dict(arguments)}))
        await self._tools.listing(None)
        exchange = Exchange(request, Head(name=name), caller or self._caller, self._own_calls, None, OWN_CLIENT_NAME)
        return await self._calls.call(exchange, on_record=on_record)
