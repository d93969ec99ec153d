"""The open palette: a field, and the entries that fit the text in it, under headings. Passive: it emits the text, and which entry to run.
The keyboard stays in the field."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QKeyEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QListView, QStackedWidget, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.shell.palette import PaletteEntry
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, divider, fill, row
from tooltray.ui.zoom import px

ROW, HEADING = 38, 28  # px
INSET, ICON, GAP, SIDE = 20, 16, 12, 8
LEAST_DETAIL = 60  # px; where less is left, only the title stands there
PAGE = 8  # entries that PageUp and PageDown go over

Row = PaletteEntry | str
"""An entry, or a heading."""

Index = QModelIndex | QPersistentModelIndex


class PaletteModel(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[Row] = []

    def set_rows(self, rows: Sequence[Row]) -> None:
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's signature)
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return spoken(row) if isinstance(row, PaletteEntry) else row
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        is_entry = index.isValid() and isinstance(self.rows[index.row()], PaletteEntry)
        return super().flags(index) if is_entry else Qt.ItemFlag.ItemIsEnabled


def spoken(entry: PaletteEntry) -> str:
    """Returns the text of an entry for screen readers."""
    return ", ".join(part for part in (entry.title, entry.detail, entry.kind) if part)


class PaletteDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: "PaletteList") -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(px(100), px(ROW) if isinstance(index.data(Qt.ItemDataRole.UserRole), PaletteEntry) else px(HEADING))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row, box = index.data(Qt.ItemDataRole.UserRole), QRectF(option.rect)
        painter.save()
        if isinstance(row, PaletteEntry):
            self._paint_entry(painter, box, row, is_chosen=bool(option.state & QStyle.StateFlag.State_Selected))
        else:
            self._text(painter, box.adjusted(px(INSET), px(6), -px(INSET), 0), row, "caption_strong", "text.muted")
        painter.restore()

    def _paint_entry(self, painter: QPainter, box: QRectF, entry: PaletteEntry, *, is_chosen: bool) -> None:
        theme = self._theme
        if is_chosen:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("surface.selected"))
            painter.drawRoundedRect(box.adjusted(px(SIDE), 1, -px(SIDE), -1), theme.radius("m"), theme.radius("m"))
        ink = "accent.text" if is_chosen else "warning.text" if entry.is_now else "text.secondary"
        icons.draw(
            painter, entry.icon, QRectF(box.left() + px(INSET), box.center().y() - px(ICON) / 2, px(ICON), px(ICON)), theme.color(ink)
        )
        kind = theme.metrics("caption").horizontalAdvance(entry.kind)
        self._text(painter, box.adjusted(0, 0, -px(INSET), 0), entry.kind, "caption", "text.muted", right=True)
        cell = box.adjusted(px(INSET) + px(ICON) + px(GAP), 0, -px(INSET) - kind - px(GAP), 0)
        used = self._text(painter, cell, entry.title, "label", "text.primary") + px(GAP)
        if entry.detail and cell.width() - used > px(LEAST_DETAIL):
            self._text(painter, cell.adjusted(used, 0, 0, 0), entry.detail, "caption", "text.secondary")

    def _text(self, painter: QPainter, cell: QRectF, text: str, style: str, color: str, *, right: bool = False) -> int:
        """Returns how many pixels it needs."""
        painter.setFont(self._theme.font(style))
        painter.setPen(self._theme.color(color))
        metrics = self._theme.metrics(style)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, int(cell.width()) + 1)
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        painter.drawText(cell, side | Qt.AlignmentFlag.AlignVCenter, shown)
        return metrics.horizontalAdvance(shown)


class PaletteList(QListView):
    """A list of entries under headings. `entry_pressed`: the user clicked an entry. `current_changed`: another entry is selected."""

    entry_pressed = Signal()
    current_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._model = theme, PaletteModel()
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # else each key paints the page behind it anew
        self.setModel(self._model)
        self.setItemDelegate(PaletteDelegate(theme, self))
        self.setAccessibleName(tr("What was found"))
        self.setViewportMargins(0, px(6), 0, px(6))
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.clicked.connect(self._on_clicked)
        self.selectionModel().currentChanged.connect(self.current_changed)

    @property
    def entry(self) -> PaletteEntry | None:
        """The selected entry, which Enter runs."""
        place = self.currentIndex().row()
        row = self._model.rows[place] if place >= 0 else None
        return row if isinstance(row, PaletteEntry) else None

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), self._theme.color("surface.raised"))
        super().paintEvent(event)

    def set_rows(self, rows: Sequence[Row], *, kept: str = "") -> None:
        """Shows other rows and selects the first entry, or the one with the key `kept` if it is among them."""
        self._model.set_rows(rows)
        places = {row.key: place for place, row in enumerate(rows) if isinstance(row, PaletteEntry)}
        there = places.get(kept)
        if places:
            self._choose(there if there is not None else min(places.values()))
        if there is None:
            self.scrollToTop()
        self.current_changed.emit()

    def go(self, step: int) -> None:
        """Selects an entry further down or up; single steps wrap around at the ends."""
        places = [place for place, row in enumerate(self._model.rows) if isinstance(row, PaletteEntry)]
        if places:
            here = places.index(self.currentIndex().row()) if self.currentIndex().row() in places else -1
            far = abs(step) > 1
            self._choose(places[max(0, min(len(places) - 1, here + step)) if far else (here + step) % len(places)])

    def _choose(self, place: int) -> None:
        index = self._model.index(place)
        self.setCurrentIndex(index)
        self.scrollTo(index)

    def _on_clicked(self, index: QModelIndex) -> None:
        if isinstance(self._model.rows[index.row()], PaletteEntry):
            self.entry_pressed.emit()


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
    """The field of the palette. `move` gets how many entries to move the selection. Escape is left to the sheet."""

    def __init__(self, theme: Theme, move: Callable[[int], None]) -> None:
        super().__init__()
        self._theme, self._move = theme, move
        self.setProperty("quiet", True)
        self.setFrame(False)
        self.setStyleSheet("border: none; background: transparent; padding-left: 32px;")
        self.setPlaceholderText(tr("Find a server, a tool, or something to do"))
        self.setAccessibleName(tr("Find a server, a tool, or something to do"))
        self.setFont(theme.font("heading"))
        self.setFixedHeight(px(FIELD))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and (step := STEPS.get(Qt.Key(event.key()))):
            self._move(step)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        with QPainter(self) as painter:
            icons.draw(painter, "search", QRectF(px(2), (self.height() - px(16)) / 2, px(16), px(16)), self._theme.color("text.muted"))


class PalettePanel(Surface):
    """The panel of the palette.

    Args:
        typed: gets the text when it has changed.
        chosen: runs the selected entry.
    """

    def __init__(self, theme: Theme, *, typed: Callable[[str], None], chosen: Callable[[], None]) -> None:
        super().__init__(theme, "surface.raised", "border", "xl")
        self.setMaximumWidth(px(WIDTH))
        self.setAccessibleName(tr("Command palette"))
        self.list = PaletteList(theme)
        self.field = PaletteField(theme, self.list.go)
        self._nothing = Label(theme, tr("No matches."), "body", "secondary")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.list)
        self._stack.addWidget(self._nothing)
        self._note = ElidedLabel(theme, "", "caption", "muted")
        keys = Label(theme, tr("Enter: do it · Esc: close"), "caption", "muted")
        head, foot = fill(row(margins=(18, 2, 18, 2)), self.field), fill(row(margins=(20, 8, 20, 8)), (self._note, 1), keys)
        fill(column(self), head, divider(), (self._stack, 1), divider(), foot)
        self.field.textChanged.connect(typed)
        self.field.returnPressed.connect(chosen)
        self.list.entry_pressed.connect(chosen)
        self.list.current_changed.connect(self._on_current_changed)

    def sizeHint(self) -> QSize:
        return QSize(px(WIDTH), px(HEIGHT))

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
