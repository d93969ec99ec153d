"""Routes each request of an AI client: to a list of the hub's own, to the state that clients share, or to one server.

Sessions with one server reach it also by methods that are not known here.
"""

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial

from msgspec import Raw

from tooltray.catalogue.list_pages import MAX_PAGES, TooLong, check_length
from tooltray.catalogue.skill import SKILLS
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views.views import Views
from tooltray.consent.skills.skills import GET as GET_SKILL
from tooltray.consent.skills.skills import LIST as LIST_SKILLS
from tooltray.consent.skills.skills import Skills
from tooltray.gateway.calls.extensions import DEFINED, ExtensionRoutes
from tooltray.gateway.calls.notifications import Notifications
from tooltray.gateway.calls.offer_requests import LISTS, NO_SUCH_CURSOR, SHARED, OfferRequests, SharedState, in_era, is_continued
from tooltray.gateway.calls.stages import ServerUses
from tooltray.gateway.calls.tool_call import ToolCalls
from tooltray.gateway.calls.tool_resolver import AppCalls
from tooltray.gateway.server_tasks.server_tasks import ServerHandler, ServerTasks
from tooltray.protocol import eras
from tooltray.protocol.envelope import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, NOTHING, Envelope, dump, failure
from tooltray.protocol.eras import Era
from tooltray.protocol.member_scanner import closed, elements_of, opened
from tooltray.protocol.sessions.caller import MAY_ASK, Session
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.sources.projects.projects import Projects

CALL, READ = "tools/call", "resources/read"
USES = frozenset({"prompts/get", READ})  # these activate a server for the session
LISTS_OF_ONE = LISTS | {LIST_SKILLS: SKILLS.member}
FIRST_LISTS = frozenset({"tools/list", *LISTS_OF_ONE})  # which wait for the servers of a session's project
PRIVATE = Raw(b'"private"')
DECLARES_ROOTS = b'"roots"'  # in the capabilities of clients that answer requests for their roots


class ProjectWaits:
    """The waits of requests until the folder of a session, and the servers there, are known. Has no state of its own."""

    def __init__(self, *, tools: ToolManager, projects: Projects, look_at_project: Callable[[Session], Awaitable[None]]) -> None:
        """
        Args:
            look_at_project: waits, bounded, until the servers of a session's own project are known.
        """
        self._tools, self._projects, self._look_at_project = tools, projects, look_at_project

    async def before_listing(self, exchange: Exchange) -> None:
        """Waits until a session's first lists have the servers of its project."""
        await self._look_at_project(exchange.session)
        if exchange.request.method == "tools/list":
            await self._projects.before_listing(exchange.session, exchange.server)

    async def question(self, exchange: Exchange) -> Envelope | None:
        """Returns the question that a modern client has to answer before its request; None if the client has no question to answer."""
        if exchange.request.method not in MAY_ASK:
            return None
        target = self._tools.target(exchange.head.name, exchange.server) if exchange.request.method == "tools/call" else None
        return await self._projects.rounds.before(exchange, target[0] if target else exchange.server)


class AllServers:
    """Requests of sessions that have all servers together, except for tools. Has no state of its own."""

    def __init__(
        self,
        *,
        offer_requests: OfferRequests,
        shared_state: SharedState,
        extensions: ExtensionRoutes,
        server_tasks: ServerTasks,
        skills: Skills,
    ) -> None:
        """
        Args:
            extensions: answers methods that no table here has.
        """
        self._extensions = extensions
        of_all: dict[str, Work] = {**offer_requests.handlers(), **server_tasks.handlers(), **skills.handlers()}
        self._handlers: dict[Era, dict[str, Work]] = {Era.MODERN: of_all, Era.LEGACY: of_all | dict(shared_state.handlers())}

    async def answer(self, exchange: Exchange) -> Envelope:
        return await self._handlers[exchange.era].get(exchange.request.method, self._extensions.answer)(exchange)


class OneServer:
    """Requests of sessions that have one server only, which they reach by any method. Has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        views: Views,
        relay: ServerRelay,
        shared_state: SharedState,
        server_tasks: ServerTasks,
        skills: Skills,
        server_uses: ServerUses,
    ) -> None:
        self._servers, self._views, self._relay, self._uses = servers, views, relay, server_uses
        self._shared_state, self._skills = shared_state, skills
        self._handlers: dict[str, ServerHandler] = {
            **dict.fromkeys(SHARED, self._share),
            **dict.fromkeys(LISTS, self._list),
            **dict.fromkeys(USES, self._use),
            **server_tasks.handlers_of_one(),
            LIST_SKILLS: self._list_skills,
            GET_SKILL: skills.get_of_one,
        }

    async def answer(self, exchange: Exchange, server: str) -> Envelope:
        """Answers a request of a session that has this server only."""
        method, managed = exchange.request.method, self._servers.find(server)
        if managed is None:
            return failure(INVALID_PARAMS, f"server '{server}' not found")
        if not self._views.reaches(exchange.session.state, server):
            refusal = failure(INVALID_PARAMS, f"server '{server}' is not in the profile of this session")
            return _empty_list(exchange) if method in LISTS_OF_ONE else refusal
        return await self._handlers.get(method, self._pass_on)(managed, exchange)

    async def _pass_on(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """Passes on an unknown method, which may return anything."""
        if exchange.request.method not in DEFINED:
            self._uses.passed(exchange.session.state, managed.name)
        return await self._relay.send_with_retry(managed, exchange)

    async def _use(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        self._uses.used(exchange.session.state, managed.name)
        send = partial(self._relay.send_with_retry, managed, exchange)
        return await (self._skills.read_of_one(managed, exchange, send) if exchange.request.method == READ else send())

    async def _share(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        if exchange.era is Era.MODERN:  # even if the server is legacy and would know the method
            return _no_method(exchange)
        return await self._shared_state.share(managed, exchange)

    async def _list(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        is_shown = self._views.shown_servers(exchange.session.state)
        if is_shown and not is_shown(managed.name):
            return _empty_list(exchange)
        return await self._list_whole(managed, exchange)

    async def _list_skills(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        return await self._skills.listing_of_one(managed, exchange, await self._list(managed, exchange))

    async def _list_whole(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """Returns all pages of the server as one page for the client: many clients read only the first page."""
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
                check_length(request.method, len(elements), size_bytes)
                elements += elements_of((of_page := opened(reply.result)).get(member, Raw(b"[]")))
                check_length(request.method, len(elements), size_bytes)
            except TooLong as error:
                return failure(INTERNAL_ERROR, f"server '{managed.name}' lists too much: {error}")
            members |= _least_fresh(members, of_page)
        members.pop("nextCursor", None)
        return Envelope(result=closed(members | {member: Raw(b"[%b]" % b",".join(map(bytes, elements)))}))


class RequestRouter:
    """The router of all requests. Belongs to the engine's loop; has no state of its own.

    Attributes:
        notifications: the notifications that sessions send and get.
    """

    def __init__(
        self,
        *,
        calls: ToolCalls,
        views: Views,
        project_waits: ProjectWaits,
        all_servers: AllServers,
        one_server: OneServer,
        notifications: Notifications,
        app_calls: AppCalls,
    ) -> None:
        self._views, self._waits, self.notifications = views, project_waits, notifications
        self._all_servers, self._one_server, self._app_calls = all_servers, one_server, app_calls
        self._calls = calls

    def answer(self, exchange: Exchange) -> Coroutine[object, None, Envelope]:
        """Answers any request that the session does not answer itself."""
        state = exchange.caller.session.state
        asks_roots = DECLARES_ROOTS in bytes(exchange.head.meta.capabilities)
        if exchange.request.method == CALL and not (asks_roots or state.shows_views or state.calls_since_told is not None):
            return self._calls.call(exchange)
        return self._answer(exchange, asks_roots)

    async def _answer(self, exchange: Exchange, asks_roots: bool) -> Envelope:
        method, state = exchange.request.method, exchange.session.state
        if method in FIRST_LISTS:
            await self._waits.before_listing(exchange)
        if state.shows_views and method == CALL and (refusal := self._app_calls.resolve(exchange)):
            return refusal
        if asks_roots and (question := await self._waits.question(exchange)):
            return question
        if state.calls_since_told is not None:
            self._views.asked(state, method)
        if method == CALL:
            return await self._calls.call(exchange)
        if method == "tools/list":
            return await self._list_tools(exchange)
        if exchange.server is not None:
            return await self._one_server.answer(exchange, exchange.server)
        return await self._all_servers.answer(exchange)

    async def _list_tools(self, exchange: Exchange) -> Envelope:
        if is_continued(exchange):
            return failure(INVALID_PARAMS, NO_SUCH_CURSOR)
        return in_era(exchange, await self._views.listing(exchange))


def _empty_list(exchange: Exchange) -> Envelope:
    return in_era(exchange, Raw(b'{"%b":[]}' % LISTS_OF_ONE[exchange.request.method].encode()))


def _no_method(exchange: Exchange) -> Envelope:
    return failure(METHOD_NOT_FOUND, "Method not found", exchange.request.method)


def _least_fresh(first: dict[str, Raw], page: dict[str, Raw]) -> dict[str, Raw]:
    """Returns the caching hints for joined pages: `ttlMs` of the page that becomes stale first, and private if any page is."""
    if "ttlMs" not in first:
        return {}
    stale_first = min(first, page, key=lambda members: _milliseconds(members.get("ttlMs", NOTHING)))
    is_private = PRIVATE in (first.get("cacheScope"), page.get("cacheScope"))
    return {"ttlMs": stale_first.get("ttlMs", Raw(b"0"))} | ({"cacheScope": PRIVATE} if is_private else {})


def _milliseconds(written: Raw) -> int:
    """Returns a number of at least 0; 0 for anything but a number."""
    try:
        return max(0, int(bytes(written)))
    except ValueError:
        return 0


def _next_cursor(reply: Envelope, era: Era) -> Raw:
    """Returns the cursor of a list that has further pages, else nothing. In the modern era an empty cursor is valid like any other."""
    if b'"nextCursor"' not in bytes(reply.result):
        return NOTHING
    cursor = opened(reply.result).get("nextCursor", NOTHING)
    is_end = not bytes(cursor).startswith(b'"') or (era is Era.LEGACY and cursor == dump(""))
    return NOTHING if is_end else cursor
