"""The left navigation: the pages, the entry for AI clients, and at its foot the hub's status."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QSizePolicy, QWidget

from tooltray.ui import icons
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.page import PageEntry
from tooltray.ui.shell.hub_status import PAUSE, PAUSES, Duration
from tooltray.ui.state_language import Look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton, PaintedButton, new_menu
from tooltray.ui.widgets.icon import Icon, Logo
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import column, fill, row
from tooltray.ui.zoom import px

PALETTE_KEY = "Ctrl+K"
COMPACT_WIDTH = 58  # px: icons alone


class NavItem(PaintedButton):
    """An item for one page: icon, word, and a number if something there needs attention."""

    def __init__(self, theme: Theme, icon: str, text: str) -> None:
        super().__init__()
        self._theme, self._icon, self._badge = theme, icon, ""
        self._is_compact = False
        self.setText(text)
        self.setCheckable(True)
        self.setAutoExclusive(True)  # one of several, also for screen readers: no check box
        self.setFixedHeight(theme.size("nav"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.set_badge(0)

    def set_badge(self, count: int) -> None:
        self._badge = str(count or "")
        self.setAccessibleName(tr("{page}, {count} need you", page=self.text(), count=count) if count else self.text())
        self.update()

    def set_compact(self, is_compact: bool) -> None:
        """Shows only its icon, and its word as a tooltip."""
        self._is_compact = is_compact
        self.setToolTip(self.text() if is_compact else "")
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(px(38) if self._is_compact else px(160), self._theme.size("nav"))

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme = self._theme
        active = self.isChecked()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            if active or self.underMouse() or self.shows_focus:
                painter.setPen(theme.color("accent") if self.shows_focus else Qt.PenStyle.NoPen)
                painter.setBrush(theme.color("surface.pressed" if active else "surface.hover"))
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), px(6), px(6))
            color = theme.color("text.primary" if active else "text.secondary")
            middle = self.height() / 2
            left = (self.width() - px(18)) / 2 if self._is_compact else px(10)
            icons.draw(painter, self._icon, QRectF(left, middle - px(9), px(18), px(18)), theme.color("accent.text") if active else color)
            painter.setPen(color)
            painter.setFont(theme.font("label"))
            if not self._is_compact:
                painter.drawText(QRectF(px(38), 0, self.width() - px(70), self.height()), Qt.AlignmentFlag.AlignVCenter, self.text())
            if self._badge:
                painter.setPen(theme.color("error.text"))
                painter.setFont(theme.font("caption_strong", tabular=True))
                place = QRectF(0, 0, self.width() - px(2 if self._is_compact else 12), self.height())
                vertical = Qt.AlignmentFlag.AlignTop if self._is_compact else Qt.AlignmentFlag.AlignVCenter
                painter.drawText(place, vertical | Qt.AlignmentFlag.AlignRight, self._badge)


class Sidebar(QFrame):
    """The navigation of the window. `page_requested` carries the name of the page the user wants, `pause_requested` whether to pause
    everything.

    Attributes:
        items: of the pages; the checked one is the current page's.
    """

    page_requested = Signal(str)
    pause_requested = Signal(bool, object)
    entry_copy_requested = Signal()
    palette_requested = Signal()

    def __init__(self, theme: Theme, pages: Sequence[PageEntry]) -> None:
        super().__init__()
        self.setObjectName("Sidebar")
        self._theme, self._is_paused = theme, False
        self._brand, self._is_compact = QWidget(), False
        fill(row(self._brand, margins=(8, 0, 0, 18), spacing=10), Logo(24), (Label(theme, "Tooltray", "heading"), 1))
        group = QButtonGroup(self)
        self.items = {entry.name: NavItem(theme, entry.icon, entry.title()) for entry in pages}
        for name, item in self.items.items():
            group.addButton(item)
            item.clicked.connect(partial(self.page_requested.emit, name))
        find = Button(theme, tr("Search or run a command"), "ghost", "search", small=True, on_click=self.palette_requested.emit)
        find.setToolTip(tr("Servers, tools, settings and what can be done with them") + f" ({PALETTE_KEY})")
        copy = Button(theme, tr("Copy entry for a client"), "ghost", "copy", small=True, on_click=self.entry_copy_requested.emit)
        copy.setToolTip(tr("The entry that an AI client's settings need to use these servers"))
        self._named = ((find, find.text(), "search"), (copy, copy.text(), "copy"))
        self._layout = column(self, margins=(12, 28, 12, 12), spacing=2)
        fill(self._layout, self._brand, *self.items.values(), 1, find, copy, self._hub_status(theme))
        self._fit()

    def set_compact(self, is_compact: bool) -> None:
        """Shows only icons, for a window that is narrow at its zoom; words are tooltips then."""
        if is_compact is not self._is_compact:
            self._is_compact = is_compact
            self._brand.setVisible(not is_compact)
            for item in self.items.values():
                item.set_compact(is_compact)
            for button, text, icon in self._named:
                button.set_face("" if is_compact else text, icon)
                button.setAccessibleName(text)
            for widget in (self._shape, self._word, self._detail):
                widget.setHidden(is_compact or (widget is self._detail and not self._detail.accessibleName()))
        self._fit()

    def _fit(self) -> None:
        if self._is_compact:
            self.setFixedWidth(px(COMPACT_WIDTH))
        else:
            self._layout.invalidate()
            self.setFixedWidth(max(self._theme.size("sidebar"), self._layout.minimumSize().width()))  # a language may have longer words

    def show_hub(self, look: Look, detail: str, *, can_pause: bool, is_paused: bool) -> None:
        """Shows the hub's status at the foot."""
        self._is_paused = is_paused
        self._shape.set_icon(look.icon, look.tone)
        self._word.set_text(look.word)
        self._detail.set_text(detail)
        self._detail.setVisible(bool(detail) and not self._is_compact)
        self._pause.set_face("", "play" if is_paused else "pause")
        self._pause.set_name(tr("Resume all servers") if is_paused else tr("Pause all servers"))
        self._pause.setVisible(can_pause)

    def _hub_status(self, theme: Theme) -> QHBoxLayout:
        self._shape = Icon(theme, "state-starting", 14, "info", "bg.sidebar")
        self._word = ElidedLabel(theme, "", "caption_strong")
        self._detail = ElidedLabel(theme, "", "caption", "muted")
        self._pause = IconButton(theme, "pause", tr("Pause all servers"), small=True, on_click=self._on_pause)
        foot = row(margins=(8, 8, 0, 0), spacing=10)
        foot.addWidget(self._shape, 0, Qt.AlignmentFlag.AlignVCenter)
        return fill(foot, (fill(column(), self._word, self._detail), 1), self._pause)

    def _on_pause(self) -> None:
        if self._is_paused:
            self.pause_requested.emit(False, None)
            return
        menu = new_menu(self, self._theme, say(PAUSE))
        for text, duration in PAUSES:
            menu.addAction(say(text)).triggered.connect(partial(self._pause_for, duration))
        menu.popup(self._pause.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def _pause_for(self, duration: Duration) -> None:
        self.pause_requested.emit(True, duration())
