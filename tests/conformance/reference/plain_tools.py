"""Tools that answer without asking: every kind of content, log messages, progress, errors, and changes of the lists.

Names, texts and pauses are fixed by the conformance suite.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from mcp.server.subscriptions import InMemorySubscriptionBus, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError
from mcp.types import MISSING_REQUIRED_CLIENT_CAPABILITY
from tool_table import PROMPTS, SILENCE, TOOLS, Context, embedded, image, said, tool

PAUSE_S = 0.05  # between the steps that the suite wants to see apart
RECONNECT_S = 0.2  # a client whose stream was closed has to come back meanwhile
NEWCOMER = "newcomer"  # what comes and goes; the suite does not name it
BUS = InMemorySubscriptionBus()
"""What the modern era's `subscriptions/listen` streams hear."""

KEYWORDS_OF_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "$defs": {
        "address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
    },
    "additionalProperties": False,
}
REGION = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}


@tool()
async def test_simple_text(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One text."""
    return said("This is a simple text response for testing.")


@tool()
async def test_image_content(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One picture."""
    return said(image())


@tool()
async def test_audio_content(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One sound."""
    return said({"type": "audio", "data": SILENCE, "mimeType": "audio/wav"})


@tool()
async def test_embedded_resource(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One embedded resource."""
    return said(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))


@tool()
async def test_multiple_content_types(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A text, a picture and a resource."""
    data = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return said("Multiple content types test:", image(), data)


@tool()
async def test_tool_with_logging(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Three log messages on the way."""
    for step in ("execution started", "processing data", "execution completed"):
        await log(context, f"Tool {step}")
        await asyncio.sleep(PAUSE_S)
    return said("Tool with logging executed successfully")


@tool()
async def test_logging_tool(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One log message, for clients that asked for log messages."""
    await log(context, "logged on the way")
    return said("logged")


@tool()
async def test_tool_with_progress(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Three reports of progress on the way."""
    for step in (0, 50, 100):
        await context.session.report_progress(step, 100, f"Completed step {step} of 100")
        await asyncio.sleep(PAUSE_S)
    return said("Tool with progress executed successfully")


@tool()
async def test_error_handling(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A result that says it is an error."""
    return {**said("This tool intentionally returns an error for testing"), "isError": True}


@tool(REGION)
async def test_x_mcp_header(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An argument that HTTP clients of the modern era repeat in a header."""
    return said(f"region={arguments.get('region')}")


@tool()
async def test_missing_capability(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A call for clients that can sample; others get an error that says so."""
    capabilities = context.session.client_capabilities
    if capabilities is None or capabilities.sampling is None:
        needed = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(MISSING_REQUIRED_CLIENT_CAPABILITY, "the client has to declare 'sampling' for this tool", needed)
    return said("The client can sample.")


@tool(KEYWORDS_OF_2020_12)
async def json_schema_2020_12_tool(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A schema with keywords that must arrive as they are."""
    return said("valid")


@tool()
async def test_reconnection(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The response's stream ends before the reply; the client fetches it by reconnecting."""
    await log(context, "Before the stream is closed")
    if context.close_sse_stream:
        await context.close_sse_stream()
    await asyncio.sleep(RECONNECT_S)
    await log(context, "After the stream was closed")
    return said("Reconnection test completed")


@tool()
async def test_trigger_tool_change(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Adds a tool, or takes it away again, and says that the list has changed."""
    if TOOLS.pop(NEWCOMER, None) is None:
        TOOLS[NEWCOMER] = TOOLS["test_simple_text"]
    await BUS.publish(ToolsListChanged())
    await context.session.send_tool_list_changed()
    return said("The tools have changed.")


@tool()
async def test_trigger_prompt_change(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Adds a prompt, or takes it away again, and says that the list has changed."""
    if PROMPTS.pop(NEWCOMER, None) is None:
        PROMPTS[NEWCOMER] = ()
    await BUS.publish(PromptsListChanged())
    await context.session.send_prompt_list_changed()
    return said("The prompts have changed.")


async def log(context: Context, words: str) -> None:
    """A log message on the stream of this call."""
    await context.session.send_log_message("info", words, related_request_id=context.request_id)
