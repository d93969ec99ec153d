"""What is wrong in files with servers in them: a line for each problem, with the file, the line, and a button that opens the file."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from tooltray.snapshots.files import FileProblem, ServerFileSnapshot
from tooltray.ui.files.file_words import problem_place, problem_text, problem_title
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import clear, column, divider, row

MOST_OF_A_FILE = 3  # the first problems are often the cause of the others; all of them stand in the file's own sheet
MOST_FILES = 10  # that have problems; the list of files says which others have


class FileProblems(QWidget):
    """`open_requested` carries a file's path, `more_requested` a ServerFileSnapshot."""

    open_requested = Signal(str)
    more_requested = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shown: tuple[ServerFileSnapshot, ...] = ()
        self._layout = column(self)

    def set_files(self, files: Sequence[ServerFileSnapshot]) -> None:
        shown = tuple(file for file in files if file.problems)[:MOST_FILES]
        if shown == self._shown:
            return
        self._shown = shown
        clear(self._layout)
        for file in shown:
            for problem in file.problems[:MOST_OF_A_FILE]:
                self._add(self._line(file, problem))
            if (more := len(file.problems) - MOST_OF_A_FILE) > 0:
                self._add(self._rest(file, more))

    def _add(self, line: QWidget) -> None:
        if self._layout.count():
            self._layout.addWidget(divider())
        self._layout.addWidget(line)

    def _line(self, file: ServerFileSnapshot, problem: FileProblem) -> QWidget:
        theme = self._theme
        widget = QWidget()
        line = row(widget, margins=(0, 10, 0, 10), spacing=10)
        line.addWidget(Icon(theme, "alert", 16, "error.text", "surface"), 0, Qt.AlignmentFlag.AlignTop)
        words = column()
        words.addWidget(Label(theme, problem_title(problem), "caption_strong", "error", wrap=True))
        if text := problem_text(problem):
            words.addWidget(Label(theme, text, "caption", "secondary", wrap=True))
        words.addWidget(Label(theme, problem_place(file, problem), "caption", "muted", wrap=True))
        line.addLayout(words, 1)
        button = Button(theme, tr("Open"), icon="external", small=True)
        button.setAccessibleName(tr("Open {file}", file=problem_place(file, problem)))
        button.clicked.connect(partial(self._on_open, file.path))
        line.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return widget

    def _rest(self, file: ServerFileSnapshot, count: int) -> QWidget:
        widget = QWidget()
        line = row(widget, margins=(26, 6, 0, 6))
        button = Button(self._theme, tr("1 more problem") if count == 1 else tr("{count} more problems", count=count), "link", small=True)
        button.clicked.connect(partial(self._on_more, file))
        line.addWidget(button)
        line.addStretch(1)
        return widget

    def _on_open(self, path: str) -> None:
        self.open_requested.emit(path)

    def _on_more(self, file: ServerFileSnapshot) -> None:
        self.more_requested.emit(file)
