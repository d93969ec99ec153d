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
from pydantic_core import to_jsonable_python

from tooltray.config.migrations import Document
from tooltray.config.server_config import SPELLINGS, MCPServerConfig
from tooltray.config.settings import HttpSettings, SecretBackend, Settings, check_name, read_entry, read_usable_entry
from tooltray.config.settings_file import Edit, Loaded, SettingsFile
from tooltray.config.usable import CORRECT_IT, in_words
from tooltray.errors import Problem, TooltrayError
from tooltray.events import ConfigChanged, EventBus, ProblemReported

BUILTIN_NAMES = ("hub",)
MAX_PORT = 65535


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

    @property
    def settings(self) -> Settings:
        """What counts now. A change makes a new object; nobody changes this one."""
        return self._loaded.reading.settings

    @property
    def entries(self) -> dict[str, dict[str, Any]]:
        """The entries of `mcpServers` that can be used, as they are in the file; the caller's own copy."""
        return copy.deepcopy({name: self._loaded.document["mcpServers"][name] for name in self.settings.mcp_servers})

    @property
    def document(self) -> Document:
        """The whole file as it is, also what of it cannot be used; the caller's own copy."""
        return copy.deepcopy(self._loaded.document)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the settings, and what was done about it."""
        return self._loaded.notices + self._loaded.reading.problems

    async def load(self) -> None:
        """Reads the file. Never fails; what went wrong is in `problems`."""
        await asyncio.to_thread(self._load)

    async def set_server(self, name: str, entry: Mapping[str, Any] | MCPServerConfig, *, is_default: bool | None = None) -> None:
        """Adds a server, or replaces its entry.

        Args:
            name: what it is called.
            entry: a mapping goes into the file as it is.
            is_default: whether it starts with the hub; None leaves that as it is.

        Raises:
            TooltrayError: the name or the entry cannot be used, or the settings cannot be written.
        """
        check_name(name, self._reserved)
        new = entry.to_entry() if isinstance(entry, MCPServerConfig) else copy.deepcopy(dict(entry))
        read_entry(name, new)

        def edit(document: Document) -> None:
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

        def edit(document: Document) -> None:
            entry = _entry(document, name)
            for field, value in fields.items():
                _set_field(entry, field, value)
            read_usable_entry(name, entry)

        await self._change(edit)

    async def remove_server(self, name: str) -> None:
        """Removes a server, also one whose entry cannot be used.

        Raises:
            TooltrayError: there is no such server, or the settings cannot be written.
        """

        def edit(document: Document) -> None:
            _check_server(document, name)
            del document["mcpServers"][name]
            _set_default(document, name, False)

        await self._change(edit)

    async def set_default(self, name: str, is_default: bool) -> None:
        """Decides whether a server starts with the hub.

        Raises:
            TooltrayError: there is no such server, or the settings cannot be written.
        """

        def edit(document: Document) -> None:
            if is_default and name not in self._reserved:
                _check_server(document, name)
            _set_default(document, name, is_default)

        await self._change(edit)

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
        settings = self.settings
        self._bus.publish(ConfigChanged(self.entries, settings.default_servers, settings.mcp_enabled))


def _check_server(document: Document, name: str) -> None:
    entries = document.get("mcpServers")
    if not isinstance(entries, dict) or name not in entries:
        raise TooltrayError(f"There is no server '{name}'", hint="See which there are: tooltray servers list")


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
    spellings = SPELLINGS.get(field, (MCPServerConfig.model_fields[field].alias or field,))
    for spelling in [spelling for spelling in spellings if spelling in entry] or spellings[:1]:
        if value is None:
            entry.pop(spelling, None)
        else:
            entry[spelling] = to_jsonable_python(value, by_alias=True, exclude_none=True)
