"""Applies a user's override to a tool's definition, and selects the hints that the approval rules use. Pure. An override is for AI
clients: a title, hints or icons in place of the server's own. For calls without asking, the server's own hints are used, and a hint of an
override only if it is the more careful one: a hint that the tool writes, destroys, repeats or reaches out makes it ask, whether the server
or the user wrote the hint, and no hint makes a destroying tool run without asking.
"""

from collections.abc import Mapping

from msgspec import Raw

from tooltray.config.settings.tool_override import ToolOverride
from tooltray.protocol.envelope import dump

CAREFUL: Mapping[str, bool] = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""The careful value of each hint: it allows no call that would have asked."""


def replaced(override: ToolOverride | None, own_hints: object) -> dict[str, Raw]:
    """Returns the members of a definition that an override replaces. `own_hints`: the server's `annotations`, of whatever type."""
    if override is None:
        return {}
    members: dict[str, object] = {"title": override.title, "description": override.description}
    if override.annotations and (hints := override.annotations.members()):
        members["annotations"] = {**_usable(own_hints), **hints}
    if override.icons is not None:
        members["icons"] = [icon.members() for icon in override.icons]
    return {name: dump(value) for name, value in members.items() if value is not None}


def hints_for_rules(override: ToolOverride | None, own_hints: object) -> object:
    """Returns the hints by which a rule decides whether a tool may be called without asking."""
    given = override.annotations.members() if override and override.annotations else {}
    stricter = {hint: value for hint, value in given.items() if hint in CAREFUL and value is CAREFUL[hint]}
    return {**_usable(own_hints), **stricter} if stricter else own_hints


def _usable(hints: object) -> Mapping[str, object]:
    """Returns the hints of the right type: clients would refuse a list with others."""
    if not isinstance(hints, dict):
        return {}
    return {
        hint: value for hint, value in hints.items() if isinstance(value, bool if hint in CAREFUL else str if hint == "title" else object)
    }
