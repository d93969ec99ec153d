"""Buttons: with text, or with an icon only."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy

from tooltray.ui import icons
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.keyboard_focus import is_enter

ICON_GAP = 3  # on top of the 4 px that Qt leaves between icon and text
ICON_COLORS = {"primary": "text.on_accent", "danger": "error.text", "link": "accent.text"}


class Button(QPushButton):
    """A push button; `variant` is `primary`, `secondary`, `ghost`, `danger` or `link`. One primary per view.

    Args:
        heeds_enter: Enter presses it while it has the focus; not what answers in a window that comes by itself.
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
        """Changes what the button says; nothing happens if it says so already."""
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
    """A square button with an icon; `name` is its tooltip and what screen readers say."""

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
