"""FakePresenter's verbs about set-ups, npm registries and remedies. Mixed into it."""

from collections.abc import Mapping
from typing import Any

from tests.fakes.presenter_verbs.hub_in_memory import HubInMemory

from tooltray.snapshots.registries import NpmRegistryStatus, RegistryMeasurement
from tooltray.snapshots.setup import SetupChange


class SetupVerbs(HubInMemory):
    async def get_npm_registry_status(self) -> NpmRegistryStatus:
        self._note("get_npm_registry_status")
        return self.registry

    async def refresh_npm_registry(self) -> NpmRegistryStatus:
        self._note("refresh_npm_registry")
        return self.registry

    async def test_npm_registry(self, url: str) -> RegistryMeasurement:
        self._note("test_npm_registry", url)
        return RegistryMeasurement(url, url, "custom", milliseconds=10.0)

    async def set_custom_npm_registry(self, url: str) -> NpmRegistryStatus:
        self._note("set_custom_npm_registry", url)
        return self.registry

    async def set_auto_detect_npm_registry(self, enabled: bool) -> NpmRegistryStatus:
        self._note("set_auto_detect_npm_registry", enabled)
        return self.registry

    async def clear_npm_registry_cache(self) -> None:
        self._note("clear_npm_registry_cache")

    async def apply_remedy(self, server: str, kind: str, value: str = "") -> str:
        self._note("apply_remedy", server, kind, value)
        return "done"

    async def export_setup(self) -> dict[str, Any]:
        self._note("export_setup")
        return {}

    async def preview_import(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        self._note("preview_import", setup, replace)
        return list(self.setup_changes)

    async def import_setup(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        self._note("import_setup", setup, replace)
        return list(self.setup_changes)

    async def preview_reset(self) -> list[SetupChange]:
        self._note("preview_reset")
        return list(self.setup_changes)

    async def reset_to_default_servers(self) -> list[SetupChange]:
        self._note("reset_to_default_servers")
        return list(self.setup_changes)
