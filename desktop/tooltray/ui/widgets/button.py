"""Buttons, the place of their menus, and switches. Focus rings are for users of the keyboard: a click or a new window draws none. Enter
presses, too."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Property, QEasingCurve, QPoint, QPropertyAnimation, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QAction, QFocusEvent, QIcon, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QMenu, QPushButton, QSizePolicy, QStyle, QStyleOptionButton, QWidget

from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.keyboard import last_input
from tooltray.ui.widgets.surface import paint_box
from tooltray.ui.zoom import px

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


SPIN_AFTER_MS = 200  # what is done earlier needs no sign, which would only flicker


if TYPE_CHECKING:
    Base = QAbstractButton
else:
    Base = object


class SteadyButton(Base):
    """A mixin of buttons that keep the focus. A button that is disabled while it has the focus, since its work has begun, only rests: it
    looks disabled and ignores presses, but the next key goes to no neighbour. It is disabled when the focus leaves it.

    Attributes:
        shows_focus: a key moved the focus here, also by what it opened or closed.
    """

    shows_focus = False
    _is_off = False
    _is_busy = False

    def set_busy(self, is_busy: bool) -> None:
        """Ignores presses while the button's work runs."""
        self._is_busy = is_busy
        self._settle()

    def setEnabled(self, is_enabled: bool) -> None:
        self._is_off = not is_enabled
        self._settle()

    def isEnabled(self) -> bool:
        return super().isEnabled() and not (self._is_off or self._is_busy)

    def _settle(self) -> None:
        super().setEnabled(not self._is_off or self._is_busy or self.window().focusWidget() is self)
        self.update()

    def click(self) -> None:
        if self.isEnabled():
            super().click()

    def focusInEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in PASSING:
            is_program = event.reason() == Qt.FocusReason.OtherFocusReason
            self.shows_focus = event.reason() in BY_KEYBOARD or (is_program and last_input.is_keyboard)
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        if event.reason() not in PASSING:
            self.shows_focus = False
            if self._is_off:
                self._settle()
        super().focusOutEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self.isEnabled():
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Presses the button by Enter, too."""
        if is_enter(event):
            self.click()
        elif self.isEnabled() or event.key() != Qt.Key.Key_Space:
            super().keyPressEvent(event)


class PaintedButton(SteadyButton, QAbstractButton):
    """A button that draws itself."""


ICON_GAP = 3  # on top of the 4 px that Qt leaves between icon and text
ICON_COLORS = {"primary": "text.on_accent", "danger": "error.text", "link": "accent.text"}


class Button(SteadyButton, QPushButton):
    """A push button; `variant` is `primary`, `secondary`, `ghost`, `danger` or `link`. One primary per view. While it is busy, a turning
    sign is in the place of its text.

    Args:
        heeds_enter: Enter presses it while it has the focus; false for answers in a window that opens unexpectedly.
        on_click: a slot of `clicked`.
    """

    def __init__(
        self,
        theme: Theme,
        text: str,
        variant: str = "secondary",
        icon: str = "",
        *,
        small: bool = False,
        heeds_enter: bool = True,
        on_click: Callable[..., object] | None = None,
    ) -> None:
        super().__init__(text)
        if on_click is not None:
            self.clicked.connect(on_click)
        self._theme, self._icon, self._variant, self._heeds_enter = theme, icon, variant, heeds_enter
        self.setProperty("variant", variant)
        self.setAutoDefault(False)
        self.setFont(theme.font("caption_strong" if small else "label"))
        self.setFixedHeight(theme.size("control_small" if small else "control"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._side = 14 if small else 16
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._turns = False
        self._delay = QTimer(self, singleShot=True, interval=SPIN_AFTER_MS)
        self._delay.timeout.connect(self._on_delay)
        theme.changed.connect(self._tint)
        self._tint()

    def set_busy(self, is_busy: bool) -> None:
        super().set_busy(is_busy)
        self.setAccessibleDescription(tr("Working…") if is_busy else "")
        if is_busy:
            self._delay.start()
        else:
            self._delay.stop()
            self._turns = False
            self._theme.spin.leave(self)

    def _on_delay(self) -> None:
        self._turns = True
        self._theme.spin.join(self)

    def set_face(self, text: str, icon: str) -> None:
        """Changes text and icon; does nothing if they are the same."""
        if (text, icon) != (self.text(), self._icon):
            self._icon = icon
            self.setText(text)
            self._tint()

    def set_variant(self, variant: str) -> None:
        """Changes how prominent it is."""
        if variant != self._variant:
            self._variant = variant
            self.setProperty("variant", variant)
            self.style().unpolish(self)
            self.style().polish(self)
            self._tint()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._heeds_enter or not is_enter(event):
            super().keyPressEvent(event)
        else:
            event.ignore()

    def initStyleOption(self, option: QStyleOptionButton) -> None:
        super().initStyleOption(option)
        if not self.shows_focus:
            option.state &= ~QStyle.StateFlag.State_HasFocus
        if self._is_off:
            option.state &= ~QStyle.StateFlag.State_Enabled
        if self._turns:
            option.text, option.icon = "", QIcon()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._turns:
            with QPainter(self) as painter:
                painter.translate(QRectF(self.rect()).center())
                painter.rotate(0 if self._theme.reduced_motion else self._theme.spin.angle)
                color = self._theme.color(ICON_COLORS.get(self._variant, "text.secondary"))
                icons.draw(painter, "state-starting", QRectF(-px(7), -px(7), px(14), px(14)), color)

    def _tint(self) -> None:
        gap = px(ICON_GAP) if self.text() else 0
        side = px(self._side)
        self.setIconSize(QSize(side + gap, side))
        if self._icon:
            color = self._theme.color(ICON_COLORS.get(self._variant, "text.secondary"))
            self.setIcon(icons.icon(self._icon, color, side, gap, disabled=self._theme.color("text.disabled")))
        else:
            self.setIcon(QIcon())


class IconButton(Button):
    """A square button with an icon; `name` is its tooltip and its name for screen readers."""

    def __init__(self, theme: Theme, icon: str, name: str, *, small: bool = False, on_click: Callable[..., object] | None = None) -> None:
        super().__init__(theme, "", "ghost", icon, small=small, on_click=on_click)
        self._side = 16
        self._tint()
        self.setProperty("square", True)
        self.setFixedWidth(self.height())
        self.set_name(name)

    def set_name(self, name: str) -> None:
        self.setToolTip(name)
        self.setAccessibleName(name)


def new_menu(parent: QWidget, theme: Theme, name: str) -> QMenu:
    """Makes a menu that is deleted once it is closed; `name` is for screen readers."""
    menu = QMenu(parent)
    menu.setFont(theme.font())
    menu.setAccessibleName(name)
    menu.aboutToHide.connect(menu.deleteLater)
    return menu


def add_tick(menu: QMenu, text: str, is_on: bool, slot: Callable[[bool], object]) -> None:
    """Adds an entry to a menu that the user ticks, or clears."""
    action = QAction(text, menu, checkable=True, checked=is_on)
    action.toggled.connect(slot)
    menu.addAction(action)


MENU_GAP = 2  # px between a button and its menu


def popup_below(menu: QMenu, button: QWidget) -> None:
    """Opens a menu below a button: at its left edge, or as far to the left as needed to stay inside the window."""
    window = button.window()
    left = window.mapToGlobal(QPoint(0, 0)).x()
    right = window.mapToGlobal(QPoint(window.width(), 0)).x()
    place = button.mapToGlobal(QPoint(0, button.height() + MENU_GAP))
    place.setX(max(left, min(place.x(), right - menu.sizeHint().width() - MENU_GAP)))
    menu.popup(place)


def paint_ring(painter: QPainter, theme: Theme, box: QRectF, radius: float) -> None:
    """Draws the ring around what has the focus."""
    painter.setPen(QPen(theme.color("accent"), 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, radius, radius)


WIDTH, HEIGHT, MARGIN = 36, 20, 3


def paint_switch(painter: QPainter, theme: Theme, box: QRectF, position: float, *, enabled: bool = True) -> None:
    """Draws a switch into `box`; `position` runs from 0 (off) to 1 (on). Tables use it too."""
    painter.setOpacity(1.0 if enabled else 0.45)
    paint_box(painter, box, box.height() / 2, theme.color("accent" if position > 0.5 else "switch.off"))
    diameter = box.height() - 2 * px(MARGIN)
    left = box.left() + px(MARGIN) + position * (box.width() - diameter - 2 * px(MARGIN))
    painter.setBrush(theme.color("switch.knob"))
    painter.drawEllipse(QRectF(left, box.top() + px(MARGIN), diameter, diameter))
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
        self.setFixedSize(px(WIDTH) + px(4), px(HEIGHT) + px(4))  # room for the focus ring
        self._slide = QPropertyAnimation(self, b"position", self)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.toggled.connect(self._on_toggled)

    def set_on(self, on: bool) -> None:
        if on != self.isChecked():
            self.setChecked(on)

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
            paint_switch(painter, self._theme, QRectF(px(2), px(2), px(WIDTH), px(HEIGHT)), self._position, enabled=self.isEnabled())
            if self.shows_focus:
                paint_ring(painter, self._theme, QRectF(self.rect()).adjusted(0.75, 0.75, -0.75, -0.75), px(11))
