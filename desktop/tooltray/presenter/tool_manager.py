"""The tools of all servers: what is listed, under which names, who may call them, and the calls themselves.

Above it: McpPresenter. Below it: ServerManager, and the rules in tools/ (names, approval, filter, definitions, the catalogue on disk). A
call takes this way: published name -> (server, original name) -> route with its decision -> connection -> the raw result back. Names are
given when an AI client lists, not before: what comes together is then named together.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakKeyDictionary

from msgspec import Raw

from tooltray.activity.call_stats import CallStats
from tooltray.config.mcp_conf_helper import McpConfHelper
from tooltray.errors import TooltrayError
from tooltray.events import ConfigChanged, EventBus, MCPToolResponse, ServerState, ToolCallResult, ToolListChanged, ToolSnapshot
from tooltray.presenter.caller import Caller
from tooltray.presenter.held_calls import HeldCalls
from tooltray.presenter.list_pages import list_all
from tooltray.presenter.managed_server import ManagedServer
from tooltray.presenter.mcp_client import McpClient
from tooltray.presenter.offers import Offers
from tooltray.presenter.relay import Relay, paused
from tooltray.presenter.server_manager import ServerManager
from tooltray.tasks import Spawn, finish_in_thread
from tooltray.tools import approval, tool_filter
from tooltray.tools.catalogue import CatalogueStore
from tooltray.tools.definition import ToolDefinition, read_definitions
from tooltray.tools.names import PublishedNames
from tooltray.wire import eras
from tooltray.wire.deadlines import Deadline, DeadlineWheel
from tooltray.wire.envelope import CONNECTION_CLOSED, INVALID_PARAMS, Envelope, dump, failure
from tooltray.wire.eras import Era, Head
from tooltray.wire.member_scanner import opened

logger = logging.getLogger(__name__)
FIRST_LISTING_WAIT_S = 5.0  # an AI client that gets an incomplete first list may keep it for days; one that waits longer gives up
EMPTY_CONFIRMED_AFTER_S = 1.0  # a server that is warming up may list nothing for a moment
ERROR_LISTED_FOR_S = 600.0  # tools of a server in error stay listed, their calls say why they fail
SEARCHED_FOR_ERROR_BYTES = 512  # at either end of a large result
EMPTY_LISTING = Raw(b'{"tools":[]}')


@dataclass(frozen=True)
class Route:
    """Where a call of one tool goes, and whether it goes."""

    server: str
    definition: ToolDefinition
    decision: approval.Decision


@dataclass
class _ServerTools:
    """What is known of one server's tools.

    Attributes:
        definitions: as the server listed them; None until it did so once.
        routes: of the tools that are offered, by original name.
        listing: the result of `tools/list` for an AI client that has this server alone.
        listed: it was listed, or found to be impossible to list.
        of: the server that all this is about; another one of the same name has to be listed anew.
        asked: the connection that was last asked for its list.
        waited_until: loop time after which AI clients are not kept waiting for it any more.
        expiry: while it is in error, when its tools are no longer offered.
    """

    of: ManagedServer
    definitions: Sequence[ToolDefinition] | None = None
    routes: Mapping[str, Route] = field(default_factory=dict)
    listing: Raw = field(default_factory=lambda: EMPTY_LISTING)
    listed: asyncio.Event = field(default_factory=asyncio.Event)
    is_dirty: bool = False
    refreshing: asyncio.Task[None] | None = None
    asked: McpClient | None = None
    waited_until: float | None = None
    expiry: Deadline | None = None
    is_expired: bool = False


class ToolManager:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        offers: Offers,
        relay: Relay,
        config: McpConfHelper,
        names: PublishedNames,
        catalogues: CatalogueStore,
        stats: CallStats,
        bus: EventBus,
        deadlines: DeadlineWheel,
        spawn: Spawn,
        first_listing_wait_s: float = FIRST_LISTING_WAIT_S,
        empty_confirmed_after_s: float = EMPTY_CONFIRMED_AFTER_S,
    ) -> None:
        """
        Args:
            first_listing_wait_s: how long AI clients are kept waiting for servers that were never listed.
            empty_confirmed_after_s: a sudden empty list is believed after so long, if it still is empty.
            offers: a server that was started to be listed runs until that is done for everything that it offers.
        """
        self._offers = offers
        self._first_listing_wait_s, self._empty_confirmed_after_s = first_listing_wait_s, empty_confirmed_after_s
        self._relay = relay
        self._servers, self._config, self._names, self._catalogues = servers, config, names, catalogues
        self._stats, self._bus, self._deadlines, self._spawn = stats, bus, deadlines, spawn
        self._tools: dict[str, _ServerTools] = {}
        self._listing: Raw | None = None  # None: to be made when somebody lists
        self._changes = 0  # of what is listed
        self._listing_lock = asyncio.Lock()
        self._of_copies: WeakKeyDictionary[McpClient, Mapping[str, ToolDefinition]] = WeakKeyDictionary()  # besides the first, once listed

    async def load(self) -> None:
        """Takes the last known catalogue of every server from the disk, so that the first list is complete at once."""
        for server in self._servers:
            catalogue = await asyncio.to_thread(self._catalogues.load, server.name, server.config_hash)
            if catalogue is not None:
                server.is_known = True
                tools = self._tools_of(server)
                tools.definitions = read_definitions(catalogue.definitions).tools
                tools.listed.set()
                self._offer(server)
        self._servers.listen(on_changed=self._on_server_changed, on_notification=self._on_server_said)
        self._bus.subscribe(ConfigChanged, self._on_config_changed)

    def list_unknown_servers(self) -> None:
        """Starts every server that was never listed once, to list it; does not wait."""
        for server in self._servers:
            listed = self._tools_of(server).listed, self._offers.listed(server)
            if server.state is ServerState.ON_DEMAND and not all(each.is_set() for each in listed):
                server.start()
                self._spawn(self._list_once(server, listed), name=f"list '{server.name}' once")

    # what there is

    async def listing(self, server: str | None = None, *, client: McpClient | None = None) -> Raw:
        """The result of `tools/list`, whole; waits a bounded time for servers that were never listed.

        Args:
            server: only this one's tools, under their own names.
            client: the copy of that server for the session or its era, which may offer others than the first.
        """
        if client is not None and (managed := self._servers.find(client.name)):
            with contextlib.suppress(TooltrayError):
                return await self._list_own(managed, client)
        await self._wait_for_first_listings(server)
        if server:
            tools = self._tools.get(server)
            return tools.listing if tools else EMPTY_LISTING
        async with self._listing_lock:
            while self._listing is None:
                await self._make_listing()
            return self._listing

    async def published(self, server: str | None = None) -> list[tuple[str, Route]]:
        """All tools offered, with their published names, sorted by them."""
        await self._wait_for_first_listings(server)
        routes = [route for name, tools in self._tools.items() if server in (None, name) for route in tools.routes.values()]
        names = await self._names_of(routes)
        return sorted(zip(names, routes, strict=True), key=_by_name)

    def tool_count(self, server: str) -> int:
        return len(self._definitions(server))

    def input_schema(self, server: str, tool: str) -> Raw | None:
        """What a server listed as the schema of a tool's arguments, by its own name for it; None if the tool is not offered."""
        tools = self._tools.get(server)
        route = tools.routes.get(tool) if tools else None
        return opened(route.definition.raw).get("inputSchema") if route else None

    def published_schema(self, name: str, server: str | None) -> Raw | None:
        """The same by the name that AI clients see. `server`: this one's tools, under their own names."""
        target = (server, name) if server else self._names.target(name)
        return self.input_schema(*target) if target else None

    async def snapshots(self, server: str | None = None) -> list[ToolSnapshot]:
        """Of all tools known, also those switched off."""
        names = {(route.server, route.definition.name): name for name, route in await self.published(server)}
        return [
            self._snapshot(each, definition, names)
            for each in self._servers
            if server in (None, each.name)
            for definition in self._definitions(each.name)
        ]

    async def forget_names(self) -> None:
        """All names are given anew, when somebody lists."""
        await finish_in_thread(self._names.reset)
        self._outdate_listing()
        for name, tools in self._tools.items():
            if tools.routes:
                self._bus.publish(ToolListChanged(name))

    def _snapshot(self, server: ManagedServer, definition: ToolDefinition, names: Mapping[tuple[str, str], str]) -> ToolSnapshot:
        decision = approval.decide(server.name, definition.name, definition.annotations, server.config.auto_approve)
        return ToolSnapshot(
            name=names.get((server.name, definition.name), definition.name),
            server=server.name,
            original_name=definition.name,
            description=definition.description,
            category=decision.category,
            is_enabled=tool_filter.is_enabled(definition.name, server.config),
            is_approved=decision.is_approved or server.is_builtin,
        )

    # calls

    async def call(self, request: Envelope, head: Head, caller: Caller, held: HeldCalls, *, server: str | None, client: str) -> Envelope:
        """Carries out one `tools/call` of an AI client.

        Args:
            held: the session's calls that wait for an answer of its person.
            server: only this one's tools, under their own names.
            client: who calls, for the record.
        """
        started_at = time.perf_counter()
        target = (server, head.name) if server else self._names.target(head.name)
        if target is None and self._listing is None:  # nobody has listed yet, so there are no names: a client that calls by heart
            await self.listing()
            target = self._names.target(head.name)
        route = self._route_to(target, head, caller)
        if route is None and server:  # it may be on its way to its first list
            await self._wait_for_first_listings(server)
            route = self._route_to(target, head, caller)
        if route is None:
            return self._unknown(head.name, target)
        outcome, reply = "cancelled", None
        try:
            reply = self._refusal(route)
            outcome = "refused"
            if reply is None:
                outcome = "cancelled"
                reply = await self._relay_call(route, request, head, caller, held)
                outcome = "error" if is_error(reply) else "ok"
            return reply
        finally:
            duration_s = time.perf_counter() - started_at
            if outcome != "refused":
                self._stats.add(route.server, duration_s, time.time())
            size = len(memoryview(reply.result or reply.error)) if reply else 0
            arguments_size = len(memoryview(request.params))
            self._bus.publish(ToolCallResult(MCPToolResponse(head.name, route.server, client, outcome, duration_s, arguments_size, size)))

    def _route_to(self, target: tuple[str, str] | None, head: Head, caller: Caller) -> Route | None:
        if target is None:
            return None
        server, name = target
        own = self._own_route(server, name, head, caller) if self._of_copies else None
        tools = self._tools.get(server)
        return own or (tools.routes.get(name) if tools else None)

    def _own_route(self, server: str, name: str, head: Head, caller: Caller) -> Route | None:
        """To a copy for the session or its era; the settings may be others than when it was listed."""
        managed = self._servers.find(server)
        client = managed.client_for(head.era, caller.session) if managed else None
        definition = self._of_copies.get(client, {}).get(name) if client else None
        if managed is None or definition is None or not tool_filter.is_enabled(name, managed.config):
            return None
        return self._route(managed, definition)

    async def _list_own(self, managed: ManagedServer, client: McpClient) -> Raw:
        """What a copy for a session or an era offers now; calls of it then go there."""
        found = read_definitions(await list_all(client, "tools/list", "tools"), needs_headers=_needs_headers(managed, client))
        self._of_copies[client] = {definition.name: definition for definition in found.tools}
        offered = [each for each in found.tools if tool_filter.is_enabled(each.name, managed.config)]
        return _result(definition.publishable for definition in offered)

    async def _relay_call(self, route: Route, request: Envelope, head: Head, caller: Caller, held: HeldCalls) -> Envelope:
        managed = self._servers.get(route.server)
        if head.name != route.definition.name or eras.may_repeat_name(request.params):
            request.params = eras.with_members(request.params, name=dump(route.definition.name))
        return await self._relay.to(managed, request, head, caller, held)

    def _refusal(self, route: Route) -> Envelope | None:
        if not self._config.settings.mcp_enabled:
            return paused()
        if not route.decision.is_approved:
            return failure(CONNECTION_CLOSED, f"{route.decision.message}. {route.decision.hint}.")
        return None

    def _unknown(self, name: str, target: tuple[str, str] | None) -> Envelope:
        if target is not None and (managed := self._servers.find(target[0])):
            if managed.state is not ServerState.RUNNING and managed.problem:
                return failure(CONNECTION_CLOSED, f"server '{managed.name}' is not running: {managed.problem}")
            if managed.config.disable or managed.state is ServerState.STOPPED:
                return failure(CONNECTION_CLOSED, f"server '{managed.name}' is stopped; start it in Tooltray to use this tool")
            if not tool_filter.is_enabled(target[1], managed.config):
                return failure(INVALID_PARAMS, f"the tool '{name}' is switched off in Tooltray")
        return failure(INVALID_PARAMS, f"Unknown tool: {name}")

    # listing servers

    def _tools_of(self, managed: ManagedServer) -> _ServerTools:
        return self._tools.setdefault(managed.name, _ServerTools(managed))

    def _definitions(self, server: str) -> Sequence[ToolDefinition]:
        tools = self._tools.get(server)
        return (tools.definitions if tools else None) or ()

    def _on_server_changed(self, name: str) -> None:
        managed = self._servers.get(name)
        tools = self._tools_of(managed)
        if tools.of is not managed:  # its settings are others: what the old one listed is offered until the new one lists
            tools.of = managed
            tools.listed.clear()
        self._watch_error(managed, tools)
        if managed.state is ServerState.RUNNING:
            if tools.asked is not managed.first.client:
                self._refresh_soon(managed)
        elif managed.state in (ServerState.ERROR, ServerState.STOPPED):
            tools.listed.set()  # nobody need wait for it
        elif tools.definitions is None:
            tools.listed.clear()
        self._offer(managed)

    def _watch_error(self, managed: ManagedServer, tools: _ServerTools) -> None:
        if managed.state is ServerState.ERROR:
            tools.expiry = tools.expiry or self._deadlines.add(ERROR_LISTED_FOR_S, partial(self._on_error_is_old, tools))
        elif tools.expiry:
            tools.expiry.cancel()
            tools.expiry, tools.is_expired = None, False

    def _on_error_is_old(self, tools: _ServerTools) -> None:
        tools.is_expired = True
        self._offer(tools.of)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        for name in [name for name in self._tools if self._servers.find(name) is None]:
            self._forget(name, self._tools.pop(name))
        for managed in self._servers:
            self._offer(managed)

    def _forget(self, name: str, tools: _ServerTools) -> None:
        tools.listed.set()  # who waits for it need not any more
        if tools.expiry:
            tools.expiry.cancel()
        self._stats.forget(name)
        self._spawn(self._forget_on_disk(name, tools), name=f"forget the tools of '{name}'")
        self._outdate_listing()
        self._bus.publish(ToolListChanged(name))

    async def _forget_on_disk(self, name: str, tools: _ServerTools) -> None:
        """Behind what is just being saved."""
        if tools.refreshing:
            await asyncio.wait({tools.refreshing})
        await finish_in_thread(self._catalogues.forget, name)

    def _on_server_said(self, name: str, client: McpClient, method: str, params: Raw) -> None:
        if method == "notifications/tools/list_changed" and (managed := self._servers.find(name)):
            self._refresh_soon(managed)
            if client.owner is None and client is not managed.first.client:
                self._bus.publish(ToolListChanged(name))  # who has this server alone gets the list of that copy, which is not kept here

    def _refresh_soon(self, managed: ManagedServer) -> None:
        """Lists a server anew; one listing at a time, so that an old one never overwrites a newer one."""
        tools = self._tools_of(managed)
        tools.is_dirty = True
        if tools.refreshing is None:
            tools.refreshing = self._spawn(self._refresh(tools), name=f"list '{managed.name}'")

    async def _refresh(self, tools: _ServerTools) -> None:
        try:
            while tools.is_dirty and (client := tools.of.first.client):
                tools.is_dirty, tools.asked = False, client
                await self._list(tools.of, client, tools)
        finally:
            tools.refreshing = None

    async def _list(self, managed: ManagedServer, client: McpClient, tools: _ServerTools) -> None:
        try:
            raw = await self._list_believed(client, tools)
            if not tools.is_dirty and self._servers.find(managed.name) is managed:
                await self._take_over(managed, tools, raw, needs_headers=_needs_headers(managed, client))
        except TooltrayError as error:
            logger.info("the tools of '%s' could not be listed: %s", managed.name, error)
        finally:
            if managed.first.client is client and not tools.is_dirty:  # else the next copy, or the next turn, is waited for
                tools.listed.set()

    async def _list_believed(self, client: McpClient, tools: _ServerTools) -> list[Raw]:
        raw = await list_all(client, "tools/list", "tools")
        if raw or not tools.definitions:
            return raw
        await asyncio.sleep(self._empty_confirmed_after_s)
        return await list_all(client, "tools/list", "tools")

    async def _take_over(self, managed: ManagedServer, tools: _ServerTools, raw: list[Raw], *, needs_headers: bool) -> None:
        found = read_definitions(raw, needs_headers=needs_headers)
        definitions = found.tools
        for remark in found.remarks:
            logger.info("'%s': %s", managed.name, remark)
        is_news = tools.definitions is None or [bytes(each.raw) for each in tools.definitions] != [bytes(each.raw) for each in definitions]
        is_saved = managed.is_known and not is_news
        tools.definitions, managed.is_known = definitions, True
        if is_news:
            self._offer(managed)
        tools.listed.set()
        if not is_saved:
            await finish_in_thread(self._catalogues.save, managed.name, managed.config_hash, [each.raw for each in definitions])

    async def _list_once(self, server: ManagedServer, listed: Iterable[asyncio.Event]) -> None:
        server.start()
        for each in listed:
            await each.wait()
        is_idle = server.state is ServerState.RUNNING and not server.is_used
        if is_idle and self._servers.find(server.name) is server and not self._servers.is_default(server.name):
            await server.stop(then=ServerState.ON_DEMAND)

    async def _wait_for_first_listings(self, only: str | None) -> None:
        now = asyncio.get_running_loop().time()
        waiting = []
        for managed in self._servers:
            tools = self._tools_of(managed)
            is_coming = managed.first.is_busy or managed.state is ServerState.RUNNING
            is_to_be_waited_for = is_coming and tools.definitions is None and not tools.listed.is_set()
            if not is_to_be_waited_for or only not in (None, managed.name):
                continue
            tools.waited_until = tools.waited_until or now + self._first_listing_wait_s
            if tools.waited_until > now:
                waiting.append((tools.listed, tools.waited_until))
        for listed, until in waiting:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await listed.wait()

    # offering tools

    def _offer(self, managed: ManagedServer) -> None:
        """Works out what AI clients may see of a server, and tells if that is news."""
        tools = self._tools_of(managed)
        offered = self._offered(managed, tools)
        tools.routes = {definition.name: self._route(managed, definition) for definition in offered}
        listing = _result(definition.publishable for definition in offered)
        if bytes(listing) != bytes(tools.listing):
            tools.listing = listing
            self._outdate_listing()
            self._bus.publish(ToolListChanged(managed.name))

    def _outdate_listing(self) -> None:
        self._listing = None
        self._changes += 1

    async def _make_listing(self) -> None:
        changes = self._changes
        routes = [route for tools in self._tools.values() for route in tools.routes.values()]
        names = await self._names_of(routes)
        if changes == self._changes:
            self._listing = _result(route.definition.renamed(name) for name, route in sorted(zip(names, routes, strict=True), key=_by_name))

    async def _names_of(self, routes: Sequence[Route]) -> list[str]:
        tools = [(route.server, route.definition.name) for route in routes]
        names = await finish_in_thread(self._names.publish, tools)
        return [names[tool] for tool in tools]

    def _offered(self, managed: ManagedServer, tools: _ServerTools) -> list[ToolDefinition]:
        if managed.config.disable or managed.state is ServerState.STOPPED or tools.is_expired:
            return []
        return [each for each in tools.definitions or () if tool_filter.is_enabled(each.name, managed.config)]

    def _route(self, managed: ManagedServer, definition: ToolDefinition) -> Route:
        auto_approve = ("all",) if managed.is_builtin else managed.config.auto_approve
        return Route(managed.name, definition, approval.decide(managed.name, definition.name, definition.annotations, auto_approve))


def _needs_headers(managed: ManagedServer, client: McpClient) -> bool:
    """Whether calls repeat arguments in HTTP headers."""
    return client.era is Era.MODERN and managed.config.transport == "http"


def _by_name(named: tuple[str, Route]) -> str:
    return named[0]


def _result(definitions: Iterable[Raw]) -> Raw:
    return Raw(b'{"tools":[%b]}' % b",".join(bytes(each) for each in definitions))


def is_error(reply: Envelope) -> bool:
    """Whether a reply says that the call failed; looks at the ends of large results only, where every known server writes it."""
    if reply.error:
        return True
    view = memoryview(reply.result)
    edge = SEARCHED_FOR_ERROR_BYTES
    ends = bytes(view) if len(view) <= 2 * edge else bytes(view[:edge]) + bytes(view[-edge:])
    return b'"isError":true' in ends.replace(b" ", b"")
