"""A bundle that was read, and what it is here: what it would run, what it asks for, what is wrong with it.

Above it: bundle_installs. Below it: archive, manifest, bundle_start, bundle_settings, command_warnings, runtimes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.discovery import BundleOffer
from tooltray.foundation.snapshots.forms import FieldValue, FormField
from tooltray.sources.bundles.archive import Archive, read_archive
from tooltray.sources.bundles.bundle_settings import Filled, form_of
from tooltray.sources.bundles.bundle_start import BundleCommand, BundlePlace, command_of, problems_of
from tooltray.sources.bundles.bundle_store import folder_name
from tooltray.sources.bundles.command_warnings import warnings_of
from tooltray.sources.bundles.manifest import Manifest, read_manifest
from tooltray.sources.bundles.runtimes import why_not_here, with_python
from tooltray.sources.bundles.sources import BundleFile
from tooltray.sources.bundles.system_folders import system_folders


class BundleReading(msgspec.Struct, frozen=True):
    """A bundle that was read.

    Attributes:
        folder: where it would be, below the folder of all.
    """

    file: BundleFile
    archive: Archive
    manifest: Manifest
    folder: str
    place: BundlePlace


class BundleReader:
    """Belongs to the engine's loop."""

    def __init__(self, *, root: Path, user_folder: Path, environ: Callable[[], Awaitable[Mapping[str, str]]]) -> None:
        """
        Args:
            root: the folder of all bundles.
            user_folder: the person's.
            environ: gives the person's environment.
        """
        self._root, self._user_folder, self._environ = root, user_folder, environ

    async def read(self, file: BundleFile) -> BundleReading:
        """
        Raises:
            TooltrayError: it is no bundle that can be used.
        """
        return await asyncio.to_thread(self._read, file)

    async def command(self, reading: BundleReading, values: Mapping[str, Filled]) -> BundleCommand:
        """What would run; see command_of."""
        command, environ = command_of(reading.manifest, reading.place, values), await self._environ()
        return await asyncio.to_thread(with_python, command, environ, str(self._user_folder))

    async def problems(self, reading: BundleReading, command: BundleCommand) -> tuple[Problem, ...]:
        """Why it cannot run here; empty: it can."""
        wrong = tuple(problems_of(reading.manifest, reading.place))
        if wrong:
            return wrong
        environ = await self._environ()
        return await asyncio.to_thread(lambda: tuple(why_not_here(reading.manifest, reading.place, command, environ)))

    def warnings(self, reading: BundleReading, command: BundleCommand) -> tuple[Problem, ...]:
        return tuple(warnings_of(reading.manifest, reading.place, command))

    def form(self, reading: BundleReading, kept: Mapping[str, FieldValue], stored: Collection[str]) -> tuple[FormField, ...]:
        return form_of(reading.manifest, reading.place.folders, kept, stored)

    async def offer(
        self, reading: BundleReading, source: str, fields: tuple[FormField, ...], here: str = "", here_version: str = ""
    ) -> BundleOffer:
        manifest = reading.manifest
        open_settings = {key: f"${{user_config.{key}}}" for key in manifest.user_config}  # as the manifest has them
        command = await self.command(reading, open_settings)
        return BundleOffer(
            source=source,
            sha256=reading.file.sha256,
            name=manifest.name,
            title=manifest.title,
            version=manifest.version,
            description=manifest.description,
            author=manifest.author.name,
            kind=manifest.server.type,
            command=command.words,
            size_bytes=reading.file.size_bytes,
            signature="unverified" if reading.archive.is_signed else "none",
            homepage=manifest.homepage,
            licence=manifest.license,
            fields=fields,
            tools=tuple(tool.name for tool in manifest.tools),
            problems=await self.problems(reading, command),
            warnings=self.warnings(reading, command),
            here=here,
            here_version=here_version,
        )

    def _read(self, file: BundleFile) -> BundleReading:
        archive = read_archive(file.path)
        manifest = read_manifest(archive.manifest)
        folder = folder_name(manifest.name, manifest.version, file.sha256)
        path = self._root.joinpath(*folder.split("/"))
        return BundleReading(file, archive, manifest, folder, BundlePlace(str(path), archive.files, system_folders(self._user_folder)))
