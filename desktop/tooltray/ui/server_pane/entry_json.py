"""The JSON of a server's entry, with its secrets covered and lines with errors marked; and the sheet with the changes of saving it."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QTextCursor, QTextFormat
from PySide6.QtWidgets import QTextEdit, QWidget

from tooltray.foundation.snapshots.entries import EntryError, ServerUpdatePreview
from tooltray.ui.i18n import say, tr
from tooltray.ui.origins import visible_path
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import CoveredCode, DiffView, FindSpans
from tooltray.ui.widgets.keyboard import replace_text
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import clear, column, fill
from tooltray.ui.zoom import px

LINES = 16
MOST_SLIPS = 5  # that are shown; whoever corrects these sees the next ones


class EntryJson(QWidget):
    """An editor for the entry as JSON. `edited`: the user changed the text."""

    edited = Signal()

    def __init__(self, theme: Theme, find_secrets: FindSpans) -> None:
        super().__init__()
        self._theme = theme
        self.code = CoveredCode(theme, tr("The entry as JSON"), find_secrets, lines=LINES)
        self.code.setMinimumHeight(px(160))
        self.code.setMaximumHeight(16_777_215)
        self.code.textChanged.connect(self._on_changed)
        self._slips = column(spacing=2)
        fill(column(self, spacing=8), (self.code, 1), self._slips)
        self._is_ours = False
        self.marked_lines: Sequence[int] = ()
        theme.changed.connect(self._mark)

    @property
    def text(self) -> str:
        return self.code.toPlainText()

    def sizeHint(self) -> QSize:
        return QSize(px(320), px(420))

    def set_text(self, text: str) -> None:
        """Shows another text, without `edited`; the scroll position stays where possible."""
        if text == self.text:
            return
        bar = self.code.verticalScrollBar()
        place, self._is_ours = bar.value(), True
        if self.text:
            replace_text(self.code, text)
        else:
            self.code.setPlainText(text)  # Ctrl+Z leads to the first text, not to none
        self.code.moveCursor(QTextCursor.MoveOperation.Start)
        bar.setValue(place)
        self._is_ours = False

    def show_slips(self, slips: Sequence[EntryError]) -> None:
        """Marks lines with errors, and lists the errors below; a click on one moves the cursor to its line."""
        self.marked_lines = [slip.line for slip in slips if slip.line]
        self._mark()
        clear(self._slips)
        for slip in slips[:MOST_SLIPS]:
            words = say(slip.message)
            place = ".".join(str(step) for step in slip.path)
            text = f"{place}: {words}" if place else words
            button = Button(self._theme, tr("Line {line}: {what}", line=slip.line, what=text) if slip.line else text, "danger", small=True)
            if slip.line:
                button.clicked.connect(partial(self.go_to, slip.line))
            self._slips.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)

    def go_to(self, line: int) -> None:
        """Moves the cursor to a line's end, from 1."""
        block = self.code.document().findBlockByNumber(line - 1)
        cursor = QTextCursor(block)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        self.code.setTextCursor(cursor)
        self.code.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_changed(self) -> None:
        if not self._is_ours:
            self.edited.emit()

    def _mark(self) -> None:
        fill: QColor = self._theme.color("error.subtle")
        marks = []
        for line in self.marked_lines:
            mark = QTextEdit.ExtraSelection()
            mark.cursor = QTextCursor(self.code.document().findBlockByNumber(line - 1))
            mark.format.setBackground(fill)
            mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
            marks.append(mark)
        self.code.setExtraSelections(marks)


WIDTH = 640
DIFF_WIDTH = WIDTH - 48


class SaveSheet(SheetFrame):
    """A sheet with the changes to save.

    Args:
        save: saves them; called after the user has seen and approved them.
    """

    def __init__(self, theme: Theme, name: str, preview: ServerUpdatePreview, save: Callable[[], None]) -> None:
        super().__init__(theme, tr("Changes to {name}", name=name), WIDTH)
        fill(self.body, Label(theme, tr("Saved in"), "caption", "muted"), CodeLabel(theme, visible_path(preview.file), "secondary"))
        if preview.problem is not None:
            self.body.addWidget(Banner(theme, "warning", title(preview.problem), sentences(preview.problem)))
        if preview.diff:
            self.body.addWidget(DiffView(theme, preview.diff, tr("What changes in {file}", file=preview.file), width=px(DIFF_WIDTH)))
            text = tr("Saving restarts the server.") if preview.is_restarted else tr("It keeps running.")
            self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        else:
            self.body.addWidget(Label(theme, tr("Nothing changes in the file."), "body", "secondary"))
        self._save = save
        self.add_button(tr("Close"), self.leave)
        button = self.add_button(tr("Save"), self._on_save, "primary")
        button.setEnabled(preview.problem is None and not preview.slips)
        self.set_first_focus(button)

    def _on_save(self) -> None:
        self.close_requested.emit()
        self._save()
