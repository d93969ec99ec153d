"""FakePresenter's verbs about the settings as one document, and the last calls. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory

from tooltray.snapshots.calls import RecentCall
from tooltray.snapshots.environment import EnvironmentSnapshot
from tooltray.snapshots.setup import SettingsDocument


class SettingsVerbs(HubInMemory):
    async def get_settings(self) -> SettingsDocument:
        self._note("get_settings")
        return SettingsDocument({}, "0")

    async def change_settings(self, changes: Mapping[str, Any], revision: str = "") -> SettingsDocument:
        self._note("change_settings", dict(changes), revision)
        return SettingsDocument(changes, "1")

    async def get_recent_calls(self, limit: int = 200) -> list[RecentCall]:
        self._note("get_recent_calls", limit)
        return []

    async def get_environment(self) -> EnvironmentSnapshot:
        self._note("get_environment")
        return EnvironmentSnapshot((), ())

    async def forget_environment(self) -> None:
        self._note("forget_environment")
