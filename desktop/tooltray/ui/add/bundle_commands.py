"""Reads and installs bundles for the user. Knows no widget."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.entries import FieldValue
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.kit.action import Commands, action, at_sheet
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter

Values = Mapping[str, FieldValue]


class BundleCommands(Commands):
    bundle_read = Signal(object)  # BundleOffer
    previewed = Signal(int, object)  # the number of the question, and NewServer
    preview_failed = Signal(int, object)  # the same, and Problem
    installed = Signal(str)  # the name of its server

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)

    @action(at_sheet)
    async def read(self, source: str) -> None:
        """Reads a bundle, which starts nothing; emits `bundle_read`, or `refused`."""
        self.bundle_read.emit(await self._hub.bundles.read_bundle(source))

    @action(at_sheet)
    async def preview(self, number: int, source: str, sha256: str, values: Values) -> None:
        """Reads what installing a bundle would add; emits `previewed`, or `preview_failed`."""
        try:
            new = await self._hub.bundles.preview_bundle(source, sha256, dict(values))
        except TooltrayError as error:
            self.preview_failed.emit(number, error.problem)
            return
        self.previewed.emit(number, new)

    @action(at_sheet)
    async def install(self, source: str, sha256: str, values: Values, server: str) -> None:
        """Installs the bundle that the user has seen, or updates its server; emits `installed`, or `refused`."""
        self.installed.emit(await self._hub.bundles.install_bundle(source, sha256, dict(values), server))
