"""The menu of durations of a pause, for the navigation and the tray."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from tooltray.ui import icons
from tooltray.ui.i18n import tr
from tooltray.ui.kit.pause_words import HOUR_S, until_tomorrow_s
from tooltray.ui.theme import Theme


class PauseMenu(QMenu):
    """A menu of durations of a pause. `chosen`: True, and seconds or None."""

    chosen = Signal(bool, object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFont(theme.font())
        self._choices = [self.addAction("") for _ in range(3)]
        for action, slot in zip(self._choices, (self._on_hour, self._on_tomorrow, self._on_forever), strict=True):
            action.triggered.connect(slot)
        theme.changed.connect(self._tint)
        self._tint()
        self.retranslate()

    def retranslate(self) -> None:
        self.setTitle(tr("Pause all servers"))
        for action, text in zip(self._choices, (tr("For an hour"), tr("Until tomorrow"), tr("Until I resume")), strict=True):
            action.setText(text)

    def _tint(self) -> None:
        self.setIcon(icons.icon("pause", self._theme.color("text.secondary")))

    def _on_hour(self) -> None:
        self.chosen.emit(True, HOUR_S)

    def _on_tomorrow(self) -> None:
        self.chosen.emit(True, until_tomorrow_s())

    def _on_forever(self) -> None:
        self.chosen.emit(True, None)
