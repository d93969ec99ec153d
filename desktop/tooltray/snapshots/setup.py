"""The set-up: the settings as a whole, and what a reset or an import does to it."""

from collections.abc import Mapping
from typing import Any

import msgspec


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
