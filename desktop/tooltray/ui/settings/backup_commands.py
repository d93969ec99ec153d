"""Carries out the user's actions on backups, and reports the outcome. Knows no widget."""

import json
from collections.abc import Coroutine, Mapping, Sequence
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.foundation.tasks import TaskKeeper, finish_in_thread
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, action
from tooltray.ui.kit.window_memory import SaveFile
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter

LONGEST_FILE = 8_000_000  # bytes; a set-up of a thousand servers is far smaller, and this is read into memory
PRIVATE = 0o600  # a set-up has no secrets, and still is nobody else's business


class SetupPreview(msgspec.Struct, frozen=True):
    """The changes of an import, or of resetting the default servers, for which `setup` is None."""

    setup: Mapping[str, object] | None
    is_replacing: bool  # servers of the same name
    changes: Sequence[SetupChange]

    def is_of(self, other: "SetupPreview") -> bool:
        """Returns whether both previews are about the same import, whatever it does to servers of the same name."""
        return self.setup == other.setup


class BackupCommands(Commands):
    previewed = Signal(object)  # SetupPreview
    setup_done = Signal()
    setup_refused = Signal(object)  # Problem

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None, save_file: SaveFile) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._save_file = save_file

    @action()
    async def preview_reset(self) -> None:
        self.previewed.emit(SetupPreview(None, False, tuple(await self._hub.setup.preview_reset())))

    @action()
    async def preview_import(self, setup: Mapping[str, object], replace: bool) -> None:
        """Previews an import for an open sheet; emits `previewed` or `setup_refused`."""
        try:
            changes = await self._hub.setup.preview_import(setup, replace)
        except TooltrayError as error:
            self.setup_refused.emit(error.problem)
        else:
            self.previewed.emit(SetupPreview(setup, replace, tuple(changes)))

    @action()
    async def open_import(self, path: str) -> None:
        """Reads a file that the user chose; emits `previewed` with the changes."""
        setup = await finish_in_thread(_read, Path(path))
        self.previewed.emit(SetupPreview(setup, False, tuple(await self._hub.setup.preview_import(setup, False))))

    @action()
    async def reset(self) -> None:
        await self._carry_out(self._hub.setup.reset_to_default_servers(), tr("The starter servers are back"))

    @action()
    async def import_setup(self, setup: Mapping[str, object], replace: bool) -> None:
        await self._carry_out(self._hub.setup.import_setup(setup, replace), tr("The backup is imported"))

    @action()
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
    """Reads a file that should be a backup.

    Raises:
        TooltrayError: it cannot be read, or is not a backup.
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
        raise TooltrayError(tr("This file is not a backup"), str(path), tr("Choose a file that Tooltray has exported."))
    return document
