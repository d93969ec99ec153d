"""Cards in as many columns as fit, and a layout that breaks lines as text does."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLayout, QLayoutItem, QWidget
from shiboken6 import isValid

from tooltray.ui.roles import add_roles
from tooltray.ui.widgets.button import BY_KEYBOARD, PASSING
from tooltray.ui.widgets.page_frame import MARGIN, GrowingArea, PageScroll
from tooltray.ui.widgets.surface import Surface
from tooltray.ui.zoom import px

MIN_CARD, GAP, BOTTOM = 380, 12, 16
ARROWS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)


class GridCard(Surface):
    """A surface for the grid."""

    @property
    def is_urgent(self) -> bool:
        """Whether Tab comes to this card first."""
        return False

    def controls(self) -> list[QWidget]:
        """Returns its focusable controls, in order; the first one has the keyboard for the card."""
        raise NotImplementedError

    def take_tab(self, takes: bool) -> None:
        """Sets whether Tab stops at its controls."""
        for control in self.controls():
            control.setFocusPolicy(Qt.FocusPolicy.StrongFocus if takes else Qt.FocusPolicy.ClickFocus)


class CardList(QWidget):
    """The cards of a grid, a list for screen readers."""


class CardGrid(PageScroll):
    """A grid of cards. Tab comes to one card and goes through its controls; arrow keys go to the others. It is the first urgent card, or
    else the first; after Tab has left the grid, the card that was left.

    `calmed` is emitted when neither the pointer nor the keyboard may be inside any more: then cards may move, if
    `is_calm`. A click elsewhere moves none.
    """

    calmed = Signal()
    keyboard_changed = Signal(bool)  # whether somebody goes through the cards by keyboard

    def __init__(self, name: str) -> None:
        add_roles()
        super().__init__(name)
        self._cards: list[GridCard] = []
        self._current: GridCard | None = None  # at which Tab stops
        self._columns = 1
        self._has_keyboard = False  # somebody goes through the cards by keyboard; a click leaves the focus behind and says nothing
        self._content = CardList()
        self._content.setAccessibleName(name)
        self._grid = QGridLayout(self._content)
        self._grid.setContentsMargins(px(MARGIN), 0, px(MARGIN), px(BOTTOM))
        self._grid.setSpacing(px(GAP))
        self.setWidget(self._content)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    @property
    def is_calm(self) -> bool:
        return not self.underMouse() and not self._has_keyboard

    def set_cards(self, cards: Sequence[GridCard]) -> None:
        """Shows these cards in this order, and hides the others. No card is made or deleted."""
        if list(cards) == self._cards:
            return
        for card in self._cards:
            if card not in cards:
                self._grid.removeWidget(card)
                card.hide()
        self._cards = list(cards)
        self._place()
        self.start_over()

    def watch(self, card: GridCard) -> None:
        """Takes a card, hidden until it is among `set_cards`; it goes with the grid. Arrow keys on its controls move to the next card's."""
        card.setParent(self._content)
        card.hide()
        card.take_tab(False)
        for control in card.controls():
            control.installEventFilter(self)

    def start_over(self) -> None:
        """Makes Tab come to the first card again, unless the keyboard is in the grid."""
        focused = self.window().focusWidget()
        if self._current not in self._cards or focused is None or not self._content.isAncestorOf(focused):
            first = self._cards[0] if self._cards else None
            self._make_current(next((card for card in self._cards if card.is_urgent), first))

    def _make_current(self, card: GridCard | None) -> None:
        if card is not self._current:
            if self._current is not None and isValid(self._current):
                self._current.take_tab(False)
            self._current = card
            if card is not None:
                card.take_tab(True)

    def _place(self) -> None:
        for column in range(self._grid.columnCount()):
            self._grid.setColumnStretch(column, 0)
        for line in range(self._grid.rowCount()):
            self._grid.setRowStretch(line, 0)
        for place, card in enumerate(self._cards):
            self._grid.addWidget(card, *divmod(place, self._columns))  # as high as the highest of its line
            card.show()
        for column in range(self._columns):
            self._grid.setColumnStretch(column, 1)
        self._grid.setRowStretch(len(self._cards) // self._columns + 1, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        columns = max(1, (self.width() - 2 * px(MARGIN) + px(GAP)) // (px(MIN_CARD) + px(GAP)))
        if columns != self._columns:
            kept = self._in_use()
            self._columns = columns
            self._place()
            if kept is not None:  # what a person looks at stays where it is
                QTimer.singleShot(0, self, partial(self._keep, *kept))

    def _in_use(self) -> tuple[GridCard, int] | None:
        """Returns the card below the pointer or with the keyboard, and its distance from the upper edge; None without one."""
        focused = self.window().focusWidget()
        for card in self._cards:
            if card.underMouse() or (focused is not None and card.isAncestorOf(focused)):
                return card, card.y() - self.verticalScrollBar().value()
        return None

    def _keep(self, card: GridCard, below_edge: int) -> None:
        if isValid(card) and card in self._cards:
            self.verticalScrollBar().setValue(card.y() - below_edge)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.calmed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in ARROWS and isinstance(watched, QWidget):
            return self._go(watched, Qt.Key(event.key()))
        if isinstance(event, QFocusEvent) and event.gotFocus() and isinstance(watched, QWidget):
            self._make_current(self._card_of(watched))
        if isinstance(event, QFocusEvent) and event.reason() not in PASSING:
            self._has_keyboard = event.gotFocus() and event.reason() in BY_KEYBOARD
            QTimer.singleShot(0, self, partial(self._on_focus_moved, event.reason()))  # only then is it known where the focus went
        return super().eventFilter(watched, event)

    def _on_focus_moved(self, reason: Qt.FocusReason) -> None:
        if reason not in BY_KEYBOARD:
            self.start_over()
        self.keyboard_changed.emit(self._has_keyboard)
        if reason is not Qt.FocusReason.MouseFocusReason:
            self.calmed.emit()

    def _go(self, control: QWidget, key: Qt.Key) -> bool:
        card = self._card_of(control)
        if card is None or (target := self._neighbour(card, key)) is None:
            return True  # at the edge: the focus stays where it is
        before, after = _controls(card), _controls(target)
        if after:
            index = before.index(control) if control in before else 0
            after[min(index, len(after) - 1)].setFocus(Qt.FocusReason.TabFocusReason)
            self.ensureWidgetVisible(target)
        return True

    def _card_of(self, control: QWidget) -> GridCard | None:
        return next((card for card in self._cards if card.isAncestorOf(control)), None)

    def _neighbour(self, card: GridCard, key: Qt.Key) -> GridCard | None:
        here = self._cards.index(card)
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            index = here + (1 if key == Qt.Key.Key_Right else -1)
            return self._cards[index] if 0 <= index < len(self._cards) else None
        box, is_down = card.geometry(), key == Qt.Key.Key_Down
        others = [other for other in self._cards if (other.y() > box.y() if is_down else other.y() < box.y())]
        if not others:
            return None
        return min(others, key=lambda other: (abs(other.y() - box.y()), abs(other.x() - box.x())))


def _controls(card: GridCard) -> list[QWidget]:
    return [control for control in card.controls() if control.isVisible() and control.isEnabled()]


BETWEEN = 6  # px, between widgets and between lines


class FlowLayout(QLayout):
    """A layout that breaks lines as text does."""

    def __init__(self) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(px(BETWEEN))

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), moves=False)

    def setGeometry(self, area: QRect) -> None:
        super().setGeometry(area)
        self._arrange(area, moves=True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize(0, 0)
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _arrange(self, area: QRect, *, moves: bool) -> int:
        """Returns the height of all lines, in logical pixels."""
        x, y, line = area.x(), area.y(), 0
        for item in self._items:
            size = item.sizeHint()
            if line and x + size.width() > area.x() + area.width():
                x, y, line = area.x(), y + line + self.spacing(), 0
            if moves:
                item.setGeometry(QRect(QPoint(x, y), QSize(min(size.width(), area.width()), size.height())))
            x, line = x + size.width() + self.spacing(), max(line, size.height())
        return y + line - area.y()


class FlowArea(GrowingArea):
    """An area as high as its widgets need in lines that break as text does, up to `most` logical pixels."""

    def __init__(self, most: int) -> None:
        super().__init__(FlowLayout())
        self._most = most

    def fit(self) -> None:
        super().fit()
        self.setFixedHeight(min(px(self._most), self.wanted_height))
