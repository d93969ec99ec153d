"""A row of filters with counts, or of a page's tabs; one is on. Left and Right move, as in a tab bar."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QButtonGroup, QWidget

from tooltray.ui.roles import add_roles
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import PaintedButton
from tooltray.ui.widgets.keyboard import with_parent
from tooltray.ui.widgets.surface import paint_text, row
from tooltray.ui.zoom import px


class FilterTab(PaintedButton):
    """One tab of a row.

    Args:
        has_count: its text is followed by a number.
    """

    def __init__(self, theme: Theme, text: str, *, has_count: bool = True) -> None:
        super().__init__()
        self._theme, self._has_count = theme, has_count
        self.count: int | None = 0  # None: not known
        self.setText(text)
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.set_count(0)

    def set_count(self, count: int | None) -> None:
        """Shows a number; None: not known."""
        self.count = count
        has_words = self._has_count and count is not None
        self.setAccessibleName(f"{self.text()}, {self._number}" if has_words else self.text())
        self.setFixedSize(self.sizeHint())
        self.update()

    def set_text(self, text: str) -> None:
        self.setText(text)
        self.set_count(self.count)

    @property
    def _number(self) -> str:
        return "–" if self.count is None else f"{self.count:,}"

    def sizeHint(self) -> QSize:
        text = self._theme.metrics("caption_strong").horizontalAdvance(self.text())
        if not self._has_count:
            return QSize(text + px(22), self._theme.size("control_small"))
        count = self._theme.metrics("caption", tabular=True).horizontalAdvance(self._number)
        return QSize(text + count + px(28), self._theme.size("control_small"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        group = with_parent(self.group())
        if not step or group is None:
            super().keyPressEvent(event)
            return
        tabs = [tab for tab in group.buttons() if not tab.isHidden()]
        target = tabs[(tabs.index(self) + step) % len(tabs)]
        target.setFocus(Qt.FocusReason.TabFocusReason)
        target.click()

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._theme
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if self.isChecked() or self.underMouse() or self.shows_focus:
                edge = "accent" if self.shows_focus else "border"
                painter.setPen(QPen(theme.color(edge)) if self.isChecked() or self.shows_focus else Qt.PenStyle.NoPen)
                painter.setBrush(theme.color("surface" if self.isChecked() else "surface.hover"))
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), px(6), px(6))
            ink = "text.primary" if self.isChecked() else "text.secondary"
            paint_text(painter, theme, QRectF(px(11), 0, self.width(), self.height()), self.text(), "caption_strong", ink)
            if self._has_count:
                place = QRectF(0, 0, self.width() - px(11), self.height())
                paint_text(painter, theme, place, self._number, "caption", "text.muted", Qt.AlignmentFlag.AlignRight, tabular=True)


class FilterTabs(QWidget):
    """A row of tabs.

    Args:
        name: of the row, for screen readers.
        have_counts: each text is followed by a number.
        uncounted: places of words that have none all the same.
        hides_empty: filters that let nothing through are hidden, but for the first and the chosen one.
    """

    chosen = Signal(int)

    def __init__(
        self,
        theme: Theme,
        names: Sequence[str],
        *,
        name: str = "",
        have_counts: bool = True,
        uncounted: Collection[int] = (),
        hides_empty: bool = False,
    ) -> None:
        add_roles()
        super().__init__()
        self._hides_empty = hides_empty
        self.setAccessibleName(name)
        layout = row(self, spacing=4)
        group = QButtonGroup(self)
        self._tabs = [FilterTab(theme, text, has_count=have_counts and place not in uncounted) for place, text in enumerate(names)]
        for index, tab in enumerate(self._tabs):
            group.addButton(tab, index)
            layout.addWidget(tab)
        self._tabs[0].setChecked(True)
        group.idClicked.connect(self.chosen)
        group.idClicked.connect(self._hide_empty)
        self._hide_empty()

    def choose(self, index: int) -> None:
        """Switches a tab on, without `chosen`."""
        self._tabs[index].setChecked(True)
        self._hide_empty()

    @property
    def current(self) -> int:
        """The index of the current tab."""
        return next(index for index, tab in enumerate(self._tabs) if tab.isChecked())

    def focus_current(self) -> None:
        self._tabs[self.current].setFocus()

    def show_only(self, places: Collection[int]) -> None:
        """Hides all other tabs."""
        for place, tab in enumerate(self._tabs):
            tab.setVisible(place in places)

    def set_text(self, index: int, text: str) -> None:
        """Renames a filter."""
        self._tabs[index].set_text(text)

    def set_counts(self, counts: Sequence[int | None]) -> None:
        for tab, count in zip(self._tabs, counts, strict=True):
            if count != tab.count:
                tab.set_count(count)
        self._hide_empty()

    def _hide_empty(self) -> None:
        for tab in self._tabs[1:] if self._hides_empty else ():
            tab.setHidden(tab.count == 0 and not tab.isChecked())
