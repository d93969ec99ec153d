"""Which servers claim a method of an extension: those that have declared something, and that the session reaches.

The method's own name says which extension it is of. A method that is named after no extension is claimed by each server with one that the
hub does not answer itself.

Above it: ExtensionRoutes, ExtensionListens and Notifications. Below it: what servers declare.
"""

import msgspec

from tooltray.catalogue.views.server_declarations import ServerDeclarations
from tooltray.catalogue.views.views import Views
from tooltray.protocol import declarations, eras
from tooltray.protocol.declarations import EXPERIMENTAL, EXTENSIONS
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.caller import Session
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

NOTIFICATIONS = "notifications/"
HANDLED = frozenset({eras.META_PREFIX + name for name in ("ui", "skills", "tasks")})
"""Extensions that other parts of the hub know: that a server has one says nothing of a method with another name."""
DEFINED = frozenset(
    {
        *("initialize", "ping", "server/discover", "subscriptions/listen", "completion/complete", "logging/setLevel"),
        *("tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list", "resources/templates/list", "resources/read"),
        *("resources/subscribe", "resources/unsubscribe", "tasks/list", "tasks/get", "tasks/result", "tasks/cancel"),
        *("roots/list", "sampling/createMessage", "elicitation/create"),
        *("notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed"),
        *("notifications/tasks/status", "notifications/elicitation/complete"),
    }
)
"""What the specification itself defines, in either era: where the hub does not answer it, it is of no extension."""


class Claimed(msgspec.Struct, frozen=True):
    """
    Attributes:
        servers: in their order; at least one.
        is_by_name: the method is named after an extension of theirs; else it may be of any.
    """

    servers: list[ManagedServer]
    is_by_name: bool


class ExtensionClaims:
    """Belongs to the engine's loop; has no state of its own."""

    def __init__(self, *, servers: ServerManager, server_declarations: ServerDeclarations, views: Views) -> None:
        self._servers, self._declarations, self._views = servers, server_declarations, views

    def of(self, session: Session, method: str, era: Era) -> Claimed | None:
        """By whom a method is claimed; None: nobody does."""
        if method in DEFINED:
            return None
        declaring = {server: names for server in self._reached(session) if (names := self._names_of(server, era, session))}
        name = method.removeprefix(NOTIFICATIONS)
        by_name = [server for server, names in declaring.items() if any(declarations.is_named_after(name, each) for each in names)]
        if by_name:
            return Claimed(_able(by_name), is_by_name=True)
        unknown = [server for server, names in declaring.items() if names - HANDLED]
        return Claimed(_able(unknown), is_by_name=False) if unknown else None

    def speaking(self, session: Session, server: str | None) -> list[McpClient]:
        """The modern connections that may tell a session of an extension; of one server also of those that the hub knows itself."""
        clients = [client for each in self._reached(session) if (client := each.client_for(Era.MODERN, session))]
        modern = [client for client in clients if client.era is Era.MODERN and server in (None, client.name)]
        handled = HANDLED if server is None else frozenset()
        return [client for client in modern if declarations.names(self._declarations.of_client(client)) - handled]

    def may_hear(self, session: Session, client: McpClient, method: str) -> bool:
        """Whether a session may hear a notification of a server that others hear, too: an extension's only where its client knows that.

        A server that declares none, or something experimental, says more than can be told from its capabilities.
        """
        if method in DEFINED:
            return True
        theirs, known = self._declarations.of_client(client), declarations.names(session.state.declared)
        extensions = theirs.get(EXTENSIONS, {}).keys()
        name = method.removeprefix(NOTIFICATIONS)
        if of := {each for each in extensions if declarations.is_named_after(name, each)}:
            return not of.isdisjoint(known)
        return not extensions or EXPERIMENTAL in theirs or session.state.server is not None or not known.isdisjoint(extensions)

    def _names_of(self, server: ManagedServer, era: Era, session: Session) -> frozenset[str]:
        return declarations.names(self._declarations.of(server, era, session))

    def _reached(self, session: Session) -> list[ManagedServer]:
        return [server for server in self._servers if not server.is_builtin and self._views.reaches(session.state, server.name)]


def _able(servers: list[ManagedServer]) -> list[ManagedServer]:
    """Those that may run; where none may, all: one of them says why."""
    return [server for server in servers if server.refusal is None] or servers
