"""Servers that can be added: from the official registry, from the list of well-known ones, and from bundles."""

from typing import Literal

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.entries import FormField


class RegistryStatus(msgspec.Struct, frozen=True):
    """The copy of the official registry on this disk.

    Attributes:
        servers: how many it has.
        updated_at: unix seconds of the last answer of the registry; 0: never.
        is_updating: it is being fetched.
        problem: why the last attempt to fetch it failed.
    """

    servers: int = 0
    updated_at: float = 0.0
    is_updating: bool = False
    problem: Problem | None = None


class RegistryHit(msgspec.Struct, frozen=True):
    """One server of a search.

    Attributes:
        name: in the registry, such as "io.github.owner/server".
        kinds: how it can be installed: "npm", "pypi", "nuget", "oci", "mcpb" and "remote".
        here: the name of the server that was added from it; empty: it was not added.
    """

    name: str
    title: str
    description: str
    version: str
    kinds: tuple[str, ...] = ()
    repository: str = ""
    here: str = ""


class RegistrySearch(msgspec.Struct, frozen=True):
    hits: tuple[RegistryHit, ...]
    total: int  # that match, also those that were left off
    status: RegistryStatus


class RegistryOption(msgspec.Struct, frozen=True):
    """One way to add a server: a package or an address.

    Attributes:
        id: for `preview_registry_server` and `add_registry_server`.
        kind: as in RegistryHit.
        label: the package with its version, or the URL.
        needs: the program that starts it, such as "npx"; empty: it needs none.
        fields: the values that the user has to give.
        problem: why it cannot be added on this computer.
    """

    id: str
    kind: str
    label: str
    needs: str = ""
    fields: tuple[FormField, ...] = ()
    problem: Problem | None = None


class RegistryServer(msgspec.Struct, frozen=True):
    """A server of the registry in full; `version` is the shown one."""

    name: str
    title: str
    description: str
    version: str
    options: tuple[RegistryOption, ...]
    repository: str = ""
    website: str = ""
    is_deprecated: bool = False


class RegistryUpdate(msgspec.Struct, frozen=True):
    """A server whose pinned version is older than the registry's newest.

    Attributes:
        tools: one line for each known change of its tools; further changes are found when the server starts.
    """

    server: str
    name: str
    version: str
    newest: str
    tools: tuple[str, ...] = ()


class StarterServer(msgspec.Struct, frozen=True):
    """A well-known server.

    Attributes:
        id: for `add_starter_server`.
        good_for: in one short sentence.
        needs: its requirements: a program, an account; empty: it has none.
        here: the name of the added server that is this one; empty: it was not added.
    """

    id: str
    title: str
    good_for: str
    category: str
    target: str  # the command line or the URL
    needs: str = ""
    fields: tuple[FormField, ...] = ()
    here: str = ""


class BundleOffer(msgspec.Struct, frozen=True):
    """A bundle that was read and not installed yet.

    Attributes:
        source: the path or URL it came from.
        sha256: of the file; `install_bundle` installs nothing else.
        kind: "node", "python", "binary" or "uv".
        signature: "none", "unverified" (it has one, which was not checked).
        fields: its settings.
        tools: names that its manifest claims.
        problems: why it cannot run on this computer; empty: it can.
        warnings: what the user should know of its command before they approve it.
        here: the server that this bundle would update; empty: it would be new.
        here_version: of that server.
    """

    source: str
    sha256: str
    name: str
    title: str
    version: str
    description: str
    author: str
    kind: Literal["node", "python", "binary", "uv"]
    command: tuple[str, ...]
    size_bytes: int
    signature: Literal["none", "unverified"] = "none"
    homepage: str = ""
    licence: str = ""
    fields: tuple[FormField, ...] = ()
    tools: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    here: str = ""
    here_version: str = ""


class BundleSnapshot(msgspec.Struct, frozen=True):
    """An installed bundle and the server that runs it."""

    server: str
    name: str
    title: str
    version: str
    author: str
    sha256: str
    source: str
    folder: str
    installed_at: float  # unix seconds
