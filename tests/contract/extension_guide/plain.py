"""A format in which everything is plain words."""

from collections.abc import Iterable, Mapping

from tooltray.catalogue.formats import contents
from tooltray.catalogue.formats.calls import tool_call
from tooltray.catalogue.formats.declared import declared
from tooltray.catalogue.formats.names import ANY_NAME, PLAIN, NameRule
from tooltray.foundation.snapshots.tools import MCPToolCall, MCPToolResponse
from tooltray.foundation.verbs import JsonObject


class Plain:
    name = "plain"
    tool_names = NameRule(PLAIN, 10, "tool")
    argument_names = ANY_NAME

    def tools(self, definitions: Iterable[Mapping[str, object]]) -> list[JsonObject]:
        found = declared(definitions, tools=self.tool_names, arguments=self.argument_names)
        return [{"tool": each.name, "takes": each.schema} for each in found]

    def call(self, call: Mapping[str, object]) -> MCPToolCall:
        return tool_call({"name": call.get("tool")}, kind="call in plain words", id=None, arguments=call.get("with"))

    def response(self, response: MCPToolResponse) -> JsonObject:
        return {"tool": response.tool, "said": contents.as_text(response)}
