"""One file with servers in it: where it is, what is wrong in it and on which line, and what became of each of its servers."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent

from tooltray.snapshots.files import ServerFileSnapshot
from tooltray.ui.files.file_words import entry_look, file_kind, file_title, here, problem_line, problem_text, problem_title
from tooltray.ui.i18n import tr
from tooltray.ui.origins import visible_path
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.sheet_frame import SheetFrame
from tooltray.ui.widgets.surface import Surface, clear, column
from tooltray.ui.widgets.table import Column, Kind, Table

WIDTH = 680
MOST_PROBLEMS = 10  # in full; the first ones are often the cause of the others


class FileSheet(SheetFrame):
    """`file_requested` and `place_requested` want the file, or its folder, opened; both carry the file's path."""

    file_requested = Signal(str)
    place_requested = Signal(str)

    def __init__(self, theme: Theme, file: ServerFileSnapshot) -> None:
        super().__init__(theme, file_title(file), WIDTH)
        self._path = file.path
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
        place.clicked.connect(self._on_place)
        self.buttons.addWidget(place)
        self.buttons.addStretch(1)
        self._close = Button(theme, tr("Close"))
        self._close.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._close)
        self._look = Button(theme, tr("Open the file"), "primary", "external")
        self._look.clicked.connect(self._on_look)
        self.buttons.addWidget(self._look)
        self.set_file(file)

    @property
    def path(self) -> str:
        return self._path

    def set_file(self, file: ServerFileSnapshot) -> None:
        """Shows the file as it was read last."""
        words = [file_kind(file), tr("its endpoint: {url}", url=file.url) if file.url else ""]
        self._kind.setText(" · ".join(word for word in words if word))
        self._look.setEnabled(file.exists)
        clear(self._problems)
        for problem in file.problems[:MOST_PROBLEMS]:
            text = "\n".join(part for part in (problem_text(problem), problem_line(problem)) if part)
            self._problems.addWidget(Banner(self._theme, "error", problem_title(problem), text))
        if (more := len(file.problems) - MOST_PROBLEMS) > 0:
            text = tr("1 more problem") if more == 1 else tr("{count} more problems", count=more)
            self._problems.addWidget(Label(self._theme, text, "caption", "muted"))
        self._table.set_rows(file.entries)
        self._table.fit_height()
        self._box.setVisible(bool(file.entries))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._close.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_look(self) -> None:
        self.file_requested.emit(self._path)

    def _on_place(self) -> None:
        self.place_requested.emit(self._path)


def _columns() -> list[Column]:
    return [
        Column(tr("Server"), lambda each: each.name),
        Column(tr("Called here"), here, Kind.QUIET, 170),
        Column(tr("State"), entry_look, Kind.STATE, 160),
        Column(tr("Line"), lambda each: str(each.line or "–"), Kind.NUMBER, 60),
    ]
