"""A few notes above what they concern, each with a button that takes it away; scrolls where there is no room for all.

Above it: windows and sheets. Below it: banners, or whatever is put in.
"""

from functools import partial

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.surface import clear, column, height_at

MOST = 3  # at once; the newest say what a person has just tried
GAP = 6  # px
LOWEST, HIGHEST = 56, 168  # px; what the notes are about has to stay in sight


class NoteStack(QScrollArea):
    """Has no height while it is empty."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setWidgetResizable(True)
        content = QWidget()
        self._lines = column(content, spacing=GAP)
        self._lines.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setWidget(content)
        self.hide()

    def add_banner(self, tone: str, title: str, text: str = "") -> None:
        close = IconButton(self._theme, "x", tr("Close this notice"), small=True)
        banner = Banner(self._theme, tone, title, text, close)
        close.clicked.connect(partial(self.remove, banner))
        self.add(banner)

    def add(self, note: QWidget) -> None:
        """Puts a note below the others; the oldest goes if there are too many."""
        if self._lines.count() >= MOST and (oldest := self._lines.itemAt(0)) is not None:
            self.remove(oldest.widget())
        self._lines.addWidget(note)
        self._fit()
        self.ensureWidgetVisible(note)

    def remove(self, note: QWidget | None) -> None:
        if note is not None:
            self._lines.removeWidget(note)
            note.hide()
            note.deleteLater()
            self._fit()

    def clear(self) -> None:
        clear(self._lines)
        self._fit()

    def sizeHint(self) -> QSize:
        return QSize(0, min(HIGHEST, self._wanted()))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, min(LOWEST, self._wanted()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and watched is self.widget():
            self._fit()
        return super().eventFilter(watched, event)

    def _wanted(self) -> int:
        return height_at(self._lines, max(1, self.viewport().width()))

    def _fit(self) -> None:
        self.setVisible(self._lines.count() > 0)
        self.updateGeometry()
