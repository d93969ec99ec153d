"""QtMcpPresenter's verbs about the whole set-up, npm registries and remedies. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tooltray.snapshots.registries import NpmRegistryStatus, RegistryMeasurement
from tooltray.snapshots.setup import SetupChange
from tooltray.ui.presenter.link import EngineLink


class SetupVerbs:
    _link: EngineLink

    async def export_setup(self) -> dict[str, Any]:
        return await self._link.run(lambda engine: engine.export_setup())

    async def preview_import(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        return await self._link.run(lambda engine: engine.preview_import(setup, replace))

    async def import_setup(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        return await self._link.run(lambda engine: engine.import_setup(setup, replace))

    async def preview_reset(self) -> list[SetupChange]:
        return await self._link.run(lambda engine: engine.preview_reset())

    async def reset_to_default_servers(self) -> list[SetupChange]:
        return await self._link.run(lambda engine: engine.reset_to_default_servers())

    async def get_npm_registry_status(self) -> NpmRegistryStatus:
        return await self._link.run(lambda engine: engine.get_npm_registry_status())

    async def refresh_npm_registry(self) -> NpmRegistryStatus:
        return await self._link.run(lambda engine: engine.refresh_npm_registry())

    async def test_npm_registry(self, url: str) -> RegistryMeasurement:
        return await self._link.run(lambda engine: engine.test_npm_registry(url))

    async def set_custom_npm_registry(self, url: str) -> NpmRegistryStatus:
        return await self._link.run(lambda engine: engine.set_custom_npm_registry(url))

    async def set_auto_detect_npm_registry(self, enabled: bool) -> NpmRegistryStatus:
        return await self._link.run(lambda engine: engine.set_auto_detect_npm_registry(enabled))

    async def clear_npm_registry_cache(self) -> None:
        await self._link.run(lambda engine: engine.clear_npm_registry_cache())

    async def apply_remedy(self, server: str, kind: str, value: str = "") -> str:
        return await self._link.run(lambda engine: engine.apply_remedy(server, kind, value))
