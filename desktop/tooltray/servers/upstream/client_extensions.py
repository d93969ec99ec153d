"""Which extensions and experimental capabilities the AI clients of this machine have declared, kept over restarts of Tooltray.

A connection to a server that all clients share is opened before most clients connect, so it can declare their extensions only if they were
kept. The event never leaves the process.

A legacy server gets the declaration once, when its connection is opened, so that connection is opened again as soon as it is idle: without
a call, a question or a subscription. A server that is a process of ours would lose its state: it is started again only if it was not used
since its start, else it gets the extension at its next start. A modern server gets the declaration in each request; only its lists are read
again.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tooltray.foundation.events import Event, EventBus
from tooltray.foundation.files.atomic_file import read_own, set_aside, write_atomically
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.protocol import declarations
from tooltray.protocol.deadlines import Deadline
from tooltray.protocol.declarations import BEYOND, JOINED_BYTES, MOST_NAMES, Declarations
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.eras import Era
from tooltray.servers.transports.transport_table import is_remote
from tooltray.servers.upstream.instance import Instance
from tooltray.servers.upstream.managed_server import InstanceOpened, ManagedServer, ServerNotified
from tooltray.servers.upstream.mcp_client import McpClient
from tooltray.servers.upstream.server_manager import ServerManager
from tooltray.servers.upstream.upstream_services import UpstreamServices

logger = logging.getLogger(__name__)
KEPT_FOR_S = 30 * 86400.0  # a client not seen for so long was removed, or no longer uses the extension
SEEN_AGAIN_AFTER_S = 86400.0  # the file has the day on which it was last seen, and is not written for each session
LARGEST_SETTINGS_BYTES = 4096  # of one extension, joined over clients
LARGEST_FILE_BYTES = 2 * MOST_NAMES * (LARGEST_SETTINGS_BYTES + 64)  # of both kinds, with when each was seen


class _Kept(msgspec.Struct):
    settings: dict[str, object]
    seen_at: float


class ExtensionsDeclared(Event, frozen=True):
    """An AI client has declared an extension that none had declared before."""


class ClientExtensions:
    """The declared extensions. Made in any thread; afterwards it belongs to the engine's loop.

    A full list takes no new extension and drops none: otherwise two clients could make each other's extensions new for ever.
    """

    def __init__(self, path: Path, *, bus: EventBus, spawn: Spawn, clock: Callable[[], float] = time.time) -> None:
        """Reads the file. A file that cannot be used is set aside; then every extension counts as new once.

        Args:
            clock: unix seconds.
        """
        self._path, self._bus, self._spawn, self._clock = path, bus, spawn, clock
        self._kept: dict[str, dict[str, _Kept]] = {}
        self._noted: Declarations = {}
        self._noted_at = 0.0
        self._saving = asyncio.Lock()
        try:
            self._kept = msgspec.json.decode(read_own(path, LARGEST_FILE_BYTES), type=dict[str, dict[str, _Kept]])
        except FileNotFoundError:
            pass
        except (ValueError, RecursionError):
            logger.info("the extensions of AI clients cannot be read; the file is now %s", set_aside(path))
        except OSError as error:
            logger.info("the extensions of AI clients cannot be read: %s", error)

    def declared(self) -> Declarations:
        """Returns what AI clients have declared recently, for a server that they share."""
        of_late = {member: self._of_late(member) for member in BEYOND}
        found = {member: {name: each.settings for name, each in kept.items()} for member, kept in of_late.items() if kept}
        return declarations.bounded(found, JOINED_BYTES)

    def note(self, declared: Declarations) -> None:
        """Records what a session declares. A client without a lasting session declares the same with each request."""
        if declared == self._noted and self._clock() - self._noted_at < SEEN_AGAIN_AFTER_S:
            return
        self._noted, self._noted_at = declared, self._clock()
        before, is_to_be_saved = declarations.names(self.declared()), False
        for member, named in declared.items():
            for name, settings in named.items():
                is_to_be_saved |= self._keep(member, name, settings)
        if is_to_be_saved:
            self._spawn(self._save(), name="save the extensions of AI clients")
        if declarations.names(self.declared()) - before:
            self._bus.publish(ExtensionsDeclared())

    def _keep(self, member: str, name: str, settings: object) -> bool:
        """Returns whether the change must be saved."""
        now, kept = self._clock(), self._of_late(member)
        before = kept.get(name)
        if before is None and len(kept) >= MOST_NAMES:
            return False
        known = {member: {name: before.settings}} if before else {}
        together = declarations.joined([known, {member: {name: settings}}])
        usable = declarations.bounded(together, LARGEST_SETTINGS_BYTES).get(member, {}).get(name)
        if not isinstance(usable, dict) or not (before is None or before.settings != usable or now - before.seen_at >= SEEN_AGAIN_AFTER_S):
            return False
        self._kept[member] = {**kept, name: _Kept(usable, now)}
        return True

    def _of_late(self, member: str) -> dict[str, _Kept]:
        now = self._clock()
        return {name: each for name, each in self._kept.get(member, {}).items() if 0 <= now - each.seen_at < KEPT_FOR_S}

    async def _save(self) -> None:
        """Writes the extensions as they are now; under the lock the later of two saves writes last. A failure makes them new again after a
        restart.
        """
        async with self._saving:
            try:
                await finish_in_thread(write_atomically, self._path, msgspec.json.encode(self._kept))
            except OSError as error:
                logger.info("the extensions of AI clients could not be saved: %s", error)


RETRIED_AFTER_S = 5.0  # a connection in use; most calls take less
LISTS = ("tools", "prompts", "resources")


class SharedConnections:
    """The connections that are brought up to date. Belongs to the engine's loop."""

    def __init__(self, *, servers: ServerManager, client_extensions: ClientExtensions, services: UpstreamServices) -> None:
        self._servers, self._client_extensions, self._is_wanted = servers, client_extensions, services.is_wanted
        self._deadlines, self._bus = services.deadlines, services.bus
        self._again: Deadline | None = None
        services.bus.subscribe(ExtensionsDeclared, self._on_declared)
        services.bus.subscribe(InstanceOpened, self._on_instance_opened)

    def _on_declared(self, event: ExtensionsDeclared) -> None:
        for client in [client for _, _, client in self._shared() if client.era is Era.MODERN]:
            for kind in LISTS:
                if kind in client.greeting.capabilities:
                    self._bus.publish(ServerNotified(client, f"notifications/{kind}/list_changed", NOTHING))
        self._reopen_idle()

    def _on_instance_opened(self, event: InstanceOpened) -> None:
        """Checks for extensions that were declared while the connection was being opened."""
        if self._lacks(event.client):
            self._reopen_later()

    def _reopen_idle(self) -> None:
        self._again = None
        for server, instance, client in self._shared():
            if not self._lacks(client) or not _may_end(server):
                continue
            if instance.usage.is_needed or self._is_wanted(client):
                self._reopen_later()
            else:
                instance.reopen(Phrase("An AI client knows more of the protocol than before; opens a new connection"))

    def _reopen_later(self) -> None:
        self._again = self._again or self._deadlines.add(RETRIED_AFTER_S, self._reopen_idle)

    def _shared(self) -> list[tuple[ManagedServer, Instance, McpClient]]:
        return [
            (server, instance, client)
            for server in self._servers
            for instance in server.instances
            if not server.is_builtin and instance.owner is None and (client := instance.client)
        ]

    def _lacks(self, client: McpClient) -> bool:
        """Reports whether a connection was opened without an extension that AI clients declare, so that it must be opened again."""
        return client.era is Era.LEGACY and not declarations.names(self._client_extensions.declared()) <= client.declared_extensions


def _may_end(server: ManagedServer) -> bool:
    """Reports whether nothing is lost with the server's connections."""
    return is_remote(server.config.transport) or not server.is_used
