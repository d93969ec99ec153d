"""Methods that the specification does not define: which servers claim them, and which one gets a request or a notification.

A method's name usually shows its extension. A method that is not named after an extension is claimed by each server that declares an
extension which the hub does not answer itself; if several servers claim the method, the tool, prompt or URI in the parameters decides.
"""

from urllib.parse import quote

import msgspec
from msgspec import Raw

from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.views.greetings import ServerDeclarations
from tooltray.catalogue.views.profiles import Profiles
from tooltray.catalogue.views.views import Views
from tooltray.config.naming import tool_settings
from tooltray.config.naming.published_names import PublishedNames
from tooltray.foundation.shell_words import quoted
from tooltray.gateway.calls.stages import ServerUses
from tooltray.protocol import declarations, eras
from tooltray.protocol.declarations import EXPERIMENTAL, EXTENSIONS
from tooltray.protocol.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure, load
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

NOTIFICATIONS = "notifications/"
HANDLED = frozenset({eras.META_PREFIX + name for name in ("ui", "skills", "tasks")})
"""Extensions that other parts of the hub know: declaring one of these does not make a server claim methods with other names."""
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
"""Methods that the specification itself defines, in either era: where the hub does not answer them, they belong to no extension."""


class Claimed(msgspec.Struct, frozen=True):
    """
    Attributes:
        servers: in the order of all servers; at least one.
        is_by_name: the method is named after an extension of these servers; else it may belong to any extension.
    """

    servers: list[ManagedServer]
    is_by_name: bool


class ExtensionClaims:
    """The claims to methods by servers that declared an extension and that the session reaches. Has no state of its own."""

    def __init__(self, *, servers: ServerManager, server_declarations: ServerDeclarations, views: Views) -> None:
        self._servers, self._declarations, self._views = servers, server_declarations, views

    def of(self, session: Session, method: str, era: Era) -> Claimed | None:
        """Returns the servers that claim a method; None if no server does."""
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
        """Returns the modern connections that may notify a session of an extension; if the session has only one server, also of extensions
        that the hub knows.
        """
        clients = [client for each in self._reached(session) if (client := each.client_for(Era.MODERN, session))]
        modern = [client for client in clients if client.era is Era.MODERN and server in (None, client.name)]
        handled = HANDLED if server is None else frozenset()
        return [client for client in modern if declarations.names(self._declarations.of_client(client)) - handled]

    def may_hear(self, session: Session, client: McpClient, method: str) -> bool:
        """Returns whether a session may get a notification that other sessions get, too; a notification of an extension only if the
        session's client knows the extension. A server that declares no extension, or something experimental, sends more than its
        capabilities show.
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
    """Returns the servers that may run. If no server may, returns all of them, since the first one's error gives the reason."""
    return [server for server in servers if server.refusal is None] or servers


class ExtensionRoutes:
    """The routes of requests and notifications to servers, for sessions with all servers. Has no state of its own."""

    def __init__(
        self,
        *,
        extension_claims: ExtensionClaims,
        servers: ServerManager,
        profiles: Profiles,
        names: PublishedNames,
        resources: ResourceManager,
        relay: ServerRelay,
        server_uses: ServerUses,
    ) -> None:
        self._claims, self._servers, self._profiles = extension_claims, servers, profiles
        self._names, self._resources, self._relay, self._uses = names, resources, relay, server_uses

    async def answer(self, exchange: Exchange) -> Envelope:
        """Answers a request that no part of the hub handles by the server with the extension."""
        request, session = exchange.request, exchange.session
        claimed = self._claims.of(session, request.method, exchange.era)
        if claimed is None:
            return failure(METHOD_NOT_FOUND, "Method not found", request.method)
        uri = _read(request.params, "uri")
        if uri is not None and self._resources.target(uri) is None:
            await self._resources.listing()  # an AI client that knows a URI by heart may be faster than the servers
        target = self._target(session, claimed, request.params)
        if target is None:
            return _ambiguous(claimed, request.method)
        managed, params = target
        self._uses.used(session.state, managed.name)
        asked = msgspec.structs.replace(request, params=params)
        return await self._relay.send_with_retry(managed, exchange.child(request=asked))

    def concerned(self, session: Session, method: str, params: Raw) -> tuple[McpClient, Raw] | None:
        """Returns the connection that gets an AI client's notification of an extension, if it is open, and the params for it."""
        era = Era.LEGACY if session.introduction else Era.MODERN
        claimed = self._claims.of(session, method, era)
        target = self._target(session, claimed, params) if claimed else None
        client = target[0].client_for(era, session) if target else None
        return (client, target[1]) if target and client else None

    def _target(self, session: Session, claimed: Claimed, params: Raw) -> tuple[ManagedServer, Raw] | None:
        """Returns the server, and the params with the server's own names and URIs; None if several servers may be meant."""
        named = self._named(session, params)
        own = next((each for each in named if self._servers.find(each[0]) in claimed.servers), None)
        if own:
            return self._servers.get(own[0]), own[1]
        return (claimed.servers[0], params) if len(claimed.servers) == 1 else None

    def _named(self, session: Session, params: Raw) -> list[tuple[str, Raw]]:
        """Returns the servers that have the tool, prompt or resource in the params, each with the params for this server."""
        found: list[tuple[str, Raw]] = []
        name, uri = _read(params, "name"), _read(params, "uri")
        if name is not None and (key := self._names.target(name)):
            server, own = tool_settings.tool_of(key)
            if self._profiles.includes(session.state, server, own):
                found.append((server, _with(params, "name", name, own)))
        if name is not None and (prompt := self._names.target(name, kind="prompts")):
            found.append((prompt[0], _with(params, "name", name, prompt[1])))
        if uri is not None and (resource := self._resources.target(uri)):
            found.append((resource[0], _with(params, "uri", uri, resource[1])))
        return found


def _ambiguous(claimed: Claimed, method: str) -> Envelope:
    """Returns the error for a method that may be meant for several servers; "method not found" if no server claims it by name."""
    names = ", ".join(f"'{server.name}'" for server in claimed.servers)
    first = claimed.servers[0].name
    how = f"connect to one of them directly: at /servers/{quote(first, safe='')}/mcp, or with `tooltray-bridge --server {quoted(first)}`"
    if claimed.is_by_name:
        return failure(INVALID_PARAMS, f"several servers have {method}: {names}; {how}")
    return failure(METHOD_NOT_FOUND, f"Method not found; several servers have extensions that may define it: {names}; {how}", method)


def _read(params: Raw, member: str) -> str | None:
    """Returns a member of params; None unless it is a string."""
    try:
        value = load(opened(params).get(member, NOTHING))
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _with(params: Raw, member: str, known: str, own: str) -> Raw:
    return params if known == own else eras.with_members(params, **{member: dump(own)})
