"""The durations of a pause: their menu, for the navigation and the tray, and the end of a pause in words."""

from datetime import datetime, time, timedelta

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from tooltray.ui import icons
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme

HOUR_S = 3600.0
MORNING = time(8)  # when people begin; a pause "until tomorrow" that ended at midnight would end beside a sleeping person


def until_tomorrow_s(now: datetime | None = None) -> float:
    """Returns how long it is until tomorrow morning, in seconds; `now`: the user's local time."""
    now = now or datetime.now()
    end = datetime.combine(now.date() + timedelta(days=1), MORNING)
    return end.timestamp() - now.timestamp()


def paused_until(until: float, now: datetime | None = None) -> str:
    """Returns until when everything is paused; `until`: unix seconds, 0: until the user resumes."""
    return tr("Paused until {time}", time=moment(until, now or datetime.now())) if until else tr("Calls are refused")


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
        for action, text in zip(
            self._choices, (tr("Pause for an hour"), tr("Pause until tomorrow"), tr("Pause until I resume")), strict=True
        ):
            action.setText(text)

    def _tint(self) -> None:
        self.setIcon(icons.icon("pause", self._theme.color("text.secondary")))

    def _on_hour(self) -> None:
        self.chosen.emit(True, HOUR_S)

    def _on_tomorrow(self) -> None:
        self.chosen.emit(True, until_tomorrow_s())

    def _on_forever(self) -> None:
        self.chosen.emit(True, None)
