"""What the tray's menu shows beside the servers: who works now, what failed last, what Tooltray needs; read only while the menu is open.
Desktops that show menus over D-Bus do not always report that they are closed, so reading ends after a while."""

from collections.abc import Coroutine, Sequence
from typing import TypeVar

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.activity import ActivityFilter, ActivityRow, CallNow
from tooltray.foundation.snapshots.hub import ProgramLoad
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.kit.background import CoalescedRead
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter

EVERY_MS = 2000  # a person reads a menu for some seconds
MOST_READS = 30  # a minute
SHOWN_FAILURES = 3
T = TypeVar("T")
FAILURES = ActivityFilter(kinds=("call", "failure"), outcomes=("error",))


class TrayReadings(msgspec.Struct, frozen=True):
    """The values of the last read; None: not read yet, or the read failed."""

    calls: Sequence[CallNow] | None = None
    failures: Sequence[ActivityRow] | None = None
    load: ProgramLoad | None = None


class TrayReads(QObject):
    """The reads for the tray's menu. `changed` carries TrayReadings."""

    changed = Signal(object)

    def __init__(self, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._left = 0
        self._readings = TrayReadings()
        self._read = CoalescedRead(self._look, tasks=tasks, name="tray")
        self._timer = QTimer(self, interval=EVERY_MS)
        self._timer.timeout.connect(self._on_timeout)

    def begin(self) -> None:
        """Begins to read, since the menu opens."""
        self._left = MOST_READS
        self._timer.start()
        self._read.ask()

    def end(self) -> None:
        """Stops reading, since the menu was closed."""
        self._timer.stop()

    def _on_timeout(self) -> None:
        self._left -= 1
        if self._left <= 0:
            self.end()
        else:
            self._read.ask()

    async def _look(self) -> None:
        """Reads each value separately: a failure hides none of the others."""
        calls = await _known(self._hub.activity.get_calls_now())
        failures = await _known(self._hub.activity.get_activity(FAILURES, limit=SHOWN_FAILURES))
        readings = TrayReadings(calls, failures, await _known(self._hub.program.get_load()))
        if readings != self._readings:
            self._readings = readings
            self.changed.emit(readings)


async def _known(read: Coroutine[object, object, T]) -> T | None:
    try:
        return await read
    except TooltrayError:
        return None
