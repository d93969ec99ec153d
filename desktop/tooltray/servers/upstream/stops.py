"""Servers that a person has stopped: each stays so until a person starts it, whatever else begins or comes anew meanwhile.

Above it: ServerManager, which starts none of them until a person does, and the command line where no hub runs. Below it: `stopped.json` in
the home, which is state of this computer's hub and no setting: it stands in no export, and whoever edits the settings does not see it. What
counts as a person's start: the verbs that start or restart a server, also for a project, a sign-in to it, a remedy for it, and `disable`
taken out of its entry. Another entry under the same name is the same server, and stays stopped. So it does at a resume after a pause, in a
new hub, and when an AI client calls it.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
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
MOST_KEPT = 1000  # servers of projects that nobody works on any more would else stay for ever; the oldest go
logger = logging.getLogger(__name__)
MOST_REMOVED = 100  # whose removal may still be undone


class _Stopped(msgspec.Struct):
    """
    Attributes:
        file: in which the server's entry stands; empty: in the settings.
        at: unix seconds; 0: nobody knows.
    """

    name: str
    file: str = ""
    at: float = 0.0


class _File(msgspec.Struct):
    servers: list[_Stopped] = []


class StoppedServers:
    """Those of one home. `save` blocks on the disk and may be called from any thread; all else belongs to one thread.

    A server is known by its name and the file of its entry: one of a project is still stopped when somebody works there again.

    Attributes:
        problem: what is wrong with the file; None if nothing is.
    """

    def __init__(self, path: Path) -> None:
        """Reads the file. One that cannot be used is set aside: then no server counts as stopped."""
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
        """When a person stopped a server, in unix seconds (0: nobody knows); None for one that nobody stopped.

        Args:
            file: in which its entry stands; empty: in the settings.
        """
        return self._since.get((name, file))

    def of_settings(self) -> list[str]:
        """The names of those whose entry stands in the settings."""
        return [name for name, file in self._since if not file]

    def add(self, name: str, file: str = "", *, at: float) -> None:
        """A person stops a server. `at`: unix seconds."""
        self._since[name, file] = at
        if len(self._since) > MOST_KEPT:
            del self._since[next(iter(self._since))]

    def discard(self, name: str, file: str = "") -> bool:
        """A person starts it, or its entry is gone; returns whether that is news, to be saved."""
        return self._since.pop((name, file), None) is not None

    def save(self) -> None:
        """Writes what counts at this moment.

        Raises:
            TooltrayError: the file cannot be written; until the hub ends, what was asked for counts all the same.
        """
        with self._writing:  # who comes last writes the latest
            kept = _File([_Stopped(name, file, at) for (name, file), at in list(self._since.items())])
            try:
                write_atomically(self._path, json.dumps(msgspec.to_builtins(kept), indent=2).encode())
            except OSError as error:
                title = Phrase("which servers are stopped cannot be saved")
                message, hint = f"{self._path}: {error.strerror or error}", "It counts until Tooltray ends."
                raise TooltrayError(title, message, hint) from None


class Stops:
    """Belongs to the engine's loop."""

    def __init__(self, store: StoppedServers, *, config: McpConfHelper, spawn: Spawn, clock: Callable[[], float] = time.time) -> None:
        """
        Args:
            clock: unix seconds, for when somebody stopped a server.
        """
        self._store, self._config, self._spawn, self._clock = store, config, spawn, clock
        self._removed: dict[str, tuple[str, float]] = {}  # stopped ones that are gone: the hash of the entry, and since when

    @property
    def problems(self) -> Iterator[Problem]:
        """What was wrong with what was kept."""
        if problem := self._store.problem:
            yield problem

    def load(self, settings: set[str]) -> None:
        """Forgets those whose entry is gone since. `settings`: the names that stand there, with what comes with Tooltray."""
        gone = [name for name in self._store.of_settings() if name not in settings]
        if gone and not self._config.file_problems:  # of settings that cannot all be used nobody knows what is gone
            for name in gone:
                self._store.discard(name)
            self._save_soon()

    def since(self, name: str) -> float | None:
        """When a person stopped a server, in unix seconds; None for one that may start."""
        return self._store.since(name, self._file(name))

    async def add(self, server: ManagedServer) -> None:
        """A person stops it. It is on the disk when this returns: who is killed right after has remembered it.

        Raises:
            TooltrayError: the file cannot be written; it counts until the hub ends.
        """
        self._store.add(server.name, self._file(server.name), at=self._clock())
        await finish_in_thread(self._store.save)

    async def discard(self, server: ManagedServer) -> None:
        """A person starts it. A full disk does not keep it from that."""
        if self._store.discard(server.name, self._file(server.name)):
            await self._save()

    # what the settings do

    def on_removed(self, server: ManagedServer) -> None:
        """Its entry is gone, perhaps to come back. What leaves with a project's file is that project's, and comes back with it."""
        since = None if server.file else self._store.since(server.name)
        if since is None:
            return
        self._removed[server.name] = server.config_hash, since
        if len(self._removed) > MOST_REMOVED:
            del self._removed[next(iter(self._removed))]
        self._store.discard(server.name)
        self._save_soon()

    def on_added(self, name: str, config_hash: str) -> None:
        """A server is there that was not: the one that was removed, if its entry is the same; else a new one, which nobody stopped."""
        known_hash, since = self._removed.pop(name, ("", 0.0))
        if self._file(name):
            return
        if known_hash == config_hash:
            self._store.add(name, at=since)
        elif not self._store.discard(name):
            return
        self._save_soon()

    def on_changed(self, server: ManagedServer, config: MCPServerConfig) -> None:
        """Who takes `disable` out of an entry wants it to run."""
        if server.config.disable and not config.disable and self._store.discard(server.name, self._file(server.name)):
            self._save_soon()

    def _file(self, name: str) -> str:
        """In which the entry of a server stands; empty: in the settings."""
        file = self._config.file_server(name)
        return file.file if file else ""

    def _save_soon(self) -> None:
        self._spawn(self._save(), name="save stopped servers")

    async def _save(self) -> None:
        try:
            await finish_in_thread(self._store.save)
        except TooltrayError as error:
            logger.warning("%s", error)
