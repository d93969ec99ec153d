"""The REST operations on tools, prompts, resources and skills, and on the formats of model providers.

Above it: the table of all operations. Below it: the presenter's API.
"""

from typing import Any, Literal, Protocol

from tooltray.api.presenter.mcp_presenter import McpPresenter
from tooltray.carriers.rest.operation import Call, Operation
from tooltray.catalogue.formats.api import FormatsApi
from tooltray.catalogue.formats.copilot_names import copilot_description, copilot_names, copilot_parameters
from tooltray.catalogue.views.api import ViewsApi
from tooltray.consent.skills.api import SkillsApi
from tooltray.foundation.remote import JsonObject
from tooltray.foundation.snapshots.skills import SkillSnapshot
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.gateway.calls.api import PromptsApi, ResourcesApi, ToolsApi
from tooltray.gateway.calls.tries import TriesApi
from tooltray.gateway.server_tasks.api import ServerTasksApi

Format = Literal["openai", "openai-responses", "anthropic", "gemini", "copilot", "mcp"]
MAX_CONTENT_BYTES = 32 * 1024 * 1024  # callers send back results, which may contain pictures


class Asks(Protocol):
    """What operations take and give where that is not as the verb has it."""

    async def tools(self, server: str | None = None, format: Format | None = None) -> list[JsonObject]:
        """All tools known, or in a format: those that AI clients see. Gemini's are one object around all of them."""

    async def lazy(self, enabled: bool | None = None) -> None: ...


async def _tools(call: Call) -> Any:
    presenter, server = call.presenter, call.arguments.get("server")
    match call.arguments.get("format"):
        case "openai":
            return await presenter.formats.mcp_tools_to_openai_tools(server)
        case "openai-responses":
            return await presenter.formats.mcp_tools_to_openai_tools(server, "responses")
        case "anthropic":
            return await presenter.formats.mcp_tools_to_anthropic_tools(server)
        case "gemini":
            return await presenter.formats.mcp_tools_to_gemini_tools(server)
        case "copilot":
            return await _copilot_tools(presenter, server)
        case "mcp":
            return await presenter.tools.get_all_tool_definitions(server)
    return await presenter.tools.get_tools(server)


async def _copilot_tools(presenter: McpPresenter, server: str | None) -> list[JsonObject]:
    """Returns name, description and parameters of each tool for the `Tool` class of the Copilot SDK."""
    definitions = {each["name"]: each for each in await presenter.tools.get_all_tool_definitions(server)}
    published = {
        (tool.server, tool.original_name): tool.name for tool in await presenter.tools.get_tools(server) if tool.name in definitions
    }
    names = copilot_names(published)
    return [
        {
            "name": names[tool],
            "description": copilot_description(tool, definitions[name]),
            "parameters": copilot_parameters(definitions[name].get("inputSchema")),
            "tool": name,
        }
        for tool, name in published.items()
    ]


def _tool_key(tool: ToolSnapshot | JsonObject) -> str:
    if isinstance(tool, ToolSnapshot):
        return f"{tool.server}/{tool.original_name}"
    name = tool.get("name") or tool.get("function", {}).get("name", "")
    return str(name)


def _skill_key(skill: SkillSnapshot) -> str:
    return skill.uri


def _named(offer: JsonObject) -> str:
    return str(offer.get("uri") or offer.get("uriTemplate") or offer["name"])


FORMAT_VERBS = (
    FormatsApi.mcp_tools_to_openai_tools,
    FormatsApi.mcp_tools_to_anthropic_tools,
    FormatsApi.mcp_tools_to_gemini_tools,
    ToolsApi.get_all_tool_definitions,
)

FORMAT_RESPONSES = {
    "openai": FormatsApi.mcp_response_to_openai,
    "anthropic": FormatsApi.mcp_response_to_anthropic,
    "gemini": FormatsApi.mcp_response_to_gemini,
}

OPERATIONS = (
    Operation(
        "GET",
        "/mcp/tools",
        ToolsApi.get_tools,
        "All tools, as a list or in a format",
        asks=Asks.tools,
        run=_tools,
        page_key=_tool_key,
        also=FORMAT_VERBS,
    ),
    Operation("POST", "/mcp/tools/call", ToolsApi.call_tool, scope="call"),
    Operation("POST", "/mcp/tools/run", ToolsApi.run_tool_call, whole="call", scope="call"),
    Operation("POST", "/mcp/tries/{attempt}", TriesApi.try_tool, scope="call"),
    Operation("DELETE", "/mcp/tries/{attempt}", TriesApi.cancel_try, status=204, scope="call"),
    Operation("GET", "/mcp/tool-costs", ViewsApi.get_tool_costs),
    Operation("POST", "/mcp/tool-names/reset", ToolsApi.reset_tool_names, status=204),
    Operation("PUT", "/mcp/lazy-load", ViewsApi.set_lazy_load, status=204, asks=Asks.lazy),
    Operation("GET", "/mcp/prompts", PromptsApi.get_all_prompts, page_key=_named),
    Operation("POST", "/mcp/prompts/get", PromptsApi.get_prompt, scope="call"),
    Operation("POST", "/mcp/prompts/complete", PromptsApi.complete_prompt, wrap="values", scope="call"),
    Operation("GET", "/mcp/resources", ResourcesApi.get_all_resources, page_key=_named),
    Operation("GET", "/mcp/resource-templates", ResourcesApi.get_all_resource_templates, page_key=_named),
    Operation("POST", "/mcp/resource-templates/complete", ResourcesApi.complete_resource, wrap="values", scope="call"),
    Operation("POST", "/mcp/resources/read", ResourcesApi.read_resource, scope="call"),
    Operation("POST", "/mcp/resources/subscribe", ResourcesApi.subscribe_resource, status=204, scope="call"),
    Operation("POST", "/mcp/resources/unsubscribe", ResourcesApi.unsubscribe_resource, status=204, scope="call"),
    Operation("GET", "/mcp/skills", SkillsApi.get_skills, page_key=_skill_key),
    Operation("POST", "/mcp/skills/get", SkillsApi.get_skill, scope="call"),
    Operation(
        "POST",
        "/mcp/formats/openai/call",
        FormatsApi.openai_tools_to_mcp_tool,
        summary="A tool call of OpenAI's API, of either kind, as `tools/run` takes it",
        whole="call",
        scope="call",
    ),
    Operation(
        "POST",
        "/mcp/formats/anthropic/call",
        FormatsApi.anthropic_tool_use_to_mcp_tool,
        summary="A `tool_use` block of Anthropic's API, as `tools/run` takes it",
        whole="tool_use",
        scope="call",
    ),
    Operation(
        "POST",
        "/mcp/formats/gemini/call",
        FormatsApi.gemini_function_call_to_mcp_tool,
        summary="A `functionCall` part of Gemini's API, as `tools/run` takes it",
        whole="function_call",
        scope="call",
    ),
    *(
        Operation(
            "POST",
            f"/mcp/formats/{name}/response",
            verb,
            summary=f"What `tools/run` gave, in the form that the {name} API wants back",
            whole="response",
            scope="call",
            max_body_bytes=MAX_CONTENT_BYTES,
        )
        for name, verb in FORMAT_RESPONSES.items()
    ),
    Operation("GET", "/mcp/tasks", ServerTasksApi.get_server_tasks),
    Operation("POST", "/mcp/tasks/{id}/cancel", ServerTasksApi.cancel_server_task, status=204),
)
