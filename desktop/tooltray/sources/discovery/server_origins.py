"""Where a server here was added from, as its entry keeps it in the member `origin`.

Above it: the API of discovery, updates, starters. Below it: server_forms. What stands there was written by us, or by a person with an
editor: a member of another kind counts as absent.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from tooltray.foundation.remote import JsonObject
from tooltray.foundation.snapshots.forms import FieldValue
from tooltray.sources.discovery.server_forms import Choice, Made, fingerprint
from tooltray.sources.entries.server_entries import ORIGIN

REGISTRY, STARTER = "registry", "starter"


class FromRegistry(msgspec.Struct, frozen=True):
    """
    Attributes:
        option, label: which way to have it was chosen, and what that is called.
        values: what was given for its fields; secrets as placeholders.
        made: the fingerprint of what was made of them.
    """

    name: str
    version: str
    option: str = ""
    label: str = ""
    values: Mapping[str, FieldValue] = {}
    made: str = ""


class FromList(msgspec.Struct, frozen=True):
    """Of the list of well-known servers."""

    id: str


def with_origin(made: Made, choice: Choice, name: str, version: str) -> JsonObject:
    """An entry that says which server of the registry it is, and what its next version needs."""
    origin = {"kind": REGISTRY, "name": name, "version": version, "option": choice.option.id, "label": choice.option.label}
    return {**made.entry, ORIGIN: {**origin, "values": made.answers, "made": fingerprint(made.entry)}}


def from_registry(entry: Mapping[str, object]) -> FromRegistry | None:
    """Which server of the registry an entry is; None: it is not from there."""
    origin: FromRegistry | None = _read(entry, REGISTRY, FromRegistry)
    return origin


def from_list(entry: Mapping[str, object]) -> str:
    """Which well-known server an entry is; empty: it is not from that list."""
    found = _read(entry, STARTER, FromList)
    return found.id if found else ""


def _read(entry: Mapping[str, object], kind: str, form: type[msgspec.Struct]) -> Any:
    origin = entry.get(ORIGIN)
    if not isinstance(origin, Mapping) or origin.get("kind") != kind:
        return None
    try:
        return msgspec.convert(dict(origin), form)
    except msgspec.ValidationError:
        return None


def names_here(entries: Mapping[str, Mapping[str, object]]) -> dict[str, str]:
    """The servers here by their names in the registry; of several the first."""
    found: dict[str, str] = {}
    for server, entry in entries.items():
        if origin := from_registry(entry):
            found.setdefault(origin.name, server)
    return found
