"""Servers and tools as the engine would tell of them, for tests of what shows them."""

from typing import Any

from tooltray.foundation.snapshots.servers import AccessSnapshot, ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ToolSnapshot

STARTED_AT = 1_700_000_000.0
TRUSTED = AccessSnapshot("trusted", ("careful", "trusted", "free"), "reads")


def server(name: str, state: ServerState = ServerState.RUNNING, **fields: Any) -> ServerSnapshot:
    """A server as the engine would tell of it."""
    access = None if fields.get("is_builtin") else TRUSTED
    return ServerSnapshot(
        **{"access": access, "name": name, "transport": "stdio", "target": f"npx -y @example/{name}", "state": state, **fields}
    )


def tool(name: str, of: str, **fields: Any) -> ToolSnapshot:
    known = {"description": f"What {name} does.", "category": "read", "is_enabled": True, "is_approved": True}
    return ToolSnapshot(**{"name": name, "server": of, "original_name": name, **known, **fields})


BUILTIN = server("hub", transport="inmemory", target="", is_builtin=True, tool_count=2)
