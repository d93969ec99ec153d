"""The tab of settings about backups: exporting and importing servers and settings as one file, and the starter servers."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.foundation.tasks import finish_in_thread
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.settings.backup_sheet import BackupSheet
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.page_frame import ReadingScroll
from tooltray.ui.widgets.setting_rows import group, setting_row
from tooltray.ui.widgets.surface import column

LONGEST_FILE = 8_000_000  # bytes; a set-up of a thousand servers is far smaller, and this is read into memory
PRIVATE = 0o600  # a set-up has no secrets, and still is nobody else's business
SETUP_FILES = "JSON (*.json)"


class BackupTab(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme, self._area = context.theme, ReadingScroll(tr("Backup"))
        self._waiting: tuple[Mapping[str, object] | None, Sequence[SetupChange]] | None = None  # another sheet was in its way
        column(self).addWidget(self._area)
        text = ElidedLabel(theme, tr("Servers and settings as one file, without secrets."), "caption", "muted")
        self._section = Section(context, tr("Backup"), text)
        export, take_in, reset = (
            Button(theme, words, small=True) for words in (tr("Export…"), tr("Import…"), tr("Restore starter servers…"))
        )
        export.clicked.connect(self._on_export)
        take_in.clicked.connect(self._on_import)
        reset.clicked.connect(lambda: self.run(self._preview_reset(), button=reset))
        rows = (
            setting_row(theme, tr("Export"), tr("For another computer, or to keep."), export),
            setting_row(theme, tr("Import"), tr("You see what changes first."), take_in),
            setting_row(theme, tr("Starter servers"), tr("The servers that come with Tooltray become as they came. Your own stay."), reset),
        )
        self._section.body.addWidget(group(theme, *rows))
        self._area.body.addWidget(self._section)
        self._area.body.addStretch(1)
        self.enable(False)
        context.sheets.freed.connect(self._on_freed)

    def enable(self, is_usable: bool) -> None:
        self._area.content.setEnabled(is_usable)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure above the rows; None removes it."""
        self._section.show_problem(problem)

    def show_changes(self, setup: Mapping[str, object] | None, changes: Sequence[SetupChange]) -> None:
        """Shows what an import, or a reset if `setup` is None, would do: in the sheet that is about it, in a new one, or after another
        sheet is closed.
        """
        panel = self.context.sheets.panel
        if isinstance(panel, BackupSheet) and panel.is_of(setup):
            panel.show_changes(changes, is_replacing=False)
        elif self.context.sheets.show(BackupSheet(self.context, setup, changes)) is None:
            self._waiting = setup, changes

    @property
    def has_waiting(self) -> bool:
        """Whether changes wait for another sheet to be closed."""
        return self._waiting is not None

    def _on_freed(self) -> None:
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self.show_changes(*waiting)

    def _on_export(self) -> None:
        dialog = self._choose_file(tr("Export a backup"), lambda path: self.run(self._export(Path(path))))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("json")
        dialog.selectFile("tooltray.json")
        dialog.open()

    def _on_import(self) -> None:
        dialog = self._choose_file(tr("Import a backup"), lambda path: self.run(self._preview_import(Path(path))))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.open()

    def _choose_file(self, title: str, use: Callable[[str], None]) -> QFileDialog:
        dialog = QFileDialog(self.context.window, title, "", SETUP_FILES)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(use)
        return dialog

    async def _preview_reset(self) -> None:
        self.show_changes(None, await self.hub.setup.preview_reset())

    async def _preview_import(self, path: Path) -> None:
        setup = await finish_in_thread(_read, path)
        self.show_changes(setup, await self.hub.setup.preview_import(setup, False))

    async def _export(self, path: Path) -> None:
        text = json.dumps(await self.hub.setup.export_setup(), indent=2, ensure_ascii=False) + "\n"
        try:
            await finish_in_thread(self.context.local.save_file, path, text.encode(), PRIVATE)
        except OSError as error:
            raise TooltrayError(tr("The file could not be written"), f"{path}: {error.strerror or error}") from None
        self.context.say(tr("Exported to {file}", file=path.name))


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
