"""One line of a log in full: its text, or the JSON of a record or a message, laid out."""

import json

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.activity import LogLine
from tooltray.ui.i18n import tr
from tooltray.ui.logs.log_model import day_and_clock, level_word, shown_text
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.surface import column, divider, row

LINES = 9  # of text that are seen at once


class LogDetails(QWidget):
    """A view of one line in full. `copy_requested` carries its text."""

    closed = Signal()
    copy_requested = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        layout = column(self, spacing=6)
        layout.addWidget(divider())
        head = row(margins=(12, 2, 8, 0), spacing=4)
        self._title = ElidedLabel(theme, "", "caption_strong", "secondary")
        head.addWidget(self._title, 1)
        copy, close = IconButton(theme, "copy", tr("Copy"), small=True), IconButton(theme, "x", tr("Close the line"), small=True)
        copy.clicked.connect(self._on_copy)
        close.clicked.connect(self.close_line)
        head.addWidget(copy)
        head.addWidget(close)
        layout.addLayout(head)
        self._view = CodeView(theme, "", tr("The line in full"), lines=LINES, json=True)
        layout.addWidget(self._view)
        self.hide()

    @property
    def text(self) -> str:
        return self._view.toPlainText()

    def show_line(self, line: LogLine) -> None:
        cut = tr("Cut: it was longer") if line.is_cut else ""
        self._title.set_text(" · ".join(filter(None, (day_and_clock(line.at), level_word(line.level), cut))))
        self._view.setPlainText(laid_out(line))
        self.show()

    def close_line(self) -> None:
        if self.isVisible():
            self.hide()
            self.closed.emit()

    def _on_copy(self) -> None:
        self.copy_requested.emit(self.text)


def laid_out(line: LogLine) -> str:
    """Returns the JSON of a line with indentation, if it has any; else its text."""
    text = line.detail if line.kind in ("record", "message") else line.text
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
        except (ValueError, RecursionError):
            pass  # cut, or no JSON
    return text if line.kind != "mark" and text else shown_text(line)
