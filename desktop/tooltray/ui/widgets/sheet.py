"""A sheet over the window with its content: dimmed background, title, body, buttons; and how long a consent is guarded."""

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QRect, QRectF, Qt, QTimer, QVariantAnimation, Signal
from PySide6.QtGui import QCursor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget
from shiboken6 import isValid

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import show_error
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.keyboard import move_focus
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import FittedScroll
from tooltray.ui.widgets.surface import DialogWindow, Surface, column, divider, fill, row
from tooltray.ui.zoom import px

QUESTION_WIDTH = 480
SHADOW_STEPS = 14
BESIDE, ABOVE = 64, 24  # px of the window that a panel leaves free, at both sides together, and above and below each
BUTTONS = 60  # px of a panel, at its bottom
RISE = 8  # px the panel moves up while it opens
SCRIM = {"light": 0.28, "dark": 0.55}


def paint_shadow(painter: QPainter, theme: Theme, box: QRectF, level: str, radius: float) -> None:
    """Paints a soft shadow as stacked rounded rectangles: cheaper than a blur effect and sharp at every scale."""
    spec = theme.elevation(level)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("scrim", spec[theme.mode] / SHADOW_STEPS))
    for step in range(SHADOW_STEPS):
        spread = spec["blur"] / 2 * (step + 1) / SHADOW_STEPS
        painter.drawRoundedRect(box.adjusted(-spread, -spread, spread, spread).translated(0, spec["y"]), radius + spread, radius + spread)


class Sheet(DialogWindow):
    """A sheet that covers `window` and shows `panel` in its middle; follows the window's size and keeps the keyboard inside.

    It deletes itself when it closes, and returns the focus.

    Args:
        closes_outside: whether a click beside the panel closes it.
    """

    closed = Signal()

    def __init__(self, theme: Theme, window: QWidget, panel: QWidget, *, closes_outside: bool = True) -> None:
        super().__init__(window)
        self._theme, self.panel, self._closes_outside = theme, panel, closes_outside
        self._is_kept = False
        self._focus_before = QApplication.focusWidget()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(panel.accessibleName())
        panel.setParent(self)
        panel.installEventFilter(self)
        window.installEventFilter(self)
        self.painted_box = QRect()  # around which the shadow was last painted
        self._bottom = 0  # of the panel where it was placed last
        self._pointer = QCursor.pos()  # where it was when the sheet was shown
        curve = QEasingCurve(QEasingCurve.Type.OutCubic)
        self._rise = QVariantAnimation(self, startValue=0.0, endValue=1.0, duration=theme.duration("base"), easingCurve=curve)
        self._rise.valueChanged.connect(self._on_risen)
        self.setGeometry(window.rect())
        QApplication.instance().focusChanged.connect(self._on_focus_changed)  # type: ignore[union-attr]

    def hold(self) -> None:
        """Stops clicks beside the panel from closing it, since its content would be lost."""
        self._closes_outside = False

    def keep(self, is_kept: bool) -> None:
        """Disables Escape while an operation is in progress, or enables it again."""
        self._is_kept = is_kept

    def _on_risen(self, _progress: float) -> None:
        self._place()
        self.update()

    def dismiss(self) -> None:
        """Closes the sheet; may be called twice."""
        if self.isVisible():
            if self._focus_before is not None and isValid(self._focus_before) and self._focus_before.isVisible():
                self._focus_before.setFocus(Qt.FocusReason.OtherFocusReason)  # first: Qt takes it from what hides, and scrolls to the next
            self.hide()
            self.closed.emit()
            self.close()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is vars(self).get("panel"):  # collected with its window, it has lost its attributes before Qt sends its last events
            if event.type() == QEvent.Type.LayoutRequest:  # it wants another size
                QTimer.singleShot(0, self, self._place)
        elif event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
            self._place()
        return False

    def focusNextPrevChild(self, forwards: bool) -> bool:
        """Moves the focus round inside the panel."""
        return move_focus(self.panel, forwards=forwards)

    def _place(self) -> None:
        panel = self.panel
        width = min(panel.maximumWidth(), self.width() - BESIDE)
        wanted = max(panel.sizeHint().height(), panel.minimumSizeHint().height(), panel.minimumHeight())
        sunk, bottom = round(RISE * (1 - self._rise.currentValue())), self._bottom
        height, top = min(wanted, self.height() - 2 * ABOVE), None
        pointer = self.mapFromGlobal(QCursor.pos())
        is_aiming = panel.geometry().contains(pointer) and QCursor.pos() != self._pointer
        if not sunk and is_aiming and ABOVE < bottom <= self.height() - ABOVE:  # the buttons must not move away from the pointer
            height = min(height, bottom - ABOVE) if pointer.y() >= panel.geometry().bottom() - px(BUTTONS) else height
            top = max(ABOVE, bottom - height)
        place = QRect((self.width() - width) // 2, (self.height() - height) // 2 + sunk if top is None else top, width, height)
        if place != panel.geometry() or place != self.painted_box:
            panel.setGeometry(place)
            self._bottom = place.bottom() + 1
            self.update()  # the shadow is painted around where the panel is now; with it all that lies behind

    def _on_focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Returns the focus to the sheet from widgets behind the scrim; other windows may have it."""
        is_behind = now is not None and now.window() is self.window() and now is not self and not self.isAncestorOf(now)
        if is_behind and self.isVisible() and not isinstance(now, Sheet):
            QTimer.singleShot(0, self, self._take_focus)  # not while it is still on its way there

    def _take_focus(self) -> None:
        """Moves the focus to the sheet, unless a control of the panel has it; Tab then leads to the first control, and no ring is shown
        before.
        """
        focused = self.window().focusWidget()
        if self.isVisible() and (focused is None or not self.panel.isAncestorOf(focused)):
            self.setFocus(Qt.FocusReason.OtherFocusReason)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._pointer = QCursor.pos()
        self.raise_()
        self._place()
        self._take_focus()
        self._rise.start()

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(self.rect(), self._theme.color("scrim", SCRIM[self._theme.mode] * self._rise.currentValue()))
            self.painted_box = self.panel.geometry()
            paint_shadow(painter, self._theme, QRectF(self.painted_box), "modal", self._theme.radius("xl"))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._closes_outside and not self.has_input and not self.panel.geometry().contains(event.position().toPoint()):
            self.dismiss()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape or self._is_kept:
            event.accept()  # what nothing in the sheet wants is not for the window below
        elif self.has_input:
            self.ask_to_discard()
        else:
            self.dismiss()

    @property
    def has_input(self) -> bool:
        """Whether something that the user has typed or pasted would be lost."""
        return any(_is_edited(field) for field in _fields(self.panel))

    def ask_to_discard(self) -> None:
        """Asks over the panel whether what was typed may be lost."""
        title, text = tr("Discard what you have typed?"), tr("It is lost when this closes.")
        question = QuestionFrame(self._theme, title, text, yes=tr("Discard"), no=tr("Keep editing"), variant="danger", agree=self.dismiss)
        sheet = Sheet(self._theme, self, question)
        question.close_requested.connect(sheet.dismiss)
        sheet.show()


def _fields(root: QWidget) -> list[QLineEdit | QPlainTextEdit]:
    return [*root.findChildren(QLineEdit), *root.findChildren(QPlainTextEdit)]


def _is_edited(field: QLineEdit | QPlainTextEdit) -> bool:
    """Returns whether the user has edited the text of a field, other than one to search with."""
    if isinstance(field, QLineEdit):
        text, is_modified = field.text(), field.isModified()
    else:
        text, is_modified = field.toPlainText(), field.document().isModified()
    return bool(text.strip()) and is_modified and field.isVisible() and not field.isReadOnly() and not field.property("quiet")


def leave(panel: QWidget, close: Callable[[], object]) -> None:
    """Calls what closes the sheet of a panel, as the user wants; asks them first if something that they have typed would be lost."""
    sheet = panel.parentWidget()
    if isinstance(sheet, Sheet) and sheet.has_input:
        sheet.ask_to_discard()
    else:
        close()


def set_saved(root: QWidget) -> None:
    """Marks what the user has typed so far as no loss: it was sent or saved, and the sheet closes at once."""
    for field in _fields(root):
        (field if isinstance(field, QLineEdit) else field.document()).setModified(False)


class SheetFrame(Surface):
    """The frame of a sheet: `title_line` has its name, `body` is for the content, which `scroll_area` scrolls, and `buttons` for the
    buttons below it at the right. `close_requested` closes it without a question.
    """

    close_requested = Signal()

    def __init__(self, theme: Theme, name: str, width: int) -> None:
        super().__init__(theme, "surface.raised", "border", "xl")
        self._first_focus: QWidget | None = None
        self.setMaximumWidth(px(width))
        self.setAccessibleName(name)
        self._close_button = IconButton(theme, "x", tr("Close"), small=True, on_click=self.leave)
        self.title_line = fill(row(margins=(24, 14, 16, 14)), (ElidedLabel(theme, name, "heading"), 1), self._close_button)
        layout = fill(column(self), self.title_line, divider())  # before the content: a sheet of much text opens too low else
        content = QWidget()
        self._fault, self.body = column(), column(spacing=12)
        fill(column(content, margins=(24, 16, 24, 20), spacing=12), self._fault, self.body, 1)
        self.scroll_area = FittedScroll(name, width)
        self.scroll_area.setWidget(content)
        self._above_buttons, self.buttons = column(margins=(24, 0, 24, 0)), row(margins=(24, 14, 24, 14))
        fill(layout, (self.scroll_area, 1), divider(), self._above_buttons, self.buttons)

    def add_above_buttons(self, notice: QWidget) -> None:
        """Adds a notice that does not scroll away with the content."""
        notice.setContentsMargins(0, px(14), 0, 0)
        self._above_buttons.addWidget(notice)

    def add_button(self, text: str, slot: Callable[[], object], variant: str = "secondary", icon: str = "") -> Button:
        """Adds a button at the right, behind the others; `slot` is called by a click."""
        if not self.buttons.count():
            self.buttons.addStretch(1)
        button = Button(self._theme, text, variant, icon, on_click=slot)
        self.buttons.addWidget(button)
        return button

    def leave(self) -> None:
        """Closes the sheet for the user; see `leave`."""
        leave(self, self.close_requested.emit)

    def set_first_focus(self, widget: QWidget) -> None:
        """Sets the widget that gets the focus when the sheet is shown."""
        self._first_focus = widget

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._first_focus is not None and self._first_focus.isVisibleTo(self):
            self._first_focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top; None removes it."""
        show_error(self._fault, self._theme, problem)


class QuestionFrame(SheetFrame):
    """A question with two answers.

    Args:
        yes, no: the texts of the buttons; `no` has the focus.
        variant: of the button `yes`, such as "danger".
        agree: called when the user agrees; `close_requested`: they do not.
    """

    def __init__(
        self, theme: Theme, name: str, text: str, *, yes: str, no: str, variant: str = "primary", agree: Callable[[], object]
    ) -> None:
        super().__init__(theme, name, QUESTION_WIDTH)
        self.body.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        self.set_first_focus(self.add_button(no, self.close_requested.emit))
        self.add_button(yes, agree, variant)


GUARD_MS = 700  # longer than it takes to notice that something came under the pointer
