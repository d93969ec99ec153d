"""Carries out the user's actions on the page of AI clients, and reads what it shows. Knows no widget."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.kit.action import CoalescedRead, Commands, action
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class ClientCommands(Commands):
    sessions_changed = Signal(object)  # list[SessionSnapshot]
    clients_changed = Signal(object)  # list[ClientModeSnapshot]
    profiles_changed = Signal(object)  # list[ProfileSnapshot] that they can have
    client_costs_changed = Signal(str, object)  # a client, and ToolCosts for it

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._reading = CoalescedRead(self._look, tasks=tasks, name="AI clients", show=self.failed.emit)

    def look(self) -> None:
        """Reads sessions, kinds of clients, and their possible profiles."""
        self._reading.ask()

    async def _look(self) -> None:
        self.profiles_changed.emit(await self._hub.views.get_profiles())
        self.clients_changed.emit(await self._hub.views.get_client_modes())
        self.sessions_changed.emit(await self._hub.views.get_sessions())

    @action(clears=False)
    async def look_costs(self, client: str) -> None:
        """Reads what the definitions of all tools cost in the context of one kind of client."""
        self.client_costs_changed.emit(client, await self._hub.views.get_tool_costs(client or None))

    @action()
    async def set_mode(self, client: str, mode: str) -> None:
        """Sets how tools are listed to one kind of client; "" for the servers' settings."""
        try:
            await self._hub.views.set_client_mode(client, mode)
        finally:
            self.look()  # the choice then stands where it truly is

    @action()
    async def set_profile(self, client: str, profile: str) -> None:
        """Sets the profile of one kind of client; "" for none."""
        try:
            await self._hub.views.set_client_profile(client, profile)
        finally:
            self.look()

    @action()
    async def set_auto_approve(self, client: str, rules: Sequence[str] | None) -> None:
        """Sets which calls of one kind of client run without asking; None for the servers' own rules."""
        try:
            await self._hub.views.set_client_auto_approve(client, None if rules is None else list(rules))
        finally:
            self.look()

    @action()
    async def set_result_limit(self, client: str, tokens: int | None) -> None:
        """Sets the largest result in tokens for one kind of client; None for no limit."""
        try:
            await self._hub.views.set_result_limit(tokens=tokens, client=client)
        finally:
            self.look()

    @action()
    async def set_project(self, session: str, folder: str) -> None:
        """Sets the folder of a session."""
        await self._hub.projects.set_session_project(session, folder)
        self.look()
