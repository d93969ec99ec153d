"""Paints the cells of a table: text, chips, states, bars, switches; no widget is made for a row."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from tooltray.ui import icons
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import HEIGHT, WIDTH, paint_switch
from tooltray.ui.widgets.chip import paint_chip
from tooltray.ui.widgets.choice import paint_check
from tooltray.ui.widgets.keyboard import last_input
from tooltray.ui.widgets.row_model import Column, Heading, Index, Kind
from tooltray.ui.widgets.surface import paint_box
from tooltray.ui.zoom import px

PADDING = 12
LINE_MARGIN = 6  # px above and below a cell's two lines
TWO_LINES_HEIGHT, CHIP_LINES_HEIGHT = 46, 52  # px of a row with such cells; of one with chips in them
SELECTED_CHIP = "surface"  # the fill of chips in a selected row
PAGE_INSET, CARD_INSET = 24, 0  # left padding of the first column; theme.qss has the same for headers
CARD_EDGE = 2  # right padding of the last column in a card, which puts its switches below the card's own
CHIP_EDGES = 16  # of a chip's width, left and right of its word
BAR_WORDS, LEAST_BAR = 84, 16  # px: the room for a bar's words, and the shortest bar that is drawn
HEADING_LINE, HEADING_COUNT = 28, 60  # px: of a heading's words, which stand low in their row; and what its number needs
FOCUS_BAR = 2  # height of the line below the current row of a table that has the keyboard


if TYPE_CHECKING:
    View = QAbstractItemView
else:
    View = object


class RowHover(View):
    """A mixin of views with mouse tracking that know which row is under the pointer.

    Attributes:
        hovered_row: its place; -1 without one.
    """

    hovered_row = -1

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            self._hover(self.indexAt(event.position().toPoint()).row())
        elif event.type() == QEvent.Type.Leave:
            self._hover(-1)
        return super().viewportEvent(event)

    def _hover(self, row: int) -> None:
        if row != self.hovered_row:
            self.hovered_row = row
            self.viewport().update()


PATH = re.compile(r"(?:~|\.{0,2}|[A-Za-z]:|HOME)[/\\]")

RELATIVE = re.compile(r"[^\s:]+/[^\s/]+")


def elide_mode(text: str, style: str) -> Qt.TextElideMode:
    """Returns where a text is cut: a path at its beginning, since its end says what it is; code in the middle, else at the end."""
    if PATH.match(text) or (style != "mono" and RELATIVE.fullmatch(text)):
        return Qt.TextElideMode.ElideLeft
    return Qt.TextElideMode.ElideMiddle if style == "mono" else Qt.TextElideMode.ElideRight


def draw_on_line(painter: QPainter, cell: QRectF, text: str, metrics: QFontMetrics, *, right: bool = False) -> None:
    """Draws a text in the middle of a cell's height, on the line of its neighbours: a sign of another font, such as 秒, moves nothing.

    Args:
        metrics: of the painter's font.
    """
    left = cell.right() - metrics.horizontalAdvance(text) if right else cell.left()
    painter.drawText(QPointF(left, cell.center().y() + (metrics.ascent() - metrics.descent()) / 2), text)


class CellDelegate(QStyledItemDelegate):
    """The painter of a table's cells.

    Attributes:
        bar_words: px for the words of a bar.
    """

    bar_words = BAR_WORDS

    def __init__(self, theme: Theme, columns: Sequence[Column], table: RowHover, inset: int, row_height: int) -> None:
        """Args:
        table: the table that it paints; kept.
        inset: px left of the first column; 0 for a table in a card.
        row_height: px.
        """
        super().__init__(table)
        self._theme, self._columns, self._view, self._inset, self._row_height = theme, columns, table, inset, row_height
        self._has_boxes = any(column.kind is Kind.PICK for column in columns)
        self._chip_fill = ""  # of the row that is drawn: on the fill of a selection, a chip's own would not be seen

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(px(40), self._row_height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect, box = self._theme, option.rect, QRectF(option.rect)
        value = index.data(Qt.ItemDataRole.UserRole)
        if isinstance(value, Heading):
            self._paint_heading(painter, box, value)
            return
        is_last = index.row() == index.model().rowCount() - 1
        painter.save()
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        is_at = index.row() == self._view.currentIndex().row()
        is_marked = is_selected or (is_at and self._has_boxes)  # where rows have boxes, the one that is opened is not ticked
        self._chip_fill = SELECTED_CHIP if is_marked else ""
        if is_marked:
            painter.fillRect(box, theme.color("surface.selected"))
        elif self._view.hovered_row == index.row():
            painter.fillRect(box, theme.color("surface.hover"))
        is_current = last_input.is_keyboard and is_at  # Tab selects nothing
        if self._view.hasFocus() and (is_selected or is_current):
            painter.fillRect(QRectF(box.left(), box.bottom() - FOCUS_BAR, box.width(), FOCUS_BAR), theme.color("accent"))
        if self._inset or not is_last:
            painter.setPen(theme.color("chart.grid"))
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        left = px(self._inset) if index.column() == 0 else px(PADDING)
        kind = self._columns[index.column()].kind
        if kind is Kind.PICK:
            value = is_selected if value else None
        self._paint_value(painter, box.adjusted(left, 0, -self._right(index.column()), 0), kind, value)
        painter.restore()

    def _right(self, column: int) -> int:
        """Returns the px after a cell's value: the last column of a page ends with its header, whose margin a scroll bar shares."""
        table = cast(QTableView, self._view)
        if not all(map(table.isColumnHidden, range(column + 1, len(self._columns)))):
            return px(PADDING)
        bar = self._view.verticalScrollBar()
        return px(PAGE_INSET) - (bar.width() if bar.isVisible() else 0) if self._inset else px(CARD_EDGE)

    def _paint_heading(self, painter: QPainter, box: QRectF, heading: Heading) -> None:
        """Paints a heading over the whole width; the line below it is the table's own."""
        painter.save()
        cell = box.adjusted(px(self._inset), box.height() - px(HEADING_LINE), -px(PADDING), 0)
        self._text(painter, cell, heading.title, "caption_strong", "text.secondary")
        left = min(self._theme.metrics("caption_strong").horizontalAdvance(heading.title), int(cell.width()) - px(HEADING_COUNT)) + px(8)
        self._text(painter, cell.adjusted(left, 0, 0, 0), f"{heading.count:,}", "caption", "text.muted")
        painter.setPen(self._theme.color("chart.grid"))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        painter.restore()

    def _paint_value(self, painter: QPainter, cell: QRectF, kind: Kind, value: Any) -> None:
        theme = self._theme
        middle = cell.center().y()
        match kind:
            case Kind.SWITCH:
                if value is not None:
                    box = QRectF(cell.right() - px(WIDTH), middle - px(HEIGHT) / 2, px(WIDTH), px(HEIGHT))
                    paint_switch(painter, theme, box, float(value))
            case Kind.CHECK | Kind.PICK:
                if value is not None:
                    paint_check(painter, theme, cell.left(), middle, is_on=bool(value))
            case Kind.CHIP:
                word, tone = value
                self._chip(painter, cell, word, tone, "text.muted")
            case Kind.BAR:
                share, tone, word = value
                if (width := cell.width() - px(self.bar_words)) >= px(LEAST_BAR):
                    self._bar(painter, QRectF(cell.left(), middle - px(2.5), width, px(5)), share, tone)
                self._text(painter, cell, word, "body", "text.primary" if share else "text.muted", right=True)
            case Kind.STATE:
                shape = QRectF(cell.left(), middle - px(7), px(14), px(14))
                icons.draw(painter, value.icon, shape, theme.color(value.tone), theme.color("surface"))
                self._text(painter, cell.adjusted(px(21), 0, 0, 0), value.word, "body", value.text_color)
            case Kind.BUTTON:
                self._text(painter, cell, value, "caption_strong", "accent.text", right=True)
            case Kind.MONO:
                self._text(painter, cell, value, "mono", "text.primary")
            case Kind.TWO_LINES:
                name, words, tone = (*value, "")[:3]
                half = cell.height() / 2
                self._text(painter, cell.adjusted(0, px(LINE_MARGIN), 0, -half), name, "mono", "text.primary")
                self._chip(painter, cell.adjusted(0, half, 0, -px(LINE_MARGIN)), words, tone, "text.secondary")
            case Kind.QUIET:
                self._text(painter, cell, value, "body" if self._inset else "caption", "text.secondary")
            case Kind.NUMBER:
                self._text(painter, cell, value, "body", "text.secondary", right=True)
            case Kind.TEXT:
                self._text(painter, cell, value, "body", "text.primary")

    def _chip(self, painter: QPainter, cell: QRectF, word: str, tone: str, color: str) -> None:
        """Paints a word as a chip; without a tone as text of a colour."""
        if not tone:
            self._text(painter, cell, word, "caption", color)
            return
        room = int(cell.width()) + 2 * px(PADDING) - px(CHIP_EDGES)  # the paddings may be used, up to the next column
        word = self._theme.metrics("caption_strong").elidedText(word, Qt.TextElideMode.ElideRight, room)
        paint_chip(painter, self._theme, cell.left(), cell.center().y(), word, tone, self._chip_fill)

    def _bar(self, painter: QPainter, track: QRectF, share: float, tone: str) -> None:
        paint_box(painter, track, px(2.5), self._theme.color("neutral.subtle"))
        if share:
            done = QRectF(track.left(), track.top(), max(px(5.0), track.width() * min(share, 1.0)), px(5))
            paint_box(painter, done, px(2.5), self._theme.color(tone))

    def _text(self, painter: QPainter, cell: QRectF, text: str, style: str, color: str, *, right: bool = False) -> None:
        is_tabular = style == "body"
        painter.setFont(self._theme.font(style, tabular=is_tabular))
        painter.setPen(self._theme.color(color))
        metrics = self._theme.metrics(style, tabular=is_tabular)
        shown = metrics.elidedText(text, elide_mode(text, style), int(cell.width()) + 1)
        draw_on_line(painter, cell, shown, metrics, right=right)
