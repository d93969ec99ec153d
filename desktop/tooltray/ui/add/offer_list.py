"""A list of offers, two lines each, below headings: model/view, so that thousands cost as much as the visible ones."""

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from tooltray.ui.theme import Theme
from tooltray.ui.widgets.cell_delegate import RowHover
from tooltray.ui.widgets.chip import paint_chip
from tooltray.ui.widgets.row_model import Column, Index, RowModel
from tooltray.ui.zoom import px

ROW, HEADING = 58, 38  # px
INSET, GAP, CHIP_GAP = 24, 16, 6
FOCUS_BAR = 2
ROOM_FOR_CHIPS = 560  # px; below that the words are worth more


class Offer(msgspec.Struct, frozen=True):
    """A line of the list.

    Attributes:
    key: identifies it; "" for a heading.
    title, text: the two lines.
    chips: words and tones, at the right.
    wish: what choosing it does, as a word.
    """

    key: str
    title: str
    text: str = ""
    chips: tuple[tuple[str, str], ...] = ()
    wish: str = ""

    @property
    def is_heading(self) -> bool:
        return not self.key

    @property
    def words(self) -> str:
        """The text for screen readers."""
        parts = (self.title, self.text, ", ".join(word for word, _ in self.chips), self.wish)
        return ". ".join(part.rstrip(".。") for part in parts if part)


class OfferModel(RowModel):
    """Offers, and headings that cannot be chosen."""

    def __init__(self) -> None:
        words = Column("", lambda offer: offer.words, tip=lambda offer: offer.text)
        super().__init__([words], lambda offer: offer.key or offer.title)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        return None if role == Qt.ItemDataRole.AccessibleDescriptionRole else super().data(index, role)  # it is among the words

    def flags(self, index: Index) -> Qt.ItemFlag:
        return Qt.ItemFlag.NoItemFlags if self.row(index.row()).is_heading else super().flags(index)


class OfferDelegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, view: "OfferList") -> None:
        super().__init__(view)
        self._theme, self._view = theme, view

    def sizeHint(self, _option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(px(100), px(HEADING) if self._view.offers[index.row()].is_heading else px(ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        offer, theme, box = self._view.offers[index.row()], self._theme, QRectF(option.rect)
        painter.save()
        if offer.is_heading:
            self._text(painter, box.adjusted(px(INSET), px(12), -px(INSET), 0), offer.title, "caption_strong", "text.muted")
        else:
            self._fill(painter, option.state, box, is_hovered=self._view.hovered_row == index.row())
            painter.setPen(theme.color("chart.grid"))
            painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
            self._paint_offer(painter, box.adjusted(px(INSET), 0, -px(INSET), 0), offer)
        painter.restore()

    def _fill(self, painter: QPainter, state: QStyle.StateFlag, box: QRectF, *, is_hovered: bool) -> None:
        theme = self._theme
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(box, theme.color("surface.selected"))
            if self._view.hasFocus():
                painter.fillRect(QRectF(box.left(), box.bottom() - FOCUS_BAR, box.width(), FOCUS_BAR), theme.color("accent"))
        elif is_hovered:
            painter.fillRect(box, theme.color("surface.hover"))

    def _paint_offer(self, painter: QPainter, box: QRectF, offer: Offer) -> None:
        right, middle = box.right(), box.center().y()
        if offer.wish:
            width = self._theme.metrics("caption_strong").horizontalAdvance(offer.wish)
            place = QRectF(right - width, box.top(), width + 1, box.height())
            self._text(painter, place, offer.wish, "caption_strong", "accent.text")
            right -= width + px(GAP)
        if box.width() >= px(ROOM_FOR_CHIPS):
            for word, tone in reversed(offer.chips):
                width = self._theme.metrics("caption_strong").horizontalAdvance(word) + px(16)
                paint_chip(painter, self._theme, right - width, middle, word, tone)
                right -= width + px(CHIP_GAP)
        lines = QRectF(box.left(), box.top() + px(9), right - px(GAP) - box.left(), px(20))
        self._text(painter, lines, offer.title, "strong", "text.primary")
        self._text(painter, lines.translated(0, px(20)), offer.text, "caption", "text.secondary")

    def _text(self, painter: QPainter, place: QRectF, text: str, style: str, color: str) -> None:
        painter.setFont(self._theme.font(style))
        painter.setPen(self._theme.color(color))
        shown = self._theme.metrics(style).elidedText(text, Qt.TextElideMode.ElideRight, int(place.width()) + 1)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, shown)


class OfferList(RowHover, QListView):
    """A list of offers. `chosen` carries the key of the offer that a click or Enter chose."""

    chosen = Signal(str)

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self._model = OfferModel()
        self.setModel(self._model)
        self.setItemDelegate(OfferDelegate(theme, self))
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setTabKeyNavigation(False)
        self.clicked.connect(self._on_clicked)

    @property
    def offers(self) -> Sequence[Offer]:
        return self._model.rows

    def set_offers(self, offers: Sequence[Offer]) -> None:
        """Replaces the offers; the current one and the scroll position stay where possible."""
        current = self.currentIndex()
        key = self.offers[current.row()].key if current.isValid() else ""
        scrolled = self.verticalScrollBar().value()
        if not self._model.set_rows(offers) and (place := self._model.find(key)) >= 0:
            self.setCurrentIndex(self._model.index(place, 0))
            self.verticalScrollBar().setValue(scrolled)

    def go_in(self) -> None:
        """Moves the focus to the list, and makes its first offer current if none is."""
        self.setFocus(Qt.FocusReason.TabFocusReason)
        if not self.currentIndex().isValid():
            first = next((index for index, offer in enumerate(self.offers) if not offer.is_heading), -1)
            if first >= 0:
                self.setCurrentIndex(self._model.index(first, 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self.currentIndex().isValid():
            self._choose(self.currentIndex().row())
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _on_clicked(self, index: QModelIndex) -> None:
        self._choose(index.row())

    def _choose(self, place: int) -> None:
        if key := self.offers[place].key:
            self.chosen.emit(key)
