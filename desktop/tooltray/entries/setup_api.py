"""Verbs of McpPresenter about the whole set-up, npm registries and remedies. Mixed into it; each hands on to the part that does it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from tooltray.doctor.remedies import Remedies
from tooltray.entries.setup import Setup
from tooltray.registries.npm_registries import NpmRegistries
from tooltray.snapshots.registries import NpmRegistryStatus, RegistryMeasurement
from tooltray.snapshots.setup import SetupChange


class SetupVerbs(ABC):
    _setup: Setup
    _registries: NpmRegistries
    _remedies: Remedies

    @abstractmethod
    async def initialize(self) -> None: ...

    # the whole set-up

    async def export_setup(self) -> dict[str, Any]:
        """The servers and settings as one document, without secrets: what was one in plain text becomes `${secret:NAME}`."""
        return await self._setup.exported()

    async def preview_import(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        """What `import_setup` would do.

        Raises:
            TooltrayError: this is no set-up.
        """
        return await self._setup.preview_import(setup, replace=replace)

    async def import_setup(self, setup: Mapping[str, Any], replace: bool = False) -> list[SetupChange]:
        """Takes over an exported set-up, all of it or nothing, and starts what starts with the hub; returns what changed.

        Args:
            setup: what `export_setup` gave, here or elsewhere.
            replace: whether servers of the same names are replaced; they are kept otherwise.

        Raises:
            TooltrayError: this is no set-up, or the settings cannot be written.
        """
        changes = await self._setup.take_over(setup, replace=replace)
        await self.initialize()
        return changes

    async def preview_reset(self) -> list[SetupChange]:
        """What `reset_to_default_servers` would do."""
        return await self._setup.preview_reset()

    async def reset_to_default_servers(self) -> list[SetupChange]:
        """Puts the servers that come with Tooltray back to how they came; a person's own servers stay. Returns what changed.

        Raises:
            TooltrayError: the settings cannot be written.
        """
        changes = await self._setup.reset()
        await self.initialize()
        return changes

    # npm registries

    async def get_npm_registry_status(self) -> NpmRegistryStatus:
        return self._registries.status

    async def refresh_npm_registry(self) -> NpmRegistryStatus:
        """Measures all registries now, whatever is remembered."""
        return await self._registries.refresh()

    async def test_npm_registry(self, url: str) -> RegistryMeasurement:
        """Measures one registry; what is wrong with it stands in `problem`."""
        return await self._registries.test(url)

    async def set_custom_npm_registry(self, url: str) -> NpmRegistryStatus:
        """Uses one registry from now on; "" ends that. It is measured before it is saved.

        Raises:
            TooltrayError: it is no npm registry that answers; says why.
        """
        return await self._registries.set_custom(url)

    async def set_auto_detect_npm_registry(self, enabled: bool) -> NpmRegistryStatus:
        """Whether the fastest registry is found out and used. Off: nothing is measured unasked."""
        return await self._registries.set_auto_detect(enabled)

    async def clear_npm_registry_cache(self) -> None:
        """Forgets what was measured."""
        await self._registries.clear_cache()

    # remedies

    async def apply_remedy(self, server: str, kind: str, value: str = "") -> str:
        """Carries out a remedy that `diagnose` proposed, and returns what was done, in words.

        Args:
            kind, value: of the Remedy.

        Raises:
            TooltrayError: it is none that Tooltray can carry out, or it did not work.
        """
        return await self._remedies.apply(server, kind, value)
