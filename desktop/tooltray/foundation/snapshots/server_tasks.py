"""Tasks of servers, as the window, the command line and REST show them."""

import msgspec


class ServerTaskSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """A long-running operation of a server, which its AI client does not wait for (an MCP task).

    Attributes:
        client: that started it, as it names itself.
        status: as last received: "working", "input_required", "completed", "failed" or "cancelled".
        created_at: unix seconds.
        ttl_s: how long its server keeps it, in seconds; None: unlimited or unknown.
    """

    id: str
    server: str
    tool: str
    client: str
    status: str
    created_at: float
    ttl_s: float | None = None
