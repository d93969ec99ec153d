"""The hub's tools about other tools: their descriptions, arguments and results. The module knows no session, and gets the names under which
the tools are listed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Raw

from tooltray.catalogue.known_servers import KnownServers
from tooltray.catalogue.offer import KINDS, PROMPTS, RESOURCES, TEMPLATES
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views.modes import SessionView
from tooltray.config.naming.published_names import PublishedNames
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.tasks import finish_in_thread
from tooltray.foundation.verbs import JsonObject
from tooltray.protocol.envelope import NOTHING, Envelope, dump, load
from tooltray.protocol.eras import Era, own_result
from tooltray.protocol.member_scanner import closed, opened
from tooltray.servers.builtin import hub_server
from tooltray.servers.builtin.hub_server import NAME as HUB
from tooltray.servers.upstream.server_manager import ServerManager

FIND, CALL, READ, RUN = "find_tools", "call_tool", "read_result", "run_steps"
ACTIVATE = "activate_"  # before the name of a server
MOST_NAMED = 5  # tools in the description of a server; listing all would cost the tokens that activation saves
NOTHING_FOUND = (
    "No tool matches these words. Use other or fewer words for the action and its object, such as 'read file', also in English. An empty "
    "query returns the first tools by name."
)
FOUND_BY_DEFAULT, MOST_FOUND = 10, 50
_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
_FIND_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What the tool should do, in a few words"},
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": FOUND_BY_DEFAULT, "description": "Maximum number"},
    },
    "required": ["query"],
    "additionalProperties": False,
}
_CALL_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The tool's name, as find_tools or an activate tool gave it"},
        "arguments": {"type": "object", "description": "As the tool's inputSchema requires"},
    },
    "required": ["name"],
    "additionalProperties": False,
}


_READ_WHAT = (
    "Reads more of a result that was cut because it was too large; its handle is at the end of the cut result. With only the handle it "
    "returns the beginning; give offset to continue, or one of lines and grep. Each answer shows how to continue."
)
_READ_SCHEMA = {
    "type": "object",
    "properties": {
        "handle": {"type": "string", "description": "As at the end of the cut result"},
        "part": {"type": "integer", "minimum": 1, "description": "Which part of the result, if it has several; default: the first"},
        "offset": {"type": "integer", "minimum": 0, "description": "Start at this byte"},
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
        counts: the number of its prompts and resources, by the singular word for each kind.
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


FIND_KEY, CALL_KEY, READ_KEY, RUN_KEY = (HUB, FIND), (HUB, CALL), (HUB, READ), (HUB, RUN)
FIXED_KEYS = (FIND_KEY, CALL_KEY, READ_KEY, RUN_KEY)


def is_meta(key: tuple[str, str]) -> bool:
    """Reports whether a name was given to such a tool."""
    return key in FIXED_KEYS or (key[0] == HUB and key[1].startswith(ACTIVATE))


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


def run_definition(name: str) -> Raw:
    """Returns the definition of `run_steps`."""
    from tooltray.catalogue.views import steps_tool  # not before it is listed

    return _definition(name, steps_tool.TITLE, steps_tool.WHAT, steps_tool.SCHEMA, {"destructiveHint": True, "openWorldHint": True})


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
    """Returns the inner call of a call of `call_tool`; other members are unchanged.

    Raises:
        TooltrayError: the call names no tool, or its arguments are not an object; in words for a model.
    """
    members = opened(request.params)
    given = _opened(members.get("arguments", NOTHING))
    name, arguments = given.get("name", NOTHING), _unquoted(given.get("arguments", Raw(b"{}")))
    if not bytes(name).startswith(b'"'):
        raise TooltrayError("call_tool needs the name of a tool", hint="find_tools finds the tools.")
    if not bytes(arguments).startswith(b"{"):
        raise TooltrayError("call_tool needs the arguments as an object", "see the tool's inputSchema")
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


def _arguments(params: Raw) -> JsonObject:
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
        error: the reason and what to do, written for models, which also read the hint.
    """
    return _result(dump({"content": [{"type": "text", "text": str(error)}], "isError": True}), era)


def _result(result: Raw, era: Era) -> Envelope:
    return own_result("tools/call", result, era)


def array(elements: Sequence[Raw]) -> Raw:
    """Joins elements into a JSON array."""
    return Raw(b"[%b]" % b",".join(map(bytes, elements)))


_WORDS = {PROMPTS: "prompt", RESOURCES: "resource", TEMPLATES: "resource template"}

Key = tuple[str, str]


class HubTools:
    """The hub's tools about other tools. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, tools: ToolManager, offers: Offers, names: PublishedNames, known: KnownServers) -> None:
        self._servers, self._tools, self._offers, self._names, self._known = servers, tools, offers, names, known
        self._given: dict[Key, str] = {}

    # names

    @property
    def given(self) -> tuple[tuple[Key, str], ...]:
        """The names that were given so far."""
        return tuple(self._given.items())

    async def give_names(self, view: SessionView) -> bool:
        """Gives the tools of a view their names, after the servers' tools have theirs; returns whether any of them had none."""
        keys = [*map(key_of, view.lazy), *((FIND_KEY, CALL_KEY) if view.has_search else ()), *((READ_KEY,) if view.reads_results else ())]
        keys += [RUN_KEY] if view.has_steps else []
        if all(self._names.target(self._given.get(key, "")) == key for key in keys):
            return False
        self._given |= await finish_in_thread(self._names.publish, keys)
        return True

    def key(self, name: str, server: str | None) -> Key | None:
        """Returns which of the hub's tools about others a session calls by a name; None for any other name. `server`: the session's only
        server.
        """
        target = self._names.target(name) or self._by_heart(name)
        if server is None:
            return target if target and target[0] == hub_server.NAME and is_meta(target) else None
        if name in self._tools.offered_names(server):
            return None
        if target and is_meta(target):
            return target
        return next((key for key in (*FIXED_KEYS, key_of(server)) if key in self._given and self.name(key, server) == name), None)

    def _by_heart(self, name: str) -> Key | None:
        """Returns the key of a name that was never given, because nothing was listed yet."""
        is_there = (HUB, name) in FIXED_KEYS or self._servers.find(name.removeprefix(ACTIVATE))
        return (hub_server.NAME, name) if is_there else None

    def name(self, key: Key, server: str | None) -> str:
        """Returns the name of such a tool; for a session with only one server, a name that no tool of the server has."""
        name, taken = self._given.get(key, key[1]), self._tools.offered_names(server) if server else frozenset()
        while name in taken:
            name = f"{hub_server.NAME}_{name}"
        return name

    def reader_name(self, server: str | None) -> str:
        """Returns the name of the tool that reads results. `server`: the session's only server."""
        return self.name(READ_KEY, server)

    def likely_name(self, key: Key) -> str:
        """Returns the name under which a tool of the hub's own is listed, or will be unless another tool gets the name first."""
        return self._names.known(key) or key[1]

    def is_for_models(self, name: str, server: str | None) -> bool:
        """Reports whether a model may call the tool `name`, as far as it is known: not a tool that only views may call."""
        target = self._tools.target(name, server)
        route = self._tools.routes(target[0]).get(target[1]) if target else None
        return route is None or route.definition.view.is_for_models

    # definitions

    def definitions(self, view: SessionView, server: str | None, tools: Mapping[str, Sequence[str]]) -> list[Raw]:
        """Returns the definitions of a view's tools of this kind.

        Args:
            server: the session's only server.
            tools: the names of the tools of each lazy server.
        """
        made = [activate_definition(self.name(key_of(lazy), server), self._lazy_server(lazy, names)) for lazy, names in tools.items()]
        if view.has_search:
            call_name = self.name(CALL_KEY, server)
            made += [find_definition(self.name(FIND_KEY, server), call_name), call_definition(call_name)]
        if view.has_steps:
            made.append(run_definition(self.name(RUN_KEY, server)))
        if view.reads_results:
            made.append(read_definition(self.reader_name(server)))
        return made

    def _lazy_server(self, name: str, tools: Sequence[str]) -> LazyServer:
        config = self._servers.get(name).config
        counts = {_WORDS[kind]: len(self._offers.offered(kind).get(name, ())) for kind in KINDS}
        is_known = self._tools.is_listed(name)
        return LazyServer(self._known.title(name, config), self._known.offers(name, config), tools if is_known else None, counts)
