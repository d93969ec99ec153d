"""A list of folders or hosts that the user can add and remove."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, clear, column, row

HEIGHT = 34  # px


class NamedList(QWidget):
    """A list of names with buttons. `removed` carries the name to remove, and its kind."""

    removed = Signal(str, str)

    def __init__(self, theme: Theme, empty: str) -> None:
        super().__init__()
        self._theme, self._empty = theme, empty
        self._shown: Sequence[tuple[str, str, str]] | None = None
        self._box = Surface(theme)
        self._lines = column(self._box, margins=(12, 2, 6, 2))
        column(self).addWidget(self._box)

    def set_names(self, names: Sequence[tuple[str, str, str]]) -> None:
        """Shows other names, each with its kind and the text beside it."""
        if names == self._shown:
            return
        self._shown = names
        clear(self._lines)
        for name, kind, words in names:
            self._lines.addWidget(self._line(name, kind, words))
        if not names:
            empty = Label(self._theme, self._empty, "caption", "muted", wrap=True)
            empty.setMinimumHeight(HEIGHT)
            self._lines.addWidget(empty)

    def _line(self, name: str, kind: str, words: str) -> QWidget:
        widget = QWidget()
        widget.setFixedHeight(HEIGHT)
        line = row(widget, spacing=8)
        line.addWidget(ElidedLabel(self._theme, name, "mono", mode=Qt.TextElideMode.ElideMiddle), 1)
        if words:
            line.addWidget(Label(self._theme, words, "caption", "muted"))
        remove = IconButton(self._theme, "x", tr("Take {name} away", name=name), small=True)
        remove.clicked.connect(lambda: self.removed.emit(name, kind))
        line.addWidget(remove)
        return widget
