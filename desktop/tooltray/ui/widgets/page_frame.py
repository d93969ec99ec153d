"""The parts of every page: its header with a search field, and the area that scrolls below it."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QLineEdit, QScrollArea, QSizePolicy, QWidget

from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import clear, column, fill, height_at, paint_text, row
from tooltray.ui.zoom import px

SHORTCUT = "Ctrl+F"
BESIDE_TEXT = 92  # px of a search field: its sign, its shortcut, and the frame


class SearchField(QLineEdit):
    """A search field with its shortcut written inside; Escape clears it."""

    def __init__(self, theme: Theme, placeholder: str, *, width: int = 260) -> None:
        super().__init__()
        self._theme, self._placeholder = theme, ""
        self.setProperty("quiet", True)
        self.set_placeholder(placeholder)
        self.setFont(theme.font())
        self.setFixedHeight(theme.size("control"))
        self.setMaximumWidth(px(width))
        self.setMinimumWidth(px(BESIDE_TEXT) + theme.metrics("body").horizontalAdvance(tr("Search")))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        QShortcut(QKeySequence(SHORTCUT), self, self._on_shortcut)

    def set_placeholder(self, text: str) -> None:
        """Says what is searched; a narrow field says only that it searches."""
        self._placeholder = text
        self.setAccessibleName(text)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        fits = self._theme.metrics("body").horizontalAdvance(self._placeholder) <= self.width() - px(BESIDE_TEXT)
        self.setPlaceholderText(self._placeholder if fits else tr("Search"))

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
            icons.draw(painter, "search", QRectF(px(10), (self.height() - px(15)) / 2, px(15), px(15)), theme.color("text.muted"))
            if not self.text():
                place = QRectF(0, 0, self.width() - px(12), self.height())
                paint_text(painter, theme, place, SHORTCUT.replace("+", " "), "overline", "text.muted", Qt.AlignmentFlag.AlignRight)


ABOVE_CONTROLS, BELOW_CONTROLS = 24, 8  # px; in what the header has left below, a notice has its place
SLACK = 16  # px by which a line of the header may be too long: its distances give way
SEARCH_STRETCH = 100  # it takes the room of a header up to its widest, before the space in the middle does


class Header(QFrame):
    """The header of a page. A notice is a line in it, whose place is kept free: neither the controls nor what is below the header move.

    Args:
        actions: at its right, for the whole page.
        tabs: of the page, beside its title.

    Attributes:
        faults: the layout for the page's own notices; see `choose_line`.
    """

    def __init__(self, theme: Theme, title: str, *actions: QWidget, tabs: QWidget | None = None) -> None:
        super().__init__()
        self.setObjectName("Header")
        self._theme = theme
        self._line, self._second = row(margins=(24, ABOVE_CONTROLS, 24, BELOW_CONTROLS), spacing=8), row(spacing=8)
        self.faults, self._place = column(), QWidget()
        self._notices = column(self._place)
        self._place.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        fill(column(self), self._line, self._second, 1, self.faults, self._place)
        gap = row()
        gap.setContentsMargins(px(4), theme.size("control"), 0, 0)  # the line has the same height on all pages
        self._subtitle = Label(theme, "", "body", "muted")
        self._subtitle.hide()
        self._tabs = tabs
        fill(self._line, Label(theme, title, "title"), gap, self._subtitle, *([tabs] if tabs is not None else []), 1)
        self._actions: list[QWidget] = []
        self._is_folded = False
        self.set_actions(actions)

    def hold(self, notices: QWidget) -> None:
        """Takes the line with the window's notices, which only one page shows."""
        self._notices.addWidget(notices)

    def choose_line(self) -> None:
        """Shows the page's own line that came last, or without one the window's notices."""
        own = [item.widget() for item in map(self.faults.itemAt, range(self.faults.count())) if item is not None]
        for line in filter(None, own):
            line.setVisible(line is own[-1])
        self._place.setVisible(not own)

    def set_subtitle(self, text: str) -> None:
        self._subtitle.setText(text)
        self._subtitle.setVisible(bool(text))

    def set_actions(self, actions: Sequence[QWidget]) -> None:
        """Replaces the actions at the right: each tab has its own."""
        for action in actions:
            if action not in self._actions:
                self._actions.append(action)
                self._add_action(action, self._second if self._is_folded and self._tabs is None else self._line)
        for action in self._actions:
            action.setVisible(action in actions)
        self._fold()

    def _add_action(self, action: QWidget, line: QHBoxLayout) -> None:
        line.addWidget(action, SEARCH_STRETCH if isinstance(action, SearchField) else 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:  # a text or an action has changed
            self._fold()
        return super().event(event)

    def _fold(self) -> None:
        """Moves the tabs, or without tabs the actions, to a second line where one line has no room for all."""
        moved = [self._tabs] if self._tabs is not None else [each for each in self._actions if not each.isHidden()]
        second = sum(each.minimumSizeHint().width() + self._line.spacing() for each in moved) if self._is_folded else 0
        is_folded = bool(moved) and self._line.minimumSize().width() + second > self.width() + px(SLACK)
        if is_folded is not self._is_folded:
            self._is_folded = is_folded
            if self._tabs is not None and is_folded:
                self._second.addWidget(self._tabs)
            elif self._tabs is not None:
                self._line.insertWidget(self._line.indexOf(self._subtitle) + 1, self._tabs)
            for action in self._actions if self._tabs is None else ():
                self._add_action(action, self._second if is_folded else self._line)
            self._second.setAlignment(Qt.AlignmentFlag.AlignLeft)
        side, below = (px(MARGIN), px(BELOW_CONTROLS)) if is_folded else (0, 0)
        self._second.setContentsMargins(side, 0, side, below)  # also if it folded while it was zoomed, which gave it margins of before
        more = self._second.minimumSize().height() if is_folded else 0
        self.setFixedHeight(self._theme.size("header") + more)


MARGIN = 24
FREE_BELOW = 72  # px below the last thing: so much a toast takes, and what it covers can be scrolled out from under it
SMALLEST = 520, 380  # px at 100 %: what every page is usable in


class PageRoom(QScrollArea):
    """The place of the pages in the window. Where a large zoom leaves less than a page needs, all of it scrolls."""

    def __init__(self, pages: QWidget) -> None:
        super().__init__()
        self._pages = pages
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(pages)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        room, least = self.maximumViewportSize(), QSize(px(SMALLEST[0]), px(SMALLEST[1]))
        across = room.width() < least.width()
        down = room.height() - across * self.horizontalScrollBar().sizeHint().height() < least.height()
        room -= QSize(down * self.verticalScrollBar().sizeHint().width(), across * self.horizontalScrollBar().sizeHint().height())
        self._pages.resize(room.expandedTo(least))


class PageScroll(QScrollArea):
    """A vertical scroll area whose right margin shrinks by the scroll bar.

    Args:
        below: px that stay free below its content, at least.
    """

    def __init__(self, name: str, margin: int = MARGIN, *, below: int = FREE_BELOW) -> None:
        super().__init__()
        self._margin, self._below = margin, below
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # Tab goes to the controls inside; they scroll into view
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        content = self.widget()
        if content is None or (layout := content.layout()) is None:
            return
        margins = layout.contentsMargins()
        margins.setBottom(max(px(self._below), margins.bottom()))
        margins.setRight(px(self._margin) - (self.width() - self.viewport().width()))
        layout.setContentsMargins(margins)


READING_WIDTH = 920  # of a page that is read line by line: beyond it the eye loses the line


class ReadingScroll(PageScroll):
    """A scroll area with one column of readable width.

    Attributes:
        content: the whole column.
        body: where sections are added; the caller adds a stretch below them.
    """

    def __init__(self, name: str, *, spacing: int = 10) -> None:
        super().__init__(name)
        outer, self.content = QWidget(), QWidget()
        self.content.setMaximumWidth(px(READING_WIDTH))
        self.body = column(self.content, spacing=spacing)
        fill(row(outer, margins=(MARGIN, 20, MARGIN, 32), spacing=0), (self.content, 1), 0)
        self.setWidget(outer)


class GrowingArea(QScrollArea):
    """An area as high as its widgets need, or lower: then it scrolls. Without widgets it is hidden."""

    def __init__(self, layout: QLayout) -> None:
        super().__init__()
        content, self._layout = QWidget(), layout
        content.setLayout(layout)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab goes to the widgets inside; they scroll into view
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidgetResizable(True)
        self.setWidget(content)
        self.hide()

    def add(self, widget: QWidget) -> None:
        self._layout.addWidget(widget)
        self.fit()

    def remove(self, widget: QWidget) -> None:
        self._layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()
        self.fit()

    def clear(self) -> None:
        clear(self._layout)
        self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    @property
    def wanted_height(self) -> int:
        """The height that the widgets need at the present width, in pixels."""
        return height_at(self._layout, max(1, self.viewport().width()))

    def fit(self) -> None:
        """Shows as much as the widgets need now."""
        self.setVisible(self._layout.count() > 0)


class FittedScroll(PageScroll):
    """A scroll area of its content's height that scrolls only if it gets less: for sheets in small windows.

    Args:
        width: logical pixels that it will have; the height of wrapped text depends on it.
    """

    def __init__(self, name: str, width: int) -> None:
        super().__init__(name, below=0)
        self._width = width

    def sizeHint(self) -> QSize:
        content = self.widget()
        layout = content.layout() if content is not None else None
        width = min(px(self._width), self.window().width())
        return QSize(px(self._width), height_at(layout, width)) if layout is not None else super().sizeHint()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest and watched is self.widget():
            self.updateGeometry()  # the content wants another height, and so do we
        return super().eventFilter(watched, event)
