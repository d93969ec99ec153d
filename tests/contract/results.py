"""Results of tools, of every kind that the specification has, for the formats."""

from collections.abc import Mapping
from typing import Any

from tooltray.foundation.snapshots.tools import MCPToolResponse

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def image(mime_type: str = "image/png") -> dict[str, Any]:
    return {"type": "image", "data": PIXEL, "mimeType": mime_type}


def blob(mime_type: str, uri: str = "file:///a/report.pdf") -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "blob": "JVBERi0xLjQ="}}


RESULTS: dict[str, dict[str, Any]] = {
    "text": {"content": [text("5")]},
    "texts": {"content": [text("one"), text("two")]},
    "error": {"content": [text("no such file")], "isError": True},
    "error with an image": {"content": [text("no such file"), image()], "isError": True},
    "image": {"content": [text("here"), image()]},
    "image of no kind that providers know": {"content": [image("image/svg+xml")]},
    "image that is none": {"content": [{"type": "image", "data": "%%%", "mimeType": "image/png"}]},
    "audio": {"content": [{"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}]},
    "text resource": {"content": [{"type": "resource", "resource": {"uri": "file:///a.txt", "mimeType": "text/plain", "text": "hello"}}]},
    "pdf": {"content": [blob("application/pdf")]},
    "binary resource": {"content": [blob("application/octet-stream", "file:///a.bin")]},
    "image resource": {"content": [{"type": "resource", "resource": {"uri": "file:///a.png", "mimeType": "image/png", "blob": PIXEL}}]},
    "link": {"content": [{"type": "resource_link", "uri": "file:///a.txt", "name": "a.txt", "size": 1234, "description": "The file"}]},
    "nothing": {"content": []},
    "blank": {"content": [text("  \n")]},
    "unknown": {"content": [{"type": "hologram", "depth": 3}]},
    "structured": {"content": [], "structuredContent": {"a": 1}},
    "structured and text": {"content": [text('{"a": 1}')], "structuredContent": {"a": 1}},
}


def responded(result: Mapping[str, Any] | None, *, tool: str = "add", id: str = "call_1") -> MCPToolResponse:
    return MCPToolResponse(tool, "s", "tooltray", "ok", 0.1, 1, 1, id, result)
