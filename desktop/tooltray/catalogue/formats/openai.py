"""OpenAI's two APIs that take tools. Schemas are passed whole and not as `strict`, which allows only a part of JSON Schema."""

from collections.abc import Iterable, Mapping

from tooltray.catalogue.formats import contents
from tooltray.catalogue.formats.calls import no_call, tool_call
from tooltray.catalogue.formats.contents import Media
from tooltray.catalogue.formats.declared import declared
from tooltray.catalogue.formats.names import ANY_NAME, PLAIN, NameRule
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse
from tooltray.foundation.verbs import JsonObject

CHAT_CALL = "tool call of OpenAI's chat API"
RESPONSES_CALL = "function call of OpenAI's Responses API"
IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
FILES = frozenset({"application/pdf"})


class OpenAiChat:
    """The Chat Completions API, which many other providers speak too; its tool messages take only text."""

    name = "openai_chat"
    tool_names = NameRule(PLAIN, 64, "tool")
    argument_names = ANY_NAME

    def tools(self, definitions: Iterable[Mapping[str, object]]) -> list[JsonObject]:
        """Returns the `tools` of a request."""
        found = declared(definitions, tools=self.tool_names, arguments=self.argument_names)
        return [{"type": "function", "function": {**each.head, "parameters": each.schema, "strict": False}} for each in found]

    def call(self, call: Mapping[str, object]) -> MCPToolCall:
        """Reads one of the `tool_calls` of a message."""
        function = call.get("function")
        if not isinstance(function, Mapping):
            raise no_call(CHAT_CALL, "it has no `function`")
        return tool_call(function, kind=CHAT_CALL, id=call.get("id"), arguments=function.get("arguments"))

    def response(self, response: MCPToolResponse) -> JsonObject:
        """Returns a message of the role `tool`."""
        prefix = contents.ERROR_PREFIX if contents.is_error(response) else ""
        return {"role": "tool", "tool_call_id": response.tool_call_id, "content": prefix + contents.as_text(response)}


class OpenAiResponses:
    """The Responses API, whose outputs take text, images and files."""

    name = "openai_responses"
    tool_names = NameRule(PLAIN, 64, "tool")
    argument_names = ANY_NAME

    def tools(self, definitions: Iterable[Mapping[str, object]]) -> list[JsonObject]:
        """Returns the `tools` of a request."""
        found = declared(definitions, tools=self.tool_names, arguments=self.argument_names)
        return [{"type": "function", **each.head, "parameters": each.schema, "strict": False} for each in found]

    def call(self, call: Mapping[str, object]) -> MCPToolCall:
        """Reads an output item of the type `function_call`."""
        if call.get("type") != "function_call":
            raise no_call(RESPONSES_CALL, "its type is not `function_call`")
        return tool_call(call, kind=RESPONSES_CALL, id=call.get("call_id"), arguments=call.get("arguments"))

    def response(self, response: MCPToolResponse) -> JsonObject:
        """Returns an input item of the type `function_call_output`; its output is plain text if the result has only text."""
        blocks = contents.as_blocks(response, text=_text, media=_media)
        prefix = contents.ERROR_PREFIX if contents.is_error(response) else ""
        output: str | list[JsonObject] = [_text(prefix.rstrip()), *blocks] if prefix else blocks
        if all(block["type"] == "input_text" for block in blocks):
            output = prefix + "\n\n".join(str(block["text"]) for block in blocks)
        return {"type": "function_call_output", "call_id": response.tool_call_id, "output": output}


def _text(text: str) -> JsonObject:
    return {"type": "input_text", "text": text}


def _media(media: Media) -> JsonObject | None:
    if media.mime_type in IMAGES:
        return {"type": "input_image", "image_url": media.data_url, "detail": "auto"}
    if media.mime_type in FILES:
        return {"type": "input_file", "filename": media.file_name, "file_data": media.data_url}
    return None
