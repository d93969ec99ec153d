"""The table of all operations of the REST interface, and the lookup by path.

Above it: the REST interface's handler and its OpenAPI document. Below it: the operations by subject.
"""

from collections.abc import Sequence
from functools import cache

from tooltray.carriers.rest import (
    activity_operations,
    discovery_operations,
    hub_operations,
    log_operations,
    server_operations,
    tool_operations,
)
from tooltray.carriers.rest.operation import Operation

OPERATIONS: tuple[Operation, ...] = (
    *server_operations.OPERATIONS,
    *tool_operations.OPERATIONS,
    *hub_operations.OPERATIONS,
    *log_operations.OPERATIONS,
    *activity_operations.OPERATIONS,
    *discovery_operations.OPERATIONS,
)

_OF_TOKENS = {"set_api_enabled", "get_api_token", "rotate_api_token", "list_api_tokens", "create_api_token", "revoke_api_token"}
_OF_CONFIRMING = {
    "get_confirmations",
    "answer_confirmation",
    "get_passphrase_state",
    "confirm_with_passphrase",
    "set_passphrase",
    "remove_passphrase",
}
NOT_OFFERED = frozenset(_OF_TOKENS | _OF_CONFIRMING)
"""Verbs without an operation: only the person who gives tokens to programs may use them, and who confirms what programs want."""
OF_THE_DESKTOP = frozenset({"get_approval_diff", "tell_screen_lock"})
"""Verbs that only the window calls, so REST has no operation for them."""


def operations_at(segments: Sequence[str]) -> dict[str, tuple[Operation, dict[str, str]]]:
    """Returns the operations at a path by method, each with the arguments in the path.

    Args:
        segments: the decoded segments of the path below `/api`.
    """
    fitting = [template for template in _templates() if len(template) == len(segments) and all(map(_fits, template, segments))]
    if not fitting:
        return {}
    template = min(fitting, key=lambda each: [_is_name(part) for part in each])  # a literal segment takes precedence over a name
    names = [segment for part, segment in zip(template, segments, strict=True) if _is_name(part)]
    return {each.method: (each, dict(zip(each.path_names, names, strict=True))) for each in _templates()[template]}


@cache
def _templates() -> dict[tuple[str, ...], list[Operation]]:
    found: dict[tuple[str, ...], list[Operation]] = {}
    for operation in OPERATIONS:
        found.setdefault(operation.segments, []).append(operation)
    return found


def _is_name(part: str) -> bool:
    return part.startswith("{")


def _fits(part: str, segment: str) -> bool:
    return part == segment or (_is_name(part) and bool(segment))
