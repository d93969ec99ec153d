"""The list of a log's lines, and one line in full. Lines are painted, not made of widgets; one line high each, or as high as their text
wrapped. Text in mono wraps by columns, so that a line's height is a division and no layout.
"""

import json
import unicodedata
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QKeySequence, QPainter, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from tooltray.foundation.snapshots.activity import LogLine
from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.logs.log_model import Index, LogModel, clock, day_and_clock, level_word, shown_text, state_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import IconButton
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.surface import column, divider, fill, row
from tooltray.ui.zoom import px

if TYPE_CHECKING:
    from tooltray.ui.logs.log_view import LogView

INSET, GAP = 12, 8
LINE, PAD = 18, 2  # px of one line of text, and above and below it
SIGN = 12
WHOLE_LINES = 9  # of a line in full that are seen at once
MOST_WRAPPED = 40  # lines of text that one line of a log may take; all of it is in its details
NEAR = 400  # px from an end at which further lines are wanted
SIGNS = {"error": ("state-error", "error"), "warning": ("alert", "warning")}
INKS = {"error": "error.text", "warning": "warning.text", "debug": "text.muted"}
WIDE = ("W", "F")


def columns_of(text: str) -> int:
    """Returns how many columns of the mono font a text takes: a Chinese character takes two."""
    return len(text) if text.isascii() else sum(2 if unicodedata.east_asian_width(sign) in WIDE else 1 for sign in text)


def wrapped(text: str, columns: int) -> list[str]:
    """Splits a text into at most MOST_WRAPPED pieces of so many columns; a last piece that omits text ends in an ellipsis."""
    columns = max(columns, 8)
    pieces: list[str] = []
    at = 0
    while at < len(text) and len(pieces) < MOST_WRAPPED:
        end = _end_of_piece(text, at, columns)
        pieces.append(text[at:end])
        at = end
    if at < len(text):
        pieces[-1] = f"{pieces[-1][:-1]}…"
    return pieces or [""]


def _end_of_piece(text: str, at: int, columns: int) -> int:
    """Returns where the piece that begins at a place ends: after a space, if its last third has one."""
    end = at + columns if text.isascii() else at + _fitting(text[at : at + columns], columns)
    if end >= len(text):
        return len(text)
    space = text.rfind(" ", at + columns * 2 // 3, end + 1)
    return space + 1 if space >= 0 else end


def _fitting(text: str, columns: int) -> int:
    """Returns how many characters of a text fit into so many columns."""
    taken = 0
    for count, sign in enumerate(text):
        taken += columns_of(sign)
        if taken > columns:
            return count
    return len(text)


class LogDelegate(QStyledItemDelegate):
    """The painter of log lines.

    Attributes:
        wraps: long lines take several.
        has_times: each line begins with its time.
        needle: the text of a search, casefolded; its places are marked.
        columns: how many columns of text fit, set by the list.
    """

    def __init__(self, theme: Theme, parent: "LogList") -> None:
        super().__init__(parent)
        self._theme, self._view = theme, parent
        self.wraps = self.has_times = True
        self.needle = ""
        self.columns = 80
        self._metrics = QFontMetricsF(theme.font("mono"))

    @property
    def text_left(self) -> int:
        """Where the text begins."""
        times = int(self._metrics.horizontalAdvance("00:00:00")) + px(GAP) if self.has_times else 0
        return px(INSET) + times + px(SIGN) + px(GAP)

    def fit(self, width: int) -> bool:
        """Fits the columns into a width at the current zoom; returns whether their number has changed."""
        self._metrics = QFontMetricsF(self._theme.font("mono"))
        columns = int((width - self.text_left - px(INSET)) / self._metrics.horizontalAdvance("0"))
        is_news, self.columns = columns != self.columns, columns
        return is_news

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        lines = len(wrapped(shown_text(index.data(Qt.ItemDataRole.UserRole)), self.columns)) if self.wraps else 1
        return QSize(self.columns, lines * px(LINE) + 2 * px(PAD))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, line = self._theme, index.data(Qt.ItemDataRole.UserRole)
        box = option.rect
        painter.save()
        self._paint_ground(painter, box, option.state, line)
        painter.setFont(theme.font("mono"))
        top = box.top() + px(PAD)
        if self.has_times and line.at:
            painter.setPen(theme.color("text.muted"))
            painter.drawText(QRect(px(INSET), top, box.width(), px(LINE)), Qt.AlignmentFlag.AlignVCenter, clock(line.at))
        self._paint_sign(painter, line, QRectF(self.text_left - px(GAP) - px(SIGN), top + (px(LINE) - px(SIGN)) / 2, px(SIGN), px(SIGN)))
        painter.setPen(theme.color(_ink(line)))
        text = shown_text(line)
        room = box.width() - self.text_left - px(INSET)
        pieces = wrapped(text, self.columns) if self.wraps else [self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)]
        for number, piece in enumerate(pieces):
            place = QRect(self.text_left, top + number * px(LINE), room + px(INSET), px(LINE))
            self._paint_matches(painter, place, piece)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine, piece)
        painter.restore()

    def _paint_ground(self, painter: QPainter, box: QRect, state: QStyle.StateFlag, line: LogLine) -> None:
        theme = self._theme
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("surface.selected"))
            if self._view.hasFocus():
                painter.fillRect(QRect(box.left(), box.top(), px(2), box.height()), theme.color("accent"))
        elif line.kind == "mark":
            painter.fillRect(box, theme.color("surface.sunken"))

    def _paint_sign(self, painter: QPainter, line: LogLine, place: QRectF) -> None:
        theme = self._theme
        if line.kind == "mark" and (shape := state_look(line.text)) is not None:
            icons.draw(painter, shape.icon, place, theme.color(shape.tone), theme.color("surface"))
        elif sign := SIGNS.get(line.level):
            icons.draw(painter, sign[0], place, theme.color(sign[1]), theme.color("surface"))
        elif line.level == "debug":
            painter.fillRect(QRectF(place.center().x() - px(2), place.center().y() - 1, px(4), px(2)), theme.color("text.muted"))

    def _paint_matches(self, painter: QPainter, place: QRect, piece: str) -> None:
        at = piece.casefold().find(self.needle) if self.needle else -1
        while at >= 0:
            left = place.left() + self._metrics.horizontalAdvance(piece[:at])
            width = self._metrics.horizontalAdvance(piece[at : at + len(self.needle)])
            painter.fillRect(QRectF(left, place.top() + 1, width, px(LINE) - px(2)), self._theme.color("warning.subtle"))
            painter.fillRect(QRectF(left, place.bottom() - 1, width, px(2)), self._theme.color("warning"))
            at = piece.casefold().find(self.needle, at + len(self.needle))


def _ink(line: LogLine) -> str:
    if line.kind == "mark":
        return "error.text" if line.level == "error" else "text.secondary"
    return INKS.get(line.level, "text.primary")


class LogList(QListView):
    """A list of log lines. The view reads further ones when the user scrolls near an end."""

    def __init__(self, view: "LogView", model: LogModel, name: str) -> None:
        super().__init__()
        theme = view.context.theme
        self.lines = LogDelegate(theme, self)
        self._view, self._log = view, model
        self.setModel(model)
        self.setItemDelegate(self.lines)
        self.setAccessibleName(name)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)  # else lines are wrapped anew when it comes
        self.setTabKeyNavigation(False)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.verticalScrollBar().setSingleStep(px(LINE))
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self.doubleClicked.connect(self._on_opened)
        theme.changed.connect(self.lay_out)

    @property
    def is_at_end(self) -> bool:
        bar = self.verticalScrollBar()
        return bar.value() >= bar.maximum() - 2 * px(LINE)

    @property
    def selected(self) -> list[LogLine]:
        """The lines that are selected, oldest first."""
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        return [self._log.lines[row] for row in rows]

    def set_wraps(self, wraps: bool) -> None:
        self.lines.wraps = wraps
        self.lay_out()

    def set_has_times(self, has_times: bool) -> None:
        self.lines.has_times = has_times
        self.lay_out()

    def set_needle(self, needle: str) -> None:
        self.lines.needle = needle
        self.viewport().update()

    def lay_out(self) -> None:
        """Measures all lines again; the top line stays in place."""
        self.lines.fit(self.viewport().width())
        top = self.top_row
        self.scheduleDelayedItemsLayout()
        self.executeDelayedItemsLayout()
        if top >= 0:
            self.scrollTo(self._log.index(top, 0), QAbstractItemView.ScrollHint.PositionAtTop)

    @property
    def top_row(self) -> int:
        """The row at the top; -1 without rows."""
        return self.indexAt(QPoint(px(INSET), 1)).row()

    def keep_place(self, row: int, offset: int) -> None:
        """Scrolls so that a row is so many px below the top."""
        self.executeDelayedItemsLayout()
        rect = self.visualRect(self._log.index(row, 0))
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + rect.top() - offset)

    def go_to_end(self) -> None:
        """Scrolls to the last line, where the arrow keys begin if nothing is selected."""
        if not self.selectionModel().hasSelection():
            last = self._log.index(len(self._log.lines) - 1, 0)
            self.selectionModel().setCurrentIndex(last, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.executeDelayedItemsLayout()
        self.scrollToBottom()

    def select_row(self, row: int) -> None:
        """Selects a line and brings it to the middle."""
        index = self._log.index(row, 0)
        self.setCurrentIndex(index)
        self.executeDelayedItemsLayout()
        self.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self._view.copy_selected()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._on_opened(self.currentIndex())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        was_at_end = self.is_at_end
        if self.lines.fit(self.viewport().width()) and self.lines.wraps:
            self.lay_out()
        super().resizeEvent(event)
        if was_at_end:
            self.scrollToBottom()

    def _on_opened(self, index: Index) -> None:
        self._view.details.show_line(index.data(Qt.ItemDataRole.UserRole))

    def _on_scrolled(self, value: int) -> None:
        self._view.show_scrolled()
        if value <= px(NEAR):
            self._view.read_older()
        if value >= self.verticalScrollBar().maximum() - px(NEAR):
            self._view.read_newer()


class LogDetails(QWidget):
    """One line in full: its text, or the JSON of a record or a message, laid out. Closing it returns the keyboard to the list."""

    def __init__(self, view: "LogView") -> None:
        super().__init__()
        theme, self._view = view.context.theme, view
        self._title = ElidedLabel(theme, "", "caption_strong", "secondary")
        copied = tr("The line is copied")
        copy = IconButton(theme, "copy", tr("Copy"), small=True, on_click=lambda: view.context.copy(self.text, copied))
        close = IconButton(theme, "x", tr("Close the line"), small=True, on_click=self.close_line)
        self._code = CodeView(theme, "", tr("The line in full"), lines=WHOLE_LINES, json=True)
        head = fill(row(margins=(12, 2, 8, 0), spacing=4), (self._title, 1), copy, close)
        fill(column(self, spacing=6), divider(), head, self._code)
        self.hide()

    @property
    def text(self) -> str:
        return self._code.toPlainText()

    def show_line(self, line: LogLine) -> None:
        cut = tr("Cut: it was longer") if line.is_cut else ""
        self._title.set_text(" · ".join(filter(None, (day_and_clock(line.at), level_word(line.level), cut))))
        self._code.setPlainText(laid_out(line))
        self.show()

    def close_line(self) -> None:
        if self.isVisible():
            self.hide()
            self._view.list.setFocus()


def laid_out(line: LogLine) -> str:
    """Returns the JSON of a line with indentation, if it has any; else its text."""
    text = line.detail if line.kind in ("record", "message") else line.text
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
        except (ValueError, RecursionError):
            pass  # cut, or no JSON
    return text if line.kind != "mark" and text else shown_text(line)
