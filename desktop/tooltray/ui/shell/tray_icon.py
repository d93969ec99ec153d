"""The tray icon's picture: a tray, and in it the hub's state as a shape that can be told apart at 16 px.

all well: a nut; working: three dots; attention: an amber exclamation mark; paused: two bars. Each size is drawn on its own pixel grid, not
scaled.
"""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QIcon

from tooltray.ui import icons
from tooltray.ui.shell.hub_words import TrayState

SIZES = (16, 22, 32)
INKS = {Qt.ColorScheme.Light: ("#2A2A31", "#C47A00"), Qt.ColorScheme.Dark: ("#F2F2F5", "#F2B84B")}
ON_ANY_PANEL = ("#7C7C88", "#B97A0A")  # at least 3:1 on light and dark panels alike, where the desktop does not say which it has


def tray_icon(state: TrayState, scheme: Qt.ColorScheme) -> QIcon:
    """Returns the icon of a state for the desktop's colour scheme, in all sizes that panels use."""
    ink, mark = (QColor(name) for name in INKS.get(scheme, ON_ANY_PANEL))
    result = QIcon()
    for size in SIZES:
        for scale in (1, 2):
            result.addPixmap(icons.pixmap(f"tray/{state.value}-{size}", size, ink, second=mark, scale=scale))
    return result
