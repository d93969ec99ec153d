"""The hub's tools about other tools: their descriptions, arguments and results. The module knows no session, and gets the names under which
the tools are listed.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

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
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.protocol.envelope import NOTHING, Envelope, dump, load
from tooltray.protocol.eras import Era, own_result
from tooltray.protocol.member_scanner import closed, opened
from tooltray.servers.builtin import hub_server
from tooltray.servers.builtin.hub_server import NAME as HUB
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

FIND, DESCRIBE, CALL, READ, RUN = "find_tools", "describe_tools", "call_tool", "read_result", "run_steps"
ACTIVATE = "activate_"  # before the name of a server
MOST_NAMED = 5  # tools in the description of a server; listing all would cost the tokens that activation saves
FOUND_BY_DEFAULT, MOST_FOUND = 5, 50  # tools for each need
MOST_NEEDS = 10  # of one search
MOST_DESCRIBED = 20  # tools of one call
FULL = "full"
_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


class HubTool(NamedTuple):
    """One of the hub's tools about other tools; those that activate servers are besides.

    Attributes:
        description: with `{find}` and `{call}` for the names under which those two are listed.
        properties: of its arguments.
        required: the arguments that it needs.
        is_listed: whether a view lists it.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, JsonMapping]
    required: Sequence[str]
    is_listed: Callable[[SessionView], bool]
    annotations: JsonMapping = _READS

    def definition(self, name: str, **names: str) -> Raw:
        """Returns its definition. `names`: of the tools that its description names."""
        schema = {"type": "object", "properties": self.properties, "required": self.required, "additionalProperties": False}
        return _definition(name, self.title, self.description.format(**names), schema, self.annotations)


class _RunSteps(HubTool):
    """The row of `run_steps`, whose texts are loaded when it is listed."""

    def definition(self, name: str, **names: str) -> Raw:
        from tooltray.catalogue.views import steps_tool

        return _definition(name, steps_tool.TITLE, steps_tool.WHAT, steps_tool.SCHEMA, self.annotations)


_TOOLS = (
    HubTool(
        FIND,
        "Find tools",
        "Finds tools of all connected MCP servers, also tools that are not listed. Returns a line for each: name(argument: type, "
        "optional?: type) - what it does. Call what it finds with {call}.",
        {
            "query": {"type": "string", "description": "What the tool should do, in a few words"},
            "queries": {"type": "array", "items": {"type": "string"}, "maxItems": MOST_NEEDS, "description": "Several needs at once"},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST_FOUND, "default": FOUND_BY_DEFAULT, "description": "Tools per need"},
            "detail": {"enum": ["signature", FULL], "description": "full: whole definitions"},
        },
        (),
        attrgetter("has_search"),
    ),
    HubTool(
        DESCRIBE,
        "Describe tools",
        "Returns the whole definitions of tools, for when the line that {find} gives is not enough.",
        {"names": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_DESCRIBED}},
        ("names",),
        attrgetter("has_search"),
    ),
    HubTool(
        CALL,
        "Call a tool",
        "Calls any tool of the connected MCP servers by its name, also one that is not listed, and returns what that tool returns.",
        {
            "name": {"type": "string", "description": "The tool's name, as find_tools or an activate tool gave it"},
            "arguments": {"type": "object", "description": "As the tool requires"},
        },
        ("name",),
        attrgetter("has_search"),
        {"destructiveHint": True, "openWorldHint": True},
    ),
    _RunSteps(RUN, "", "", {}, (), attrgetter("has_steps"), {"destructiveHint": True, "openWorldHint": True}),
    HubTool(
        READ,
        "Read a result",
        "Reads more of a result that was cut because it was too large; its handle is at the end of the cut result. With only the handle it "
        "returns the beginning; give offset to continue, or one of lines and grep. Each answer shows how to continue.",
        {
            "handle": {"type": "string", "description": "As at the end of the cut result"},
            "part": {"type": "integer", "minimum": 1, "description": "Which part of the result, if it has several; default: the first"},
            "offset": {"type": "integer", "minimum": 0, "description": "Start at this byte"},
            "lines": {"type": "string", "description": "These lines, from 1: 100-200, 100- or 100"},
            "grep": {"type": "string", "description": "Only lines with these words, each with its number; plain words, no pattern"},
        },
        ("handle",),
        attrgetter("reads_results"),
    ),
)
HUB_TOOLS: Mapping[str, HubTool] = {tool.name: tool for tool in _TOOLS}
"""In the order in which they are listed. A further tool is a row here, and its answer a row in MetaCalls."""


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
        amounts = [counted(len(self.tools), "tool"), *(counted(count, word) for word, count in self.counts.items() if count)]
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


FIND_KEY, CALL_KEY, READ_KEY, RUN_KEY = ((HUB, name) for name in (FIND, CALL, READ, RUN))


def is_meta(key: tuple[str, str]) -> bool:
    """Reports whether a name was given to such a tool."""
    return key[0] == HUB and (key[1] in HUB_TOOLS or key[1].startswith(ACTIVATE))


# definitions


def activate_definition(name: str, server: LazyServer) -> Raw:
    """Returns the definition of the tool that activates a server."""
    return _definition(name, f"Activate {server.title}", server.description, _NO_ARGUMENTS, _READS)


def _definition(name: str, title: str, description: str, schema: Any, annotations: Any) -> Raw:
    return dump({"name": name, "title": title, "description": description, "inputSchema": schema, "annotations": annotations})


def counted(count: int, word: str) -> str:
    """Returns a number with its noun."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


# arguments


_QUERY = "it is a string: what the tool should do, in a few words; queries is a list of them"
_NAMES = "names is a list of strings"


class Search(NamedTuple):
    """The arguments of a call of `find_tools`.

    Attributes:
        queries: at most MOST_NEEDS.
        limit: how many tools for each.
        is_full: whole definitions are wanted.
        dropped: how many further queries there were.
    """

    queries: Sequence[str]
    limit: int = FOUND_BY_DEFAULT
    is_full: bool = False
    dropped: int = 0


def read_search(params: Raw) -> Search:
    """Returns what a call of `find_tools` searches for.

    Raises:
        TooltrayError: the arguments are of the wrong kind; in words for a model.
    """
    arguments = arguments_of(params)
    wanted = [text for key in ("query", "queries") for text in _texts(arguments.get(key, []), "find_tools needs a query", _QUERY)]
    limit = arguments.get("limit", FOUND_BY_DEFAULT)
    if not wanted:
        raise TooltrayError("find_tools needs a query", _QUERY)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_FOUND:
        raise TooltrayError("find_tools cannot use this limit", f"it is a whole number from 1 to {MOST_FOUND}")
    queries = list(dict.fromkeys(wanted))
    return Search(queries[:MOST_NEEDS], limit, arguments.get("detail") == FULL, max(0, len(queries) - MOST_NEEDS))


def read_names(params: Raw) -> Sequence[str]:
    """Returns the names in a call of `describe_tools`.

    Raises:
        TooltrayError: they are of the wrong kind, or too many; in words for a model.
    """
    names = list(dict.fromkeys(_texts(arguments_of(params).get("names", []), "describe_tools needs names of tools", _NAMES)))
    if not names:
        raise TooltrayError("describe_tools needs names of tools", _NAMES)
    if len(names) > MOST_DESCRIBED:
        raise TooltrayError("describe_tools cannot describe so many tools at once", f"give at most {MOST_DESCRIBED} names")
    return names


def _texts(value: object, problem: str, message: str) -> list[str]:
    """Returns a list of texts; a text that some models write in its place becomes a list of one."""
    values = value if isinstance(value, list) else [value]
    texts = [each for each in values if isinstance(each, str)]
    if len(texts) < len(values):
        raise TooltrayError(problem, message)
    return texts


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


def arguments_of(params: Raw) -> JsonObject:
    """Returns the arguments of a call of one of the hub's tools; none if they are no object."""
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


def answer(text: str, era: Era, *, is_error: bool = False) -> Envelope:
    """Returns a result. It is only text: no client is known to keep it from its model, and structured content beside it would cost its
    tokens once more.
    """
    return own_result("tools/call", dump({"content": [{"type": "text", "text": text}], "isError": is_error}), era)


def with_text(result: Raw, text: str) -> Raw:
    """Returns a result with a further block of text at the end of its content; unchanged if its content is not an array."""
    members = opened(result)
    content = bytes(members.get("content", NOTHING)).strip()
    if not content.endswith(b"]"):
        return result
    before = content[:-1].rstrip()
    block = bytes(dump({"type": "text", "text": text}))
    return closed({**members, "content": Raw(b"%b%b%b]" % (before, b"" if before == b"[" else b",", block))})


def refusal(error: TooltrayError, era: Era) -> Envelope:
    """Returns the failed result of a tool of Tooltray's own.

    Args:
        error: the reason and what to do, written for models, which also read the hint.
    """
    return answer(str(error), era, is_error=True)


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
        keys = [*map(key_of, view.lazy), *((HUB, tool.name) for tool in HUB_TOOLS.values() if tool.is_listed(view))]
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
        own = (*((HUB, tool) for tool in HUB_TOOLS), key_of(server))
        return next((key for key in own if key in self._given and self.name(key, server) == name), None)

    def _by_heart(self, name: str) -> Key | None:
        """Returns the key of a name that was never given, because nothing was listed yet."""
        is_there = name in HUB_TOOLS or self._servers.find(name.removeprefix(ACTIVATE))
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
        names = {"find": self.name(FIND_KEY, server), "call": self.name(CALL_KEY, server)}
        made += [tool.definition(self.name((HUB, tool.name), server), **names) for tool in HUB_TOOLS.values() if tool.is_listed(view)]
        return made

    def offers(self, server: ManagedServer) -> str:
        """Returns a sentence about what a server offers: the user's own description, else the known one; may be empty."""
        return self._known.offers(server.name, server.config)

    def _lazy_server(self, name: str, tools: Sequence[str]) -> LazyServer:
        config = self._servers.get(name).config
        counts = {_WORDS[kind]: len(self._offers.offered(kind).get(name, ())) for kind in KINDS}
        is_known = self._tools.is_listed(name)
        return LazyServer(self._known.title(name, config), self._known.offers(name, config), tools if is_known else None, counts)
