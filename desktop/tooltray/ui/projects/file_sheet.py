"""The sheet of one file with servers in it: its servers and its problems."""

from tooltray.foundation.snapshots.setup import ServerFileSnapshot
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.origins import visible_path
from tooltray.ui.projects.file_words import entry_look, file_kind, file_title, here, problem_line, problem_text, problem_title
from tooltray.ui.state_language import UNKNOWN
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import Surface, clear, column
from tooltray.ui.widgets.table import Table

WIDTH = 680
MOST_PROBLEMS = 10  # in full; the first ones are often the cause of the others


class FileSheet(SheetView):
    """A sheet with a file's servers and problems; its buttons open the file, or its folder."""

    def __init__(self, context: PageContext, file: ServerFileSnapshot) -> None:
        super().__init__(context, file_title(file), WIDTH)
        theme, self._path = context.theme, file.path
        self.body.addWidget(CodeLabel(theme, visible_path(file.path), "secondary"))
        self._kind = Label(theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._kind)
        self._problems = column(spacing=8)
        self.body.addLayout(self._problems)
        self._table = Table(
            theme, _columns(), tr("Servers of the file"), lambda each: (each.name, each.line), in_card=True, has_header=True
        )
        self._box = Surface(theme, "surface", "border", "m")
        column(self._box, margins=(14, 1, 14, 1)).addWidget(self._table)
        self.body.addWidget(self._box)
        place = Button(theme, tr("Open folder"), "ghost", "folder")
        place.clicked.connect(lambda: context.wishes.file_place_requested.emit(self._path))
        self.buttons.addWidget(place)
        self.buttons.addStretch(1)
        self.set_first_focus(self.add_button(tr("Close"), self.close_requested.emit))
        self._open = self.add_button(tr("Open the file"), lambda: context.wishes.file_requested.emit(self._path), "primary", "external")
        self.set_file(file)

    @property
    def path(self) -> str:
        return self._path

    def set_file(self, file: ServerFileSnapshot) -> None:
        """Shows a newer snapshot of the file."""
        words = [file_kind(file), tr("its endpoint: {url}", url=file.url) if file.url else ""]
        self._kind.setText(" · ".join(word for word in words if word))
        self._open.setEnabled(file.exists)
        clear(self._problems)
        for problem in file.problems[:MOST_PROBLEMS]:
            text = "\n".join(part for part in (problem_text(problem), problem_line(problem)) if part)
            self._problems.addWidget(Banner(self._theme, "error", problem_title(problem), text))
        if (more := len(file.problems) - MOST_PROBLEMS) > 0:
            text = many(more, "1 more problem", "{count} more problems")
            self._problems.addWidget(Label(self._theme, text, "caption", "muted"))
        self._table.set_rows(file.entries)
        self._table.fit_height()
        self._box.setVisible(bool(file.entries))


def _columns() -> list[Column]:
    return [
        Column(tr("Server"), lambda each: each.name),
        Column(tr("Called here"), here, Kind.QUIET, 170),
        Column(tr("State"), entry_look, Kind.STATE, 160),
        Column(tr("Line"), lambda each: str(each.line or UNKNOWN), Kind.NUMBER, 60),
    ]
