"""Tools for what the suite does not ask: structured content, links, errors of the protocol, URL elicitation, cancellation, updates.

`reference_ts` has the same ones. They stand on the second page of the list of tools, where the suite does not look.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from mcp.server.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPError
from plain_tools import BUS
from questions import answers, is_modern
from tool_table import PIXEL, Context, said, strings, tool

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
SPECIAL_CODE = -32050
CANCELLED_S = 10.0  # for a cancellation to arrive on a busy machine
LEVEL_KEY = "io.modelcontextprotocol/logLevel"
WEATHER = {
    "type": "object",
    "properties": {"temperature": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}},
    "required": ["temperature", "tags"],
}
LISTED: Mapping[str, dict[str, Any]] = {
    "peer_structured": {
        "title": "Weather",
        "outputSchema": WEATHER,
        "annotations": {"title": "Weather of today", "readOnlyHint": True, "openWorldHint": False},
        "icons": [{"src": "data:image/png;base64," + PIXEL, "mimeType": "image/png", "sizes": ["1x1"]}],
        "_meta": {"example.org/kept": [1, {"two": None}]},
    }
}
"""What else stands in the list about a tool."""

level = "debug"
subscribed: set[str] = set()
cancelled: dict[str, asyncio.Event] = {}


@tool()
async def peer_structured(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Structured content, which its output schema describes."""
    weather = {"temperature": 22.5, "tags": ["sunny", "mild"]}
    return {**said(json.dumps(weather)), "structuredContent": weather}


@tool({"type": "object"})
async def peer_echo(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments and the metadata that arrived."""
    meta = (context.params or {}).get("_meta") or {}
    kept = {key: value for key, value in meta.items() if key.startswith("example.org/") or key == "traceparent"}
    return {**said(json.dumps({"arguments": arguments, "meta": kept}, sort_keys=True)), "_meta": {"example.org/result": {"kept": True}}}


@tool()
async def peer_links(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A link to a resource, and one that is embedded as bytes."""
    link = {"type": "resource_link", "uri": "test://static-text", "name": "static-text", "mimeType": "text/plain"}
    blob = {"type": "resource", "resource": {"uri": "test://static-binary", "mimeType": "image/png", "blob": PIXEL}}
    words = {"type": "text", "text": "for the person", "annotations": {"audience": ["user"], "priority": 0.5}}
    return said(link, blob, words)


@tool()
async def peer_fail(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An error of the protocol with a code and data of its own."""
    raise MCPError(SPECIAL_CODE, "out of order", {"why": ["it", {"is": "so"}]})


@tool(strings("url"))
async def peer_ask_url(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Asks the person to open an address."""
    params = {"mode": "url", "message": "Please sign in", "url": arguments["url"], "elicitationId": "sign-in"}
    found = await answers(context, visit={"method": "elicitation/create", "params": params})
    return said(f"action={found['visit']['action']}")


@tool(strings("key"))
async def peer_wait(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Reports progress once, and ends only when it is cancelled."""
    noticed = cancelled.setdefault(arguments["key"], asyncio.Event())
    try:
        await context.session.report_progress(1, 2, "waiting")
        await asyncio.Event().wait()
    finally:
        noticed.set()
    return said("never")


@tool(strings("key"))
async def peer_cancelled(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the call of `peer_wait` with this key was cancelled; waits for it."""
    async with asyncio.timeout(CANCELLED_S):
        await cancelled.setdefault(arguments["key"], asyncio.Event()).wait()
    return said("cancelled")


@tool()
async def peer_levels(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A log message of each of three levels, as far as the client wants them."""
    meta = (context.params or {}).get("_meta") or {}
    wanted = meta.get(LEVEL_KEY) if is_modern(context) else level
    for each in ("debug", "info", "error"):
        if wanted and LEVELS.index(each) >= LEVELS.index(wanted):
            data = {"said": each}
            await context.session.send_log_message(each, data, logger="peer", related_request_id=context.request_id)  # type: ignore[arg-type]
    return said("logged")


@tool(strings("uri"))
async def peer_update(context: Context, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Says that a resource has changed, to those who want to know."""
    if is_modern(context):
        await BUS.publish(ResourceUpdated(arguments["uri"]))
    elif arguments["uri"] in subscribed:
        await context.session.send_resource_updated(arguments["uri"])
    return said("told")
