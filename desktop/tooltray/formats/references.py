"""Resolves a `$ref` inside a schema.

Above it: schemas and gemini_schema. Only references within the same schema are followed; nothing is ever fetched.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

MAX_CHAIN = 16  # references to references; a longer chain is circular, or no real schema


def target(root: Mapping[str, Any], reference: Any) -> Mapping[str, Any] | None:
    """The schema that a reference points to; None if it is dangling, external or circular."""
    for _ in range(MAX_CHAIN):
        found = _pointed(root, reference)
        if not isinstance(found, Mapping):
            return None
        if set(found) != {"$ref"}:
            return found
        reference = found["$ref"]
    return None


def _pointed(root: Mapping[str, Any], reference: Any) -> Any:
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    if reference in ("#", "#/"):
        return root
    place: Any = root
    for step in unquote(reference[1:]).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(place, Mapping):
            place = place.get(step)
        elif isinstance(place, list) and step.isdecimal() and int(step) < len(place):
            place = place[int(step)]
        else:
            return None
    return place if reference.startswith("#/") else _anchored(root, reference[1:])


def _anchored(root: Mapping[str, Any], name: str) -> Any:
    """The definition with this `$anchor`; anchors are used among the definitions only."""
    for group in ("$defs", "definitions"):
        members = root.get(group)
        for schema in members.values() if isinstance(members, Mapping) else ():
            if isinstance(schema, Mapping) and schema.get("$anchor") == name:
                return schema
    return None
