"""Buttons and switches. Focus rings are for users of the keyboard: a click or a new window draws none. Enter presses, too."""

from PySide6.QtCore import Property, QEasingCurve, QPropertyAnimation, QRectF, QSize, Qt
from PySide6.QtGui import QFocusEvent, QIcon, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QPushButton, QSizePolicy, QWidget

from tooltray.ui import icons
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.keyboard import last_input

BY_KEYBOARD = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)

PASSING = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
"""The window or a menu came between; what had the focus gets it back, and its ring with it."""


def is_enter(event: QKeyEvent) -> bool:
    """Returns whether Enter was pressed without other keys; repeats of a held key do not count."""
    is_plain = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and is_plain and not event.isAutoRepeat()


def leave_focus(going: QWidget) -> None:
    """Removes the focus from a widget before it is removed; else Qt gives the focus to the next widget, with a ring around it."""
    focused, window = going.window().focusWidget(), going.window()
    if focused is not None and (focused is going or going.isAncestorOf(focused)):
        window.setFocus(Qt.FocusReason.OtherFocusReason)


class PaintedButton(QAbstractButton):
    """A button that draws itself; `shows_focus` is true after a key moved the focus here, also by what it opened or closed."""

    shows_focus = False

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in PASSING:
            is_program = event.reason() == Qt.FocusReason.OtherFocusReason
            self.shows_focus = event.reason() in BY_KEYBOARD or (is_program and last_input.is_keyboard)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in PASSING:
            self.shows_focus = False
        super().focusOutEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_enter(event):
            self.click()
        else:
            super().keyPressEvent(event)


ICON_GAP = 3  # on top of the 4 px that Qt leaves between icon and text
ICON_COLORS = {"primary": "text.on_accent", "danger": "error.text", "link": "accent.text"}


class Button(QPushButton):
    """A push button; `variant` is `primary`, `secondary`, `ghost`, `danger` or `link`. One primary per view.

    Args:
        heeds_enter: Enter presses it while it has the focus; false for answers in a window that opens unexpectedly.
    """

    def __init__(
        self, theme: Theme, text: str, variant: str = "secondary", icon: str = "", *, small: bool = False, heeds_enter: bool = True
    ) -> None:
        super().__init__(text)
        self._heeds_enter = heeds_enter
        self._theme = theme
        self._icon = icon
        self._variant = variant
        self.setProperty("variant", variant)
        self.setAutoDefault(False)
        self.setFont(theme.font("caption_strong" if small else "label"))
        self.setFixedHeight(theme.size("control_small" if small else "control"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._side = 14 if small else 16
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self._tint)
        self._tint()

    def set_face(self, text: str, icon: str) -> None:
        """Changes text and icon; does nothing if they are the same."""
        if (text, icon) != (self.text(), self._icon):
            self._icon = icon
            self.setText(text)
            self._tint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._heeds_enter and is_enter(event):
            self.click()
        else:
            super().keyPressEvent(event)

    def _tint(self) -> None:
        gap = ICON_GAP if self.text() else 0
        self.setIconSize(QSize(self._side + gap, self._side))
        if self._icon:
            color = self._theme.color(ICON_COLORS.get(self._variant, "text.secondary"))
            self.setIcon(icons.icon(self._icon, color, self._side, gap, disabled=self._theme.color("text.disabled")))
        else:
            self.setIcon(QIcon())


class IconButton(Button):
    """A square button with an icon; `name` is its tooltip and its name for screen readers."""

    def __init__(self, theme: Theme, icon: str, name: str, *, small: bool = False, variant: str = "ghost") -> None:
        super().__init__(theme, "", variant, icon, small=small)
        self._side = 16
        self._tint()
        self.setProperty("square", True)
        self.setFixedWidth(self.height())
        self.set_name(name)

    def set_name(self, name: str) -> None:
        self.setToolTip(name)
        self.setAccessibleName(name)


WIDTH, HEIGHT, MARGIN = 36, 20, 3


def paint_switch(painter: QPainter, theme: Theme, box: QRectF, position: float, *, enabled: bool = True) -> None:
    """Draws a switch into `box`; `position` runs from 0 (off) to 1 (on). Tables use it too."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setOpacity(1.0 if enabled else 0.45)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("accent" if position > 0.5 else "switch.off"))
    painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
    diameter = box.height() - 2 * MARGIN
    left = box.left() + MARGIN + position * (box.width() - diameter - 2 * MARGIN)
    painter.setBrush(theme.color("switch.knob"))
    painter.drawEllipse(QRectF(left, box.top() + MARGIN, diameter, diameter))
    painter.setOpacity(1.0)


class Switch(PaintedButton):
    """A switch. `clicked(bool)` reports the user's click; `set_on` changes it without the signal."""

    def __init__(self, theme: Theme, name: str, *, on: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self._position = float(on)
        self.setCheckable(True)
        self.setChecked(on)
        self.setAccessibleName(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedSize(WIDTH + 4, HEIGHT + 4)  # room for the focus ring
        self._slide = QPropertyAnimation(self, b"position", self)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.toggled.connect(self._on_toggled)

    def set_on(self, on: bool) -> None:
        if on != self.isChecked():
            self.setChecked(on)

    def sizeHint(self) -> QSize:
        return QSize(WIDTH + 4, HEIGHT + 4)

    def _on_toggled(self, on: bool) -> None:
        self._slide.stop()
        if not self.isVisible():
            self._set_position(float(on))
            return
        self._slide.setDuration(self._theme.duration("fast"))
        self._slide.setEndValue(float(on))
        self._slide.start()

    def _get_position(self) -> float:
        return self._position

    def _set_position(self, value: float) -> None:
        self._position = value
        self.update()

    position = Property(float, _get_position, _set_position)

    def paintEvent(self, _event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            paint_switch(painter, self._theme, QRectF(2, 2, WIDTH, HEIGHT), self._position, enabled=self.isEnabled())
            if self.shows_focus:
                painter.setPen(QPen(self._theme.color("accent"), 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75), 11, 11)
