"""To which server a request or a notification goes that no part of the hub knows, where a session has all servers together.

ExtensionClaims says which servers claim its method; if these are several, the tool, prompt or URI says it that the parameters name.

Above it: AllServers, for requests that no other part knows, and Notifications, for what AI clients say outside of requests. Below it:
ExtensionClaims, the names and URIs by which AI clients know servers' things, and ServerRelay.
"""

from urllib.parse import quote

import msgspec
from msgspec import Raw

from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.views.profiles import Profiles
from tooltray.config.naming import tool_settings
from tooltray.config.naming.published_names import PublishedNames
from tooltray.foundation.shell_words import quoted
from tooltray.gateway.calls.extension_claims import Claimed, ExtensionClaims
from tooltray.gateway.calls.session_uses import ServerUses
from tooltray.protocol import eras
from tooltray.protocol.envelope import INVALID_PARAMS, METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure, load
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.caller import Session
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager


class ExtensionRoutes:
    """Belongs to the engine's loop; has no state of its own."""

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
        """Answers a request whose method belongs to no part of the hub: the server does whose extension it is."""
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
        """For whom a notification of an AI client is that no part of the hub knows, if that runs; and what it is told."""
        era = Era.LEGACY if session.introduction else Era.MODERN
        claimed = self._claims.of(session, method, era)
        target = self._target(session, claimed, params) if claimed else None
        client = target[0].client_for(era, session) if target else None
        return (client, target[1]) if target and client else None

    def _target(self, session: Session, claimed: Claimed, params: Raw) -> tuple[ManagedServer, Raw] | None:
        """The server, and the params with its own name and URI in place of those that AI clients know; None if it may be several."""
        named = self._named(session, params)
        own = next((each for each in named if self._servers.find(each[0]) in claimed.servers), None)
        if own:
            return self._servers.get(own[0]), own[1]
        return (claimed.servers[0], params) if len(claimed.servers) == 1 else None

    def _named(self, session: Session, params: Raw) -> list[tuple[str, Raw]]:
        """The servers whose things are named in params, each with what it is told."""
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
    """What a client reads where several servers may be meant; a method that none of them claims is still one that is not known."""
    names = ", ".join(f"'{server.name}'" for server in claimed.servers)
    first = claimed.servers[0].name
    how = f"reach one of them by itself: at /servers/{quote(first, safe='')}/mcp, or with `tooltray-bridge --server {quoted(first)}`"
    if claimed.is_by_name:
        return failure(INVALID_PARAMS, f"several servers have {method}: {names}; {how}")
    return failure(METHOD_NOT_FOUND, f"Method not found; several servers have extensions that may know it: {names}; {how}", method)


def _read(params: Raw, member: str) -> str | None:
    """A member of params; None where there is none that is a string."""
    try:
        value = load(opened(params).get(member, NOTHING)) if params else None
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _with(params: Raw, member: str, known: str, own: str) -> Raw:
    return params if known == own else eras.with_members(params, **{member: dump(own)})
