"""Carries out what a person asks for on the page of profiles, and asks what it shows.

Above it: ProfilesPage. Below it: the Qt presenter layer. Knows no widget.
"""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal

from tooltray.errors import TooltrayError
from tooltray.snapshots.clients import ProfileSnapshot
from tooltray.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.pages.action import Commands, action
from tooltray.ui.pages.coalesced_read import CoalescedRead
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter


class ProfileCommands(Commands):
    profiles_changed = Signal(object)  # list[ProfileSnapshot]
    tools_listed = Signal(object)  # list[ToolSnapshot] of all servers
    saved = Signal()
    removed = Signal(object)  # ProfileSnapshot with which it can be brought back

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper) -> None:
        super().__init__(hub=hub, tasks=tasks)
        self._reading = CoalescedRead(self._look, tasks=tasks, name="profiles", show=self.failed.emit)

    def look(self) -> None:
        """Asks for the profiles."""
        self._reading.ask()

    async def _look(self) -> None:
        self.profiles_changed.emit(await self._hub.views.get_profiles())

    @action(clears=False)
    async def list_tools(self) -> None:
        """Asks for the tools of all servers."""
        self.tools_listed.emit(await self._hub.tools.get_tools())

    @action()
    async def save(self, name: str, profile: Mapping[str, Any]) -> None:
        """Adds a profile or replaces it: `saved`, or `refused` and all is as before."""
        try:
            await self._hub.views.set_profile(name, dict(profile))
        except TooltrayError as error:
            self.refused.emit(error.problem)
            return
        self.saved.emit()
        self.done.emit(tr("The profile {name} is saved", name=name))
        self.look()

    @action()
    async def remove(self, profile: ProfileSnapshot) -> None:
        """Removes a profile: `removed`, or `refused`."""
        try:
            await self._hub.views.remove_profile(profile.name)
        except TooltrayError as error:
            self.refused.emit(error.problem)
            return
        self.removed.emit(profile)
        self.look()

    @action()
    async def bring_back(self, profile: ProfileSnapshot) -> None:
        """Undoes a removal."""
        await self._hub.views.set_profile(profile.name, profile_settings(profile))
        self.look()


def profile_settings(profile: ProfileSnapshot) -> dict[str, Any]:
    """Returns a profile as it stands in the settings."""
    settings: dict[str, Any] = {"tools": {server: list(tools) for server, tools in profile.tools.items()}}
    if profile.servers is not None:
        settings["servers"] = list(profile.servers)
    if profile.description:
        settings["description"] = profile.description
    return settings
