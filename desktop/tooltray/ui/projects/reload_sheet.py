"""The sheet that shows what reading the files again would change, and then does it."""

from collections.abc import Sequence

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.setup import ReloadChange
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.projects.file_words import reload_does_something, reload_file, reload_look, reload_name
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import Surface, column
from tooltray.ui.widgets.table import Table

WIDTH = 760


class ReloadSheet(SheetView):
    """A sheet with the changes that a reload would make.

    Args:
        read: reads what the page shows of files.
    """

    def __init__(self, context: PageContext, changes: Sequence[ReloadChange], read: Work) -> None:
        super().__init__(context, tr("Read the files again"), WIDTH)
        theme, self._read, self._can_go = context.theme, read, reload_does_something(changes)
        text = tr("This is what would change. Calls to other servers continue. Nothing has been done yet.")
        quiet = tr("No changes. These need your review first.") if changes else tr("All servers run as in their files. Nothing to do.")
        self.body.addWidget(Label(theme, text if self._can_go else quiet, "body", "secondary", wrap=True))
        columns = [
            Column(tr("Name"), reload_name, Kind.TEXT, 148),
            Column(tr("Change"), reload_look, Kind.STATE, 132),
            Column(tr("Details"), lambda each: say(each.detail), Kind.QUIET),
            Column(tr("File"), reload_file, Kind.QUIET, 140, lambda each: each.file),
        ]
        table = Table(
            theme, columns, tr("What changes"), lambda each: (each.file, each.kind, each.name, each.detail), in_card=True, has_header=True
        )
        table.set_rows(changes)
        table.fit_height()
        box = Surface(theme, "surface", "border", "m")
        column(box, margins=(14, 1, 14, 1)).addWidget(table)
        self.body.addWidget(box)
        box.setVisible(bool(changes))
        self.set_first_focus(self.add_button(tr("Cancel") if self._can_go else tr("Close"), self.close_requested.emit))
        self._go = self.add_button(tr("Reload now"), self._on_go, "primary")
        self._go.setVisible(self._can_go)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top, and lets the user try again; None removes it."""
        super().show_problem(problem)
        if problem is not None:
            self._set_busy(False)

    def _on_go(self) -> None:
        self._set_busy(True)
        self.show_problem(None)
        self.run(self._reload(), then=self._read, toast=tr("The files are read again"))

    async def _reload(self) -> None:
        await self.hub.files.reload()
        self.close_requested.emit()

    def _set_busy(self, is_busy: bool) -> None:
        self._go.setText(tr("Reading…") if is_busy else tr("Reload now"))
        self._go.setEnabled(not is_busy)
