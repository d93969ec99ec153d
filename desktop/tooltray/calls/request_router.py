"""Where each request of an AI client goes: to a list of the hub's own, to the state that clients share, or to one server.

Above it: the sessions of AI clients. Below it: ToolCalls; AllServers, over the managers of prompts and resources; OneServer, over
ServerRelay, whose sessions reach their server also by methods that are not known here; and Notifications, for what is no request.
"""

from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from msgspec import Raw

from tooltray.approvals.flow_guard import FlowGuard
from tooltray.calls.app_calls import AppCalls
from tooltray.calls.completion import Completion
from tooltray.calls.extension_routes import DEFINED, ExtensionRoutes
from tooltray.calls.notifications import SET_LEVEL, SHARED, SUBSCRIBE, UNSUBSCRIBE, Notifications
from tooltray.calls.tool_call import ToolCalls
from tooltray.catalogue.list_pages import MAX_PAGES, TooLong, check_length
from tooltray.catalogue.offer import RESOURCES, TEMPLATES
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager, anybody
from tooltray.catalogue.resource_uris import Target
from tooltray.catalogue.skill import SKILLS
from tooltray.projects.projects import Projects
from tooltray.protocol import eras
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import closed, elements_of, opened
from tooltray.server_tasks.server_tasks import ServerHandler, ServerTasks
from tooltray.sessions.caller import MAY_ASK, Session
from tooltray.sessions.exchange import Exchange, Work
from tooltray.sessions.own_results import own_result
from tooltray.sessions.session_state import SessionState
from tooltray.skills.skills import GET as GET_SKILL
from tooltray.skills.skills import LIST as LIST_SKILLS
from tooltray.skills.skills import Skills
from tooltray.upstream.managed_server import ManagedServer
from tooltray.upstream.mcp_client import McpClient
from tooltray.upstream.relay import ServerRelay
from tooltray.upstream.server_manager import ServerManager
from tooltray.views.views import Views

READ = "resources/read"
USES = frozenset({"prompts/get", READ})  # of a server that a session has not activated: from then on it has
LISTS = {"prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}
LISTS_OF_ONE = LISTS | {LIST_SKILLS: SKILLS.member}
FIRST_LISTS = frozenset({"tools/list", *LISTS_OF_ONE})  # which wait for what a session's project adds
PRIVATE = Raw(b'"private"')
NO_SUCH_CURSOR = "Invalid cursor: this list has one page"
DECLARES_ROOTS = b'"roots"'  # stands in the capabilities of a client that can be asked for them


class AllServers:
    """Requests of sessions that have all servers together, calls of tools and their list aside. Has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        views: Views,
        prompts: PromptManager,
        resources: ResourceManager,
        completion: Completion,
        notifications: Notifications,
        extensions: ExtensionRoutes,
        server_tasks: ServerTasks,
        skills: Skills,
        flow_guard: FlowGuard,
    ) -> None:
        """
        Args:
            extensions: answers what no table here knows.
        """
        self._servers, self._views, self._prompts, self._guard = servers, views, prompts, flow_guard
        self._resources, self._completion, self._extensions, self._skills = resources, completion, extensions, skills
        of_all: dict[str, Work] = {
            **dict.fromkeys(LISTS, self._list),
            "prompts/get": self._get_prompt,
            "resources/read": self._read_resource,
            "completion/complete": self._complete,
            **server_tasks.handlers(),
            **skills.handlers(),
        }
        shared = {SET_LEVEL: notifications.set_level, SUBSCRIBE: notifications.subscribe, UNSUBSCRIBE: notifications.subscribe}
        self._handlers: dict[Era, dict[str, Work]] = {Era.MODERN: of_all, Era.LEGACY: of_all | shared}

    async def answer(self, exchange: Exchange) -> Envelope:
        return await self._handlers[exchange.era].get(exchange.request.method, self._extensions.answer)(exchange)

    async def _get_prompt(self, exchange: Exchange) -> Envelope:
        is_reached, on_used = self._bounds(exchange)
        return await self._prompts.get(exchange, is_reached=is_reached, on_used=on_used)

    async def _read_resource(self, exchange: Exchange) -> Envelope:
        return await self._skills.read(exchange, self._read_at)

    async def _read_at(self, exchange: Exchange, target: Target | None) -> Envelope:
        is_reached, on_used = self._bounds(exchange)
        return await self._resources.read(exchange, is_reached=is_reached, on_read=on_used, target=target)

    async def _complete(self, exchange: Exchange) -> Envelope:
        return await self._completion.complete(exchange, is_reached=self._bounds(exchange)[0])

    def _bounds(self, exchange: Exchange) -> tuple[Callable[[str], bool], Callable[[str], None]]:
        """Whether the session may have anything of a server, and what is called with the name of the one that it uses."""
        state = exchange.session.state
        return partial(self._views.reaches, state), partial(self._used, state)

    def _used(self, state: SessionState, server: str) -> None:
        self._views.used(state, server)
        if self._guard.is_on:
            self._guard.note_other(server, state)

    async def _list(self, exchange: Exchange) -> Envelope:
        """A list of all servers, or of those that are shown."""
        if _is_continued(exchange):
            return failure(INVALID_PARAMS, NO_SUCH_CURSOR)
        return _in_era(exchange, await self._listing(exchange.request.method, exchange))

    async def _listing(self, method: str, exchange: Exchange) -> Raw:
        room = self._views.room_of(exchange.session.state)
        whole = await self._whole_listing(method, room)
        is_shown = self._views.shown_servers(exchange.session.state)  # now, and not before the servers were waited for
        of_era = self._copies_of_era(exchange)
        if method == "prompts/list" and of_era:
            return await self._prompts.listing_with(is_shown or anybody, of_era, room)
        if method != "prompts/list" and (own := of_era | self._copies_of_projects(exchange)):
            kind = RESOURCES if method == "resources/list" else TEMPLATES
            return await self._resources.listing_with(kind, is_shown or anybody, own)
        if is_shown is None:
            return whole
        if method == "prompts/list":
            return await self._prompts.listing_among(is_shown, room)
        return await self._resources.listing_among(RESOURCES if method == "resources/list" else TEMPLATES, is_shown)

    def _copies_of_era(self, exchange: Exchange) -> dict[str, McpClient | None]:
        """Of servers that have a copy for each era: the one of the client's, where it is not the one whose lists are shared."""
        copies = {server.name: (server.client_for(exchange.era), server.first.client) for server in self._servers}
        return {name: client for name, (client, first) in copies.items() if client and client is not first}

    def _copies_of_projects(self, exchange: Exchange) -> dict[str, McpClient | None]:
        """Of the servers that start for a project: what a session has of them, where the shared lists are those of another project."""
        copies = {server.name: (server, server.client_for(exchange.era, exchange.session)) for server in self._servers.deferred()}
        return {name: client for name, (server, client) in copies.items() if client is None or client is not server.first.client}

    async def _whole_listing(self, method: str, room: int) -> Raw:
        if method == "prompts/list":
            return await self._prompts.listing(room)
        return await (self._resources.listing() if method == "resources/list" else self._resources.templates())


class OneServer:
    """Requests of sessions that have one server alone, which they reach by any method. Has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        views: Views,
        relay: ServerRelay,
        notifications: Notifications,
        server_tasks: ServerTasks,
        skills: Skills,
        flow_guard: FlowGuard,
    ) -> None:
        self._servers, self._views, self._relay, self._guard = servers, views, relay, flow_guard
        self._notifications, self._skills = notifications, skills
        self._handlers: dict[str, ServerHandler] = {
            **dict.fromkeys(SHARED, self._share),
            **dict.fromkeys(LISTS, self._list),
            **dict.fromkeys(USES, self._use),
            **server_tasks.handlers_of_one(),
            LIST_SKILLS: self._list_skills,
            GET_SKILL: skills.get_of_one,
        }

    async def answer(self, exchange: Exchange, server: str) -> Envelope:
        """Answers a request of a session that has this server alone."""
        method, managed = exchange.request.method, self._servers.find(server)
        if managed is None:
            return failure(INVALID_PARAMS, f"there is no server '{server}'")
        if not self._views.reaches(exchange.session.state, server):
            refusal = failure(INVALID_PARAMS, f"server '{server}' is not in the profile of this session")
            return _empty_list(exchange) if method in LISTS_OF_ONE else refusal
        return await self._handlers.get(method, self._pass_on)(managed, exchange)

    async def _pass_on(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """A method that is not known here may bring anything."""
        if exchange.request.method not in DEFINED:
            self._guard.note_other(managed.name, exchange.session.state)
        return await self._relay.send_with_retry(managed, exchange)

    async def _use(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        self._views.used(exchange.session.state, managed.name)
        if self._guard.is_on:
            self._guard.note_other(managed.name, exchange.session.state)
        send = partial(self._relay.send_with_retry, managed, exchange)
        return await (self._skills.read_of_one(managed, exchange, send) if exchange.request.method == READ else send())

    async def _share(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        if exchange.era is Era.MODERN:  # also where the server is legacy and would know it
            return _no_method(exchange)
        return await self._notifications.share(managed, exchange)

    async def _list(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        is_shown = self._views.shown_servers(exchange.session.state)
        if is_shown and not is_shown(managed.name):
            return _empty_list(exchange)
        return await self._list_whole(managed, exchange)

    async def _list_skills(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        return await self._skills.listing_of_one(managed, exchange, await self._list(managed, exchange))

    async def _list_whole(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """One page for the client, however many the server makes of it: many clients read no other."""
        request, params = exchange.request, exchange.request.params
        reply = await self._relay.send_with_retry(managed, exchange)
        client = managed.client_for(exchange.era, exchange.session)
        era = client.era if client else exchange.era
        if not _next_cursor(reply, era) or "cursor" in (opened(params) if params else {}):
            return reply
        member, members = LISTS_OF_ONE[request.method], opened(reply.result)
        elements, seen, size_bytes = elements_of(members.get(member, Raw(b"[]"))), set[bytes](), len(memoryview(reply.result))
        while (cursor := _next_cursor(reply, era)) and bytes(cursor) not in seen and len(seen) < MAX_PAGES:
            seen.add(bytes(cursor))
            page = Envelope(id=request.id, method=request.method, params=eras.with_members(params or Raw(b"{}"), cursor=cursor))
            reply = await self._relay.send_with_retry(managed, exchange.child(request=page))
            if reply.error:
                return reply
            size_bytes += len(memoryview(reply.result))
            try:
                check_length(request.method, 0, size_bytes)
                elements += elements_of((of_page := opened(reply.result)).get(member, Raw(b"[]")))
                check_length(request.method, len(elements), size_bytes)
            except TooLong as error:
                return failure(INTERNAL_ERROR, f"server '{managed.name}' lists too much: {error}")
            members |= _least_fresh(members, of_page)
        members.pop("nextCursor", None)
        return Envelope(result=closed(members | {member: Raw(b"[%b]" % b",".join(map(bytes, elements)))}))


class RequestRouter:
    """Belongs to the engine's loop.

    Attributes:
        notifications: what sessions send and get outside of requests.
    """

    def __init__(
        self,
        *,
        calls: ToolCalls,
        views: Views,
        projects: Projects,
        all_servers: AllServers,
        one_server: OneServer,
        notifications: Notifications,
        app_calls: AppCalls,
        look_at_project: Callable[[Session], Awaitable[None]],
    ) -> None:
        """
        Args:
            look_at_project: waits, bounded, until the servers of a session's own project are known.
        """
        self._calls, self._views, self._projects, self._look_at_project = calls, views, projects, look_at_project
        self._all_servers, self._one_server, self.notifications = all_servers, one_server, notifications
        self._app_calls = app_calls
        self._tools: dict[str, Work] = {"tools/call": calls.call, "tools/list": self._list_tools}

    async def answer(self, exchange: Exchange) -> Envelope:
        """Answers any request that is not the session's own to answer."""
        method, state = exchange.request.method, exchange.session.state
        if method in FIRST_LISTS:
            await self._before_listing(exchange)
        if state.shows_views and method == "tools/call" and (refusal := self._app_calls.resolve(exchange)):
            return refusal
        if DECLARES_ROOTS in bytes(exchange.head.meta.capabilities) and (question := await self._question(exchange)):
            return question
        if state.calls_since_told is not None:
            self._views.asked(state, method)
        if handler := self._tools.get(method):
            return await handler(exchange)
        if exchange.server is not None:
            return await self._one_server.answer(exchange, exchange.server)
        return await self._all_servers.answer(exchange)

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
        if _is_continued(exchange):
            return failure(INVALID_PARAMS, NO_SUCH_CURSOR)
        return _in_era(exchange, await self._views.listing(exchange))


def _in_era(exchange: Exchange, result: Raw) -> Envelope:
    if exchange.server is None:
        return own_result(exchange.request.method, result, exchange.era)
    return Envelope(result=eras.as_modern_result(exchange.request.method, result) if exchange.era is Era.MODERN else result)


def _is_continued(exchange: Exchange) -> bool:
    """Whether a client asks for a further page of a list that the hub makes; those have but one."""
    params = exchange.request.params
    cursor = opened(params).get("cursor", NOTHING) if params else NOTHING
    return bytes(cursor).startswith(b'"') and cursor != dump("")


def _empty_list(exchange: Exchange) -> Envelope:
    return _in_era(exchange, Raw(b'{"%b":[]}' % LISTS_OF_ONE[exchange.request.method].encode()))


def _no_method(exchange: Exchange) -> Envelope:
    return failure(METHOD_NOT_FOUND, "Method not found", exchange.request.method)


def _least_fresh(first: dict[str, Raw], page: dict[str, Raw]) -> dict[str, Raw]:
    """The caching hints of a list whose pages become one: of the page that is stale first, and private if one is."""
    if "ttlMs" not in first:
        return {}
    stale_first = min(first, page, key=lambda members: _milliseconds(members.get("ttlMs", NOTHING)))
    is_private = PRIVATE in (first.get("cacheScope"), page.get("cacheScope"))
    return {"ttlMs": stale_first.get("ttlMs", Raw(b"0"))} | ({"cacheScope": PRIVATE} if is_private else {})


def _milliseconds(written: Raw) -> int:
    """At least 0; 0 for what is no number."""
    try:
        return max(0, int(bytes(written)))
    except ValueError:
        return 0


def _next_cursor(reply: Envelope, era: Era) -> Raw:
    """Of a list that goes on; empty if it does not. An empty cursor is one like any other in the modern era of a server alone."""
    if not reply.result or b'"nextCursor"' not in bytes(reply.result):
        return NOTHING
    try:
        cursor = opened(reply.result).get("nextCursor", NOTHING)
    except (ValueError, RecursionError, msgspec.DecodeError):
        return NOTHING
    is_end = not bytes(cursor).startswith(b'"') or (era is Era.LEGACY and cursor == dump(""))
    return NOTHING if is_end else cursor
