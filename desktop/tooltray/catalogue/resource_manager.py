"""The resources and resource templates of all servers: one list of each, and each read to the server that has the resource. Resources need
no approval: they change nothing.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial

import msgspec
from msgspec import Raw

from tooltray.catalogue.list_pages import list_all
from tooltray.catalogue.offer import RESOURCES, TEMPLATES, Offer, OfferKind, listing_of, read_offers
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.resource_uris import VIEW_PREFIX, PublishedUris, ResourceUris, SkillUris, Target
from tooltray.catalogue.result_uris import LinkedCaller, Publish, linked
from tooltray.catalogue.second_looks import SecondLooks
from tooltray.foundation.errors import TooltrayError
from tooltray.protocol import eras
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, dump, failure, load
from tooltray.protocol.eras import LEGACY_RESOURCE_NOT_FOUND, Era
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

logger = logging.getLogger(__name__)


Found = tuple[ManagedServer, str]
"""A server that may have a resource, and its own URI for it."""


def anybody(server: str) -> bool:
    """Accepts every server."""
    return True


class ResourceManager:
    """The resources of all servers. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        offers: Offers,
        published_uris: PublishedUris,
        looks: SecondLooks,
        relay: ServerRelay,
        skill_uris: SkillUris,
    ) -> None:
        self._servers, self._offers, self._looks, self._relay = servers, offers, looks, relay
        self._published, self._skill_uris = published_uris, skill_uris
        self._made_at: tuple[object, ...] = ()  # the state of the URIs when both lists were made
        self._given_at: tuple[object, ...] = ()  # the state of the resources when URIs were given
        self._listing = self._templates = NOTHING
        self._offering: set[str] = set()  # servers that offer resources, templates or views
        self._made: dict[OfferKind, tuple[tuple[str, Raw], ...]] = {}  # of both lists: each entry's server and definition

    # lists and lookups
    async def listing(self) -> Raw:
        """Returns the result of `resources/list`, whole, in the order of the servers; waits a bounded time for servers that were never
        listed.
        """
        await self._ready()
        return self._listing

    async def templates(self) -> Raw:
        """Returns the result of `resources/templates/list`, as `listing` does."""
        await self._ready()
        return self._templates

    async def listing_among(self, kind: OfferKind, is_shown: Callable[[str], bool]) -> Raw:
        """Returns `listing` or `templates` of some servers only. `is_shown`: whether a server is one of them, by name."""
        await self._ready()
        return listing_of(kind, (definition for server, definition in self._made[kind] if is_shown(server)))

    async def listing_with(self, kind: OfferKind, is_shown: Callable[[str], bool], own: Mapping[str, McpClient | None]) -> Raw:
        """Returns the list for a session that has its own instances of some servers; these instances are asked for their lists.

        Args:
            own: those instances by the names of their servers; None for a server without a running instance for the session.
        """
        await self._ready()
        asked = [self._listed_by(kind, client) for server, client in own.items() if client and is_shown(server)]
        listed = await asyncio.gather(*asked)
        self._make()
        shared = [definition for server, definition in self._made[kind] if server not in own and is_shown(server)]
        return listing_of(kind, [*shared, *(definition for definitions in listed for definition in definitions)])

    async def _listed_by(self, kind: OfferKind, client: McpClient) -> list[Raw]:
        offers = await offered_by(kind, client)
        published = self._uris.published_uri if kind is RESOURCES else self._uris.published_template
        return [each.renamed(kind, published(client.name, each.key)) for each in offers if not each.is_held]

    async def definitions(self, kind: OfferKind, server: str) -> list[Raw]:
        """Returns the definitions of one server, as in the list of this kind."""
        await self._ready()
        return [definition for name, definition in self._made[kind] if name == server]

    def count(self, server: str) -> int:
        """Returns how many resources a server offers, without those that a template covers."""
        return len(self._offers.offered(RESOURCES).get(server, ()))

    def published_uri(self, server: str, uri: str) -> str:
        """Returns the URI by which AI clients know a server's resource, for the server's notifications about it."""
        return self._uris.published_uri(server, uri)

    def may_replace_uris(self, server: str) -> bool:
        """Returns whether another server has resources, too, so that URIs in this server's replies may have to be replaced."""
        if self._published.state != self._made_at:
            self._make()
        return not self._offering <= {server}

    def publisher(self, server: str) -> Publish | None:
        """Returns a server's present `published_uri`, for its replies; None if its URIs stay, since it has no resources or is the only
        server with some.

        The returned function may be used in any thread.
        """
        if not self.may_replace_uris(server) or not self._offers.is_declared(server, RESOURCES):
            return None
        return partial(self._uris.published_uri, server)

    def target(self, uri: str) -> Target | None:
        """Returns the server, and its own URI, for a URI of an AI client; None if no server has listed the URI or a template for it"""
        return next(self._uris.targets(uri), None)

    def template_target(self, text: str) -> Target | None:
        """Returns the server, and its own text, that the text of a template means."""
        return self._uris.template_target(text)

    async def completion_target(self, uri: str, *, is_reached: Callable[[str], bool] = anybody) -> Target | None:
        """Returns the target of a completion request, for the text of a template or for a URI.

        Args:
            is_reached: whether the session may use a server: its likely servers are listed again before a name is unknown.
        """
        await self._offers.wait_for_first_listings()

        async def is_found() -> bool:
            return bool(self.template_target(uri) or self.target(uri))

        if not await is_found():
            await self._looks.look(TEMPLATES, self._looks.likely(TEMPLATES, uri, is_reached=is_reached), is_found)
        return self.template_target(uri) or self.target(uri)

    async def owner(self, uri: str, *, is_reached: Callable[[str], bool] = anybody) -> tuple[ManagedServer, str] | None:
        """Returns the server, and its own URI, that a subscription to a URI is for. `is_reached`: as for `read`."""
        return next((each for each in await self._candidates(uri) if is_reached(each[0].name)), None)

    # reading

    async def read(
        self,
        exchange: Exchange,
        *,
        is_reached: Callable[[str], bool] = anybody,
        on_read: Callable[[str], None] = lambda server: None,
        target: Target | None = None,
    ) -> Envelope:
        """Carries one `resources/read` of an AI client to the server that has the resource; if unknown, to one server after the other.

        Args:
            is_reached: whether the session may read from a server, by its name.
            on_read: gets the name of the server that had the resource.
            target: the server, and its own URI, if the caller knows them.
        """
        uri = read_uri(exchange.request.params)
        if uri is None:
            return failure(INVALID_PARAMS, "Invalid request parameters: a resource has a uri")
        last: Envelope | None = None
        state = exchange.session.state
        candidates = await self._candidates(uri, target)
        reached = [(managed, own) for managed, own in candidates if is_reached(managed.name)]
        if state.shows_views and len(reached) > 1 and not (reached := self._of_views(uri, reached, state)):
            return failure(INVALID_PARAMS, f"several servers with open views have '{uri}', and the request names none of them")
        for managed, own in reached:
            last = await self._read_at(managed, exchange, uri, own)
            if not last.error:
                on_read(managed.name)
                if state.shows_views and own.startswith(VIEW_PREFIX):
                    state.reads_view(managed.name)
                return await self._as_asked(managed.name, uri, own, last)
        return last or not_found(uri, exchange.era)

    async def _candidates(self, uri: str, target: Target | None = None) -> list[Found]:
        if target:
            return [(managed, target[1])] if (managed := self._servers.find(target[0])) else []
        if self.target(uri) is None:  # an AI client that remembers the URI may be faster than the servers
            await self._offers.wait_for_first_listings()
        known = [(managed, own) for server, own in self._uris.targets(uri) if (managed := self._servers.find(server))]
        return known or [(managed, uri) for managed in self._offers.declaring(RESOURCES)]

    async def _read_at(self, managed: ManagedServer, exchange: Exchange, uri: str, own: str) -> Envelope:
        publish = self.publisher(managed.name)
        caller = LinkedCaller(exchange.caller, publish) if publish else exchange.caller
        return await self._relay.send_with_retry(managed, exchange.child(request=_asking_for(exchange.request, uri, own), caller=caller))

    def _of_views(self, uri: str, found: list[Found], state: SessionState) -> list[Found]:
        """Chooses the view's own server if several servers could have a URI; empty if the URI could belong to several views."""
        is_contested = self._uris.is_contested(uri)
        if not is_contested and self.target(uri):
            return found
        shown = state.showing([managed.name for managed, _ in found])
        if is_contested and len(shown) > 1:
            return []
        first = [each for each in found if each[0].name in shown]
        return first if is_contested and first else [*first, *(each for each in found if each not in first)]

    async def _as_asked(self, server: str, uri: str, own: str, reply: Envelope) -> Envelope:
        """Returns the reply with the URIs that AI clients know; unchanged if these are the server's own."""
        publish = self.publisher(server) or (partial(self._uris.published_uri, server) if uri != own else None)
        if publish is None:
            return reply
        known = {own: uri}
        return await linked(reply, lambda each: known.get(each) or publish(each))

    # making lists

    async def _ready(self) -> None:
        """Waits a bounded time for servers that were never listed, and gives the listed resources their URIs."""
        await self._offers.wait_for_first_listings()
        if self._given_at != (self._offers.changes(RESOURCES), *self._skill_uris.state):
            changes, offered = self._offers.changes(RESOURCES), self._offers.offered(RESOURCES)
            await self._skill_uris.give((server, offer.key) for server, offers in offered.items() for offer in offers)
            self._given_at = (changes, *self._skill_uris.state)
        self._make()

    @property
    def _uris(self) -> ResourceUris:
        return self._published.now

    def _make(self) -> None:
        if (state := self._published.state) == self._made_at:
            return
        resources, templates, uris = self._offers.offered(RESOURCES), self._offers.offered(TEMPLATES), self._published.now
        self._made = {
            RESOURCES: tuple(
                (server, each.renamed(RESOURCES, uris.published_uri(server, each.key)))
                for server, offered in resources.items()
                for each in offered
                if not each.is_held
            ),
            TEMPLATES: tuple(
                (server, each.renamed(TEMPLATES, uris.published_template(server, each.key)))
                for server, offered in templates.items()
                for each in offered
                if not each.is_held
            ),
        }
        self._listing, self._templates = (
            listing_of(kind, (definition for _, definition in self._made[kind])) for kind in (RESOURCES, TEMPLATES)
        )
        offering = {server for offered in (resources, templates) for server, listed in offered.items() if listed}
        self._offering = offering | self._published.view_servers
        self._made_at = state


async def offered_by(kind: OfferKind, client: McpClient) -> Sequence[Offer]:
    """Returns the present list of one instance of a server; empty if it has no such list, or fails to list."""
    if kind.declared(client.greeting.capabilities) is None:
        return ()
    try:
        offers, _ = read_offers(kind, await list_all(client, kind.method, kind.member))
    except TooltrayError as error:
        logger.info("the %s of '%s' could not be listed: %s", kind.name, client.name, error)
        return ()
    return offers


def read_uri(params: Raw) -> str | None:
    """Returns the `uri` in the params of a request or notification; None if it is missing or not a string."""
    try:
        uri = load(opened(params).get("uri", NOTHING))
    except ValueError:
        return None
    return uri if isinstance(uri, str) else None


def not_found(uri: str, era: Era) -> Envelope:
    """Returns the error of an era for a resource that no server has."""
    return failure(LEGACY_RESOURCE_NOT_FOUND if era is Era.LEGACY else INVALID_PARAMS, "Resource not found", {"uri": uri})


def _asking_for(request: Envelope, uri: str, own: str) -> Envelope:
    """Copies a request for each server that is tried: a request is changed on its way."""
    params = request.params if own == uri else eras.with_members(request.params, uri=dump(own))
    return msgspec.structs.replace(request, params=params)


class LinkingRelay:
    """A relay that translates URIs in replies; has no state of its own."""

    def __init__(self, *, relay: ServerRelay, resources: ResourceManager) -> None:
        self._relay, self._resources = relay, resources

    def send_with_retry(
        self, managed: ManagedServer, exchange: Exchange, *, timeout_s: float | None = None
    ) -> Coroutine[object, None, Envelope]:
        """Sends a request as ServerRelay does."""
        publish = self._resources.publisher(managed.name) if exchange.server is None else None
        if publish:
            return self._send_linked(managed, exchange, publish, timeout_s)
        return self._relay.send_with_retry(managed, exchange, timeout_s=timeout_s)

    async def _send_linked(self, managed: ManagedServer, exchange: Exchange, publish: Publish, timeout_s: float | None) -> Envelope:
        asking = exchange.child(caller=LinkedCaller(exchange.caller, publish))
        return await linked(await self._relay.send_with_retry(managed, asking, timeout_s=timeout_s), publish)
