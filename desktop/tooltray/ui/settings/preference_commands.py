"""Carries out what the user chooses about the window, its language and its notifications. Knows no widget."""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.preferences import preferences_of
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.kit.action import CoalescedRead, Commands, action
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


class PreferenceCommands(Commands):
    preferences_changed = Signal(object)  # Preferences, also after a change that failed: controls then stand as it truly is
    login_changed = Signal(bool)  # whether Tooltray starts when the person logs in

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._reading = CoalescedRead(self._look, tasks=tasks, name="general settings", show=self.failed.emit)

    def look(self) -> None:
        """Reads everything that the tab shows; does not wait."""
        self._reading.ask()

    @action()
    async def change(self, changes: Mapping[str, object]) -> None:
        """Changes settings (JSON Merge Patch); emits `preferences_changed`, or `failed` with the reason."""
        try:
            await self._hub.settings.change_settings(changes)
        finally:
            self._reading.ask()

    @action()
    async def set_start_at_login(self, is_on: bool) -> None:
        try:
            await self._hub.program.set_start_at_login(is_on)
        finally:
            self._reading.ask()

    async def _look(self) -> None:
        self.preferences_changed.emit(preferences_of((await self._hub.settings.get_settings()).settings))
        self.login_changed.emit((await self._hub.program.get_program()).starts_at_login)
