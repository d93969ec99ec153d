"""The set-up: the settings as a whole, and what a reset, an import or the removal of a server does to it."""

from collections.abc import Mapping
from typing import Any

import msgspec

from tooltray.foundation.errors import Problem


class SetupChange(msgspec.Struct, frozen=True):
    """What a reset or an import would do, or has done, to one thing of the set-up."""

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
    """What goes with a server when it is removed, or has gone, and what stays. Names alone, no values."""

    server: str
    secrets: tuple[str, ...] = ()  # that nothing else uses
    sign_in: str = ""  # under which name what a sign-in to it left is among the secrets; empty: nobody is signed in
    shared: tuple[SharedSecret, ...] = ()
    problem: Problem | None = None  # why the secrets could not be looked into, or not be removed; what is named above is still there
