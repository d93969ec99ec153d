"""Carries out the user's actions on files with servers in them, and reports the outcome. Knows no widget. It also follows what waits for
the user's approval, which the tray and the Servers page show too."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.approvals import TrustRequest
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, action, at_sheet
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class FileCommands(Commands):
    """The commands of the page. `requests_changed` is emitted after the first read, and whenever other requests wait."""

    files_changed = Signal(object)  # list[ServerFileSnapshot]
    requests_changed = Signal(object)  # list[TrustRequest]
    trusted_changed = Signal(object)  # list[TrustedEntry]
    follows_changed = Signal(bool)  # whether files are read again by themselves
    previewed = Signal(object)  # list[ReloadChange]: what reading again would do
    saved = Signal()  # what the open sheet was about is done

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._is_known = False
        self._requests: list[TrustRequest] = []
        hub.server_files_changed.connect(self._on_files_changed)
        hub.snapshot_changed.connect(self.on_hub_changed)

    def look(self) -> None:
        """Reads everything that the page shows."""
        self._look_files()
        self._look_trusted_entries()
        self._look_whether_followed()

    @action()
    async def preview(self) -> None:
        """Reads what reloading the files would change; emits `previewed`."""
        self.previewed.emit(await self._hub.files.preview_reload())

    @action(at_sheet)
    async def reload(self) -> None:
        """Reloads the files; emits `saved` or `refused`."""
        await self._hub.files.reload()
        self.saved.emit()
        self.done.emit(tr("The files are read again"))
        await self._look()

    @action()
    async def follow(self, is_on: bool) -> None:
        """Sets whether files are reloaded as soon as they change."""
        try:
            await self._hub.settings.change_settings({"hotReload": is_on})
        finally:
            await self._look_follows()  # the switch then stands where it truly is

    @action(at_sheet)
    async def trust(self, project: str, digests: Mapping[str, str]) -> None:
        """Trusts entries as the user has seen them; emits `saved` or `refused`."""
        try:
            names = await self._hub.files.trust_entries(project, dict(digests))
        except TooltrayError:
            await self._look()  # it may be another one by now, and the sheet shows that
            raise
        self.saved.emit()
        self.done.emit(tr("Trusted: {names}", names=", ".join(names)))
        await self._look()
        await self._look_trusted()

    @action(at_sheet)
    async def refuse(self, servers: Sequence[str]) -> None:
        """Refuses what programs have proposed; emits `saved` or `refused`."""
        try:
            for server in servers:
                await self._hub.files.distrust_entries("", server)
        finally:
            await self._look()
        self.saved.emit()
        self.done.emit(tr("Refused: {names}", names=", ".join(servers)))

    @action()
    async def distrust(self, project: str, entry: str) -> None:
        try:
            await self._hub.files.distrust_entries(project, entry)
            self.done.emit(tr("Revoked"))
        finally:
            await self._look_trusted()  # the switch stands as it is so
        await self._look()

    def on_hub_changed(self) -> None:
        """Reads the files once the hub is connected, and drops the requests when it disconnects; also called by the page, which may be
        built later.
        """
        is_known = self._hub.snapshot is not None
        if is_known and not self._is_known:
            self._look_files()
        elif self._is_known and not is_known:  # the engine is gone, and what it asked with it
            self._set_requests([])
        self._is_known = is_known

    def _on_files_changed(self) -> None:
        self._look_files()
        self._look_trusted_entries()

    @action()
    async def _look_files(self) -> None:
        await self._look()

    @action()
    async def _look_trusted_entries(self) -> None:
        await self._look_trusted()

    @action()
    async def _look_whether_followed(self) -> None:
        await self._look_follows()

    async def _look(self) -> None:
        """Reads what other pages show, too."""
        self._set_requests(await self._hub.files.get_trust_requests())
        self.files_changed.emit(await self._hub.files.get_server_files())

    async def _look_trusted(self) -> None:
        self.trusted_changed.emit(await self._hub.files.get_trusted_entries())

    def _set_requests(self, requests: list[TrustRequest]) -> None:
        if requests != self._requests:
            self._requests = requests
            self.requests_changed.emit(requests)

    async def _look_follows(self) -> None:
        self.follows_changed.emit((await self._hub.settings.get_settings()).settings.get("hotReload", True) is not False)
