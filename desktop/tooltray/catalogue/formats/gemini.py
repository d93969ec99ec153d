"""Gemini's API, in the spelling of its REST interface, which the types of google-genai read as well. Arguments are declared in
`parameters`, not in `parametersJsonSchema`. The `Schema` of `parameters` is supported by all models, and the vendor's types check each of
its members. In `parametersJsonSchema` nothing is checked: the API ignores some keywords of JSON Schema (`pattern`, lengths, `default`), and
refuses all tools if it cannot follow one reference. Keywords that `Schema` does not have are put into descriptions.
"""

import re
from collections.abc import Iterable, Mapping

from tooltray.catalogue.formats import contents
from tooltray.catalogue.formats.calls import MADE_UP, no_call, tool_call
from tooltray.catalogue.formats.contents import Media
from tooltray.catalogue.formats.declared import Declared, declared, renamed
from tooltray.catalogue.formats.gemini_schema import gemini_schema
from tooltray.catalogue.formats.json_schema import string
from tooltray.catalogue.formats.names import NameMap, NameRule
from tooltray.catalogue.formats.schemas import with_words
from tooltray.foundation.remote import JsonObject
from tooltray.foundation.snapshots.calls import MCPToolCall, MCPToolResponse

KIND = "`functionCall` part of Gemini's API"
INLINE = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf"})
"""The media types that the API accepts within a function's response."""
ALL_BESIDE = "(The result is shown beside this.)"


class Gemini:
    name = "gemini"
    tool_names = NameRule(re.compile(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII), 64, "tool")  # older models know no other characters
    argument_names = NameRule(re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII), 64, "argument")

    def tools(self, definitions: Iterable[Mapping[str, object]]) -> list[JsonObject]:
        """Returns the `tools` of a request: one with all functions; an empty list without functions, because the API refuses an
        empty one.
        """
        found = declared(definitions, tools=self.tool_names, arguments=self.argument_names)
        return [{"functionDeclarations": [_declaration(each) for each in found]}] if found else []

    def call(self, call: Mapping[str, object]) -> MCPToolCall:
        """Reads a `functionCall`, or the part that contains it."""
        inner = call.get("functionCall", call.get("function_call", call))
        if not isinstance(inner, Mapping):
            raise no_call(KIND, "its `functionCall` is no object")
        return tool_call(inner, kind=KIND, id=inner.get("id"), arguments=inner.get("args"))

    def response(self, response: MCPToolResponse) -> JsonObject:
        """Returns a part with a `functionResponse`: text in `result` or `error`, images and PDF in `parts`."""
        blocks = contents.as_blocks(response, text=_text, media=_media)
        text = "\n\n".join(str(block["text"]) for block in blocks if "text" in block)
        shown = [block for block in blocks if "text" not in block]
        found: JsonObject = {
            "name": NameMap([response.tool], self.tool_names).theirs(response.tool),
            "response": {"error" if contents.is_error(response) else "result": text or ALL_BESIDE},
        }
        if shown:
            found["parts"] = shown
        if response.tool_call_id and not response.tool_call_id.startswith(MADE_UP):
            found["id"] = response.tool_call_id
        return {"functionResponse": found}


def _declaration(tool: Declared) -> JsonObject:
    """Returns a function; without arguments `parameters` is left out, because the API refuses an object without properties."""
    schema = gemini_schema(tool.schema)
    if "properties" in schema:
        return {**tool.head, "parameters": renamed(schema, tool.arguments)}
    return with_words(tool.head, words) if (words := string(schema, "description")) else tool.head


def _text(text: str) -> JsonObject:
    return {"text": text}


def _media(media: Media) -> JsonObject | None:
    return {"inlineData": {"mimeType": media.mime_type, "data": media.data}} if media.mime_type in INLINE else None
