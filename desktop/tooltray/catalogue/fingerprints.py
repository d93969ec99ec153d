"""What a tool is at the moment, as one short text: what a person allowed counts for this and for nothing else.

Above it: whoever keeps grants, and the broker of approvals. Below it: definition. Knows nothing of servers. A fingerprint covers what a
model and a person read of a tool and what its calls look like; the order of members and white space do not count.
"""

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from tooltray.catalogue.definition import ToolDefinition

COVERED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
REMEMBERED = 1024  # definitions that were looked at last; those of tools that need no approval never are


class TwiceNamed(ValueError):
    """An object names a member twice: two readers may find two different values in it."""


def canonical(text: bytes) -> str:
    """JSON in the one way in which it counts.

    Raises:
        ValueError: it is no JSON, it is deeper than can be looked at, or a `TwiceNamed`.
    """
    try:
        return _written(read_once_named(text))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def read_once_named(text: bytes) -> Any:
    """JSON as Python values.

    Raises:
        ValueError: it is no JSON, or a `TwiceNamed`.
        RecursionError: it is deeper than can be looked at.
    """
    return json.loads(text, object_pairs_hook=_once_named)


def definition_text(definition: ToolDefinition) -> str:
    """What a fingerprint covers of a definition, in the one way in which it counts."""
    return _known(bytes(definition.raw))[0]


def fingerprint(definition: ToolDefinition) -> str:
    """Another one for another definition; the same after another start."""
    return _known(bytes(definition.raw))[1]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(REMEMBERED)
def _known(raw: bytes) -> tuple[str, str]:
    text = _text(raw)
    return text, digest(text)


def _text(raw: bytes) -> str:
    try:
        members = read_once_named(raw)
        return _written({key: members[key] for key in COVERED if key in members})
    except (ValueError, RecursionError):  # every byte counts of what cannot be looked into
        return raw.decode("utf-8", "replace")


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _once_named(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    listed = list(pairs)
    members = dict(listed)
    if len(members) < len(listed):
        raise TwiceNamed("a member is named twice")
    return members
