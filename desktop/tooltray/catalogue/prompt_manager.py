"""The prompts of all servers: one list, and each `prompts/get` to the server of the prompt. Names follow the rule of the tools, in a name
space of their own, and are given when an AI client lists. Prompts need no approval: a user chooses them, and they change nothing.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from operator import itemgetter

from msgspec import Raw

from tooltray.catalogue.offer import PROMPTS, Offer, listing_of
from tooltray.catalogue.offers import Offers
from tooltray.catalogue.resource_manager import LinkingRelay, anybody, offered_by
from tooltray.catalogue.second_looks import SecondLooks
from tooltray.config.naming.published_names import PublishedNames
from tooltray.foundation.events import EventBus, PromptListChanged
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol import eras
from tooltray.protocol.envelope import INVALID_PARAMS, Envelope, dump, failure
from tooltray.protocol.sessions.exchange import Exchange
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager

Published = tuple[str, Offer, str]
"""The server of a prompt, the prompt as it was listed, and its short name for AI clients."""


class PromptManager:
    """The prompts of all servers. Belongs to the engine's loop."""

    def __init__(
        self, *, servers: ServerManager, offers: Offers, names: PublishedNames, looks: SecondLooks, relay: LinkingRelay, bus: EventBus
    ) -> None:
        self._servers, self._offers, self._names, self._looks, self._relay, self._bus = servers, offers, names, looks, relay, bus
        self._listings: dict[int, Raw] = {}  # by the length of names that clients accept; a few
        self._made: tuple[Published, ...] = ()
        self._made_at: int | None = None  # the state of the offers when the listing was made
        self._lock = asyncio.Lock()

    async def listing(self, room: int = 0) -> Raw:
        """Returns the result of `prompts/list`, whole and sorted by name; waits a bounded time for servers that were never listed.

        Args:
            room: how many characters of a name the client accepts, for names that are longer than short ones.
        """
        await self._ready()
        if room not in self._listings:
            self._listings[room] = listing_of(PROMPTS, self._definitions(room, anybody))
        return self._listings[room]

    async def listing_among(self, is_shown: Callable[[str], bool], room: int) -> Raw:
        """Returns the list of some servers only. `is_shown`: whether a server is one of them, by name."""
        await self._ready()
        return listing_of(PROMPTS, self._definitions(room, is_shown))

    async def listing_with(self, is_shown: Callable[[str], bool], own: Mapping[str, McpClient | None], room: int) -> Raw:
        """Returns the list for a client with its own instances (`own`) of some servers; these are asked, as they may offer other
        prompts.
        """
        await self._ready()
        asked = {server: offered_by(PROMPTS, client) for server, client in own.items() if client and is_shown(server)}
        listed = dict(zip(asked, await asyncio.gather(*asked.values()), strict=True))
        offers = {(server, offer.key): offer for server, offered in listed.items() for offer in offered}
        names = await finish_in_thread(self._names.publish, offers, kind="prompts")
        others = [(prompt[0], offers[prompt], name) for prompt, name in names.items()]
        shared = [each for each in self._made if each[0] not in own and is_shown(each[0])]
        return listing_of(PROMPTS, self._renamed([*shared, *others], room))

    async def definitions(self, server: str, room: int) -> list[Raw]:
        """Returns the prompts of one server, as in the listing."""
        await self._ready()
        return self._definitions(room, lambda name: name == server)

    def _definitions(self, room: int, is_wanted: Callable[[str], bool]) -> list[Raw]:
        return self._renamed([each for each in self._made if is_wanted(each[0])], room)

    def _renamed(self, prompts: Iterable[Published], room: int) -> list[Raw]:
        whole = self._names.whole
        named = [(whole((server, offer.key), room, kind="prompts") or name, offer) for server, offer, name in prompts]
        return [offer.renamed(PROMPTS, name) for name, offer in sorted(named, key=itemgetter(0))]

    def count(self, server: str) -> int:
        """Returns how many prompts a server offers."""
        return len(self._offers.offered(PROMPTS).get(server, ()))

    async def get(
        self,
        exchange: Exchange,
        *,
        is_reached: Callable[[str], bool] = anybody,
        on_used: Callable[[str], None] = lambda server: None,
    ) -> Envelope:
        """Carries one `prompts/get` of an AI client to the server that has the prompt.

        Args:
            is_reached: whether the session may use a server, by its name.
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
        """Returns the server, and its own name for the prompt, by the published name, which a client may use without having listed.

        Args:
            is_reached: whether the session may use a server: its likely servers are listed again before a name is unknown.
        """
        if target := self._names.target(name, kind="prompts"):
            return target
        if self._made_at is None:  # nothing was listed yet, so no names exist
            await self._offers.wait_for_first_listings()
        if not await self._is_named(name):
            await self._looks.look(PROMPTS, self._looks.likely(PROMPTS, name, is_reached=is_reached), partial(self._is_named, name))
        return self._names.target(name, kind="prompts")

    async def _is_named(self, name: str) -> bool:
        """Reports whether a prompt has this name, after giving names to prompts that were listed since a client's last list."""
        await self._publish_names()
        return self._names.target(name, kind="prompts") is not None

    async def forget_names(self) -> None:
        """Drops all names; new ones are given at the next list request."""
        async with self._lock:
            self._made_at = None
            await finish_in_thread(self._names.reset, kind="prompts")
        for server, prompts in self._offers.offered(PROMPTS).items():
            if prompts:
                self._bus.publish(PromptListChanged(server))

    async def _ready(self) -> None:
        await self._offers.wait_for_first_listings()
        await self._publish_names()

    async def _publish_names(self) -> None:
        """Gives names to all prompts that are known now."""
        async with self._lock:
            while self._made_at != (state := self._offers.changes(PROMPTS)):
                self._made = await self._make()
                self._listings.clear()
                self._made_at = state

    async def _make(self) -> tuple[Published, ...]:
        offers = {(server, offer.key): offer for server, offered in self._offers.offered(PROMPTS).items() for offer in offered}
        names = await finish_in_thread(self._names.publish, offers, kind="prompts")
        return tuple((prompt[0], offers[prompt], name) for prompt, name in names.items())
