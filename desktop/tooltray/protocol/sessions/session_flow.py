"""What a session has read that strangers wrote, for the flow guard.

Above it: SessionState, which has one from the first such read on, and FlowGuard, which fills it. Below it: nothing.
"""

import msgspec


class SessionFlow(msgspec.Struct, frozen=True):
    """Of the latest such read.

    Attributes:
        server, tool: by which it was read; a resource or a prompt has no tool.
        place: the host or path that was read, as the journal names it; empty: not known.
    """

    server: str
    tool: str
    place: str = ""
