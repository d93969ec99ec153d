"""QtMcpPresenter's verbs about prompts and resources. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tooltray.ui.presenter.link import EngineLink


class OfferVerbs:
    _link: EngineLink

    async def get_all_prompts(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_all_prompts(server))

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.get_prompt(name, arguments))

    async def get_all_resources(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_all_resources(server))

    async def get_all_resource_templates(self, server: str | None = None) -> list[dict[str, Any]]:
        return await self._link.run(lambda engine: engine.get_all_resource_templates(server))

    async def read_resource(self, uri: str) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.read_resource(uri))
