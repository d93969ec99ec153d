"""Reports to the hub when the screen locks, which ends the grants that last until then; where the lock cannot be detected, no such grants
are offered."""

import logging
import sys
from collections.abc import Callable

from PySide6.QtCore import QObject

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter

logger = logging.getLogger(__name__)

Told = Callable[[bool | None], None]
"""Called with whether the screen is locked, or the computer about to sleep; None: nobody can tell."""


class ScreenLockWatch(QObject):
    """A watch of the screen lock in the GUI thread. `begin` once; the hub may be restarted."""

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper) -> None:
        super().__init__()
        self._hub, self._tasks = hub, tasks
        self._is_locked: bool | None = None
        self._is_known = False  # the hub
        self._source: QObject | None = None
        hub.snapshot_changed.connect(self._on_snapshot_changed)

    def begin(self, make: Callable[[Told], QObject | None] | None = None) -> None:
        """Begins to listen.

        Args:
            make: the source; None: this platform's.
        """
        self._source = (make or _source_here)(self._on_told)

    def _on_told(self, is_locked: bool | None) -> None:
        if is_locked != self._is_locked:
            self._is_locked = is_locked
            self._hub.hears_lock = is_locked is False
            if self._is_known:
                self._tell()

    def _on_snapshot_changed(self) -> None:
        is_known = self._hub.snapshot is not None
        is_new, self._is_known = is_known and not self._is_known, is_known
        if is_new and self._is_locked is not None:
            self._tell()

    def _tell(self) -> None:
        self._tasks.spawn(self._told_hub(self._is_locked), name="the screen's lock")

    async def _told_hub(self, is_locked: bool | None) -> None:
        try:
            await self._hub.approvals.tell_screen_lock(is_locked)
        except TooltrayError:
            logger.debug("the screen lock was not reported: Tooltray's engine has just ended")


def _source_here(told: Told) -> QObject | None:
    if sys.platform == "linux":
        from tooltray.ui.shell.screen_lock_linux import ScreenLockSource
    elif sys.platform == "darwin":
        from tooltray.ui.shell.screen_lock_macos import ScreenLockSource
    elif sys.platform == "win32":
        from tooltray.ui.shell.screen_lock_windows import ScreenLockSource
    return ScreenLockSource(told)
