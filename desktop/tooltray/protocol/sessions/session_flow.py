"""What a session has read that strangers wrote, for the flow guard. A session has it from the first such read on."""

import msgspec


class SessionFlow(msgspec.Struct, frozen=True):
    """The latest such read.

    Attributes:
        server, tool: by which the text was read; a resource or a prompt has no tool.
        place: the host or path that was read, as the journal names it; empty: not known.
    """

    server: str
    tool: str
    place: str = ""
