"""OpenAI's Responses API.

Above it: formats. Schemas go whole and not `strict`, which allows a part of JSON Schema only. Outputs take text, images and files.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tooltray.formats import contents
from tooltray.formats.calls import no_call, tool_call
from tooltray.formats.contents import Media
from tooltray.formats.declared import declared
from tooltray.formats.names import ANY_NAME, PLAIN, NameRule
from tooltray.snapshots.calls import MCPToolCall, MCPToolResponse

KIND = "function call of OpenAI's Responses API"
IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
FILES = frozenset({"application/pdf"})


class OpenAiResponses:
    name = "openai_responses"
    tool_names = NameRule(PLAIN, 64, "tool")
    argument_names = ANY_NAME

    def tools(self, definitions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The `tools` of a request."""
        found = declared(definitions, tools=self.tool_names, arguments=self.argument_names)
        return [{"type": "function", **each.head, "parameters": each.schema, "strict": False} for each in found]

    def call(self, call: Mapping[str, Any]) -> MCPToolCall:
        """An output item of the type `function_call`."""
        if call.get("type") != "function_call":
            raise no_call(KIND, "its type is not `function_call`")
        return tool_call(call, kind=KIND, id=call.get("call_id"), arguments=call.get("arguments"))

    def response(self, response: MCPToolResponse) -> dict[str, Any]:
        """An input item of the type `function_call_output`; its output is plain text where there is nothing but text."""
        blocks = contents.as_blocks(response, text=_text, media=_media)
        prefix = contents.ERROR_PREFIX if contents.is_error(response) else ""
        output: str | list[dict[str, Any]] = [_text(prefix.rstrip()), *blocks] if prefix else blocks
        if all(block["type"] == "input_text" for block in blocks):
            output = prefix + "\n\n".join(block["text"] for block in blocks)
        return {"type": "function_call_output", "call_id": response.tool_call_id, "output": output}


def _text(text: str) -> dict[str, Any]:
    return {"type": "input_text", "text": text}


def _media(media: Media) -> dict[str, Any] | None:
    if media.mime_type in IMAGES:
        return {"type": "input_image", "image_url": media.data_url, "detail": "auto"}
    if media.mime_type in FILES:
        return {"type": "input_file", "filename": media.file_name, "file_data": media.data_url}
    return None
