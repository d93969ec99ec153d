"""The last scan for AI clients on this computer, for every page that uses it. Knows no widget."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.snapshots.ai_clients import ClientScan
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.kit.background import CoalescedRead
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class ClientScans(QObject):
    """Scans for AI clients. `scan` is None until the first scan is complete."""

    scan_changed = Signal(object)  # ClientScan
    scanning_changed = Signal(bool)
    failed = Signal(object)  # Problem, or None: it works again

    def __init__(self, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject) -> None:
        super().__init__(parent)
        self._hub = hub
        self.scan: ClientScan | None = None
        self.is_scanning = False
        self._projects: tuple[str, ...] = ()
        self._reading = CoalescedRead(self._look, tasks=tasks, name="AI clients on this computer", show=self.failed.emit)

    def set_projects(self, projects: Sequence[str]) -> None:
        """Sets the projects whose own files are scanned, too."""
        self._projects = tuple(projects)

    def look(self) -> None:
        """Requests a scan; does not wait."""
        self._reading.ask()

    async def _look(self) -> None:
        self._set_scanning(True)
        try:
            self.scan = await self._hub.ai_clients.scan_ai_clients(self._projects)
        finally:
            self._set_scanning(False)
        self.scan_changed.emit(self.scan)

    def _set_scanning(self, is_scanning: bool) -> None:
        if is_scanning != self.is_scanning:
            self.is_scanning = is_scanning
            self.scanning_changed.emit(is_scanning)
