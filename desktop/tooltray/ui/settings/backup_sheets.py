"""The sheets of backups: what an import or the starter servers would change."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.settings.backup_commands import BackupCommands, SetupPreview
from tooltray.ui.settings.backup_words import change_look, does_something, subject
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import setting_row
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import Surface, column
from tooltray.ui.widgets.table import Table

WIDTH = 680


class SetupChangesPanel(SheetFrame):
    """A sheet with the changes of an import. `replace_changed` requests another preview; `confirmed` carries whether servers of the same
    names are replaced.
    """

    replace_changed = Signal(bool)
    confirmed = Signal(bool)

    def __init__(self, theme: Theme, preview: SetupPreview) -> None:
        is_import = preview.setup is not None
        super().__init__(theme, tr("Import a backup") if is_import else tr("Restore starter servers"), WIDTH)
        self._preview = preview
        self._words = (tr("Import"), tr("Importing…")) if is_import else (tr("Restore"), tr("Restoring…"))
        self._what = Label(theme, "", "body", "secondary", wrap=True)
        self.body.addWidget(self._what)
        self._table = self._add_table(theme)
        self._replace = Switch(theme, tr("Replace servers of the same name"))
        self._replace.clicked.connect(self._on_replace)
        if is_import:
            text = tr("Otherwise yours stay as they are.")
            self.body.addWidget(setting_row(theme, tr("Replace servers of the same name"), text, self._replace))
        self.buttons.addStretch(1)
        self._cancel = Button(theme, tr("Cancel"))
        self._cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._cancel)
        self._go = Button(theme, self._words[0], "primary")
        self._go.clicked.connect(self._on_go)
        self.buttons.addWidget(self._go)
        self._show(preview.changes)

    def _add_table(self, theme: Theme) -> Table:
        columns = [
            Column(tr("Name"), lambda each: each.name, Kind.TEXT, 160),
            Column(tr("What"), subject, Kind.QUIET, 124),
            Column(tr("Change"), change_look, Kind.STATE, 116),
            Column(tr("Details"), lambda each: say(each.detail), Kind.QUIET),
        ]
        table = Table(theme, columns, tr("What changes"), lambda each: (each.subject, each.name), in_card=True, has_header=True)
        self._box = Surface(theme, "surface", "border", "m")
        column(self._box, margins=(14, 1, 14, 1)).addWidget(table)
        self.body.addWidget(self._box)
        return table

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_preview(self, preview: SetupPreview) -> bool:
        """Shows the changes for the current position of the switch; returns whether the preview belongs here."""
        if not self._preview.is_of(preview):
            return False
        if preview.is_replacing == self._replace.isChecked():  # else another one is on its way
            self._show(preview.changes)
        return True

    def _show(self, changes: Sequence[SetupChange]) -> None:
        self.show_problem(None)
        is_something = does_something(changes)
        self._what.setText(tr("This is what changes. Nothing is done yet.") if is_something else tr("Everything is so already."))
        self._table.set_rows(changes)
        self._table.fit_height()
        self._box.setVisible(bool(changes))
        self._set_busy(False)
        self._go.setEnabled(is_something)

    def show_refusal(self, problem: Problem) -> None:
        self._set_busy(False)
        self.show_problem(problem)

    def _on_replace(self, is_on: bool) -> None:
        self._go.setEnabled(False)  # until it is known what that would do
        self.replace_changed.emit(is_on)

    def _on_go(self) -> None:
        self._set_busy(True)
        self.confirmed.emit(self._replace.isChecked())

    def _set_busy(self, is_busy: bool) -> None:
        self._go.setText(self._words[is_busy])
        self._go.setEnabled(not is_busy)
        self._replace.setEnabled(not is_busy)


SETUP_FILES = "JSON (*.json)"


class BackupSheets(QObject):
    def __init__(self, context: PageContext, parent: QObject, *, commands: BackupCommands) -> None:
        super().__init__(parent)
        self._theme, self._window, self._place, self._settings = context.theme, context.window, context.sheets, commands
        self._preview: SetupPreview | None = None  # asked for, and another sheet was in its way
        commands.previewed.connect(self._on_previewed)
        context.sheets.freed.connect(self._show_waiting)

    def export(self) -> None:
        """Prompts for a file, and writes everything into it."""
        self._choose_file(tr("Export a backup"), saves=True).fileSelected.connect(self._settings.export)

    def open_import(self) -> None:
        """Prompts for a file, and shows what it would change."""
        self._choose_file(tr("Import a backup"), saves=False).fileSelected.connect(self._settings.open_import)

    @property
    def has_waiting(self) -> bool:
        """Whether a preview waits for another sheet to be closed."""
        return self._preview is not None

    def _show_waiting(self) -> None:
        """Shows the preview that was waiting for another sheet."""
        if self._place.sheet is None and self._preview is not None:
            preview, self._preview = self._preview, None
            self._open_preview(preview)

    def _on_previewed(self, preview: SetupPreview) -> None:
        """Shows what an import or a reset would do: in the sheet that requested it, in a new one, or after another sheet is closed."""
        if self._place.sheet is None:
            self._open_preview(preview)
        elif not (isinstance(panel := self._place.panel, SetupChangesPanel) and panel.set_preview(preview)):
            self._preview = preview

    def _open_preview(self, preview: SetupPreview) -> None:
        panel, settings = SetupChangesPanel(self._theme, preview), self._settings
        if preview.setup is None:
            panel.confirmed.connect(self._on_reset_confirmed)
        else:
            panel.confirmed.connect(partial(settings.import_setup, preview.setup))
            panel.replace_changed.connect(partial(settings.preview_import, preview.setup))
        settings.setup_refused.connect(panel.show_refusal)
        sheet = self._place.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        settings.setup_done.connect(sheet.dismiss)

    def _on_reset_confirmed(self) -> None:
        self._settings.reset()

    def _choose_file(self, title: str, *, saves: bool) -> QFileDialog:
        dialog = QFileDialog(self._window, title, "", SETUP_FILES)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if saves:
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setDefaultSuffix("json")
            dialog.selectFile("tooltray.json")
        else:
            dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.open()
        return dialog
