"""FakePresenter's verbs about prompts and resources. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory


class OfferVerbs(HubInMemory):
    async def get_all_prompts(self, server: str | None = None) -> list[dict[str, Any]]:
        self._note("get_all_prompts", server)
        return []

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
        self._note("get_prompt", name, arguments)
        return {}

    async def get_all_resources(self, server: str | None = None) -> list[dict[str, Any]]:
        self._note("get_all_resources", server)
        return []

    async def get_all_resource_templates(self, server: str | None = None) -> list[dict[str, Any]]:
        self._note("get_all_resource_templates", server)
        return []

    async def read_resource(self, uri: str) -> dict[str, Any]:
        self._note("read_resource", uri)
        return {}
