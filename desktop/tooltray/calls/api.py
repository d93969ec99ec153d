"""The API about tools, by the names that AI clients see, and calls of them for ourselves.

Below it: the managers of tools and prompts, and OwnCalls: what is called here goes the way of an AI client's call.
"""

from collections.abc import Mapping
from typing import Any

from tooltray.approvals.approvals import Approvals
from tooltray.calls import model_calls
from tooltray.calls.model_calls import ModelCall
from tooltray.calls.own_calls import OWN_CLIENT_NAME, OwnCalls
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.entries.api import check_exists, check_is_in_settings
from tooltray.entries.proposals import Proposals
from tooltray.errors import TooltrayError
from tooltray.protocol import envelope
from tooltray.settings.mcp_conf_helper import McpConfHelper
from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse
from tooltray.snapshots.tools import ToolSnapshot
from tooltray.upstream.server_manager import ServerManager


class ToolsApi:
    def __init__(
        self,
        *,
        config: McpConfHelper,
        servers: ServerManager,
        tools: ToolManager,
        prompts: PromptManager,
        approvals: Approvals,
        proposals: Proposals,
        calls: OwnCalls,
    ) -> None:
        self._config, self._servers, self._tools, self._prompts = config, servers, tools, prompts
        self._approvals, self._proposals, self._calls = approvals, proposals, calls

    async def get_all_tool_definitions(self, server: str | None = None) -> list[dict[str, Any]]:
        """The definitions that AI clients see, with the names that they see.

        Raises:
            TooltrayError: there is no such server.
        """
        check_exists(self._servers, server)
        return [envelope.load(route.published(name)) for name, route in await self._tools.published(server)]

    async def get_tools(self, server: str | None = None) -> list[ToolSnapshot]:
        """All tools known, also those switched off.

        Raises:
            TooltrayError: there is no such server.
        """
        if server and self._proposals.is_new(server):
            return []
        check_exists(self._servers, server)
        return self._approvals.with_held(await self._tools.snapshots(server))

    async def set_tool_enabled(self, server: str, tool: str, enabled: bool) -> None:
        """Offers a tool to AI clients or no longer. `tool`: the server's own name for it.

        Raises:
            TooltrayError: there is no such server in the settings.
        """
        check_is_in_settings(self._servers, server)
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
        reply = await self._calls.call(name, arguments, project=project)
        if reply.error:
            raise TooltrayError(f"'{name}' could not be called", model_calls.error_message(reply))
        return model_calls.result_of(reply)

    async def run_tool_call(self, call: MCPToolCall) -> MCPToolResponse:
        """Carries out a tool call of a model. What fails is a response too, which the model can read.

        Args:
            call: as one of the formats gave it; its `name` as AI clients see the tool.
        """
        made = ModelCall(call, client=OWN_CLIENT_NAME)
        return made.response(await self._calls.call(call.name, call.arguments, on_record=made.add))

    async def reset_tool_names(self) -> None:
        """Forgets the published names; AI clients may then know tools by other names."""
        await self._tools.forget_names()
        await self._prompts.forget_names()
