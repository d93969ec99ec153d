"""What the calls of all formats have in common.

Above it: the formats.
"""

import uuid
from collections.abc import Mapping
from typing import Any

from tooltray.errors import TooltrayError
from tooltray.formats.arguments import read_arguments
from tooltray.snapshots.calls import MCPToolCall

MADE_UP = "tooltray-"  # begins the ids of calls whose provider gave none


def tool_call(call: Mapping[str, Any], *, kind: str, id: Any, arguments: Any) -> MCPToolCall:
    """A call whose tool and arguments still have the provider's names.

    Args:
        call: in which `name` says which tool.
        kind: what it should be, in words, for errors.
        id: the provider's; one is made up where there is none.
        arguments: JSON text or an object.

    Raises:
        TooltrayError: it names no tool, or its arguments are no JSON object.
    """
    name = call.get("name")
    if not isinstance(name, str) or not name:
        raise no_call(kind, "it names no tool")
    return MCPToolCall(id if isinstance(id, str) and id else f"{MADE_UP}{uuid.uuid4().hex}", name, read_arguments(name, arguments))


def no_call(kind: str, reason: str) -> TooltrayError:
    return TooltrayError(f"this is no {kind}", reason)
