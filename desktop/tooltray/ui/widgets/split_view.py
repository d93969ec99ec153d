"""A list and its details: side by side where there is room, details over the list where there is not."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

ROOM_FOR_BOTH = 820
PANE = 332


class SplitView(QWidget):
    """`closed` is emitted when Escape closes the details."""

    closed = Signal()

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self._content = content
        self._details: QWidget | None = None
        content.setParent(self)

    @property
    def details(self) -> QWidget | None:
        return self._details

    def open_details(self, details: QWidget) -> None:
        """Shows `details` at the right, in place of those that are open."""
        self.close_details()
        self._details = details
        details.setParent(self)
        details.show()
        self._place()

    def close_details(self) -> None:
        if self._details is not None:
            self._details.hide()
            self._details.deleteLater()
            self._details = None
            self._place()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._details is not None:
            self.close_details()
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        is_beside = self._details is not None and self.width() >= ROOM_FOR_BOTH
        self._content.setGeometry(0, 0, self.width() - PANE if is_beside else self.width(), self.height())
        if self._details is not None:
            self._details.setGeometry(QRect(self.width() - PANE, 0, PANE, self.height()))
            self._details.raise_()
