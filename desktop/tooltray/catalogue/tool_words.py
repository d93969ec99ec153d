"""What a person's override makes of a tool's definition, and what of it the rules for approval may believe.

Above it: tool_routes, approvals. Below it: the settings' models. Pure. An override is for AI clients: a title, hints or icons in the place
of the server's own. What goes through unasked is another matter. There the server's own hints count, and a hint of an override only where
it is the more careful one: a tool that is said to write, to destroy, to do a thing twice or to reach out asks, whoever says so, and nobody
makes a tool that destroys go through by calling it harmless.
"""

from collections.abc import Mapping

from msgspec import Raw

from tooltray.config.settings.tool_override import ToolOverride
from tooltray.protocol.envelope import dump

CAREFUL: Mapping[str, bool] = {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": True}
"""The value of each hint that lets nothing through which would have asked."""


def replaced(override: ToolOverride | None, own_hints: object) -> dict[str, Raw]:
    """The members of a definition that an override replaces. `own_hints`: the server's `annotations`, of whatever type."""
    if override is None:
        return {}
    members: dict[str, object] = {"title": override.title, "description": override.description}
    if override.annotations and (hints := override.annotations.members()):
        members["annotations"] = {**_usable(own_hints), **hints}
    if override.icons is not None:
        members["icons"] = [icon.members() for icon in override.icons]
    return {name: dump(value) for name, value in members.items() if value is not None}


def hints_for_rules(override: ToolOverride | None, own_hints: object) -> object:
    """The hints by which a rule decides whether a tool may be called unasked."""
    given = override.annotations.members() if override and override.annotations else {}
    stricter = {hint: value for hint, value in given.items() if hint in CAREFUL and value is CAREFUL[hint]}
    return {**_usable(own_hints), **stricter} if stricter else own_hints


def _usable(hints: object) -> Mapping[str, object]:
    """Without those of which the type is wrong: clients would refuse the list."""
    if not isinstance(hints, dict):
        return {}
    return {
        hint: value for hint, value in hints.items() if isinstance(value, bool if hint in CAREFUL else str if hint == "title" else object)
    }
