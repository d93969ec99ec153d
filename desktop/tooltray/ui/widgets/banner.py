"""Notices: a banner beside what it concerns, and the line in the header of a page, for which nothing below the header moves."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QHideEvent, QPainter, QPainterPath, QPaintEvent, QRegion, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, leave_focus
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.keyboard import parents
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import Header
from tooltray.ui.widgets.surface import Surface, clear, column, fill, row
from tooltray.ui.zoom import px

ICONS = {"error": "alert", "warning": "alert", "info": "info"}
HEIGHT = 28  # px: what a header has left below its controls and their distance
BUTTON_HEIGHT = 24
LEAST_TEXT = 80  # px; less of it says nothing
WIDEST = 560  # px of the details


class Banner(Surface):
    """A banner with a title and a text; `tone` is `error`, `warning` or `info`; at most two buttons."""

    def __init__(self, theme: Theme, tone: str, title: str, text: str, *buttons: QWidget) -> None:
        super().__init__(theme, f"{tone}.subtle", None, "m")
        self.setAccessibleName(f"{title}. {text}" if text else title)
        line = row(self, margins=(12, 10, 12, 10), spacing=10)
        line.addWidget(Icon(theme, ICONS[tone], 16, f"{tone}.text"), 0, Qt.AlignmentFlag.AlignTop)
        words = fill(column(), Label(theme, title, "caption_strong", tone, wrap=True))
        if text:
            words.addWidget(_selectable(theme, text, "caption"))
        line.addLayout(words, 1)
        for button in buttons:
            line.addWidget(button, 0, Qt.AlignmentFlag.AlignVCenter)


def _selectable(theme: Theme, text: str, style: str) -> Label:
    """Makes a label whose text can be selected, since paths and commands are there to be copied."""
    label = Label(theme, text, style, "secondary", wrap=True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label


def show_error(layout: QLayout, theme: Theme, problem: Problem | None) -> None:
    """Replaces the content of a layout by a banner with a failure; None: by nothing."""
    clear(layout)
    if problem is not None:
        layout.addWidget(Banner(theme, "error", title(problem), sentences(problem)))


class NoticeDetails(QWidget):
    """A popup with the whole text of a notice, which can be copied; Escape or a click elsewhere closes it.

    Args:
        content: is shown in place of the text; it has a frame and margins of its own.
    """

    def __init__(self, theme: Theme, line: QWidget, title: str, text: str, content: QWidget | None = None) -> None:
        super().__init__(line, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(title if content is None else line.accessibleName())
        radius, margins = ("m", (1, 1, 1, 1)) if content is not None else ("l", (16, 12, 16, 14))
        self._below, self._corner = line, theme.radius(radius)
        box = Surface(theme, "surface.raised", "border.strong", radius)
        fill(column(self), box)
        lines = column(box, margins=margins, spacing=4)
        if content is not None:
            lines.addWidget(content)
            content.setFocus()  # the first key that is typed goes to what the content asks for
        else:
            fill(lines, Label(theme, title, "strong", wrap=True), *([_selectable(theme, text, "body")] if text else []))
        self.setFixedWidth(min(px(WIDEST), line.width() - 2 * px(24)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cuts the corners off: without a compositor a translucent window would have black ones."""
        super().resizeEvent(event)
        shape = QPainterPath()
        shape.addRoundedRect(QRectF(self.rect()), self._corner, self._corner)
        self.setMask(QRegion(shape.toFillPolygon().toPolygon()))

    def open(self) -> None:
        """Shows it below its line."""
        self.move(self._below.mapToGlobal(QPoint(px(24), self._below.height() + px(2))))
        self.show()


class NoticeLine(QWidget):
    """A notice in one line; `tone` is `error`, `warning` or `info`; at most two buttons.

    Args:
        more: a remark behind the text.
        content: makes what is shown with the details, which are offered then in any case by a button of this text.
    """

    def __init__(
        self,
        theme: Theme,
        tone: str,
        title: str,
        text: str,
        *buttons: Button,
        more: str = "",
        content: tuple[str, Callable[[], QWidget]] | None = None,
    ) -> None:
        super().__init__()
        self._theme, self._tone, self._words, self._content = theme, tone, (title, text), content
        self.setFixedHeight(px(HEIGHT))
        self.setAccessibleName(f"{title}. {text}" if text else title)
        icon = Icon(theme, ICONS[tone], 14, f"{tone}.text", f"{tone}.subtle")
        self._title = ElidedLabel(theme, title, "caption_strong", tone, hugs=True)
        self._text = ElidedLabel(theme, "", "caption", "secondary", hugs=True)
        self._text.set_text(text)
        self._remark = Label(theme, more, "caption", "secondary")
        self._more = Button(theme, content[0] if content else tr("More…"), "link", small=True, on_click=self.show_details)
        self._line = row(self, margins=(24, 0, 24, 0), spacing=8)
        fill(self._line, icon, self._title, self._text, self._remark, self._more, 1, *buttons)
        self._remark.setVisible(bool(more))
        for button in (self._more, *buttons):
            button.setFixedHeight(px(BUTTON_HEIGHT))
        self._fit()

    def show_details(self) -> None:
        """Opens the whole text."""
        NoticeDetails(self._theme, self, *self._words, self._content[1]() if self._content is not None else None).open()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Gives the title its room before the text, and offers the details of what is cut."""
        layout, has_text = self._line, bool(self._words[1])
        self._more.setVisible(self._content is not None)
        self._text.setVisible(has_text)
        self._title.setMinimumWidth(0)
        is_cut = layout.sizeHint().width() > self.width()
        self._more.setVisible(is_cut or self._content is not None)
        least, wanted = self._title.minimumSizeHint().width(), self._title.sizeHint().width()
        room = self.width() - layout.minimumSize().width() - (wanted - least) + self._text.minimumSizeHint().width()  # of the text
        self._text.setVisible(has_text and room >= min(px(LEAST_TEXT), self._text.sizeHint().width()))
        self._title.setMinimumWidth(max(0, min(wanted, self.width() - layout.minimumSize().width() + least)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.color(f"{self._tone}.subtle"))


class FaultArea(QWidget):
    """A page's or a tab's own notice, mostly a failure. It takes no room: the header of the page shows it while this is visible; without
    a header it is shown here.

    Attributes:
        line: the notice that is shown.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._words: tuple[str, str, str] | None = None
        self.line: NoticeLine | None = None
        self._layout = column(self)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows what failed; None removes it."""
        self.show_notice(("error", title(problem), sentences(problem)) if problem is not None else None)

    def show_notice(self, words: tuple[str, str, str] | None) -> None:
        """Shows a notice: its tone, its title and its text; None removes it."""
        if words != self._words:
            self._words = words
            self._draw(is_visible=self.isVisible())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._draw(is_visible=True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._draw(is_visible=False)

    def _draw(self, *, is_visible: bool) -> None:
        header = self._header()
        if self.line is not None:
            leave_focus(self.line)
            self.line.hide()
            for layout in (self._layout, *([header.faults] if header is not None else ())):
                layout.removeWidget(self.line)
            self.line.deleteLater()
            self.line = None
        if is_visible and self._words is not None:
            self.line = NoticeLine(self._theme, *self._words)
            (header.faults if header is not None else self._layout).addWidget(self.line)
            self.line.show()
        if header is not None:
            header.choose_line()

    def _header(self) -> Header | None:
        return next((header for above in parents(self) if (header := above.findChild(Header)) is not None), None)


class NoticesAbove(QWidget):
    """A content with its notice, which the header of the page shows."""

    def __init__(self, notices: QWidget, content: QWidget) -> None:
        super().__init__()
        fill(column(self), notices, (content, 1))
