"""The open palette: a field, and the entries that fit the text in it. Passive: it emits the text, and which entry to run."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QStackedWidget

from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.shell.palette_list import PAGE, PaletteList, Row, spoken
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, divider, row

WIDTH, HEIGHT = 640, 460  # px; the same whatever is found, so that nothing jumps as one types
FIELD = 52
STEPS = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: PAGE,
    Qt.Key.Key_PageUp: -PAGE,
    Qt.Key.Key_Tab: 1,
    Qt.Key.Key_Backtab: -1,
}


class PaletteField(QLineEdit):
    """The field of the palette. `moved` carries how many entries to move the selection. Escape is left to the sheet."""

    moved = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("quiet", True)
        self.setFrame(False)
        self.setStyleSheet("border: none; background: transparent; padding-left: 32px;")
        self.setPlaceholderText(tr("Find a server, a tool, or something to do"))
        self.setAccessibleName(tr("Find a server, a tool, or something to do"))
        self.setFont(theme.font("heading"))
        self.setFixedHeight(FIELD)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and (step := STEPS.get(Qt.Key(event.key()))):
            self.moved.emit(step)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            icons.draw(painter, "search", QRectF(2, (self.height() - 16) / 2, 16, 16), self._theme.color("text.muted"))


class PalettePanel(Surface):
    """The panel of the palette. `typed`: the text has changed. `chosen`: run the selected entry."""

    typed = Signal(str)
    chosen = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "surface.raised", "border", "xl")
        self.setMaximumWidth(WIDTH)
        self.setAccessibleName(tr("Command palette"))
        layout = column(self)
        head = row(margins=(18, 2, 18, 2))
        self.field = PaletteField(theme)
        head.addWidget(self.field)
        layout.addLayout(head)
        layout.addWidget(divider())
        self.list = PaletteList(theme)
        self._nothing = Label(theme, tr("No matches."), "body", "secondary")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._nothing)
        layout.addWidget(self._stack, 1)
        layout.addWidget(divider())
        foot = row(margins=(20, 8, 20, 8))
        self._note = ElidedLabel(theme, "", "caption", "muted")
        foot.addWidget(self._note, 1)
        foot.addWidget(Label(theme, tr("Enter: do it · Esc: close"), "caption", "muted"))
        layout.addLayout(foot)
        self.field.textChanged.connect(self.typed)
        self.field.returnPressed.connect(self.chosen)
        self.field.moved.connect(self.list.go)
        self.list.entry_pressed.connect(self.chosen)
        self.list.current_changed.connect(self._on_current_changed)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH, HEIGHT)

    def show_rows(self, rows: Sequence[Row], *, kept: str = "") -> None:
        """Shows the entries that fit; the entry with the key `kept` stays selected, if it is among them."""
        self.list.set_rows(rows, kept=kept)
        self._stack.setCurrentWidget(self.list if rows else self._nothing)

    def show_note(self, text: str, explanation: str = "") -> None:
        """Shows below the list what is still being read, or could not be."""
        self._note.set_text(text, explanation)

    def _on_current_changed(self) -> None:
        """Describes the selected entry to screen readers, since the keyboard stays in the field."""
        entry = self.list.entry
        self.field.setAccessibleDescription(spoken(entry) if entry is not None else tr("No matches."))
        QAccessible.updateAccessibility(QAccessibleEvent(self.field, QAccessible.Event.DescriptionChanged))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
