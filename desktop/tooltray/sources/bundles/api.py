"""The API about bundles: servers packed as `.mcpb` or `.dxt` files."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tooltray.foundation.snapshots.discovery import BundleOffer, BundleSnapshot
from tooltray.foundation.snapshots.forms import FieldValue, NewServer
from tooltray.foundation.verbs import always, verb

if TYPE_CHECKING:
    from tooltray.sources.bundles.bundle_installs import BundleInstalls


class BundlesApi:
    def __init__(self, *, bundles: "BundleInstalls") -> None:
        self._bundles = bundles

    @verb(trusted=always)
    async def read_bundle(self, source: str) -> BundleOffer:
        """Reads a bundle, and installs nothing.

        Args:
            source: an absolute path, or an address that begins with `file:`, `https:` or, on this computer, `http:`.

        Raises:
            TooltrayError: it cannot be had, or is no bundle that could be used; says why.
        """
        return await self._bundles.read(source)

    @verb("manage", trusted=always)
    async def preview_bundle(self, source: str, sha256: str, values: Mapping[str, FieldValue]) -> NewServer:
        """Returns the server that a bundle would be, for the user to look at.

        Args:
            sha256: of the bundle that was read.
            values: what was given for its fields, by their keys; a field that is not given has its default.

        Raises:
            Conflict: another bundle is there by now.
            TooltrayError: a value is missing or wrong.
        """
        return await self._bundles.preview(source, sha256, values)

    @verb(trusted=always)
    async def install_bundle(self, source: str, sha256: str, values: Mapping[str, FieldValue], server: str = "") -> str:
        """Installs a bundle and adds its server, which starts; or updates the server that an older one of its name is.

        Args:
            sha256, values: as of `preview_bundle`; a secret that is not given stays as it is.
            server: the name of a new server, or of the one to update; empty: the one that is here, else a new one by the bundle's name.

        Returns:
            The server's name.

        Raises:
            Conflict: another bundle is there by now, or the name is taken.
            Denied: a program asks, not the user.
            TooltrayError: it cannot run here, a value is missing or wrong, or something cannot be written. Then
                nothing is left on the disk.
        """
        return await self._bundles.install(source, sha256, values, server)

    async def get_bundles(self) -> list[BundleSnapshot]:
        """Returns the servers that came as bundles."""
        return self._bundles.snapshots()

    async def remove_bundle(self, server: str) -> None:
        """Removes a bundle's server, its secrets, and its folder as soon as nothing runs from it.

        Raises:
            NotFound: it is no server of a bundle.
            TooltrayError: it cannot be removed.
        """
        await self._bundles.remove(server)
