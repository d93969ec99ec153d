"""Lists of every server (its tools, its prompts, ...): when a server is asked for them, what is believed, and what stays known.

Above it: ToolManager, which has one for the tools, and Offers, which has one for all else: neither waits for the lists of the other. Below
it: ServerManager, list_pages, and the catalogue on disk. Knows nothing of what AI clients make of a list, nor of settings for single tools.

The rules: what was last known is offered at once, also of a server that does not run. A copy that has opened is asked, and again when it
says that a list has changed; one listing at a time, so that an old one never overwrites a newer one. A sudden empty list has to be
confirmed. A server in error offers what it listed for a while; one that is stopped or switched off offers nothing.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, Protocol, TypeVar

from msgspec import Raw

from tooltray.errors import TooltrayError
from tooltray.events import ConfigChanged, EventBus
from tooltray.presenter.list_pages import list_all
from tooltray.presenter.managed_server import ManagedServer
from tooltray.presenter.mcp_client import McpClient
from tooltray.presenter.server_manager import ServerManager
from tooltray.snapshots.servers import ServerState
from tooltray.tasks import Spawn, finish_in_thread
from tooltray.tools.catalogue import CatalogueStore
from tooltray.tools.offer import OfferKind
from tooltray.wire.deadlines import Deadline, DeadlineWheel

logger = logging.getLogger(__name__)
FIRST_LISTING_WAIT_S = 5.0  # an AI client that gets an incomplete first list may keep it for days; one that waits longer gives up
EMPTY_CONFIRMED_AFTER_S = 1.0  # a server that is warming up may list nothing for a moment
ERROR_LISTED_FOR_S = 600.0  # what a server in error offered stays listed; who asks for it reads why it fails


class Definition(Protocol):
    """One entry of a list."""

    @property
    def raw(self) -> Raw:
        """As the server wrote it."""


Item = TypeVar("Item", bound=Definition)
Read = Callable[[OfferKind, Iterable[Raw], ManagedServer, McpClient | None], tuple[tuple[Item, ...], Sequence[str]]]
"""What can be used of the definitions in a server's list, and remarks on the rest. The connection is None for a list from the disk."""


@dataclass(frozen=True)
class _List(Generic[Item]):
    """What a server listed of one kind.

    Attributes:
        items: None until it was listed once.
        is_declared: the server has such a list.
        config_hash: the configuration under which it was listed; under this one it is on the disk, too.
    """

    items: tuple[Item, ...] | None = None
    is_declared: bool = False
    config_hash: str | None = None

    @property
    def definitions(self) -> list[Raw]:
        return [each.raw for each in self.items or ()]

    def is_same(self, other: "_List[Item]") -> bool:
        """Whether the disk would hold the same for both."""
        return (self.config_hash, self.is_declared, self.definitions) == (other.config_hash, other.is_declared, other.definitions)


@dataclass
class _Known(Generic[Item]):
    """What is known of one server.

    Attributes:
        of: the server that all this is about; another one of the same name has to be listed anew.
        listed: all was listed, or found to be impossible to list.
        due: the kinds that are to be listed.
        asked: the connection that was last asked for all its lists.
        waited_until: loop time after which AI clients are not kept waiting for it any more.
        expiry: while it is in error, when nothing of it is offered any longer.
    """

    of: ManagedServer
    lists: dict[OfferKind, _List[Item]]
    listed: asyncio.Event = field(default_factory=asyncio.Event)
    due: set[OfferKind] = field(default_factory=set)
    refreshing: asyncio.Task[None] | None = None
    asked: McpClient | None = None
    waited_until: float | None = None
    expiry: Deadline | None = None
    is_expired: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether all was listed once."""
        return all(each.items is not None for each in self.lists.values())


class ServerLists(Generic[Item]):
    """Belongs to the engine's loop."""

    def __init__(
        self,
        kinds: Sequence[OfferKind],
        *,
        read: Read[Item],
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
            kinds: what is listed, one after the other in this order.
            read: see Read.
            first_listing_wait_s: how long AI clients are kept waiting for servers that were never listed.
            empty_confirmed_after_s: a sudden empty list is believed after so long, if it still is empty.
        """
        self._kinds, self._read = kinds, read
        self._servers, self._catalogues, self._bus, self._deadlines, self._spawn = servers, catalogues, bus, deadlines, spawn
        self._first_listing_wait_s, self._empty_confirmed_after_s = first_listing_wait_s, empty_confirmed_after_s
        self._known: dict[str, _Known[Item]] = {}
        self._on_changed: Callable[[ManagedServer], None]  # this and the next two after `load`
        self._on_forgotten: Callable[[str], None]
        self._on_other_copy_changed: Callable[[str, Sequence[OfferKind]], None]

    async def load(
        self,
        *,
        on_changed: Callable[[ManagedServer], None],
        on_forgotten: Callable[[str], None],
        on_other_copy_changed: Callable[[str, Sequence[OfferKind]], None],
    ) -> None:
        """Takes the last known lists of every server from the disk, so that the first list is complete at once, and follows the servers.

        Args:
            on_changed: called with a server whenever what it offers, or what its settings make of that, may be another than before.
            on_forgotten: called with the name of a server that was removed.
            on_other_copy_changed: called with a server's name and kinds when its copy for another era says that its lists have changed.
                They are not kept here, but who has this server alone gets them.
        """
        self._on_changed, self._on_forgotten, self._on_other_copy_changed = on_changed, on_forgotten, on_other_copy_changed
        for server in self._servers:
            known = self._known_of(server)
            for kind in self._kinds:
                known.lists[kind] = await self._load_list(server, kind)
            if known.is_complete:
                known.listed.set()
            self._on_changed(server)
        self._servers.listen(on_changed=self._on_server_changed, on_notification=self._on_server_said)
        self._bus.subscribe(ConfigChanged, self._on_config_changed)

    # what there is

    def known(self, server: str, kind: OfferKind) -> tuple[Item, ...]:
        """What a server last listed, whether it is offered or not; empty for one that was never listed."""
        known = self._known.get(server)
        return (known.lists[kind].items if known else None) or ()

    def offered(self, server: ManagedServer, kind: OfferKind) -> tuple[Item, ...]:
        """The same as far as AI clients may see it: nothing of a server that is stopped, switched off, or in error for long."""
        return self.known(server.name, kind) if self.is_offering(server) else ()

    def is_declared(self, server: ManagedServer, kind: OfferKind) -> bool:
        """Whether a server has such a list and may be asked for what is in it."""
        return self.is_offering(server) and self._known_of(server).lists[kind].is_declared

    def is_up_to_date(self, server: ManagedServer) -> bool:
        """Whether all was listed under the settings that the server has now."""
        return all(each.config_hash == server.config_hash for each in self._known_of(server).lists.values())

    def is_complete(self, server: str) -> bool:
        """Whether all lists of a server are known; they may be those of an earlier time."""
        known = self._known.get(server)
        return known is not None and known.is_complete

    def listed(self, server: ManagedServer) -> asyncio.Event:
        """Set while nobody need wait for a server's lists: it was listed once, or cannot be."""
        return self._known_of(server).listed

    async def wait_for_first_listings(self, only: str | None = None) -> None:
        """Waits a bounded time for servers that are on their way and were never listed. `only`: for this one alone."""
        now = asyncio.get_running_loop().time()
        awaited = [self._known_of(server) for server in self._servers if only in (None, server.name) and self._is_awaited(server)]
        for known in awaited:
            known.waited_until = known.waited_until or now + self._first_listing_wait_s
        for known in awaited:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(known.waited_until):
                    await known.listed.wait()

    async def settle(self, server: ManagedServer) -> None:
        """Waits until what is known of a server that runs is what its first copy lists now, as far as it can be listed."""
        known = self._known_of(server)
        while known.refreshing:
            await asyncio.wait({known.refreshing})

    def _is_awaited(self, server: ManagedServer) -> bool:
        is_coming = server.first.is_busy or server.state is ServerState.RUNNING
        known = self._known_of(server)
        return is_coming and not known.is_complete and not known.listed.is_set()

    def is_offering(self, server: ManagedServer) -> bool:
        """Whether AI clients may see what a server listed."""
        return not (server.config.disable or server.state is ServerState.STOPPED or self._known_of(server).is_expired)

    def _known_of(self, server: ManagedServer) -> _Known[Item]:
        if known := self._known.get(server.name):
            return known
        return self._known.setdefault(server.name, _Known(server, {kind: _List() for kind in self._kinds}))

    async def _load_list(self, server: ManagedServer, kind: OfferKind) -> _List[Item]:
        catalogue = await asyncio.to_thread(self._catalogues.load, server.name, server.config_hash, kind=kind.name)
        if catalogue is None:
            return _List()
        items, _ = self._read(kind, catalogue.definitions, server, None)
        return _List(items, catalogue.is_declared, server.config_hash)

    def list_unknown_servers(self, *, beside: Callable[[ManagedServer], asyncio.Event]) -> None:
        """Starts every server that was never listed once, to list it; does not wait.

        Args:
            beside: as `listed`, of who else lists it: the server runs until both have what they want, and then rests again.
        """
        for server in self._servers:
            listed = self.listed(server), beside(server)
            if server.state is ServerState.ON_DEMAND and not all(each.is_set() for each in listed):
                server.start()
                self._spawn(self._rest_when(server, listed), name=f"list '{server.name}' once")

    async def _rest_when(self, server: ManagedServer, listed: Iterable[asyncio.Event]) -> None:
        for each in listed:
            await each.wait()
        is_idle = server.state is ServerState.RUNNING and not server.is_used
        if is_idle and self._servers.find(server.name) is server and not self._servers.is_default(server.name):
            await server.stop(then=ServerState.ON_DEMAND)

    # what servers and settings do

    def _on_server_changed(self, name: str) -> None:
        server = self._servers.get(name)
        known = self._known_of(server)
        if known.of is not server:  # its settings are others: what the old one listed is offered until the new one lists
            known.of = server
            known.listed.clear()
        self._watch_error(server, known)
        if server.state is ServerState.RUNNING:
            if known.asked is not server.first.client:
                known.asked = server.first.client
                self._refresh_soon(server, self._kinds)
        elif server.state in (ServerState.ERROR, ServerState.STOPPED, ServerState.NEEDS_SIGN_IN):
            known.listed.set()  # nobody need wait for it
        elif not known.is_complete:
            known.listed.clear()
        self._on_changed(server)

    def _watch_error(self, server: ManagedServer, known: _Known[Item]) -> None:
        if server.state is ServerState.ERROR and not server.config.deferred_startup:  # the next call starts such a one again
            known.expiry = known.expiry or self._deadlines.add(ERROR_LISTED_FOR_S, partial(self._on_error_is_old, known))
        elif known.expiry:
            known.expiry.cancel()
            known.expiry, known.is_expired = None, False

    def _on_error_is_old(self, known: _Known[Item]) -> None:
        known.is_expired = True
        self._on_changed(known.of)

    def _on_config_changed(self, event: ConfigChanged) -> None:
        for name in [name for name in self._known if self._servers.find(name) is None]:
            self._forget(name, self._known.pop(name))

    def _forget(self, name: str, known: _Known[Item]) -> None:
        known.listed.set()  # who waits for it need not any more
        if known.expiry:
            known.expiry.cancel()
        self._spawn(self._forget_on_disk(name, known), name=f"forget what '{name}' listed")
        self._on_forgotten(name)

    async def _forget_on_disk(self, name: str, known: _Known[Item]) -> None:
        """Behind what is just being saved."""
        if known.refreshing:
            await asyncio.wait({known.refreshing})
        await finish_in_thread(self._catalogues.forget, name)

    def _on_server_said(self, name: str, client: McpClient, method: str, params: Raw) -> None:
        if (kinds := [kind for kind in self._kinds if kind.changed == method]) and (server := self._servers.find(name)):
            self._refresh_soon(server, kinds)
            if client.owner is None and client is not server.first.client:
                self._on_other_copy_changed(name, kinds)

    # listing servers

    def _refresh_soon(self, server: ManagedServer, kinds: Iterable[OfferKind]) -> None:
        known = self._known_of(server)
        known.due.update(kinds)
        if known.refreshing is None:
            known.refreshing = self._spawn(self._refresh(known), name=f"list '{server.name}'")

    async def _refresh(self, known: _Known[Item]) -> None:
        try:
            while known.due and (client := known.of.first.client):
                kind = next(kind for kind in self._kinds if kind in known.due)
                known.due.discard(kind)
                await self._list(known.of, client, known, kind)
        finally:
            known.refreshing = None

    async def _list(self, server: ManagedServer, client: McpClient, known: _Known[Item], kind: OfferKind) -> None:
        is_declared = kind.is_always_asked or client.greeting.capabilities.get(kind.capability) not in (None, False)
        try:
            raws = await self._list_believed(client, known.lists[kind], kind) if is_declared else []
            if kind not in known.due and self._servers.find(server.name) is server:
                items, remarks = self._read(kind, raws, server, client)
                for remark in remarks:
                    logger.info("'%s': %s", server.name, remark)
                await self._take_over(server, known, kind, _List(items, is_declared, server.config_hash))
        except TooltrayError as error:
            logger.info("the %s of '%s' could not be listed: %s", kind.name, server.name, error)
        finally:
            is_latest = known.of is server and server.first.client is client and not known.due
            if is_latest:  # else the next server, the next copy, or the next turn is waited for
                known.listed.set()

    async def _list_believed(self, client: McpClient, before: _List[Item], kind: OfferKind) -> list[Raw]:
        raws = await list_all(client, kind.method, kind.member)
        if raws or not before.items:
            return raws
        await asyncio.sleep(self._empty_confirmed_after_s)
        return await list_all(client, kind.method, kind.member)

    async def _take_over(self, server: ManagedServer, known: _Known[Item], kind: OfferKind, new: _List[Item]) -> None:
        is_saved = new.is_same(known.lists[kind])
        known.lists[kind] = new
        self._on_changed(server)
        if not known.due:
            known.listed.set()  # nobody need wait for the disk
        if not is_saved:
            save = partial(self._catalogues.save, kind=kind.name, is_declared=new.is_declared)
            await finish_in_thread(save, server.name, server.config_hash, new.definitions)
