"""The set-up: the settings as a whole, and what a reset or an import does to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class SetupChange:
    """What a reset or an import would do, or has done, to one thing of the set-up."""

    kind: str  # "add", "replace", "remove" or "keep"
    subject: str  # "server", "default" (whether it starts with the hub), "setting" or "secret" (a value that is to be given)
    name: str
    detail: str = ""  # what changes, in words; no secret is in it


@dataclass(frozen=True)
class SettingsDocument:
    """The settings without the servers, in the spelling of the file."""

    settings: Mapping[str, Any]
    revision: str  # another one where they are others
