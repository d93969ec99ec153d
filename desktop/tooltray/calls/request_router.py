"""Where each request of an AI client goes: to a list of the hub's own, to the state that clients share, or to one server.

Above it: the sessions of AI clients. Below it: the managers of tools, prompts and resources, what clients share, and ServerRelay. A session
that has one server alone reaches it by any method, also by those that nobody here has heard of.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from functools import partial
from typing import Any

import msgspec
from msgspec import Raw

from tooltray.calls.completion import Completion
from tooltray.calls.subscriptions import Subscriptions
from tooltray.calls.tool_call import ToolCalls
from tooltray.catalogue.list_pages import MAX_PAGES, TooLong, check_length
from tooltray.catalogue.offer import RESOURCES, TEMPLATES
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager, anybody, not_found, read_uri
from tooltray.errors import TooltrayError
from tooltray.projects.projects import Projects
from tooltray.protocol import eras
from tooltray.protocol.elements import elements_of
from tooltray.protocol.envelope import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import closed, opened
from tooltray.sessions.caller import MAY_ASK, Session
from tooltray.sessions.exchange import Exchange
from tooltray.upstream.log_levels import LogLevels, read_level
from tooltray.upstream.managed_server import ManagedServer
from tooltray.upstream.mcp_client import McpClient
from tooltray.upstream.relay import START_WAIT_S, ServerRelay, paused
from tooltray.upstream.server_manager import ServerManager
from tooltray.views.views import Views

NOTIFICATIONS = "notifications/"  # how the methods of all of them begin
PROGRESS, ROOTS_CHANGED = "notifications/progress", "notifications/roots/list_changed"
SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE = "logging/setLevel", "resources/subscribe", "resources/unsubscribe"
SHARED = frozenset({SET_LEVEL, SUBSCRIBE, UNSUBSCRIBE})  # state of a connection, which legacy clients share
USES = frozenset({"prompts/get", "resources/read"})  # of a server that a session has not activated: from then on it has
LISTS = {"prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}
FIRST_LISTS = frozenset({"tools/list", *LISTS})  # which wait for what a session's project adds
DECLARES_ROOTS = b'"roots"'  # stands in the capabilities of a client that can be asked for them
LISTENS_WITHIN_S = 5.0  # a server may be slow to say that it tells updates; the client is answered all the same


Handler = Callable[[Exchange], Coroutine[Any, Any, Envelope]]
ServerHandler = Callable[[ManagedServer, Exchange], Coroutine[Any, Any, Envelope]]


class RequestRouter:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        calls: ToolCalls,
        views: Views,
        projects: Projects,
        prompts: PromptManager,
        resources: ResourceManager,
        completion: Completion,
        subscriptions: Subscriptions,
        log_levels: LogLevels,
        relay: ServerRelay,
        look_at_project: Callable[[Session], Awaitable[None]],
    ) -> None:
        """
        Args:
            look_at_project: waits, bounded, until the servers of a session's own project are known.
        """
        self._servers, self._prompts, self._resources = servers, prompts, resources
        self._calls, self._views, self._projects, self._look_at_project = calls, views, projects, look_at_project
        self._completion, self._subscriptions, self._log_levels, self._relay = completion, subscriptions, log_levels, relay
        self._tools: dict[str, Handler] = {"tools/call": calls.call, "tools/list": self._list_tools}
        of_all: dict[str, Handler] = {
            **dict.fromkeys(LISTS, self._list),
            "prompts/get": self._get_prompt,
            "resources/read": self._read_resource,
            "completion/complete": self._complete,
        }
        shared = {SET_LEVEL: self._set_level, SUBSCRIBE: self._subscribe, UNSUBSCRIBE: self._subscribe}
        self._of_all: dict[Era, dict[str, Handler]] = {Era.MODERN: of_all, Era.LEGACY: of_all | shared}
        self._of_one: dict[str, ServerHandler] = {
            **dict.fromkeys(SHARED, self._share),
            **dict.fromkeys(LISTS, self._list_one),
            **dict.fromkeys(USES, self._use_one),
        }

    async def answer(self, exchange: Exchange) -> Envelope:
        """Answers any request that is not the session's own to answer."""
        method, state = exchange.request.method, exchange.session.state
        if method in FIRST_LISTS:
            await self._before_listing(exchange)
        if DECLARES_ROOTS in bytes(exchange.head.meta.capabilities) and (question := await self._question(exchange)):
            return question
        if state.calls_since_told is not None:
            self._views.asked(state, method)
        if handler := self._tools.get(method):
            return await handler(exchange)
        if exchange.server is not None:
            return await self._answer_of_one(exchange, exchange.server)
        handler = self._of_all[exchange.era].get(method)
        return await handler(exchange) if handler else _no_method(exchange)

    async def _before_listing(self, exchange: Exchange) -> None:
        """The first lists of a session have the servers of its project."""
        await self._look_at_project(exchange.session)
        if exchange.request.method == "tools/list":
            await self._projects.before_listing(exchange.session, exchange.server)

    async def _question(self, exchange: Exchange) -> Envelope | None:
        """What a modern client is asked before a request of it is answered; None: nothing."""
        if exchange.request.method not in MAY_ASK:
            return None
        target = self._calls.target(exchange) if exchange.request.method == "tools/call" else None
        return await self._projects.rounds.before(exchange, target[0] if target else exchange.server)

    async def _list_tools(self, exchange: Exchange) -> Envelope:
        return _in_era(exchange, await self._views.listing(exchange))

    # all servers together

    async def _get_prompt(self, exchange: Exchange) -> Envelope:
        is_reached, on_used = self._bounds(exchange)
        return await self._prompts.get(exchange, is_reached=is_reached, on_used=on_used)

    async def _read_resource(self, exchange: Exchange) -> Envelope:
        is_reached, on_used = self._bounds(exchange)
        return await self._resources.read(exchange, is_reached=is_reached, on_read=on_used)

    async def _complete(self, exchange: Exchange) -> Envelope:
        return await self._completion.complete(exchange, is_reached=self._bounds(exchange)[0])

    def _bounds(self, exchange: Exchange) -> tuple[Callable[[str], bool], Callable[[str], None]]:
        """Whether the session may have anything of a server, and what is called with the name of the one that it uses."""
        state = exchange.session.state
        return partial(self._views.reaches, state), partial(self._views.used, state)

    async def _set_level(self, exchange: Exchange) -> Envelope:
        session = exchange.session
        return await self._log_levels.set(session, read_level(exchange.request.params), self._copies_for(session))

    async def _subscribe(self, exchange: Exchange) -> Envelope:
        uri = read_uri(exchange.request.params)
        owner = await self._resources.owner(uri, is_reached=self._bounds(exchange)[0]) if uri is not None else None
        return await self._subscribe_at(exchange, *owner) if owner else not_found(uri or "", exchange.era)

    async def _list(self, exchange: Exchange) -> Envelope:
        """A list of all servers, or of those that are shown."""
        return _in_era(exchange, await self._listing(exchange.request.method, exchange))

    async def _listing(self, method: str, exchange: Exchange) -> Raw:
        whole = await self._whole_listing(method)
        is_shown = self._views.shown_servers(exchange.session.state)  # now, and not before the servers were waited for
        if method != "prompts/list" and (own := self._copies_of_projects(exchange)):
            kind = RESOURCES if method == "resources/list" else TEMPLATES
            return await self._resources.listing_with(kind, is_shown or anybody, own)
        if is_shown is None:
            return whole
        if method == "prompts/list":
            return await self._prompts.listing_among(is_shown)
        return await self._resources.listing_among(RESOURCES if method == "resources/list" else TEMPLATES, is_shown)

    def _copies_of_projects(self, exchange: Exchange) -> dict[str, McpClient | None]:
        """Of the servers that start for a project: what a session has of them, where the shared lists are those of another project."""
        copies = {server.name: (server, server.client_for(exchange.era, exchange.session)) for server in self._servers.deferred()}
        return {name: client for name, (server, client) in copies.items() if client is None or client is not server.first.client}

    async def _whole_listing(self, method: str) -> Raw:
        if method == "prompts/list":
            return await self._prompts.listing()
        return await (self._resources.listing() if method == "resources/list" else self._resources.templates())

    def _copies_for(self, session: Session) -> list[McpClient]:
        return [client for client in self._servers.clients_for(session) if self.reaches(session, client.name)]

    async def _subscribe_at(self, exchange: Exchange, managed: ManagedServer, uri: str) -> Envelope:
        if exchange.request.method == UNSUBSCRIBE:
            return await self._subscriptions.unsubscribe(exchange.session, managed, uri)
        return await self._subscriptions.subscribe(exchange.session, managed, uri)

    # one server alone

    async def _answer_of_one(self, exchange: Exchange, server: str) -> Envelope:
        method, managed = exchange.request.method, self._servers.find(server)
        if managed is None:
            return failure(INVALID_PARAMS, f"there is no server '{server}'")
        if not self._views.reaches(exchange.session.state, server):
            refusal = failure(INVALID_PARAMS, f"server '{server}' is not in the profile of this session")
            return _empty_list(exchange) if method in LISTS else refusal
        return await self._of_one.get(method, self._relay.send_with_retry)(managed, exchange)

    async def _use_one(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        self._views.used(exchange.session.state, managed.name)
        return await self._relay.send_with_retry(managed, exchange)

    async def _share(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """State that is kept for all who use the same copy; a server that has no such thing says so itself."""
        if exchange.era is Era.MODERN:  # also where the server is legacy and would know it
            return _no_method(exchange)
        if self._relay.is_paused:
            return paused()
        request, session = exchange.request, exchange.session
        try:
            client = await managed.running(Era.LEGACY, timeout_s=START_WAIT_S, session=session)
        except TooltrayError as error:
            return failure(CONNECTION_CLOSED, str(error))
        if request.method == SET_LEVEL:
            if client.era is Era.LEGACY and "logging" not in client.greeting.capabilities:
                return await self._relay.send_with_retry(managed, exchange)
            return await self._log_levels.set(session, read_level(request.params), [client], server=managed.name)
        uri = read_uri(request.params)
        if uri is None or (client.era is Era.LEGACY and not _subscribes(client)):
            return await self._relay.send_with_retry(managed, exchange)
        return await self._subscribe_at(exchange, managed, uri)

    async def _list_one(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        is_shown = self._views.shown_servers(exchange.session.state)
        if is_shown and not is_shown(managed.name):
            return _empty_list(exchange)
        return await self._list_whole(managed, exchange)

    async def _list_whole(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """One page for the client, however many the server makes of it: many clients read no other."""
        request, params = exchange.request, exchange.request.params
        reply = await self._relay.send_with_retry(managed, exchange)
        if not _next_cursor(reply) or "cursor" in (opened(params) if params else {}):
            return reply
        member, first = LISTS[request.method], reply
        elements, seen, size_bytes = elements_of(opened(first.result).get(member, Raw(b"[]"))), set[bytes](), len(memoryview(first.result))
        while (cursor := _next_cursor(reply)) and bytes(cursor) not in seen and len(seen) < MAX_PAGES:
            seen.add(bytes(cursor))
            page = Envelope(id=request.id, method=request.method, params=eras.with_members(params or Raw(b"{}"), cursor=cursor))
            reply = await self._relay.send_with_retry(managed, exchange.child(request=page))
            if reply.error:
                return reply
            size_bytes += len(memoryview(reply.result))
            try:
                check_length(request.method, 0, size_bytes)
                elements += elements_of(opened(reply.result).get(member, Raw(b"[]")))
                check_length(request.method, len(elements), size_bytes)
            except TooLong as error:
                return failure(INTERNAL_ERROR, f"server '{managed.name}' lists too much: {error}")
        members = opened(first.result)
        members.pop("nextCursor", None)
        return Envelope(result=closed(members | {member: Raw(b"[%b]" % b",".join(map(bytes, elements)))}))

    # what clients listen to

    def follow_lists(self, session: Session, tell: Callable[[str], None]) -> Callable[[], None]:
        """Calls `tell` with the notification that says so whenever a list has changed for this session alone; returns what ends that."""
        return self._views.follow(session.state, tell)

    def concerns(self, session: Session, server: str, changed: str) -> bool:
        """Whether a session sees what a server lists. `changed`: the notification that says which list."""
        return self._views.shows(session.state, server, changed)

    def reaches(self, session: Session, server: str) -> bool:
        """Whether a session may have anything of a server."""
        return self._views.is_plain(session.state) or self._views.reaches(session.state, server)

    def told_of_tools(self, session: Session) -> None:
        """A session's client has been told that its tools have changed."""
        self._views.told(session.state)

    async def listen_to_resources(self, session: Session, id: Raw, uris: Iterable[str], *, server: str | None) -> None:
        """What one `subscriptions/listen` of a modern client wants to hear of; returns when the servers tell it, at most after a while."""
        wanted: dict[str, frozenset[str]] = {}
        for uri in uris:
            if server is not None:
                if self.reaches(session, server):
                    wanted[server] = wanted.get(server, frozenset()) | {uri}
            elif owner := await self._resources.owner(uri, is_reached=partial(self._views.reaches, session.state)):
                managed, own = owner
                wanted[managed.name] = wanted.get(managed.name, frozenset()) | {own}
        asking = self._subscriptions.set_listened(session, bytes(id), wanted)
        if wanted and asking:
            await asyncio.wait(asking, timeout=LISTENS_WITHIN_S)

    def end_listening(self, session: Session, id: Raw) -> None:
        self._subscriptions.set_listened(session, bytes(id), {})

    def hearers(self, client: McpClient, params: Raw) -> tuple[str, list[tuple[Session, str]]]:
        """Of an update that a server tells: its URI; who wants to hear of it, and which URI they asked for."""
        uri = read_uri(params) or ""
        return uri, self._subscriptions.hearers(client, uri)

    def wants_log_message(self, session: Session, params: Raw) -> bool:
        return self._log_levels.wants(session, read_level(params))

    def end_session(self, session: Session) -> None:
        self._subscriptions.end(session)
        self._log_levels.end(session)

    # notifications

    def take_notification(self, session: Session, method: str, params: Raw, *, server: str | None) -> None:
        """Passes on what an AI client says outside of requests, to the servers that it concerns.

        A request without an id is none of it: a server that carries it out all the same would do so unasked.
        """
        if not method.startswith(NOTIFICATIONS):
            return
        for client in self._concerned(session, method, server):
            client.notify(method, params)

    def _concerned(self, session: Session, method: str, server: str | None) -> list[McpClient]:
        reached = self._copies_for(session)
        if method == PROGRESS:
            return [client for client in reached if client.is_asking(session)]
        if method == ROOTS_CHANGED:
            return [client for client in reached if client.era is Era.LEGACY and server in (None, client.name)]
        managed = self._servers.find(server) if server else None
        own = managed.client_for(Era.LEGACY if session.introduction else Era.MODERN, session) if managed else None
        return [own] if own else []


def _in_era(exchange: Exchange, result: Raw) -> Envelope:
    return Envelope(result=eras.as_modern_result(exchange.request.method, result) if exchange.era is Era.MODERN else result)


def _empty_list(exchange: Exchange) -> Envelope:
    return _in_era(exchange, Raw(b'{"%b":[]}' % LISTS[exchange.request.method].encode()))


def _no_method(exchange: Exchange) -> Envelope:
    return failure(METHOD_NOT_FOUND, "Method not found", exchange.request.method)


def _subscribes(client: McpClient) -> bool:
    resources = client.greeting.capabilities.get("resources")
    return isinstance(resources, dict) and resources.get("subscribe") is True


def _next_cursor(reply: Envelope) -> Raw:
    """Of a list that goes on; empty if it does not."""
    if not reply.result or b'"nextCursor"' not in bytes(reply.result):
        return NOTHING
    try:
        cursor = opened(reply.result).get("nextCursor", NOTHING)
    except (ValueError, RecursionError, msgspec.DecodeError):
        return NOTHING
    return cursor if bytes(cursor).startswith(b'"') and cursor != dump("") else NOTHING
