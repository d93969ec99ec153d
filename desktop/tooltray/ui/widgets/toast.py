"""Toasts: a short message after an action, with a button that undoes it; and their stack in the corner."""

from collections.abc import Iterator
from functools import partial
from itertools import takewhile
from typing import cast

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent, QShortcut
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QFrame, QSizePolicy, QWidget
from shiboken6 import isValid

from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import ICONS, Banner
from tooltray.ui.widgets.button import Button, IconButton, leave_focus
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.keyboard import parents, put_after
from tooltray.ui.widgets.label import Label, breakable
from tooltray.ui.widgets.page_frame import GrowingArea, PageRoom
from tooltray.ui.widgets.sheet import paint_shadow
from tooltray.ui.widgets.surface import column, fill, paint_box, row
from tooltray.ui.zoom import px

DONE = "success"
SHOWN_MS = 8000  # long enough to read one line and reach the button
STILL_MS = 2000  # longer, as often as the pointer or the keyboard is on it then
SHADOW, HEIGHT, BOTTOM = 24, 44, 20
WIDEST, BESIDE = 720, 16  # px of the box; and what stays free beside it
PADDING = 12  # px above and below several lines
SLACK = 4  # px; widths are rounded, and on a screen of 200 % a line that fits exactly is broken
RING_ROOM = 8  # px at each side of the button's word, inside its focus ring
ABOVE = 8  # px between a toast and the buttons that it must not cover


class Toast(QWidget):
    """A line at the bottom of the page, or as many as its words need there. It stays while the pointer or the keyboard is on it.

    Args:
        action: the text of its button, if it has one.
        key: presses the button from anywhere in the window.
        tone: `success`: the text is what was done; `info` or `warning`: nothing was done, or it did not work.
    """

    action_requested = Signal()
    passed = Signal()  # it is gone, and nobody has pressed its button

    def __init__(
        self, theme: Theme, window: QWidget, text: str, action: str = "", key: QKeySequence | None = None, tone: str = DONE
    ) -> None:
        super().__init__(window)
        self._theme, self.text, self.tone, self._is_over = theme, text, tone, False
        self.setAccessibleName(text)
        self._words = Label(theme, breakable(text), wrap=True)
        self._words.setAccessibleName(text)
        line = row(self, margins=(SHADOW + 14, SHADOW, SHADOW + 14, SHADOW), spacing=10)
        fill(line, Icon(theme, ICONS.get(tone, "check"), 16, f"{tone}.text", "surface.raised"), (self._words, 1))
        self._before = window.focusWidget()
        if action:
            button = Button(theme, action, "link", small=True, on_click=self._on_action)
            button.setFixedWidth(button.sizeHint().width() + 2 * px(RING_ROOM))
            if key is not None:
                QShortcut(key, self, button.click)
                button.setToolTip(key.toString(QKeySequence.SequenceFormat.NativeText))
                button.setAccessibleDescription(button.toolTip())
            line.addWidget(button)
            if self._before is not None:
                put_after(self._before, button)  # one Tab away, not behind all that the window has
        window.installEventFilter(self)
        self._place(window)
        self._end = QTimer(self, singleShot=True, interval=SHOWN_MS)
        self._end.timeout.connect(self._on_end)
        self._end.start()

    def _on_action(self) -> None:
        self._is_over = True
        self.action_requested.emit()
        self.dismiss()

    def _on_end(self) -> None:
        if self.underMouse() or self.isAncestorOf(self.window().focusWidget()):
            self._end.start(STILL_MS)
        else:
            self.dismiss()

    def dismiss(self) -> None:
        if not self._is_over:
            self._is_over = True
            self.passed.emit()
        has_focus, before = self.isAncestorOf(self.window().focusWidget()), self._before
        leave_focus(self)
        if has_focus and before is not None and isValid(before) and before.isVisible():
            before.setFocus(Qt.FocusReason.OtherFocusReason)
        self.hide()
        self.deleteLater()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self._place(watched)
        return False

    def _place(self, window: QWidget) -> None:
        left = min(self._theme.size("sidebar"), window.width() // 4)
        right = min((pane for pane in _panes(window) if pane > left + px(BESIDE)), default=window.width())  # beside details, not over them
        self._fit(min(px(WIDEST), right - left - 2 * px(BESIDE)))
        box = QRect(QPoint(0, 0), self.size()).adjusted(px(SHADOW), px(SHADOW), -px(SHADOW), -px(SHADOW))
        box.moveTo((left + right - box.width()) // 2, window.height() - box.height() - px(BOTTOM))
        for button in sorted(_fixed_buttons(window), key=QRect.top, reverse=True):
            if button.intersects(box):
                box.moveTop(button.top() - px(ABOVE) - box.height())
        self.move(box.topLeft() - QPoint(px(SHADOW), px(SHADOW)))

    def _fit(self, widest: int) -> None:
        """Makes the toast as narrow as its words allow, and as high as they need."""
        self._words.setFixedWidth(0)
        line = self._words.fontMetrics().horizontalAdvance(self._words.text()) + px(SLACK)
        most = widest + 2 * px(SHADOW) - self.sizeHint().width()
        self._words.setFixedWidth(max(1, min(line, most)))
        height = self._words.heightForWidth(self._words.width())
        self._words.setFixedHeight(height)
        self.resize(self.sizeHint().width(), max(px(HEIGHT), height + 2 * px(PADDING)) + 2 * px(SHADOW))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._theme
        box = QRectF(self.rect()).adjusted(px(SHADOW), px(SHADOW), -px(SHADOW), -px(SHADOW))
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            paint_shadow(painter, theme, box, "raised", theme.radius("l"))
            paint_box(painter, box, theme.radius("l"), theme.color("surface.raised"), theme.color("border.strong"))


def _panes(window: QWidget) -> Iterator[int]:
    """Yields where the open details begin, in px from the window's left."""
    for pane in window.findChildren(QFrame, "DetailsPane"):
        if pane.isVisible():
            yield pane.mapTo(window, QPoint(0, 0)).x()


def _fixed_buttons(window: QWidget) -> Iterator[QRect]:
    """Yields the buttons that a toast would cover and that cannot be scrolled away."""
    for button in window.findChildren(QAbstractButton):
        above = takewhile(lambda each: each is not window, parents(button))
        scrolls = any(isinstance(each, QAbstractScrollArea | Toast) and not isinstance(each, PageRoom) for each in above)
        if not scrolls and button.isVisible():
            yield QRect(button.mapTo(window, QPoint(0, 0)), button.size())


def show_toast(theme: Theme, window: QWidget, text: str, action: str = "", key: QKeySequence | None = None, tone: str = DONE) -> Toast:
    """Shows a toast in place of the current one."""
    for old in window.findChildren(Toast, options=Qt.FindChildOption.FindDirectChildrenOnly):
        old.dismiss()
    toast = Toast(theme, window, text, action, key, tone)
    toast.show()
    toast.raise_()
    return toast


MOST = 3  # at once; the newest say what a person has just tried
GAP = 6  # px
LOWEST, HIGHEST = 56, 168  # px; what the notes are about has to stay in sight


class NoteStack(GrowingArea):
    """A stack of toasts."""

    def __init__(self, theme: Theme) -> None:
        lines = column(spacing=GAP)
        lines.setAlignment(Qt.AlignmentFlag.AlignTop)
        super().__init__(lines)
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def add_banner(self, tone: str, title: str, text: str = "") -> None:
        close = IconButton(self._theme, "x", tr("Close this notice"), small=True)
        banner = Banner(self._theme, tone, title, text, close)
        close.clicked.connect(partial(self.remove, banner))
        self.add(banner)

    def add(self, widget: QWidget) -> None:
        """Adds a note below the others; removes the oldest if there are too many."""
        if self._layout.count() >= MOST and (oldest := self._layout.itemAt(0)) is not None:
            self.remove(cast(QWidget, oldest.widget()))
        super().add(widget)
        self.ensureWidgetVisible(widget)

    def sizeHint(self) -> QSize:
        return QSize(0, min(px(HIGHEST), self.wanted_height))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, min(px(LOWEST), self.wanted_height))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and watched is self.widget():
            self.fit()
        return super().eventFilter(watched, event)

    def fit(self) -> None:
        super().fit()
        self.updateGeometry()
