"""The settings while Tooltray runs: what they are, and every change to them.

Above it: the presenter's managers, the command line. Below it: settings_file (the disk), settings (the models), events. Knows no running
server and no secret.
"""

import asyncio
import copy
import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import to_jsonable_python

from tooltray.config.files.file_server import FileServer
from tooltray.config.migrations import Document
from tooltray.config.revisions import revision_of
from tooltray.config.server_config import SPELLINGS, MCPServerConfig
from tooltray.config.settings import FileServerSettings, HttpSettings, SecretBackend, Settings, check_name, read_entry, read_usable_entry
from tooltray.config.settings_file import Edit, Loaded, SettingsFile
from tooltray.config.usable import CORRECT_IT, in_words
from tooltray.errors import Conflict, NotFound, Problem, TooltrayError
from tooltray.events import ConfigChanged, EventBus, ProblemReported
from tooltray.snapshots import SettingsDocument

BUILTIN_NAMES = ("hub",)
MAX_PORT = 65535
NOT_SETTINGS = ("version", "mcpServers", "defaultServers", "fileServers")
"""What of the file is about servers, or about the file itself."""


class McpConfHelper:
    """The settings of one home. Belongs to one event loop; the disk is touched in threads, one change at a time.

    A change is written before it counts: if it cannot be, nothing has changed. A caller that is cancelled in the middle does not stop it.
    Each change that was written is published as `ConfigChanged`; what was found wrong on the way as `ProblemReported`.

    Args:
        path: `settings.json`.
        bus: where changes are published.
        reserved: names that no entry may have.
    """

    def __init__(self, path: Path, bus: EventBus, *, reserved: Collection[str] = BUILTIN_NAMES) -> None:
        self._file = SettingsFile(path, reserved)
        self._reserved = reserved
        self._bus = bus
        self._loaded = Loaded()
        self._lock = threading.Lock()
        self._files: dict[str, FileServer] = {}
        self._merged = (self.own_settings, self._files, self.own_settings)

    @property
    def settings(self) -> Settings:
        """What counts now, servers of other files among it. A change makes a new object; nobody changes this one."""
        own, files, merged = self._merged
        if own is not self.own_settings or files is not self._files:
            own, files = self.own_settings, self._files
            merged = _merged(own, files)
            self._merged = (own, files, merged)
        return merged

    @property
    def own_settings(self) -> Settings:
        """The same without servers of other files."""
        return self._loaded.reading.settings

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
        return self._loaded.notices + self._loaded.reading.problems

    def revision(self, name: str) -> str:
        """Of a server's entry: another one where that is another one; empty for one that is in no file."""
        if server := self.file_server(name):
            return revision_of(server.entry.written)
        entries = self._loaded.document.get("mcpServers")
        return revision_of(entries[name]) if isinstance(entries, dict) and name in entries else ""

    def settings_document(self) -> SettingsDocument:
        """What the settings say besides the servers."""
        settings = {key: value for key, value in self.document.items() if key not in NOT_SETTINGS}
        return SettingsDocument(settings, revision_of(settings))

    async def load(self) -> None:
        """Reads the file. Never fails; what went wrong is in `problems`."""
        await asyncio.to_thread(self._load)

    async def set_server(
        self, name: str, entry: Mapping[str, Any] | MCPServerConfig, *, is_default: bool | None = None, revision: str = ""
    ) -> None:
        """Adds a server, or replaces its entry.

        Args:
            name: what it is called.
            entry: a mapping goes into the file as it is.
            is_default: whether it starts with the hub; None leaves that as it is.
            revision: of the entry that is to be replaced; empty: whatever it is.

        Raises:
            Conflict: the entry is another one by now.
            TooltrayError: the name or the entry cannot be used, or the settings cannot be written.
        """
        check_name(name, self._reserved)
        new = entry.to_entry() if isinstance(entry, MCPServerConfig) else copy.deepcopy(dict(entry))
        read_entry(name, new)

        def edit(document: Document) -> None:
            _check_revision(_object(document, "mcpServers").get(name), revision)
            _object(document, "mcpServers")[name] = new
            if is_default is not None:
                _set_default(document, name, is_default)

        await self._change(edit)

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
            return await self._change_file_server(name, fields)

        def edit(document: Document) -> None:
            entry = _entry(document, name)
            for field, value in fields.items():
                _set_field(entry, field, value)
            read_usable_entry(name, entry)

        return await self._change(edit)

    async def _change_file_server(self, name: str, fields: Mapping[str, Any]) -> None:
        """Its entry is not ours: what a person chooses here stands beside it, in the settings."""
        server = self._files[name]
        if others := sorted(fields.keys() - FileServerSettings.model_fields):
            spelled = ", ".join(MCPServerConfig.model_fields[field].alias or field for field in others)
            raise TooltrayError(f"'{name}' is not changed", f"its entry is in {server.file}", f"Change {spelled} there")

        def edit(document: Document) -> None:
            chosen = _object(_object(document, "fileServers"), name)
            for field, value in fields.items():
                _set_field(chosen, field, value)
            if not chosen:
                del document["fileServers"][name]

        await self._change(edit)

    async def remove_server(self, name: str, *, revision: str = "") -> None:
        """Removes a server, also one whose entry cannot be used.

        Args:
            revision: as of `set_server`.

        Raises:
            NotFound: there is no such server.
            Conflict: the entry is another one by now.
            TooltrayError: the settings cannot be written.
        """

        def edit(document: Document) -> None:
            _check_server(document, name)
            _check_revision(document["mcpServers"][name], revision)
            del document["mcpServers"][name]
            _set_default(document, name, False)

        await self._change(edit)

    async def set_default(self, name: str, is_default: bool) -> None:
        """Decides whether a server starts with the hub.

        Raises:
            TooltrayError: there is no such server, or the settings cannot be written.
        """

        if self.file_server(name):
            return await self._change_file_server(name, {"is_default": is_default})

        def edit(document: Document) -> None:
            if is_default and name not in self._reserved:
                _check_server(document, name)
            _set_default(document, name, is_default)

        return await self._change(edit)

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
        if kind not in get_args(SecretBackend):
            raise TooltrayError("Secrets cannot be kept there", "", f"Choose one of: {', '.join(get_args(SecretBackend))}")
        await self._change(lambda document: _object(document, "secrets").update(backend=kind))

    async def set_http(self, enabled: bool, port: int | None = None) -> None:
        """Switches the HTTP endpoints on or off.

        Args:
            port: where, from now on; None leaves that as it is.

        Raises:
            TooltrayError: there is no such port, something else in `publish.http` cannot be used, or the settings cannot be written.
        """
        if port is not None and not 0 <= port <= MAX_PORT:
            raise TooltrayError(f"There is no port {port}", hint=f"Choose one from 1 to {MAX_PORT}, or 0 for any that is free")

        def edit(document: Document) -> None:
            http = _object(_object(document, "publish"), "http")
            http["enabled"] = enabled
            if port is not None:
                http["port"] = port
            if enabled:
                _check_http(http)

        await self._change(edit)

    async def set_npm_registry(self, *, custom: str | None = None, is_auto_detect: bool | None = None) -> None:
        """Decides where npm packages of servers come from.

        Args:
            custom: the registry's URL; "" for none of one's own; None leaves that as it is.
            is_auto_detect: whether the fastest is found out; None leaves that as it is.

        Raises:
            TooltrayError: the settings cannot be written.
        """

        def edit(document: Document) -> None:
            if is_auto_detect is not None:
                document["autoDetectNpmRegistry"] = is_auto_detect
            if custom:
                document["customNpmRegistry"] = custom
            elif custom is not None:
                document.pop("customNpmRegistry", None)

        await self._change(edit)

    async def merge(self, changes: Mapping[str, Any], revision: str) -> None:
        """See McpPresenter.change_settings."""
        raise NotImplementedError

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

    def _write(self, edit: Edit) -> tuple[Problem, ...]:
        """Runs in a thread; returns the problems that were not known before."""
        with self._lock:
            known = self.problems
            self._loaded = self._file.change(self._loaded, edit)
            return tuple(problem for problem in self.problems if problem not in known)

    def _on_written(self, work: "asyncio.Future[tuple[Problem, ...]]") -> None:
        if work.cancelled() or work.exception():
            return
        for problem in work.result():
            self._bus.publish(ProblemReported(problem))
        self._tell_changed()

    def _tell_changed(self) -> None:
        settings = self.settings
        self._bus.publish(ConfigChanged(self.entries, settings.default_servers, settings.mcp_enabled))


def _merged(own: Settings, files: Mapping[str, FileServer]) -> Settings:
    """Where two have one name, that of the settings counts."""
    others = {name: server for name, server in files.items() if name not in own.mcp_servers}
    if not others:
        return own
    chosen = {name: own.file_servers.get(name, FileServerSettings()) for name in others}
    configs = {name: chosen[name].applied(server.entry.config) for name, server in others.items()}
    by_default = {name: chosen[name].is_default for name in others}
    defaults = [name for name, server in others.items() if (server.is_default if by_default[name] is None else by_default[name])]
    return own.model_copy(update={"mcp_servers": {**own.mcp_servers, **configs}, "default_servers": (*own.default_servers, *defaults)})


def _check_server(document: Document, name: str) -> None:
    entries = document.get("mcpServers")
    if not isinstance(entries, dict) or name not in entries:
        raise NotFound(f"There is no server '{name}'", hint="See which there are: tooltray servers list")


def _check_revision(entry: Any, revision: str) -> None:
    if revision and (entry is None or revision_of(entry) != revision):
        raise Conflict("This entry is another one by now", "somebody has changed it since you looked at it", "Look again, and decide anew.")


def _entry(document: Document, name: str) -> dict[str, Any]:
    _check_server(document, name)
    return _object(document["mcpServers"], name)


def _check_http(http: Mapping[str, Any]) -> None:
    """What it would say is not used as long as a part of it cannot be."""
    try:
        HttpSettings.model_validate(http)
    except ValidationError as error:
        raise TooltrayError("HTTP cannot be switched on", f"publish: http: {in_words(error)}", CORRECT_IT) from None


def _object(document: Document, key: str) -> dict[str, Any]:
    if not isinstance(document.get(key), dict):
        document[key] = {}
    found: dict[str, Any] = document[key]
    return found


def _set_default(document: Document, name: str, is_default: bool) -> None:
    names = document.get("defaultServers")
    names = names if isinstance(names, list) else []
    if is_default != (name in names):
        document["defaultServers"] = [*names, name] if is_default else [other for other in names if other != name]


def _set_field(entry: dict[str, Any], field: str, value: Any) -> None:
    """Sets a field in the spelling that the entry has already, else in ours."""
    spellings = SPELLINGS.get(field, (to_camel(field),))
    for spelling in [spelling for spelling in spellings if spelling in entry] or spellings[:1]:
        if value is None:
            entry.pop(spelling, None)
        else:
            entry[spelling] = to_jsonable_python(value, by_alias=True, exclude_none=True)
