"""The formats of model providers: what a format is, and the table of those there are.

Above it: ToolFormats. A format is one module with one class; adding one is that module and a line in `FORMATS`. What formats share has
modules of its own: `declared` (definitions ready to be written down), `calls`, `contents` (results in pieces) and `names`.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from tooltray.errors import TooltrayError
from tooltray.formats.anthropic import Anthropic
from tooltray.formats.gemini import Gemini
from tooltray.formats.names import NameRule
from tooltray.formats.openai_chat import OpenAiChat
from tooltray.formats.openai_responses import OpenAiResponses
from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse


class ToolFormat(Protocol):
    """Pure functions: no state, nothing given is changed, and what comes out is JSON.

    Attributes:
        name: by which it is asked for.
        tool_names, argument_names: what the provider takes as names of tools, and of their arguments; others are mapped, and mapped back.
    """

    name: str
    tool_names: NameRule
    argument_names: NameRule

    def tools(self, definitions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Tools as a request to the provider has them, from definitions as `tools/list` has them."""
        ...

    def call(self, call: Mapping[str, Any]) -> MCPToolCall:
        """A call as the provider's answer has it, with the provider's names for the tool and its arguments.

        Raises:
            TooltrayError: it is none, or its arguments are no JSON object; says where.
        """
        ...

    def response(self, response: MCPToolResponse) -> dict[str, Any]:
        """What a tool gave, as the next request to the provider has it; `tool` is the provider's name, or becomes it.

        Raises:
            TooltrayError: there is no result in it.
        """
        ...


FORMATS: dict[str, ToolFormat] = {
    each.name: each
    for each in (
        OpenAiChat(),
        OpenAiResponses(),
        Anthropic(),
        Gemini(),
    )
}


def find_format(name: str) -> ToolFormat:
    """
    Raises:
        TooltrayError: there is none of this name.
    """
    if name not in FORMATS:
        raise TooltrayError(f"there is no tool format '{name}'", f"there are {', '.join(FORMATS)}")
    return FORMATS[name]
