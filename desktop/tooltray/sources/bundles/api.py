"""The API about bundles: servers packed as `.mcpb` or `.dxt` files."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tooltray.foundation.snapshots.discovery import BundleOffer, BundleSnapshot
from tooltray.foundation.snapshots.entries import FieldValue, NewServer
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
            TooltrayError: it cannot be read, or is not a usable bundle; the error has the reason.
        """
        return await self._bundles.read(source)

    @verb("manage", trusted=always)
    async def preview_bundle(self, source: str, sha256: str, values: Mapping[str, FieldValue]) -> NewServer:
        """Returns the server that a bundle would add, for the user to review.

        Args:
            sha256: of the bundle that was read.
            values: the answers for its fields, by their keys; a field without an answer has its default.

        Raises:
            Conflict: the source has another bundle now.
            TooltrayError: a value is missing or wrong.
        """
        return await self._bundles.preview(source, sha256, values)

    @verb(trusted=always)
    async def install_bundle(self, source: str, sha256: str, values: Mapping[str, FieldValue], server: str = "") -> str:
        """Installs a bundle and adds and starts its server; or updates the server of an older bundle with the same name.

        Args:
            sha256, values: as in `preview_bundle`; a secret that is not given stays unchanged.
            server: the name of a new server, or of the one to update; empty: the existing one, else a new one with the bundle's name.

        Returns:
            The server's name.

        Raises:
            Conflict: the source has another bundle now, or the name is taken.
            Denied: the caller is a program, not the user.
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
            NotFound: the server does not come from a bundle.
            TooltrayError: it cannot be removed.
        """
        await self._bundles.remove(server)
