"""Anthropic's Messages API. Schemas are passed whole; the API checks names of arguments, so names that it refuses are mapped. Results have
text, images and PDF, and a flag for errors.
"""

import re
from collections.abc import Iterable, Mapping

from tooltray.catalogue.formats import contents
from tooltray.catalogue.formats.calls import no_call, tool_call
from tooltray.catalogue.formats.contents import Media
from tooltray.catalogue.formats.declared import declared, renamed
from tooltray.catalogue.formats.names import PLAIN, NameRule
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse
from tooltray.foundation.verbs import JsonObject

KIND = "`tool_use` block of Anthropic's API"
IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/gif"})
DOCUMENTS = frozenset({"application/pdf"})


class Anthropic:
    name = "anthropic"
    tool_names = NameRule(PLAIN, 64, "tool")
    argument_names = NameRule(re.compile(r"[A-Za-z0-9_.-]+", re.ASCII), 64, "argument")

    def tools(self, definitions: Iterable[Mapping[str, object]]) -> list[JsonObject]:
        """Returns the `tools` of a request."""
        found = declared(definitions, tools=self.tool_names, arguments=self.argument_names)
        return [{**each.head, "input_schema": renamed(each.schema, each.arguments)} for each in found]

    def call(self, call: Mapping[str, object]) -> MCPToolCall:
        """Reads a block of the type `tool_use`; `input` may also be JSON text, joined from streamed events."""
        if call.get("type", "tool_use") != "tool_use":
            raise no_call(KIND, f"its type is {call['type']!r}")
        return tool_call(call, kind=KIND, id=call.get("id"), arguments=call.get("input"))

    def response(self, response: MCPToolResponse) -> JsonObject:
        """Returns a block of the type `tool_result`."""
        return {
            "type": "tool_result",
            "tool_use_id": response.tool_call_id,
            "content": contents.as_blocks(response, text=_text, media=_media),
            "is_error": contents.is_error(response),
        }


def _text(text: str) -> JsonObject:
    return {"type": "text", "text": text}


def _media(media: Media) -> JsonObject | None:
    source = {"type": "base64", "media_type": media.mime_type, "data": media.data}
    if media.mime_type in IMAGES:
        return {"type": "image", "source": source}
    if media.mime_type in DOCUMENTS:
        return {"type": "document", "source": source, "title": media.file_name}
    return None
