"""The tables of the reference's tools and prompts, and the words their results are made of.

Results are plain dicts, as they stand on the wire.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mcp.server.context import ServerRequestContext

NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
"""A PNG of one pixel."""
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
"""A WAV without a sample."""

Context = ServerRequestContext[Any, Any]
Run = Callable[[Context, Mapping[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Tool:
    description: str
    schema: dict[str, Any]
    run: Run


TOOLS: dict[str, Tool] = {}
PROMPTS: dict[str, tuple[str, ...]] = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}
"""Each prompt's arguments, all of them required."""


def tool(schema: dict[str, Any] = NO_ARGUMENTS) -> Callable[[Run], Run]:
    """Adds a function to the table, under its own name and with the first line of its docstring."""

    def add(run: Run) -> Run:
        TOOLS[run.__name__] = Tool((run.__doc__ or "").splitlines()[0], schema, run)
        return run

    return add


def strings(*names: str) -> dict[str, Any]:
    """The schema of an object with these strings, all of them required."""
    return {"type": "object", "properties": {name: {"type": "string"} for name in names}, "required": list(names)}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def said(*content: dict[str, Any] | str) -> dict[str, Any]:
    """A tool's result; strings become text."""
    return {"content": [text(part) if isinstance(part, str) else part for part in content]}


def image() -> dict[str, Any]:
    return {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def embedded(uri: str, mime_type: str, words: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}
