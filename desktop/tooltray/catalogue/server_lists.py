"""Lists of every server (its tools, its prompts, ...): when a server is asked for them, which answers are accepted, and which lists are
kept.

The rules: the last known list is offered at once, even if the server does not run. An instance that has opened is asked, and asked again
when it announces a change or when the known list is in doubt; one listing at a time, so that an old list never overwrites a newer one. A
sudden empty list has to be confirmed. A server in error offers what it listed for a while; a stopped or disabled server offers nothing. AI
clients wait for the first list of a starting server, but not if the server has failed before it listed anything.
"""

import asyncio
import contextlib
import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Generic, Protocol, TypeVar

import msgspec
from msgspec import Raw

from tooltray.catalogue.catalogue import CatalogueStore
from tooltray.catalogue.list_pages import TooLong, is_too_long, list_all
from tooltray.catalogue.list_times import FirstListings, Relisting
from tooltray.catalogue.offer import OfferKind
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ProblemReported
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.runtime import freeze_if_large
from tooltray.foundation.snapshots.servers import LEFT_OUT, ServerState
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.deadlines import Deadline
from tooltray.servers.upstream.managed_server import ManagedServer, ServerNotified, ServersConfigured, ServerStateChanged
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.servers.upstream.upstream_services import UpstreamServices

logger = logging.getLogger(__name__)
EMPTY_CONFIRMED_AFTER_S = 1.0  # a server that is warming up may list nothing for a moment
READ_AT_ONCE = 250  # definitions; takes about 2 ms
LISTED_WITHIN_S = 10.0  # a running server lists in milliseconds; after this time it counts as having listed nothing
IN_VAIN = "waited"  # replaces a kind: the server was waited for, or has failed, and has listed nothing so far
ERROR_LISTED_FOR_S = 600.0  # a server's lists stay offered in error: a request gets the reason
FAILING = (ServerState.RESTARTING, ServerState.ERROR)
"""States in which a server with a problem has failed."""


class Definition(Protocol):
    """One entry of a list."""

    @property
    def raw(self) -> Raw:
        """Returns the definition as the server wrote it."""

    @property
    def flaw(self) -> str:
        """Returns MENDED or LEFT_OUT; empty: AI clients get the definition unchanged."""


Item = TypeVar("Item", bound=Definition)
Read = Callable[[OfferKind, Iterable[Raw], ManagedServer, McpClient | None], tuple[tuple[Item, ...], Sequence[str]]]
"""Gives the usable definitions of a server's list, and remarks on the rest. The connection is None for a list from the disk."""


class _List(msgspec.Struct, Generic[Item], frozen=True):
    """What a server listed of one kind.

    Attributes:
        items: None until the first listing.
        is_declared: the server has such a list.
        config_hash: the configuration under which it was listed; the disk has the list under the same one.
        came_from: the instance that listed it, and all definitions that it sent; None for a list from the disk.
        remarks: sentences about mended and left-out definitions.
    """

    items: tuple[Item, ...] | None = None
    is_declared: bool = False
    config_hash: str | None = None
    came_from: tuple[McpClient, Sequence[Raw]] | None = None
    remarks: Sequence[str] = ()

    @property
    def definitions(self) -> list[Raw]:
        return [each.raw for each in self.items or ()]

    def is_same(self, other: "_List[Item]") -> bool:
        """Reports whether both would be saved as the same file."""
        return (self.config_hash, self.is_declared, self.definitions) == (other.config_hash, other.is_declared, other.definitions)


class _Known(msgspec.Struct, Generic[Item]):
    """The known lists and the listing state of one server.

    Attributes:
        of: the server with these lists; another server of the same name has to be listed again.
        listed: set when everything was listed, or found to be impossible to list.
        due: the kinds that have to be listed.
        asked: the connection that was last asked for all its lists.
        relisting: how soon it is listed again.
        problems: why lists of it are rejected; its earlier lists stay offered.
        state: its last known state, and since which loop time.
        has_failed: AI clients do not wait for its first lists.
        is_noted: the disk records for the next hub that clients waited for it in vain.
        expiry: the deadline, while it is in error, after which its lists are not offered any longer.
    """

    of: ManagedServer
    lists: dict[OfferKind, _List[Item]]
    listed: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    due: set[OfferKind] = msgspec.field(default_factory=set)
    refreshing: asyncio.Task[None] | None = None
    asked: McpClient | None = None
    relisting: Relisting = msgspec.field(default_factory=Relisting)
    problems: dict[OfferKind, Problem] = msgspec.field(default_factory=dict)
    state: tuple[ServerState | None, float] = (None, -math.inf)
    has_failed: bool = False
    is_noted: bool = False
    expiry: Deadline | None = None
    is_expired: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether everything was listed at least once."""
        return all(each.items is not None for each in self.lists.values())


class ServerLists(Generic[Item]):
    """The lists of some kinds of all servers. Belongs to the engine's loop."""

    def __init__(
        self,
        kinds: Sequence[OfferKind],
        *,
        read: Read[Item],
        servers: ServerManager,
        catalogues: CatalogueStore,
        services: UpstreamServices,
        first: FirstListings,
        empty_confirmed_after_s: float = EMPTY_CONFIRMED_AFTER_S,
    ) -> None:
        """
        Args:
            kinds: the kinds of lists, requested one after the other in this order.
            read: see Read.
            first: how long AI clients wait for servers that were never listed; the same for all lists of a hub.
            empty_confirmed_after_s: a sudden empty list is believed if it is still empty after this time.
        """
        self._kinds, self._read = kinds, read
        self._servers, self._catalogues = servers, catalogues
        self._bus, self._deadlines, self._spawn = services.bus, services.deadlines, services.spawn
        self._first, self._empty_confirmed_after_s = first, empty_confirmed_after_s
        self._progress = asyncio.Event()  # set, and replaced, whenever a wait for first lists may be over
        self._known: dict[str, _Known[Item]] = {}
        self._prepare: Callable[[ManagedServer, tuple[Item, ...]], None] | None = None
        self._on_changed: Callable[[ManagedServer], None]  # this and the next two after `load`
        self._on_forgotten: Callable[[str], None]
        self._on_other_copy_changed: Callable[[str, Sequence[OfferKind]], None]

    async def load(
        self,
        *,
        on_changed: Callable[[ManagedServer], None],
        on_forgotten: Callable[[str], None],
        on_other_copy_changed: Callable[[str, Sequence[OfferKind]], None],
        prepare: Callable[[ManagedServer, tuple[Item, ...]], None] | None = None,
    ) -> None:
        """Loads the last known lists of every server from the disk, so that the first list is complete at once, and watches the servers.

        Args:
            on_changed: called with a server whenever its offered lists, or its settings for them, may have changed.
            on_forgotten: called with the name of a server that was removed.
            on_other_copy_changed: called with a server's name and kinds when its instance for another era announces changed lists. They are
                not kept here, but clients that have only this server get them.
            prepare: called in a thread with a server and its new list, before `on_changed`, if the list is long.
        """
        self._on_changed, self._on_forgotten, self._on_other_copy_changed = on_changed, on_forgotten, on_other_copy_changed
        self._prepare = prepare
        for server in self._servers:
            known = self._known_of(server)
            for kind in self._kinds:
                known.lists[kind] = await self._load_list(server, kind)
            if known.is_complete:
                known.listed.set()
            else:
                noted = await asyncio.to_thread(self._catalogues.load, server.name, server.config_hash, kind=IN_VAIN)
                known.has_failed = known.is_noted = noted is not None
            self._on_changed(server)
        self._bus.subscribe(ServerStateChanged, self._on_server_changed)
        self._bus.subscribe(ServerNotified, self._on_server_notified)
        self._bus.subscribe(ServersConfigured, self._on_servers_configured)

    # known lists
    def known(self, server: str, kind: OfferKind) -> tuple[Item, ...]:
        """Returns the last list of a server, whether it is offered or not; empty if the server was never listed."""
        return (known.lists[kind].items if (known := self._known.get(server)) else None) or ()

    def offered(self, server: ManagedServer, kind: OfferKind) -> tuple[Item, ...]:
        """Returns the known list if AI clients may see it: empty for a server that is stopped, disabled, or in error for long."""
        return self.known(server.name, kind) if self.is_offering(server) else ()

    def is_declared(self, server: ManagedServer, kind: OfferKind) -> bool:
        """Reports whether a server has such a list and may be asked for its contents."""
        return self.is_offering(server) and self._known_of(server).lists[kind].is_declared

    def is_up_to_date(self, server: ManagedServer) -> bool:
        """Reports whether everything was listed under the server's present settings."""
        return all(each.config_hash == server.config_hash for each in self._known_of(server).lists.values())

    def is_complete(self, server: str) -> bool:
        """Reports whether all lists of a server are known; they may be old."""
        known = self._known.get(server)
        return known is not None and known.is_complete

    def problem(self, server: str) -> Problem | None:
        """Returns why not everything that a server lists is offered."""
        return next(iter(known.problems.values()), None) if (known := self._known.get(server)) else None

    def flaws(self, server: str) -> tuple[str, ...]:
        """Returns which of a server's definitions are mended for AI clients or left out, and why, one sentence each."""
        return tuple(remark for each in known.lists.values() for remark in each.remarks) if (known := self._known.get(server)) else ()

    def flaw_counts(self, server: str) -> Counter[str]:
        """Returns how many definitions of a server are mended or left out, by the code of their flaw."""
        lists = known.lists.values() if (known := self._known.get(server)) else ()
        counts = Counter(item.flaw for each in lists for item in each.items or () if item.flaw)
        counts[LEFT_OUT] += sum(len(each.came_from[1]) - len(each.items or ()) for each in lists if each.came_from)
        return +counts

    def listed(self, server: ManagedServer) -> asyncio.Event:
        """Returns an event that is set while no client need wait for a server's lists: they were read once, or cannot be."""
        return self._known_of(server).listed

    async def wait_for_first_listings(
        self, is_wanted: Callable[[str], bool] = lambda server: True, *, is_enough: Callable[[], bool] = lambda: True
    ) -> None:
        """Waits a bounded time for servers that are on their way and were never listed.

        Args:
            is_wanted: whether the lists of a server are waited for, by its name.
            is_enough: whether the answer already has content; if not, the wait may be longer.
        """
        now = asyncio.get_running_loop().time
        while (until := self._awaited_until(is_wanted, is_enough())) > now():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._progress.wait()
        for server in self._servers:
            if self._is_awaited(server) and is_wanted(server.name):
                self._note_in_vain(server)

    async def wait_until_listed(self, server: ManagedServer) -> None:
        """Waits a bounded time for the lists of a running server, for a user who has started it and wants to see the outcome."""
        if server.state is ServerState.RUNNING:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LISTED_WITHIN_S):
                    await self.listed(server).wait()

    async def look(self, server: ManagedServer, kinds: Iterable[OfferKind] | None = None, *, max_age_s: float = 0.0) -> None:
        """Waits until the known lists of a server are the present lists of its first instance. A server that does not run is not asked.

        Args:
            kinds: which lists; None: all.
            max_age_s: a list that was requested from the instance more recently than this is used.
        """
        known, now, wanted = self._known_of(server), asyncio.get_running_loop().time(), tuple(kinds or self._kinds)
        due = [kind for kind in wanted if known.relisting.asked_at(kind) <= now - max_age_s]
        if due and server.client:
            self._refresh_soon(server, due)
        needed = {kind: now if kind in known.due else known.relisting.needed_from(kind, now - max_age_s) for kind in wanted}
        while known.refreshing and not all(known.relisting.is_known_from(kind, at) for kind, at in needed.items()):
            await self._progress.wait()

    def _awaited_until(self, is_wanted: Callable[[str], bool], is_enough: bool) -> float:
        awaited = (server for server in self._servers if self._is_awaited(server) and is_wanted(server.name))
        ends = (self._first.until(each, silent_since=self._known_of(each).state[1], is_enough=is_enough) for each in awaited)
        return max(ends, default=-math.inf)

    def _is_awaited(self, server: ManagedServer) -> bool:
        is_coming = server.status.is_busy or server.state is ServerState.RUNNING
        known = self._known_of(server)
        return is_coming and not known.has_failed and not known.is_complete and not known.listed.is_set()

    def awaited(self) -> list[str]:
        """Returns the names of servers that are starting or running and were never listed."""
        return [server.name for server in self._servers if self._is_awaited(server)]

    def is_expected(self, server: ManagedServer) -> bool:
        """Reports whether a server that was never listed is on its way, and not silent for longer than usual."""
        return self._is_awaited(server) and not self._first.is_silent(server, self._known_of(server).state[1])

    def age_s(self, server: ManagedServer, kind: OfferKind) -> float:
        """Returns how many seconds ago a server was last asked for a list."""
        return asyncio.get_running_loop().time() - self._known_of(server).relisting.asked_at(kind)

    def _note_in_vain(self, server: ManagedServer) -> None:
        """Records for the next hub that it need not wait for the server, which was started but has listed nothing so far."""
        if not (known := self._known_of(server)).is_noted:
            known.is_noted = True
            save = finish_in_thread(partial(self._catalogues.save, server.name, server.config_hash, (), kind=IN_VAIN))
            self._spawn(save, name=f"record the wait for '{server.name}'")

    def _has_progressed(self) -> None:
        self._progress.set()
        self._progress = asyncio.Event()

    def is_offering(self, server: ManagedServer) -> bool:
        """Reports whether AI clients may see a server's lists."""
        return not (server.config.disable or server.state is ServerState.STOPPED or self._known_of(server).is_expired)

    def _known_of(self, server: ManagedServer) -> _Known[Item]:
        if known := self._known.get(server.name):
            return known
        return self._known.setdefault(server.name, _Known(server, {kind: _List() for kind in self._kinds}))

    async def _load_list(self, server: ManagedServer, kind: OfferKind) -> _List[Item]:
        catalogue = await asyncio.to_thread(self._catalogues.load, server.name, server.config_hash, kind=kind.name)
        if catalogue is None or is_too_long(catalogue.definitions):
            return _List()
        items, remarks = await self._read_list(kind, catalogue.definitions, server, None)
        return _List(items, catalogue.is_declared, server.config_hash, remarks=remarks)

    def list_unknown_servers(self, *, beside: Callable[[ManagedServer], asyncio.Event]) -> None:
        """Starts every server that was never listed, to list it once; does not wait.

        Args:
            beside: gives the `listed` event of another reader: the server runs until both have their lists, and then sleeps again.
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

    # changes of servers and settings
    def _on_server_changed(self, event: ServerStateChanged) -> None:
        server = event.server
        if self._servers.find(server.name) is None:
            return
        known = self._known_of(server)
        if known.of is not server:  # its settings have changed: the old list is offered until the new server lists
            known.of, known.has_failed, known.is_noted = server, False, False
            known.problems.clear()
            known.listed.clear()
        if known.state[0] is not server.state:
            if known.state[0] is ServerState.ERROR:  # it had failed and was started again: the cause may be fixed
                known.has_failed = False
            known.state = server.state, asyncio.get_running_loop().time()
        if server.state in FAILING and server.problem and not known.is_complete:
            known.has_failed = True
            self._note_in_vain(server)
        self._watch_error(server, known)
        if server.state is ServerState.RUNNING:
            if known.asked is not server.client:
                known.asked, known.relisting = server.client, Relisting()
                self._refresh_soon(server, self._kinds)
        elif server.state in (ServerState.ERROR, ServerState.STOPPED, ServerState.NEEDS_SIGN_IN):
            known.listed.set()  # no client has to wait for it
        elif not known.is_complete:
            known.listed.clear()
        self._has_progressed()
        self._on_changed(server)

    def _watch_error(self, server: ManagedServer, known: _Known[Item]) -> None:
        if server.state is ServerState.ERROR and not server.config.deferred_startup:  # the next call starts such a server again
            known.expiry = known.expiry or self._deadlines.add(ERROR_LISTED_FOR_S, partial(self._on_error_is_old, known))
        elif known.expiry:
            known.expiry.cancel()
            known.expiry, known.is_expired = None, False

    def _on_error_is_old(self, known: _Known[Item]) -> None:
        known.is_expired = True
        self._on_changed(known.of)

    def rename(self, before: str, after: str) -> None:
        """Hands the known lists of a server over to its new name; its next instance lists again, as after any change of its entry."""
        if known := self._known.pop(before, None):
            self._known[after] = known
            self._on_forgotten(before)

    def _on_servers_configured(self, event: ServersConfigured) -> None:
        for name in [name for name in self._known if self._servers.find(name) is None]:
            self._forget(name, self._known.pop(name))

    def _forget(self, name: str, known: _Known[Item]) -> None:
        known.listed.set()  # ends all waits for it
        self._has_progressed()
        if known.expiry:
            known.expiry.cancel()
        self._spawn(self._forget_on_disk(name, known), name=f"drop the lists of '{name}'")
        self._on_forgotten(name)

    async def _forget_on_disk(self, name: str, known: _Known[Item]) -> None:
        """Deletes the saved lists, after a save that is still running."""
        if known.refreshing:
            await asyncio.wait({known.refreshing})
        await finish_in_thread(self._catalogues.forget, name)

    def _on_server_notified(self, event: ServerNotified) -> None:
        client = event.client
        if (kinds := [kind for kind in self._kinds if kind.changed == event.method]) and (server := self._servers.find(client.name)):
            self._known_of(server).relisting.announce(kinds)
            self._refresh_soon(server, kinds)
            if client.owner is None and client is not server.client:
                self._on_other_copy_changed(server.name, kinds)

    # listing servers

    def _refresh_soon(self, server: ManagedServer, kinds: Iterable[OfferKind]) -> None:
        known = self._known_of(server)
        known.due.update(kinds)
        if known.refreshing is None:
            known.refreshing = self._spawn(self._refresh(known), name=f"list '{server.name}'")

    async def _refresh(self, known: _Known[Item]) -> None:
        try:
            while known.due and (client := known.of.client):
                kind = next(kind for kind in self._kinds if kind in known.due)
                known.due.discard(kind)
                await self._list(known.of, client, known, kind)
                if known.relisting.was_announced(kind):
                    await asyncio.sleep(known.relisting.pause_s(asyncio.get_running_loop().time()))
        finally:
            known.refreshing = None
            self._has_progressed()

    async def _list(self, server: ManagedServer, client: McpClient, known: _Known[Item], kind: OfferKind) -> None:
        is_declared = kind.is_always_asked or kind.declared(client.greeting.capabilities) is not None
        relisting, is_overtaken = known.relisting, False
        relisting.begin(kind, asyncio.get_running_loop().time())
        try:
            raws = await self._list_believed(client, known.lists[kind], kind) if is_declared else []
            before = known.lists[kind]
            is_news = (before.came_from, before.config_hash) != ((client, raws), server.config_hash) or kind in known.problems
            found = await self._read_list(kind, raws, server, client) if is_news else None
            is_overtaken = relisting.is_overtaken(kind, is_due=kind in known.due)
            if found and not is_overtaken and self._servers.find(server.name) is server:  # reading may have taken a while
                items, remarks = found
                for remark in remarks:
                    logger.info("'%s': %s", server.name, remark)
                await self._take_over(server, known, kind, _List(items, is_declared, server.config_hash, (client, raws), remarks))
        except TooLong as error:
            self._refuse(server, known, kind, error)
        except TooltrayError as error:
            logger.info("the %s of '%s' could not be listed: %s", kind.name, server.name, error)
        finally:
            is_latest = known.of is server and server.client is client and not known.due
            if is_latest:  # else the next server, the next instance, or the next turn is waited for
                known.listed.set()
            relisting.end(kind, is_overtaken=is_overtaken)
            self._has_progressed()

    async def _read_list(
        self, kind: OfferKind, raws: Sequence[Raw], server: ManagedServer, client: McpClient | None
    ) -> tuple[tuple[Item, ...], Sequence[str]]:
        """Reads a list; a long one is read in a thread, beside the event loop."""
        if len(raws) <= READ_AT_ONCE:
            return self._read(kind, raws, server, client)
        items, remarks = await finish_in_thread(self._read, kind, raws, server, client)
        if self._prepare:
            await finish_in_thread(self._prepare, server, items)
        freeze_if_large(len(items))
        return items, remarks

    def _refuse(self, server: ManagedServer, known: _Known[Item], kind: OfferKind, error: TooLong) -> None:
        """Reports a list that is too long. What the server listed before stays, and so do its other lists."""
        title = Phrase("'{name}' lists too much: {reason}", name=server.name, reason=error.problem.title)
        hint = Phrase("The tools it listed before are still offered. Its own options may limit what it lists.")
        problem = Problem(title, error.problem.message, hint)
        if known.problems.get(kind) != problem:
            known.problems[kind] = problem
            self._bus.publish(ProblemReported(problem, server.name))
            self._servers.publish_changed(server.name)

    async def _list_believed(self, client: McpClient, before: _List[Item], kind: OfferKind) -> list[Raw]:
        raws = await list_all(client, kind.method, kind.member)
        if raws or not before.items:
            return raws
        await asyncio.sleep(self._empty_confirmed_after_s)
        return await list_all(client, kind.method, kind.member)

    async def _take_over(self, server: ManagedServer, known: _Known[Item], kind: OfferKind, new: _List[Item]) -> None:
        before, known.lists[kind] = known.lists[kind], new
        is_saved = new.is_same(before)
        self._on_changed(server)
        if known.problems.pop(kind, None) or [*new.remarks] != [*before.remarks]:  # the server's card shows the error
            self._servers.publish_changed(server.name)
        if not known.due:
            known.listed.set()  # no client need wait for the disk
        self._has_progressed()
        if not is_saved:
            save = partial(self._catalogues.save, kind=kind.name, is_declared=new.is_declared)
            await finish_in_thread(save, server.name, server.config_hash, new.definitions)
