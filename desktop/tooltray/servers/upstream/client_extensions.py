"""Which extensions and experimental capabilities the AI clients of this machine have declared, kept over restarts of Tooltray.

A connection to a server that all clients share is opened before most clients connect, so it can declare their extensions only if they were
kept. The event never leaves the process.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tooltray.foundation.events import Event, EventBus
from tooltray.foundation.files.atomic_file import read_own, set_aside, write_atomically
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.protocol import declarations
from tooltray.protocol.declarations import BEYOND, JOINED_BYTES, MOST_NAMES, Declarations

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
        """Returns whether the change is to be saved."""
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
