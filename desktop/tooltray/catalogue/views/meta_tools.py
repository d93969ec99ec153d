"""The hub's tools about other tools: their descriptions, arguments and results. Knows no session; gets the names under which they are
listed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from tooltray.foundation.errors import TooltrayError
from tooltray.protocol.envelope import NOTHING, Envelope, dump, load
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.own_results import own_result
from tooltray.servers.builtin.hub_server import NAME as HUB

FIND, CALL, READ = "find_tools", "call_tool", "read_result"
ACTIVATE = "activate_"  # before the name of a server
MOST_NAMED = 5  # tools in the description of a server; all of them would cost the tokens that they are to save
NOTHING_FOUND = (
    "No tool has these words. Say in other or fewer ones what is to be done and with what, such as 'read file', in English too. An empty "
    "query gives the first tools by name."
)
FOUND_BY_DEFAULT, MOST_FOUND = 10, 50
_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
_FIND_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What the tool should do, in a few words"},
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": FOUND_BY_DEFAULT, "description": "At most so many"},
    },
    "required": ["query"],
    "additionalProperties": False,
}
_CALL_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The tool's name, as find_tools or an activate tool gave it"},
        "arguments": {"type": "object", "description": "What the tool's inputSchema asks for"},
    },
    "required": ["name"],
    "additionalProperties": False,
}


_READ_WHAT = (
    "Reads more of a result that was too large and was cut: its handle stands at the end of what you got. With the handle alone it gives "
    "the beginning; give offset to go on, or one of lines and grep. Each answer says how to go on."
)
_READ_SCHEMA = {
    "type": "object",
    "properties": {
        "handle": {"type": "string", "description": "As the cut result names it"},
        "part": {"type": "integer", "minimum": 1, "description": "Which part of the result, where it has several; default: the first"},
        "offset": {"type": "integer", "minimum": 0, "description": "From this byte on"},
        "lines": {"type": "string", "description": "These lines, from 1: 100-200, 100- or 100"},
        "grep": {"type": "string", "description": "Only lines with these words, each with its number; plain words, no pattern"},
    },
    "required": ["handle"],
    "additionalProperties": False,
}


class LazyServer(msgspec.Struct, frozen=True):
    """The facts in the description of the tool that activates a server.

    Attributes:
        title: of the server, for a sentence.
        offers: what the server offers, as a sentence; may be empty.
        tools: their names; None while they are not known.
        counts: how many other things it has, by the singular word for each kind.
    """

    title: str
    offers: str
    tools: Sequence[str] | None
    counts: Mapping[str, int]

    @property
    def description(self) -> str:
        what = f"Activate {self.title} MCP server. {self.offers}".rstrip()
        if self.tools is None:
            return f"{what} It will be started, and its tools loaded."
        amounts = [_counted(len(self.tools), "tool"), *(_counted(count, word) for word, count in self.counts.items() if count)]
        loads = " and ".join(filter(None, (", ".join(amounts[:-1]), amounts[-1])))
        return f"{what} This will load {loads}.{self._available()}"

    def _available(self) -> str:
        if not self.tools:
            return ""
        named, more = self.tools[:MOST_NAMED], len(self.tools) - MOST_NAMED
        return f" Available: {', '.join(named)}{f' and {more} more' if more > 0 else ''}."


def key_of(server: str) -> tuple[str, str]:
    """Returns the key to which the name of the tool that activates a server is given."""
    return HUB, ACTIVATE + server


FIND_KEY, CALL_KEY, READ_KEY = (HUB, FIND), (HUB, CALL), (HUB, READ)


def is_meta(key: tuple[str, str]) -> bool:
    """Reports whether a name was given to such a tool."""
    return key in (FIND_KEY, CALL_KEY, READ_KEY) or (key[0] == HUB and key[1].startswith(ACTIVATE))


# definitions


def activate_definition(name: str, server: LazyServer) -> Raw:
    """Returns the definition of the tool that activates a server."""
    return _definition(name, f"Activate {server.title}", server.description, _NO_ARGUMENTS, _READS)


def find_definition(name: str, call_name: str) -> Raw:
    """Returns the definition of `find_tools`. `call_name`: the name of the tool that calls the found tools."""
    what = f"Finds tools of all connected MCP servers, also tools that are not listed. Call what it finds with {call_name}."
    return _definition(name, "Find tools", what, _FIND_SCHEMA, _READS)


def call_definition(name: str) -> Raw:
    """Returns the definition of `call_tool`."""
    what = "Calls any tool of the connected MCP servers by its name, also one that is not listed, and returns what that tool returns."
    return _definition(name, "Call a tool", what, _CALL_SCHEMA, {"destructiveHint": True, "openWorldHint": True})


def read_definition(name: str) -> Raw:
    """Returns the definition of `read_result`."""
    return _definition(name, "Read a result", _READ_WHAT, _READ_SCHEMA, _READS)


def _definition(name: str, title: str, description: str, schema: Any, annotations: Any) -> Raw:
    return dump({"name": name, "title": title, "description": description, "inputSchema": schema, "annotations": annotations})


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


# arguments


def read_search(params: Raw) -> tuple[str, int]:
    """Returns the query and the limit of a call of `find_tools`.

    Raises:
        TooltrayError: they are of the wrong kind; in words for a model.
    """
    arguments = _arguments(params)
    query, limit = arguments.get("query"), arguments.get("limit", FOUND_BY_DEFAULT)
    if not isinstance(query, str):
        raise TooltrayError("find_tools needs a query", "it is a string: what the tool should do, in a few words")
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_FOUND:
        raise TooltrayError("find_tools cannot use this limit", f"it is a whole number from 1 to {MOST_FOUND}")
    return query, limit


def inner_call(request: Envelope) -> Envelope:
    """Returns the inner call of a call of `call_tool`; everything around the arguments is unchanged.

    Raises:
        TooltrayError: the call names no tool, or its arguments are not an object; in words for a model.
    """
    members = opened(request.params)
    given = _opened(members.get("arguments", NOTHING))
    name, arguments = given.get("name", NOTHING), _unquoted(given.get("arguments", Raw(b"{}")))
    if not bytes(name).startswith(b'"'):
        raise TooltrayError("call_tool needs the name of a tool", hint="find_tools tells which there are.")
    if not bytes(arguments).startswith(b"{"):
        raise TooltrayError("call_tool needs the arguments as an object", "the tool's inputSchema says what stands in it")
    return msgspec.structs.replace(request, params=closed(members | {"name": name, "arguments": arguments}))


def _unquoted(arguments: Raw) -> Raw:
    """Returns the arguments as an object: some models write the object as a string that holds JSON; null becomes the empty object."""
    if bytes(arguments) == b"null":
        return Raw(b"{}")
    try:
        inside = load(arguments) if bytes(arguments).startswith(b'"') else None
        written = Raw(inside.strip().encode()) if isinstance(inside, str) else arguments
        opened(written)
    except ValueError:
        return arguments
    return written


def _arguments(params: Raw) -> dict[str, Any]:
    try:
        arguments = load(opened(params).get("arguments", NOTHING))
    except ValueError:
        arguments = None
    return arguments if isinstance(arguments, dict) else {}


def _opened(raw: Raw) -> dict[str, Raw]:
    try:
        return opened(raw)
    except ValueError:
        return {}


# answers


def answer(value: Raw, era: Era) -> Envelope:
    """Returns a result both for models that read text and for programs that read structure. `value`: an object."""
    block = closed({"type": Raw(b'"text"'), "text": dump(bytes(value).decode("utf-8", "replace"))})
    return _result(closed({"content": Raw(b"[%b]" % bytes(block)), "structuredContent": value, "isError": Raw(b"false")}), era)


def refusal(error: TooltrayError, era: Era) -> Envelope:
    """Returns the failed result of a tool of Tooltray's own.

    Args:
        error: the reason and what to do, all of it written for models: they read the hint, too.
    """
    return _result(dump({"content": [{"type": "text", "text": str(error)}], "isError": True}), era)


def _result(result: Raw, era: Era) -> Envelope:
    return own_result("tools/call", result, era)


def array(elements: Sequence[Raw]) -> Raw:
    """Joins elements into a JSON array."""
    return Raw(b"[%b]" % b",".join(map(bytes, elements)))
