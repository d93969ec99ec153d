"""The sheet of one file with servers in it, and the sheet that shows what reading the files again would change, and then does it."""

from collections.abc import Sequence

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.setup import ReloadChange, ServerFileSnapshot
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.origins import visible_path
from tooltray.ui.problem_words import sentences
from tooltray.ui.projects.file_words import (
    entry_look,
    file_kind,
    file_title,
    here,
    problem_line,
    problem_title,
    reload_does_something,
    reload_file,
    reload_look,
    reload_name,
)
from tooltray.ui.state_language import UNKNOWN
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import lines_box
from tooltray.ui.widgets.surface import clear, column, fill
from tooltray.ui.widgets.table import Table

WIDTH, RELOAD_WIDTH = 680, 760
MOST_PROBLEMS = 10  # in full; the first ones are often the cause of the others


class FileSheet(SheetView):
    """A sheet with a file's servers and problems; its buttons open the file, or its folder."""

    def __init__(self, context: PageContext, file: ServerFileSnapshot) -> None:
        super().__init__(context, file_title(file), WIDTH)
        theme, wishes, self.path = context.theme, context.wishes, file.path
        self._kind = Label(theme, "", "caption", "muted", wrap=True)
        self._problems = column(spacing=8)
        columns = [
            Column(tr("Server"), lambda each: each.name),
            Column(tr("Called here"), here, Kind.QUIET, 170),
            Column(tr("State"), entry_look, Kind.STATE, 160),
            Column(tr("Line"), lambda each: str(each.line or UNKNOWN), Kind.NUMBER, 60),
        ]
        name = tr("Servers of the file")
        self._table = Table(theme, columns, name, lambda each: (each.name, each.line), in_card=True, has_header=True)
        self._box = lines_box(theme, [self._table], margin=1)
        fill(self.body, CodeLabel(theme, visible_path(file.path), "secondary"), self._kind, self._problems, self._box)
        open_folder = Button(theme, tr("Open folder"), "ghost", "folder", on_click=lambda: wishes.file_place_requested.emit(self.path))
        fill(self.buttons, open_folder, 1)
        self.set_first_focus(self.add_button(tr("Close"), self.leave))
        self._open = self.add_button(tr("Open the file"), lambda: wishes.file_requested.emit(self.path), "primary", "external")
        self.set_file(file)

    def set_file(self, file: ServerFileSnapshot) -> None:
        """Shows a newer snapshot of the file."""
        self._kind.setText(file_kind(file) + (f" · {tr('its endpoint: {url}', url=file.url)}" if file.url else ""))
        self._open.setEnabled(file.exists)
        clear(self._problems)
        for problem in file.problems[:MOST_PROBLEMS]:
            text = "\n".join(filter(None, (sentences(problem.problem), problem_line(problem))))
            self._problems.addWidget(Banner(self._theme, "error", problem_title(problem), text))
        if (more := len(file.problems) - MOST_PROBLEMS) > 0:
            text = many(more, "1 more problem", "{count} more problems")
            self._problems.addWidget(Label(self._theme, text, "caption", "muted"))
        self._table.set_rows(file.entries)
        self._table.fit_height()
        self._box.setVisible(bool(file.entries))


class ReloadSheet(SheetView):
    """A sheet with the changes that a reload would make.

    Args:
        read: reads what the page shows of files.
    """

    def __init__(self, context: PageContext, changes: Sequence[ReloadChange], read: Work) -> None:
        super().__init__(context, tr("Read the files again"), RELOAD_WIDTH)
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
        table = Table(theme, columns, tr("What changes"), lambda each: each, in_card=True, has_header=True)
        table.set_rows(changes)
        table.fit_height()
        box = lines_box(theme, [table], margin=1)
        self.body.addWidget(box)
        box.setVisible(bool(changes))
        self.set_first_focus(self.add_button(tr("Cancel") if self._can_go else tr("Close"), self.leave))
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
