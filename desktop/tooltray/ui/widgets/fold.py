"""A part of a page that is folded until the user wants to see it."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.surface import column


class Fold(QWidget):
    """A heading that folds and unfolds what is below it; `body` is the layout for the content. `folded`: the user folded it."""

    folded = Signal()

    def __init__(self, theme: Theme, title: str, *, spacing: int = 8) -> None:
        super().__init__()
        layout = column(self, spacing=spacing)
        self._button = Button(theme, title, "link", "chevron-right", small=True)
        self._button.clicked.connect(self._on_pressed)
        layout.addWidget(self._button)
        self._content = QWidget()
        self.body = column(self._content, spacing=spacing)
        layout.addWidget(self._content)
        self.set_open(False)

    @property
    def is_open(self) -> bool:
        return not self._content.isHidden()

    def set_open(self, is_open: bool) -> None:
        self._content.setVisible(is_open)
        self._button.set_face(self._button.text(), "chevron-down" if is_open else "chevron-right")
        self._button.setAccessibleDescription(tr("Unfolded") if is_open else tr("Folded"))

    def _on_pressed(self) -> None:
        self.set_open(not self.is_open)
        if not self.is_open:
            self.folded.emit()

    def set_title(self, title: str) -> None:
        self._button.setText(title)
