"""FakePresenter's verbs about what sessions see: modes, profiles, costs. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory

from tooltray.snapshots.clients import ClientModeSnapshot, ProfileSnapshot, SessionSnapshot
from tooltray.snapshots.tools import ToolCosts


class ViewVerbs(HubInMemory):
    async def get_sessions(self) -> list[SessionSnapshot]:
        self._note("get_sessions")
        return list(self.sessions)

    async def get_client_modes(self) -> list[ClientModeSnapshot]:
        self._note("get_client_modes")
        return list(self.client_modes)

    async def set_client_mode(self, client: str, mode: str = "") -> None:
        self._note("set_client_mode", client, mode)

    async def set_client_profile(self, client: str, profile: str = "") -> None:
        self._note("set_client_profile", client, profile)

    async def set_client_auto_approve(self, client: str, rules: list[str] | None = None) -> None:
        self._note("set_client_auto_approve", client, rules)

    async def get_profiles(self) -> list[ProfileSnapshot]:
        self._note("get_profiles")
        return list(self.profiles)

    async def set_profile(self, name: str, profile: Mapping[str, Any]) -> None:
        self._note("set_profile", name, profile)

    async def remove_profile(self, name: str) -> None:
        self._note("remove_profile", name)

    async def set_lazy_load(self, enabled: bool | None = None, server: str | None = None) -> None:
        self._note("set_lazy_load", enabled, server)

    async def set_tool_override(self, server: str, tool: str, name: str | None = None, description: str | None = None) -> None:
        self._note("set_tool_override", server, tool, name, description)

    async def get_tool_costs(self, client: str | None = None, session: str | None = None) -> ToolCosts:
        self._note("get_tool_costs", client, *([session] if session else []))
        return self.costs
