"""Servers that the user has stopped: each stays stopped until the user starts it, whatever else happens meanwhile: a resume after a pause,
a restart of Tooltray, another entry under the same name, a call by an AI client.

They are kept in `stopped.json` in the home, which is state of this computer's Tooltray and not a setting: it is in no export, and an editor
of the settings does not see it. A start by the user is any of: the verbs that start or restart a server, also for a project, a sign-in to
it, a remedy for it, and the removal of `disable` from its entry. The command line uses this, too, when Tooltray does not run.
"""

import json
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import msgspec

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.atomic_file import read_own, set_aside, write_atomically
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import Spawn, finish_in_thread
from tooltray.servers.upstream.managed_server import ManagedServer

LARGEST_BYTES = 2**20  # as many servers as are kept, each with the longest name and path
MOST_KEPT = 1000  # otherwise servers of abandoned projects would stay for ever; the oldest go
logger = logging.getLogger(__name__)
MOST_REMOVED = 100  # servers whose removal may still be undone


class _Stopped(msgspec.Struct):
    """
    Attributes:
        file: the file with the server's entry; empty: the settings.
        at: unix seconds; 0: unknown.
    """

    name: str
    file: str = ""
    at: float = 0.0


class _File(msgspec.Struct):
    servers: list[_Stopped] = []


class StoppedServers:
    """The stopped servers of one home. `save` blocks on the disk and may be called from any thread; all else belongs to one thread.

    A server is known by its name and the file of its entry: a project's server is still stopped when a client works there again.

    Attributes:
        problem: the problem with the file; None if it could be read or does not exist.
    """

    def __init__(self, path: Path) -> None:
        """Reads the file. A file that cannot be used is set aside: then no server counts as stopped."""
        self._path, self._writing = path, threading.Lock()
        self._since: dict[tuple[str, str], float] = {}  # by name and file, the oldest first
        self.problem: Problem | None = None
        try:
            read = msgspec.convert(json.loads(read_own(path, LARGEST_BYTES)), type=_File)
        except FileNotFoundError:
            return
        except (ValueError, RecursionError):
            message: str = Phrase("what was in {name} is now in {path}", name=path.name, path=set_aside(path))
            self.problem = Problem(
                Phrase("which servers you stopped cannot be read, so they start again"), message, Phrase("Stop them once more.")
            )
        except OSError as error:
            message = f"{path}: {error.strerror or error}"
            self.problem = Problem(
                Phrase("which servers you stopped cannot be read, so they start again"), message, Phrase("Make it readable.")
            )
        else:
            self._since = {(each.name, each.file): each.at for each in read.servers if not each.file or Path(each.file).exists()}

    def since(self, name: str, file: str = "") -> float | None:
        """Returns when the user stopped a server, in unix seconds (0: unknown); None for a server that was not stopped.

        Args:
            file: the file with its entry; empty: the settings.
        """
        return self._since.get((name, file))

    def of_settings(self) -> list[str]:
        """Returns the names of stopped servers whose entry is in the settings."""
        return [name for name, file in self._since if not file]

    def add(self, name: str, file: str = "", *, at: float) -> None:
        """Records that the user stops a server. `at`: unix seconds."""
        self._since[name, file] = at
        if len(self._since) > MOST_KEPT:
            del self._since[next(iter(self._since))]

    def discard(self, name: str, file: str = "") -> bool:
        """Drops a server that the user starts, or whose entry is gone; returns whether this is a change, which must be saved."""
        return self._since.pop((name, file), None) is not None

    def save(self) -> None:
        """Writes the present stops.

        Raises:
            TooltrayError: the file cannot be written; the stops count nevertheless until Tooltray ends.
        """
        with self._writing:  # the last caller writes the latest state
            kept = _File([_Stopped(name, file, at) for (name, file), at in list(self._since.items())])
            try:
                write_atomically(self._path, json.dumps(msgspec.to_builtins(kept), indent=2).encode())
            except OSError as error:
                title = Phrase("which servers are stopped cannot be saved")
                message, hint = f"{self._path}: {error.strerror or error}", "It applies until Tooltray ends."
                raise TooltrayError(title, message, hint) from None


class Stops:
    """The stops of one running Tooltray. Belongs to the engine's loop."""

    def __init__(self, store: StoppedServers, *, config: McpConfHelper, spawn: Spawn, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: unix seconds, for when the user stopped a server.
        """
        self._store, self._config, self._spawn, self._clock = store, config, spawn, clock
        self._removed: dict[str, tuple[str, float]] = {}  # stopped servers that are gone: the hash of the entry, and when they were stopped

    @property
    def problems(self) -> Iterator[Problem]:
        """The problem with the saved stops, if any."""
        if problem := self._store.problem:
            yield problem

    def load(self, settings: set[str]) -> None:
        """Drops servers whose entry has gone since. `settings`: the names in the settings, and the names of built-in servers."""
        gone = [name for name in self._store.of_settings() if name not in settings]
        if gone and not self._config.file_problems:  # if some settings cannot be used, it is unknown which servers are gone
            for name in gone:
                self._store.discard(name)
            self._save_soon()

    def since(self, name: str) -> float | None:
        """Returns when the user stopped a server, in unix seconds; None for a server that may start."""
        return self._store.since(name, self._file(name))

    async def add(self, server: ManagedServer) -> None:
        """Records that the user stops a server. The stop is on the disk when this returns, so it survives a kill of Tooltray right after.

        Raises:
            TooltrayError: the file cannot be written; the stop counts until Tooltray ends.
        """
        self._store.add(server.name, self._file(server.name), at=self._clock())
        await finish_in_thread(self._store.save)

    async def discard(self, server: ManagedServer) -> None:
        """Drops the stop of a server that the user starts. A full disk does not prevent the start."""
        if self._store.discard(server.name, self._file(server.name)):
            await self._save()

    # changes of the settings

    def rename(self, before: str, after: str) -> Awaitable[None]:
        """Gives the stop of a server to its new name; the rest, which is returned, saves it."""
        if (since := self._store.since(before)) is not None:
            self._store.discard(before)
            self._store.add(after, at=since)
        return finish_in_thread(self._store.save)

    def on_removed(self, server: ManagedServer) -> None:
        """Notes that a server's entry is gone, perhaps to come back. A server of a project's file leaves and comes back with that file."""
        since = None if server.file else self._store.since(server.name)
        if since is None:
            return
        self._removed[server.name] = server.config_hash, since
        if len(self._removed) > MOST_REMOVED:
            del self._removed[next(iter(self._removed))]
        self._store.discard(server.name)
        self._save_soon()

    def on_added(self, name: str, config_hash: str) -> None:
        """Restores the stop of a removed server whose entry comes back unchanged; a server with another entry is new, and not stopped."""
        known_hash, since = self._removed.pop(name, ("", 0.0))
        if self._file(name):
            return
        if known_hash == config_hash:
            self._store.add(name, at=since)
        elif not self._store.discard(name):
            return
        self._save_soon()

    def on_changed(self, server: ManagedServer, config: MCPServerConfig) -> None:
        """Drops the stop of a server whose `disable` the user takes out of the entry: that is a wish to run it."""
        if server.config.disable and not config.disable and self._store.discard(server.name, self._file(server.name)):
            self._save_soon()

    def _file(self, name: str) -> str:
        """Returns the file with the entry of a server; empty: the settings."""
        file = self._config.file_server(name)
        return file.file if file else ""

    def _save_soon(self) -> None:
        self._spawn(self._save(), name="save stopped servers")

    async def _save(self) -> None:
        try:
            await finish_in_thread(self._store.save)
        except TooltrayError as error:
            logger.warning("%s", error)
