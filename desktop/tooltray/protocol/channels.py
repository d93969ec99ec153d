"""Where a dispatcher's messages go: bytes of a stream, or whole messages.

Above it: dispatcher. Below it: what carries them (a child's pipes, a socket, HTTP).
"""

from typing import Protocol

import msgspec
from msgspec import Raw

from tooltray.protocol.envelope import NOTHING


class Channel(Protocol):
    """Where bytes go; never blocks, buffers what the peer does not read yet."""

    def write(self, data: bytes | memoryview) -> None: ...
    def close(self) -> None: ...


class Outgoing(msgspec.Struct):
    """One message on its way out.

    Attributes:
        parts: head, payload and tail; joined they are its JSON and a newline.
        id: of a request of ours, or of the peer's request that this replies to; empty for a notification and a batch of replies.
        method: empty for a reply.
        about: the id of the peer's request that it belongs to (progress, questions, log messages); for a reply its own id; else empty.
    """

    parts: tuple[bytes, Raw, bytes]
    id: Raw = NOTHING
    method: str = ""
    about: Raw = NOTHING

    @property
    def payload(self) -> Raw:
        """The params, the result or the error."""
        return self.parts[1]

    def joined(self) -> bytes:
        """Its JSON."""
        return b"".join(self.parts)[:-1]


class MessageChannel(Protocol):
    """Where whole messages go; never blocks."""

    def send(self, message: Outgoing) -> None: ...
    def close(self) -> None: ...
