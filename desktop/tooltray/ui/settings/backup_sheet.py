"""The sheet that shows what an import or the starter servers would change, and then does it."""

from collections.abc import Mapping, Sequence

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.setup import SetupChange
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.state_language import Look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Switch
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import setting_row
from tooltray.ui.widgets.surface import Surface, column
from tooltray.ui.widgets.table import Table

WIDTH = 680


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
        self.body.addWidget(self._what)
        self._table = self._add_table(theme)
        self._replace = Switch(theme, tr("Replace servers of the same name"))
        self._replace.clicked.connect(self._on_replace)
        if setup is not None:
            text = tr("Otherwise yours stay as they are.")
            self.body.addWidget(setting_row(theme, tr("Replace servers of the same name"), text, self._replace))
        self.set_first_focus(self.add_button(tr("Cancel"), self.close_requested.emit))
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
    match change.subject:
        case "server":
            return tr("Server")
        case "default":
            return tr("Start")
        case "secret":
            return tr("Secret")
        case _:
            return tr("Setting")


def does_something(changes: Sequence[SetupChange]) -> bool:
    """Returns whether an import would change anything; secrets to enter do not count."""
    return any(change.kind != "keep" and change.subject != "secret" for change in changes)
