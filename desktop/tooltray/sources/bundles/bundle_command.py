"""The command of a bundle: the manifest's command with all placeholders filled in.

As in the reference, a system's own command, args and env replace the general ones completely; a list replaces only a whole argument; a
boolean is "true" or "false". Differences from the reference:

- Filled-in values are not searched for placeholders, so that a value cannot refer to another one.
- A setting that was not given is empty; an argument or variable that consists only of this setting is left out.
- An unknown placeholder is a problem, as it would be filled in from the user's environment or the secrets.
- It runs in the bundle's folder, as the examples of the specification have paths from there.
- `uv` without a command runs `uv run --directory FOLDER ENTRY_POINT`: the specification leaves that to the host.
"""

import ntpath
import os
import posixpath
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import msgspec

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.sources.bundles.manifest import Filled, Manifest, McpConfig

MAX_BYTES = 64 * 1024  # of `user-dirs.dirs`, which has eight lines
_FOLDERS = {"DESKTOP": "Desktop", "DOCUMENTS": "Documents", "DOWNLOADS": "Downloads"}
_XDG = {"DESKTOP": "DESKTOP", "DOCUMENTS": "DOCUMENTS", "DOWNLOADS": "DOWNLOAD"}
PYTHON_LIBRARIES = "server/lib"  # their folder in the specification
SYSTEM = ("HOME", "DESKTOP", "DOCUMENTS", "DOWNLOADS")
_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
_SETTING = "user_config."


def system_folders(home: Path, config: Path | None = None) -> Mapping[str, str]:
    """Returns the user's folders that a manifest may name, by the manifest's names. Reads the disk: on Linux the folders' real names are in
    the user's language.

    Args:
        config: the folder with `user-dirs.dirs`; None: the user's `.config`, if the system uses it.
    """
    text = _read((config or home / ".config") / "user-dirs.dirs") if config or sys.platform == "linux" else ""
    folders = {"HOME": str(home)}
    for name, usual in _FOLDERS.items():
        found = re.search(rf'^XDG_{_XDG[name]}_DIR="([^"\n]*)"', text, re.MULTILINE)
        path = found[1].replace("$HOME", str(home), 1) if found else ""
        folders[name] = path if os.path.isabs(path) else str(home / usual)
    return folders


def _read(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""


class BundleCommand(msgspec.Struct, frozen=True):
    """
    Attributes:
        inside: the program's name in the bundle; empty for a program of this computer.
    """

    command: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    inside: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        return self.command, *self.args


class BundlePlace(msgspec.Struct, frozen=True):
    """Where a bundle is or will be.

    Attributes:
        folder: absolute.
        files: the names in it, with slashes.
        folders: the user's, see system_folders.
        platform: as `sys.platform` has it.
    """

    folder: str
    files: Collection[str]
    folders: Mapping[str, str]
    platform: str = sys.platform


def config_of(manifest: Manifest, place: BundlePlace) -> McpConfig:
    """Returns the manifest's command for this system."""
    written = manifest.server.mcp_config
    if written is None:
        return McpConfig("uv", ("run", "--directory", "${__dirname}", manifest.server.entry_point))
    config = written.on(place.platform)
    has_libraries = any(name.startswith(f"{PYTHON_LIBRARIES}/") for name in place.files)
    if manifest.server.type == "python" and has_libraries and "PYTHONPATH" not in config.env:
        return McpConfig(config.command, config.args, {**config.env, "PYTHONPATH": f"${{__dirname}}/{PYTHON_LIBRARIES}"})
    return config


def command_of(manifest: Manifest, place: BundlePlace, values: Mapping[str, Filled]) -> BundleCommand:
    """Returns the command with everything filled in.

    Args:
        values: of settings, by key; for a secret its placeholder.

    Raises:
        TooltrayError: a list is in the middle of a text.
    """
    config, fill = config_of(manifest, place), _Filler(place, manifest, values)
    env = {name: fill.text(text) for name, text in config.env.items() if not fill.is_left_out(text)}
    inside = _inside(manifest, place, fill.text(config.command))
    command = _joined(place, inside) if inside else fill.text(config.command)
    return BundleCommand(command, tuple(fill.arguments(config.args)), env, inside)


def problems_of(manifest: Manifest, place: BundlePlace) -> Iterator[Problem]:
    """Yields the parts of a manifest that cannot work with any settings."""
    config, entry = config_of(manifest, place), _tidy(manifest.server.entry_point)
    if not _is_there(entry, place):
        yield Problem(Phrase("The bundle does not have what it starts"), Phrase("its entry point is {name}", name=repr(entry)))
    command = _Filler(place, manifest, {}).text(config.command)
    inside = _inside(manifest, place, command)
    if inside and inside not in place.files:
        yield Problem(Phrase("The bundle does not have what it starts"), Phrase("its command is {name}", name=repr(inside)))
    if not command.strip():
        yield Problem(Phrase("The bundle has no command"))
    for name in dict.fromkeys(_unknown(manifest, config)):
        title = Phrase("The bundle asks for something that bundles do not have")
        yield Problem(title, Phrase("{name} stands in its command, arguments or variables", name=f"${{{name}}}"))


def _unknown(manifest: Manifest, config: McpConfig) -> Iterator[str]:
    texts = [config.command, *config.args, *config.env.values()]
    texts += [each for setting in manifest.user_config.values() for each in _texts(setting.default)]
    known = {"__dirname", "pathSeparator", "/", *SYSTEM, *(f"{_SETTING}{key}" for key in manifest.user_config)}
    for text in texts:
        yield from (found for found in _PLACEHOLDER.findall(text) if found not in known)


def _texts(default: object) -> tuple[str, ...]:
    if isinstance(default, tuple):
        return default
    return (default,) if isinstance(default, str) else ()


class _Filler:
    def __init__(self, place: BundlePlace, manifest: Manifest, values: Mapping[str, Filled]) -> None:
        separator = "\\" if place.platform == "win32" else "/"
        system: dict[str, Filled] = {"__dirname": place.folder, "pathSeparator": separator, "/": separator, **place.folders}
        self._absent = {f"{_SETTING}{key}" for key in manifest.user_config if key not in values}
        self._values = system | {f"{_SETTING}{key}": value for key, value in values.items()}

    def is_left_out(self, text: str) -> bool:
        """Returns whether a text is only a setting that was not given."""
        whole = _PLACEHOLDER.fullmatch(text)
        return whole is not None and whole[1] in self._absent

    def arguments(self, args: tuple[str, ...]) -> Iterator[str]:
        for arg in args:
            whole = _PLACEHOLDER.fullmatch(arg)
            value = self._values.get(whole[1]) if whole else None
            if isinstance(value, tuple):
                yield from value
            elif not self.is_left_out(arg):
                yield self.text(arg)

    def text(self, text: str) -> str:
        return _PLACEHOLDER.sub(self._value, text)

    def _value(self, found: re.Match[str]) -> str:
        value = self._values.get(found[1], "" if found[1] in self._absent else found[0])
        if isinstance(value, str):
            return value
        if len(value) == 1:
            return value[0]
        reason = Phrase("{name} stands for several values, and the bundle has room for one", name=found[0])
        raise TooltrayError(Phrase("This bundle cannot be set up so"), reason, Phrase("Give one value"))


def _inside(manifest: Manifest, place: BundlePlace, command: str) -> str:
    """Returns the name in the bundle of the program that is run; empty if it is not in the bundle."""
    name = command.replace("\\", "/") if place.platform == "win32" else command
    folder = place.folder.replace("\\", "/") if place.platform == "win32" else place.folder
    if name.startswith(f"{folder}/"):
        name = name.removeprefix(f"{folder}/")
    elif _is_absolute(name) or ("/" not in name and not (manifest.server.type == "binary" and _is_there(name, place))):
        return ""
    name = _tidy(name)
    if name.startswith("../"):
        return ""
    return f"{name}.exe" if place.platform == "win32" and name not in place.files and f"{name}.exe" in place.files else name


def _is_there(name: str, place: BundlePlace) -> bool:
    return name in place.files or (place.platform == "win32" and f"{name}.exe" in place.files)


def _tidy(name: str) -> str:
    return posixpath.normpath(name.replace("${__dirname}/", "").replace("\\", "/"))


def _is_absolute(name: str) -> bool:
    return posixpath.isabs(name) or bool(ntpath.splitdrive(name)[0]) or name.startswith("~")


def _joined(place: BundlePlace, inside: str) -> str:
    return ntpath.join(place.folder, *inside.split("/")) if place.platform == "win32" else os.path.join(place.folder, inside)
