"""One timer for everything that turns: it runs only while something that turns is on the screen."""

from PySide6.QtCore import QObject, QTimer, Signal
from shiboken6 import isValid

TURN_MS, STEPS = 1200, 24


class SpinClock(QObject):
    """Widgets `join` when shown and `leave` when hidden; `ticked` asks them to repaint with the new `angle`."""

    ticked = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.angle = 0.0
        self._users: list[QObject] = []
        self._timer = QTimer(self, interval=TURN_MS // STEPS)
        self._timer.timeout.connect(self._on_timeout)

    @property
    def is_running(self) -> bool:
        return self._timer.isActive()

    def join(self, user: QObject) -> None:
        if user not in self._users:
            self._users.append(user)
        self._timer.start()

    def leave(self, user: QObject) -> None:
        if user in self._users:
            self._users.remove(user)
        if not self._users:
            self._timer.stop()

    def _on_timeout(self) -> None:
        self._users = [user for user in self._users if isValid(user)]  # deleted while shown: no hide event came
        if not self._users:
            self._timer.stop()
            return
        self.angle = (self.angle + 360 / STEPS) % 360
        self.ticked.emit()
