"""The set-up: the settings as a whole, and the effects of a reset, an import or the removal of a server."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tooltray.foundation.errors import Problem


class SetupChange(msgspec.Struct, frozen=True):
    """One change that a reset or an import would make, or has made."""

    kind: str  # "add", "replace", "remove" or "keep"
    subject: str  # "server", "default" (whether it starts with the hub), "setting" or "secret" (a value that is to be given)
    name: str
    detail: str = ""  # what changes, in words; no secret is in it


class SettingsDocument(msgspec.Struct, frozen=True):
    """The settings without the servers, in the spelling of the file."""

    settings: Mapping[str, Any]
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
