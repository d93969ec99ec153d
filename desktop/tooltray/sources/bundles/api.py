"""The API about bundles: servers packed as `.mcpb` or `.dxt` files.

Below it: bundle_installs, packing.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tooltray.foundation.snapshots.discovery import BundleOffer, BundleSnapshot
from tooltray.foundation.snapshots.forms import FieldValue, NewServer
from tooltray.foundation.verbs import always, verb

if TYPE_CHECKING:
    from tooltray.sources.bundles.bundle_installs import BundleInstalls
    from tooltray.sources.bundles.packing import BundlePacking


class BundlesApi:
    def __init__(self, *, bundles: "BundleInstalls", packing: "BundlePacking") -> None:
        self._bundles, self._packing = bundles, packing

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
        """The server that a bundle would be, for a person to look at.

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
            Denied: a program asks, and no person.
            TooltrayError: it cannot run here, a value is missing or wrong, or something cannot be written. Nothing is left of it then.
        """
        return await self._bundles.install(source, sha256, values, server)

    async def get_bundles(self) -> list[BundleSnapshot]:
        """The servers that came as bundles."""
        return self._bundles.snapshots()

    async def remove_bundle(self, server: str) -> None:
        """Removes a bundle's server, its secrets, and its folder as soon as nothing runs from it.

        Raises:
            NotFound: it is no server of a bundle.
            TooltrayError: it cannot be removed.
        """
        await self._bundles.remove(server)

    @verb(trusted=always)
    async def pack_bundle(self, server: str, path: str) -> str:
        """Makes a bundle of a server whose program is in a folder of this computer; its secrets and variables become settings.

        Args:
            path: of the file to write, absolute; one that is there is replaced.

        Returns:
            The path.

        Raises:
            NotFound: there is no such server.
            TooltrayError: it runs elsewhere, is downloaded, or has no folder of its own; or the file cannot be written.
        """
        return await self._packing.pack(server, path)
