"""The tab of settings about backups: exporting and importing servers and settings as one file, and the starter servers; and the sheet that
shows what an import or the starter servers would change, and then does it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.foundation.tasks import finish_in_thread
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.settings.settings_tab import SettingsTab
from tooltray.ui.state_language import Look
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import group, lines_box, setting_row
from tooltray.ui.widgets.surface import fill
from tooltray.ui.widgets.table import Table

LONGEST_FILE = 8_000_000  # bytes; a set-up of a thousand servers is far smaller, and this is read into memory
PRIVATE = 0o600  # a set-up has no secrets, and still is nobody else's business
WIDTH = 680
SETUP_FILES = "JSON (*.json)"


class BackupTab(SettingsTab):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("Backup"))
        theme = context.theme
        self._waiting: tuple[Mapping[str, object] | None, Sequence[SetupChange]] | None = None  # another sheet was in its way
        text = ElidedLabel(theme, tr("Servers and settings as one file, without secrets."), "caption", "muted")
        self._section = Section(context, tr("Backup"), text)
        export = Button(theme, tr("Export…"), small=True, on_click=self._on_export)
        take_in = Button(theme, tr("Import…"), small=True, on_click=self._on_import)
        reset = Button(theme, tr("Restore starter servers…"), small=True)
        reset.clicked.connect(lambda: self._section.run(self._preview_reset(), button=reset))
        rows = (
            setting_row(theme, tr("Export"), tr("For another computer, or to keep."), export),
            setting_row(theme, tr("Import"), tr("You see what changes first."), take_in),
            setting_row(theme, tr("Starter servers"), tr("The servers that come with Tooltray become as they came. Your own stay."), reset),
        )
        self._section.body.addWidget(group(theme, *rows))
        fill(self.body, self._section, 1)
        context.sheets.freed.connect(self._on_freed)

    def show_changes(self, setup: Mapping[str, object] | None, changes: Sequence[SetupChange]) -> None:
        """Shows what an import, or a reset if `setup` is None, would do: in the sheet that is about it, in a new one, or after another
        sheet is closed.
        """
        panel = self.context.sheets.panel
        if isinstance(panel, BackupSheet) and panel.is_of(setup):
            panel.show_changes(changes, is_replacing=False)
        elif self.context.sheets.show(BackupSheet(self.context, setup, changes)) is None:
            self._waiting = setup, changes

    def _on_freed(self) -> None:
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            self.show_changes(*waiting)

    def _on_export(self) -> None:
        title, name = tr("Export a backup"), "tooltray.json"
        self.context.choose_new_file(title, name, lambda path: self._section.run(self._export(Path(path))), kind=SETUP_FILES)

    def _on_import(self) -> None:
        dialog = QFileDialog(self.context.window, tr("Import a backup"), "", SETUP_FILES)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda path: self._section.run(self._preview_import(Path(path))))
        dialog.open()

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


class BackupSheet(SheetView):
    """A sheet with the changes of an import, or of resetting the default servers.

    Args:
        setup: what is imported; None: the default servers are reset.
        changes: without replacing servers of the same name.
    """

    def __init__(self, context: PageContext, setup: Mapping[str, object] | None, changes: Sequence[SetupChange]) -> None:
        super().__init__(context, tr("Restore starter servers") if setup is None else tr("Import a backup"), WIDTH)
        theme, self._setup = context.theme, setup
        self._words = (tr("Restore"), tr("Restoring…")) if setup is None else (tr("Import"), tr("Importing…"))
        self._what = Label(theme, "", "body", "secondary", wrap=True)
        columns = [
            Column(tr("Name"), lambda each: each.name, Kind.TEXT, 160),
            Column(tr("What"), subject, Kind.QUIET, 124),
            Column(tr("Change"), change_look, Kind.STATE, 116),
            Column(tr("Details"), lambda each: say(each.detail), Kind.QUIET),
        ]
        name = tr("What changes")
        self._table = Table(theme, columns, name, lambda each: (each.subject, each.name), in_card=True, has_header=True)
        self._box = lines_box(theme, [self._table], margin=1)
        self._replace = Switch(theme, tr("Replace servers of the same name"))
        self._replace.clicked.connect(self._on_replace)
        fill(self.body, self._what, self._box)
        if setup is not None:
            text = tr("Otherwise yours stay as they are.")
            self.body.addWidget(setting_row(theme, tr("Replace servers of the same name"), text, self._replace))
        self.set_first_focus(self.add_button(tr("Cancel"), self.leave))
        self._go = self.add_button(self._words[0], self._on_go, "primary")
        self.show_changes(changes, is_replacing=False)

    def is_of(self, setup: Mapping[str, object] | None) -> bool:
        """Returns whether it is about this import, or about resetting."""
        return self._setup == setup

    def show_changes(self, changes: Sequence[SetupChange], *, is_replacing: bool) -> None:
        """Shows the changes, unless the switch is in the other position: then others will follow."""
        if is_replacing != self._replace.isChecked():
            return
        super().show_problem(None)
        is_something = does_something(changes)
        self._what.setText(tr("This is what changes. Nothing is done yet.") if is_something else tr("Everything is so already."))
        self._table.set_rows(changes)
        self._table.fit_height()
        self._box.setVisible(bool(changes))
        self._set_busy(False)
        self._go.setEnabled(is_something)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top, and lets the user try again; None removes it."""
        super().show_problem(problem)
        if problem is not None:
            self._set_busy(False)

    def _on_replace(self, is_on: bool) -> None:
        self._go.setEnabled(False)  # until it is known what that would do
        self.run(self._preview(is_on))

    async def _preview(self, is_replacing: bool) -> None:
        if self._setup is not None:
            self.show_changes(await self.hub.setup.preview_import(self._setup, is_replacing), is_replacing=is_replacing)

    def _on_go(self) -> None:
        self._set_busy(True)
        self.run(self._apply(), toast=tr("The starter servers are back") if self._setup is None else tr("The backup is imported"))

    async def _apply(self) -> None:
        if self._setup is None:
            await self.hub.setup.reset_to_default_servers()
        else:
            await self.hub.setup.import_setup(self._setup, self._replace.isChecked())
        self.close_requested.emit()

    def _set_busy(self, is_busy: bool) -> None:
        self._go.setText(self._words[is_busy])
        self._go.setEnabled(not is_busy)
        self._replace.setEnabled(not is_busy)


def change_look(change: SetupChange) -> Look:
    """Returns the look of a change: shape, colour and word."""
    match change.kind:
        case "add" if change.subject == "secret":
            return Look("state-waiting", "warning", tr("To be given"))
        case "add" | "remove" if change.subject == "default":
            return Look("state-waiting", "warning", tr("Is changed"))
        case "add":
            return Look("state-connected", "success", tr("Is added"))
        case "replace":
            return Look("state-waiting", "warning", tr("Is replaced"))
        case "remove":
            return Look("state-error", "error", tr("Is removed"))
        case _:
            return Look("state-off", "neutral", tr("Stays"))


def subject(change: SetupChange) -> str:
    names = {"server": tr("Server"), "default": tr("Start"), "secret": tr("Secret")}
    return names.get(change.subject) or tr("Setting")


def does_something(changes: Sequence[SetupChange]) -> bool:
    """Returns whether an import would change anything; secrets to enter do not count."""
    return any(change.kind != "keep" and change.subject != "secret" for change in changes)
