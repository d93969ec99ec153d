"""One file with servers that is in use: a project's `.mcp.json`, or a config that the hub was started with; and the watch over all of them
and settings.json, which reads those that change.

With `hotReload` off nothing is watched, but files that come into use are still read.
"""

import asyncio
import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from tooltray.config.settings.file_server import FILE_NAME, PROJECT_FOLDER, FileEntry, FileReading, FileServer, Kind
from tooltray.config.settings.given_entries import BUILTIN_NAMES
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import Denied, Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, Event, EventBus
from tooltray.foundation.files.watcher import FileWatcher
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.setup import FileEntrySnapshot, FileProblem, ServerFileSnapshot
from tooltray.foundation.tasks import Spawn
from tooltray.servers.upstream.project_folder import is_inside, shown
from tooltray.sources.project_files.trust import Trust, server_name

MOST_ENTRIES = 200  # of a project's file; no user reads more, and each would get a name in the hub


class FollowedFile(ABC):
    """A file with servers and its last readings. Belongs to the engine's loop.

    Attributes:
        path: absolute path.
        project: real path of the project whose file it is; empty for a config.
        is_for_all: whether its servers are for all sessions, and not only for sessions of the project.
        latest: the last reading; None before the first.
    """

    kind: ClassVar[Kind]

    def __init__(self, path: str, *, project: str = "", is_for_all: bool = True) -> None:
        self.path, self.project, self.is_for_all = path, project, is_for_all
        self.latest: FileReading | None = None
        self._understood: FileReading | None = None

    @property
    def entries(self) -> tuple[FileEntry, ...]:
        """The entries of the last valid reading."""
        return self._understood.entries if self._understood else ()

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        """The problems of the last reading."""
        return self.latest.problems if self.latest else ()

    def adopt(self, reading: FileReading) -> None:
        """Replaces the last reading by a new one."""
        self.latest = reading
        if reading.is_understood:
            self._understood = reading

    @abstractmethod
    def servers(self) -> Mapping[str, FileServer]:
        """Returns the servers that may run, by their names in the hub."""

    def snapshot(self) -> ServerFileSnapshot:
        return ServerFileSnapshot(
            path=self.path,
            kind=self.kind,
            exists=self.latest is not None and bool(self.latest.digest),
            project=self.project,
            is_for_all=self.is_for_all,
            entries=tuple(self._entry_snapshots()),
            problems=self.problems,
        )

    def _entry_snapshots(self) -> Iterator[FileEntrySnapshot]:
        for entry in self.entries:
            yield FileEntrySnapshot(entry.name, self._shown_name(entry.name), self._state(entry), entry.line)
        written = {entry.name for entry in self.entries}
        for problem in self.problems:
            if problem.entry and problem.entry not in written:
                written.add(problem.entry)
                yield FileEntrySnapshot(problem.entry, self._shown_name(problem.entry), "broken", problem.line)

    @abstractmethod
    def _shown_name(self, entry: str) -> str:
        """Returns the name in the hub of an entry that is in use; empty for another."""

    @abstractmethod
    def _state(self, entry: FileEntry) -> str:
        """Returns the state of an entry, see FileEntrySnapshot."""


class ProjectFile(FollowedFile):
    """The `.mcp.json` of one project.

    A server runs with the content to which the user consented. It keeps running while a changed entry waits for consent and while the file
    is malformed. A server that is removed from the file or disabled there stops at once.
    """

    kind = "mcp.json"

    def __init__(self, folder: str, trust: Trust, *, is_for_all: bool = False) -> None:
        """
        Args:
            folder: real path of the project's folder.
        """
        super().__init__(self.path_in(folder), project=folder, is_for_all=is_for_all)
        self._trust = trust
        self._running: dict[str, FileEntry] = {}  # by the name in the file

    @staticmethod
    def path_in(folder: str) -> str:
        return os.path.join(folder, FILE_NAME)

    @property
    def entries(self) -> tuple[FileEntry, ...]:
        """The entries of the last valid reading, at most `MOST_ENTRIES`."""
        return super().entries[:MOST_ENTRIES]

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        left_out = len(self.latest.entries) - MOST_ENTRIES if self.latest else 0
        return super().problems + ((_too_many(self.path, left_out),) if left_out > 0 else ())

    def adopt(self, reading: FileReading) -> None:
        super().adopt(reading)
        self.settle()

    def keep_names(self) -> None:
        """Reserves the names of the file's entries, and releases the names of removed entries that were never trusted."""
        if self._understood is None:
            return
        for entry in self.entries:
            self.name(entry)
        self._trust.forget_unseen(self.project, {entry.name for entry in self.entries} | _broken(self._understood))

    def settle(self) -> None:
        """Recomputes which servers run, after the file or the trust in its entries has changed."""
        if self._understood is None:
            return
        written = {entry.name: entry for entry in self.entries}
        there = written.keys() | _broken(self._understood)
        off = {name for name, entry in written.items() if entry.config.disable}
        goes_on = {name: entry for name, entry in self._running.items() if name in there - off and self._is_trusted(entry)}
        running = goes_on | {name: entry for name, entry in written.items() if self._is_trusted(entry)}
        self._running = {name: running[name] for name in dict.fromkeys((*written, *running)) if name in running}

    def running(self, entry: str) -> FileEntry | None:
        """Returns the content with which an entry's server runs, to which the user consented; None if it does not run."""
        return self._running.get(entry)

    def waiting(self) -> Iterator[FileEntry]:
        """Yields the entries that wait for consent, those that start other files than before among them; disabled ones do not."""
        waiting = (entry for entry in self.entries if not entry.config.disable)
        return (entry for entry in waiting if self._trust.is_held(self.project, entry.name) or not self._is_trusted(entry))

    def name(self, entry: FileEntry) -> str:
        """Returns the name of an entry's server in the hub."""
        return self._trust.name(self.project, entry.name)

    def servers(self) -> Mapping[str, FileServer]:
        return {self.name(entry): self._server(entry) for entry in self._running.values()}

    def _shown_name(self, entry: str) -> str:
        return self._trust.name(self.project, entry) if entry in self._running else ""

    def _state(self, entry: FileEntry) -> str:
        if entry.config.disable:
            return "off"
        if self._is_trusted(entry) and not self._trust.is_held(self.project, entry.name):
            return "used"
        return "changed" if entry.name in self._running else "waits"

    def _is_trusted(self, entry: FileEntry) -> bool:
        return self._trust.digest(self.project, entry.name) == entry.digest

    def _server(self, entry: FileEntry) -> FileServer:
        variables = {PROJECT_FOLDER: self.project, **entry.variables}
        project = "" if self.is_for_all else self.project
        return FileServer(replace(entry, variables=variables), self.path, "project", folder=self.project, project=project)


def check_stays_inside(folder: str) -> None:
    """Checks that a project's file is not a link to a file outside the project, which would be foreign. Blocks on the disk.

    Raises:
        Denied: it is such a link.
    """
    path = os.path.join(folder, FILE_NAME)
    real = os.path.realpath(path)
    if not is_inside(real, folder):
        title = Phrase("'{file}' is not read", file=shown(path))
        message = Phrase("it is a link that leads out of the project, to '{place}'", place=shown(real))
        raise Denied(title, message, Phrase("Put the file itself into the project."))


class ServedNames:
    """The names in the hub of configs' servers; they stay the same while the hub runs."""

    def __init__(self, *, is_taken: Callable[[str], bool], reserved: Collection[str] = BUILTIN_NAMES) -> None:
        """
        Args:
            is_taken: returns whether a server that is not from a config has a name.
            reserved: names of built-in servers.
        """
        self._is_taken, self._reserved = is_taken, reserved
        self._names: dict[tuple[str, str], str] = {}  # by path and name in the file

    def __contains__(self, name: str) -> bool:
        return name in self._names.values()

    def name(self, path: str, entry: str) -> str:
        """Returns the name of an entry's server; chooses one at first, and again after the settings have taken it."""
        known = self._names.get((path, entry), "")
        if not known or self._is_taken(known):
            folder = os.path.dirname(path)
            known = server_name(entry, folder, lambda name: name not in self and not self._is_taken(name), self._reserved)
            self._names[path, entry] = known
        return known


class ServedFile(FollowedFile):
    """A config that the hub was started with (`serve --config`). The user named it, so its servers need no consent."""

    kind = "tbxark"

    def __init__(self, path: str, names: ServedNames) -> None:
        super().__init__(path)
        self._names = names
        self._kept: tuple[FileEntry, ...] = ()  # entries as they were before they could not be used any more

    def adopt(self, reading: FileReading) -> None:
        if reading.is_understood:
            broken = _broken(reading) - {entry.name for entry in reading.entries}
            self._kept = tuple(entry for entry in (*self.entries, *self._kept) if entry.name in broken)
        super().adopt(reading)

    def servers(self) -> Mapping[str, FileServer]:
        folder, entries = os.path.dirname(self.path), (*self.entries, *self._kept)
        return {self._names.name(self.path, entry.name): FileServer(entry, self.path, "served", folder=folder) for entry in entries}

    def _shown_name(self, entry: str) -> str:
        is_used = any(each.name == entry for each in (*self.entries, *self._kept))
        return self._names.name(self.path, entry) if is_used else ""

    def _state(self, entry: FileEntry) -> str:
        return "off" if entry.config.disable else "used"


def merged_servers(files: Iterable[FollowedFile]) -> dict[str, FileServer]:
    """Returns the servers of several files by their names in the hub."""
    return {name: server for file in files for name, server in file.servers().items()}


def _broken(reading: FileReading) -> set[str]:
    return {problem.entry for problem in reading.problems if problem.entry}


def _too_many(path: str, count: int) -> FileProblem:
    message = Phrase("it has {count} more than {most} servers", count=count, most=MOST_ENTRIES)
    title = Phrase("{file} is not fully used", file=shown(os.path.basename(path)))
    return FileProblem(Problem(title, message, Phrase("Take out what you do not need.")))


SECOND_LOOK_S = 0.5  # an editor that rewrites a file in place, or removes and recreates it, needs less

ReadFile = Callable[[Path, Kind], FileReading]
"""Reads a file with servers; blocks on the disk."""


MakeWatcher = Callable[[Spawn, Callable[[str], None]], FileWatcher]
"""The constructor of FileWatcher."""


class FileRead(Event, frozen=True):
    """An event: a followed file was read. For other packages of the engine.

    Attributes:
        is_sure: whether the reading is reliable; the first one of a half-written file is not.
    """

    file: FollowedFile
    reading: FileReading
    is_sure: bool


class FileWatch:
    """A watch that publishes `FileRead` for each file that comes into use or changes, and reloads the settings.

    One read of each file at a time runs in a thread; it is repeated after a pause if the file may be half written. Belongs to the engine's
    loop.
    """

    def __init__(
        self,
        *,
        config: McpConfHelper,
        make_watcher: MakeWatcher,
        read_file: ReadFile,
        spawn: Spawn,
        bus: EventBus,
        second_look_s: float = SECOND_LOOK_S,
    ) -> None:
        """
        Args:
            second_look_s: seconds until an unreliable reading is repeated.
        """
        self._config, self._read_file = config, read_file
        self._spawn, self._bus = spawn, bus
        self._second_look_s = second_look_s
        self._settings = str(config.path)
        self._watcher = make_watcher(spawn, self._on_changed)
        self._files: dict[str, FollowedFile] = {}  # by path
        self._is_started = self._is_due = False
        self._reloading: asyncio.Task[None] | None = None
        self._reading: dict[str, asyncio.Task[None]] = {}  # by path
        self._again: dict[str, FollowedFile] = {}  # files that changed, or came into use again, while they were being read
        self._unread: dict[str, asyncio.Event] = {}  # files that were never read
        bus.subscribe(ConfigChanged, lambda event: self._watch())

    def start(self) -> None:
        """Begins to watch; before, `follow` only stores the files."""
        self._is_started = True
        self._watch()

    def close(self) -> None:
        """Ends watching for good; a running reload is completed."""
        self._is_started = False
        self._watcher.close()

    def follow(self, files: Iterable[FollowedFile]) -> None:
        """Sets the files to watch besides the settings; they need not exist."""
        self._files = {file.path: file for file in files if file.path != self._settings}
        self._watch()

    def start_reading(self, file: FollowedFile) -> None:
        """Begins to read a file that is new or has changed; does not wait."""
        if file.latest is None:
            self._unread.setdefault(file.path, asyncio.Event())
        if file.path in self._reading:
            self._again[file.path] = file
        else:
            self._reading[file.path] = self._spawn(self._read_until_unchanged(file), name=f"read {file.path}")

    async def wait_for_first(self, path: str, *, within_s: float) -> None:
        """Waits until a file has been read for the first time, at most `within_s` seconds."""
        if unread := self._unread.get(path):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await unread.wait()

    async def read(self, file: FollowedFile) -> FileReading:
        """Reads a file at once; publishes nothing."""
        if file.project:
            return await asyncio.to_thread(read_project_file, self._read_file, file.project)
        return await asyncio.to_thread(self._read_file, Path(file.path), file.kind)

    def _watch(self) -> None:
        if self._is_started and self._config.own_settings.hot_reload:
            self._watcher.follow({self._settings, *self._files})
        else:
            self._watcher.close()

    def _on_changed(self, path: str) -> None:
        if path == self._settings:
            self._is_due = True
            self._reloading = self._reloading or self._spawn(self._reload_settings(), name="read the settings again")
        elif file := self._files.get(path):
            self.start_reading(file)

    async def _reload_settings(self) -> None:
        """Reloads the settings until they do not change during the reload."""
        try:
            while self._is_due:
                self._is_due = False
                await self._reload_twice()
        finally:
            self._reloading = None

    async def _reload_twice(self) -> None:
        try:
            await self._config.reload(is_last_look=False)
        except TooltrayError:  # the file may be half written
            await asyncio.sleep(self._second_look_s)
            self._is_due = False  # this reload includes all changes so far
            with contextlib.suppress(TooltrayError):  # `reload` has reported it
                await self._config.reload()

    async def _read_until_unchanged(self, file: FollowedFile) -> None:
        try:
            await self._read_twice(file)
            while again := self._again.pop(file.path, None):
                await self._read_twice(again)
        finally:
            self._again.pop(file.path, None)
            del self._reading[file.path]
            self._note_read(file)

    async def _read_twice(self, file: FollowedFile) -> None:
        reading = await self.read(file)
        is_certain = is_sure(reading, file.latest)
        if is_certain or file.latest is None:
            self._bus.publish(FileRead(file, reading, is_certain))
            self._note_read(file)
        if is_certain:
            return
        await asyncio.sleep(self._second_look_s)
        self._bus.publish(FileRead(file, await self.read(file), True))

    def _note_read(self, file: FollowedFile) -> None:
        if unread := self._unread.pop(file.path, None):
            unread.set()


def is_sure(reading: FileReading, before: FileReading | None) -> bool:
    """Returns whether a reading is reliable: a file that is malformed, or was there before and is missing, may be half written."""
    is_gone = not reading.digest and reading.is_understood and before is not None and bool(before.digest)
    return reading.is_understood and not is_gone


def read_project_file(read: ReadFile, folder: str) -> FileReading:
    """Reads the file of a project; a link out of the project gives a reading with that problem. Blocks on the disk."""
    path = os.path.join(folder, FILE_NAME)
    try:
        check_stays_inside(folder)
    except Denied as error:
        return FileReading(path, "mcp.json", is_understood=False, problems=(FileProblem(error.problem),))
    return read(Path(path), "mcp.json")
