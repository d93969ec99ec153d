"""What every server offers besides tools: prompts, resources and resource templates, listed, kept on disk, and told when it changes.

Above it: the managers of prompts and resources. Below it: ServerManager, list_pages, and the catalogue on disk. Knows nothing of the names
and URIs that AI clients see. The rules are those of the tools: the last known list is offered at once, also for a server that does not run;
one listing at a time, so that an old one never overwrites a newer one; what a server in error offered stays for a while.
"""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from msgspec import Raw

from tooltray.errors import TooltrayError
from tooltray.events import ConfigChanged, EventBus, PromptListChanged, ResourceListChanged, ServerState
from tooltray.presenter.list_pages import list_all
from tooltray.presenter.managed_server import ManagedServer
from tooltray.presenter.mcp_client import McpClient
from tooltray.presenter.server_manager import ServerManager
from tooltray.tasks import Spawn, finish_in_thread
from tooltray.tools.catalogue import CatalogueStore
from tooltray.tools.offer import KINDS, PROMPTS, Offer, OfferKind, read_offers
from tooltray.wire.deadlines import Deadline, DeadlineWheel

logger = logging.getLogger(__name__)
FIRST_LISTING_WAIT_S = 5.0  # an AI client that gets an incomplete first list may keep it for days; one that waits longer gives up
EMPTY_CONFIRMED_AFTER_S = 1.0  # a server that is warming up may list nothing for a moment
ERROR_LISTED_FOR_S = 600.0  # what a server in error offered stays listed; who asks for it reads why it fails

Offered = tuple[Offer, ...]


@dataclass
class _List:
    """What a server listed of one kind.

    Attributes:
        offers: None until it was listed once.
        is_declared: the server has such a list, by its greeting.
        saved_for: the configuration under which this list is on the disk.
        offered: what AI clients may see of it.
    """

    offers: Offered | None = None
    is_declared: bool = False
    saved_for: str | None = None
    offered: Offered = ()


@dataclass
class _ServerOffers:
    """What is known of one server.

    Attributes:
        of: the server that all this is about; another one of the same name has to be listed anew.
        listed: all was listed, or found to be impossible to list.
        due: the kinds that are to be listed.
        asked: the connection that was last asked for its lists.
        waited_until: loop time after which AI clients are not kept waiting for it any more.
        expiry: while it is in error, when nothing of it is offered any longer.
    """

    of: ManagedServer
    lists: Mapping[OfferKind, _List] = field(default_factory=lambda: {kind: _List() for kind in KINDS})
    listed: asyncio.Event = field(default_factory=asyncio.Event)
    due: set[OfferKind] = field(default_factory=set)
    refreshing: asyncio.Task[None] | None = None
    asked: McpClient | None = None
    waited_until: float | None = None
    expiry: Deadline | None = None
    is_expired: bool = False

    @property
    def is_known(self) -> bool:
        """Whether all was listed once."""
        return all(each.offers is not None for each in self.lists.values())


class Offers:
    """Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        servers: ServerManager,
        catalogues: CatalogueStore,
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
        """
        self._first_listing_wait_s, self._empty_confirmed_after_s = first_listing_wait_s, empty_confirmed_after_s
        self._servers, self._catalogues, self._bus, self._deadlines, self._spawn = servers, catalogues, bus, deadlines, spawn
        self._offers: dict[str, _ServerOffers] = {}
        self._changes: Counter[OfferKind] = Counter()

    async def load(self) -> None:
        """Takes the last known lists of every server from the disk, so that the first list is complete at once."""
        for server in self._servers:
            offers = self._offers_of(server)
            for kind in KINDS:
                await self._load_list(server, kind, offers.lists[kind])
            if offers.is_known:
                offers.listed.set()
            self._offer(server)
        self._servers.listen(on_changed=self._on_server_changed, on_notification=self._on_server_said)
        self._bus.subscribe(ConfigChanged, self._on_config_changed)

    # what there is

    def offered(self, kind: OfferKind) -> dict[str, Offered]:
        """What AI clients may see, by server, in the order of the settings; also servers that offer nothing."""
        return {server.name: self._offers_of(server).lists[kind].offered for server in self._servers}

    def changes(self, kind: OfferKind) -> int:
        """Another number whenever `offered` is another one than before."""
        return self._changes[kind]

    def declaring(self, kind: OfferKind) -> list[ManagedServer]:
        """The servers that have such lists and may be asked; those that run come first."""
        able = [server for server in self._servers if self._is_offering(server) and self._offers_of(server).lists[kind].is_declared]
        return sorted(able, key=lambda server: server.state is not ServerState.RUNNING)

    def listed(self, server: ManagedServer) -> asyncio.Event:
        """Set while nobody need wait for a server's lists: it was listed once, or cannot be."""
        return self._offers_of(server).listed

    async def wait_for_first_listings(self) -> None:
        """Waits a bounded time for servers that are on their way and were never listed."""
        now = asyncio.get_running_loop().time()
        coming = [offers for server in self._servers if self._is_coming(server) and not (offers := self._offers_of(server)).is_known]
        for offers in coming:
            offers.waited_until = offers.waited_until or now + self._first_listing_wait_s
        for offers in coming:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(offers.waited_until):
                    await offers.listed.wait()

    def _is_coming(self, server: ManagedServer) -> bool:
        return server.first.is_busy or server.state is ServerState.RUNNING

    # listing servers

    def _offers_of(self, server: ManagedServer) -> _ServerOffers:
        if offers := self._offers.get(server.name):
            return offers
        return self._offers.setdefault(server.name, _ServerOffers(server))

    async def _load_list(self, server: ManagedServer, kind: OfferKind, of_kind: _List) -> None:
        catalogue = await asyncio.to_thread(self._catalogues.load, server.name, server.config_hash, kind=kind.name)
        if catalogue is not None:
            of_kind.offers, _ = read_offers(kind, catalogue.definitions)
            of_kind.is_declared, of_kind.saved_for = catalogue.is_declared, server.config_hash

    def _on_server_changed(self, name: str) -> None:
        server = self._servers.get(name)
        offers = self._offers_of(server)
        if offers.of is not server:  # its settings are others: what the old one listed is offered until the new one lists
            offers.of = server
            offers.listed.clear()
        self._watch_error(server, offers)
        if server.state is ServerState.RUNNING:
            if offers.asked is not server.first.client:
                offers.asked = server.first.client
                self._refresh_soon(server, KINDS)
        elif server.state in (ServerState.ERROR, ServerState.STOPPED):
            offers.listed.set()  # nobody need wait for it
        elif not offers.is_known:
            offers.listed.clear()
        self._offer(server)

    def _watch_error(self, server: ManagedServer, offers: _ServerOffers) -> None:
        if server.state is ServerState.ERROR:
            offers.expiry = offers.expiry or self._deadlines.add(ERROR_LISTED_FOR_S, partial(self._on_error_is_old, offers))
        elif offers.expiry:
            offers.expiry.cancel()
            offers.expiry, offers.is_expired = None, False

    def _on_error_is_old(self, offers: _ServerOffers) -> None:
        offers.is_expired = True
        self._offer(offers.of)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        for name in [name for name in self._offers if self._servers.find(name) is None]:
            self._forget(name, self._offers.pop(name))

    def _forget(self, name: str, offers: _ServerOffers) -> None:
        offers.listed.set()  # who waits for it need not any more
        if offers.expiry:
            offers.expiry.cancel()
        self._spawn(self._forget_on_disk(name, offers), name=f"forget what '{name}' offered")
        self._tell(name, [kind for kind in KINDS if offers.lists[kind].offered])

    async def _forget_on_disk(self, name: str, offers: _ServerOffers) -> None:
        """Behind what is just being saved."""
        if offers.refreshing:
            await asyncio.wait({offers.refreshing})
        await finish_in_thread(self._catalogues.forget, name)

    def _on_server_said(self, name: str, client: McpClient, method: str, params: Raw) -> None:
        if (kinds := [kind for kind in KINDS if kind.changed == method]) and (server := self._servers.find(name)):
            self._refresh_soon(server, kinds)
            if client.owner is None and client is not server.first.client:
                self._publish(name, kinds)  # who has this server alone gets the lists of that copy, which are not kept here

    def _refresh_soon(self, server: ManagedServer, kinds: Iterable[OfferKind]) -> None:
        offers = self._offers_of(server)
        offers.due.update(kinds)
        if offers.refreshing is None:
            offers.refreshing = self._spawn(self._refresh(offers), name=f"list what '{server.name}' offers")

    async def _refresh(self, offers: _ServerOffers) -> None:
        try:
            while offers.due and (client := offers.of.first.client):
                kind = next(kind for kind in KINDS if kind in offers.due)
                offers.due.discard(kind)
                await self._list(offers.of, client, offers, kind)
        finally:
            offers.refreshing = None

    async def _list(self, server: ManagedServer, client: McpClient, offers: _ServerOffers, kind: OfferKind) -> None:
        is_declared = client.greeting.capabilities.get(kind.capability) not in (None, False)
        try:
            raw = await self._list_believed(client, offers, kind) if is_declared else []
            if kind not in offers.due and self._servers.find(server.name) is server:
                await self._take_over(server, offers.lists[kind], kind, raw, is_declared=is_declared)
        except TooltrayError as error:
            logger.info("the %s of '%s' could not be listed: %s", kind.name, server.name, error)
        finally:
            if server.first.client is client and not offers.due:  # else the next copy, or the next turn, is waited for
                offers.listed.set()

    async def _list_believed(self, client: McpClient, offers: _ServerOffers, kind: OfferKind) -> list[Raw]:
        raw = await list_all(client, kind.method, kind.member)
        if raw or not offers.lists[kind].offers:
            return raw
        await asyncio.sleep(self._empty_confirmed_after_s)
        return await list_all(client, kind.method, kind.member)

    async def _take_over(self, server: ManagedServer, of_kind: _List, kind: OfferKind, raw: list[Raw], *, is_declared: bool) -> None:
        offers, remarks = read_offers(kind, raw)
        for remark in remarks:
            logger.info("'%s': %s", server.name, remark)
        is_known = (of_kind.offers, of_kind.is_declared, of_kind.saved_for) == (offers, is_declared, server.config_hash)
        of_kind.offers, of_kind.is_declared = offers, is_declared
        self._offer(server)
        if not is_known:
            definitions = [offer.raw for offer in offers]
            await finish_in_thread(
                self._catalogues.save, server.name, server.config_hash, definitions, kind=kind.name, is_declared=is_declared
            )
            of_kind.saved_for = server.config_hash

    # offering

    def _is_offering(self, server: ManagedServer) -> bool:
        return not (server.config.disable or server.state is ServerState.STOPPED or self._offers_of(server).is_expired)

    def _offer(self, server: ManagedServer) -> None:
        """Works out what AI clients may see of a server, and tells if that is news."""
        news, is_offering = [], self._is_offering(server)
        for kind, each in self._offers_of(server).lists.items():
            offered = (each.offers or ()) if is_offering else ()
            if offered != each.offered:
                each.offered = offered
                news.append(kind)
        self._tell(server.name, news)

    def _tell(self, server: str, kinds: list[OfferKind]) -> None:
        self._changes.update(kinds)
        self._publish(server, kinds)

    def _publish(self, server: str, kinds: list[OfferKind]) -> None:
        if PROMPTS in kinds:
            self._bus.publish(PromptListChanged(server))
        if any(kind is not PROMPTS for kind in kinds):
            self._bus.publish(ResourceListChanged(server))
