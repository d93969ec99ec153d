"""The widgets above the content they concern: a banner, the area for failures, and the layout that makes room for them."""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QCursor, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import Surface, clear, column, height_at, row

ICONS = {"error": "alert", "warning": "alert", "info": "info"}


class Banner(Surface):
    """A banner with a title and a text; `tone` is `error`, `warning` or `info`; at most two buttons."""

    def __init__(self, theme: Theme, tone: str, title: str, text: str, *buttons: QWidget) -> None:
        super().__init__(theme, f"{tone}.subtle", None, "m")
        self.setAccessibleName(f"{title}. {text}" if text else title)
        line = row(self, margins=(12, 10, 12, 10), spacing=10)
        line.addWidget(Icon(theme, ICONS[tone], 16, f"{tone}.text"), 0, Qt.AlignmentFlag.AlignTop)
        words = column()
        words.addWidget(Label(theme, title, "caption_strong", tone, wrap=True))
        if text:
            details = Label(theme, text, "caption", "secondary", wrap=True)
            details.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)  # paths and commands are there to be copied
            words.addWidget(details)
        line.addLayout(words, 1)
        for button in buttons:
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)


class FaultArea(QWidget):
    """A place for a failure's banner.

    Args:
        top: px above a banner.
    """

    def __init__(self, theme: Theme, *, top: int = 12) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("Notices")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._layout = column(self, margins=(24, top, 24, 12))
        self.hide()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows what failed; None removes it."""
        clear(self._layout)
        if problem is not None:
            self._layout.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
        self.setVisible(problem is not None)


CHANGES = (QEvent.Type.LayoutRequest, QEvent.Type.ShowToParent, QEvent.Type.HideToParent)


class NoticesAbove(QWidget):
    """A layout with notices above a content; `notices` hides itself while it is empty. A list under the pointer keeps its place on the
    screen when notices appear, unless the pointer has not moved since the page was shown: then the list moves down, and its top stays
    visible.
    """

    def __init__(self, notices: QWidget, content: QWidget) -> None:
        super().__init__()
        self._notices, self._content = notices, content
        self._top = 0
        self._pointer = QCursor.pos()  # as this came into sight
        for part in (content, notices):
            part.setParent(self)
        notices.installEventFilter(self)

    @property
    def content_top(self) -> int:
        """Where the content begins."""
        return self._top

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in CHANGES:
            self._place()
        return False

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._pointer = QCursor.pos()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        layout = self._notices.layout()
        wanted = height_at(layout, self.width()) if layout is not None and not self._notices.isHidden() else 0
        areas = self._content.findChildren(QAbstractScrollArea) if QCursor.pos() != self._pointer else ()
        bars = [area.verticalScrollBar() for area in areas if area.underMouse()]
        values, moved = [bar.value() for bar in bars], wanted - self._top
        self._top = wanted
        self._content.setGeometry(0, wanted, self.width(), self.height() - wanted)
        self._notices.setGeometry(0, 0, self.width(), wanted)
        for bar, value in zip(bars, values, strict=True):
            bar.setValue(value + moved)
