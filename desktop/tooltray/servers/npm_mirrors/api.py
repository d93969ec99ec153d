"""The API about npm registries: which there are, how fast they answer, and which one is used."""

from tooltray.foundation.snapshots.registries import NpmRegistryStatus, RegistryMeasurement
from tooltray.foundation.verbs import always, verb, when_enabled
from tooltray.servers.npm_mirrors.npm_registries import NpmRegistries


class RegistriesApi:
    def __init__(self, *, registries: NpmRegistries) -> None:
        self._registries = registries

    async def get_npm_registry_status(self) -> NpmRegistryStatus:
        return self._registries.status

    async def refresh_npm_registry(self) -> NpmRegistryStatus:
        """Measures all registries now, whatever is remembered."""
        return await self._registries.refresh()

    async def test_npm_registry(self, url: str) -> RegistryMeasurement:
        """Measures one registry; what is wrong with it stands in `problem`."""
        return await self._registries.test(url)

    @verb(trusted=always)
    async def set_custom_npm_registry(self, url: str) -> NpmRegistryStatus:
        """Uses one registry from now on; "" ends that. It is measured before it is saved.

        Raises:
            TooltrayError: it is no npm registry that answers; says why.
        """
        return await self._registries.set_custom(url)

    @verb(trusted=when_enabled)
    async def set_auto_detect_npm_registry(self, enabled: bool) -> NpmRegistryStatus:
        """Whether the fastest registry is found out and used. Off: nothing is measured unasked."""
        return await self._registries.set_auto_detect(enabled)

    async def clear_npm_registry_cache(self) -> None:
        """Forgets what was measured."""
        await self._registries.clear_cache()
