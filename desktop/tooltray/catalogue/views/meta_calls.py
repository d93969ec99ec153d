"""Calls of the hub's tools about other tools: they activate a lazy server, find and describe tools, and call a tool that need not be
listed. Failures are TooltrayErrors in words for the model.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from tooltray.catalogue.offers import Offers
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.catalogue.views import meta_tools
from tooltray.catalogue.views.meta_tools import HubTools
from tooltray.catalogue.views.views import Views
from tooltray.foundation.errors import NotFound, TooltrayError
from tooltray.protocol import eras
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, failure, has_failed, load
from tooltray.protocol.member_scanner import opened
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.relay.relay import START_WAIT_S, paused
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

if TYPE_CHECKING:
    from tooltray.catalogue.views.activation_answer import ActivationAnswer
    from tooltray.catalogue.views.tool_lookup import ToolLookup

INVALID_PARAMS_TEXT = str(INVALID_PARAMS).encode()  # in results of servers that were made with the TypeScript SDK
LISTS_WAIT_S = 20.0  # for the first lists of a server that runs; clients give a call longer


class Activation:
    """Activations of servers; has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        offers: Offers,
        answer: Callable[[], "ActivationAnswer"],
        is_paused: Callable[[], bool],
    ) -> None:
        """
        Args:
            answer: makes the answers; it is only needed where a server is activated.
        """
        self._servers, self._tools, self._offers, self._answer, self._is_paused = servers, tools, offers, answer, is_paused

    async def load(self, server: str, exchange: Exchange) -> str:
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
        return await self._answer().of(server, exchange)

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
        views: Views,
        hub_tools: HubTools,
        lookup: Callable[[], "ToolLookup"],
        activation: Activation,
        call: ToolCall,
        others: Mapping[str, MetaTool],
    ) -> None:
        """
        Args:
            lookup: finds and describes tools; it is only needed where tools are searched.
            call: carries out the inner call of a call of `call_tool`.
            others: by its own name, each tool that another package answers, such as `read_result`.
        """
        self._views, self._hub_tools, self._lookup, self._activation, self._call = views, hub_tools, lookup, activation, call
        own = {meta_tools.FIND: self._find, meta_tools.DESCRIBE: self._describe, meta_tools.CALL: self._call_inner}
        self._answers: Mapping[str, MetaTool] = {**own, **others}

    def find(self, name: str, state: SessionState) -> MetaTool | None:
        """Returns the tool about other tools that a session calls by this name; None for any other name."""
        key = self._hub_tools.key(name, state.server)
        if key is None:
            return None
        return self._answers.get(key[1]) or partial(self._activate, key[1].removeprefix(meta_tools.ACTIVATE))

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
            search = meta_tools.read_search(exchange.request.params)
        except TooltrayError as error:
            return meta_tools.refusal(error, exchange.era)
        return meta_tools.answer(await self._lookup().found_text(search, exchange), exchange.era)

    async def _describe(self, exchange: Exchange) -> Envelope:
        try:
            names = meta_tools.read_names(exchange.request.params)
        except TooltrayError as error:
            return meta_tools.refusal(error, exchange.era)
        return meta_tools.answer(await self._lookup().described_text(names, exchange), exchange.era)

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
        reply = await self._call(exchange.child(request=inner, head=inner_head))
        return await self._explained(reply, inner, inner_head.name, exchange) if has_failed(reply) else reply

    async def _explained(self, reply: Envelope, inner: Envelope, name: str, exchange: Exchange) -> Envelope:
        """Returns a failed reply, with what the tool takes if its arguments were wrong.

        Nothing is checked before the call: servers take more than their schemas say, and a call that is right should not wait.
        """
        code = load(reply.error)["code"] if reply.error else None
        if code not in (None, INVALID_PARAMS):
            return reply
        is_certain = code == INVALID_PARAMS or INVALID_PARAMS_TEXT in bytes(reply.result)
        arguments = opened(inner.params)["arguments"]
        if not (why := await self._lookup().explain_failure(name, arguments, exchange, is_certain=is_certain)):
            return reply
        if reply.error:
            return meta_tools.answer(f"{load(reply.error)['message']}\n{why}", exchange.era, is_error=True)
        return msgspec.structs.replace(reply, result=meta_tools.with_text(reply.result, why))
