"""The manifest of a bundle, versions 0.1 to 0.4, checked; the form of its settings, and the answers.

Unknown members are ignored, as in the reference. There a default does not count as an answer, since hosts enter it: so the form shows the
default, and it is used if the user enters nothing.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Literal, TypeAlias

import msgspec

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
        return McpConfig(
            own.command or self.command,
            self.args if own.args is None else own.args,
            self.env if own.env is None else own.env,
        )


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
