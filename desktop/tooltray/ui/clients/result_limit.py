"""The largest result for one kind of AI client in tokens, as a field that the user saves."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.digits import take_digits
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import column, row

LEAST, MOST = 500, 10_000_000  # as the settings take it


class ResultLimit(QWidget):
    """A field for the largest result. `chosen` carries a number, or None for no limit."""

    chosen = Signal(object)

    def __init__(self, theme: Theme, tokens: int | None) -> None:
        super().__init__()
        self._tokens = tokens
        layout, line = column(self, spacing=8), row(spacing=8)
        self._field = QLineEdit()
        self._field.setFixedHeight(theme.size("control"))
        take_digits(self._field, MOST)
        self._field.setPlaceholderText(tr("Default (servers and tools)"))
        self._field.setAccessibleName(tr("Longest result, in tokens"))
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_save)
        line.addWidget(self._field, 1)
        self._save = Button(theme, tr("Save"))
        self._save.clicked.connect(self._on_save)
        line.addWidget(self._save)
        layout.addLayout(line)
        text = tr("In tokens, at least 500. The client reads the rest page by page, with read_result.")
        layout.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self._show()

    def set_tokens(self, tokens: int | None) -> None:
        """Shows the current limit; what the user is writing stays while it is unchanged."""
        if tokens != self._tokens:
            self._tokens = tokens
            self._show()

    @property
    def _written(self) -> int | None:
        return int(self._field.text()) if self._field.text() else None

    def _show(self) -> None:
        self._field.setText("" if self._tokens is None else str(self._tokens))
        self._draw()

    def _draw(self) -> None:
        written = self._written
        self._save.setEnabled(written != self._tokens and (written is None or LEAST <= written <= MOST))

    def _on_save(self) -> None:
        if self._save.isEnabled():
            self.chosen.emit(self._written)
