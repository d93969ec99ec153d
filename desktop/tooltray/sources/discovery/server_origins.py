"""The origin of a server here, as its entry has it in the member `origin`.

The member was written by Tooltray, or by the user in an editor: a value of the wrong kind counts as absent.
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
        option, label: the id and the label of the chosen option.
        values: the answers for its fields; secrets as placeholders.
        made: the fingerprint of the entry made of them.
    """

    name: str
    version: str
    option: str = ""
    label: str = ""
    values: Mapping[str, FieldValue] = {}
    made: str = ""


class FromList(msgspec.Struct, frozen=True):
    """An origin in the list of well-known servers."""

    id: str


def with_origin(made: Made, choice: Choice, name: str, version: str) -> JsonObject:
    """Returns the entry with its origin in the registry, and with the answers that its next version needs."""
    origin = {"kind": REGISTRY, "name": name, "version": version, "option": choice.option.id, "label": choice.option.label}
    return {**made.entry, ORIGIN: {**origin, "values": made.answers, "made": fingerprint(made.entry)}}


def from_registry(entry: Mapping[str, object]) -> FromRegistry | None:
    """Returns which server of the registry an entry is; None if it is not from there."""
    origin: FromRegistry | None = _read(entry, REGISTRY, FromRegistry)
    return origin


def from_list(entry: Mapping[str, object]) -> str:
    """Returns the id of the well-known server that an entry is; empty if it is not from that list."""
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
    """Returns the servers here by their names in the registry; of several the first."""
    found: dict[str, str] = {}
    for server, entry in entries.items():
        if origin := from_registry(entry):
            found.setdefault(origin.name, server)
    return found
