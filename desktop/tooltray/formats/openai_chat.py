"""OpenAI's chat completions, which many other providers speak too.

Above it: formats. Schemas go whole and not `strict`, which allows a part of JSON Schema only. Tool messages take text alone, so images and
files are named in words.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tooltray.formats import contents
from tooltray.formats.calls import no_call, tool_call
from tooltray.formats.declared import declared
from tooltray.formats.names import ANY_NAME, PLAIN, NameRule
from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse

KIND = "tool call of OpenAI's chat API"


class OpenAiChat:
    name = "openai_chat"
    tool_names = NameRule(PLAIN, 64, "tool")
    argument_names = ANY_NAME

    def tools(self, definitions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The `tools` of a request."""
        found = declared(definitions, tools=self.tool_names, arguments=self.argument_names)
        return [{"type": "function", "function": {**each.head, "parameters": each.schema, "strict": False}} for each in found]

    def call(self, call: Mapping[str, Any]) -> MCPToolCall:
        """One of the `tool_calls` of a message."""
        function = call.get("function")
        if not isinstance(function, Mapping):
            raise no_call(KIND, "it has no `function`")
        return tool_call(function, kind=KIND, id=call.get("id"), arguments=function.get("arguments"))

    def response(self, response: MCPToolResponse) -> dict[str, Any]:
        """A message of the role `tool`."""
        prefix = contents.ERROR_PREFIX if contents.is_error(response) else ""
        return {"role": "tool", "tool_call_id": response.tool_call_id, "content": prefix + contents.as_text(response)}
