"""The verbs for npm registries: the known ones, their speed, and the one that is used."""

from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement
from tooltray.foundation.verbs import always, verb, when_enabled
from tooltray.servers.npm_mirrors.npm_registries import NpmRegistries


class RegistriesApi:
    def __init__(self, *, registries: NpmRegistries) -> None:
        self._registries = registries

    async def get_npm_registry_status(self) -> NpmRegistryStatus:
        return self._registries.status

    async def refresh_npm_registry(self) -> NpmRegistryStatus:
        """Measures all registries now, whatever was measured before."""
        return await self._registries.refresh()

    async def test_npm_registry(self, url: str) -> RegistryMeasurement:
        """Measures one registry; `problem` of the result describes any failure."""
        return await self._registries.test(url)

    @verb(trusted=always)
    async def set_custom_npm_registry(self, url: str) -> NpmRegistryStatus:
        """Uses one registry from now on; "" ends that. The registry is measured before it is saved.

        Raises:
            TooltrayError: it is not an npm registry that answers; gives the reason.
        """
        return await self._registries.set_custom(url)

    @verb(trusted=when_enabled)
    async def set_auto_detect_npm_registry(self, enabled: bool) -> NpmRegistryStatus:
        """Switches the choice of the fastest registry on or off. Off: nothing is measured automatically."""
        return await self._registries.set_auto_detect(enabled)

    async def clear_npm_registry_cache(self) -> None:
        """Deletes all measurements."""
        await self._registries.clear_cache()
