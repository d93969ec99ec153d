"""Notices above a page's content, which never push it away from under the pointer.

Above it: pages. Below it: any two widgets. A notice that comes while the pointer is on the content lies over it until the pointer has left;
the room of one that goes stays empty for as long as the pointer is here, so that a second click meets nothing.
"""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from tooltray.ui.widgets.surface import height_at

CHANGES = (QEvent.Type.LayoutRequest, QEvent.Type.ShowToParent, QEvent.Type.HideToParent)
MOVES = (QEvent.Type.Enter, QEvent.Type.Leave)


class NoticesAbove(QWidget):
    """`notices` hides itself while it has nothing to say."""

    def __init__(self, notices: QWidget, content: QWidget) -> None:
        super().__init__()
        self._notices, self._content = notices, content
        self._reserved = 0
        for part in (content, notices):
            part.setParent(self)
            part.installEventFilter(self)
        self.installEventFilter(self)

    @property
    def content_top(self) -> int:
        """Where the content begins."""
        return self._reserved

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (watched is self._notices and event.type() in CHANGES) or event.type() in MOVES:
            self._place()
        return False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        layout = self._notices.layout()
        wanted = height_at(layout, self.width()) if layout is not None and not self._notices.isHidden() else 0
        is_in_the_way = self._content.underMouse() if wanted > self._reserved else self.underMouse()
        if not is_in_the_way:
            self._reserved = wanted
        self._content.setGeometry(0, self._reserved, self.width(), self.height() - self._reserved)
        self._notices.setGeometry(0, 0, self.width(), wanted)
        self._notices.raise_()
