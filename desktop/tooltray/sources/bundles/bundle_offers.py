"""A bundle that was read, with the details for the user: its command, its settings, the reasons why it cannot run here, and warnings.

A manifest may have any command. Warnings forbid nothing: the command is shown as it is, and the user decides. Versions are ranges as
manifests write them: `>=16.0.0`, `>=3.8,<4.0`, `^1.2`, `~1.2.3`, `18.x`, `1 - 2`, `a || b`. A range that is not understood excludes
nothing: a mistake in a range must not keep a user from a server.
"""

import asyncio
import re
import subprocess
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.shell_words import joined
from tooltray.foundation.snapshots.discovery import BundleOffer
from tooltray.foundation.snapshots.entries import FieldValue, FormField
from tooltray.servers.launch.child_environment import child_environment
from tooltray.servers.launch.command_lookup import downloads, look_up, not_found, program_name
from tooltray.sources.bundles.archive import Archive, BundleFile, read_archive
from tooltray.sources.bundles.bundle_store import folder_name
from tooltray.sources.bundles.manifest import (
    BundleCommand,
    BundlePlace,
    Filled,
    Manifest,
    command_of,
    form_of,
    problems_of,
    read_manifest,
    system_folders,
)

_VERSION = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?")
_TERM = re.compile(r"(>=|<=|==|=|>|<|\^|~=|~|!=)?\s*v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?[^\s,|]*")
_HYPHEN = re.compile(r"(\S+)\s+-\s+(\S+)")

Version = tuple[int, int, int]
VERSION_S = 10.0  # Node.js answers in 50 ms; a version manager needs seconds on a busy disk
_SYSTEMS = {"darwin": "macOS", "win32": "Windows", "linux": "Linux"}

AskVersion = Callable[[str, Mapping[str, str]], str]
"""Returns a program's output for `--version`; empty if it prints nothing."""


def version_in(text: str) -> Version | None:
    """Returns the first version in a program's output; None without a version."""
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2] or 0), int(found[3] or 0)) if found else None


def fits(version: Version, wanted: str) -> bool:
    """Returns whether a version is in a range."""
    return any(_fits_all(version, part.strip()) for part in wanted.split("||"))


def _fits_all(version: Version, wanted: str) -> bool:
    terms = list(_TERM.finditer(_HYPHEN.sub(r">=\1 <=\2", wanted)))
    return all(_fits_one(version, term) for term in terms)


def _fits_one(version: Version, term: re.Match[str]) -> bool:
    given = [int(part) for part in term.groups()[1:] if part is not None and part.isdigit()]
    if not given:
        return True
    low = (*given, 0, 0)[:3]
    match term[1] or "=":
        case ">=":
            return version >= low
        case "<":
            return version < low
        case ">":
            return version >= _above(given, len(given))
        case "<=":
            return version < _above(given, len(given))
        case "!=":
            return not low <= version < _above(given, len(given))
        case "^":
            return low <= version < _above(given, next((at for at, part in enumerate(given, 1) if part), len(given)))
        case "~":
            return low <= version < _above(given, min(len(given), 2))
        case "~=":
            return low <= version < _above(given, max(len(given) - 1, 1))
    return low <= version < _above(given, len(given))


def _above(given: list[int], kept: int) -> Version:
    """Returns the first version that is higher in the given number of leading parts."""
    first, second, third = (*given[: kept - 1], given[kept - 1] + 1, 0, 0)[:3]
    return first, second, third


def ask_version(program: str, environ: Mapping[str, str]) -> str:
    """Runs a program with `--version`. Blocks for VERSION_S at most."""
    try:
        done = subprocess.run(
            [program, "--version"], env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=VERSION_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return (done.stdout or done.stderr).decode(errors="replace")


def with_python(command: BundleCommand, environ: Mapping[str, str], folder: str) -> BundleCommand:
    """Returns the command with `python3` if it has `python` and only the former exists, as on most Linux systems."""
    if command.command != "python" or look_up("python", env=environ, cwd=folder).resolved:
        return command
    return replace(command, command="python3") if look_up("python3", env=environ, cwd=folder).resolved else command


def why_not_here(
    manifest: Manifest, place: BundlePlace, command: BundleCommand, environ: Mapping[str, str], ask: AskVersion = ask_version
) -> Iterator[Problem]:
    """Yields the reasons why a bundle cannot run here. Blocks: may run a program to get its version.

    Args:
        environ: the user's.
    """
    platforms = manifest.compatibility.platforms
    if platforms is not None and place.platform not in platforms:
        named = ", ".join(_SYSTEMS.get(each, each) for each in platforms)
        yield Problem(Phrase("This bundle is not for this system"), Phrase("it is for {systems}", systems=named))
        return
    if command.inside or not command.command.strip():
        return
    env = child_environment(environ, {}, command.env)
    lookup = look_up(command.command, env=env, cwd=sys.prefix)
    if not lookup.resolved:
        yield not_found(lookup).problem
        return
    runtime, wanted = _wanted(manifest, command.command)
    if not wanted:
        return
    version = version_in(ask(lookup.resolved, env))
    if version and not fits(version, wanted):
        title = Phrase("{runtime} is of another version than this bundle needs", runtime=runtime)
        shown = ".".join(map(str, version))
        yield Problem(
            title,
            Phrase("it needs {wanted}, and {path} is {version}", wanted=wanted, path=lookup.resolved, version=shown),
            Phrase("Install another {runtime}.", runtime=runtime),
        )


def _wanted(manifest: Manifest, command: str) -> tuple[str, str]:
    """Returns the runtime's name and the accepted versions. uv installs Python itself."""
    name, runtimes = program_name(command), manifest.compatibility.runtimes
    if name == "node":
        return "Node.js", runtimes.node
    return ("Python", runtimes.python) if name.startswith("python") else (name, "")


_SHELLS = re.compile(r"(?:ba|z|da|fi|k|c)?sh|cmd|powershell|pwsh|env|sudo|osascript|wscript|cscript|mshta|rundll32", re.IGNORECASE)
_RUNTIMES = {"node": re.compile(r"node"), "python": re.compile(r"python[0-9.]*|py"), "uv": re.compile(r"uv"), "binary": re.compile(r"(?!)")}
_INLINE = re.compile(r"-[A-Za-z]*[ecp]|--eval|--print|--require|-r|--import")  # options for code in arguments, or loaded first
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
        yield Problem(Phrase("It runs code from its arguments"), Phrase("what would run is: {line}", line=line))
    if manifest.server.type != "uv" and not command.inside and downloads(command.command, command.args):
        yield Problem(Phrase("It downloads what it runs"), Phrase("that is not in the bundle, and can be another program each time"))
    if not _runs_entry_point(manifest, place, command):
        name = repr(manifest.server.entry_point)
        yield Problem(
            Phrase("It does not run the program that it declares"), Phrase("its entry point is {name}, and its command is not", name=name)
        )
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
        folder: its future folder, below the folder of all bundles.
    """

    file: BundleFile
    archive: Archive
    manifest: Manifest
    folder: str
    place: BundlePlace


class BundleReader:
    """A reader of bundles, which resolves the commands that they would run here. Belongs to the engine's loop."""

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
        """Returns the command that would run; see command_of."""
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
        open_settings = {key: f"${{user_config.{key}}}" for key in manifest.user_config}  # in the manifest's spelling
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
