"""The formats of model providers: the interface of a format, and the table of all formats. A format is one module with one class; to add
one, write that module and a line in `FORMATS`. Formats share the modules `declared` (definitions), `calls` (calls of models), `contents`
(results in pieces) and `names`.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

from tooltray.catalogue.formats.anthropic import Anthropic
from tooltray.catalogue.formats.gemini import Gemini
from tooltray.catalogue.formats.names import NameRule
from tooltray.catalogue.formats.openai import OpenAiChat, OpenAiResponses
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse
from tooltray.foundation.verbs import JsonObject


class ToolFormat(Protocol):
    """The interface of a format. Pure functions: no state, arguments are not changed, and results are JSON.

    Attributes:
        name: the key in `FORMATS`.
        tool_names, argument_names: the names that the provider accepts for tools and for their arguments; others are mapped, and back.
    """

    name: str
    tool_names: NameRule
    argument_names: NameRule

    def tools(self, definitions: Iterable[Mapping[str, object]]) -> list[JsonObject]:
        """Converts definitions of `tools/list` into the tools of a request to the provider."""
        ...

    def call(self, call: Mapping[str, object]) -> MCPToolCall:
        """Reads a call from the provider's answer; tool and arguments keep the provider's names.

        Raises:
            TooltrayError: the object is not a call, or its arguments are not a JSON object, with the place.
        """
        ...

    def response(self, response: MCPToolResponse) -> JsonObject:
        """Converts a tool's result into the block of the next request to the provider.

        Args:
            response: its `tool` is the provider's name, or is mapped to it.

        Raises:
            TooltrayError: the response has no result.
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
    """Returns the format of a name.

    Raises:
        TooltrayError: the format does not exist.
    """
    if name not in FORMATS:
        raise TooltrayError(f"tool format '{name}' not found", f"available: {', '.join(FORMATS)}")
    return FORMATS[name]
