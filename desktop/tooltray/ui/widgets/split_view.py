"""A table with details beside it: the split view, and the pane with a title and content that scrolls."""

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.label import Label, breakable
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.surface import add_gap, column, fill, row
from tooltray.ui.zoom import px

ROOM_FOR_BOTH = 820
PANE = 332
SHARE = 0.43  # of the width, for details that may have more than the usual


class SplitView(QWidget):
    """A table with details beside it. `closed` is emitted when Escape closes the details.

    Args:
        most: px that the details may have, where the window has room for more than the usual.
        fits: the table fits beside the details in a narrow window, too; otherwise they cover all of it there.
    """

    closed = Signal()
    closing = Signal()  # before that, while the details are still there
    resized = Signal()

    def __init__(self, content: QWidget, *, most: int = PANE, fits: bool = False) -> None:
        super().__init__()
        self._content, self._most, self._fits = content, most, fits
        self.details: QWidget | None = None  # the open ones
        self._is_wide = False
        content.setParent(self)

    def open_details(self, details: QWidget) -> None:
        """Shows `details` at the right, in place of the open ones."""
        self.close_details()
        self.details = details
        details.setParent(self)
        details.show()
        self._place()

    @property
    def is_narrow(self) -> bool:
        """Whether the view is too narrow for both."""
        return self.width() < px(ROOM_FOR_BOTH)

    @property
    def is_wide(self) -> bool:
        """Whether the details cover everything."""
        return self._is_wide or (self.is_narrow and not self._fits)

    def set_wide(self, is_wide: bool) -> None:
        """Shows the details over everything, or beside the table; also applies to the next ones."""
        self._is_wide = is_wide
        self._place()

    def close_details(self) -> None:
        if self.details is not None:
            self.details.hide()
            self.details.deleteLater()
            self.details = None
            self._place()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.details is not None:
            self.closing.emit()
            self.close_details()
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()
        self.resized.emit()

    def _place(self) -> None:
        is_beside = self.details is not None and not self.is_wide
        pane = self.width() if self.is_wide else max(px(PANE), min(px(self._most), int(self.width() * SHARE)))
        self._content.setVisible(self.details is None or not self.is_wide)  # Tab must not reach what is covered
        self._content.setGeometry(0, 0, self.width() - pane if is_beside else self.width(), self.height())
        if self.details is not None:
            if isinstance(self.details, DetailsPane):
                self.details.set_covers(self.is_wide)
            self.details.setGeometry(QRect(self.width() - pane, 0, pane, self.height()))
            self.details.raise_()


MARGIN = 20


class DetailsPane(QFrame):
    """A pane with details; `body` is for the content. `close_requested`: the user closes it."""

    close_requested = Signal()

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setObjectName("DetailsPane")
        self._theme = theme
        self.setAccessibleName(tr("Details of {name}", name=name))
        area, content = PageScroll(self.accessibleName(), margin=MARGIN), QWidget()
        self.body = column(content, margins=(MARGIN, 4, MARGIN, 16), spacing=6)
        area.setWidget(content)
        fill(column(self), self._head(name), (area, 1))

    def add_section(self, title: str, *content: QWidget) -> None:
        """Adds a heading with the content below it."""
        add_gap(self.body, 10)
        fill(self.body, Label(self._theme, title, "caption_strong", "muted"), *content)

    def set_covers(self, covers: bool) -> None:
        """Sets whether the pane covers the table: then "Back" leads to it, in place of the cross."""
        self._back.setVisible(covers)
        self._close.setHidden(covers)

    def _head(self, name: str) -> QHBoxLayout:
        line = row(margins=(MARGIN, 16, 12, 8), spacing=12)
        self._back = Button(self._theme, tr("Back"), icon="chevron-left", small=True, on_click=self.close_requested.emit)
        line.addWidget(self._back, 0, Qt.AlignmentFlag.AlignTop)
        self._back.hide()
        title = Label(self._theme, breakable(name), "heading", wrap=True)
        title.setAccessibleName(name)
        line.addWidget(title, 1)
        self._close = IconButton(self._theme, "x", tr("Close details"), small=True, on_click=self.close_requested.emit)
        line.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        return line
