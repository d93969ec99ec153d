"""The set-up: settings, files with servers, secrets, and the effects of a reset, an import or the removal of a server."""

from typing import Literal

import msgspec

from tooltray.foundation.errors import Problem
from tooltray.foundation.verbs import JsonMapping


class SetupChange(msgspec.Struct, frozen=True):
    """One change that a reset or an import would make, or has made."""

    kind: str  # "add", "replace", "remove" or "keep"
    subject: str  # "server", "default" (whether it starts with the hub), "setting" or "secret" (a value that is to be given)
    name: str
    detail: str = ""  # what changes, in words; no secret is in it


class SettingsDocument(msgspec.Struct, frozen=True):
    """The settings without the servers, in the spelling of the file."""

    settings: JsonMapping
    revision: str  # another one where they are others


class SharedSecret(msgspec.Struct, frozen=True):
    """A secret that stays when a server that uses it is removed."""

    name: str
    users: tuple[str, ...]  # servers by their names, else files by their paths


class ServerRemoval(msgspec.Struct, frozen=True):
    """What is removed together with a server, and what stays. Only names, no values."""

    server: str
    secrets: tuple[str, ...] = ()  # that nothing else uses
    sign_in: str = ""  # the name of the secret with the tokens of a sign-in to it; empty: not signed in
    shared: tuple[SharedSecret, ...] = ()
    problem: Problem | None = None  # why the secrets could not be looked into, or not be removed; what is named above is still there


class FileProblem(msgspec.Struct, frozen=True):
    """An error in a file with servers in it."""

    problem: Problem
    line: int = 0  # from 1; 0: the whole file, or unknown
    entry: str = ""  # the server of the file that is not used; empty: the file as a whole


class FileEntrySnapshot(msgspec.Struct, frozen=True):
    """One server in a file."""

    name: str  # in the file
    server: str  # how it is called here; empty where it is not used
    state: str  # "used", "waits" (for a person's yes), "changed" (what was trusted goes on, the new content waits), "broken" or "off"
    line: int = 0  # from 1


class ServerFileSnapshot(msgspec.Struct, frozen=True):
    """One file that servers come from, as it was last read."""

    path: str  # absolute
    kind: str  # "settings", "mcp.json" (of a project) or "tbxark"
    exists: bool = True
    project: str = ""  # of a project's own file: its folder
    is_for_all: bool = True  # False: sessions that work on this project alone have its servers
    entries: tuple[FileEntrySnapshot, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    url: str = ""  # of the endpoint that the file asks for, if it is open


class ReloadChange(msgspec.Struct, frozen=True):
    """One change that reading the files again would make, or made."""

    kind: str  # "add", "restart", "change" (of what runs on), "remove", "wait" (for a yes), "keep" (file or entry is broken) or "setting"
    name: str  # of the server, here; of a setting its path, as in "publish.naming"
    file: str  # absolute
    detail: str = ""  # in words; no secret is in it


class SecretSnapshot(msgspec.Struct, frozen=True):
    """One secret, without its value.

    Attributes:
        is_stored: None: unknown, because the store could not be read.
        used_by: servers by their names, else files by their paths.
        perhaps_used_by: paths of files that cannot be read, which may use any secret.
        kind: "value"; "own": a secret of Tooltray itself; "sign-in": the tokens of a sign-in to the server in `used_by`; "provided": stored
            elsewhere and fetched when a server starts.
        origin: of the kind "provided": its source.
        problem: of the kind "provided": why it cannot be fetched, as far as that is known without fetching it.
    """

    name: str
    is_stored: bool | None
    used_by: tuple[str, ...] = ()
    perhaps_used_by: tuple[str, ...] = ()
    kind: Literal["value", "sign-in", "own", "provided"] = "value"
    origin: str = ""
    problem: Problem | None = None


class StoredSecrets(msgspec.Struct, frozen=True):
    """All secrets, without their values, and the state of their store.

    Attributes:
        backend: where secrets are stored: "keyring", "file" or "memory".
        is_proven: the store has answered since the hub started.
        problem: why the store does not answer, as of the last attempt.
        secrets: stored ones, and ones that are used and not stored; by name.
    """

    backend: str
    is_proven: bool = False
    problem: Problem | None = None
    secrets: tuple[SecretSnapshot, ...] = ()
