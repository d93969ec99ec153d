"""QtMcpPresenter's verbs about what sessions see: modes, profiles, costs. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tooltray.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionSnapshot
from tooltray.snapshots.tools import ToolCosts
from tooltray.ui.presenter.link import EngineLink


class ViewVerbs:
    _link: EngineLink

    async def get_sessions(self) -> list[SessionSnapshot]:
        return await self._link.run(lambda engine: engine.get_sessions())

    async def get_client_modes(self) -> list[ClientModeSnapshot]:
        return await self._link.run(lambda engine: engine.get_client_modes())

    async def set_client_mode(self, client: str, mode: str = "") -> None:
        await self._link.run(lambda engine: engine.set_client_mode(client, mode))

    async def set_client_profile(self, client: str, profile: str = "") -> None:
        await self._link.run(lambda engine: engine.set_client_profile(client, profile))

    async def set_client_auto_approve(self, client: str, rules: list[str] | None = None) -> None:
        await self._link.run(lambda engine: engine.set_client_auto_approve(client, rules))

    async def get_profiles(self) -> list[ProfileSnapshot]:
        return await self._link.run(lambda engine: engine.get_profiles())

    async def set_profile(self, name: str, profile: Mapping[str, Any]) -> None:
        await self._link.run(lambda engine: engine.set_profile(name, profile))

    async def remove_profile(self, name: str) -> None:
        await self._link.run(lambda engine: engine.remove_profile(name))

    async def set_lazy_load(self, enabled: bool | None = None, server: str | None = None) -> None:
        await self._link.run(lambda engine: engine.set_lazy_load(enabled, server))

    async def set_tool_override(self, server: str, tool: str, name: str | None = None, description: str | None = None) -> None:
        await self._link.run(lambda engine: engine.set_tool_override(server, tool, name, description))

    async def get_tool_costs(self, client: str | None = None, session: str | None = None) -> ToolCosts:
        return await self._link.run(lambda engine: engine.get_tool_costs(client, session))
