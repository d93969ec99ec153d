"""Scroll areas whose content stays in line with what is around them."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QScrollArea

from tooltray.ui.widgets.surface import height_at

MARGIN = 24


class PageScroll(QScrollArea):
    """A vertical scroll area whose right margin shrinks by the scroll bar."""

    def __init__(self, name: str, margin: int = MARGIN) -> None:
        super().__init__()
        self._margin = margin
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # Tab goes to the controls inside; they scroll into view
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        content = self.widget()
        if content is None or (layout := content.layout()) is None:
            return
        margins = layout.contentsMargins()
        margins.setRight(self._margin - (self.width() - self.viewport().width()))
        layout.setContentsMargins(margins)


class FittedScroll(PageScroll):
    """Asks for exactly its content's height and scrolls only if it gets less: for sheets in small windows.

    Args:
        width: logical pixels that it will have; how high wrapped text is depends on it.
    """

    def __init__(self, name: str, width: int) -> None:
        super().__init__(name)
        self._width = width

    def sizeHint(self) -> QSize:
        content = self.widget()
        layout = content.layout() if content is not None else None
        return QSize(self._width, height_at(layout, self._width)) if layout is not None else super().sizeHint()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and watched is self.widget():
            self.updateGeometry()  # the content wants another height, and so do we
        return super().eventFilter(watched, event)
