"""A table of servers and their tools with check boxes: a click or Space ticks, Enter or a click on a server shows its tools."""

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPen
from PySide6.QtWidgets import QStyleOptionViewItem

from tooltray.ui import icons
from tooltray.ui.clients.profile_choice import Choice
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.option_list import TICK
from tooltray.ui.widgets.table import CARD_INSET, CellDelegate, Column, Index, Kind, Table

ROW_HEIGHT, MARK = 34, 16
INDENT = 24  # px; tools stand below their server
LEFT, ARROW = 10, 14
CHECK_COLUMN = LEFT + ARROW + 8 + MARK + INDENT + 8


class CheckDelegate(CellDelegate):
    """Draws the first column: an arrow before a server, and the box; everything else as every table."""

    def __init__(self, theme: Theme, table: "CheckTable", columns: list[Column]) -> None:
        super().__init__(theme, columns, table, CARD_INSET, ROW_HEIGHT)
        self._table = table

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        if index.column() == 0:
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_choice(painter, QRectF(option.rect), self._table.rows[index.row()])
            painter.restore()

    def _paint_value(self, painter: QPainter, cell: QRectF, kind: Kind, value: object) -> None:
        if kind is not Kind.SWITCH:
            super()._paint_value(painter, cell, kind, value)

    def _paint_choice(self, painter: QPainter, cell: QRectF, choice: Choice) -> None:
        theme, middle = self._theme, cell.center().y()
        left = cell.left() + LEFT
        if not choice.tool:
            arrow = "chevron-down" if choice.is_open else "chevron-right"
            icons.draw(painter, arrow, QRectF(left, middle - ARROW / 2, ARROW, ARROW), theme.color("text.muted"))
        left += ARROW + 8 + (INDENT if choice.tool else 0)
        box = QRectF(left, middle - MARK / 2, MARK, MARK).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(theme.color("accent" if choice.is_on else "border.control")))
        painter.setBrush(theme.color("accent" if choice.is_on else "surface"))
        painter.drawRoundedRect(box, 4, 4)
        if choice.is_on:
            ink = theme.color("text.on_accent")
            painter.setPen(QPen(ink, 1.75, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
            painter.drawPolyline([box.topLeft() + QPointF(point) for point in TICK])


class CheckTable(Table):
    """`switched` carries a line and whether it is to be ticked, `row_chosen` one whose tools a person wants to see or no longer see."""

    def __init__(self, theme: Theme, count: Callable[[Choice], str]) -> None:
        """
        Args:
            count: says of a server how many of its tools are ticked.
        """
        columns = [
            Column(tr("In the profile"), lambda choice: choice.is_on, Kind.SWITCH, CHECK_COLUMN),
            Column(tr("Name"), lambda choice: choice.tool or choice.server, Kind.TEXT, 210),
            Column(tr("What it does"), lambda choice: choice.text if choice.is_known else tr("It is not there now"), Kind.QUIET),
            Column(tr("Tools"), lambda choice: "" if choice.tool else count(choice), Kind.NUMBER, 96),
        ]
        super().__init__(
            theme, columns, tr("Servers and tools of the profile"), lambda choice: choice.key, in_card=True, row_height=ROW_HEIGHT
        )
        self.setItemDelegate(CheckDelegate(theme, self, columns))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        index = self.currentIndex()
        choice = self.rows[index.row()] if index.isValid() else None
        if choice is not None and not choice.tool and event.key() == (Qt.Key.Key_Left if choice.is_open else Qt.Key.Key_Right):
            self.row_chosen.emit(choice)
        else:
            super().keyPressEvent(event)
