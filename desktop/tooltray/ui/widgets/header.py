"""The page header: title, search and the page's one primary action."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import QFrame, QLineEdit, QSizePolicy, QWidget

from tooltray.ui import icons
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import row

SHORTCUT = "Ctrl+K"


class SearchField(QLineEdit):
    """A search field with its shortcut written inside; Escape empties it."""

    def __init__(self, theme: Theme, placeholder: str, *, width: int = 260) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("quiet", True)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setFont(theme.font())
        self.setFixedHeight(theme.size("control"))
        self.setMaximumWidth(width)
        self.setMinimumWidth(140)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        QShortcut(QKeySequence(SHORTCUT), self, self._on_shortcut)

    def _on_shortcut(self) -> None:
        self.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.selectAll()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        theme = self._theme
        with QPainter(self) as painter:
            icons.draw(painter, "search", QRectF(10, (self.height() - 15) / 2, 15, 15), theme.color("text.muted"))
            if not self.text():
                painter.setFont(theme.font("overline"))
                painter.setPen(theme.color("text.muted"))
                place = QRectF(0, 0, self.width() - 12, self.height())
                painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, SHORTCUT.replace("+", " "))


class Header(QFrame):
    def __init__(self, theme: Theme, title: str, *actions: QWidget) -> None:
        super().__init__()
        self.setObjectName("Header")
        self.setFixedHeight(theme.size("header"))
        layout = row(self, margins=(24, 0, 24, 0), spacing=8)
        layout.addWidget(Label(theme, title, "title"))
        layout.addSpacing(4)
        self._subtitle = Label(theme, "", "body", "muted")
        layout.addWidget(self._subtitle)
        layout.addStretch(1)
        for action in actions:
            layout.addWidget(action, 1 if isinstance(action, SearchField) else 0)

    def set_subtitle(self, text: str) -> None:
        self._subtitle.setText(text)
