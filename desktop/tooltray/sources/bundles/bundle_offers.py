"""A bundle that was read, and what is offered: what it would run, what it asks for, what is wrong, and warnings.

A manifest may have any command. Warnings forbid nothing: the command is shown as it is, and the user decides.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from pathlib import Path

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.discovery import BundleOffer
from tooltray.foundation.snapshots.forms import FieldValue, FormField
from tooltray.servers.launch.command_lookup import downloads, program_name
from tooltray.sources.bundles.archive import Archive, read_archive
from tooltray.sources.bundles.bundle_command import BundleCommand, BundlePlace, command_of, problems_of, system_folders
from tooltray.sources.bundles.bundle_store import folder_name
from tooltray.sources.bundles.manifest import Filled, Manifest, form_of, read_manifest
from tooltray.sources.bundles.runtimes import why_not_here, with_python
from tooltray.sources.bundles.sources import BundleFile

_SHELLS = re.compile(r"(?:ba|z|da|fi|k|c)?sh|cmd|powershell|pwsh|env|sudo|osascript|wscript|cscript|mshta|rundll32", re.IGNORECASE)
_RUNTIMES = {
    "node": re.compile(r"node"),
    "python": re.compile(r"python[0-9.]*|py"),
    "uv": re.compile(r"uv"),
    "binary": re.compile(r"(?!)"),
}
_INLINE = re.compile(r"-[A-Za-z]*[ecp]|--eval|--print|--require|-r|--import")  # code in arguments, and code from elsewhere before it
_LOADS_CODE = re.compile(
    r"LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES|NODE_OPTIONS|PYTHONSTARTUP|BASH_ENV|PERL5OPT|RUBYOPT|JAVA_TOOL_OPTIONS"
)


def warnings_of(manifest: Manifest, place: BundlePlace, command: BundleCommand) -> Iterator[Problem]:
    line, program = joined(command.words), program_name(command.command)
    if _SHELLS.fullmatch(program):
        yield Problem(Phrase("It runs words through a shell"), Phrase("what would run is: {line}", line=line))
    elif not command.inside and not _RUNTIMES[manifest.server.type].fullmatch(program):
        yield Problem(Phrase("It runs a program that is not in the bundle"), Phrase("what would run is: {line}", line=line))
    elif not command.inside and program != "uv" and any(map(_INLINE.fullmatch, command.args[:1])):
        yield Problem(Phrase("It runs code that stands in its arguments"), Phrase("what would run is: {line}", line=line))
    if manifest.server.type != "uv" and not command.inside and downloads(command.command, command.args):
        yield Problem(Phrase("It downloads what it runs"), Phrase("that is not in the bundle, and can be another program each time"))
    if not _runs_entry_point(manifest, place, command):
        name = repr(manifest.server.entry_point)
        yield Problem(Phrase("It does not run what it says it is"), Phrase("its entry point is {name}, and its command is not", name=name))
    if found := [name for name in command.env if _LOADS_CODE.fullmatch(name.upper())]:
        yield Problem(Phrase("It changes what other programs load"), Phrase("it sets {names}", names=", ".join(found)))


def _runs_entry_point(manifest: Manifest, place: BundlePlace, command: BundleCommand) -> bool:
    entry = manifest.server.entry_point.replace("${__dirname}/", "").removeprefix("./")
    module = entry.removesuffix("/__main__.py").removesuffix(".py").replace("/", ".")
    words = [word.replace("\\", "/") for word in (command.inside, *command.args)]
    whole = f"{place.folder}/{entry}".replace("\\", "/")
    return any(word.removesuffix(".exe").removeprefix("./") in (entry, entry.removesuffix(".exe"), whole, module) for word in words)


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
    """A reader of bundles, which finds out what they would run here. Belongs to the engine's loop."""

    def __init__(self, *, root: Path, user_folder: Path, environ: Callable[[], Awaitable[Mapping[str, str]]]) -> None:
        """
        Args:
            root: the folder of all bundles.
            user_folder: the user's home.
            environ: gives the user's environment.
        """
        self._root, self._user_folder, self._environ = root, user_folder, environ

    async def read(self, file: BundleFile) -> BundleReading:
        """Reads a bundle.

        Raises:
            TooltrayError: it is not a usable bundle.
        """
        return await asyncio.to_thread(self._read, file)

    async def command(self, reading: BundleReading, values: Mapping[str, Filled]) -> BundleCommand:
        """Returns what would run; see command_of."""
        command, environ = command_of(reading.manifest, reading.place, values), await self._environ()
        return await asyncio.to_thread(with_python, command, environ, str(self._user_folder))

    async def problems(self, reading: BundleReading, command: BundleCommand) -> tuple[Problem, ...]:
        """Returns why it cannot run here; empty if it can."""
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
