"""Calls of the hub's tools about other tools: they activate a lazy server, find tools, and call a tool that need not be listed. Failures
are TooltrayErrors in words for the model.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from msgspec import Raw

from tooltray.catalogue.offer import KINDS, PROMPTS, RESOURCES, TEMPLATES, OfferKind
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views import meta_tools
from tooltray.catalogue.views.known_clients import KnownClients
from tooltray.catalogue.views.meta_tools import HubTools, Key, array
from tooltray.catalogue.views.modes import own_copy
from tooltray.catalogue.views.search import ToolSearch
from tooltray.catalogue.views.views import ViewLists, Views
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.protocol import eras
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, dump, failure, load
from tooltray.protocol.member_scanner import closed, opened
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.relay.relay import START_WAIT_S, paused
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

NOTE_OF_PASSING = (
    "This connection has no client token and so no session: these tools will not be listed. Call them by name, or with call_tool."
)
LISTS_WAIT_S = 20.0  # for the first lists of a server that runs; clients give a call longer

_WORDS = {PROMPTS: "prompt", RESOURCES: "resource", TEMPLATES: "template"}


class ActivationAnswer:
    """The answer to an activation: everything that its server offers to the session. Has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        offers: Offers,
        prompts: PromptManager,
        resources: ResourceManager,
        lists: ViewLists,
        clients: KnownClients,
    ) -> None:
        self._servers, self._offers, self._prompts, self._resources = servers, offers, prompts, resources
        self._lists, self._clients = lists, clients

    async def of(self, server: str, exchange: Exchange) -> Raw:
        state = exchange.session.state
        copy = own_copy(self._servers, state.server, exchange.era, exchange.session)
        entries = await self._lists.of_server(server, state, client=copy, terms=self._clients.list_terms(state))
        tools = [entry.definition for entry in entries]
        note = {"note": NOTE_OF_PASSING} if state.is_passing else {}
        others: Mapping[OfferKind, list[Raw]] = {kind: await self._definitions(kind, server, state) for kind in KINDS}
        counts = {"toolCount": len(tools), **{f"{_WORDS[kind]}Count": len(found) for kind, found in others.items()}}
        answered = {"activated": True, "server": server, **counts, **note}
        members = {name: dump(value) for name, value in answered.items()}
        return closed(members | {"tools": array(tools)} | {kind.member: array(found) for kind, found in others.items()})

    async def _definitions(self, kind: OfferKind, server: str, state: SessionState) -> list[Raw]:
        if state.server:
            return [offer.published for offer in self._offers.offered(kind).get(server, ())]
        if kind is PROMPTS:
            return await self._prompts.definitions(server, self._clients.room_of(state))
        return await self._resources.definitions(kind, server)


class Activation:
    """Activations of servers; has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        offers: Offers,
        answer: ActivationAnswer,
        is_paused: Callable[[], bool],
    ) -> None:
        self._servers, self._tools, self._offers, self._answer, self._is_paused = servers, tools, offers, answer, is_paused

    async def load(self, server: str, exchange: Exchange) -> Raw:
        """Starts a server and waits until it has listed; returns the answer to its activation.

        Raises:
            TooltrayError: the server does not exist, does not run, or has not listed its tools in time; the error has the reason and the
                remedy.
        """
        if self._is_paused():
            raise TooltrayError(str(load(paused().error)["message"]))
        managed = self._servers.find(server)
        if managed is None:
            raise NotFound(f"server '{server}' no longer exists", message="list_servers lists the servers")
        await managed.running(exchange.era, timeout_s=START_WAIT_S, session=exchange.session)
        await self._wait_for_lists(managed)
        if managed.client_for(exchange.era, exchange.session) is None:
            state = exchange.session.state
            why = state.words(managed.problem) if managed.problem else "it ended during activation"
            raise TooltrayError(f"server '{server}' is not running", f"{why.rstrip('.')}. Call again to retry.")
        return await self._answer.of(server, exchange)

    async def _wait_for_lists(self, managed: ManagedServer) -> None:
        try:
            async with asyncio.timeout(LISTS_WAIT_S):
                await self._tools.listed(managed).wait()
                await self._offers.listed(managed).wait()
        except TimeoutError:
            if not self._tools.is_listed(managed.name):
                title = f"server '{managed.name}' is running, but has not listed its tools within {LISTS_WAIT_S:g} s"
                raise TooltrayError(title, "Call again later.") from None


MetaTool = Callable[[Exchange], Awaitable[Envelope]]
"""A tool of the hub about other tools."""

ToolCall = Callable[[Exchange], Awaitable[Envelope]]
"""ToolCalls.call."""


class MetaCalls:
    """Calls of the hub's tools about other tools; has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        views: Views,
        hub_tools: HubTools,
        search: ToolSearch,
        activation: Activation,
        call: ToolCall,
        others: Mapping[Key, MetaTool],
    ) -> None:
        """
        Args:
            call: carries out the inner call of a call of `call_tool`.
            others: the tools that other packages answer, such as `read_result`.
        """
        self._servers, self._views, self._hub_tools = servers, views, hub_tools
        self._search, self._activation, self._call, self._others = search, activation, call, others

    def find(self, name: str, state: SessionState) -> MetaTool | None:
        """Returns the tool about other tools that a session calls by this name; None for any other name."""
        key = self._hub_tools.key(name, state.server)
        if key is None:
            return None
        if key == meta_tools.FIND_KEY:
            return self._find
        if key == meta_tools.CALL_KEY:
            return self._call_inner
        if key in self._others:
            return self._others[key]
        return partial(self._activate, key[1].removeprefix(meta_tools.ACTIVATE))

    async def _activate(self, server: str, exchange: Exchange) -> Envelope:
        state, era = exchange.session.state, exchange.era
        if not self._views.reaches(state, server) or state.server not in (None, server):
            return meta_tools.refusal(TooltrayError(f"server '{server}' is not available in this session"), era)
        try:
            loaded = await self._activation.load(server, exchange)
        except TooltrayError as error:
            return meta_tools.refusal(TooltrayError(state.words(error)), era)
        self._views.used(state, server)
        return meta_tools.answer(loaded, era)

    async def _find(self, exchange: Exchange) -> Envelope:
        try:
            query, limit = meta_tools.read_search(exchange.request.params)
        except TooltrayError as error:
            return meta_tools.refusal(error, exchange.era)
        state = exchange.session.state
        copy = own_copy(self._servers, state.server, exchange.era, exchange.session)
        found = await self._search.found(query, limit, state, client=copy)
        tools = [closed({**opened(entry.definition), "server": dump(entry.route.server)}) for entry in found]
        note = {} if found else {"note": dump(meta_tools.NOTHING_FOUND)}
        return meta_tools.answer(closed({"tools": meta_tools.array(tools), **note}), exchange.era)

    async def _call_inner(self, exchange: Exchange) -> Envelope:
        try:
            inner = meta_tools.inner_call(exchange.request)
        except TooltrayError as error:
            return meta_tools.refusal(error, exchange.era)
        inner_head = eras.read_head(inner.params)
        if inner_head is None:
            return failure(INVALID_PARAMS, "Invalid request parameters")
        if self._hub_tools.key(inner_head.name, exchange.session.state.server) == meta_tools.CALL_KEY:
            problem = TooltrayError(f"{exchange.head.name} cannot call itself", "name the tool to call")
            return meta_tools.refusal(problem, exchange.era)
        if not self._hub_tools.is_for_models(inner_head.name, exchange.session.state.server):
            problem = TooltrayError(f"{inner_head.name} is only for the views of its server", message="find_tools finds the tools")
            return meta_tools.refusal(problem, exchange.era)
        return await self._call(exchange.child(request=inner, head=inner_head))
