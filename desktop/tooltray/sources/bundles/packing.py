"""Packs a server that a person has as a bundle, the same to the byte each time.

Above it: BundlesApi. Below it: packed_server, ignore_rules, zipfile. A file in which a known secret stands is not packed, and stops it all.
"""

import io
import os
import stat
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.expansion import secret_names
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.home.home import hint_for
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.sources.bundles.archive import MANIFEST, MAX_FILES, MAX_UNPACKED_BYTES
from tooltray.sources.bundles.ignore_rules import IgnoreRules
from tooltray.sources.bundles.packed_server import Program, program_of
from tooltray.sources.entries.portable_entry import SHORTEST_KNOWN, without_secrets

DATE = (1980, 1, 1, 0, 0, 0)  # the first that a ZIP has: what is packed says nothing of when
MAX_IGNORE_BYTES = 2**20
VERSION = "1.0.0"  # of a project that has none
AUTHOR = "unknown"
_LEVEL = 9
_UNIX = 3  # whose bits a member has


class BundlePacking:
    """Belongs to the engine's loop."""

    def __init__(self, *, config: McpConfHelper, secrets: SecretStore, user_folder: Path) -> None:
        self._config, self._secrets, self._user_folder = config, secrets, user_folder

    async def pack(self, server: str, path: str) -> str:
        """Writes a server's bundle; returns its path.

        Args:
            path: absolute; a file that is there is replaced.

        Raises:
            NotFound: there is no such server.
            TooltrayError: it cannot be packed, or the file not be written.
        """
        if not os.path.isabs(path) or "\0" in path:
            raise TooltrayError(Phrase("The bundle could not be written"), Phrase("it needs a whole path"))
        entry = self._config.server_entry(server).counts
        bare = without_secrets(server, entry)
        program = program_of(server, read_entry(server, bare.entry), self._user_folder)
        known = {*bare.values.values(), *self._secrets.known_values()}
        for name in secret_names(read_entry(server, entry)):
            known.add(await self._secrets.get(name))
        await finish_in_thread(write_bundle, server, program, Path(path), known, str(entry.get("descriptions") or ""))
        return path


def write_bundle(server: str, program: Program, path: Path, known: set[str], description: str) -> None:
    """Packs a program; blocks.

    Args:
        known: values of secrets, none of which may be in the bundle.

    Raises:
        TooltrayError: see BundlePacking.pack.
    """
    manifest = _manifest(server, program, description)
    secret = [value.encode() for value in known if len(value) >= SHORTEST_KNOWN]
    packed = io.BytesIO()
    try:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as archive:
            _add(archive, MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)), secret, is_program=False)
            for name in _names(program.folder, path):
                file = program.folder / name
                is_program = bool(file.stat().st_mode & 0o111) or (program.kind == "binary" and name == program.entry_point)
                _add(archive, name, file.read_bytes(), secret, is_program=is_program)
        write_atomically(path, packed.getvalue(), mode=0o644)
    except OSError as error:
        hint = hint_for(error, Phrase("Choose another place."))
        raise TooltrayError(Phrase("The bundle could not be written"), f"{error.filename or path}: {error.strerror}", hint) from error


def _add(archive: zipfile.ZipFile, name: str, data: bytes, secrets: Sequence[bytes], *, is_program: bool) -> None:
    if any(value in data for value in secrets):
        hint = Phrase("Take it out of the file, or the file out of the bundle with a line in .mcpbignore.")
        raise TooltrayError(Phrase("A secret is in what would be packed"), Phrase("it stands in {name}", name=name), hint)
    info = zipfile.ZipInfo(name, DATE)
    info.create_system, info.compress_type = _UNIX, zipfile.ZIP_DEFLATED
    info.external_attr = (stat.S_IFREG | (0o755 if is_program else 0o644)) << 16
    archive.writestr(info, data)


def _names(folder: Path, besides: Path) -> list[str]:
    """The files of a project that belong into its bundle, sorted; links that lead out of it are left out.

    Args:
        besides: the bundle itself may lie in the folder.
    """
    names: list[str] = []
    size = 0
    for name in _walk(folder, IgnoreRules(_ignored(folder))):
        file = folder / name
        if file == besides or not file.resolve().is_relative_to(folder) or not file.is_file():
            continue
        names.append(name)
        size += file.stat().st_size
        if len(names) >= MAX_FILES or size > MAX_UNPACKED_BYTES // 2:  # it is put together in memory
            hint = Phrase("Leave some out with lines in .mcpbignore.")
            raise TooltrayError(
                Phrase("This is too much for a bundle"), Phrase("{folder} has too many or too large files", folder=folder), hint
            )
    return sorted(names)


def _walk(folder: Path, rules: IgnoreRules) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        here = Path(place).relative_to(folder).as_posix()
        prefix = "" if here == "." else f"{here}/"
        folders[:] = [each for each in folders if not rules.excludes(f"{prefix}{each}", is_folder=True)]
        yield from (f"{prefix}{each}" for each in files if not rules.excludes(f"{prefix}{each}"))


def _ignored(folder: Path) -> str:
    try:
        with open(folder / ".mcpbignore", "rb") as file:
            return file.read(MAX_IGNORE_BYTES).decode(errors="replace")
    except OSError:
        return ""


def _manifest(server: str, program: Program, description: str) -> Mapping[str, object]:
    about = _about(program.folder)
    config = {"command": program.command, "args": program.args} | ({"env": program.env} if program.env else {})
    return {
        "manifest_version": "0.4" if program.is_uv else "0.3",
        "name": str(about.get("name") or server),
        "display_name": server,
        "version": str(about.get("version") or VERSION),
        "description": str(about.get("description") or description or server),
        "author": {"name": _author(about)},
        "server": {"type": program.kind, "entry_point": program.entry_point, "mcp_config": config},
        **({"user_config": program.settings} if program.settings else {}),
    }


def _about(folder: Path) -> Mapping[str, Any]:
    """What the project's own file says of it; nothing where that cannot be read."""
    try:
        package = msgspec.json.decode((folder / "package.json").read_bytes())
    except (OSError, msgspec.DecodeError):
        package = None
    if isinstance(package, dict):
        return package
    try:
        found = tomllib.loads((folder / "pyproject.toml").read_text("utf-8")).get("project")
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _author(about: Mapping[str, Any]) -> str:
    author = about.get("author") or next(iter(about.get("authors") or ()), None)
    name = author.get("name") if isinstance(author, dict) else author
    return name.partition("<")[0].strip() or AUTHOR if isinstance(name, str) else AUTHOR
