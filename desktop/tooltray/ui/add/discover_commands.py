"""Reads the registry and the list of well-known servers, and adds the servers that the user chose. Knows no widget."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.entries import FieldValue
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import CoalescedRead, Commands, action, at_sheet
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter

Values = Mapping[str, FieldValue]


class DiscoverCommands(Commands):
    searched = Signal(str, object)  # the words that were searched for, and RegistrySearch
    status_read = Signal(object)  # RegistryStatus
    starters_read = Signal(object)  # list[StarterServer]
    updates_read = Signal(object)  # list[RegistryUpdate]
    server_read = Signal(object)  # RegistryServer
    previewed = Signal(int, object)  # the number of the question, and NewServer
    preview_failed = Signal(int, object)  # the same, and Problem
    added = Signal(str)  # its name here

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._words = ""
        self._reading = CoalescedRead(self._look, tasks=tasks, name="servers to find", show=self.failed.emit)
        self._searching = CoalescedRead(self._search, tasks=tasks, name="search of the registry", show=self.failed.emit)

    def look(self) -> None:
        """Reads well-known servers, updates, and the age of the registry's copy."""
        self._reading.ask()
        self._searching.ask()

    async def _look(self) -> None:
        self.starters_read.emit(await self._hub.discovery.get_starter_servers())
        self.updates_read.emit(await self._hub.discovery.get_registry_updates())

    def search(self, words: str) -> None:
        """Searches for other words; the result of a running search is dropped."""
        self._words = words
        self._searching.ask()

    async def _search(self) -> None:
        words = self._words
        found = await self._hub.discovery.search_registry(words)
        self.status_read.emit(found.status)
        self.searched.emit(words, found)

    @action()
    async def refresh(self) -> None:
        """Downloads the registry again."""
        self.status_read.emit(await self._hub.discovery.refresh_registry())
        self.look()

    @action()
    async def read_server(self, name: str) -> None:
        """Reads all about a server of the registry; emits `server_read`."""
        self.server_read.emit(await self._hub.discovery.get_registry_server(name))

    @action(at_sheet)
    async def preview(self, number: int, name: str, version: str, option: str, values: Values) -> None:
        """Reads what adding a server would add; emits `previewed`, or `preview_failed`."""
        try:
            new = await self._hub.discovery.preview_registry_server(name, version, option, dict(values))
        except TooltrayError as error:
            self.preview_failed.emit(number, error.problem)
            return
        self.previewed.emit(number, new)

    @action(at_sheet)
    async def add(self, name: str, version: str, option: str, values: Values, server: str) -> None:
        """Adds a server of the registry; emits `added`, or `refused`."""
        self._tell_added(await self._hub.discovery.add_registry_server(name, version, option, dict(values), server))

    @action(at_sheet)
    async def add_starter(self, id: str, values: Values, server: str) -> None:
        """Adds a well-known server; emits `added`, or `refused`."""
        self._tell_added(await self._hub.discovery.add_starter_server(id, dict(values), server))

    @action()
    async def update(self, server: str) -> None:
        """Pins a server to the newest version of its registry."""
        await self._hub.discovery.update_registry_server(server)
        self.done.emit(tr("{name} is updated", name=server))
        self.look()

    def _tell_added(self, name: str) -> None:
        self.added.emit(name)
        self.look()
