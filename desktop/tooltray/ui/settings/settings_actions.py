"""Carries out what a person asks for on the Settings page, and says how it went.

Above it: the window, whose Settings page and sheets it serves. Below it: the Qt presenter layer and files that the person chose. Knows no
widget.
"""

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from tooltray.errors import TooltrayError
from tooltray.snapshots.setup import SetupChange
from tooltray.tasks import TaskKeeper, finish_in_thread
from tooltray.ui.i18n import tr
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter

LONGEST_FILE = 8_000_000  # bytes; a set-up of a thousand servers is far smaller, and this is read into memory
PRIVATE = 0o600  # a set-up has no secrets, and still is nobody else's business

SaveFile = Callable[[Path, bytes, int], None]
"""Writes a file, whole or not at all, with these permission bits; blocks, and raises OSError."""


@dataclass(frozen=True)
class SetupPreview:
    """What an import would change, or putting the default servers back, for which `setup` is None."""

    setup: Mapping[str, Any] | None
    is_replacing: bool  # servers of the same name
    changes: Sequence[SetupChange]

    def is_of(self, other: "SetupPreview") -> bool:
        """Whether both are about the same wish, whatever it does to servers of the same name."""
        return self.setup == other.setup


class SettingsCommands(QObject):
    registry_changed = Signal(object)  # NpmRegistryStatus
    http_changed = Signal(object)  # HttpStatus
    failed = Signal(str, object)  # "registry", "http" or "setup"; Problem, or None once it is over
    registry_saved = Signal()
    registry_refused = Signal(object)  # Problem
    previewed = Signal(object)  # SetupPreview
    setup_done = Signal()
    setup_refused = Signal(object)  # Problem
    done = Signal(str)  # what was done, to be said in passing

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, save_file: SaveFile) -> None:
        super().__init__()
        self._hub, self._tasks, self._save_file = hub, tasks, save_file
        hub.npm_registry_changed.connect(self.registry_changed)

    def look(self) -> None:
        """Asks for everything that the page shows."""
        self._do("registry", self._look_registry)
        self._do("http", self._look_http)

    async def _look_registry(self) -> None:
        self.registry_changed.emit(await self._hub.registries.get_npm_registry_status())

    async def _look_http(self) -> None:
        self.http_changed.emit(await self._hub.access.get_http_status())

    # npm registries

    def measure(self) -> None:
        self._do("registry", self._measure)

    def set_auto_detect(self, is_on: bool) -> None:
        self._do("registry", self._set_auto_detect, is_on)

    def use_registry(self, url: str) -> None:
        """Measures a registry and uses it from now on: `registry_saved` or `registry_refused`."""
        self._do("registry", self._use_registry, url)

    def clear_registry(self) -> None:
        self._do("registry", self._clear_registry)

    async def _measure(self) -> None:
        self.registry_changed.emit(await self._hub.registries.refresh_npm_registry())

    async def _set_auto_detect(self, is_on: bool) -> None:
        try:
            await self._hub.registries.set_auto_detect_npm_registry(is_on)
        finally:
            await self._look_registry()  # the switch then stands where it truly is

    async def _use_registry(self, url: str) -> None:
        try:
            status = await self._hub.registries.set_custom_npm_registry(url)
        except TooltrayError as error:
            self.registry_refused.emit(error.problem)
            return
        self.registry_changed.emit(status)
        self.registry_saved.emit()
        self.done.emit(tr("Servers now use this registry"))

    async def _clear_registry(self) -> None:
        self.registry_changed.emit(await self._hub.registries.set_custom_npm_registry(""))

    # HTTP

    def set_http(self, is_on: bool) -> None:
        self._do("http", self._set_http, is_on)

    async def _set_http(self, is_on: bool) -> None:
        try:
            await self._hub.access.set_http_enabled(is_on)
        finally:
            await self._look_http()

    # the whole set-up

    def preview_reset(self) -> None:
        self._do("setup", self._preview_reset)

    def preview_import(self, setup: Mapping[str, Any], replace: bool) -> None:
        """Says what an import would do, for a sheet that is open: `previewed` or `setup_refused`."""
        self._do("setup", self._preview_import, setup, replace)

    def open_import(self, path: str) -> None:
        """Reads a file that a person chose; `previewed` says what it would do."""
        self._do("setup", self._open_import, Path(path))

    def reset(self) -> None:
        self._do("setup", self._carry_out, self._hub.setup.reset_to_default_servers, tr("The starter servers are back"))

    def import_setup(self, setup: Mapping[str, Any], replace: bool) -> None:
        async def verb() -> object:
            return await self._hub.setup.import_setup(setup, replace)

        self._do("setup", self._carry_out, verb, tr("The backup is imported"))

    def export(self, path: str) -> None:
        self._do("setup", self._export, Path(path))

    async def _preview_reset(self) -> None:
        self.previewed.emit(SetupPreview(None, False, tuple(await self._hub.setup.preview_reset())))

    async def _preview_import(self, setup: Mapping[str, Any], replace: bool) -> None:
        try:
            changes = await self._hub.setup.preview_import(setup, replace)
        except TooltrayError as error:
            self.setup_refused.emit(error.problem)
        else:
            self.previewed.emit(SetupPreview(setup, replace, tuple(changes)))

    async def _open_import(self, path: Path) -> None:
        setup = await finish_in_thread(_read, path)
        self.previewed.emit(SetupPreview(setup, False, tuple(await self._hub.setup.preview_import(setup, False))))

    async def _carry_out(self, verb: Callable[[], Coroutine[Any, Any, object]], said: str) -> None:
        try:
            await verb()
        except TooltrayError as error:
            self.setup_refused.emit(error.problem)
            return
        self.setup_done.emit()
        self.done.emit(said)

    async def _export(self, path: Path) -> None:
        text = json.dumps(await self._hub.setup.export_setup(), indent=2, ensure_ascii=False) + "\n"
        try:
            await finish_in_thread(self._save_file, path, text.encode(), PRIVATE)
        except OSError as error:
            raise TooltrayError(tr("The file could not be written"), f"{path}: {error.strerror or error}") from None
        self.done.emit(tr("Exported to {file}", file=path.name))

    def _do(self, where: str, verb: Callable[..., Coroutine[Any, Any, Any]], *arguments: object) -> None:
        self._tasks.spawn(self._reported(where, verb, arguments), name=f"settings: {verb.__name__}")

    async def _reported(self, where: str, verb: Callable[..., Coroutine[Any, Any, Any]], arguments: tuple[object, ...]) -> None:
        try:
            await verb(*arguments)
        except TooltrayError as error:
            self.failed.emit(where, error.problem)
        else:
            self.failed.emit(where, None)


def _read(path: Path) -> dict[str, Any]:
    """Reads a file that should be a set-up.

    Raises:
        TooltrayError: it cannot be read, or is none.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LONGEST_FILE + 1)
        document = json.loads(data) if len(data) <= LONGEST_FILE else None
    except OSError as error:
        raise TooltrayError(tr("The file could not be read"), f"{path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise TooltrayError(tr("This file is no backup"), str(path), tr("Choose a file that Tooltray has exported."))
    return document
