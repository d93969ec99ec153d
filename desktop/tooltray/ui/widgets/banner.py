"""What stands above the content it concerns: a banner, the area for what failed, and the layout that keeps both from moving content.

A notice that comes while the pointer is on the content lies over it until the pointer has left; the room of one that goes stays empty
for as long as the pointer is here, so that a second click meets nothing.
"""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from tooltray.errors import Problem
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import Surface, clear, column, height_at, row

ICONS = {"error": "alert", "warning": "alert", "info": "info"}


class Banner(Surface):
    """`tone` is `error`, `warning` or `info`; at most two buttons."""

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
    """
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

    def show_fault(self, problem: Problem | None) -> None:
        """Shows what failed; None removes it."""
        clear(self._layout)
        if problem is not None:
            self._layout.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
        self.setVisible(problem is not None)


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
