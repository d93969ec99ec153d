"""A layout that puts widgets side by side and goes on in the next line where one does not fit, and a scroll area for it."""

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLayout, QLayoutItem, QScrollArea, QWidget

from tooltray.ui.widgets.surface import clear


class FlowLayout(QLayout):
    """`spacing` is in logical pixels, between widgets and between lines."""

    def __init__(self, parent: QWidget | None = None, *, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), moves=False)

    def setGeometry(self, area: QRect) -> None:
        super().setGeometry(area)
        self._arrange(area, moves=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize(0, 0)
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _arrange(self, area: QRect, *, moves: bool) -> int:
        """Returns the height of all lines, in logical pixels."""
        x, y, line = area.x(), area.y(), 0
        for item in self._items:
            size = item.sizeHint()
            if line and x + size.width() > area.x() + area.width():
                x, y, line = area.x(), y + line + self.spacing(), 0
            if moves:
                item.setGeometry(QRect(QPoint(x, y), QSize(min(size.width(), area.width()), size.height())))
            x, line = x + size.width() + self.spacing(), max(line, size.height())
        return y + line - area.y()


class FlowArea(QScrollArea):
    """As high as its widgets need, up to `most` logical pixels; more are scrolled to. Without widgets it is not there."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most
        content = QWidget()
        self._flow = FlowLayout(content)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab goes to the widgets inside; they scroll into view
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidgetResizable(True)
        self.setWidget(content)
        self.hide()

    def add(self, widget: QWidget) -> None:
        self._flow.addWidget(widget)
        self._fit()

    def remove(self, widget: QWidget) -> None:
        self._flow.removeWidget(widget)
        widget.hide()
        widget.deleteLater()
        self._fit()

    def clear(self) -> None:
        clear(self._flow)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def _fit(self) -> None:
        self.setVisible(self._flow.count() > 0)
        self.setFixedHeight(min(self._most, self._flow.heightForWidth(max(1, self.viewport().width()))))
