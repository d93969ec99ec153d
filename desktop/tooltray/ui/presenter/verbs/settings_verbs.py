"""QtMcpPresenter's verbs about the settings besides the servers, and what was done last. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tooltray.snapshots.calls import RecentCall
from tooltray.snapshots.environment import EnvironmentSnapshot
from tooltray.snapshots.setup import SettingsDocument
from tooltray.ui.presenter.link import EngineLink


class SettingsVerbs:
    _link: EngineLink

    async def get_settings(self) -> SettingsDocument:
        return await self._link.run(lambda engine: engine.get_settings())

    async def change_settings(self, changes: Mapping[str, Any], revision: str = "") -> SettingsDocument:
        return await self._link.run(lambda engine: engine.change_settings(changes, revision))

    async def get_recent_calls(self, limit: int = 200) -> list[RecentCall]:
        return await self._link.run(lambda engine: engine.get_recent_calls(limit))

    async def get_environment(self) -> EnvironmentSnapshot:
        return await self._link.run(lambda engine: engine.get_environment())

    async def forget_environment(self) -> None:
        await self._link.run(lambda engine: engine.forget_environment())
