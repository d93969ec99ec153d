"""The manifest of a bundle, versions 0.1 to 0.4, checked; the form of its settings, the answers, and the command with all placeholders
filled in.

Unknown members are ignored, as in the reference. There a default does not count as an answer, since hosts enter it: so the form shows the
default, and it is used if the user enters nothing.

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
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias

import msgspec

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.hidden_fields import HidesFields
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.entries import FieldKind, FieldValue, FormField
from tooltray.sources.bundles.archive import refused
from tooltray.sources.entries.form_answers import read_answers, unusable

VERSIONS = ("0.1", "0.2", "0.3", "0.4")
KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")  # of a setting; it becomes a part of a secret's name
MAX_SETTINGS = 100  # users cannot fill in a longer form

BundleKind: TypeAlias = Literal["node", "python", "binary", "uv"]
_KINDS: Mapping[str, FieldKind] = {"string": "text", "number": "number", "boolean": "boolean", "directory": "folder", "file": "file"}
_PLACEHOLDER = re.compile(r"\$\{[^}]*\}")

Filled: TypeAlias = str | tuple[str, ...]


class Author(msgspec.Struct, frozen=True):
    name: str


class Override(msgspec.Struct, frozen=True):
    """The members for one system; each replaces the general member completely."""

    command: str | None = None
    args: tuple[str, ...] | None = None
    env: Mapping[str, str] | None = None


class McpConfig(msgspec.Struct, frozen=True):
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    platform_overrides: Mapping[str, Override] = {}

    def on(self, platform: str) -> "McpConfig":
        """Returns the members that apply on a system (`linux`, `darwin`, `win32`)."""
        own = self.platform_overrides.get(platform, Override())
        return McpConfig(own.command or self.command, self.args if own.args is None else own.args, self.env if own.env is None else own.env)


class BundleServer(msgspec.Struct, frozen=True):
    type: BundleKind
    entry_point: str
    mcp_config: McpConfig | None = None


class Tool(msgspec.Struct, frozen=True):
    name: str


class Setting(msgspec.Struct, frozen=True):
    """One value that the user gives; a member of `user_config`."""

    type: Literal["string", "number", "boolean", "directory", "file"]
    title: str = ""
    description: str = ""
    required: bool = False
    default: str | int | float | bool | tuple[str, ...] | None = None
    multiple: bool = False
    sensitive: bool = False
    min: float | None = None
    max: float | None = None


class Runtimes(msgspec.Struct, frozen=True):
    node: str = ""
    python: str = ""


class Compatibility(msgspec.Struct, frozen=True):
    platforms: tuple[str, ...] | None = None
    runtimes: Runtimes = Runtimes()


class Manifest(msgspec.Struct, frozen=True):
    name: str
    version: str
    description: str
    author: Author
    server: BundleServer
    manifest_version: str = ""
    dxt_version: str = ""
    display_name: str = ""
    homepage: str = ""
    license: str = ""
    tools: tuple[Tool, ...] = ()
    user_config: Mapping[str, Setting] = {}
    compatibility: Compatibility = Compatibility()

    @property
    def title(self) -> str:
        return self.display_name or self.name


def read_manifest(data: bytes) -> Manifest:
    """Decodes a manifest.

    Raises:
        TooltrayError: it is not a valid manifest; the error names the wrong member and the reason.
    """
    try:
        manifest = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=Manifest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise refused(Phrase("manifest.json: {reason}", reason=error)) from error
    if reason := _why_not(manifest):
        raise refused(Phrase("manifest.json: {reason}", reason=reason))
    return manifest


def _why_not(manifest: Manifest) -> str:
    version = manifest.manifest_version if manifest.manifest_version in VERSIONS else manifest.dxt_version
    server = manifest.server
    if version not in VERSIONS:
        given = manifest.manifest_version or manifest.dxt_version
        return Phrase("its version is '{given}'; {first} to {last} are known", given=given, first=VERSIONS[0], last=VERSIONS[-1])
    if server.type == "uv" and version != VERSIONS[-1]:
        return Phrase("the type uv needs manifest_version {version}", version=VERSIONS[-1])
    if server.mcp_config is None and server.type != "uv":
        return Phrase("server.mcp_config is missing")
    if not manifest.name.strip() or not manifest.version.strip():
        return Phrase("name or version is empty")
    if len(manifest.user_config) > MAX_SETTINGS:
        return Phrase("user_config has more than {most} members", most=MAX_SETTINGS)
    odd = next((key for key in manifest.user_config if not KEY.fullmatch(key)), None)
    return "" if odd is None else Phrase("user_config: {key} cannot be the name of a setting", key=repr(odd[:80]))


class Answers(HidesFields, frozen=True):
    """The checked answers of the user.

    Attributes:
        values: the values for arguments and variables, without secrets.
        given: the unchanged answers, without secrets, kept for the next version.
        secrets: the values of secrets by their keys; never shown, and stored only among the secrets.
    """

    hidden: ClassVar = ("secrets",)

    values: Mapping[str, Filled]
    given: Mapping[str, FieldValue]
    secrets: Mapping[str, str]


def form_of(
    manifest: Manifest, folders: Mapping[str, str], kept: Mapping[str, FieldValue] | None = None, stored: Collection[str] = ()
) -> tuple[FormField, ...]:
    """Returns the fields of a form.

    Args:
        folders: the folders that defaults may name, see system_folders.
        kept: the answers for an earlier version.
        stored: keys of stored secrets, which stay if nothing is typed.
    """
    return tuple(_field(key, each, folders, (kept or {}).get(key), key in stored) for key, each in manifest.user_config.items())


def answers_to(fields: Sequence[FormField], given: Mapping[str, FieldValue]) -> Answers:
    """Checks the given values, and uses defaults for missing ones.

    Raises:
        TooltrayError: see read_answers; or a value has a placeholder in it.
    """
    kept: dict[str, FieldValue] = {}
    values: dict[str, Filled] = {}
    secrets: dict[str, str] = {}
    texts = read_answers(fields, given)
    for field in (field for field in fields if texts[field.key]):
        each = texts[field.key]
        if any("${" in text for text in each):  # it would be filled in when the server starts
            raise unusable(field, Phrase("'{mark}' cannot be in it", mark="${"))
        if field.is_secret:
            secrets[field.key] = each[0]
        else:
            values[field.key] = each if field.is_list else each[0]
            kept[field.key] = list(each) if field.is_list else _plain(field, each[0])
    return Answers(values, kept, secrets)


def _field(key: str, setting: Setting, folders: Mapping[str, str], kept: FieldValue | None, is_stored: bool) -> FormField:
    is_list = setting.multiple and not setting.sensitive and setting.type != "boolean"
    default = _expanded(setting.default, folders)
    before = tuple(kept) if isinstance(kept, Sequence) and not isinstance(kept, str) else kept
    shown = default if before is None else before
    if is_list and isinstance(shown, str):
        shown = (shown,)
    return FormField(
        key=key,
        label=setting.title or key,
        kind=_KINDS[setting.type],
        description=setting.description,
        placeholder=Phrase("kept as it is") if is_stored else "",
        is_required=setting.required and not is_stored,
        is_secret=setting.sensitive,
        is_list=is_list,
        default=None if setting.sensitive else shown,  # the manifest's own value is neither a secret nor an answer
        minimum=setting.min,
        maximum=setting.max,
    )


def _expanded(default: object, folders: Mapping[str, str]) -> str | float | bool | tuple[str, ...] | None:
    if isinstance(default, tuple):
        return tuple(str(_expanded(each, folders)) for each in default)
    if isinstance(default, str):
        return _PLACEHOLDER.sub(lambda found: folders.get(found[0][2:-1], found[0]), default)
    return default if isinstance(default, bool | int | float) else None


def _plain(field: FormField, text: str) -> str | float | bool:
    """Returns the kept value that a form shows."""
    match field.kind:
        case "number":
            return float(text)
        case "boolean":
            return text == "true"
    return text


MAX_BYTES = 64 * 1024  # of `user-dirs.dirs`, which has eight lines
_FOLDERS = {"DESKTOP": "Desktop", "DOCUMENTS": "Documents", "DOWNLOADS": "Downloads"}
_XDG = {"DESKTOP": "DESKTOP", "DOCUMENTS": "DOCUMENTS", "DOWNLOADS": "DOWNLOAD"}
PYTHON_LIBRARIES = "server/lib"  # their folder in the specification
SYSTEM = ("HOME", "DESKTOP", "DOCUMENTS", "DOWNLOADS")
_NAMED_PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
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
        yield Problem(title, Phrase("{name} occurs in its command, arguments or variables", name=f"${{{name}}}"))


def _unknown(manifest: Manifest, config: McpConfig) -> Iterator[str]:
    texts = [config.command, *config.args, *config.env.values()]
    texts += [each for setting in manifest.user_config.values() for each in _texts(setting.default)]
    known = {"__dirname", "pathSeparator", "/", *SYSTEM, *(f"{_SETTING}{key}" for key in manifest.user_config)}
    for text in texts:
        yield from (found for found in _NAMED_PLACEHOLDER.findall(text) if found not in known)


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
        whole = _NAMED_PLACEHOLDER.fullmatch(text)
        return whole is not None and whole[1] in self._absent

    def arguments(self, args: tuple[str, ...]) -> Iterator[str]:
        for arg in args:
            whole = _NAMED_PLACEHOLDER.fullmatch(arg)
            value = self._values.get(whole[1]) if whole else None
            if isinstance(value, tuple):
                yield from value
            elif not self.is_left_out(arg):
                yield self.text(arg)

    def text(self, text: str) -> str:
        return _NAMED_PLACEHOLDER.sub(self._value, text)

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
