"""The flow guard, off until a person switches it on: once a session has read what strangers wrote, calls that send or publish ask first.

Above it: ToolCalls and the router, which tell what was read; ApprovalRules, which asks before each call. Below it: flows, which says what
a tool does; the settings; the state of a session, which keeps what it has read. Where the guard is off for all, a call costs a look at
`is_on` and one at the state.
"""

from collections.abc import Iterator

from msgspec import Raw

from tooltray.catalogue.approval import tool_of
from tooltray.catalogue.definition import read_once_named
from tooltray.catalogue.tool_routes import Route
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.consent.approvals import flows
from tooltray.consent.approvals.flows import NO_FLOW, Flow, flow_of
from tooltray.consent.approvals.grant_book import GrantBook
from tooltray.foundation.confirmation import current_asker
from tooltray.foundation.events import ConfigChanged, EventBus
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_flow import SessionFlow
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.records.journal.touched import arguments_of, touched
from tooltray.servers.transports.transports import is_remote
from tooltray.servers.upstream.server_manager import ServerManager

MOST_KNOWN = 16_384  # tools; as many as names are remembered
MOST_PASSING = 256  # kinds of clients of which nobody can tie one request to the next
METHODS, NO_BODY = ("method", "httpmethod", "verb"), ("GET", "HEAD", "OPTIONS")
NOTHING_SAID: tuple[object, ...] = (None, "", {}, [])
READ_BELOW_BYTES = 262_144  # larger arguments send something, whatever their members are called


class FlowGuard:
    """Belongs to the engine's loop.

    Attributes:
        is_on: for any client.
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
        """A call was answered; what it brought may steer the model from now on."""
        if self.is_on and self._flow(route).reads and self._is_on_for(exchange.session.state):
            self._keep(exchange.session.state, SessionFlow(route.server, route.definition.name, touched(exchange.request.params)))

    def note_again(self, route: Route | None, server: str, state: SessionState) -> None:
        """What a call of a tool has brought goes to a session, which may be another one than has called: of a task, or a kept result.

        Args:
            route: None: the tool is not there any more.
        """
        if route is None:
            self.note_other(server, state)
        elif self.is_on and self._flow(route).reads and self._is_on_for(state):
            self._keep(state, SessionFlow(server, route.definition.name))

    def note_other(self, server: str, state: SessionState) -> None:
        """A resource or a prompt of a server goes to a session; of one that runs elsewhere it counts as written by strangers."""
        managed = self._servers.find(server)
        if managed and is_remote(managed.config.transport) and self._is_on_for(state):
            self._keep(state, SessionFlow(server, ""))

    def asks(self, route: Route, state: SessionState, params: Raw) -> SessionFlow | None:
        """What a session has read, where a call has to ask because of that; None: it need not.

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
        """Whether a tool sends or publishes, by what is known of it."""
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
    """Of all objects in some arguments, however deep: `options` and `request` hold what others have outside."""
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
    return plain in flows.BODIES and value not in NOTHING_SAID


def _is_untied(state: SessionState) -> bool:
    """Nobody can tell which of these requests belong together: they count as one session of their client."""
    return state.is_passing or state.is_persons
