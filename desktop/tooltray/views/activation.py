"""Activating a lazy server for one session: it is started if need be, says what it offers, and the session is told all of it.

Above it: Views, which marks the session. Below it: the managed servers, the managers of tools, prompts and resources. What goes wrong is a
TooltrayError in words for the model, and nothing is marked.
"""

import asyncio
from collections.abc import Callable, Mapping

from msgspec import Raw

from tooltray.catalogue.offer import KINDS, PROMPTS, RESOURCES, TEMPLATES, OfferKind
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.prompt_manager import PromptManager
from tooltray.catalogue.resource_manager import ResourceManager
from tooltray.catalogue.tool_manager import ToolManager
from tooltray.errors import NotFound, TooltrayError
from tooltray.protocol.envelope import dump, load
from tooltray.protocol.member_scanner import closed
from tooltray.sessions.exchange import Exchange
from tooltray.sessions.session_state import SessionState
from tooltray.upstream.managed_server import ManagedServer
from tooltray.upstream.relay import START_WAIT_S, paused
from tooltray.upstream.server_manager import ServerManager
from tooltray.views.meta_tools import array
from tooltray.views.session_view import own_copy
from tooltray.views.view_lists import ViewLists

NOTE_OF_PASSING = (
    "This connection shows no client token, so each request stands for itself and these tools will not be listed. "
    "Call them by name, or with call_tool."
)
LISTS_WAIT_S = 20.0  # for the first lists of a server that runs; clients give a call longer

_WORDS = {PROMPTS: "prompt", RESOURCES: "resource", TEMPLATES: "template"}


class ActivationAnswer:
    """What an activation answers: all that its server offers to the session. Has no state of its own."""

    def __init__(
        self, *, servers: ServerManager, offers: Offers, prompts: PromptManager, resources: ResourceManager, lists: ViewLists
    ) -> None:
        self._servers, self._offers, self._prompts, self._resources, self._lists = servers, offers, prompts, resources, lists

    async def of(self, server: str, exchange: Exchange) -> Raw:
        state = exchange.session.state
        copy = own_copy(self._servers, state.server, exchange.era, exchange.session)
        entries = await self._lists.of_server(server, state, client=copy)
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
        return await (self._prompts.definitions(server) if kind is PROMPTS else self._resources.definitions(kind, server))


class Activation:
    """Has no state of its own."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        tools: ToolManager,
        offers: Offers,
        answer: ActivationAnswer,
        is_paused: Callable[[], bool],
        start_wait_s: float = START_WAIT_S,
        lists_wait_s: float = LISTS_WAIT_S,
    ) -> None:
        """
        Args:
            start_wait_s: how long an activation waits for its server.
            lists_wait_s: how long for what the server offers.
        """
        self._servers, self._tools, self._offers, self._answer, self._is_paused = servers, tools, offers, answer, is_paused
        self._start_wait_s, self._lists_wait_s = start_wait_s, lists_wait_s

    async def load(self, server: str, exchange: Exchange) -> Raw:
        """Starts a server and waits until it has listed; returns what an activation answers.

        Raises:
            TooltrayError: there is no such server, it does not run, or it does not say what it offers; says why and what to do.
        """
        if self._is_paused():
            raise TooltrayError(str(load(paused().error)["message"]))
        managed = self._servers.find(server)
        if managed is None:
            raise NotFound(f"there is no server '{server}' any more", hint="list_servers tells which there are.")
        await managed.running(exchange.era, timeout_s=self._start_wait_s, session=exchange.session)
        await self._wait_for_lists(managed)
        if managed.client_for(exchange.era, exchange.session) is None:
            why = str(managed.problem) if managed.problem else "it ended while it was being activated"
            raise TooltrayError(f"server '{server}' is not running", why, "Call again to try once more.")
        return await self._answer.of(server, exchange)

    async def _wait_for_lists(self, managed: ManagedServer) -> None:
        try:
            async with asyncio.timeout(self._lists_wait_s):
                await self._tools.listed(managed).wait()
                await self._offers.listed(managed).wait()
        except TimeoutError:
            if not self._tools.is_listed(managed.name):
                title = f"server '{managed.name}' runs, but has not said which tools it has within {self._lists_wait_s:g} s"
                raise TooltrayError(title, hint="Call again later.") from None
