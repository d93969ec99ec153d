"""The desktop app with a window that works for 200 ms of each second, in Python, as a large list that is drawn anew does.

Usage: busy_desktop.py     HOME and a Qt platform as for the desktop app
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "desktop"))

from PySide6 import QtWidgets
from PySide6.QtCore import QTimer

from tooltray.app import desktop as app
from tooltray.foundation.home.home import find_home

WORK_S, EVERY_MS = 0.2, 1000


class BusyApplication(QtWidgets.QApplication):
    def __init__(self, arguments: list[str]) -> None:
        super().__init__(arguments)
        self._timer = QTimer(self)
        self._timer.timeout.connect(work)
        self._timer.start(EVERY_MS)


def work() -> None:
    until = time.perf_counter() + WORK_S
    while time.perf_counter() < until:
        sorted(str(number) for number in range(100))


QtWidgets.QApplication = BusyApplication  # type: ignore[misc]  # what the app is about to import
sys.exit(app.run_here(find_home(), app.Opening()))
