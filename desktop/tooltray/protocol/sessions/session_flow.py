"""The last text by strangers that a session has read, for the flow guard. A session has this state from its first such read on."""

import msgspec


class SessionFlow(msgspec.Struct, frozen=True):
    """The latest read of a text that strangers wrote.

    Attributes:
        server, tool: by which the text was read; a resource or a prompt has no tool.
        place: the host or path that was read, as the journal names it; empty: not known.
    """

    server: str
    tool: str
    place: str = ""
