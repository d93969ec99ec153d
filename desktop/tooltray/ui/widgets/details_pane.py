"""The pane beside a table: a title, and content that scrolls."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_scroll import PageScroll
from tooltray.ui.widgets.surface import column, row

MARGIN = 20


class DetailsPane(QFrame):
    """`body` is for the content. `close_requested`: a person is done with it."""

    close_requested = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setObjectName("DetailsPane")
        self._theme = theme
        self.setAccessibleName(tr("Details of {name}", name=name))
        outer = column(self)
        outer.addLayout(self._head(name))
        area = PageScroll(self.accessibleName(), margin=MARGIN)
        content = QWidget()
        self.body = column(content, margins=(MARGIN, 4, MARGIN, 16), spacing=6)
        area.setWidget(content)
        outer.addWidget(area, 1)

    def add_section(self, title: str, *content: QWidget) -> None:
        """Adds a heading, and what stands below it."""
        self.body.addSpacing(10)
        self.body.addWidget(Label(self._theme, title, "caption_strong", "muted"))
        for widget in content:
            self.body.addWidget(widget)

    def _head(self, name: str) -> QHBoxLayout:
        line = row(margins=(MARGIN, 16, 12, 8))
        line.addWidget(Label(self._theme, name, "heading", wrap=True), 1)
        close = IconButton(self._theme, "x", tr("Close details"), small=True)
        close.clicked.connect(self.close_requested)
        line.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        return line
