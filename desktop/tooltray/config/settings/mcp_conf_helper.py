"""The settings while Tooltray runs: reads them, changes them and single servers in them, and publishes the changes."""

import asyncio
import copy
import threading
from collections.abc import Callable, KeysView, Mapping
from functools import partial
from itertools import dropwhile
from pathlib import Path

import msgspec

from tooltray.config.settings import server_edits
from tooltray.config.settings.document import Document, Edit, members
from tooltray.config.settings.file_server import FileServer, with_file_servers
from tooltray.config.settings.given_entries import BUILTIN_NAMES, check_name, read_entry
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.config.settings.server_edits import Watched, written_entry
from tooltray.config.settings.settings import FileServerSettings, Settings
from tooltray.config.settings.settings_file import Loaded, NotReread, SettingsFile
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ConfigChanged, Event, EventBus, ProblemReported
from tooltray.foundation.files.edited_files import EditedFiles, FileHistory
from tooltray.foundation.files.json_text import revision_of
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import ServerEntry
from tooltray.foundation.snapshots.setup import FileProblem


class EntriesEdited(Event, frozen=True):
    """Entries of servers changed or removed by `McpConfHelper.edit`, not in the file; published before `ConfigChanged`."""

    servers: tuple[str, ...]


class McpConfHelper:
    """The settings of one home, with verbs for single servers; `edit` makes any other change.

    They belong to one event loop; the disk is accessed in threads, one change at a time. A change is written before it
    counts: if it cannot be written, nothing has changed. Cancelling the caller does not interrupt it. Each written change is published as
    `ConfigChanged`, and each new problem as `ProblemReported`. What a thread has written counts when the loop takes it over: a handler of
    an event sees the same settings from its beginning to its end.

    Args:
        path: `settings.json`.
        bus: where changes are published.
        history: keeps the file's content from before each change.
    """

    def __init__(self, path: Path, bus: EventBus, *, history: FileHistory | None = None) -> None:
        self.path = path
        self._file = SettingsFile(path, BUILTIN_NAMES, EditedFiles(history))
        self._bus = bus
        self._state = self._on_disk = _State()  # the threads use the second one, under the lock; it may be ahead
        self._lock = threading.Lock()
        self._files: dict[str, FileServer] = {}
        self._merged = (self.own_settings, self._files, self.own_settings)
        self._followed_by: dict[str, tuple[str, ...]] = {}  # by the name of a removed server: its place, for an undo

    @property
    def settings(self) -> Settings:
        """Returns the present settings, with the servers of other files. Immutable: a change makes a new object."""
        own, files, merged = self._merged
        now = self._state.loaded.reading.settings  # each call reads this several times
        if own is not now or files is not self._files:
            files = self._files
            merged = with_file_servers(now, files)
            self._merged = (now, files, merged)
        return merged

    @property
    def own_settings(self) -> Settings:
        """Returns the present settings without the servers of other files."""
        return self._state.loaded.reading.settings

    @property
    def content(self) -> bytes | None:
        """Returns the file's bytes as they were last read or written; None if there was no file."""
        return self._state.loaded.content

    @property
    def file_servers(self) -> Mapping[str, FileServer]:
        """Returns the servers of other files, by their names here; not to be changed."""
        return self._files

    def file_server(self, name: str) -> FileServer | None:
        """Returns a server whose entry is in another file; None for servers of the settings, which come first."""
        return None if name in self.own_settings.mcp_servers else self._files.get(name)

    def set_file_servers(self, servers: Mapping[str, FileServer]) -> None:
        """Replaces the servers of other files, by their names here."""
        if dict(servers) != self._files:
            self._files = dict(servers)
            self._publish_change()

    @property
    def names(self) -> KeysView[str]:
        """Returns the names in `mcpServers`, also of entries that cannot be used: nothing else may take their names."""
        return members(self._state.loaded.document, "mcpServers").keys()

    @property
    def entries(self) -> dict[str, Document]:
        """Returns the usable entries of `mcpServers`, as they are in the file; the caller's own copy."""
        return {name: copy.deepcopy(written_entry(self._state.loaded.document, name)) for name in self.own_settings.mcp_servers}

    @property
    def document(self) -> Document:
        """Returns the whole file, with its unusable parts; the caller's own copy."""
        return copy.deepcopy(self._state.loaded.document)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Returns the problems of the settings, each with the remedy that was applied."""
        return tuple(each.problem for each in self.file_problems)

    @property
    def file_problems(self) -> tuple[FileProblem, ...]:
        """Returns the problems with their lines in the file, if known."""
        return self._state.problems

    def revision(self, name: str) -> str:
        """Returns the revision of a server's entry; empty if no file has one."""
        if server := self.file_server(name):
            return revision_of(server.entry.written)
        entries = members(self._state.loaded.document, "mcpServers")
        return revision_of(entries[name]) if name in entries else ""

    def server_entry(self, name: str) -> ServerEntry:
        """Returns the entry of a server; the caller's own copy.

        Raises:
            NotFound: no file has such a server.
        """
        if server := self.file_server(name):
            chosen = self.settings.mcp_servers[name].to_entry()
            return ServerEntry(server.entry.name, copy.deepcopy(dict(server.entry.written)), chosen)
        entry = written_entry(self._state.loaded.document, name)
        return ServerEntry(name, copy.deepcopy(entry), copy.deepcopy(entry))

    async def load(self) -> None:
        """Reads the file. Never fails; `problems` lists what went wrong."""
        await asyncio.to_thread(self._load)

    async def reload(self, *, is_last_look: bool = True) -> None:
        """Reads the file again, and publishes the changes. The file itself is never written.

        Args:
            is_last_look: False: a file that cannot be read is not reported yet, as it may be half written.

        Raises:
            TooltrayError: the file is gone or cannot be read; the settings stay unchanged.
        """
        work = asyncio.get_running_loop().run_in_executor(None, self._reread, is_last_look)
        work.add_done_callback(self._take_over)
        if error := (await asyncio.shield(work)).error:
            raise error

    async def read_again(self) -> Loaded:
        """Reads what `reload` would find, and changes nothing.

        Raises:
            TooltrayError: as `reload`.
        """
        return await asyncio.to_thread(self._file.reread, self._state.loaded)

    async def edit(self, change: Edit, on_written: Callable[[], None] = lambda: None) -> None:
        """Changes the document and writes it: completely or not at all.

        Args:
            change: changes the whole document in place; runs in a thread, and may raise TooltrayError to change nothing. Called again if
                another program saves the file in the same moment.
            on_written: called in the loop as soon as the change counts, before it is published.

        Raises:
            TooltrayError: what `change` raises, or the settings cannot be written.
        """
        work = asyncio.get_running_loop().run_in_executor(None, self._write, change)
        work.add_done_callback(partial(self._take_over, on_written=on_written))
        await asyncio.shield(work)

    async def set_server(
        self,
        name: str,
        entry: Mapping[str, object] | MCPServerConfig,
        *,
        is_default: bool | None = None,
        revision: str = "",
        is_new: bool = False,
    ) -> None:
        """Adds a server, or replaces its entry. A server that was removed returns to its place.

        Args:
            entry: a mapping goes into the file unchanged.
            is_default: whether it starts with the hub; None leaves that unchanged.
            revision: of the entry that is replaced; empty: any.
            is_new: refuse to replace an entry, also one that cannot be used.

        Raises:
            Conflict: the entry has changed, or the name is taken.
            TooltrayError: the name or the entry cannot be used.
        """
        check_name(name, BUILTIN_NAMES)
        new = entry.to_entry() if isinstance(entry, MCPServerConfig) else copy.deepcopy(dict(entry))
        read_entry(name, new)
        before = self._followed_by.get(name, ())
        await self.edit(server_edits.entry(name, new, is_default=is_default, revision=revision, is_new=is_new, before=before))

    async def change_server(self, name: str, **fields: object) -> None:
        """Changes single fields of an entry, and leaves the rest as it was written. The entry of a server of another file is not changed:
        the choice is kept in the settings, beside it.

        Args:
            **fields: attributes of MCPServerConfig; None removes a field.

        Raises:
            TooltrayError: the server does not exist, the result cannot be used, or the field can only be changed in the other file.
        """
        if unknown := fields.keys() - MCPServerConfig.model_fields:
            raise TypeError(f"MCPServerConfig has no {', '.join(sorted(unknown))}")
        server = self.file_server(name)
        if server is None:
            return await self.edit(server_edits.fields(name, fields))
        if others := sorted(fields.keys() - FileServerSettings.model_fields):
            spelled = ", ".join(MCPServerConfig.model_fields[field].alias for field in others)
            raise TooltrayError(
                Phrase("'{name}' is not changed", name=name),
                Phrase("its entry is in {file}", file=server.file),
                Phrase("Change {spelled} there", spelled=spelled),
            )
        return await self.edit(server_edits.choices(name, fields))

    async def remove_server(self, name: str, *, revision: str = "") -> None:
        """Removes a server, also one whose entry cannot be used.

        Args:
            revision: as in `set_server`.

        Raises:
            NotFound: the server does not exist.
            Conflict: the entry has changed.
        """
        names = list(self.own_settings.mcp_servers)
        await self.edit(server_edits.without_entry(name, revision))
        self._followed_by[name] = tuple(dropwhile(lambda each: each != name, names))

    async def set_default(self, name: str, is_default: bool) -> None:
        """Decides whether a server starts with the hub.

        Raises:
            NotFound: the server does not exist.
        """
        if self.file_server(name):
            await self.edit(server_edits.choices(name, {"is_default": is_default}))
        else:
            await self.edit(server_edits.default(name, is_default, is_known=name in BUILTIN_NAMES))

    async def set_enabled(self, enabled: bool, *, paused_until: float = 0.0) -> None:
        """Switches all servers on or off (`mcpEnabled`).

        Args:
            paused_until: unix seconds at which they resume automatically; 0: when the user resumes them.
        """
        await self.edit(server_edits.enabled(enabled, paused_until))

    def _load(self) -> None:
        """Reads the file in a thread, before anything else works with the settings."""
        with self._lock:
            self._state = self._on_disk = _State(self._file.load())

    def _reread(self, is_last_look: bool) -> "_Change":
        """Reads the file again, in a thread."""
        with self._lock:
            before, error = self._on_disk, None
            try:
                now = before.followed_by(self._file.reread(before.loaded))
            except TooltrayError as raised:
                error = raised
                found = FileProblem(error.problem, error.line if isinstance(error, NotReread) else 0)
                now = before.followed_by(before.loaded, (found,) if is_last_look else before.reread_problem)
            self._on_disk = now
            return _Change(now, now.content != before.content, now.new_problems(before), error=error)

    def _write(self, change: Edit) -> "_Change":
        """Changes and writes the file, in a thread."""
        with self._lock:
            before, watched = self._on_disk, Watched(change)
            self._on_disk = now = before.followed_by(self._file.change(before.loaded, watched))
            return _Change(now, True, now.new_problems(before), watched.edited)

    def _take_over(self, work: "asyncio.Future[_Change]", on_written: Callable[[], None] = lambda: None) -> None:
        """Takes over the state that a thread has read or written; if two threads end at once, the later state may come first."""
        if work.cancelled() or work.exception():
            return
        change = work.result()
        self._state = max(self._state, change.state, key=lambda state: state.number)
        on_written()
        for problem in change.problems:
            self._bus.publish(ProblemReported(problem))
        if change.edited:
            self._bus.publish(EntriesEdited(change.edited))
        if change.is_change:
            self._publish_change()

    def _publish_change(self) -> None:
        settings = self.settings
        self._bus.publish(ConfigChanged(self.entries, settings.default_servers, settings.mcp_enabled))


class _State(msgspec.Struct, frozen=True):
    """The settings at one moment.

    Attributes:
        reread_problem: why the file could not be read again.
        number: of the moment.
    """

    loaded: Loaded = Loaded()
    reread_problem: tuple[FileProblem, ...] = ()
    number: int = 0

    def followed_by(self, loaded: Loaded, reread_problem: tuple[FileProblem, ...] = ()) -> "_State":
        """Returns the next state."""
        return _State(loaded, reread_problem, self.number + 1)

    @property
    def content(self) -> tuple[object, ...]:
        """Returns the parts whose changes subscribers are notified of."""
        return self.loaded.document, self.loaded.reading.settings, self.problems

    @property
    def problems(self) -> tuple[FileProblem, ...]:
        return (*map(FileProblem, self.loaded.notices), *self.reread_problem, *self.loaded.problems)

    def new_problems(self, before: "_State") -> tuple[Problem, ...]:
        """Returns the problems that `before` did not have."""
        known = before._problems_by_form()
        return tuple(problem for by_itself, problem in self._problems_by_form().items() if by_itself not in known)

    def _problems_by_form(self) -> Mapping[Problem, Problem]:
        """Returns the problems by their form without a line: a problem that has only moved to another line is not new."""
        by_itself = [*self.loaded.notices, *(each.problem for each in self.reread_problem), *self.loaded.reading.problems]
        return dict(zip(by_itself, (each.problem for each in self.problems), strict=True))


class _Change(msgspec.Struct, frozen=True):
    """The result of an edit, or of reading the file again.

    Attributes:
        is_change: whether the content or its problems are different.
        problems: the new ones.
        edited: the servers that were changed or removed by an edit.
        error: why the file could not be read.
    """

    state: _State
    is_change: bool
    problems: tuple[Problem, ...]
    edited: tuple[str, ...] = ()
    error: TooltrayError | None = None
