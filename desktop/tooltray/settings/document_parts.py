"""Objects inside the document of the settings, for what changes it in place.

Above it: the modules with edits. Below it: nothing. Knows no field.
"""

from typing import Any


def part(holder: dict[str, Any], key: str) -> dict[str, Any]:
    """The object at a key; a new one takes the place of what is none."""
    if not isinstance(holder.get(key), dict):
        holder[key] = {}
    found: dict[str, Any] = holder[key]
    return found
