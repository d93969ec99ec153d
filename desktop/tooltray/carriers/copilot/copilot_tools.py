"""Makes a `Tool` of github-copilot-sdk for each tool of the hub; its handler calls the tool through the hub.

A handler never raises, which would break the session's stream: every failure of a call becomes a result that the model can read.
"""

import asyncio
import importlib
import json
import logging
import os
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tooltray.carriers.control.control_client import HubLost, HubSilent
from tooltray.carriers.copilot.hub_calls import HubCalls
from tooltray.catalogue.formats import contents
from tooltray.catalogue.formats.names import copilot_description, copilot_names, copilot_parameters
from tooltray.foundation.errors import TooltrayError, words_for_model
from tooltray.foundation.home.home import find_home
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse
from tooltray.foundation.verbs import JsonObject

if TYPE_CHECKING:
    from copilot import Tool, ToolBinaryResult, ToolInvocation, ToolResult, ToolResultType


UNKNOWN_TYPE = "application/octet-stream"
logger = logging.getLogger(__name__)
CALL_TIMEOUT_S = 30.0  # a user waits in a chat; the hub itself would wait for minutes
LIST_TIMEOUT_S = 60.0  # a hub may have to be started first, and then waits for servers that were never listed
SDK = "copilot"


def tool_result(response: MCPToolResponse) -> "ToolResult":
    """Converts a response. An error becomes a `failure` with its text, never `denied` or `rejected`, which may end the model's turn."""
    from copilot import ToolResult

    pieces = contents.pieces(response)
    binaries = [_binary(piece) for piece in pieces if isinstance(piece, contents.Media) and piece.data]
    words = [piece if isinstance(piece, str) else piece.words for piece in pieces if isinstance(piece, str) or not piece.data]
    text, has_failed = "\n\n".join(words), contents.is_error(response)
    return ToolResult(
        text_result_for_llm=text,
        result_type="failure" if has_failed else "success",
        error=text if has_failed else None,
        binary_results_for_llm=binaries or None,
    )


def failed(reason: str, result_type: "ToolResultType" = "failure") -> "ToolResult":
    """Makes the result of a call that could not be made; the model reads the reason and continues."""
    from copilot import ToolResult

    return ToolResult(text_result_for_llm=reason, result_type=result_type, error=reason)


def _binary(media: contents.Media) -> "ToolBinaryResult":
    from copilot import ToolBinaryResult

    return ToolBinaryResult(
        data=media.data,
        mime_type=media.mime_type or UNKNOWN_TYPE,
        type="image" if media.mime_type.startswith("image/") else "resource",
        description=media.uri or media.kind.lower(),
    )


Definitions = dict[tuple[str, str], JsonObject]  # by server, and the server's own name of the tool


class CopilotTools(list["Tool"]):
    """The tools at the time of the request. A list, so that it can be passed to a session directly."""

    def merge(self, own: "Iterable[Tool]") -> "list[Tool]":
        """Returns these tools together with a program's own, which come first.

        Two tools of one name cannot be in a session: the program's own is kept, and a warning is logged for the other.
        """
        own_tools = list(own)
        own_names = {tool.name for tool in own_tools}
        for tool in self:
            if tool.name in own_names:
                logger.warning("Tooltray's tool '%s' is left out: the program has a tool of its own with this name", tool.name)
        return [*own_tools, *(tool for tool in self if tool.name not in own_names)]


async def copilot_tools(
    *,
    home: str | os.PathLike[str] | None = None,
    servers: Collection[str] | None = None,
    timeout_s: float = CALL_TIMEOUT_S,
    may_start: bool = True,
) -> CopilotTools:
    """Makes a tool of every tool that AI clients see, called `mcp_<server>_<tool>`.

    The caller has nothing to close. Servers added later are in the next list: request one at the start of each conversation.

    Args:
        home: of the hub; None: TOOLTRAY_HOME, or the user's own.
        servers: only the tools of these.
        timeout_s: seconds after which a call is abandoned.
        may_start: whether a hub is started where none runs, now and when a tool is called; such a hub ends when no AI client uses it.

    Raises:
        TooltrayError: github-copilot-sdk is not installed, no hub runs and none can be started, or a server is unknown.
    """
    sdk = _sdk()
    hub = HubCalls(find_home(os.fspath(home) if home is not None else None), may_start=may_start)
    definitions = await _definitions(hub, servers)
    names = copilot_names(definitions)
    return CopilotTools(
        sdk.Tool(
            name=name,
            description=copilot_description(tool, definitions[tool]),
            parameters=copilot_parameters(definitions[tool].get("inputSchema")),
            handler=_HubTool(hub, tool[0], definitions[tool]["name"], timeout_s),
        )
        for tool, name in sorted(names.items(), key=lambda item: item[1])
    )


class _HubTool:
    """The handler of one tool."""

    def __init__(self, hub: HubCalls, server: str, name: str, timeout_s: float) -> None:
        """
        Args:
            name: the tool's name for AI clients.
        """
        self._hub, self._server, self._name, self._timeout_s = hub, server, name, timeout_s

    async def __call__(self, invocation: "ToolInvocation") -> "ToolResult":
        try:
            return tool_result(await self._response(invocation.tool_call_id, _arguments(invocation.arguments)))
        except HubSilent:
            return failed(f"'{self._name}' returned no result within {self._timeout_s:g} s", "timeout")
        except HubLost:
            return failed(f"'{self._name}' has no result: Tooltray ended during the call. Call again if repeating it is harmless.")
        except TooltrayError as error:
            return failed(words_for_model(error))
        except Exception as error:  # a bug of ours must not break a conversation
            logger.exception("the call of '%s' failed", self._name)
            return failed(f"'{self._name}' could not be called: {type(error).__name__}")

    async def _response(self, id: str, arguments: Mapping[str, object]) -> MCPToolResponse:
        call = MCPToolCall(id, self._name, arguments, self._server)
        return await self._hub.within(self._timeout_s).tools.run_tool_call(call=call)


def _sdk() -> Any:
    try:
        return importlib.import_module(SDK)
    except ImportError as error:
        title = "github-copilot-sdk is not installed" if error.name == SDK else "github-copilot-sdk cannot be imported"
        raise TooltrayError(title, str(error), "Install it: pip install github-copilot-sdk") from error


async def _definitions(hub: HubCalls, servers: Collection[str] | None) -> Definitions:
    """Returns the definitions for AI clients."""
    if servers is None:
        servers = [server.name for server in (await hub.within(LIST_TIMEOUT_S).hub.get_snapshot()).servers]
    found = await asyncio.gather(*(_definitions_of(hub, server) for server in dict.fromkeys(servers)))
    return {tool: definition for each in found for tool, definition in each.items()}


async def _definitions_of(hub: HubCalls, server: str) -> Definitions:
    api = hub.within(LIST_TIMEOUT_S)
    tools = await api.tools.get_tools(server=server)
    definitions = await api.tools.get_all_tool_definitions(server=server)
    for_models = [tool for tool in tools if not getattr(tool, "is_for_views", False)]  # a field that older hubs lack
    originals = {tool.name: tool.original_name for tool in for_models if tool.is_enabled}
    return {(server, originals[each["name"]]): each for each in definitions if each["name"] in originals}


def _arguments(given: object) -> dict[str, object]:
    """Parses the arguments of a call.

    Raises:
        TooltrayError: they are not a JSON object.
    """
    if given is None or given == "":
        return {}
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError) as error:
        raise TooltrayError("The arguments are not JSON", str(error)) from None
    if not isinstance(value, dict):
        raise TooltrayError("The arguments must be a JSON object", f"they are of type {type(value).__name__}")
    return value
