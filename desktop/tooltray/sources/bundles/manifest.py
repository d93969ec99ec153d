"""The manifest of a bundle, versions 0.1 to 0.4, checked.

Above it: bundle_start, bundle_settings, bundle_offers. Below it: archive, for its errors. Pure: knows no disk. Members that are not known
are left alone, as the reference does with manifests that it did not write.
"""

import re
from collections.abc import Mapping
from typing import Literal, TypeAlias

import msgspec

from tooltray.foundation.phrases import Phrase
from tooltray.sources.bundles.archive import refused

VERSIONS = ("0.1", "0.2", "0.3", "0.4")
KEY = re.compile(r"[A-Za-z0-9_.-]{1,64}")  # of a setting; it becomes a part of a secret's name
MAX_SETTINGS = 100  # nobody fills in more

BundleKind: TypeAlias = Literal["node", "python", "binary", "uv"]


class Author(msgspec.Struct, frozen=True):
    name: str


class Override(msgspec.Struct, frozen=True):
    """What counts in the place of the rest on one system; a member that is given replaces the whole of the other."""

    command: str | None = None
    args: tuple[str, ...] | None = None
    env: Mapping[str, str] | None = None


class McpConfig(msgspec.Struct, frozen=True):
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    platform_overrides: Mapping[str, Override] = {}

    def on(self, platform: str) -> "McpConfig":
        """What counts on a system (`linux`, `darwin`, `win32`)."""
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
    """One value that a person gives; a member of `user_config`."""

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
    """
    Raises:
        TooltrayError: it is no manifest; says which member is wrong, and how.
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
