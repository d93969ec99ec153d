"""The settings while Tooltray runs: what they are, and every change to them.

Above it: the presenter's managers, the command line. Below it: settings_file (the disk), settings (the models), events. Knows no running
server and no secret.
"""

import asyncio
import copy
import threading
from collections.abc import Collection, Mapping
from itertools import dropwhile
from pathlib import Path
from typing import Any

import msgspec

from tooltray.errors import Problem, TooltrayError
from tooltray.events import ConfigChanged, Event, EventBus, ProblemReported
from tooltray.files.edited_files import EditedFiles
from tooltray.files.file_history import FileHistory
from tooltray.files.revisions import revision_of
from tooltray.secrets.vaults import SecretBackend
from tooltray.settings import server_edits, settings_edits
from tooltray.settings.beside_settings import with_file_servers
from tooltray.settings.file_server import FileServer
from tooltray.settings.migrations import Document
from tooltray.settings.server_config import MCPServerConfig
from tooltray.settings.settings import FileServerSettings, Settings, check_name, read_entry
from tooltray.settings.settings_file import Edit, Loaded, NotReread, SettingsFile
from tooltray.snapshots.files import FileProblem
from tooltray.snapshots.servers import ServerEntry
from tooltray.snapshots.setup import SettingsDocument

BUILTIN_NAMES = ("hub",)


class EntriesEdited(Event, frozen=True):
    """Entries of servers were changed or removed through McpConfHelper, not by an edit of the file; published before `ConfigChanged`."""

    servers: tuple[str, ...]


class McpConfHelper:
    """The settings of one home. Belongs to one event loop; the disk is touched in threads, one change at a time.

    A change is written before it counts: if it cannot be, nothing has changed. A caller that is cancelled in the middle does not stop it.
    Each change that was written is published as `ConfigChanged`; what was found wrong on the way as `ProblemReported`.

    Args:
        path: `settings.json`.
        bus: where changes are published.
        reserved: names that no entry may have.
        history: what the file said before each change is kept there.
    """

    def __init__(self, path: Path, bus: EventBus, *, reserved: Collection[str] = BUILTIN_NAMES, history: FileHistory | None = None) -> None:
        self.path = path
        self._file = SettingsFile(path, reserved, EditedFiles(history))
        self._reserved = reserved
        self._bus = bus
        self._loaded = Loaded()
        self._trouble: tuple[FileProblem, ...] = ()  # with reading the file again
        self._lock = threading.Lock()
        self._files: dict[str, FileServer] = {}
        self._merged = (self.own_settings, self._files, self.own_settings)
        self._followed_by: dict[str, tuple[str, ...]] = {}  # of what was removed: where it stands if it comes back

    @property
    def settings(self) -> Settings:
        """What counts now, servers of other files among it. A change makes a new object; nobody changes this one."""
        own, files, merged = self._merged
        now = self._loaded.reading.settings  # each call asks for this several times
        if own is not now or files is not self._files:
            files = self._files
            merged = with_file_servers(now, files)
            self._merged = (now, files, merged)
        return merged

    @property
    def own_settings(self) -> Settings:
        """The same without servers of other files."""
        return self._loaded.reading.settings

    @property
    def file_servers(self) -> Mapping[str, FileServer]:
        """The servers of other files, by their names here; not to be changed."""
        return self._files

    def file_server(self, name: str) -> FileServer | None:
        """A server whose entry is in another file; None for those of the settings, which go before."""
        return None if name in self.own_settings.mcp_servers else self._files.get(name)

    def set_file_servers(self, servers: Mapping[str, FileServer]) -> None:
        """These are the servers of other files from now on, by their names here."""
        if dict(servers) != self._files:
            self._files = dict(servers)
            self._tell_changed()

    @property
    def entries(self) -> dict[str, dict[str, Any]]:
        """The entries of `mcpServers` that can be used, as they are in the file; the caller's own copy."""
        return copy.deepcopy({name: self._loaded.document["mcpServers"][name] for name in self.own_settings.mcp_servers})

    @property
    def document(self) -> Document:
        """The whole file as it is, also what of it cannot be used; the caller's own copy."""
        return copy.deepcopy(self._loaded.document)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the settings, and what was done about it."""
        return tuple(each.problem for each in self.file_problems)

    @property
    def file_problems(self) -> tuple[FileProblem, ...]:
        """The same, with the line of the file where one is known."""
        return (*map(FileProblem, self._loaded.notices), *self._trouble, *self._loaded.problems)

    def _told(self) -> Mapping[Problem, Problem]:
        """What is wrong, by what it is wherever it stands: a slip that is on another line now is not a new one."""
        by_itself = [*self._loaded.notices, *(each.problem for each in self._trouble), *self._loaded.reading.problems]
        return dict(zip(by_itself, self.problems, strict=True))

    def revision(self, name: str) -> str:
        """Of a server's entry: another one where that is another one; empty for one that is in no file."""
        if server := self.file_server(name):
            return revision_of(server.entry.written)
        entries = self._loaded.document.get("mcpServers")
        return revision_of(entries[name]) if isinstance(entries, dict) and name in entries else ""

    def server_entry(self, name: str) -> ServerEntry:
        """How a server is described; the caller's own copy.

        Raises:
            NotFound: there is none of this name in a file.
        """
        if server := self.file_server(name):
            chosen = self.settings.mcp_servers[name].to_entry()
            return ServerEntry(server.entry.name, copy.deepcopy(dict(server.entry.written)), chosen)
        server_edits.check_server(self._loaded.document, name)
        entry = self._loaded.document["mcpServers"][name]
        return ServerEntry(name, copy.deepcopy(entry), copy.deepcopy(entry))

    def choices(self, name: str) -> dict[str, Any]:
        """All that was chosen here for a server of another file, in the spelling of the settings; the caller's own copy."""
        servers = self._loaded.document.get("fileServers")
        chosen = servers.get(name) if isinstance(servers, dict) else None
        return copy.deepcopy(chosen) if isinstance(chosen, dict) else {}

    def settings_document(self) -> SettingsDocument:
        """What the settings say besides the servers."""
        settings = settings_edits.settings_of(self.document)
        return SettingsDocument(settings, revision_of(settings))

    async def load(self) -> None:
        """Reads the file. Never fails; what went wrong is in `problems`."""
        await asyncio.to_thread(self._load)

    async def reload(self, *, is_last_look: bool = True) -> None:
        """Reads the file again; what it says now counts, as if each change had been made here. The file itself is left as it is.

        Args:
            is_last_look: False: if nothing can be said of the file nobody is told yet, it may be half written.

        Raises:
            TooltrayError: nothing can be said of it, or it is gone; what was set before goes on.
        """
        work = asyncio.get_running_loop().run_in_executor(None, self._reread, is_last_look)
        work.add_done_callback(self._on_reread)
        if error := (await asyncio.shield(work)).error:
            raise error

    async def read_again(self) -> Loaded:
        """What `reload` would find; nothing is changed.

        Raises:
            TooltrayError: as `reload`.
        """
        return await asyncio.to_thread(self._file.reread, self._loaded)

    async def set_server(
        self,
        name: str,
        entry: Mapping[str, Any] | MCPServerConfig,
        *,
        is_default: bool | None = None,
        revision: str = "",
        is_new: bool = False,
    ) -> None:
        """Adds a server, or replaces its entry.

        Args:
            name: what it is called.
            entry: a mapping goes into the file as it is.
            is_default: whether it starts with the hub; None leaves that as it is.
            revision: of the entry that is to be replaced; empty: whatever it is.
            is_new: there is to be none of this name yet; one whose entry cannot be used does not count.

        Raises:
            Conflict: the entry is another one by now, or the name is taken.
            TooltrayError: the name or the entry cannot be used, or the settings cannot be written.
        """
        check_name(name, self._reserved)
        new = entry.to_entry() if isinstance(entry, MCPServerConfig) else copy.deepcopy(dict(entry))
        read_entry(name, new)
        before = self._followed_by.get(name, ())
        await self._change(server_edits.entry(name, new, is_default=is_default, revision=revision, is_new=is_new, before=before))

    async def change_server(self, name: str, **fields: Any) -> None:
        """Changes single fields of an entry, and leaves the rest as it was written.

        Args:
            name: the server.
            **fields: attributes of MCPServerConfig; None removes a field from the entry.

        Raises:
            TooltrayError: there is no such server, the result cannot be used, or the settings cannot be written.
        """
        if unknown := fields.keys() - MCPServerConfig.model_fields:
            raise TypeError(f"MCPServerConfig has no {', '.join(sorted(unknown))}")
        if self.file_server(name):
            await self._change_file_server(name, fields)
        else:
            await self._change(server_edits.fields(name, fields))

    async def _change_file_server(self, name: str, fields: Mapping[str, Any]) -> None:
        """Its entry is not ours: what a person chooses here stands beside it, in the settings."""
        server = self._files[name]
        if others := sorted(fields.keys() - FileServerSettings.model_fields):
            spelled = ", ".join(MCPServerConfig.model_fields[field].alias or field for field in others)
            raise TooltrayError(f"'{name}' is not changed", f"its entry is in {server.file}", f"Change {spelled} there")
        await self._change(server_edits.choices(name, fields))

    async def set_choices(self, chosen: Mapping[str, Mapping[str, Any]]) -> None:
        """Replaces all that was chosen here for servers of other files, also of files that are not read now.

        Args:
            chosen: by their names here, as `choices` gives it; empty for a server: nothing is chosen any more.

        Raises:
            TooltrayError: the settings cannot be written.
        """
        await self._change(server_edits.all_choices(copy.deepcopy(dict(chosen))))

    async def remove_server(self, name: str, *, revision: str = "") -> None:
        """Removes a server, also one whose entry cannot be used.

        Args:
            revision: as of `set_server`.

        Raises:
            NotFound: there is no such server.
            Conflict: the entry is another one by now.
            TooltrayError: the settings cannot be written.
        """
        names = list(self.own_settings.mcp_servers)
        await self._change(server_edits.without_entry(name, revision))
        self._followed_by[name] = tuple(dropwhile(lambda each: each != name, names))

    async def set_default(self, name: str, is_default: bool) -> None:
        """Decides whether a server starts with the hub.

        Raises:
            TooltrayError: there is no such server, or the settings cannot be written.
        """
        if self.file_server(name):
            await self._change_file_server(name, {"is_default": is_default})
        else:
            await self._change(server_edits.default(name, is_default, is_known=name in self._reserved))

    async def set_enabled(self, enabled: bool) -> None:
        """Switches everything on or off (`mcpEnabled`).

        Raises:
            TooltrayError: the settings cannot be written.
        """
        await self._change(lambda document: document.update(mcpEnabled=enabled))

    async def set_secret_backend(self, kind: SecretBackend) -> None:
        """Decides where secrets are kept from now on. None is moved.

        Raises:
            TooltrayError: there is no such place, or the settings cannot be written.
        """
        await self._change(settings_edits.secret_backend(kind))

    async def set_http(self, enabled: bool, port: int | None = None) -> None:
        """Switches the HTTP endpoints on or off.

        Args:
            port: where, from now on; None leaves that as it is.

        Raises:
            TooltrayError: there is no such port, something else in `publish.http` cannot be used, or the settings cannot be written.
        """
        await self._change(settings_edits.http_access(enabled, port))

    async def set_npm_registry(self, *, custom: str | None = None, is_auto_detect: bool | None = None) -> None:
        """Decides where npm packages of servers come from.

        Args:
            custom: the registry's URL; "" for none of one's own; None leaves that as it is.
            is_auto_detect: whether the fastest is found out; None leaves that as it is.

        Raises:
            TooltrayError: the settings cannot be written.
        """
        await self._change(settings_edits.npm_registry(custom, is_auto_detect))

    async def merge(self, changes: Mapping[str, Any], revision: str) -> None:
        """Changes what is not about servers; see McpPresenter.change_settings.

        Raises:
            Conflict: the settings are others by now.
            TooltrayError: a value cannot be used, or is not to be changed here; or the settings cannot be written.
        """
        await self._change(settings_edits.merge_patch(changes, revision))

    async def change_document(self, edit: Edit) -> None:
        """Makes several changes as one: all of them are written, or none.

        Args:
            edit: changes the whole document in place; runs in a thread, and may raise TooltrayError to change nothing.

        Raises:
            TooltrayError: what `edit` raises, or the settings cannot be written.
        """
        await self._change(edit)

    async def _change(self, edit: Edit) -> None:
        work = asyncio.get_running_loop().run_in_executor(None, self._write, edit)
        work.add_done_callback(self._on_written)
        await asyncio.shield(work)

    def _load(self) -> None:
        with self._lock:
            self._loaded = self._file.load()

    def _reread(self, is_last_look: bool) -> "_Reread":
        """Runs in a thread."""
        with self._lock:
            before, known, error = (self._loaded.document, self.own_settings, self.file_problems), self._told(), None
            try:
                self._loaded, self._trouble = self._file.reread(self._loaded), ()
            except TooltrayError as raised:
                error = raised
                found = FileProblem(error.problem, error.line if isinstance(error, NotReread) else 0)
                self._trouble = (found,) if is_last_look else self._trouble
            is_changed = before != (self._loaded.document, self.own_settings, self.file_problems)
            return _Reread(is_changed, self._new(known), error)

    def _on_reread(self, work: "asyncio.Future[_Reread]") -> None:
        for problem in work.result().problems:
            self._bus.publish(ProblemReported(problem))
        if work.result().is_changed:
            self._tell_changed()

    def _write(self, edit: Edit) -> "_Written":
        """Runs in a thread."""
        with self._lock:
            known, watched = self._told(), server_edits.Watched(edit)
            self._loaded, self._trouble = self._file.change(self._loaded, watched), ()
            return _Written(self._new(known), watched.edited)

    def _new(self, known: Mapping[Problem, Problem]) -> tuple[Problem, ...]:
        """What is wrong that was not before."""
        return tuple(problem for by_itself, problem in self._told().items() if by_itself not in known)

    def _on_written(self, work: "asyncio.Future[_Written]") -> None:
        if work.cancelled() or work.exception():
            return
        for problem in work.result().problems:
            self._bus.publish(ProblemReported(problem))
        if edited := work.result().edited:
            self._bus.publish(EntriesEdited(edited))
        self._tell_changed()

    def _tell_changed(self) -> None:
        settings = self.settings
        self._bus.publish(ConfigChanged(self.entries, settings.default_servers, settings.mcp_enabled))


class _Written(msgspec.Struct, frozen=True):
    """
    Attributes:
        problems: that were not known before.
        edited: the servers that were changed or removed.
    """

    problems: tuple[Problem, ...]
    edited: tuple[str, ...]


class _Reread(msgspec.Struct, frozen=True):
    """What came of reading the file again: whether anything is another than before (also that it can be read), and what is newly wrong."""

    is_changed: bool
    problems: tuple[Problem, ...]
    error: TooltrayError | None
