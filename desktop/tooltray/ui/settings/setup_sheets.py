"""The sheets of the Settings page: another npm registry, and what an import or a reset would change; and the choice of a file for both.

Above it: the page. Below it: those sheets, and SettingsCommands.
"""

from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog

from tooltray.ui.i18n import tr
from tooltray.ui.pages.page_context import PageContext
from tooltray.ui.settings.add_registry import AddRegistryPanel
from tooltray.ui.settings.settings_commands import SettingsCommands, SetupPreview
from tooltray.ui.settings.setup_changes import SetupChangesPanel

SETUP_FILES = "JSON (*.json)"


class SetupSheets(QObject):
    def __init__(self, context: PageContext, parent: QObject, *, commands: SettingsCommands) -> None:
        super().__init__(parent)
        self._theme, self._window, self._place, self._settings = context.theme, context.window, context.sheets, commands
        self._preview: SetupPreview | None = None  # asked for, and another sheet was in its way
        commands.previewed.connect(self._on_previewed)
        context.sheets.freed.connect(self._show_waiting)

    def open_add_registry(self) -> None:
        """Opens the sheet that adds an npm registry."""
        if self._place.sheet is not None:
            return
        panel, settings = AddRegistryPanel(self._theme), self._settings
        panel.use_requested.connect(settings.use_registry)
        settings.registry_refused.connect(panel.show_refusal)
        sheet = self._place.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        settings.registry_saved.connect(sheet.dismiss)

    def export(self) -> None:
        """Asks for a file, and writes everything into it."""
        self._choose_file(tr("Export a backup"), saves=True).fileSelected.connect(self._settings.export)

    def open_import(self) -> None:
        """Asks for a file, and shows what it would change."""
        self._choose_file(tr("Import a backup"), saves=False).fileSelected.connect(self._settings.open_import)

    @property
    def has_waiting(self) -> bool:
        """Whether something was asked for that another sheet keeps away."""
        return self._preview is not None

    def _show_waiting(self) -> None:
        """Shows what was asked for while another sheet was in its way."""
        if self._place.sheet is None and self._preview is not None:
            preview, self._preview = self._preview, None
            self._open_preview(preview)

    def _on_previewed(self, preview: SetupPreview) -> None:
        """Shows what an import or a reset would do: in the sheet that asked, in a new one, or once no other is in its way."""
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
