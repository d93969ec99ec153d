"""Calls of the hub's tools about other tools: a lazy server is activated, tools are found, and a tool is called that need not be listed.

Above it: ToolCalls. Below it: Views, which marks what a session uses; Activation, ToolSearch; meta_tools, for arguments and results.
"""

from collections.abc import Awaitable, Callable
from functools import partial

from tooltray.errors import TooltrayError
from tooltray.protocol import eras
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, dump, failure
from tooltray.protocol.member_scanner import closed, opened
from tooltray.sessions.exchange import Exchange
from tooltray.sessions.session_state import SessionState
from tooltray.upstream.server_manager import ServerManager
from tooltray.views import meta_tools
from tooltray.views.activation import Activation
from tooltray.views.search import ToolSearch
from tooltray.views.session_view import own_copy
from tooltray.views.view_lists import ViewLists
from tooltray.views.views import Views

MetaTool = Callable[[Exchange], Awaitable[Envelope]]
"""A tool of the hub about other tools."""

ToolCall = Callable[[Exchange], Awaitable[Envelope]]
"""ToolCalls.call."""


class MetaCalls:
    """Has no state of its own."""

    def __init__(
        self, *, servers: ServerManager, views: Views, lists: ViewLists, search: ToolSearch, activation: Activation, call: ToolCall
    ) -> None:
        """
        Args:
            call: carries out the call that a call of `call_tool` stands for.
        """
        self._servers, self._views, self._lists = servers, views, lists
        self._search, self._activation, self._call = search, activation, call

    def find(self, name: str, state: SessionState) -> MetaTool | None:
        """The tool about other tools that a session calls by this name; None if it is none."""
        key = self._lists.key(name, state.server)
        if key is None:
            return None
        if key == meta_tools.FIND_KEY:
            return self._find
        if key == meta_tools.CALL_KEY:
            return self._call_inner
        return partial(self._activate, key[1].removeprefix(meta_tools.ACTIVATE))

    async def _activate(self, server: str, exchange: Exchange) -> Envelope:
        state, era = exchange.session.state, exchange.era
        if not self._views.reaches(state, server) or state.server not in (None, server):
            return meta_tools.refusal(TooltrayError(f"server '{server}' is not among those that this session has"), era)
        try:
            loaded = await self._activation.load(server, exchange)
        except TooltrayError as error:
            return meta_tools.refusal(error, era)
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
        if self._lists.key(inner_head.name, exchange.session.state.server) == meta_tools.CALL_KEY:
            problem = TooltrayError(f"{exchange.head.name} cannot call itself", "name the tool that is to be called")
            return meta_tools.refusal(problem, exchange.era)
        return await self._call(exchange.child(request=inner, head=inner_head))
