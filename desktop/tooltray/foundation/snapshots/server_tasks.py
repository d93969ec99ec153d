"""Tasks of servers as fronts show them."""

import msgspec


class ServerTaskSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """What a server does for an AI client while that does something else.

    Attributes:
        client: for whom, as it names itself.
        status: the last that was seen: "working", "input_required", "completed", "failed" or "cancelled".
        created_at: unix seconds.
        ttl_s: how long its server keeps it, in seconds; None: it does not say, or without end.
    """

    id: str
    server: str
    tool: str
    client: str
    status: str
    created_at: float
    ttl_s: float | None = None
