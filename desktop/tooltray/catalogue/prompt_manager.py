"""The prompts of all servers: one list, and each `prompts/get` to the server whose prompt it is.

Above it: the router. Below it: Offers, the published names, and ServerRelay. Names follow the rule of the tools, in a name space of their
own; they are given when an AI client lists, not before. Prompts need no approval: a person chooses them, and they change nothing.
"""

import asyncio
from collections.abc import Callable
from functools import partial

from msgspec import Raw

from tooltray.catalogue.offer import PROMPTS, listing_of
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.published_names import PublishedNames
from tooltray.catalogue.resource_manager import anybody
from tooltray.catalogue.second_looks import SecondLooks
from tooltray.events import EventBus, PromptListChanged
from tooltray.protocol import eras
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, dump, failure
from tooltray.sessions.exchange import Exchange
from tooltray.tasks import finish_in_thread
from tooltray.upstream.relay import ServerRelay
from tooltray.upstream.server_manager import ServerManager


class PromptManager:
    """Belongs to the engine's loop."""

    def __init__(
        self, *, servers: ServerManager, offers: Offers, names: PublishedNames, looks: SecondLooks, relay: ServerRelay, bus: EventBus
    ) -> None:
        self._servers, self._offers, self._names, self._looks, self._relay, self._bus = servers, offers, names, looks, relay, bus
        self._listing = NOTHING
        self._made: tuple[tuple[str, Raw], ...] = ()  # of the listing: the server and the definition of each
        self._made_at = -1  # the state of the offers that the listing is of
        self._lock = asyncio.Lock()

    async def listing(self) -> Raw:
        """The result of `prompts/list`, whole and sorted by name; waits a bounded time for servers that were never listed."""
        await self._offers.wait_for_first_listings()
        return await self._named_listing()

    async def _named_listing(self) -> Raw:
        """As far as it is known now."""
        async with self._lock:
            while self._made_at != (state := self._offers.changes(PROMPTS)):
                self._made = await self._make()
                self._listing = listing_of(PROMPTS, (definition for _, definition in self._made))
                self._made_at = state
            return self._listing

    async def listing_among(self, is_shown: Callable[[str], bool]) -> Raw:
        """The same of some servers alone. `is_shown`: whether it is one of them, by name."""
        await self.listing()
        return listing_of(PROMPTS, (definition for server, definition in self._made if is_shown(server)))

    async def definitions(self, server: str) -> list[Raw]:
        """Those of one server, as they stand in the listing."""
        await self.listing()
        return [definition for name, definition in self._made if name == server]

    def count(self, server: str) -> int:
        """How many prompts a server offers."""
        return len(self._offers.offered(PROMPTS).get(server, ()))

    async def get(
        self,
        exchange: Exchange,
        *,
        is_reached: Callable[[str], bool] = anybody,
        on_used: Callable[[str], None] = lambda server: None,
    ) -> Envelope:
        """Carries one `prompts/get` of an AI client to the server whose prompt it is.

        Args:
            is_reached: whether the session may have anything of a server, by its name.
            on_used: gets the name of the server.
        """
        request, name = exchange.request, exchange.head.name
        target = await self.target(name, is_reached=is_reached)
        managed = self._servers.find(target[0]) if target and is_reached(target[0]) else None
        if managed is None or target is None:
            return failure(INVALID_PARAMS, f"Unknown prompt: {name}")
        on_used(managed.name)
        if name != target[1] or eras.may_repeat_name(request.params):
            request.params = eras.with_members(request.params, name=dump(target[1]))
        return await self._relay.send_with_retry(managed, exchange)

    async def target(self, name: str, *, is_reached: Callable[[str], bool] = anybody) -> tuple[str, str] | None:
        """The server, and its own name for the prompt that AI clients know by this one; a client may ask by heart.

        Args:
            is_reached: whether the session may have anything of a server: its likely servers are listed again before a name is unknown.
        """
        if target := self._names.target(name, kind="prompts"):
            return target
        if self._made_at < 0:  # nobody has listed yet, so there are no names
            await self._offers.wait_for_first_listings()
        if not await self._is_named(name):
            await self._looks.look(PROMPTS, self._looks.likely(PROMPTS, name, is_reached=is_reached), partial(self._is_named, name))
        return self._names.target(name, kind="prompts")

    async def _is_named(self, name: str) -> bool:
        """Whether a prompt has this name, as far as is known now: what was listed since the last list that a client saw has no name yet."""
        await self._named_listing()
        return self._names.target(name, kind="prompts") is not None

    async def forget_names(self) -> None:
        """All names are given anew, when somebody lists."""
        async with self._lock:
            self._made_at = -1
            await finish_in_thread(self._names.reset, kind="prompts")
        for server, prompts in self._offers.offered(PROMPTS).items():
            if prompts:
                self._bus.publish(PromptListChanged(server))

    async def _make(self) -> tuple[tuple[str, Raw], ...]:
        offers = {(server, offer.key): offer for server, offered in self._offers.offered(PROMPTS).items() for offer in offered}
        names = await finish_in_thread(self._names.publish, offers, kind="prompts")
        in_order = sorted(names.items(), key=lambda item: item[1])
        return tuple((prompt[0], offers[prompt].renamed(PROMPTS, name)) for prompt, name in in_order)
