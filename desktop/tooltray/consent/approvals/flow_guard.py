"""The flow guard, off by default: once a session has read what strangers wrote, calls that send or publish ask first.

Which tools read what strangers wrote, and which send, is known from tables of words and from hints; a user can choose otherwise for each
tool (`flow` in `toolOverrides`). Names are believed over hints that make a tool look harmless. It matters whether strangers can have
written the content, not whether they did; so a tracker or a mailbox counts as a whole.
"""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Raw
from msgspec.structs import replace

from tooltray.catalogue.auto_approve import Decision, Tool, tool_of, words_of
from tooltray.catalogue.definition import read_once_named
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.confirm_widening import current_asker
from tooltray.foundation.events import ConfigChanged, EventBus
from tooltray.foundation.phrases import Phrase
from tooltray.protocol.sessions.elicitation_form import plain
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionFlow, SessionState
from tooltray.records.journal.call_params import arguments_of, target_of
from tooltray.servers.transports.transport_table import is_remote
from tooltray.servers.upstream.server_manager import ServerManager

_READS_ANYTHING = "browse browser crawl fetch goto http https navigate scrape url urls web webpage webpages website"
"""Verbs of tools that fetch pages, whatever else they do."""
_BY_STRANGERS = """
    article articles comment comments conversation conversations discussion discussions email emails feed feeds forum gmail inbox internet
    issue issues mail mails message messages news notification notifications online page pages post posts pr prs pull reddit review reviews
    rss sms thread threads ticket tickets tweet tweets youtube
"""
"""Things written by others that a reading tool may return."""
_SENDS = """
    deploy email forward invite mail message notify pay post publish push reply send share sms submit transfer tweet upload webhook
"""
"""Verbs of tools that send something out of the session, if they change anything at all."""
_CHANGES = "add append assign close comment create edit fill insert merge open patch put review set update write"
_SEEN_BY_OTHERS = """
    article comment comments discussion event gist invoice issue issues listing message order page post pr pull release repo repository
    review reviews thread ticket tweet webhook
"""
"""Things that others see: `create_issue` sends, `create_folder` does not."""
_TYPES_INTO_PAGES = "evaluate fill submit type upload"
READS_ANYTHING, BY_STRANGERS = frozenset(_READS_ANYTHING.split()), frozenset(_BY_STRANGERS.split())
SENDS, CHANGES, SEEN_BY_OTHERS = frozenset(_SENDS.split()), frozenset(_CHANGES.split()), frozenset(_SEEN_BY_OTHERS.split())
TYPES_INTO_PAGES = frozenset(_TYPES_INTO_PAGES.split())
"""Words for the ways in which a browser sends."""
BODIES = frozenset(["body", "data", "payload", "form", "json", "content", "postdata", "formdata", "requestbody", "multipart", "files"])
"""Arguments with which a fetching tool also sends something."""


class Flow(NamedTuple):
    """The effect of a tool on the flow of data.

    Attributes:
        reads: its result may have been written by strangers.
        sends: it sends or publishes.
        fetches: it returns pages; with a body in its arguments it sends, too.
    """

    reads: bool
    sends: bool
    fetches: bool = False


NO_FLOW = Flow(False, False)
_CHOSEN = {"reads": Flow(True, False), "sends": Flow(False, True), "both": Flow(True, True), "none": NO_FLOW}


def flow_of(tool: Tool, override: ToolOverride | None, *, is_remote: bool) -> Flow:
    """Returns the effect of a tool.

    Args:
        is_remote: its server runs elsewhere, and is reached over HTTP.
    """
    if override and override.flow:
        return _CHOSEN[override.flow]
    words = words_of(tool.name)
    is_open = tool.hints.get("openWorldHint")
    reaches_out = is_open is True or (is_remote and is_open is not False)
    fetches = not words.isdisjoint(READS_ANYTHING)
    if tool.category == "read":
        return Flow(fetches or reaches_out or not words.isdisjoint(BY_STRANGERS), False, fetches)
    changes_what_others_see = not (words.isdisjoint(CHANGES) or words.isdisjoint(SEEN_BY_OTHERS))
    types = fetches and not words.isdisjoint(TYPES_INTO_PAGES)
    sends = not words.isdisjoint(SENDS) or changes_what_others_see or types or (reaches_out and not fetches)
    return Flow(fetches, sends, fetches)


LONGEST_PLACE = 120  # characters of a host or a path
MOST_KNOWN = 16_384  # tools; as many as names are remembered
MOST_PASSING = 256  # kinds of clients whose requests cannot be tied to one another
METHODS, NO_BODY = ("method", "httpmethod", "verb"), ("GET", "HEAD", "OPTIONS")
NOTHING_SAID: tuple[object, ...] = (None, "", {}, [])
READ_BELOW_BYTES = 262_144  # larger arguments send something, whatever their members are called


class FlowGuard:
    """The record of what sessions have read, and so of which calls ask. Belongs to the engine's loop. While the guard is off for all
    clients, a call only reads `is_on` and the session's state.

    Attributes:
        is_on: whether the guard is on for any client.
    """

    def __init__(self, *, config: McpConfHelper, servers: ServerManager, clients: KnownClients, grants: GrantBook, bus: EventBus) -> None:
        self._grants = grants
        self._config, self._servers, self._clients = config, servers, clients
        self._known: dict[tuple[str, str], tuple[Route, Flow]] = {}
        self._passing: dict[str, SessionFlow] = {}  # by client
        self.is_on = False
        bus.subscribe(ConfigChanged, lambda event: self._follow())
        self._follow()

    def note(self, route: Route, exchange: Exchange) -> None:
        """Records that a call was answered; its result may steer the model from now on."""
        if self.is_on and self._flow(route).reads and self._is_on_for(exchange.session.state):
            self._keep(exchange.session.state, SessionFlow(route.server, route.definition.name, target_of(exchange.request.params)))

    def note_again(self, route: Route | None, server: str, state: SessionState) -> None:
        """Records that a tool's earlier output reached this session (task result or kept result).

        Args:
            route: None if the tool does not exist any more.
        """
        if route is None:
            self.note_other(server, state)
        elif self.is_on and self._flow(route).reads and self._is_on_for(state):
            self._keep(state, SessionFlow(server, route.definition.name))

    def note_other(self, server: str, state: SessionState) -> None:
        """Records that a session gets a resource or a prompt of a server; from a remote server it counts as written by strangers."""
        managed = self._servers.find(server)
        if managed and is_remote(managed.config.transport) and self._is_on_for(state):
            self._keep(state, SessionFlow(server, ""))

    def guarded(self, decision: Decision, route: Route, state: SessionState, params: Raw) -> Decision:
        """Returns the decision of the rules, or that a call asks because of what its session has read.

        Args:
            params: of the `tools/call`.
        """
        if not self.is_on or not (read := self.asks(route, state, params)):
            return decision
        what, tool = in_words(read), visible(route.definition.name)
        message = Phrase("this session has {read}, and '{tool}' sends or publishes", read=what, tool=tool)
        flow = Phrase("it has {read}, and now wants to send with {tool}", read=what, tool=tool)
        return replace(decision, is_approved=False, rule="", message=message, flow=flow)

    def asks(self, route: Route, state: SessionState, params: Raw) -> SessionFlow | None:
        """Returns what a session has read if a call has to ask because of that; None if the call need not ask.

        Args:
            params: of the `tools/call`.
        """
        read = self._read_by(state)
        if read is None:
            return None
        flow = self._flow(route)
        if not (flow.sends or flow.fetches) or not self._is_on_for(state):
            return None
        sends = flow.sends or _has_body(params)
        return read if sends and not self._grants.knows_flow(route, state) else None

    def sends(self, route: Route) -> bool:
        """Returns whether a tool sends or publishes, as far as is known."""
        return self._flow(route).sends

    def _read_by(self, state: SessionState) -> SessionFlow | None:
        return self._passing.get(state.client) if _is_untied(state) else state.flow

    def _keep(self, state: SessionState, flow: SessionFlow) -> None:
        if not _is_untied(state):
            state.flow = flow
            return
        if len(self._passing) >= MOST_PASSING:
            self._passing.pop(next(iter(self._passing)))
        self._passing[state.client] = flow

    def _is_on_for(self, state: SessionState) -> bool:
        if not self.is_on or (state.is_persons and current_asker().is_window):
            return False
        own = self._clients.settings(state.client).flow_guard
        return self._config.settings.approvals.flow_guard if own is None else own

    def _flow(self, route: Route) -> Flow:
        key = route.server, route.definition.name
        if (known := self._known.get(key)) and known[0] is route:
            return known[1]
        if len(self._known) >= MOST_KNOWN:
            self._known.clear()
        flow = self._flow_now(route)
        self._known[key] = route, flow
        return flow

    def _flow_now(self, route: Route) -> Flow:
        server = self._servers.find(route.server)
        if server is None or server.is_builtin:
            return NO_FLOW
        tool = tool_of(route.definition.name, route.hints)
        return flow_of(tool, route.override, is_remote=is_remote(server.config.transport))

    def _follow(self) -> None:
        self._known.clear()
        settings = self._config.settings
        self.is_on = settings.approvals.flow_guard or any(each.flow_guard for each in settings.publish.clients.values())


def in_words(read: SessionFlow) -> Phrase:
    """Returns a description of what was read, to follow the word "has"; texts of servers and models are made harmless."""
    server, tool, place = visible(read.server), visible(read.tool), plain(read.place, LONGEST_PLACE)
    if place:
        return Phrase("read {place} with {tool} of {server}", place=place, tool=tool, server=server)
    if tool:
        return Phrase("read what strangers may have written, with {tool} of {server}", tool=tool, server=server)
    return Phrase("read what strangers may have written, from {server}", server=server)


def _has_body(params: Raw) -> bool:
    arguments = arguments_of(params)
    if len(memoryview(arguments)) >= READ_BELOW_BYTES:
        return True
    try:
        found = read_once_named(bytes(arguments) or b"{}")
    except (ValueError, RecursionError):
        return True
    return not isinstance(found, dict) or any(_sends(name, value) for name, value in _members(found))


def _members(found: object) -> Iterator[tuple[str, object]]:
    """Yields the members of all objects in the arguments, at any depth: some tools nest in `options` or `request` what others have at the
    top.
    """
    left = [found]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            yield from value.items()
            left += value.values()
        elif isinstance(value, list):
            left += value


def _sends(name: str, value: object) -> bool:
    plain = "".join(filter(str.isalnum, name.casefold()))
    if plain in METHODS:
        return isinstance(value, str) and value.strip().upper() not in NO_BODY
    return plain in BODIES and value not in NOTHING_SAID


def _is_untied(state: SessionState) -> bool:
    """Returns whether it is unknown which of these requests belong together: they count as one session of their client."""
    return state.is_passing or state.is_persons
