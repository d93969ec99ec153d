"""Answers to questions about tools, for models, commands and programs alike: which fit a need, how one is defined, and what was wrong with
the arguments of a call.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Raw

from tooltray.catalogue.definition import COVERED
from tooltray.catalogue.tool_routes import Entry
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.catalogue.views.meta_tools import Search
from tooltray.catalogue.views.modes import own_copy
from tooltray.catalogue.views.search import ToolSearch
from tooltray.catalogue.views.signatures import signature
from tooltray.catalogue.views.views import ViewLists
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.envelope import NOTHING, load
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

if TYPE_CHECKING:
    from tooltray.foundation.schema_check import FieldError

NOTHING_FOUND = (
    "Use other or fewer words for the action and its object, such as 'read file', also in English. An empty query returns the first tools "
    "by name."
)
DEFINITIONS_BYTES = 40_000  # of all definitions in one answer, about 9,000 tokens; the first is whole in any case
SCHEMA_BYTES = 8_000  # of the schema that is sent to a model whose arguments did not fit it
MOST_ERRORS = 3  # in arguments; the schema shows the rest
MOST_NEAREST = 3  # names in the place of an unknown one
LONGEST_QUERY, LONGEST_ERROR = 60, 160  # characters that are repeated


class Found(NamedTuple):
    """A tool that a search has found. `why`: what it has in common with the query, such as "name: read"; may be empty."""

    entry: Entry
    why: str

    @property
    def line(self) -> str:
        """Its signature."""
        return signature(self.entry.definition, name=self.entry.name)


class Need(NamedTuple):
    """A query, and the tools that fit it best, the best first."""

    query: str
    found: Sequence[Found]


class Described(NamedTuple):
    """A tool by its name. `nearest`: the names of tools in its place if it is not known."""

    name: str
    entry: Entry | None
    nearest: Sequence[str] = ()


class ToolLookup:
    """The lookup of tools that a session may call. Has no state of its own."""

    def __init__(self, *, servers: ServerManager, search: ToolSearch, lists: ViewLists, clients: KnownClients) -> None:
        self._servers, self._search, self._lists, self._clients = servers, search, lists, clients

    async def found_text(self, search: Search, exchange: Exchange) -> str:
        """Returns what a search finds, for a model."""
        state = exchange.session.state
        needs = await self.find(search, state, client=self._copy_of(exchange))
        text = found_text(needs, is_full=search.is_full, names_servers=state.server is None, dropped=search.dropped)
        awaited = self.awaited(state)
        return f"{text}\n\nNot searched, since they are still starting: {', '.join(awaited)}." if awaited else text

    def awaited(self, state: SessionState) -> list[str]:
        """Returns the servers whose tools a search does not find yet, by name."""
        return self._lists.awaited(state)

    async def described_text(self, names: Sequence[str], exchange: Exchange) -> str:
        """Returns the definitions of tools, for a model."""
        return described_text(await self.describe(names, exchange.session.state, client=self._copy_of(exchange)))

    async def find(self, search: Search, state: SessionState, *, client: McpClient | None = None) -> list[Need]:
        """Returns the tools for each query. `client`: see ViewLists.listing."""
        return [
            Need(query, [Found(*found) for found in await self._search.found(query, search.limit, state, client=client)])
            for query in search.queries
        ]

    async def describe(self, names: Iterable[str], state: SessionState, *, client: McpClient | None = None) -> list[Described]:
        """Returns tools by their names as the session sees them."""
        entries = await self._lists.for_models(state, client=client, terms=self._clients.list_terms(state))
        known = {entry.name: entry for entry in entries}
        return [Described(name, known.get(name), await self._nearest(name, known, state, client)) for name in names]

    def _copy_of(self, exchange: Exchange) -> McpClient | None:
        """Returns the session's own instance of its only server."""
        return own_copy(self._servers, exchange.session.state.server, exchange.era, exchange.session)

    async def _nearest(self, name: str, known: Mapping[str, Entry], state: SessionState, client: McpClient | None) -> list[str]:
        if name in known:
            return []
        return [found.entry.name for found in await self._search.found(name, MOST_NEAREST, state, client=client)]

    async def explain_failure(self, name: str, arguments: Raw, exchange: Exchange, *, is_certain: bool) -> str:
        """Explains to a model why a call failed: its arguments do not fit the tool's schema, or the tool is unknown.

        Args:
            is_certain: the reply names the arguments as the reason.

        Returns:
            The errors, and what the tool takes; empty if the arguments fit.
        """
        [tool] = await self.describe([name], exchange.session.state, client=self._copy_of(exchange))
        if tool.entry is None:
            return _similar(tool) if is_certain else ""
        schema = opened(tool.entry.definition).get("inputSchema", NOTHING)
        errors = await finish_in_thread(partial(_errors, schema, arguments))
        if not (errors or is_certain):
            return ""
        return "\n".join([*(f"Wrong arguments: {error}" for error in errors), _what_it_takes(tool.entry, schema)])


# words for models


def found_text(needs: Sequence[Need], *, is_full: bool = False, names_servers: bool = True, dropped: int = 0) -> str:
    """Returns what a search has found: a line or a definition for each tool, and several needs each under its query. A tool that was shown
    for an earlier need is only named.

    Args:
        names_servers: lines have the names of the tools' servers.
        dropped: how many queries were not searched for.
    """
    budget = _Budget()
    blocks: list[str] = []
    shown: set[str] = set()
    for need in needs:
        lines = [f"# {plain(need.query, LONGEST_QUERY)}"] if len(needs) > 1 else []
        for found in need.found:
            name = found.entry.name
            line = _line(found, names_servers=names_servers)
            lines.append(f"{name} (as above)" if name in shown else budget.definition(found.entry, line) if is_full else line)
            shown.add(name)
        blocks.append("\n".join(lines if need.found else [*lines, "No tool matches these words."]))
    if not all(need.found for need in needs):
        blocks.append(NOTHING_FOUND)
    if dropped:
        blocks.append(f"{dropped} more queries were left out.")
    return "\n\n".join(blocks)


def described_text(tools: Iterable[Described]) -> str:
    """Returns the definitions as JSON, one in each line, and the nearest names in the place of unknown ones."""
    budget = _Budget()
    return "\n".join(
        budget.definition(tool.entry, signature(tool.entry.definition, name=tool.entry.name)) if tool.entry else unknown_text(tool)
        for tool in tools
    )


def unknown_text(tool: Described) -> str:
    """Returns that a tool is not known, with the nearest names."""
    return f"There is no tool {plain(tool.name, LONGEST_QUERY)}. {_similar(tool)}"


def _similar(tool: Described) -> str:
    return f"Similar: {', '.join(tool.nearest)}." if tool.nearest else "No tool has a similar name."


def whole_definition(entry: Entry) -> Raw:
    """Returns a tool's definition without what is not meant for models, such as icons."""
    return closed({name: value for name, value in opened(entry.definition).items() if name in COVERED})


class _Budget:
    """The room for definitions in one answer."""

    def __init__(self) -> None:
        self._left_bytes: int | None = None

    def definition(self, entry: Entry, line: str) -> str:
        """Returns a whole definition; where no room is left, its line with a remark."""
        whole = bytes(whole_definition(entry))
        left_bytes = max(DEFINITIONS_BYTES, len(whole)) if self._left_bytes is None else self._left_bytes
        if len(whole) > left_bytes:
            return f"{line} (too large for this answer: describe it separately)"
        self._left_bytes = left_bytes - len(whole)
        return whole.decode("utf-8", "replace")


def _line(found: Found, *, names_servers: bool) -> str:
    notes = [found.entry.route.server] if names_servers else []
    notes += [found.why] if found.why else []
    return f"{found.line} [{'; '.join(notes)}]" if notes else found.line


def _errors(schema: Raw, arguments: Raw) -> list[str]:
    """Returns the first errors in arguments; blocks."""
    from tooltray.foundation.schema_check import schema_errors  # only wrong calls need it

    try:
        read, value = load(schema), load(arguments)
    except (ValueError, RecursionError):
        return []
    return list(map(_error_text, islice(schema_errors(read, value), MOST_ERRORS))) if isinstance(read, dict) else []


def _error_text(error: "FieldError") -> str:
    path = ".".join(map(str, error.absolute_path))
    return plain(f"{path}: {error.message}" if path else error.message, LONGEST_ERROR)


def _what_it_takes(entry: Entry, schema: Raw) -> str:
    text = bytes(schema).decode("utf-8", "replace")
    if len(text) > SCHEMA_BYTES:
        return f"{signature(entry.definition, name=entry.name)}. describe_tools gives the whole schema."
    return f"The inputSchema of {entry.name}: {text}"
