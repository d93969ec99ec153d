"""Carries out what a person asks for on the Settings page, and says how it went.

Above it: the window, whose Settings page and sheets it serves. Below it: the Qt presenter layer and files that the person chose. Knows no
widget.
"""

import json
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import Signal

from tooltray.errors import Problem, TooltrayError
from tooltray.snapshots.setup import SetupChange
from tooltray.tasks import TaskKeeper, finish_in_thread
from tooltray.ui.i18n import tr
from tooltray.ui.pages.action import Commands, Place, action
from tooltray.ui.pages.window_memory import SaveFile
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter

LONGEST_FILE = 8_000_000  # bytes; a set-up of a thousand servers is far smaller, and this is read into memory
PRIVATE = 0o600  # a set-up has no secrets, and still is nobody else's business


class SetupPreview(msgspec.Struct, frozen=True):
    """What an import would change, or putting the default servers back, for which `setup` is None."""

    setup: Mapping[str, object] | None
    is_replacing: bool  # servers of the same name
    changes: Sequence[SetupChange]

    def is_of(self, other: "SetupPreview") -> bool:
        """Whether both are about the same wish, whatever it does to servers of the same name."""
        return self.setup == other.setup


def at_section(name: str) -> Place:
    """Above a section of the page."""

    def show(commands: "SettingsCommands", problem: Problem | None, *_arguments: object) -> None:
        commands.section_failed.emit(name, problem)

    return show


class SettingsCommands(Commands):
    registry_changed = Signal(object)  # NpmRegistryStatus
    http_changed = Signal(object)  # HttpStatus
    section_failed = Signal(str, object)  # "registry", "http" or "setup"; Problem, or None once it is over
    registry_saved = Signal()
    registry_refused = Signal(object)  # Problem
    previewed = Signal(object)  # SetupPreview
    setup_done = Signal()
    setup_refused = Signal(object)  # Problem

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, save_file: SaveFile) -> None:
        super().__init__(hub=hub, tasks=tasks)
        self._save_file = save_file
        hub.npm_registry_changed.connect(self.registry_changed)

    def look(self) -> None:
        """Asks for everything that the page shows."""
        self.look_registry()
        self.look_http()

    @action(at_section("registry"))
    async def look_registry(self) -> None:
        await self._look_registry()

    @action(at_section("http"))
    async def look_http(self) -> None:
        await self._look_http()

    async def _look_registry(self) -> None:
        self.registry_changed.emit(await self._hub.registries.get_npm_registry_status())

    async def _look_http(self) -> None:
        self.http_changed.emit(await self._hub.access.get_http_status())

    # npm registries

    @action(at_section("registry"))
    async def measure(self) -> None:
        self.registry_changed.emit(await self._hub.registries.refresh_npm_registry())

    @action(at_section("registry"))
    async def set_auto_detect(self, is_on: bool) -> None:
        try:
            await self._hub.registries.set_auto_detect_npm_registry(is_on)
        finally:
            await self._look_registry()  # the switch then stands where it truly is

    @action(at_section("registry"))
    async def use_registry(self, url: str) -> None:
        """Measures a registry and uses it from now on: `registry_saved` or `registry_refused`."""
        try:
            status = await self._hub.registries.set_custom_npm_registry(url)
        except TooltrayError as error:
            self.registry_refused.emit(error.problem)
            return
        self.registry_changed.emit(status)
        self.registry_saved.emit()
        self.done.emit(tr("Servers now use this registry"))

    @action(at_section("registry"))
    async def clear_registry(self) -> None:
        self.registry_changed.emit(await self._hub.registries.set_custom_npm_registry(""))

    # HTTP

    @action(at_section("http"))
    async def set_http(self, is_on: bool) -> None:
        try:
            await self._hub.access.set_http_enabled(is_on)
        finally:
            await self._look_http()

    # the whole set-up

    @action(at_section("setup"))
    async def preview_reset(self) -> None:
        self.previewed.emit(SetupPreview(None, False, tuple(await self._hub.setup.preview_reset())))

    @action(at_section("setup"))
    async def preview_import(self, setup: Mapping[str, object], replace: bool) -> None:
        """Shows what an import would do, for a sheet that is open: `previewed` or `setup_refused`."""
        try:
            changes = await self._hub.setup.preview_import(setup, replace)
        except TooltrayError as error:
            self.setup_refused.emit(error.problem)
        else:
            self.previewed.emit(SetupPreview(setup, replace, tuple(changes)))

    @action(at_section("setup"))
    async def open_import(self, path: str) -> None:
        """Reads a file that a person chose; `previewed` says what it would do."""
        setup = await finish_in_thread(_read, Path(path))
        self.previewed.emit(SetupPreview(setup, False, tuple(await self._hub.setup.preview_import(setup, False))))

    @action(at_section("setup"))
    async def reset(self) -> None:
        await self._carry_out(self._hub.setup.reset_to_default_servers(), tr("The starter servers are back"))

    @action(at_section("setup"))
    async def import_setup(self, setup: Mapping[str, object], replace: bool) -> None:
        await self._carry_out(self._hub.setup.import_setup(setup, replace), tr("The backup is imported"))

    @action(at_section("setup"))
    async def export(self, path: str) -> None:
        text = json.dumps(await self._hub.setup.export_setup(), indent=2, ensure_ascii=False) + "\n"
        try:
            await finish_in_thread(self._save_file, Path(path), text.encode(), PRIVATE)
        except OSError as error:
            raise TooltrayError(tr("The file could not be written"), f"{path}: {error.strerror or error}") from None
        self.done.emit(tr("Exported to {file}", file=Path(path).name))

    async def _carry_out(self, work: Coroutine[object, object, object], done: str) -> None:
        try:
            await work
        except TooltrayError as error:
            self.setup_refused.emit(error.problem)
            return
        self.setup_done.emit()
        self.done.emit(done)


def _read(path: Path) -> dict[str, object]:
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
